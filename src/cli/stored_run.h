#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/environment.h"
#include "effects/record.h"
#include "journal/store.h"
#include "runtime/recovery.h"

namespace tenon::cli {

/// The programs of a store's runs, for who performs nothing: no extern can be called.
[[nodiscard]] runtime::ImageSource images_without_externs();

/// What a run begins with, its program, and the wordings with which it runs.
struct StoredRun {
  effects::Started started;
  runtime::UnbundledProgram program;
};
/// Nothing when the run cannot be read, which is printed.
[[nodiscard]] std::optional<StoredRun> read_stored_run(journal::Store& store, const journal::RunName& run,
                                                       const Environment& environment);

}  // namespace tenon::cli
