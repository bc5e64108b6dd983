#include "vm/values/text_size.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "vm/values/render.h"

namespace tenon::vm {
namespace {

/// A list of two lists that are one in memory, and so on: 2^doublings lists when it is written.
Value doubled(int doublings) {
  Value value = Value::list({});
  for (int count = 0; count < doublings; ++count) value = Value::list({value, value});
  return value;
}

const types::TypeTable no_types;

bool is_over(const Value& value, std::size_t bytes_max) {
  return is_text_over(value, no_types, bytes_max);
}

TEST(TextSize, IsThatOfJsonWhereNothingIsShared) {
  types::TypeTable types;
  const types::TypeId pair = types.tuple({types::TypeTable::string, types::TypeTable::i32});
  const types::TypeId named =
      types.add_struct({"Named", "", {{"name", types::TypeTable::string, ""}, {"n", types::TypeTable::i32, ""}}});
  const Value text = Value::string(std::string(100, 'x'));
  const Value one = Value::integer(1);
  std::vector<std::pair<Value, Value>> entries;
  entries.emplace_back(Value::string("key"), text);
  entries.emplace_back(Value::string("another"), one);
  for (const Value& value :
       {text, one, Value::list({}), Value::list({one}), Value::list({one, text}), Value::map(std::move(entries)),
        Value::record(pair, {text, one}), Value::record(named, {text, one}), Value::some(Value::list({one}))}) {
    std::string json;
    ASSERT_TRUE(to_json(value, types, json).has_value());
    EXPECT_FALSE(is_text_over(value, types, json.size())) << json;
    EXPECT_TRUE(is_text_over(value, types, json.size() - 1)) << json;
  }
  EXPECT_FALSE(is_text_over(Value::list({one, text}), types, SIZE_MAX, 3));
  EXPECT_TRUE(is_text_over(Value::list({one, text}), types, SIZE_MAX, 2));
}

TEST(TextSize, CountsASharedPartInEachPlace) {
  const Value text = Value::string(std::string(98, 'x'));
  const Value pair = Value::list({text, text});
  EXPECT_FALSE(is_over(Value::list({pair, pair}), 409));
  EXPECT_TRUE(is_over(Value::list({pair, pair}), 408));
  EXPECT_FALSE(is_text_over(doubled(20), no_types, SIZE_MAX, (std::size_t{2} << 20U) - 1));
  EXPECT_TRUE(is_text_over(doubled(20), no_types, SIZE_MAX, (std::size_t{2} << 20U) - 2));
}

TEST(TextSize, TakesNoLongerForMoreCopies) {
  // A sum of 2^100'000 bytes is not computed, and 2^40 parts are not visited.
  EXPECT_TRUE(is_over(doubled(40), text_bytes_max));
  EXPECT_TRUE(is_over(doubled(100'000), text_bytes_max));
}

TEST(TextSize, IsOfAnyNesting) {
  Value value = Value::list({});
  for (int count = 1; count < 1'000'000; ++count) value = Value::list({std::move(value)});
  EXPECT_FALSE(is_over(value, 2'000'000));
  EXPECT_TRUE(is_over(value, 1'999'999));
}

TEST(TextSize, StopsAWriterOfJsonEarly) {
  std::string text;
  EXPECT_EQ(to_json(doubled(60), no_types, text).error(), RenderError::TooLong);
  EXPECT_LT(text.size(), 2 * counted_text_bytes_min);
  text.clear();
  ASSERT_TRUE(to_json(doubled(20), no_types, text).has_value());
  EXPECT_EQ(text.size(), (std::size_t{2} << 20U) * 2 - 2 + (std::size_t{1} << 20U) - 1);
}

}  // namespace
}  // namespace tenon::vm
