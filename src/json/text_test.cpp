#include "json/text.h"

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "json/reader.h"

namespace tenon {
namespace {

TEST(JsonText, CopiesWhatNeedsNoEscape) {
  EXPECT_EQ(make_json_string(""), R"("")");
  EXPECT_EQ(make_json_string("Calculate 2 - 5"), R"("Calculate 2 - 5")");
  EXPECT_EQ(make_json_string("grüße, 東京 🎉"), "\"grüße, 東京 🎉\"");
}

TEST(JsonText, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(make_json_string("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(make_json_string("1\n2\t3\r4\b5\f6"), R"("1\n2\t3\r4\b5\f6")");
  EXPECT_EQ(make_json_string(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
}

TEST(JsonText, EscapesInTheCanonicalFormOfRfc8785) {
  std::string all;
  for (char byte = 0; byte < 0x20; ++byte) all += byte;
  EXPECT_EQ(make_json_string(all),
            R"("\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f)"
            R"(\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f")");
  // The RFC's own example, section 3.2.2.2.
  EXPECT_EQ(make_json_string("\u20ac$\x0F\nA'B\"\\\\\"/"), "\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"");
  EXPECT_EQ(make_json_string("\x7F\u0080\u2028"), "\"\x7F\u0080\u2028\"");
}

TEST(JsonText, AppendsToExistingText) {
  std::string out = "[";
  append_json_string(out, "a");
  EXPECT_EQ(out, "[\"a\"");
  append_json_escaped(out, "\"\n");
  EXPECT_EQ(out, "[\"a\"\\\"\\n");
}

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(make_json_string("a\xFFz"), "\"a\uFFFDz\"");
  EXPECT_EQ(make_json_string("\xC3"), "\"\uFFFD\"");                                // cut short
  EXPECT_EQ(make_json_string("\xC0\xAF"), "\"\uFFFD\uFFFD\"");                      // overlong
  EXPECT_EQ(make_json_string("\xED\xA0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");            // a surrogate
  EXPECT_EQ(make_json_string("\xF4\x90\x80\x80"), "\"\uFFFD\uFFFD\uFFFD\uFFFD\"");  // above U+10FFFF
}

TEST(JsonText, AnyBytesGiveAStringThatAParserReads) {
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string text(random() % 80, '\0');
    for (char& byte : text) byte = static_cast<char>(random() % 3 == 0 ? random() : 'a' + random() % 26);
    const auto parsed = parse_json(make_json_string(text));
    ASSERT_TRUE(parsed.has_value() && parsed->is_string()) << make_json_string(text);
    ASSERT_EQ(parsed->as_string(), replace_invalid_utf8(text));
  }
}

TEST(JsonText, TextRoundTrips) {
  std::string text;
  for (int point = 0; point < 300; ++point) {
    text += point < 128 ? std::string(1, static_cast<char>(point)) : std::string("é\u2028🎉");
    EXPECT_EQ(parse_json(make_json_string(text))->as_string(), text);
  }
}

TEST(JsonText, EscapesEndAtALimit) {
  constexpr std::size_t megabyte = std::size_t{1} << 20U;
  std::string out = "before";
  append_json_escaped(out, std::string(32 * megabyte, '\0'), 4 * megabyte);
  EXPECT_GT(out.size(), 4 * megabyte);
  EXPECT_LE(out.size(), 11 * megabyte);
  // What fits is complete, and no code point is cut.
  std::string text;
  while (text.size() < 3 * megabyte + 1) text += "é\"";
  std::string limited;
  append_json_escaped(limited, text, 8 * megabyte);
  std::string whole;
  append_json_escaped(whole, text);
  EXPECT_EQ(limited, whole);
  limited.clear();
  append_json_escaped(limited, std::string(2 * megabyte, '\x80'), 8 * megabyte);
  EXPECT_EQ(limited.size(), 6 * megabyte) << "each is replaced";
}

}  // namespace
}  // namespace tenon
