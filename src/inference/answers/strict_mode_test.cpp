#include "inference/answers/strict_mode.h"

#include <gtest/gtest.h>

#include "inference/answers/schema_writer.h"

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeTable;

class StrictModeTest : public testing::Test {
 protected:
  bool fits(TypeId field) {
    return fits_strict_mode(make_schema(types_, types_.add_struct({"Answer", "", {{"field", field, ""}}})));
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
  types::Refinement length;
  length.length_high = 3;
  EXPECT_FALSE(fits(types_.map(TypeTable::i32)));
  EXPECT_FALSE(fits(types_.option(types_.tuple({TypeTable::i32, TypeTable::i32}))));
  EXPECT_FALSE(fits(types_.list(types_.refined(TypeTable::string, length))));
  EXPECT_FALSE(fits_strict_mode(R"({"anyOf":[]})"));
  EXPECT_FALSE(fits_strict_mode("1"));
}

TEST_F(StrictModeTest, RefusesWhatIsTooLarge) {
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
