#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// Whether a terminal only shows the character, given as the bytes of a code point or a single byte. Control characters
/// except the tab, and bytes that are not UTF-8, are not printable.
[[nodiscard]] bool is_printable(std::string_view character);

/// For a terminal: replaces each character that is not printable, except line ends, with U+FFFD. Text from others, such
/// as a model, can therefore not change colors, move the cursor or clear the screen.
[[nodiscard]] std::string make_printable(std::string_view text);

/// The same for a text in pieces that may split a code point: the start of one is kept until the next piece.
class PrintableStream {
 public:
  [[nodiscard]] std::string take(std::string_view piece);

 private:
  std::string kept_;
};

}  // namespace tenon
