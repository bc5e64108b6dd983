#include "algebra/artifacts.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tenon::algebra {
namespace {

constexpr std::array<std::string_view, 10> kind_names{"extern", "function", "agent", "select", "ask",
                                                      "now",    "random",   "sleep", "answer", "action"};

/// Takes the number off the front, and the dot after it.
std::uint64_t take_number(std::string_view& name) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  if (error != std::errc() || end == name.data()) name = {};
  if (!name.empty()) name.remove_prefix(1);
  return number;
}

}  // namespace

std::string_view tool_kind_name(ToolKind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::optional<ToolKind> find_tool_kind(std::string_view name) {
  const auto* const found = std::find(kind_names.begin(), kind_names.end(), name);
  if (found == kind_names.end()) return std::nullopt;
  return static_cast<ToolKind>(found - kind_names.begin());
}

bool precedes(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const std::uint64_t left = take_number(a);
    const std::uint64_t right = take_number(b);
    if (left != right) return left < right;
  }
  return a.empty() && !b.empty();
}

}  // namespace tenon::algebra
