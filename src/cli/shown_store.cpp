#include "cli/shown_store.h"

#include <algorithm>
#include <string_view>

#include "journal/open_store.h"

namespace tenon::cli {
namespace {

bool is_plain(char c) {
  constexpr std::string_view others = "_-./:=@%+,";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80U || others.find(c) != std::string_view::npos;
}

}  // namespace

std::string shown_store(const engine::StoreChoice& store) {
  const std::string name = journal::name_of_store(store.path);
  if (std::ranges::all_of(name, is_plain)) return name;
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace tenon::cli
