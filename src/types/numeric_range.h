#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "syntax/tree.h"

namespace tenon::types {

/// One end of a range; nothing where it is open.
using Bound = std::variant<std::monostate, std::int64_t, double>;

/// `1..=10`, `0.0..1.0`, `5..`, as it is written.
struct NumericRange {
  Bound low, high;
  bool high_is_exclusive = false;
};

/// An integer or float literal, maybe with a minus; nothing for anything else, and for a number that no i64 can be.
[[nodiscard]] std::optional<Bound> read_bound(const syntax::SyntaxTree& tree, syntax::NodeId node);
/// Of a RangeExpression; nothing when one of its ends is no number.
[[nodiscard]] std::optional<NumericRange> read_range(const syntax::SyntaxTree& tree, syntax::NodeId range);

}  // namespace tenon::types
