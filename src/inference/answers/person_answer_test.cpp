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
  TypeTable types_;
};

TEST_F(PersonAnswerTest, BooleansAreReadAsPeopleWriteThem) {
  for (const auto* text : {"true", "yes", "Yes", "YES", "True", " yes \r\n", "\"yes\"", "'True'", "true\r"})
    EXPECT_EQ(read(TypeTable::boolean, text), "true") << text;
  for (const auto* text : {"false", "no", "No", "FALSE", "no\r"})
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

TEST_F(PersonAnswerTest, TextsAreTakenAsTheyAre) {
  EXPECT_EQ(read(TypeTable::string, " \"yes\" "), "\" \\\"yes\\\" \"");
}

}  // namespace
}  // namespace tenon::inference::answers
