#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model.h"
#include "inference/openai_http/openai_options.h"

namespace tenon::inference {

/// Writes the bodies of one model's requests. What they share is made once.
class ChatRequestWriter {
 public:
  /// `token_limit_field` is decided here: not ByHost.
  ChatRequestWriter(const OpenAiOptions& options, TokenLimitField token_limit_field);

  /// The request with the messages and the schema that are sent, see Model::sent_form.
  [[nodiscard]] std::optional<GenerationRequest> sent_form(const GenerationRequest& request) const;

  /// Joins adjacent messages of one role from now on.
  void join_adjacent() { joins_adjacent_ = true; }
  [[nodiscard]] bool joins_adjacent() const { return joins_adjacent_; }

  /// Removes the message that need not be sent where the server enforces the schema.
  void leave_out_note(GenerationRequest& request) const;

  /// Appends the JSON body for `request`, with all of its messages.
  void append(std::string& out, const GenerationRequest& request) const;

 private:
  /// Whether the server enforces the request's schema.
  [[nodiscard]] bool is_strict(const GenerationRequest& request) const;

  /// The messages as they are sent: without those that have no text, which some servers reject, unless no other is
  /// left; joined where that is wanted. Nothing if they are sent as they are.
  [[nodiscard]] std::optional<std::vector<Message>> changed_messages(const std::vector<Message>& messages) const;

  std::string head_;
  std::string tail_;
  std::string_view token_limit_key_;
  SamplingFields sampling_fields_;
  SchemaField schema_field_;
  OmittedFields omitted_;
  bool joins_adjacent_;
};

}  // namespace tenon::inference
