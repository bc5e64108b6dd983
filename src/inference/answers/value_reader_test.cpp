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
    return show(read_json(type, *json));
  }
  Result<vm::Value, std::vector<Mismatch>> read_json(TypeId type, const Json& json) const {
    return ValueReader(vm::Refinements(types_)).read(type, json);
  }
  std::string read_argument(TypeId type, std::string_view text) const {
    return show(ValueReader(vm::Refinements(types_)).read_argument(type, text));
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
  EXPECT_EQ(read(TypeTable::boolean, "\"true\""), "it: expected true or false, found the string \"true\"");
  EXPECT_EQ(read(TypeTable::i32, "3.5"), "it: expected integer, found the number 3.5");
  EXPECT_EQ(read(TypeTable::i32, "2147483648"), "it: the number 2147483648 is out of range for i32");
  EXPECT_EQ(read(TypeTable::i64, "9223372036854775808"), "it: the number 9223372036854775808 is out of range for i64");
  EXPECT_EQ(
      read(TypeTable::i64, "9007199254740994.0"),
      "it: the number 9007199254740994 is too large to be exact; write it without a decimal point and an exponent");
  EXPECT_EQ(read(TypeTable::string, "5"), "it: expected string, found the number 5");
  EXPECT_EQ(read(TypeTable::unit, "[]"), "it: expected null, found an empty list");
  EXPECT_EQ(read(refine(TypeTable::i32, 1, 5), "6"), "it: expected integer from 1 to 5, found the number 6");
  EXPECT_EQ(read(types_.make_union({"", std::vector<std::string>{"a", "b"}}), "\"c\""),
            "it: expected \"a\" or \"b\", found the string \"c\"");
}

TEST_F(ValueReaderTest, MeasuresTextsInCodePoints) {
  const TypeId type = measure(TypeTable::string, 2, 3);
  EXPECT_EQ(read(type, "\"éé\""), "\"éé\"");
  EXPECT_EQ(read(type, "\"😀\""), "it: expected string of 2 to 3 characters, found 1 character");
  EXPECT_EQ(read(type, "\"abcd\""), "it: expected string of 2 to 3 characters, found 4 characters");
  EXPECT_EQ(read(measure(types_.list(TypeTable::i32), {}, 1), "[1,2]"),
            "it: expected [integer, …] of at most 1 item, found 2 items");
}

TEST_F(ValueReaderTest, APatternMatchesAsAWhole) {
  const TypeId type = measure(TypeTable::string, {}, {}, "a|ab");
  EXPECT_EQ(read(type, "\"ab\""), "\"ab\"");
  EXPECT_EQ(read(type, "\"abc\""), "it: expected a string matching /a|ab/, found the string \"abc\"");
  EXPECT_EQ(read(type, "\"a\\n\""), "it: expected a string matching /a|ab/, found the string \"a\\n\"");
}

TEST_F(ValueReaderTest, AUnionMayBeRefined) {
  const TypeId texts = measure(types_.make_union({"", std::vector<std::string>{"a", "bb"}}), 2, {});
  EXPECT_EQ(read(texts, "\"bb\""), "\"bb\"");
  EXPECT_EQ(read(texts, "\"a\""), "it: expected \"a\" or \"bb\", found the string \"a\"");
  const TypeId numbers = refine(types_.make_union({"", std::vector<std::int64_t>{1, 2, 3}}), 2, {});
  EXPECT_EQ(read(numbers, "3"), "3");
  EXPECT_EQ(read(numbers, "1"), "it: expected 1 or 2 or 3, found the number 1");
}

TEST_F(ValueReaderTest, TheUpperBoundOfAnF64MayBeExclusive) {
  types::Refinement refinement;
  refinement.low = 0.0;
  refinement.high = 1.0;
  refinement.high_is_exclusive = true;
  const TypeId type = types_.refined(TypeTable::f64, refinement);
  EXPECT_EQ(read(type, "0"), "0.0");
  EXPECT_EQ(read(type, "1"), "it: expected number from 0 to below 1, found the number 1");
}

TEST_F(ValueReaderTest, NamesEachPlace) {
  const TypeId item = types_.add_struct({"Item", "", {{"price", TypeTable::f64, ""}, {"count", TypeTable::i32, ""}}});
  const TypeId order = types_.add_struct({"Order", "", {{"items", types_.list(item), ""}}});
  EXPECT_EQ(read(order, R"({"items":[{"price":1,"count":1},{"price":"x","color":"red"}],"note":1})"),
            "items[1].price: expected number, found the string \"x\"\n"
            "items[1].count: missing; expected integer\n"
            "items[1].color: unexpected key\n"
            "note: unexpected key");
}

TEST_F(ValueReaderTest, ListsTheCasesOfAnEnum) {
  const TypeId mood = types_.add_enum({"Mood", "", {{"Good", "", {}}, {"Bad", "", {TypeTable::string}}}});
  EXPECT_EQ(read(mood, "\"good\""), "it: expected \"Good\" or {\"Bad\": string}, found the string \"good\"");
  EXPECT_EQ(read(mood, "\"Bad\""), "it: \"Bad\" needs a value; expected \"Good\" or {\"Bad\": string}");
  EXPECT_EQ(read(mood, "{\"Good\":1}"), "it: \"Good\" has no value; expected \"Good\" or {\"Bad\": string}");
  EXPECT_EQ(read(mood, "{\"Bad\":1}"), "Bad: expected string, found the number 1");
  EXPECT_EQ(read(mood, "{\"Bad\":\"a\",\"Good\":null}"), "it: expected \"Good\" or {\"Bad\": string}, found an object");
}

