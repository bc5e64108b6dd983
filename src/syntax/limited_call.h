#pragma once

#include "syntax/tree.h"

namespace tenon::syntax {

/// A call and what stands behind it: `translate(_) strategy(vote: 3) budget(calls: 5)`.
struct LimitedCall {
  NodeId call;      ///< any expression, as far as the parser has seen to it
  NodeId budget;    ///< the BudgetClause; absent without one
  NodeId strategy;  ///< the StrategyClause; absent without one
};

[[nodiscard]] LimitedCall read_limited_call(const SyntaxTree& tree, NodeId node);

}  // namespace tenon::syntax
