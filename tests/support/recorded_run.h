#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "journal/store.h"
#include "runtime/program_image.h"
#include "runtime/recovery.h"
#include "runtime/run_core.h"

namespace tenon::test {

/// A program from its text; a mistake in it ends the process. Its folder is gone afterwards.
[[nodiscard]] std::shared_ptr<const runtime::ProgramImage> make_image(const std::string& text);

/// Gives always the same image.
[[nodiscard]] runtime::ImageSource images_of(std::shared_ptr<const runtime::ProgramImage> image);

/// What a request gets; nothing: nobody answers it.
using RecordedAnswerer = std::function<std::optional<vm::Outcome>(const runtime::OpenRequest& open)>;

struct RecordOptions {
  vm::MachineOptions budgets;
  std::uint32_t order_seed = 0;  ///< in which order open requests are answered; 0: oldest first
  std::string cancel_reason;     ///< given: the run is cancelled when nobody answers any more
};

/// Runs a function and writes its journal as the runtime does, without waiting for anything. Arguments as
/// Started::arguments has them.
[[nodiscard]] journal::RunName record_run(journal::Store& store,
                                          const std::shared_ptr<const runtime::ProgramImage>& image,
                                          const std::string& function, const std::string& arguments,
                                          const RecordedAnswerer& answerer, const RecordOptions& options = {});

/// The same of a conversation with an agent: a turn for each input, the last of which may go on.
[[nodiscard]] journal::RunName record_conversation(journal::Store& store,
                                                   const std::shared_ptr<const runtime::ProgramImage>& image,
                                                   const std::string& agent, const std::vector<std::string>& inputs,
                                                   const RecordedAnswerer& answerer, const RecordOptions& options = {});

}  // namespace tenon::test
