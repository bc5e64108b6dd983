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

/// The same, but for the program of this image, which can do all.
[[nodiscard]] runtime::ImageSource images_with(std::shared_ptr<const runtime::ProgramImage> image);

/// What a run begins with, the program with which it continues, and its prompt templates.
struct StoredRun {
  effects::Started started;
  runtime::UnbundledProgram program;
  bool is_over = false;  ///< has ended, and performs nothing any more
};
/// Nothing when the run cannot be read, which is printed.
[[nodiscard]] std::optional<StoredRun> read_stored_run(journal::Store& store, const journal::RunName& run,
                                                       const Environment& environment);

}  // namespace tenon::cli
