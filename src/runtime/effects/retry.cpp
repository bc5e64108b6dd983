#include "runtime/effects/retry.h"

#include <algorithm>

#include "base/backoff.h"

namespace tenon::runtime {
namespace {

/// Far above every limit that is of use, and far below what overflows a count of milliseconds.
constexpr std::uint64_t retry_ms_bound = std::uint64_t{100} * 365 * 24 * 60 * 60 * 1'000;
constexpr double spread = 0.2;

}  // namespace

bool waits_for_services(const effects::RetrySettings& settings) {
  return settings.elapsed_max_ms.value_or(retry_elapsed_max_ms_default) > 0;
}

std::optional<std::int64_t> next_retry_ms(const effects::RetrySettings& settings, std::uint32_t retries,
                                          std::int64_t elapsed_ms, double random_unit) {
  const auto bounded = [](std::uint64_t ms) { return static_cast<double>(std::min(ms, retry_ms_bound)); };
  const Backoff backoff{
      bounded(settings.initial_ms.value_or(retry_initial_ms_default)),
      static_cast<double>(settings.factor_thousandths.value_or(retry_factor_thousandths_default)) / 1'000.0,
      bounded(settings.interval_max_ms.value_or(retry_interval_max_ms_default))};
  const double wait = std::max(backoff.wait_after(retries) * (1 - spread * std::clamp(random_unit, 0.0, 1.0)), 1.0);
  const double elapsed_max = bounded(settings.elapsed_max_ms.value_or(retry_elapsed_max_ms_default));
  if (static_cast<double>(elapsed_ms) + wait > elapsed_max) return std::nullopt;
  return static_cast<std::int64_t>(wait);
}

}  // namespace tenon::runtime
