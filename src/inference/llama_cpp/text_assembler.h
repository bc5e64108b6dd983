#pragma once

#include <string>
#include <string_view>

namespace tenon::inference::llama_cpp {

/// Makes UTF-8 text of a token stream, in which a character may be spread over several tokens.
class TextAssembler final {
 public:
  /// Adds a token's bytes and gives what became complete: whole characters, U+FFFD for what can never be one.
  std::string append(std::string_view bytes);

  /// Ends the text: U+FFFD for a character that was begun.
  std::string finish();

 private:
  std::string begun_;  ///< at most three bytes of a character
};

}  // namespace tenon::inference::llama_cpp
