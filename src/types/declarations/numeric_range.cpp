#include "types/declarations/numeric_range.h"

#include "syntax/literals.h"

namespace tenon::types {

std::optional<Bound> read_bound(const syntax::SyntaxTree& tree, syntax::NodeId node) {
  bool negative = false;
  if (tree.kind(node) == syntax::NodeKind::UnaryExpression && tree.main_text(node) == "-") {
    negative = true;
    node = tree.first(node);
    if (!node.exists()) return std::nullopt;
  }
  if (tree.kind(node) == syntax::NodeKind::IntegerExpression) {
    const auto value = syntax::integer_value(tree.text(node));
    constexpr std::uint64_t magnitude_max = std::uint64_t{INT64_MAX} + 1;  // of the smallest one
    if (!value || *value > (negative ? magnitude_max : magnitude_max - 1)) return std::nullopt;
    if (*value == magnitude_max) return INT64_MIN;
    const auto number = static_cast<std::int64_t>(*value);
    return negative ? -number : number;
  }
  if (tree.kind(node) == syntax::NodeKind::FloatExpression) {
    const auto number = syntax::float_value(tree.text(node));
    if (!number) return std::nullopt;
    return negative ? -*number : *number;
  }
  return std::nullopt;
}

std::optional<NumericRange> read_range(const syntax::SyntaxTree& tree, syntax::NodeId range) {
  if (!range.exists() || tree.kind(range) != syntax::NodeKind::RangeExpression) return std::nullopt;
  NumericRange bounds;
  const syntax::TokenIndex operation = tree[range].main_token;
  bounds.high_is_exclusive = tree.tokens[operation].kind == syntax::TokenKind::DotDot;
  for (syntax::NodeId side = tree.first(range); side.exists(); side = tree.next(side)) {
    const std::optional<Bound> bound = read_bound(tree, side);
    if (!bound) return std::nullopt;
    (tree[side].first_token < operation ? bounds.low : bounds.high) = *bound;
  }
  return bounds;
}

}  // namespace tenon::types
