#include "types/table/refinements.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace tenon::types {

bool is_within(const Refinement& refinement, std::int64_t number) {
  const auto* const low = std::get_if<std::int64_t>(&refinement.low);
  const auto* const high = std::get_if<std::int64_t>(&refinement.high);
  return (low == nullptr || number >= *low) && (high == nullptr || number <= *high);
}

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

bool has_literal(const UnionType& type, std::string_view text) {
  const auto* const texts = std::get_if<std::vector<std::string>>(&type.literals);
  return texts != nullptr && std::ranges::find(*texts, text) != texts->end();
}

bool has_literal(const UnionType& type, std::int64_t number) {
  const auto* const numbers = std::get_if<std::vector<std::int64_t>>(&type.literals);
  return numbers != nullptr && std::ranges::find(*numbers, number) != numbers->end();
}

bool is_subset(const UnionType& from, const UnionType& to) {
  return std::visit(
      [&](const auto& inner) {
        return std::ranges::all_of(inner, [&](const auto& literal) { return has_literal(to, literal); });
      },
      from.literals);
}

}  // namespace tenon::types
