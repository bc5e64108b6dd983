#include "base/shell_word.h"

#include <algorithm>

namespace tenon {
namespace {

bool is_plain(char c) {
  constexpr std::string_view others = "_-./:=@%+,";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80U || others.find(c) != std::string_view::npos;
}

}  // namespace

std::string make_shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace tenon
