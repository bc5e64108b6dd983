#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tenon {
namespace {

TEST(ParseNumber, ReadsOnlyWholeTextsThatFit) {
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_number<std::int32_t>("-7"), -7);
  EXPECT_EQ(parse_number<double>("0.5"), 0.5);
  for (const char* const wrong : {"", " 1", "1 ", "+1", "-1", "0x10", "18446744073709551616"}) {
    EXPECT_EQ(parse_number<std::uint64_t>(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace tenon
