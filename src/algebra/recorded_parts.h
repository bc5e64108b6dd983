#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "algebra/artifacts.h"
#include "base/result.h"
#include "effects/record.h"
#include "journal/store.h"
#include "runtime/run_core.h"

namespace tenon::algebra {

struct RecordedOutcome {
  std::string key;
  std::uint64_t record = 0;
  effects::Finished finished;
  std::string value;                        ///< the text of Finished::value
  std::vector<effects::RecordBody> pauses;  ///< what an extern has asked before, and the answers
  bool is_later = false;                    ///< recorded after the last record whose outcome may be reused
  bool is_taken = false;
};

/// A request of a run, where a person finds it.
struct RecordedRequest {
  std::uint64_t record = 0;
  effects::EffectKind kind = effects::EffectKind::Complete;
  std::string subject;
  std::string place;  ///< `FILE:LINE:COLUMN`
};

/// What a fork of a run may take.
struct RecordedParts {
  /// By identity of the request, in the order of the records.
  std::unordered_map<Hash, std::vector<RecordedOutcome>> outcomes;
  std::unordered_map<std::string, RecordedRequest> requests;  ///< by key; only those of PartsRead::Everything
  std::vector<effects::TurnStarted> turns;
};

/// How much of a run is read: up to a record, or also the outcomes after it, as RecordedOutcome::is_later.
enum class PartsRead : bool { UpTo, Everything };

/// Reads what a fork that reuses outcomes up to record `at` may take. With `Everything`, also what was requested, and
/// what came of it after `at`; but no later turns.
[[nodiscard]] Result<RecordedParts, AlgebraError> read_parts(journal::Store& store, const journal::RunName& run,
                                                             std::uint64_t at, PartsRead read);
/// Adds the outcomes that the run, itself a fork, inherited and had not used at record `at`, after its own. `content`:
/// Started::known.
[[nodiscard]] Result<void, AlgebraError> add_inherited(journal::Store& store, const journal::RunName& run,
                                                       std::uint64_t at, const Hash& content, RecordedParts& parts);
/// Finds an outcome for the request that nothing has taken, and takes it: one that may be reused before a later one,
/// and then that of the same key. Null if there is none.
[[nodiscard]] RecordedOutcome* take(RecordedParts& parts, const runtime::OpenRequest& open);

}  // namespace tenon::algebra
