#include "types/check/expressions/exhaustive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tenon::types {
namespace {

PatternShape any() {
  return {};
}

PatternShape made(std::string constructor, std::vector<PatternShape> parts = {}) {
  return {false, std::move(constructor), std::move(parts)};
}

PatternShape numbers(std::int64_t low, std::int64_t high) {
  return {false, "", {}, Interval{low, high}};
}

/// The rows as arms, none of them guarded.
Coverage cover(const TypeTable& types, TypeId type, const std::vector<PatternShape>& shapes) {
  std::vector<PatternRow> rows;
  for (const PatternShape& shape : shapes) rows.push_back({shape, static_cast<std::uint32_t>(rows.size()), false});
  return find_coverage(types, type, rows, static_cast<std::uint32_t>(rows.size()));
}

/// A type with all its values, as shapes without wildcards, which random patterns are tried on.
class SmallTypes {
 public:
  explicit SmallTypes(std::uint32_t seed) : random_(seed) {
    Refinement few;
    few.low = std::int64_t{0};
    few.high = std::int64_t{4};
    number_ = types_.refined(TypeTable::i32, few);
    color_ = types_.add_enum({"Color", "", {{"Red", "", {}}, {"Green", "", {TypeTable::boolean}}, {"Blue", "", {}}}});
  }

  TypeId make_type(int depth) {
    switch (below(depth > 0 ? 6 : 3)) {
      case 0:
        return TypeTable::boolean;
      case 1:
        return number_;
      case 2:
        return color_;
      case 3:
        return types_.option(make_type(depth - 1));
      case 4:
        return types_.tuple({make_type(depth - 1), make_type(depth - 1)});
      default:
        return types_.make_union({"", std::vector<std::string>{"a", "b", "c"}});
    }
  }

  std::vector<PatternShape> values(TypeId type) {
    if (type == number_) {
      std::vector<PatternShape> all;
      for (std::int64_t value = 0; value <= 4; ++value) all.push_back(numbers(value, value));
      return all;
    }
    const Type entry = types_.get(type);
    if (type == TypeTable::boolean) return {made("true"), made("false")};
    if (entry.kind == TypeKind::Union) return {made("\"a\""), made("\"b\""), made("\"c\"")};
    std::vector<PatternShape> all;
    if (entry.kind == TypeKind::Tuple) {
      for (const PatternShape& first : values(entry.arguments[0])) {
        for (const PatternShape& second : values(entry.arguments[1])) all.push_back(made("", {first, second}));
      }
      return all;
    }
    const bool is_option = entry.kind == TypeKind::Option;
    all.push_back(made(is_option ? "None" : "Color::Red"));
    if (!is_option) all.push_back(made("Color::Blue"));
    for (const PatternShape& inner : values(is_option ? entry.arguments[0] : TypeTable::boolean)) {
      all.push_back(made(is_option ? "Some" : "Color::Green", {inner}));
    }
    return all;
  }

  /// A value with wildcards and ranges in place of some of its parts.
  PatternShape make_pattern(const PatternShape& value) {
    if (below(3) == 0) return any();
    if (value.numbers)
      return below(2) == 0 ? value : numbers(value.numbers->low - below(3), value.numbers->high + below(2));
    PatternShape pattern = value;
    for (PatternShape& part : pattern.parts) part = make_pattern(part);
    return pattern;
  }

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  [[nodiscard]] const TypeTable& table() const { return types_; }

 private:
  std::mt19937 random_;
  TypeTable types_;
  TypeId number_, color_;
};

bool matches(const PatternShape& pattern, const PatternShape& value) {
  if (pattern.is_wildcard) return true;
  if (value.numbers) return pattern.numbers->low <= value.numbers->low && value.numbers->high <= pattern.numbers->high;
  if (pattern.constructor != value.constructor) return false;
  for (std::size_t at = 0; at < value.parts.size(); ++at) {
    if (!matches(pattern.parts[at], value.parts[at])) return false;
  }
  return true;
}

TEST(Coverage, AgreesWithTryingEveryValue) {
  for (std::uint32_t seed = 0; seed < 3'000; ++seed) {
    SmallTypes small(seed);
    const TypeId type = small.make_type(2);
    const std::vector<PatternShape> values = small.values(type);
    std::vector<PatternRow> rows;
    const std::uint32_t arm_count = 1 + small.below(12);
    for (std::uint32_t arm = 0; arm < arm_count; ++arm) {
      const bool is_guarded = small.below(4) == 0;
      for (std::uint32_t alternative = small.below(3); alternative <= 2; ++alternative) {
        const PatternShape& value = values[small.below(static_cast<std::uint32_t>(values.size()))];
        rows.push_back({small.make_pattern(value), arm, is_guarded});
      }
    }
    std::vector<bool> is_reached(arm_count, false);
    bool is_covered = true;
    for (const PatternShape& value : values) {
      bool is_taken = false;
      for (const PatternRow& row : rows) {
        if (is_taken || !matches(row.shape, value)) continue;
        is_reached[row.arm] = true;
        is_taken = !row.is_guarded;
      }
      is_covered = is_covered && is_taken;
    }
    const Coverage coverage = find_coverage(small.table(), type, rows, arm_count);
    ASSERT_EQ(coverage.is_reached, is_reached) << "seed " << seed;
    ASSERT_EQ(!coverage.uncovered.has_value(), is_covered) << "seed " << seed << ": " << *coverage.uncovered;
  }
}

TEST(Coverage, NamesWhatIsMissing) {
  TypeTable types;
  EXPECT_EQ(cover(types, TypeTable::i32, {numbers(0, 5), numbers(7, 9)}).uncovered, "..=-1 | 6 | 10..");
  EXPECT_EQ(cover(types, TypeTable::string, {made("\"a\"")}).uncovered, "_");
  const TypeId pair = types.tuple({TypeTable::boolean, types.option(TypeTable::i32)});
  EXPECT_EQ(cover(types, pair, {made("", {made("true"), any()}), made("", {any(), made("None")})}).uncovered,
            "(false, Some(_))");
}

/// Each of these took minutes when every arm was compared with all arms before it.
TEST(Coverage, WideMatches) {
  constexpr std::int64_t count = 200'000;
  const TypeTable types;
  std::vector<PatternShape> rows;
  for (std::int64_t at = 0; at < count; ++at) rows.push_back(numbers(at, at));
  EXPECT_EQ(cover(types, TypeTable::i32, rows).uncovered, "..=-1 | 200000..");
  rows.clear();
  for (std::int64_t at = 0; at < count; ++at) rows.push_back(numbers(count - at, count + at));
  Coverage nested = cover(types, TypeTable::i32, rows);
  EXPECT_EQ(nested.is_reached, std::vector<bool>(count, true));
  std::ranges::reverse(rows);
  nested = cover(types, TypeTable::i32, rows);
  EXPECT_EQ(std::ranges::count(nested.is_reached, true), 1);
  rows.clear();
  for (std::int64_t at = 0; at < count; ++at) rows.push_back(made("\"" + std::to_string(at) + "\""));
  rows.push_back(made("\"7\""));
  const Coverage texts = cover(types, TypeTable::string, rows);
  EXPECT_EQ(std::ranges::count(texts.is_reached, false), 1);
  EXPECT_FALSE(texts.is_reached.back());
}

}  // namespace
}  // namespace tenon::types
