#include "types/suggestions.h"

#include <algorithm>

#include "diagnostics/nearest.h"

namespace tenon::types {
namespace {

struct Renamed {
  std::string_view before;
  std::string_view now;
};

/// What modules of the standard library have renamed. A name is only suggested where it exists.
constexpr Renamed renamed[] = {
    // std::react
    {"Manner", "ReactOptions"}, {"turns", "max_turns"},    {"Whole", "All"},         {"Newest", "Recent"},
    {"AtFirst", "FirstTurn"},   {"EachTurn", "EveryTurn"}, {"newest", "last_steps"}, {"older", "earlier_steps"},
};

}  // namespace

std::optional<std::string> find_meant(std::string_view name, std::span<const std::string_view> candidates) {
  if (auto nearest = diagnostics::find_nearest(name, candidates)) return nearest;
  for (const auto& [before, now] : renamed) {
    if (before == name && std::ranges::find(candidates, now) != candidates.end()) return std::string(now);
  }
  return std::nullopt;
}

}  // namespace tenon::types
