#pragma once

#include <optional>

#include "syntax/tree.h"
#include "types/table/type_table.h"

namespace tenon::types {

/// `1..=10`, `0.0..1.0`, `5..`, as written.
struct NumericRange {
  Bound low, high;
  bool high_is_exclusive = false;
};

/// An integer or float literal, optionally with a minus; nothing for anything else, and for a number outside of i64.
[[nodiscard]] std::optional<Bound> read_bound(const syntax::SyntaxTree& tree, syntax::NodeId node);
/// From a RangeExpression; nothing if one of its ends is not a number.
[[nodiscard]] std::optional<NumericRange> read_range(const syntax::SyntaxTree& tree, syntax::NodeId range);

}  // namespace tenon::types
