#include "tests/support/json_schema/ecma_pattern.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

namespace tenon::test {
namespace {

bool finds(std::string_view pattern, std::string_view text) {
  const Result<std::string, std::string> translated = translate_ecma_pattern(pattern);
  EXPECT_TRUE(translated.has_value()) << pattern << ": " << translated.error();
  const re2::RE2 compiled(translated.value_or(""));
  EXPECT_TRUE(compiled.ok()) << *translated;
  return re2::RE2::PartialMatch(std::string(text), compiled);
}

std::string pattern_refusal(std::string_view pattern) {
  const Result<std::string, std::string> translated = translate_ecma_pattern(pattern);
  return translated ? "" : translated.error();
}

TEST(EcmaPatternTest, ClassesMeanWhatEcmaSays) {
  EXPECT_TRUE(finds("^\\s$", "\xC2\xA0"));
  EXPECT_TRUE(finds("^\\s$", "\v"));
  EXPECT_TRUE(finds("^[x\\s]$", "\xE2\x80\xA8"));
  EXPECT_FALSE(finds("^\\S$", "\xEF\xBB\xBF"));
  EXPECT_TRUE(finds("^[\\S]$", "é"));
  EXPECT_FALSE(finds("^.$", "\xE2\x80\xA8"));
  EXPECT_FALSE(finds("^\\d$", "৪"));
  EXPECT_TRUE(finds("^[\\b]$", "\b"));
  EXPECT_TRUE(finds("^[^]$", "\n"));
  EXPECT_FALSE(finds("[]", "a"));
  EXPECT_TRUE(finds("^[[:alpha:]]$", ":]"));
}

TEST(EcmaPatternTest, EscapesMeanWhatEcmaSays) {
  EXPECT_TRUE(finds("^\\u00e9\\x41\\cJ\\0\\/$", std::string_view("éA\n\0/", 6)));
  EXPECT_TRUE(finds("^\\ud83d\\ude00$", "😀"));
  EXPECT_TRUE(finds("^\\u{1F600}$", "😀"));
  EXPECT_TRUE(finds("^\\p{Letter}\\p{Lu}\\P{Nd}\\p{Script=Greek}$", "aBcα"));
  EXPECT_TRUE(finds("^a{2}b{,c$", "aab{,c"));
  EXPECT_TRUE(finds("^(?<word>a)(?:b)$", "ab"));
  EXPECT_FALSE(finds("^a$", "a\n"));
}

TEST(EcmaPatternTest, RefusesWhatRe2DoesNotHave) {
  for (const std::string_view pattern :
       {"(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(a)\\1", "\\k<a>", "\\p{Emoji}", "\\p{Lx}", "\\pL"}) {
    EXPECT_NE(pattern_refusal(pattern), "") << pattern;
  }
}

TEST(EcmaPatternTest, RefusesWhatOnlyRe2Has) {
  for (const std::string_view pattern :
       {"(?i)a", "(?P<a>b)", "\\Aa", "a\\z", "\\Qa", "\\C", "\\a", "\\_", "\\u12", "\\ud83d", "a\\", "[a", "[a\\"}) {
    EXPECT_NE(pattern_refusal(pattern), "") << pattern;
  }
}

}  // namespace
}  // namespace tenon::test
