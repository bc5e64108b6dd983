#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::inference {

/// How often and how soon a request is sent again after HTTP 408, 409, 429, 5xx or a cut connection. It is never sent
/// before the time that a server asks for; if that is not before the request's timeout, the request ends at once.
struct RetryPolicy {
  std::uint32_t attempts_max = 4;              ///< requests sent for one generation, the first included; 1: never again
  std::chrono::milliseconds delay_first{500};  ///< doubled for each attempt after it
  std::chrono::milliseconds delay_max{8'000};
};

/// The wait before the next attempt, when `attempts_made` have failed: exponential, of which the upper half is left to
/// `random_unit` (in [0, 1)), so that clients that failed together do not return together.
[[nodiscard]] std::chrono::milliseconds backoff_delay(const RetryPolicy& policy, std::uint32_t attempts_made,
                                                      double random_unit);

/// The longest wait that a server can ask for; a longer one counts as this.
inline constexpr std::chrono::milliseconds retry_after_max = std::chrono::hours(24 * 7);

/// What a server asks for in Retry-After: a count of seconds, or an HTTP date, which is counted from `now`. A date that
/// has passed means no wait. Nothing if the text is neither.
[[nodiscard]] std::optional<std::chrono::milliseconds> read_retry_after(std::string_view value,
                                                                        std::chrono::system_clock::time_point now);

/// The header `retry-after-ms` of OpenAI and Azure: a count of milliseconds. Nothing if it is not one.
[[nodiscard]] std::optional<std::chrono::milliseconds> read_retry_after_ms(std::string_view value);

}  // namespace tenon::inference
