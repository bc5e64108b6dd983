#pragma once

#include "inference/model.h"
#include "runtime/program_image.h"
#include "runtime/run_options.h"
#include "vm/request.h"

namespace tenon::runtime {

/// The site of a request to a model.
[[nodiscard]] inference::prompting::CompletionSite completion_site(const vm::Request& request,
                                                                   const bytecode::Program& program);

/// The hash of everything except the context that a request to a model depends on: schema, prompt templates, marks of
/// data. Zero for an extern's request.
[[nodiscard]] Hash form_of(const ProgramImage& image, const vm::Request& request);

/// The request for the model.
[[nodiscard]] inference::GenerationRequest prompt_of(const ProgramImage& image, const RunOptions& options,
                                                     const vm::Request& request);

}  // namespace tenon::runtime
