#include "diagnostics/nearest.h"

#include <algorithm>
#include <vector>

namespace tenon::diagnostics {
namespace {

constexpr std::size_t name_length_max = 64;

std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before_last(right.size() + 1), last(right.size() + 1), row(right.size() + 1);
  for (std::size_t column = 0; column <= right.size(); ++column) last[column] = column;
  for (std::size_t line = 1; line <= left.size(); ++line) {
    row[0] = line;
    for (std::size_t column = 1; column <= right.size(); ++column) {
      const std::size_t changed = last[column - 1] + (left[line - 1] == right[column - 1] ? 0 : 1);
      row[column] = std::min({changed, last[column] + 1, row[column - 1] + 1});
      if (line > 1 && column > 1 && left[line - 1] == right[column - 2] && left[line - 2] == right[column - 1]) {
        row[column] = std::min(row[column], before_last[column - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[right.size()];
}

}  // namespace

std::optional<std::string> find_nearest(std::string_view name, std::span<const std::string_view> candidates,
                                        std::size_t distance_max) {
  if (name.empty() || name.size() > name_length_max) return std::nullopt;
  std::size_t best = std::min(distance_max, std::max<std::size_t>(1, name.size() / 3)) + 1;
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(candidate.size(), name.size());
    if (candidate.empty() || candidate == name || longer - std::min(candidate.size(), name.size()) >= best) continue;
    const std::size_t away = distance(name, candidate);
    if (away < best && away < candidate.size()) {
      best = away;
      found = candidate;
    }
  }
  if (found.empty()) return std::nullopt;
  return std::string(found);
}

}  // namespace tenon::diagnostics
