#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon::inference {

/// What a reasoning model writes in one text: its thoughts, and then its answer.
struct SeparatedText {
  std::string_view thoughts;
  std::string_view answer;
  bool is_open = false;  ///< the thoughts do not end: there is no answer
};

/// Separates `<think>…</think>` at the start, also by the names thinking, thought and reasoning. Chat templates may
/// give the opening tag to the model, whose text then has the closing one alone. Any other text is an answer.
[[nodiscard]] SeparatedText separate_thoughts(std::string_view text);

/// Withholds thoughts from a text that comes in pieces. A closing tag without an opening one is only noticed when it
/// comes: what was passed on before it is provisional, as every piece is.
class ThoughtFilter {
 public:
  /// The part of the text that is known to belong to the answer since the last call.
  [[nodiscard]] std::string add(std::string_view piece);

 private:
  enum class Stage { Begin, Thoughts, End, Answer };

  Stage stage_ = Stage::Begin;
  std::string held_;          ///< what may be part of a tag
  std::string_view closing_;  ///< the tag that ends Stage::Thoughts
};

}  // namespace tenon::inference
