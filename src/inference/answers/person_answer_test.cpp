#include "inference/answers/person_answer.h"

#include <gtest/gtest.h>

#include "vm/values/render.h"

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeTable;

class PersonAnswerTest : public testing::Test {
 protected:
  /// The value as JSON; the mismatches after `error: `.
  std::string read(TypeId type, std::string_view text) const {
    const auto value = read_person_answer(ValueReader(vm::Refinements(types_)), type, text);
    std::string out;
    if (value) {
      EXPECT_TRUE(vm::to_json(*value, types_, out).has_value());
      return out;
    }
    return "error: " + describe(value.error().front(), "it");
  }
  /// The same of an answer to `approve`.
  std::string approve(TypeId type, const vm::Value& shown, std::string_view text) const {
    const auto value = read_approval(ValueReader(vm::Refinements(types_)), type, shown, text);
    std::string out;
    if (!value) return "error: " + describe(value.error().front(), "it");
    EXPECT_TRUE(vm::to_json(*value, types_, out).has_value());
    return out;
  }
  TypeTable types_;
};

TEST_F(PersonAnswerTest, BooleansAreReadAsPeopleWriteThem) {
  for (const auto* text : {"true", "yes", "Yes", "YES", "True", "y", " Y ", " yes \r\n", "\"yes\"", "'True'", "true\r"})
    EXPECT_EQ(read(TypeTable::boolean, text), "true") << text;
  for (const auto* text : {"false", "no", "No", "n", "FALSE", "no\r"})
    EXPECT_EQ(read(TypeTable::boolean, text), "false") << text;
  for (const auto* text : {"", "maybe", "yes and no", "1", "\""})
    EXPECT_TRUE(read(TypeTable::boolean, text).starts_with("error: ")) << text;
}

TEST_F(PersonAnswerTest, OtherValuesAreReadAsAModelsAre) {
  EXPECT_EQ(read(TypeTable::i32, " 7\r\n"), "7");
  EXPECT_EQ(read(TypeTable::i32, "+7"), "7");
  EXPECT_TRUE(read(TypeTable::i32, "seven").starts_with("error: "));
}

TEST_F(PersonAnswerTest, OptionsMayBeInOtherLetters) {
  const TypeId mood = types_.make_union({"", std::vector<std::string>{"good", "Bad", "bad mood"}});
  EXPECT_EQ(read(mood, "good"), "\"good\"");
  EXPECT_EQ(read(mood, "GOOD\r"), "\"good\"");
  EXPECT_EQ(read(mood, "\"bad\""), "\"Bad\"");
  EXPECT_EQ(read(mood, "Bad Mood"), "\"bad mood\"");
  EXPECT_TRUE(read(mood, "fine").starts_with("error: "));
  const TypeId same = types_.make_union({"", std::vector<std::string>{"go", "Go"}});
  EXPECT_EQ(read(same, "Go"), "\"Go\"");
  EXPECT_TRUE(read(same, "GO").starts_with("error: ")) << "which one?";
}

TEST_F(PersonAnswerTest, AnOptionalAnswerMayBeLeftOut) {
  const TypeId text = types_.option(TypeTable::string);
  EXPECT_EQ(read(text, "Ann"), "\"Ann\"");
  EXPECT_EQ(read(text, "\"Ann\""), "\"Ann\"");
  EXPECT_EQ(read(text, "7"), "\"7\"");
  for (const auto* nothing : {"", " ", "none", "None", "null"}) EXPECT_EQ(read(text, nothing), "null") << nothing;
  const TypeId number = types_.option(TypeTable::i32);
  EXPECT_EQ(read(number, "7"), "7");
  EXPECT_EQ(read(number, ""), "null");
  EXPECT_EQ(read(types_.option(TypeTable::boolean), "Yes"), "true");
}

TEST_F(PersonAnswerTest, AMismatchSaysWhatIsExpected) {
  EXPECT_EQ(read(TypeTable::boolean, "maybe"), "error: it: expected yes or no, found \"maybe\"");
  EXPECT_EQ(read(TypeTable::boolean, "1"), "error: it: expected yes or no, found the number 1");
  EXPECT_EQ(read(TypeTable::boolean, "\"maybe\""), "error: it: expected yes or no, found the string \"maybe\"");
  EXPECT_EQ(read(TypeTable::boolean, "[true]"), "error: it: expected yes or no, found a list of 1 item");
  EXPECT_TRUE(read(TypeTable::i32, "seven").starts_with("error: it: expected integer"))
      << read(TypeTable::i32, "seven");
  EXPECT_EQ(read(TypeTable::i32, "40000000000"), "error: it: the number 40000000000 is out of range for i32");
  const TypeId color = types_.add_enum({"Color", "", {{"Red", "", {}}, {"Green", "", {}}}});
  EXPECT_TRUE(read(color, "purple").starts_with("error: it: expected")) << read(color, "purple");
  EXPECT_TRUE(read(types_.list(TypeTable::i32), "seven").starts_with("error: it: expected [integer"))
      << read(types_.list(TypeTable::i32), "seven");
  EXPECT_TRUE(read(types_.list(TypeTable::i32), "[seven]").starts_with("error: it: invalid JSON"));
}

TEST_F(PersonAnswerTest, TextsAreTakenAsTheyAre) {
  EXPECT_EQ(read(TypeTable::string, " \"yes\" "), "\" \\\"yes\\\" \"");
}

TEST_F(PersonAnswerTest, AnApprovalIsAWordOrAnotherValue) {
  const vm::Value shown = vm::Value::string("eve");
  for (const auto* text : {"yes", "Y", " Yes\r\n", "\"yes\"", "true"}) {
    EXPECT_EQ(approve(TypeTable::string, shown, text), "\"eve\"") << text;
  }
  for (const auto* text : {"no", "N", "\"no\"", "false", "null"}) {
    EXPECT_EQ(approve(TypeTable::string, shown, text), "null") << text;
  }
  EXPECT_EQ(approve(TypeTable::string, shown, "ann"), "\"ann\"");
  EXPECT_EQ(approve(TypeTable::string, shown, "\"ann\""), "\"ann\"");
  EXPECT_EQ(approve(TypeTable::string, shown, "  "), "error: it: expected yes, no, or another String");
  EXPECT_EQ(approve(TypeTable::i32, vm::Value::integer(3), "4"), "4");
  EXPECT_TRUE(approve(TypeTable::i32, vm::Value::integer(3), "four").starts_with("error: "));
  EXPECT_EQ(approve(TypeTable::boolean, vm::Value::boolean(true), "false"), "false") << "another value";
  EXPECT_EQ(approve(TypeTable::boolean, vm::Value::boolean(false), "yes"), "false") << "the shown one";
}

}  // namespace
}  // namespace tenon::inference::answers
