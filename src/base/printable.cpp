#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

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

struct CodePoints {
  char32_t first, last;
};

/// Ascending.
constexpr CodePoints hidden[] = {
    {0x00, 0x08},     {0x0A, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
    {0x115F, 0x1160}, {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
    {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
};
/// Blocks and single characters that emoji are made of. Ascending.
constexpr CodePoints pictures[] = {
    {'#', '#'},       {'*', '*'},       {'0', '9'},       {0xA9, 0xA9},     {0xAE, 0xAE},     {0x203C, 0x203C},
    {0x2049, 0x2049}, {0x2122, 0x2122}, {0x2139, 0x2139}, {0x2194, 0x21AA}, {0x231A, 0x23FF}, {0x24C2, 0x24C2},
    {0x25AA, 0x27BF}, {0x2934, 0x2935}, {0x2B05, 0x2B55}, {0x3030, 0x303D}, {0x3297, 0x3299}, {0x1F000, 0x1FAFF},
};
constexpr char32_t joiner = 0x200D;
constexpr char32_t emoji_form = 0xFE0F;

bool is_among(char32_t code_point, std::span<const CodePoints> ranges) {
  const auto range = std::ranges::lower_bound(ranges, code_point, {}, &CodePoints::last);
  return range != ranges.end() && range->first <= code_point;
}

/// Of a well-formed sequence.
char32_t code_point_of(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  constexpr unsigned bits_of_first[] = {0x7F, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t code_point = first & bits_of_first[sequence.size()];
  for (const char next : sequence.substr(1)) code_point = code_point << 6U | (static_cast<unsigned char>(next) & 0x3FU);
  return code_point;
}

/// Whether the character only says how the one before it is drawn.
bool belongs_to_emoji(char32_t code_point, char32_t before) {
  if (code_point == emoji_form) return is_among(before, pictures);
  return code_point == joiner && (before == emoji_form || (before > 0x7F && is_among(before, pictures)));
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

std::string show_hidden(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  char32_t before = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence_length(text, at);
    if (length == 0) {
      shown += replacement;
      before = 0;
      ++at;
      continue;
    }
    const std::string_view character = text.substr(at, length);
    const char32_t code_point = code_point_of(character);
    const bool ends_line = character == "\n" || text.substr(at, 2) == "\r\n";
    if (!ends_line && is_among(code_point, hidden) && !belongs_to_emoji(code_point, before)) {
      fmt::format_to(std::back_inserter(shown), "\\u{{{:X}}}", static_cast<std::uint32_t>(code_point));
    } else {
      shown += character;
    }
    before = code_point;
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
