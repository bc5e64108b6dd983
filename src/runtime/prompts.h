#pragma once

#include "inference/model.h"
#include "runtime/program_image.h"
#include "runtime/run_options.h"
#include "vm/request.h"

namespace tenon::runtime {

/// The site of a request to a model.
[[nodiscard]] inference::prompting::CompletionSite completion_site(const vm::Request& request,
                                                                   const bytecode::Program& program);

/// Identifies what else a request to a model depends on besides its context: schema, prompt templates, marks of data.
/// Zero for an extern's.
[[nodiscard]] Hash form_of(const ProgramImage& image, const vm::Request& request);

/// The request that the model is sent.
[[nodiscard]] inference::GenerationRequest prompt_of(const ProgramImage& image, const RunOptions& options,
                                                     const vm::Request& request);

}  // namespace tenon::runtime
