#pragma once

#include <string>

#include "inference/model.h"
#include "inference/openai_http/openai_options.h"

namespace tenon::inference {

/// The part of a request's body that every request of one model shares, made once.
class ChatRequestWriter {
 public:
  /// `token_limit_field` is decided here: not ByHost.
  ChatRequestWriter(const OpenAiOptions& options, TokenLimitField token_limit_field);

  /// Appends the JSON body for `request`.
  void append(std::string& out, const GenerationRequest& request) const;

 private:
  std::string head_;
  std::string tail_;
  std::string_view token_limit_key_;
  SamplingFields sampling_fields_;
  SchemaField schema_field_;
};

}  // namespace tenon::inference
