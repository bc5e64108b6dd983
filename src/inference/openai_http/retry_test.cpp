#include "inference/openai_http/retry.h"

#include <gtest/gtest.h>

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

TEST(Retry, DelaysDoubleUpToTheLimitAndHalfOfThemIsChance) {
  const RetryPolicy policy{.attempts_max = 10, .delay_first = milliseconds(100), .delay_max = milliseconds(500)};
  EXPECT_EQ(backoff_delay(policy, 1, 0.0), milliseconds(50));
  EXPECT_EQ(backoff_delay(policy, 1, 0.5), milliseconds(75));
  EXPECT_EQ(backoff_delay(policy, 1, 1.0), milliseconds(100));
  EXPECT_EQ(backoff_delay(policy, 2, 1.0), milliseconds(200));
  EXPECT_EQ(backoff_delay(policy, 3, 1.0), milliseconds(400));
  EXPECT_EQ(backoff_delay(policy, 4, 1.0), milliseconds(500));
  EXPECT_EQ(backoff_delay(policy, 4'000'000'000U, 1.0), milliseconds(500));
}

TEST(Retry, ReadsSeconds) {
  const auto now = system_clock::now();
  EXPECT_EQ(read_retry_after("0", now), milliseconds(0));
  EXPECT_EQ(read_retry_after(" 17 ", now), milliseconds(17'000));
  EXPECT_EQ(read_retry_after("2.5", now), milliseconds(3'000));
  EXPECT_EQ(read_retry_after("99999999999999999999999999", now), retry_after_max);
  EXPECT_EQ(read_retry_after("604800", now), retry_after_max);
  EXPECT_EQ(read_retry_after_ms(" 1500"), milliseconds(1'500));
  EXPECT_EQ(read_retry_after_ms("1.5"), milliseconds(2));
  EXPECT_FALSE(read_retry_after_ms("soon").has_value());
}

TEST(Retry, ReadsDates) {
  // RFC 9110's example: 784111777 seconds after the epoch.
  const auto date = system_clock::from_time_t(784'111'777);
  EXPECT_EQ(read_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", date - std::chrono::seconds(3)), milliseconds(3'000));
  EXPECT_EQ(read_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", date + std::chrono::hours(1)), milliseconds(0));
}

TEST(Retry, OtherTextsAreNotWaits) {
  const auto now = system_clock::now();
  for (const auto* text : {"", "soon", "-5", "Sun, 99 Foo 1994", "\xFF\xFE"}) {
    EXPECT_EQ(read_retry_after(text, now), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tenon::inference
