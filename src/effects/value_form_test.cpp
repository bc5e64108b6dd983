#include "effects/value_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vm/values/text_size.h"

namespace tenon::effects {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using types::TypeId;
using types::TypeTable;
using vm::Value;

class ValueFormTest : public testing::Test {
 protected:
  /// A list of lists of … of `()`.
  TypeId nested(int levels) {
    TypeId type = TypeTable::unit;
    for (int level = 0; level < levels; ++level) type = types.list(type);
    return type;
  }
  /// Two lists that are one in memory on each level: 2^levels parts when it is written.
  static Value doubled(int levels) {
    Value value = Value::unit();
    for (int level = 0; level < levels; ++level) value = Value::list({value, value});
    return value;
  }

  TypeTable types;
  std::string out;
};

TEST_F(ValueFormTest, AValueThatIsTooLongIsRefusedAfterASmallPartOfIt) {
  const auto written = write_value(doubled(60), nested(60), types, out);
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message,
              AllOf(HasSubstr("longer than 268435456 bytes (recorded_bytes_max)"), HasSubstr("the path of a file")));
  EXPECT_LT(out.size(), 2 * vm::counted_text_bytes_min);
}

TEST_F(ValueFormTest, WhatWasWrittenBeforeCountsTowardsTheLimit) {
  out.assign(recorded_bytes_max - 10, ' ');
  ASSERT_TRUE(write_value(Value::string("12345678"), TypeTable::string, types, out).has_value());
  EXPECT_EQ(out.size(), recorded_bytes_max);
  EXPECT_FALSE(write_value(Value::unit(), TypeTable::unit, types, out).has_value());
}

TEST_F(ValueFormTest, AValueOfTooManyPartsIsRefused) {
  // 2^25 parts, and fewer bytes than the limit for these.
  const auto written = write_value(doubled(24), nested(24), types, out);
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("more than 17825792 parts (recorded_parts_max)"));
}

TEST_F(ValueFormTest, ALongValueIsReadAsItWasWritten) {
  ASSERT_TRUE(write_value(doubled(20), nested(20), types, out).has_value());
  EXPECT_GT(out.size(), vm::counted_text_bytes_min);
  const auto read = read_value(out, nested(20), types);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(vm::equal(*read, doubled(20)));
}

}  // namespace
}  // namespace tenon::effects
