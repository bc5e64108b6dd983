#include "journal/shown_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon::journal {

std::string list_runs(std::span<const std::string> names, std::size_t count, std::size_t shown_max) {
  const std::span<const std::string> shown = names.first(std::min(names.size(), shown_max));
  std::string text = fmt::format("{} {}", count == 1 ? "run" : "runs", fmt::join(shown, ", "));
  if (shown.size() < count) text += fmt::format(" and {} more", count - shown.size());
  return text;
}

std::string describe_runs(std::span<const std::string> names, std::size_t count) {
  return names.empty() ? "" : list_runs(names, count) + ", ";
}

}  // namespace tenon::journal
