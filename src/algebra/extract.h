#pragma once

#include "algebra/artifacts.h"
#include "base/result.h"
#include "journal/store.h"
#include "runtime/recovery/recovery.h"

namespace tenon::algebra {

/// The interaction of a recorded run: its journal is fed to its program again, nothing is performed. What it gives is
/// what `reconstruct` makes of its artifacts; control facts (Control) are only in it when they are needed for that.
/// `images` is asked for the run's program. Fails as `runtime::recover` does.
[[nodiscard]] Result<Interaction, AlgebraError> extract(journal::Store& store, const journal::RunName& run,
                                                        const runtime::ImageSource& images, Form form = newest_form);

}  // namespace tenon::algebra
