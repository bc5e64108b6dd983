#include "inference/answers/value_reader.h"

#include <gtest/gtest.h>

#include "json/reader.h"
#include "vm/values/render.h"

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeTable;

class ValueReaderTest : public testing::Test {
 protected:
  /// What comes out, as the machine renders it; or the mismatches, a line each.
  std::string read(TypeId type, std::string_view text) const {
    const Result<Json, JsonError> json = parse_json(text);
    EXPECT_TRUE(json.has_value()) << text;
    return show(reader_.read(type, *json));
  }
  std::string show(const Result<vm::Value, std::vector<Mismatch>>& value) const {
    std::string out;
    if (value) {
      EXPECT_TRUE(vm::to_json(*value, types_, out).has_value());
      return out;
    }
    for (const Mismatch& mismatch : value.error()) out += (out.empty() ? "" : "\n") + describe(mismatch, "it");
    return out;
  }
  TypeId refine(TypeId base, std::optional<std::int64_t> low, std::optional<std::int64_t> high) {
    types::Refinement refinement;
    if (low) refinement.low = *low;
    if (high) refinement.high = *high;
    return types_.refined(base, refinement);
  }
  TypeId measure(TypeId base, std::optional<std::uint64_t> low, std::optional<std::uint64_t> high,
                 std::optional<std::string> pattern = {}) {
    types::Refinement refinement;
    refinement.length_low = low;
    refinement.length_high = high;
    refinement.pattern = std::move(pattern);
    return types_.refined(base, refinement);
  }

  TypeTable types_;
  ValueReader reader_{types_};
};

TEST_F(ValueReaderTest, ReadsEveryKindOfValue) {
  const TypeId point =
      types_.add_struct({"Point", "", {{"x", TypeTable::i32, ""}, {"name", types_.option(TypeTable::string), ""}}});
  const TypeId mood = types_.add_enum(
      {"Mood",
       "",
       {{"Good", "", {}}, {"Bad", "", {TypeTable::string}}, {"Mixed", "", {TypeTable::i32, TypeTable::boolean}}}});
  const std::vector<std::pair<TypeId, std::string_view>> cases = {
      {TypeTable::unit, "null"},
      {TypeTable::boolean, "true"},
      {TypeTable::i32, "-2147483648"},
      {TypeTable::i64, "9223372036854775807"},
      {TypeTable::f64, "0.1"},
      {TypeTable::string, "\"é\\n\""},
      {types_.text("Analysis"), "\"a\""},
      {types_.list(TypeTable::i32), "[1,2]"},
      {types_.map(TypeTable::boolean), "{\"b\":true,\"a\":false}"},
      {types_.option(TypeTable::i32), "null"},
      {types_.option(TypeTable::i32), "5"},
      {types_.tuple({TypeTable::i32, TypeTable::string}), "[1,\"a\"]"},
      {point, "{\"x\":1,\"name\":null}"},
      {mood, "\"Good\""},
      {mood, "{\"Bad\":\"rain\"}"},
      {mood, "{\"Mixed\":[1,true]}"},
      {types_.make_union({"", std::vector<std::string>{"a", "b"}}), "\"b\""},
      {types_.make_union({"", std::vector<std::int64_t>{1, 2}}), "2"},
      {refine(TypeTable::i32, 1, 5), "5"},
      {measure(TypeTable::string, 1, 3, "[a-z]+"), "\"abc\""},
  };
  for (const auto& [type, text] : cases) EXPECT_EQ(read(type, text), text) << types_.describe(type);
}

TEST_F(ValueReaderTest, ReadsWhatCanOnlyMeanOneThing) {
  const TypeId point =
      types_.add_struct({"Point", "", {{"name", types_.option(TypeTable::string), ""}, {"x", TypeTable::i32, ""}}});
  EXPECT_EQ(read(TypeTable::i32, "5.0"), "5");
  EXPECT_EQ(read(TypeTable::i32, "1e3"), "1000");
  EXPECT_EQ(read(TypeTable::f64, "5"), "5.0");
  EXPECT_EQ(read(point, "{\"x\":1}"), "{\"name\":null,\"x\":1}");
}

TEST_F(ValueReaderTest, ReportsWhatWasFoundAndExpected) {
  EXPECT_EQ(read(TypeTable::boolean, "\"true\""), "it is the text \"true\", where true or false is asked for");
  EXPECT_EQ(read(TypeTable::i32, "3.5"), "it is the number 3.5, where integer is asked for");
  EXPECT_EQ(read(TypeTable::i32, "2147483648"), "it is the number 2147483648, which an i32 cannot hold");
  EXPECT_EQ(read(TypeTable::i64, "9223372036854775808"),
            "it is the number 9223372036854775808, which an i64 cannot hold");
  EXPECT_EQ(read(TypeTable::i64, "9007199254740994.0"),
            "it is the number 9007199254740994, too large to be exact; write it without point and exponent");
  EXPECT_EQ(read(TypeTable::string, "5"), "it is the number 5, where string is asked for");
  EXPECT_EQ(read(TypeTable::unit, "[]"), "it is an empty list, where null is asked for");
  EXPECT_EQ(read(refine(TypeTable::i32, 1, 5), "6"), "it is the number 6, where integer from 1 to 5 is asked for");
  EXPECT_EQ(read(types_.make_union({"", std::vector<std::string>{"a", "b"}}), "\"c\""),
            "it is the text \"c\", where \"a\" or \"b\" is asked for");
}

