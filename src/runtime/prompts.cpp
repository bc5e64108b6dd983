#include "runtime/prompts.h"

#include "vm/context.h"

namespace tenon::runtime {

inference::GenerationRequest prompt_of(const ProgramImage& image, const RunOptions& options,
                                       const vm::Request& request) {
  const std::string_view text = vm::context_text(request.context);
  inference::GenerationRequest prompt =
      image.prompts().make_request(request.subject, text, vm::context_entry_ends(request.context), options.sampling);
  prompt.timeout = options.generation_timeout;
  return prompt;
}

}  // namespace tenon::runtime
