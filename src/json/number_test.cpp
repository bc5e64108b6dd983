#include "json/number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

template <class Append>
std::string written(Append append, double value) {
  std::string out;
  append(value, out);
  return out;
}

TEST(NumberTest, WritesNumbersWithAPoint) {
  const auto text = [](double value) { return written(append_point_number, value); };
  EXPECT_EQ(text(0), "0.0");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(1), "1.0");
  EXPECT_EQ(text(-100000), "-100000.0");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(123.25), "123.25");
  EXPECT_EQ(text(0.0001), "0.0001");
  EXPECT_EQ(text(0.00001), "1e-05");
  EXPECT_EQ(text(1.5e-7), "1.5e-07");
  EXPECT_EQ(text(999999999999999), "999999999999999.0");
  EXPECT_EQ(text(1e15), "1e+15");
  EXPECT_EQ(text(1e300), "1e+300");
}

TEST(NumberTest, WritesNumbersInAsFewCharactersAsPossible) {
  const auto text = [](double value) { return written(append_shortest_number, value); };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(100000), "1e+05");
  EXPECT_EQ(text(-9223372036854774784), "-9223372036854774784");
  EXPECT_EQ(text(0.5), "0.5");
}

TEST(NumberTest, WritesNumbersAsEcmaScript) {
  const auto text = [](double value) { return written(append_canonical_number, value); };
  EXPECT_EQ(text(-0.0), "0");
  EXPECT_EQ(text(1e21), "1e+21");
  EXPECT_EQ(text(1e20), "100000000000000000000");
  EXPECT_EQ(text(1e-7), "1e-7");
  EXPECT_EQ(text(0.000001), "0.000001");
  EXPECT_EQ(text(-1.5), "-1.5");
}

}  // namespace
}  // namespace tenon
