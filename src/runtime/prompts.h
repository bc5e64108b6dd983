#pragma once

#include "inference/model.h"
#include "runtime/program_image.h"
#include "runtime/run_options.h"
#include "vm/request.h"

namespace tenon::runtime {

/// What the model is asked by a request that is no extern's.
[[nodiscard]] inference::prompting::CompletionSite completion_site(const vm::Request& request,
                                                                   const bytecode::Program& program);

/// What the model is sent for a request.
[[nodiscard]] inference::GenerationRequest prompt_of(const ProgramImage& image, const RunOptions& options,
                                                     const vm::Request& request);

}  // namespace tenon::runtime
