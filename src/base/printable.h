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

/// For what a person decides by: shows each character that is not seen, or that changes the order of others, as the
/// escape of a program's strings: `\u{202E}`. These are control characters except the tab and line ends, marks of
/// direction, spaces without a width, and tags, but not what belongs to an emoji. Bytes that are not UTF-8 are replaced
/// with U+FFFD.
[[nodiscard]] std::string show_hidden(std::string_view text);

/// As make_printable, for a text in pieces that may split a code point: the start of one is kept until the next piece.
class PrintableStream {
 public:
  [[nodiscard]] std::string take(std::string_view piece);

 private:
  std::string kept_;
};

}  // namespace tenon
