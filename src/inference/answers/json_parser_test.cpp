#include "inference/answers/json_parser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/utf8.h"

namespace tenon::inference::answers {
namespace {

std::string strict(std::string_view text) {
  const Result<Json, ParseError> parsed = parse_json(text);
  return parsed ? parsed->dump() : "refused";
}

std::string lenient(std::string_view text) {
  const Result<Json, ParseError> parsed = parse_lenient(text);
  return parsed ? parsed->dump() : "refused: " + parsed.error().message;
}

ParseErrorKind lenient_error(std::string_view text) {
  const Result<Json, ParseError> parsed = parse_lenient(text);
  EXPECT_FALSE(parsed.has_value()) << text;
  return parsed ? ParseErrorKind::NoValue : parsed.error().kind;
}

TEST(JsonParserTest, KeepsEveryValue) {
  for (const std::string_view text :
       {"null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "0.1", "1e+300", "5e-324",
        "\"\"", "\"a\\\"\\\\\\n\\u0001é😀\"", "[]", "[1,[2,[]]]", "{}", "{\"b\":1,\"a\":{\"c\":null}}"}) {
    EXPECT_EQ(strict(text), text);
    EXPECT_EQ(lenient(text), text);
  }
}

TEST(JsonParserTest, ReadsEscapes) {
  EXPECT_EQ(parse_json(R"("\u00e9\ud83d\ude00\/\b\f")")->as_string(), "é😀/\b\f");
  EXPECT_EQ(strict(R"("\ud83d")"), "refused");
  EXPECT_EQ(strict(R"("\ude00\ud83d")"), "refused");
  EXPECT_EQ(strict(R"("\u12g4")"), "refused");
  EXPECT_EQ(strict(R"("\u+123")"), "refused");
  EXPECT_EQ(strict(R"("\x41")"), "refused");
}

TEST(JsonParserTest, StrictTakesNothingButJson) {
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
                                      "\xef\xbb\xbf"
                                      "1"}) {
    EXPECT_EQ(strict(text), "refused") << text;
  }
}

TEST(JsonParserTest, ReadsNumbersExactly) {
  EXPECT_TRUE(parse_json("1.0")->is(Json::Kind::Number));
  EXPECT_EQ(parse_json("9223372036854775808")->as_double(), 9223372036854775808.0);
  EXPECT_TRUE(std::signbit(parse_json("-0")->as_double()));
  EXPECT_EQ(parse_json("1e-400")->as_double(), 0.0);
  EXPECT_EQ(parse_json("0." + std::string(400, '0') + "1")->as_double(), 0.0);
  EXPECT_FALSE(parse_json(std::string(400, '9')).has_value());
  EXPECT_EQ(parse_json("1e-99999999999999999999")->as_double(), 0.0);
  EXPECT_FALSE(parse_json("1e99999999999999999999").has_value());
  EXPECT_EQ(parse_json("0e400")->as_double(), 0.0);
}

TEST(LenientParserTest, PassesOverFencesAndProse) {
  EXPECT_EQ(lenient("```json\n{\"a\": 1}\n```"), R"({"a":1})");
  EXPECT_EQ(lenient("```\ntrue\n```"), "true");
  EXPECT_EQ(lenient("Here you are:\n```json\n{\"a\": 1}\n```\nAnything else?"), R"({"a":1})");
  EXPECT_EQ(lenient("The {braces} and [brackets] in: {\"a\": [1]}. Done {really}."), R"({"a":[1]})");
  EXPECT_EQ(lenient("<think>perhaps {\"a\": 2}?</think>\n{\"a\": 1}"), R"({"a":1})");
  EXPECT_EQ(lenient(" \n42\n"), "42");
}

