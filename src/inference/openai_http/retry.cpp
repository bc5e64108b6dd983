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

/// A count that a header gives, rounded up; nothing if it is not one.
template <class Unit>
std::optional<milliseconds> read_count(std::string_view value) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error == std::errc::result_out_of_range) return retry_after_max;
  // A fraction is not in the standard.
  const bool has_fraction = error == std::errc() && end != value.data() + value.size() && *end == '.';
  if (error != std::errc() || (end != value.data() + value.size() && !has_fraction)) return std::nullopt;
  constexpr auto count_max = static_cast<std::uint64_t>(std::chrono::duration_cast<Unit>(retry_after_max).count());
  return Unit(static_cast<std::int64_t>(std::min(count + (has_fraction ? 1 : 0), count_max)));
}

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
  if (const auto wait = read_count<std::chrono::seconds>(value)) return wait;
  const auto date = http_client::read_http_date(value);
  if (!date) return std::nullopt;
  return std::clamp(std::chrono::ceil<milliseconds>(*date - now), milliseconds(0), retry_after_max);
}

std::optional<milliseconds> read_retry_after_ms(std::string_view value) {
  return read_count<milliseconds>(trimmed(value));
}

}  // namespace tenon::inference
