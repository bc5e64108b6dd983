#pragma once

#include "algebra/artifacts.h"
#include "base/result.h"
#include "journal/store.h"
#include "runtime/recovery/recovery.h"

namespace tenon::algebra {

/// The interaction of a recorded run: its journal is fed to its program again, and nothing is performed. The result is
/// the same as that of `reconstruct` for its artifacts; control facts (Control) are only included if that needs them.
/// `images` supplies the run's program. Fails as `runtime::recover` does.
[[nodiscard]] Result<Interaction, AlgebraError> extract(journal::Store& store, const journal::RunName& run,
                                                        const runtime::ImageSource& images, Form form = newest_form);

}  // namespace tenon::algebra
