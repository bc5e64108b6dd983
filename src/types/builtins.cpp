#include "types/builtins.h"

namespace tenon::types {
namespace {

constexpr BuiltinInfo builtins[] = {
#define TENON_INFO(number, name, arguments, meaning) {Builtin::name, #name, arguments, meaning},
    TENON_BUILTINS(TENON_INFO)
#undef TENON_INFO
};

/// The position in the table for each number, so that a lookup is a single access.
constexpr std::array<std::uint8_t, 256> make_index() {
  std::array<std::uint8_t, 256> index{};
  index.fill(UINT8_MAX);
  std::uint8_t position = 0;
  for (const BuiltinInfo& entry : builtins) index[static_cast<std::size_t>(entry.builtin)] = position++;
  return index;
}
constexpr std::array<std::uint8_t, 256> builtin_index = make_index();

}  // namespace

const BuiltinInfo* find_builtin(std::uint16_t number) {
  if (number >= builtin_index.size() || builtin_index[number] == UINT8_MAX) return nullptr;
  return &builtins[builtin_index[number]];
}

}  // namespace tenon::types
