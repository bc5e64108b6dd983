#pragma once

#include "base/result.h"
#include "effects/record.h"
#include "journal/store.h"

namespace tenon::runtime {

/// Whether this record says that a run asks a person something.
[[nodiscard]] bool is_question(const effects::RecordBody& body);

/// Whether a run has asked people more than one question, open or not. Then an answer that does not name its question
/// may be meant for another one than the one that is open now. Reads the run's records up to the second question.
[[nodiscard]] Result<bool, journal::StoreError> has_asked_several(journal::RunReader& store,
                                                                  const journal::RunName& run);

}  // namespace tenon::runtime
