#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// Whether a terminal shows the character, a code point's bytes or a single byte, and does nothing else: control
/// characters but the tab, and what is no UTF-8, are not printable.
[[nodiscard]] bool is_printable(std::string_view character);

/// For a terminal: each character that is not printable, but a line's end, becomes U+FFFD. What others have written,
/// a model say, can so neither colour, move nor clear anything.
[[nodiscard]] std::string make_printable(std::string_view text);

/// The same of a text that comes in pieces, which may part a code point: its beginning is kept for the next piece.
class PrintableStream {
 public:
  [[nodiscard]] std::string take(std::string_view piece);

 private:
  std::string kept_;
};

}  // namespace tenon
