#include "runtime/effects/budget_ends.h"

#include <algorithm>

namespace tenon::runtime {
namespace {

/// A hundred years: a longer budget ends nothing, and no time of day overflows.
constexpr std::uint64_t milliseconds_max = std::uint64_t{100} * 365 * 24 * 60 * 60 * 1000;
/// As many are added at least before all are looked through for effects that have ended.
constexpr std::size_t sweep_after = 1'000;

}  // namespace

void BudgetEnds::add(std::uint64_t effect, std::chrono::nanoseconds now, std::uint64_t milliseconds) {
  if (ends_.size() > 2 * swept_size_ + sweep_after) {
    std::erase_if(ends_, [this](const auto& entry) { return !is_in_progress_(entry.second); });
    swept_size_ = ends_.size();
  }
  const auto bounded = static_cast<std::int64_t>(std::min(milliseconds, milliseconds_max));
  ends_.emplace(now + std::chrono::milliseconds(bounded + 1), effect);
}

std::vector<std::uint64_t> BudgetEnds::take_due(std::chrono::nanoseconds now) {
  std::vector<std::uint64_t> due;
  while (!ends_.empty() && ends_.begin()->first <= now) {
    if (is_in_progress_(ends_.begin()->second)) due.push_back(ends_.begin()->second);
    ends_.erase(ends_.begin());
  }
  return due;
}

std::optional<std::chrono::milliseconds> BudgetEnds::time_to_next(std::chrono::nanoseconds now) {
  while (!ends_.empty() && !is_in_progress_(ends_.begin()->second)) ends_.erase(ends_.begin());
  if (ends_.empty()) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(ends_.begin()->first - now);
  return std::max(left, std::chrono::milliseconds{0});
}

}  // namespace tenon::runtime
