#pragma once

#include "syntax/tree.h"

namespace tenon::syntax {

/// Whether variables that are declared within such a node are unknown outside of it.
[[nodiscard]] constexpr bool holds_variables(NodeKind kind) {
  switch (kind) {
    case NodeKind::FunctionItem:
    case NodeKind::TestItem:
    case NodeKind::BlockItem:
    case NodeKind::InstructionsSection:
    case NodeKind::Block:
    case NodeKind::MatchArm:
    case NodeKind::OnArm:
    case NodeKind::ForExpression:
    case NodeKind::ClosureExpression:
    case NodeKind::SelectClause:
    case NodeKind::CatchExpression:
    case NodeKind::IfExpression:
    case NodeKind::WhileStatement:
    case NodeKind::TemplateFor:
    case NodeKind::TemplateIf:
    case NodeKind::ContractClause:
      return true;
    default:
      return false;
  }
}

}  // namespace tenon::syntax
