#include "tools/native/promise_checker.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "base/utf8.h"

namespace tenon::tools {
namespace {

using types::Refinement;
using types::TypeId;
using types::TypeKind;
using vm::Tag;
using vm::Value;

constexpr std::size_t shown_code_points_max = 40;

bool is_within(const Refinement& refinement, std::int64_t number) {
  const auto* const low = std::get_if<std::int64_t>(&refinement.low);
  const auto* const high = std::get_if<std::int64_t>(&refinement.high);
  return (low == nullptr || number >= *low) && (high == nullptr || number <= *high);
}

/// A NaN is within no bounds.
bool is_within(const Refinement& refinement, double number) {
  const auto* const low = std::get_if<double>(&refinement.low);
  const auto* const high = std::get_if<double>(&refinement.high);
  if (low != nullptr && !(number >= *low)) return false;
  return high == nullptr || (refinement.high_is_exclusive ? number < *high : number <= *high);
}

bool is_within_length(const Refinement& refinement, std::uint64_t length) {
  return (!refinement.length_low || length >= *refinement.length_low) &&
         (!refinement.length_high || length <= *refinement.length_high);
}

}  // namespace

PromiseChecker::PromiseChecker(const types::TypeTable& types) : types_(types) {
  for (std::uint32_t index = 0; index < types.size(); ++index) {
    const TypeId type{index};
    if (types.kind(type) != TypeKind::Refined) continue;
    const auto& pattern = types.refinement(type).pattern;
    // The checker has refused those that cannot be read; such a pattern of a damaged program matches nothing.
    if (pattern) patterns_.emplace(index, std::make_unique<re2::RE2>(*pattern, re2::RE2::Quiet));
  }
}

PromiseChecker::~PromiseChecker() = default;

std::optional<std::string> PromiseChecker::find_broken(TypeId type, const Value& value) const {
  TypeId at = type;
  if (types_.kind(at) == TypeKind::Secret) {
    // What is wrong with a secret would say what it is.
    if (!find_broken(types_.get(at).arguments[0], value)) return std::nullopt;
    return fmt::format("it is not a `{}`", types_.describe(at));
  }
  for (; types_.kind(at) == TypeKind::Refined; at = types_.get(at).arguments[0]) {
    if (!satisfies(at, value))
      return fmt::format("{} is not a value of `{}`", describe_value(value), types_.describe(at));
  }
  const TypeKind kind = types_.kind(at);
  if (kind == TypeKind::I32 && (value.as_integer() < std::numeric_limits<std::int32_t>::min() ||
                                value.as_integer() > std::numeric_limits<std::int32_t>::max())) {
    return fmt::format("{} is out of range for `i32`", describe_value(value));
  }
  if (kind == TypeKind::Union && !is_literal(at, value)) {
    return fmt::format("{} is not a value of `{}`", describe_value(value), types_.describe(at));
  }
  return std::nullopt;
}

bool PromiseChecker::satisfies(TypeId refined, const Value& value) const {
  const Refinement& refinement = types_.refinement(refined);
  switch (value.tag()) {
    case Tag::Integer:
      return is_within(refinement, value.as_integer());
    case Tag::Float:
      return is_within(refinement, value.as_float());
    case Tag::List:
      return is_within_length(refinement, value.items().size());
    case Tag::Map:
      return is_within_length(refinement, value.entries().size());
    case Tag::String: {
      const bool has_length = refinement.length_low || refinement.length_high;
      if (has_length && !is_within_length(refinement, count_code_points(value.as_text()))) return false;
      const auto pattern = patterns_.find(refined.index);
      return pattern == patterns_.end() || re2::RE2::FullMatch(value.as_text(), *pattern->second);
    }
    case Tag::Unit:
    case Tag::Boolean:
    case Tag::Case:
    case Tag::Record:
    case Tag::Variant:
    case Tag::Secret:
    case Tag::Context:
      return true;
  }
  return true;
}

bool PromiseChecker::is_literal(TypeId literals, const Value& value) const {
  const types::UnionType& all = types_.union_type(literals);
  if (const auto* const texts = std::get_if<std::vector<std::string>>(&all.literals)) {
    return std::ranges::find(*texts, value.as_text()) != texts->end();
  }
  const auto& numbers = std::get<std::vector<std::int64_t>>(all.literals);
  return std::ranges::find(numbers, value.as_integer()) != numbers.end();
}

std::string describe_value(const Value& value) {
  switch (value.tag()) {
    case Tag::Unit:
      return "`()`";
    case Tag::Boolean:
      return value.as_boolean() ? "`true`" : "`false`";
    case Tag::Integer:
      return fmt::format("`{}`", value.as_integer());
    case Tag::Float:
      return fmt::format("`{}`", value.as_float());
    case Tag::String: {
      const std::string_view text = value.as_text();
      const std::size_t end = offset_of_code_point(text, shown_code_points_max);
      return fmt::format("`\"{}{}\"`", text.substr(0, end), end < text.size() ? "…" : "");
    }
    case Tag::List:
      return fmt::format("a list of {}", value.items().size());
    case Tag::Map:
      return fmt::format("a map of {}", value.entries().size());
    case Tag::Case:
    case Tag::Variant:
      return "an enum's case";
    case Tag::Record:
      return "a struct or tuple";
    case Tag::Secret:
      return "a secret";
    case Tag::Context:
      return "a `Context`";
  }
  return "";
}

}  // namespace tenon::tools
