#include "vm/values/value_bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "vm/values/context.h"
#include "vm/values/labels.h"

namespace tenon::vm {
namespace {

constexpr std::size_t text_size = 100'000;

Value long_text() {
  return Value::string(std::string(text_size, 'x'));
}

std::uint64_t bytes_of(const Value& value) {
  ValueBytes bytes;
  bytes.add(value);
  return bytes.total();
}

bool is_about(std::uint64_t bytes, std::size_t texts) {
  return bytes >= texts * text_size && bytes < texts * text_size + 2'000;
}

TEST(ValueBytes, CountsWhatAValueHolds) {
  EXPECT_EQ(bytes_of(Value::integer(1)), 0U);
  EXPECT_TRUE(is_about(bytes_of(long_text()), 1));
  std::vector<Value> items;
  for (int count = 0; count < 3; ++count) items.push_back(Value::some(long_text()));
  EXPECT_TRUE(is_about(bytes_of(Value::list(std::move(items))), 3));
  std::vector<std::pair<Value, Value>> entries;
  entries.emplace_back(Value::string("key"), long_text());
  EXPECT_TRUE(is_about(bytes_of(Value::map(std::move(entries))), 1));
}

TEST(ValueBytes, CountsASharedObjectOnce) {
  const Value text = long_text();
  EXPECT_TRUE(is_about(bytes_of(Value::list({text, text, Value::some(text)})), 1));
  const Value again = text;
  ValueBytes bytes;
  bytes.add(text);
  bytes.add(again);
  EXPECT_TRUE(is_about(bytes.total(), 1));
}

TEST(ValueBytes, CountsContextsThatShareTheirEntriesOnce) {
  LabelTable labels;
  Value first = Value::empty_context();
  ASSERT_TRUE(push_entry(first, long_text(), labels));
  Value second = first;
  ASSERT_TRUE(push_entry(second, long_text(), labels));
  ValueBytes bytes;
  bytes.add(first);
  bytes.add(second);
  EXPECT_TRUE(is_about(bytes.total(), 2)) << bytes.total();
}

TEST(ValueBytes, TakesNoStackForADeepValue) {
  Value value = long_text();
  for (int depth = 0; depth < 100'000; ++depth) value = Value::some(std::move(value));
  EXPECT_GT(bytes_of(value), 100'000 * sizeof(Value));
}

}  // namespace
}  // namespace tenon::vm
