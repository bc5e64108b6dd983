#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inference/model.h"
#include "inference/openai_http/openai_options.h"

namespace tenon::inference {

/// Any endpoint with OpenAI's chat completions API. Starts no thread: `poll` does all the work, and a queued request
/// costs nothing. Destroying the model aborts what is in progress without notifying its sinks.
class OpenAiModel : public Model {
 public:
  /// Does not connect yet. Fails with Rejected when the options cannot be used: a URL of another scheme, a file of
  /// certificates that cannot be read, no API key for a host that requires one.
  [[nodiscard]] static Result<std::unique_ptr<OpenAiModel>, ModelError> open(OpenAiOptions options,
                                                                             OpenAiEnvironment environment);

 protected:
  OpenAiModel() = default;
};

}  // namespace tenon::inference
