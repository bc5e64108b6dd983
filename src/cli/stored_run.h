#pragma once

#include <optional>

#include "cli/environment.h"
#include "effects/record.h"
#include "journal/store.h"
#include "runtime/program_image.h"

namespace tenon::cli {

/// What a run of a store begins with, and its program.
struct StoredRun {
  effects::Started started;
  runtime::UnbundledProgram program;
};

/// Nothing when it cannot be read, which is printed.
[[nodiscard]] std::optional<StoredRun> read_run(journal::Store& store, const journal::RunName& run,
                                                const Environment& environment);

}  // namespace tenon::cli
