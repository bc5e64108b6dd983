#pragma once

#include <memory>

#include "base/result.h"
#include "effects/record.h"
#include "engine/engine_error.h"
#include "journal/store.h"
#include "runtime/recovery/recovery.h"

namespace tenon::engine {

/// The programs of a store's runs without externs, for what performs no effects.
[[nodiscard]] runtime::ImageSource images_without_externs();

/// The same, except that the program of `image` is that image, with its externs.
[[nodiscard]] runtime::ImageSource images_with(std::shared_ptr<const runtime::ProgramImage> image);

/// The start of a run, and the program and prompt templates that it continues with.
struct StoredRun {
  effects::Started started;
  runtime::UnbundledProgram program;
  bool is_over = false;  ///< has ended and performs no more effects
};
[[nodiscard]] Result<StoredRun, EngineError> read_stored_run(journal::Store& store, const journal::RunName& run);

}  // namespace tenon::engine
