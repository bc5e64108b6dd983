#include "base/printable.h"

#include <algorithm>

#include "base/utf8.h"

namespace tenon {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::size_t code_point_bytes_max = 4;

/// The start of an incomplete code point at the end of the text that further bytes may complete; otherwise the end.
std::size_t start_of_cut(std::string_view text) {
  for (std::size_t back = 1; back < code_point_bytes_max && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (is_utf8_continuation(text[text.size() - back])) continue;
    const std::size_t length = byte < 0xC2 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace

bool is_printable(std::string_view character) {
  if (character.empty() || utf8_sequence_length(character, 0) != character.size()) return false;
  const auto first = static_cast<unsigned char>(character[0]);
  // U+0080 to U+009F are control characters too: U+009B starts the same sequences as ESC [.
  if (first == 0xC2) return static_cast<unsigned char>(character[1]) >= 0xA0;
  return (first >= 0x20 || first == '\t') && first != 0x7F;
}

std::string make_printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text, at), 1);
    const std::string_view character = text.substr(at, length);
    const bool ends_line = character == "\n" || text.substr(at, 2) == "\r\n";
    shown += ends_line || is_printable(character) ? character : replacement;
    at += length;
  }
  return shown;
}

std::string PrintableStream::take(std::string_view piece) {
  kept_ += piece;
  const std::size_t end = start_of_cut(kept_);
  std::string shown = make_printable(std::string_view(kept_).substr(0, end));
  kept_.erase(0, end);
  return shown;
}

}  // namespace tenon
