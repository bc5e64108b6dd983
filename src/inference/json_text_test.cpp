#include "inference/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace tenon::inference {
namespace {

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, CopiesWhatNeedsNoEscape) {
  EXPECT_EQ(as_json(""), R"("")");
  EXPECT_EQ(as_json("Calculate 2 - 5"), R"("Calculate 2 - 5")");
  EXPECT_EQ(as_json("grüße, 東京 🎉"), "\"grüße, 東京 🎉\"");
}

TEST(JsonText, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(as_json("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(as_json("1\n2\t3\r4\b5\f6"), R"("1\n2\t3\r4\b5\f6")");
  EXPECT_EQ(as_json(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
}

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(as_json("a\xFFz"), "\"a\uFFFDz\"");
  EXPECT_EQ(as_json("\xC3"), "\"\uFFFD\"");                                // cut short
  EXPECT_EQ(as_json("\xC0\xAF"), "\"\uFFFD\uFFFD\"");                      // overlong
  EXPECT_EQ(as_json("\xED\xA0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");            // a surrogate
  EXPECT_EQ(as_json("\xF4\x90\x80\x80"), "\"\uFFFD\uFFFD\uFFFD\uFFFD\"");  // above U+10FFFF
}

TEST(JsonText, AnyBytesGiveAStringThatAParserReads) {
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& byte : text) byte = static_cast<char>(random() % 3 == 0 ? random() : 'a' + random() % 26);
    const auto parsed = nlohmann::json::parse(as_json(text), nullptr, false);
    ASSERT_TRUE(parsed.is_string()) << as_json(text);
  }
}

TEST(JsonText, TextComesBackAsItWas) {
  std::string text;
  for (int point = 0; point < 300; ++point) {
    text += point < 128 ? std::string(1, static_cast<char>(point)) : std::string("é\u2028🎉");
    EXPECT_EQ(nlohmann::json::parse(as_json(text)).get<std::string>(), text);
  }
}

}  // namespace
}  // namespace tenon::inference
