#include "runtime/effects/retry.h"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

using effects::RetrySettings;

TEST(Retry, WaitsGrowUpToTheLongest) {
  const RetrySettings settings{.initial_ms = 100, .factor_thousandths = 3'000, .interval_max_ms = 1'000};
  EXPECT_EQ(next_retry_ms(settings, 0, 0, 0), 100);
  EXPECT_EQ(next_retry_ms(settings, 1, 0, 0), 300);
  EXPECT_EQ(next_retry_ms(settings, 2, 0, 0), 900);
  EXPECT_EQ(next_retry_ms(settings, 3, 0, 0), 1'000);
  EXPECT_EQ(next_retry_ms(settings, UINT32_MAX, 0, 0), 1'000);
  EXPECT_EQ(next_retry_ms(settings, 0, 0, 0.5), 90) << "some return earlier";
}

TEST(Retry, TheDefaultsBeginAtASecond) {
  EXPECT_EQ(next_retry_ms({}, 0, 0, 0), 1'000);
  EXPECT_EQ(next_retry_ms({}, 1, 0, 0), 2'000);
  EXPECT_EQ(next_retry_ms({}, 10, 0, 0), 60'000);
  EXPECT_TRUE(waits_for_services({}));
}

TEST(Retry, AfterTheLongestTimeNothingIsTriedByItself) {
  const RetrySettings settings{.initial_ms = 100, .elapsed_max_ms = 250};
  EXPECT_EQ(next_retry_ms(settings, 0, 150, 0), 100);
  EXPECT_EQ(next_retry_ms(settings, 0, 151, 0), std::nullopt);
  EXPECT_FALSE(waits_for_services({.elapsed_max_ms = 0}));
}

TEST(Retry, AFactorOfOneKeepsTheWait) {
  const RetrySettings settings{.initial_ms = 50, .factor_thousandths = 1'000};
  EXPECT_EQ(next_retry_ms(settings, UINT32_MAX, 0, 0), 50);
}

}  // namespace
}  // namespace tenon::runtime