TEST_F(ValueReaderTest, ReadsAResultAsToJsonWritesIt) {
  const TypeId result = types_.result(TypeTable::i32);
  EXPECT_EQ(read(result, R"({"Ok":3})"), R"({"Ok":3})");
  const std::string err = R"({"Err":{"kind":"Arithmetic","message":"m","place":"p","blame":"b"}})";
  EXPECT_EQ(read(result, err), err);
  EXPECT_EQ(read(result, R"({"Ok":"x"})"), "Ok: expected integer, found the string \"x\"");
  EXPECT_EQ(read(result, R"({"Err":{"kind":"Arithmetic","message":"m","place":"p"}})"),
            "Err.blame: missing; expected string");
  for (const std::string_view wrong : {"3", "{}", R"({"Ok":1,"Err":1})", R"({"ok":1})", R"("Ok")"}) {
    EXPECT_EQ(read(result, wrong).find("it: expected {\"Ok\": integer} or {\"Err\": {"), 0U) << read(result, wrong);
  }
}

TEST_F(ValueReaderTest, DescribesATypeWithPartsThatHaveNoJson) {
  const TypeId talk = types_.add_struct({"Talk", "", {{"context", TypeTable::context, ""}}});
  EXPECT_EQ(read(types_.list(talk), "3"), "it: expected [{\"context\": `Context`}, …], found the number 3");
  EXPECT_EQ(read(talk, R"({"context":3})"), "context: a `Context` cannot be represented in JSON");
}

TEST_F(ValueReaderTest, ReportsAtMostTwentyMismatches) {
  std::string text = "[0";
  for (int i = 0; i < 1000; ++i) text += ",0";
  const Result<vm::Value, std::vector<Mismatch>> value =
      read_json(types_.list(TypeTable::string), *parse_json(text + "]"));
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().size(), mismatches_max);
}

TEST_F(ValueReaderTest, OlderProgramsSeeTheMessagesOfTheirVersion) {
  const TypeId tags = measure(types_.list(TypeTable::string), {}, 1);
  const TypeId order = types_.add_struct({"Order", "", {{"count", TypeTable::i32, ""}, {"tags", tags, ""}}});
  const auto messages = [&](std::string_view text) {
    std::string shown;
    const auto value = ValueReader(vm::Refinements(types_)).read(order, *parse_json(text), {}, MessageVersion::First);
    if (value) return shown;
    for (const Mismatch& mismatch : value.error()) shown += describe(mismatch, "it", MessageVersion::First) + "\n";
    return shown;
  };
  EXPECT_EQ(messages("[1]"),
            "it is a list of 1, where {\"count\": integer, \"tags\": [string, …] of at most 1 items} "
            "is asked for\n");
  EXPECT_EQ(messages(R"({"count": "a", "tags": ["b", "c"], "x": 1})"),
            "count is the text \"a\", where integer is asked for\n"
            "tags has 2 items, where [string, …] of at most 1 items is asked for\n"
            "x is a key that is not asked for\n");
}

TEST_F(ValueReaderTest, OlderProgramsAcceptWhatTheyAccepted) {
  const TypeId texts = measure(types_.make_union({"", std::vector<std::string>{"a", "bb"}}), 2, {});
  const TypeId counts = measure(types_.map(TypeTable::i32), {}, 1);
  const vm::Refinements refinements(types_);
  const ValueReader reader(refinements);
  for (const auto& [type, text] : {std::pair(texts, R"("a")"), std::pair(counts, R"({"x": 1, "y": 2})")}) {
    EXPECT_TRUE(reader.read(type, *parse_json(text), {}, MessageVersion::First).has_value()) << text;
    EXPECT_FALSE(reader.read(type, *parse_json(text), {}, MessageVersion::Second).has_value()) << text;
  }
}

TEST_F(ValueReaderTest, ReadsArguments) {
  EXPECT_EQ(read_argument(TypeTable::string, " {\"a\" "), "\" {\\\"a\\\" \"");
  EXPECT_EQ(read_argument(types_.text("Plan"), "5"), "\"5\"");
  EXPECT_EQ(read_argument(TypeTable::i32, " 5 "), "5");
  EXPECT_EQ(read_argument(types_.option(TypeTable::string), "\"a\""), "\"a\"");
  EXPECT_EQ(read_argument(TypeTable::i32, "'5'"), "it: invalid JSON: expected a value, found \"'5'\"");
  EXPECT_EQ(read_argument(TypeTable::string, "\xff"), "it: invalid UTF-8");
  EXPECT_EQ(read_argument(measure(TypeTable::string, 3, {}), "ab"),
            "it: expected string of at least 3 characters, found 2 characters");
}

}  // namespace
}  // namespace tenon::inference::answers
