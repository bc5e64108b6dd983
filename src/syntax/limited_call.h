#pragma once

#include "syntax/tree.h"

namespace tenon::syntax {

/// A call and what follows it: `translate(_) strategy(vote: 3) budget(calls: 5)`.
struct LimitedCall {
  NodeId call;      ///< any expression, not checked by the parser
  NodeId budget;    ///< the BudgetClause; absent if there is none
  NodeId strategy;  ///< the StrategyClause; absent if there is none
};

[[nodiscard]] LimitedCall read_limited_call(const SyntaxTree& tree, NodeId node);

}  // namespace tenon::syntax
