#include "base/utf8.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace tenon {
namespace {

constexpr std::size_t none = std::string_view::npos;

TEST(Utf8, MeasuresWellFormedSequences) {
  EXPECT_EQ(utf8_sequence_length("a", 0), 1U);
  EXPECT_EQ(utf8_sequence_length(std::string_view("\0", 1), 0), 1U);
  EXPECT_EQ(utf8_sequence_length("é", 0), 2U);
  EXPECT_EQ(utf8_sequence_length("東", 0), 3U);
  EXPECT_EQ(utf8_sequence_length("\xED\x9F\xBF", 0), 3U);  // before the surrogates
  EXPECT_EQ(utf8_sequence_length("\xEE\x80\x80", 0), 3U);  // after them
  EXPECT_EQ(utf8_sequence_length("a🎉", 1), 4U);
  EXPECT_EQ(utf8_sequence_length("\xF4\x8F\xBF\xBF", 0), 4U);  // the last code point
  EXPECT_EQ(utf8_sequence_length("é", 1), 0U);                 // in the middle
  EXPECT_EQ(utf8_sequence_length("a", 1), 0U);                 // the end
}

TEST(Utf8, FindsWhatIsNotWellFormed) {
  EXPECT_EQ(find_invalid_utf8(""), none);
  EXPECT_EQ(find_invalid_utf8("aé東🎉"), none);
  EXPECT_EQ(find_invalid_utf8("ab\xFFz"), 2U);
  EXPECT_EQ(find_invalid_utf8("a\x80"), 1U);             // begins with a continuation
  EXPECT_EQ(find_invalid_utf8("é\xC3"), 2U);             // cut short
  EXPECT_EQ(find_invalid_utf8("a\xE6\x9D"), 1U);         // cut short
  EXPECT_EQ(find_invalid_utf8("\xF0\x9F\x8E"), 0U);      // cut short
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0U);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xE0\x80\xAF"), 0U);      // overlong
  EXPECT_EQ(find_invalid_utf8("\xF0\x80\x80\xAF"), 0U);  // overlong
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0U);      // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0U);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("\xF5\x80\x80\x80"), 0U);  // never a beginning
}

TEST(Utf8, ReplacesEachByteThatIsNot) {
  EXPECT_EQ(replace_invalid_utf8("aé"), "aé");
  EXPECT_EQ(replace_invalid_utf8("a\xFFz\xC3"), "a\uFFFDz\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(count_code_points(""), 0U);
  EXPECT_EQ(count_code_points("aé😀"), 3U);
  EXPECT_EQ(count_code_points("\xFF\xC3"), 2U);
  std::string text;
  for (std::size_t count = 1; count <= 40; ++count) {
    text += std::array{"a", "é", "語", "😀"}[count % 4];
    EXPECT_EQ(count_code_points(text), count);
    EXPECT_EQ(count_code_points(std::string(count, '\x80')), 0U);
    EXPECT_EQ(count_code_points(std::string(count, '\xFF')), count);
    EXPECT_EQ(count_code_points(std::string(count, '\x40')), count);
  }
}

TEST(Utf8, CutsBetweenCodePoints) {
  EXPECT_EQ(cut_utf8("aé", 0), "");
  EXPECT_EQ(cut_utf8("aé", 2), "a");
  EXPECT_EQ(cut_utf8("aé", 3), "aé");
  EXPECT_EQ(cut_utf8("a😀b", 4), "a");
  EXPECT_EQ(cut_utf8("a😀b", 5), "a😀");
}

TEST(Utf8, FindsWhereACodePointBegins) {
  EXPECT_EQ(offset_of_code_point("aé😀", 0), 0U);
  EXPECT_EQ(offset_of_code_point("aé😀", 2), 3U);
  EXPECT_EQ(offset_of_code_point("aé😀", 3), 7U);
  EXPECT_EQ(offset_of_code_point("aé😀", 9), 7U);
}

}  // namespace
}  // namespace tenon
