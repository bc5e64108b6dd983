#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "inference/llama_cpp/vocabulary.h"
#include "inference/model.h"

namespace tenon::inference::llama_cpp {

/// The prompt's form for a model without a chat template: plain text with examples of what is expected. A system
/// message is sent unchanged.
struct RawFrame {
  std::string examples =
      "Task:\nName the colour of grass in one word.\n\nAnswer:\nGreen\n\n"
      "Task:\nAdd the two numbers.\na: 2\nb: 3\n\nAnswer:\n5\n\n";
  std::string before_user = "Task:\n";
  std::string before_answer = "\n\nAnswer:\n";
  std::string after_answer = "\n\n";
  std::string stop = "\n\nTask:";  ///< ends an answer of plain text; not part of it
};

/// What a prompt's messages are put into.
struct PromptFrame {
  enum class Kind : std::uint8_t { ChatTemplate, Raw };
  Kind kind = Kind::ChatTemplate;
  std::string chat_template;  ///< Jinja text as a model file carries it, or the name of one that llama.cpp knows
  RawFrame raw;
};

struct PromptError {
  ModelErrorKind kind = ModelErrorKind::Rejected;
  std::string message;
};

/// Turns messages into tokens. A message's text is tokenized entry by entry, each entry's closing newline by itself, so
/// that prompts which share their first entries share their first tokens; recent pieces are cached.
class PromptTokenizer final {
 public:
  /// Borrows the vocabulary. Fails when llama.cpp does not know the chat template.
  [[nodiscard]] static Result<PromptTokenizer, PromptError> open(const Vocabulary& vocabulary, PromptFrame frame);

  /// Fails when the template has no place for a message of these roles, or when the prompt surely has more than
  /// `tokens_max` tokens, which is found out without tokenizing megabytes. May return more than `tokens_max`.
  [[nodiscard]] Result<std::vector<Token>, PromptError> tokenize(std::span<const Message> messages,
                                                                 std::uint32_t tokens_max);

  [[nodiscard]] const PromptFrame& frame() const { return frame_; }

 private:
  PromptTokenizer(const Vocabulary& vocabulary, PromptFrame frame)
      : vocabulary_(&vocabulary), frame_(std::move(frame)) {}

  /// The frame's own words around n messages: n + 1 pieces, of which the last leads to the answer.
  [[nodiscard]] Result<std::vector<std::string>, PromptError> frame_messages(std::span<const Message> messages) const;
  void append_text(std::string_view text, std::vector<Token>& tokens);
  void append_message(const Message& message, std::vector<Token>& tokens);

  const Vocabulary* vocabulary_;
  PromptFrame frame_;

  struct Remembered {
    std::string text;
    std::vector<Token> tokens;
  };
  std::list<Remembered> remembered_;  // the latest used first
  std::unordered_map<std::string_view, std::list<Remembered>::iterator> remembered_by_text_;
  std::size_t remembered_bytes_ = 0;
};

}  // namespace tenon::inference::llama_cpp
