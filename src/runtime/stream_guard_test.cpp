#include "runtime/stream_guard.h"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(StreamGuard, AListIsClosedBehindItsLastWholeItem) {
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

}  // namespace
}  // namespace tenon::runtime
