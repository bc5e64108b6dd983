#include "runtime/effects/stream_guard.h"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(StreamGuard, AListIsClosedAfterItsLastWholeItem) {
  EXPECT_EQ(close_list(""), "");
  EXPECT_EQ(close_list(R"({"value": )"), "");
  EXPECT_EQ(close_list(R"({"value": [1)"), "");
  EXPECT_EQ(close_list(R"({"value": [1,)"), R"({"value": [1]})");
  EXPECT_EQ(close_list(R"({"value": [1, 2, 3)"), R"({"value": [1, 2]})");
  EXPECT_EQ(close_list(R"([[1, 2], [3,)"), R"([[1, 2]])");
  EXPECT_EQ(close_list(R"({"value": ["a]\"", "b,)"), R"({"value": ["a]\""]})");
  EXPECT_EQ(close_list(R"([{"a": [1, 2], "b": "}"}, {"a")"), R"([{"a": [1, 2], "b": "}"}])");
  EXPECT_EQ(close_list(R"([{"a": 1})"), R"([{"a": 1}])");
  EXPECT_EQ(close_list(R"({"value": [1, 2]})"), R"({"value": [1, 2]})");
}

TEST(EstimateUsage, CountsWhatTheBackendHasNotReported) {
  inference::GenerationRequest request;
  request.messages.push_back({inference::Role::User, "12345678", {}});
  const inference::Usage usage = estimate_usage(request, "12345", {});
  EXPECT_EQ(usage.prompt, 2U);
  EXPECT_EQ(usage.generated, 2U);
  inference::Usage reported;
  reported.prompt = 7;
  EXPECT_EQ(estimate_usage(request, "12345", reported).generated, 0U);
}

}  // namespace
}  // namespace tenon::runtime