TEST(LenientParserTest, UnderstandsWhatCanOnlyMeanOneThing) {
  EXPECT_EQ(lenient("{'a': 'it\\'s', b-c: True, $d: None, \"e\": False,}"),
            R"({"a":"it's","b-c":true,"$d":null,"e":false})");
  EXPECT_EQ(lenient("[1, 2, // two\n 3, # three\n /* end */ ]"), "[1,2,3]");
  EXPECT_EQ(lenient("{\"a\": \"one\ntwo\tthree\"}"), R"({"a":"one\ntwo\tthree"})");
  EXPECT_EQ(lenient("[+5, .5, 5., -.5]"), "[5,0.5,5,-0.5]");
}

TEST(LenientParserTest, RefusesWhatWouldBeAGuess) {
  EXPECT_EQ(lenient_error(""), ParseErrorKind::NoValue);
  EXPECT_EQ(lenient_error("I cannot say."), ParseErrorKind::NoValue);
  EXPECT_EQ(lenient_error("The answer is 42."), ParseErrorKind::NoValue);
  EXPECT_EQ(lenient_error("{\"a\": NaN}"), ParseErrorKind::Refused);
  EXPECT_EQ(lenient_error("{\"a\": -Infinity}"), ParseErrorKind::Refused);
  EXPECT_EQ(lenient_error("{\"a\": undefined}"), ParseErrorKind::Refused);
  EXPECT_EQ(lenient_error("{\"a\": 1, 'a': 2}"), ParseErrorKind::Refused);
  EXPECT_EQ(lenient_error("{\"a\": 1 \"b\": 2}"), ParseErrorKind::Syntax);
  EXPECT_EQ(lenient_error("{\"a\": \"\\d\"}"), ParseErrorKind::Syntax);
  EXPECT_EQ(lenient_error("{\"a\": 007}"), ParseErrorKind::Syntax);
  EXPECT_EQ(lenient_error("{\"a\": 1_000}"), ParseErrorKind::Syntax);
  EXPECT_EQ(lenient_error("\xc3\x28"), ParseErrorKind::NotUtf8);
}

TEST(LenientParserTest, NeverCompletesWhatWasCutOff) {
  for (const std::string_view text :
       {"{", "{\"a\": 1", "{\"a\": 1,", "{\"a\": [1, 2", "{\"a\": \"one", "[tru", "{\"a\": tru", "{\"a\": 1.",
        "{\"a\": \"x\\", "{\"a\": \"x\\u00", "{\"a\": {\"b\": 1}"}) {
    const Result<Json, ParseError> parsed = parse_lenient(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().kind, ParseErrorKind::CutOff) << text << ": " << parsed.error().message;
  }
}

TEST(LenientParserTest, NeverTakesAPartForTheWhole) {
  EXPECT_EQ(lenient_error("{\"a\": @, \"b\": {\"c\": 1}}"), ParseErrorKind::Syntax);
  EXPECT_EQ(lenient_error("[1, @, {\"c\": 1}]"), ParseErrorKind::Syntax);
}

TEST(LenientParserTest, SeveralValuesMustAgree) {
  EXPECT_EQ(lenient("{\"a\": 1}\nor, again: {\"a\": 1.0}"), R"({"a":1})");
  EXPECT_EQ(lenient_error("{\"a\": 1} or {\"a\": 2}"), ParseErrorKind::SeveralValues);
  EXPECT_EQ(lenient("{\"a\": 1} (see [2])"), R"({"a":1})");
}

TEST(LenientParserTest, SaysWhereItStopped) {
  const Result<Json, ParseError> parsed = parse_lenient("  {\"a\": 1 \"b\": 2}");
  EXPECT_EQ(parsed.error().offset, 10U);
  EXPECT_EQ(parsed.error().message, R"(a `,` or `}` is missing before "\"b\": 2}")");
}

TEST(JsonParserLimitsTest, NestingHasALimit) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(json_depth_max)).has_value());
  EXPECT_EQ(parse_json(nested(json_depth_max + 1)).error().kind, ParseErrorKind::TooDeep);
  EXPECT_EQ(parse_lenient(nested(200'000)).error().kind, ParseErrorKind::TooDeep);
}

TEST(JsonParserLimitsTest, SizeHasALimit) {
  EXPECT_EQ(parse_json(std::string(json_bytes_max + 1, ' ')).error().kind, ParseErrorKind::TooLarge);
  std::string many = "[0";
  for (std::size_t count = 0; count < json_nodes_max; ++count) many += ",0";
  EXPECT_EQ(parse_json(many + "]").error().kind, ParseErrorKind::TooLarge);
}

// A search that began again at each bracket would take minutes for each of these.
TEST(JsonParserLimitsTest, TheSearchForAValueIsBounded) {
  std::string text;
  while (text.size() < 1'000'000) text += "[" + std::string(30, ' ') + "!{x ";
  EXPECT_FALSE(parse_lenient(text).has_value());
  std::string deep;
  while (deep.size() < 1'000'000) deep += std::string(250, '[') + "x" + std::string(2'000, ' ');
  EXPECT_FALSE(parse_lenient(deep).has_value());
}

TEST(JsonTest, ComparesNumbersByTheirValue) {
  EXPECT_TRUE(equal(*parse_json("1"), *parse_json("1.0")));
  EXPECT_TRUE(equal(*parse_json("{\"a\":1,\"b\":2}"), *parse_json("{\"b\":2,\"a\":1}")));
  EXPECT_FALSE(equal(*parse_json("9007199254740993"), *parse_json("9007199254740992.0")));
  EXPECT_FALSE(equal(*parse_json("0"), *parse_json("false")));
  EXPECT_LT(compare_numbers(*parse_json("9223372036854775807"), *parse_json("9223372036854775808")), 0);
  EXPECT_GT(compare_numbers(*parse_json("-1"), *parse_json("-1.5")), 0);
}

}  // namespace
}  // namespace tenon::inference::answers
