#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inference/model.h"
#include "inference/openai_http/openai_options.h"

namespace tenon::inference {

/// Any endpoint that speaks OpenAI's chat completions. Starts no thread: `poll` does all the work, and what waits in
/// line costs nothing. What is under way when the model goes is broken off without a word to its sinks.
class OpenAiModel : public Model {
 public:
  /// Connects to nothing yet. Fails with Rejected where the options cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<OpenAiModel>, ModelError> open(OpenAiOptions options,
                                                                             OpenAiEnvironment environment);

 protected:
  OpenAiModel() = default;
};

}  // namespace tenon::inference
