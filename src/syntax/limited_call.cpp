#include "syntax/limited_call.h"

namespace tenon::syntax {

LimitedCall read_limited_call(const SyntaxTree& tree, NodeId node) {
  LimitedCall limited{.call = node, .budget = {}, .strategy = {}};
  while (limited.call.exists()) {
    const NodeKind kind = tree.kind(limited.call);
    if (kind == NodeKind::BudgetExpression) {
      limited.budget = tree.find_child(limited.call, NodeKind::BudgetClause);
    } else if (kind == NodeKind::StrategyExpression) {
      limited.strategy = tree.find_child(limited.call, NodeKind::StrategyClause);
    } else {
      break;
    }
    limited.call = tree.first(limited.call);
  }
  return limited;
}

}  // namespace tenon::syntax
