#include "json/lenient_reader.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

std::string lenient(std::string_view text) {
  const Result<Json, JsonError> parsed = parse_lenient(text);
  return parsed ? parsed->dump() : "refused: " + parsed.error().message;
}

JsonErrorKind lenient_error(std::string_view text) {
  const Result<Json, JsonError> parsed = parse_lenient(text);
  EXPECT_FALSE(parsed.has_value()) << text;
  return parsed ? JsonErrorKind::NoValue : parsed.error().kind;
}

TEST(LenientReaderTest, ReadsWhatIsJson) {
  for (const std::string_view text :
       {"null", "-1", "1e+300", "\"a\\\"\"", "[1,[2,[]]]", "{\"b\":1,\"a\":{\"c\":null}}"}) {
    EXPECT_EQ(lenient(text), text);
  }
}

TEST(LenientReaderTest, PassesOverFencesAndProse) {
  EXPECT_EQ(lenient("```json\n{\"a\": 1}\n```"), R"({"a":1})");
  EXPECT_EQ(lenient("```\ntrue\n```"), "true");
  EXPECT_EQ(lenient("Here you are:\n```json\n{\"a\": 1}\n```\nAnything else?"), R"({"a":1})");
  EXPECT_EQ(lenient("The {braces} and [brackets] in: {\"a\": [1]}. Done {really}."), R"({"a":[1]})");
  EXPECT_EQ(lenient(" \n42\n"), "42");
}

TEST(LenientReaderTest, UnderstandsWhatCanOnlyMeanOneThing) {
  EXPECT_EQ(lenient("{'a': 'it\\'s', b-c: True, $d: None, \"e\": False,}"),
            R"({"a":"it's","b-c":true,"$d":null,"e":false})");
  EXPECT_EQ(lenient("[1, 2, // two\n 3, # three\n /* end */ ]"), "[1,2,3]");
  EXPECT_EQ(lenient("{\"a\": \"one\ntwo\tthree\"}"), R"({"a":"one\ntwo\tthree"})");
  EXPECT_EQ(lenient("[+5, .5, 5., -.5]"), "[5,0.5,5.0,-0.5]");
}

TEST(LenientReaderTest, RefusesWhatWouldBeAGuess) {
  EXPECT_EQ(lenient_error(""), JsonErrorKind::NoValue);
  EXPECT_EQ(lenient_error("I cannot say."), JsonErrorKind::NoValue);
  EXPECT_EQ(lenient_error("The answer is 42."), JsonErrorKind::NoValue);
  EXPECT_EQ(lenient_error("{\"a\": NaN}"), JsonErrorKind::Refused);
  EXPECT_EQ(lenient_error("{\"a\": -Infinity}"), JsonErrorKind::Refused);
  EXPECT_EQ(lenient_error("{\"a\": undefined}"), JsonErrorKind::Refused);
  EXPECT_EQ(lenient_error("{\"a\": 1, 'a': 2}"), JsonErrorKind::Refused);
  EXPECT_EQ(lenient_error("{\"a\": 1 \"b\": 2}"), JsonErrorKind::Syntax);
  EXPECT_EQ(lenient_error("{\"a\": \"\\d\"}"), JsonErrorKind::Syntax);
  EXPECT_EQ(lenient_error("{\"a\": 007}"), JsonErrorKind::Syntax);
  EXPECT_EQ(lenient_error("{\"a\": 1_000}"), JsonErrorKind::Syntax);
  EXPECT_EQ(lenient_error("\xc3\x28"), JsonErrorKind::NotUtf8);
}

TEST(LenientReaderTest, NeverCompletesWhatWasCutOff) {
  for (const std::string_view text :
       {"{", "{\"a\": 1", "{\"a\": 1,", "{\"a\": [1, 2", "{\"a\": \"one", "[tru", "{\"a\": tru", "{\"a\": 1.",
        "{\"a\": \"x\\", "{\"a\": \"x\\u00", "{\"a\": {\"b\": 1}"}) {
    const Result<Json, JsonError> parsed = parse_lenient(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().kind, JsonErrorKind::CutOff) << text << ": " << parsed.error().message;
  }
}

TEST(LenientReaderTest, NeverMistakesAPartForTheWhole) {
  EXPECT_EQ(lenient_error("{\"a\": @, \"b\": {\"c\": 1}}"), JsonErrorKind::Syntax);
  EXPECT_EQ(lenient_error("[1, @, {\"c\": 1}]"), JsonErrorKind::Syntax);
}

TEST(LenientReaderTest, SeveralValuesMustAgree) {
  EXPECT_EQ(lenient("{\"a\": 1}\nor, again: {\"a\": 1.0}"), R"({"a":1})");
  EXPECT_EQ(lenient_error("{\"a\": 1} or {\"a\": 2}"), JsonErrorKind::SeveralValues);
  EXPECT_EQ(lenient("{\"a\": 1} (see [2])"), R"({"a":1})");
}

TEST(LenientReaderTest, ReportsWhereItStopped) {
  const Result<Json, JsonError> parsed = parse_lenient("  {\"a\": 1 \"b\": 2}");
  EXPECT_EQ(parsed.error().offset, 10U);
  EXPECT_EQ(parsed.error().message, R"(expected a `,` or `}`, found "\"b\": 2}")");
}

TEST(LenientReaderTest, NestingHasALimit) {
  EXPECT_EQ(parse_lenient(std::string(200'000, '[')).error().kind, JsonErrorKind::TooDeep);
}

// A search that began again at each bracket would take minutes for each of these.
TEST(LenientReaderTest, TheSearchForAValueIsBounded) {
  std::string text;
  while (text.size() < 1'000'000) text += "[" + std::string(30, ' ') + "!{x ";
  EXPECT_FALSE(parse_lenient(text).has_value());
  std::string deep;
  while (deep.size() < 1'000'000) deep += std::string(250, '[') + "x" + std::string(2'000, ' ');
  EXPECT_FALSE(parse_lenient(deep).has_value());
}

}  // namespace
}  // namespace tenon
