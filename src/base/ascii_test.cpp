#include "base/ascii.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Ascii, OnlyLettersOfAsciiHaveCases) {
  EXPECT_EQ(lower_case("Ab-Z[Ä"), "ab-z[Ä");
  EXPECT_TRUE(equal_ignoring_case("Content-Type", "cONTENT-tYPE"));
  EXPECT_FALSE(equal_ignoring_case("a", "ab"));
  EXPECT_FALSE(equal_ignoring_case("@", "`"));
}

TEST(Ascii, TrimmedTextsHaveNoWhiteSpaceAtTheirEnds) {
  EXPECT_EQ(trimmed(" \r\n a b\t"), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed("\n a ", " "), "\n a");
}

}  // namespace
}  // namespace tenon
