#include "inference/answers/strict_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inference/answers/schema_writer.h"

namespace tenon::inference::answers {
namespace {

using testing::HasSubstr;
using types::TypeId;
using types::TypeTable;

class StrictModeTest : public testing::Test {
 protected:
  bool fits(TypeId field) { return strict(field, "").has_value(); }
  std::optional<std::string> strict(TypeId field, const std::string& documentation) {
    return make_strict_schema(
        make_schema(types_, types_.add_struct({"Answer", "", {{"field", field, documentation}}})));
  }
  TypeId text(std::optional<std::uint64_t> low, std::optional<std::uint64_t> high) {
    types::Refinement length;
    length.length_low = low;
    length.length_high = high;
    return types_.refined(TypeTable::string, length);
  }

  TypeTable types_;
};

TEST_F(StrictModeTest, TakesWhatItKnows) {
  for (const TypeId type :
       {TypeTable::boolean, TypeTable::i64, TypeTable::f64, TypeTable::string, types_.list(TypeTable::unit),
        types_.option(TypeTable::i32), types_.make_union({"", std::vector<std::string>{"a"}}),
        types_.add_enum({"Mood", "", {{"Good", "", {}}, {"Bad", "", {TypeTable::string}}}})}) {
    EXPECT_TRUE(fits(type)) << types_.describe(type);
  }
}

TEST_F(StrictModeTest, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(fits(types_.map(TypeTable::i32)));
  EXPECT_FALSE(fits(types_.option(types_.tuple({TypeTable::i32, TypeTable::i32}))));
  EXPECT_FALSE(make_strict_schema(R"({"anyOf":[]})"));
  EXPECT_FALSE(make_strict_schema("1"));
}

TEST_F(StrictModeTest, DescribesLengthsInWords) {
  EXPECT_EQ(
      strict(text(2, std::nullopt), "Who comes."),
      R"({"type":"object","properties":{"field":{"type":"string","description":"Who comes. At least 2 characters."}},)"
      R"("required":["field"],"additionalProperties":false})");
  EXPECT_THAT(strict(text(std::nullopt, 1), "A letter").value(), HasSubstr(R"("A letter. At most 1 character.")"));
  EXPECT_THAT(strict(text(3, 3), "").value(), HasSubstr(R"("Exactly 3 characters.")"));
  EXPECT_THAT(strict(types_.list(types_.option(text(2, 5))), "").value(),
              HasSubstr(R"({"type":"string","description":"From 2 to 5 characters."})"));
}

TEST_F(StrictModeTest, AFieldMayBeNamedLikeAKeyword) {
  const std::string schema = make_schema(
      types_, types_.add_struct({"Answer", "", {{"minLength", TypeTable::i32, ""}, {"items", TypeTable::string, ""}}}));
  EXPECT_EQ(make_strict_schema(schema), schema);
}

TEST_F(StrictModeTest, RejectsWhatIsTooLarge) {
  std::vector<std::string> literals;
  for (int literal = 0; literal < 1'001; ++literal) literals.push_back(std::to_string(literal));
  EXPECT_FALSE(fits(types_.make_union({"", literals})));
  literals.pop_back();
  EXPECT_TRUE(fits(types_.make_union({"", literals})));
  TypeId nested = TypeTable::boolean;
  for (int level = 0; level < 11; ++level) nested = types_.list(nested);
  EXPECT_FALSE(fits(nested));
}

}  // namespace
}  // namespace tenon::inference::answers
