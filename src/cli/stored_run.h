#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/environment.h"
#include "effects/record.h"
#include "journal/store.h"
#include "runtime/recovery.h"

namespace tenon::cli {

/// The programs of a store's runs without externs, for commands that perform no effects.
[[nodiscard]] runtime::ImageSource images_without_externs();

/// The same, except that the program of `image` is that image, with its externs.
[[nodiscard]] runtime::ImageSource images_with(std::shared_ptr<const runtime::ProgramImage> image);

/// The start of a run, and the program and prompt templates that it continues with.
struct StoredRun {
  effects::Started started;
  runtime::UnbundledProgram program;
  bool is_over = false;  ///< has ended and performs no more effects
};
/// Returns nothing if the run cannot be read, after printing why.
[[nodiscard]] std::optional<StoredRun> read_stored_run(journal::Store& store, const journal::RunName& run,
                                                       const Environment& environment);

}  // namespace tenon::cli
