#include "tests/support/json_schema/decimal.h"

#include <gtest/gtest.h>

#include "json/reader.h"

namespace tenon::test {
namespace {

bool multiple(std::string_view value, std::string_view divisor) {
  return is_multiple(*parse_json(value), *parse_json(divisor));
}

TEST(DecimalTest, ComputesInDecimals) {
  EXPECT_TRUE(multiple("0.3", "0.1"));
  EXPECT_TRUE(multiple("0.0075", "0.0001"));
  EXPECT_FALSE(multiple("0.00751", "0.0001"));
  EXPECT_TRUE(multiple("4.5", "1.5"));
  EXPECT_TRUE(multiple("-4.5", "1.5"));
  EXPECT_FALSE(multiple("35", "1.5"));
  EXPECT_TRUE(multiple("0", "7"));
  EXPECT_TRUE(multiple("10", "2.5"));
  EXPECT_TRUE(multiple("9223372036854775807", "7"));
  EXPECT_FALSE(multiple("9223372036854775807", "10"));
  EXPECT_FALSE(multiple("-9223372036854775808", "3"));
  EXPECT_TRUE(multiple("-9223372036854775808", "2"));
}

TEST(DecimalTest, NeitherOverflowsNorUnderflows) {
  EXPECT_TRUE(multiple("1e308", "1e-308"));
  EXPECT_FALSE(multiple("1e308", "3e-308"));
  EXPECT_FALSE(multiple("1e-308", "1e308"));
  EXPECT_FALSE(multiple("1e308", "0.123456789"));
  EXPECT_TRUE(multiple("5e-324", "5e-324"));
}

}  // namespace
}  // namespace tenon::test
