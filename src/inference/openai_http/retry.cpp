#include "inference/openai_http/retry.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/ascii.h"
#include "base/backoff.h"
#include "http_client/http_client.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

/// Far above every limit on waits, and far below what overflows a count of nanoseconds.
constexpr std::int64_t seconds_max = 1'000'000'000;

}  // namespace

milliseconds backoff_delay(const RetryPolicy& policy, std::uint32_t attempts_made, double random_unit) {
  const Backoff backoff{static_cast<double>(policy.delay_first.count()), 2,
                        static_cast<double>(policy.delay_max.count())};
  const double delay = backoff.wait_after(std::max(attempts_made, 1U) - 1);
  const double fraction = 0.5 + 0.5 * std::clamp(random_unit, 0.0, 1.0);
  return milliseconds(static_cast<std::int64_t>(delay * fraction));
}

std::optional<milliseconds> read_retry_after(std::string_view value, system_clock::time_point now) {
  value = trimmed(value);
  std::uint64_t seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  // What follows the whole seconds, such as a fraction, is not in the standard and is left out.
  if (error == std::errc::result_out_of_range) return std::chrono::seconds(seconds_max);
  if (error == std::errc() && (end == value.data() + value.size() || *end == '.')) {
    return std::chrono::seconds(std::min<std::uint64_t>(seconds, seconds_max));
  }
  const auto date = http_client::read_http_date(value);
  if (!date) return std::nullopt;
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(*date - now));
}

}  // namespace tenon::inference
