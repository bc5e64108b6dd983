#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace tenon::runtime {

/// When budgets of time end effects that are in progress, by the monotonic clock. An effect that ends before need not
/// be taken out. Effects have numbers of which none is used twice.
class BudgetEnds {
 public:
  using IsInProgress = std::function<bool(std::uint64_t effect)>;
  explicit BudgetEnds(IsInProgress is_in_progress) : is_in_progress_(std::move(is_in_progress)) {}

  /// `milliseconds`: what the budget leaves the effect; it is spent when more than that was taken.
  void add(std::uint64_t effect, std::chrono::nanoseconds now, std::uint64_t milliseconds);
  /// The effects in progress whose time is over; each is returned once.
  [[nodiscard]] std::vector<std::uint64_t> take_due(std::chrono::nanoseconds now);
  /// Until the next one is over; nothing when no effect in progress has a budget of time.
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_next(std::chrono::nanoseconds now);

 private:
  IsInProgress is_in_progress_;
  std::multimap<std::chrono::nanoseconds, std::uint64_t> ends_;
  std::size_t swept_size_ = 0;  ///< the number of ends after the last sweep
};

}  // namespace tenon::runtime
