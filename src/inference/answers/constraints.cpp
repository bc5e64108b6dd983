#include "inference/answers/constraints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

namespace tenon::inference::answers {
namespace {

using types::Bound;

std::optional<double> as_number(const Bound& bound) {
  if (const auto* integer = std::get_if<std::int64_t>(&bound)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&bound)) return *number;
  return std::nullopt;
}

/// The nearest integer within the bound: the next one up for a lower, down for an upper one.
std::optional<std::int64_t> as_integer(const Bound& bound, double (*round)(double)) {
  if (const auto* integer = std::get_if<std::int64_t>(&bound)) return *integer;
  const auto* number = std::get_if<double>(&bound);
  if (number == nullptr || std::isnan(*number)) return std::nullopt;
  const double rounded = round(*number);
  if (rounded >= 9223372036854775808.0) return INT64_MAX;
  if (rounded < -9223372036854775808.0) return INT64_MIN;
  return static_cast<std::int64_t>(rounded);
}

double ceil_of(double value) {
  return std::ceil(value);
}
double floor_of(double value) {
  return std::floor(value);
}

}  // namespace

Constraints find_constraints(const types::TypeTable& types, types::TypeId type) {
  Constraints result;
  for (; types.kind(type) == types::TypeKind::Refined; type = types.get(type).arguments[0]) {
    const types::Refinement& refinement = types.refinement(type);
    if (const auto low = as_integer(refinement.low, ceil_of)) result.integer_low = std::max(result.integer_low, *low);
    if (const auto high = as_integer(refinement.high, floor_of))
      result.integer_high = std::min(result.integer_high, *high);
    if (const auto low = as_number(refinement.low); low && (!result.number_low || *low > *result.number_low)) {
      result.number_low = low;
    }
    if (const auto high = as_number(refinement.high); high && (!result.number_high || *high <= *result.number_high)) {
      const bool is_equal = result.number_high == high;
      result.number_high_is_exclusive = refinement.high_is_exclusive || (is_equal && result.number_high_is_exclusive);
      result.number_high = high;
    }
    if (refinement.length_low) result.length_low = std::max(result.length_low.value_or(0), *refinement.length_low);
    if (refinement.length_high) {
      result.length_high = std::min(result.length_high.value_or(UINT64_MAX), *refinement.length_high);
    }
    if (refinement.pattern) result.patterns.push_back(*refinement.pattern);
  }
  result.base = type;
  if (types.kind(type) == types::TypeKind::I32) {
    result.integer_low = std::max<std::int64_t>(result.integer_low, INT32_MIN);
    result.integer_high = std::min<std::int64_t>(result.integer_high, INT32_MAX);
  }
  return result;
}

}  // namespace tenon::inference::answers
