#include "json/reader.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

std::string strict(std::string_view text) {
  const Result<Json, JsonError> parsed = parse_json(text);
  return parsed ? parsed->dump() : "refused";
}

TEST(JsonReaderTest, KeepsEveryValue) {
  for (const std::string_view text :
       {"null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "0.1", "1e+300", "5e-324",
        "\"\"", "\"a\\\"\\\\\\n\\u0001é😀\"", "[]", "[1,[2,[]]]", "{}", "{\"b\":1,\"a\":{\"c\":null}}"}) {
    EXPECT_EQ(strict(text), text);
  }
}

TEST(JsonReaderTest, ReadsEscapes) {
  EXPECT_EQ(parse_json(R"("\u00e9\ud83d\ude00\/\b\f")")->as_string(), "é😀/\b\f");
  EXPECT_EQ(strict(R"("\ud83d")"), "refused");
  EXPECT_EQ(strict(R"("\ude00\ud83d")"), "refused");
  EXPECT_EQ(strict(R"("\u12g4")"), "refused");
  EXPECT_EQ(strict(R"("\u+123")"), "refused");
  EXPECT_EQ(strict(R"("\x41")"), "refused");
}

TEST(JsonReaderTest, StrictAcceptsOnlyJson) {
  for (const std::string_view text : {"",
                                      " ",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "'a'",
                                      "True",
                                      "// x\n1",
                                      "+1",
                                      ".5",
                                      "5.",
                                      "01",
                                      "-",
                                      "1e",
                                      "1e+",
                                      "0x10",
                                      "1 2",
                                      "[1 2]",
                                      "{\"a\" 1}",
                                      "{\"a\":1 \"b\":2}",
                                      "\"\n\"",
                                      "\"a",
                                      "nul",
                                      "NaN",
                                      "-Infinity",
                                      "1e400",
                                      "[",
                                      "{",
                                      "]",
                                      "\xff",
                                      "\"\xed\xa0\x80\"",
                                      "{\"a\":1,\"a\":1}",
                                      "1\xef\xbb\xbf",
                                      " \xef\xbb\xbf"
                                      "1",
                                      "\xef\xbb\xbf\xef\xbb\xbf"
                                      "1"}) {
    EXPECT_EQ(strict(text), "refused") << text;
  }
  EXPECT_EQ(strict("\xef\xbb\xbf [1]"), "[1]");
}

TEST(JsonReaderTest, ReadsNumbersExactly) {
  EXPECT_TRUE(parse_json("1.0")->kind() == Json::Kind::Number);
  EXPECT_EQ(parse_json("9223372036854775808")->as_double(), 9223372036854775808.0);
  EXPECT_TRUE(std::signbit(parse_json("-0")->as_double()));
  EXPECT_EQ(parse_json("1e-400")->as_double(), 0.0);
  EXPECT_EQ(parse_json("0." + std::string(400, '0') + "1")->as_double(), 0.0);
  EXPECT_FALSE(parse_json(std::string(400, '9')).has_value());
  EXPECT_EQ(parse_json("1e-99999999999999999999")->as_double(), 0.0);
  EXPECT_FALSE(parse_json("1e99999999999999999999").has_value());
  EXPECT_EQ(parse_json("0e400")->as_double(), 0.0);
}

TEST(JsonReaderTest, NestingHasALimit) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(json_depth_max)).has_value());
  EXPECT_EQ(parse_json(nested(json_depth_max + 1)).error().kind, JsonErrorKind::TooDeep);
}

TEST(JsonReaderTest, SizeHasALimit) {
  EXPECT_EQ(parse_json(std::string(json_bytes_max + 1, ' ')).error().kind, JsonErrorKind::TooLarge);
  std::string many = "[0";
  for (std::size_t count = 0; count < json_nodes_max; ++count) many += ",0";
  EXPECT_EQ(parse_json(many + "]").error().kind, JsonErrorKind::TooLarge);
}

TEST(JsonReaderTest, TheLimitsCanBeNamed) {
  EXPECT_TRUE(parse_json("[[]]", {4, 2, 2}).has_value());
  EXPECT_EQ(parse_json("[[]]", {3, 2, 2}).error().kind, JsonErrorKind::TooLarge);
  EXPECT_EQ(parse_json("[[]]", {4, 1, 2}).error().message, "lists and objects are nested too deeply (maximum depth 1)");
  EXPECT_EQ(parse_json("[[]]", {4, 2, 1}).error().message, "the text contains too many values");
}

TEST(JsonReaderTest, IntegersOf64BitsKeepEveryDigit) {
  EXPECT_EQ(parse_json("18446744073709551615")->as_count(), UINT64_MAX);
  EXPECT_EQ(strict("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(strict("9223372036854775808"), "9223372036854775808");
  EXPECT_EQ(parse_json("18446744073709551616")->kind(), Json::Kind::Number);
}

TEST(JsonReaderTest, FindsOutWhetherATextIsJson) {
  EXPECT_TRUE(is_json(R"({"a":1,"a":[true,null,"x"]})"));
  EXPECT_FALSE(is_json("{a:1}"));
  EXPECT_FALSE(is_json("1 2"));
  EXPECT_FALSE(is_json("\xff"));
}

TEST(JsonReaderTest, OwnTextsMayBeNestedDeeper) {
  const std::string deep = std::string(2'000, '[') + std::string(2'000, ']');
  EXPECT_FALSE(parse_json(deep).has_value());
  EXPECT_EQ(parse_own_json(deep).dump(), deep);
  EXPECT_TRUE(parse_own_json("{").is_null());
}

}  // namespace
}  // namespace tenon
