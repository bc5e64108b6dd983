#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "journal/store.h"
#include "runtime/recovery/recovery.h"
#include "runtime/run_core.h"
#include "tests/support/program_image.h"

namespace tenon::test {

/// Always returns the same image.
[[nodiscard]] runtime::ImageSource images_of(std::shared_ptr<const runtime::ProgramImage> image);

/// The outcome of a request; without a value, it is never answered.
using RecordedAnswerer = std::function<std::optional<vm::Outcome>(const runtime::OpenRequest& open)>;

struct RecordOptions {
  bytecode::Bounds budgets;      ///< the absent ones have their defaults
  std::uint32_t order_seed = 0;  ///< the order in which open requests are answered; 0: oldest first
  std::string cancel_reason;     ///< if set, the run is cancelled when no open request is answered
  /// The journal ends after so many records, as that of a process that was ended then.
  std::size_t records_max = SIZE_MAX;
};

/// Runs a function and writes its journal as the runtime does, without waiting. Arguments are as in
/// Started::arguments.
[[nodiscard]] journal::RunName record_run(journal::Store& store,
                                          const std::shared_ptr<const runtime::ProgramImage>& image,
                                          const std::string& function, const std::string& arguments,
                                          const RecordedAnswerer& answerer, const RecordOptions& options = {});

/// The same for a conversation with an agent: one turn for each input; the last one may remain open.
[[nodiscard]] journal::RunName record_conversation(journal::Store& store,
                                                   const std::shared_ptr<const runtime::ProgramImage>& image,
                                                   const std::string& agent, const std::vector<std::string>& inputs,
                                                   const RecordedAnswerer& answerer, const RecordOptions& options = {});

}  // namespace tenon::test