TEST_F(ValueReaderTest, MeasuresTextsInCodePoints) {
  const TypeId type = measure(TypeTable::string, 2, 3);
  EXPECT_EQ(read(type, "\"éé\""), "\"éé\"");
  EXPECT_EQ(read(type, "\"😀\""), "it has 1 characters, where string of 2 to 3 characters is asked for");
  EXPECT_EQ(read(type, "\"abcd\""), "it has 4 characters, where string of 2 to 3 characters is asked for");
  EXPECT_EQ(read(measure(types_.list(TypeTable::i32), {}, 1), "[1,2]"),
            "it has 2 items, where [integer, …] of at most 1 items is asked for");
}

TEST_F(ValueReaderTest, APatternMatchesAsAWhole) {
  const TypeId type = measure(TypeTable::string, {}, {}, "a|ab");
  EXPECT_EQ(read(type, "\"ab\""), "\"ab\"");
  EXPECT_EQ(read(type, "\"abc\""), "it is the text \"abc\", which does not match /a|ab/ as a whole");
  EXPECT_EQ(read(type, "\"a\\n\""), "it is the text \"a\\n\", which does not match /a|ab/ as a whole");
}

TEST_F(ValueReaderTest, TheUpperBoundOfAnF64MayBeExclusive) {
  types::Refinement refinement;
  refinement.low = 0.0;
  refinement.high = 1.0;
  refinement.high_is_exclusive = true;
  const TypeId type = types_.refined(TypeTable::f64, refinement);
  EXPECT_EQ(read(type, "0"), "0.0");
  EXPECT_EQ(read(type, "1"), "it is the number 1, where number from 0 to below 1 is asked for");
}

TEST_F(ValueReaderTest, NamesEachPlace) {
  const TypeId item = types_.add_struct({"Item", "", {{"price", TypeTable::f64, ""}, {"count", TypeTable::i32, ""}}});
  const TypeId order = types_.add_struct({"Order", "", {{"items", types_.list(item), ""}}});
  EXPECT_EQ(read(order, R"({"items":[{"price":1,"count":1},{"price":"x","color":"red"}],"note":1})"),
            "items[1].price is the text \"x\", where number is asked for\n"
            "items[1].count is missing; integer is asked for\n"
            "items[1].color is a key that is not asked for\n"
            "note is a key that is not asked for");
}

TEST_F(ValueReaderTest, TellsOfAnEnumsCases) {
  const TypeId mood = types_.add_enum({"Mood", "", {{"Good", "", {}}, {"Bad", "", {TypeTable::string}}}});
  EXPECT_EQ(read(mood, "\"good\""), "it is the text \"good\", where \"Good\" or {\"Bad\": string} is asked for");
  EXPECT_EQ(read(mood, "\"Bad\""), "it lacks the value of \"Bad\"; \"Good\" or {\"Bad\": string} is asked for");
  EXPECT_EQ(read(mood, "{\"Good\":1}"), "it has a value under \"Good\"; \"Good\" or {\"Bad\": string} is asked for");
  EXPECT_EQ(read(mood, "{\"Bad\":1}"), "Bad is the number 1, where string is asked for");
  EXPECT_EQ(read(mood, "{\"Bad\":\"a\",\"Good\":null}"),
            "it is an object, where \"Good\" or {\"Bad\": string} is asked for");
}

TEST_F(ValueReaderTest, TellsOfAtMostTwentyMismatches) {
  std::string text = "[0";
  for (int i = 0; i < 1000; ++i) text += ",0";
  const Result<vm::Value, std::vector<Mismatch>> value =
      reader_.read(types_.list(TypeTable::string), *parse_json(text + "]"));
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().size(), mismatches_max);
}

TEST_F(ValueReaderTest, ReadsArguments) {
  EXPECT_EQ(show(reader_.read_argument(TypeTable::string, " {\"a\" ")), "\" {\\\"a\\\" \"");
  EXPECT_EQ(show(reader_.read_argument(types_.text("Plan"), "5")), "\"5\"");
  EXPECT_EQ(show(reader_.read_argument(TypeTable::i32, " 5 ")), "5");
  EXPECT_EQ(show(reader_.read_argument(types_.option(TypeTable::string), "\"a\"")), "\"a\"");
  EXPECT_EQ(show(reader_.read_argument(TypeTable::i32, "'5'")), "it is no JSON: a value is missing before \"'5'\"");
  EXPECT_EQ(show(reader_.read_argument(TypeTable::string, "\xff")), "it is not UTF-8");
  EXPECT_EQ(show(reader_.read_argument(measure(TypeTable::string, 3, {}), "ab")),
            "it has 2 characters, where string of at least 3 characters is asked for");
}

}  // namespace
}  // namespace tenon::inference::answers
