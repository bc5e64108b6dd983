// Expressions.

#include <algorithm>
#include <vector>

#include "syntax/formatter.h"

namespace tenon::syntax {
namespace {

/// Operators of one level are broken together.
int level(TokenKind operation) {
  switch (operation) {
    case TokenKind::QuestionQuestion:
      return 1;
    case TokenKind::PipePipe:
      return 2;
    case TokenKind::AmpersandAmpersand:
      return 3;
    case TokenKind::Plus:
    case TokenKind::Minus:
      return 5;
    case TokenKind::Star:
    case TokenKind::Slash:
    case TokenKind::Percent:
      return 6;
    default:
      return 4;
  }
}

bool is_postfix(NodeKind kind) {
  return kind == NodeKind::CallExpression || kind == NodeKind::MethodCallExpression ||
         kind == NodeKind::FieldExpression || kind == NodeKind::IndexExpression || kind == NodeKind::BudgetExpression ||
         kind == NodeKind::StrategyExpression;
}

}  // namespace

void Formatter::expression(NodeId id) {
  const NodeId child = tree_.first(id);
  switch (tree_.kind(id)) {
    case NodeKind::IntegerExpression:
    case NodeKind::FloatExpression:
    case NodeKind::BooleanExpression:
    case NodeKind::HoleExpression:
      return take();
    case NodeKind::StringExpression:
      return take_verbatim(id);
    case NodeKind::NameExpression:
      names_until(tree_[id].end_token);
      if (child.exists()) node(child);
      return;
    case NodeKind::TypeArguments:
    case NodeKind::Arguments:
    case NodeKind::ListExpression:
      return list(child);
    case NodeKind::TupleExpression:
    case NodeKind::ParenthesizedExpression:
      return list(child, CommaStyle::SingleAsWritten);
    case NodeKind::StructExpression:
      node(child);
      space();
      return brace_list(tree_.next(child), BraceLayout::Fit);
    case NodeKind::FieldInitializer:
      take();
      if (!child.exists()) return;
      take_word();
      return node(child);
    default:
      return tree_.kind(id) <= NodeKind::IndexExpression ? operation(id) : control_flow(id);
  }
}

void Formatter::operation(NodeId id) {
  const NodeId child = tree_.first(id);
  switch (tree_.kind(id)) {
    case NodeKind::UnaryExpression:
      take();
      return node(child);
    case NodeKind::BinaryExpression:
      return binary(id);
    case NodeKind::RangeExpression: {
      const bool has_start = child.exists() && tree_[child].first_token == next();
      if (has_start) node(child);
      take();
      const NodeId end = has_start ? tree_.next(child) : child;
      if (end.exists()) node(end);
      return;
    }
    case NodeKind::CastExpression:
      node(child);
      take_spaced();
      return node(tree_.next(child));
    default:
      return postfix_chain(id);
  }
}

void Formatter::control_flow(NodeId id) {
  const NodeId child = tree_.first(id);
  switch (tree_.kind(id)) {
    case NodeKind::BudgetExpression:
    case NodeKind::StrategyExpression:
      return postfix_chain(id);
    case NodeKind::IfExpression:
      return if_expression(id);
    case NodeKind::LetCondition:
      take_word();
      node(child);
      take_spaced();
      return node(tree_.next(child));
    case NodeKind::MatchExpression:
      take_word();
      node(child);
      space();
      return brace_list(tree_.next(child), BraceLayout::Author);
    case NodeKind::PursueExpression:
      return pursue(id);
    case NodeKind::SelectExpression:
    case NodeKind::ParallelExpression:
    case NodeKind::ToolsExpression:
      take_word();
      return brace_list(child, BraceLayout::Author);
    case NodeKind::SpreadExpression:
      take();
      return node(child);
    case NodeKind::ToolEntry:
    case NodeKind::PursueAction:
      node(child);
      while (within(id)) {  // `as name`
        space();
        take();
      }
      return;
    case NodeKind::MatchArm:
    case NodeKind::SelectClause:
    case NodeKind::ParallelBranch:
    case NodeKind::ForExpression:
      return arm(id);
    case NodeKind::InjectBody:
      node(child);
      return take();
    case NodeKind::Guard:
    case NodeKind::TryExpression:
    case NodeKind::ShieldExpression:
      take_word();
      return node(child);
    case NodeKind::CatchExpression:
      node(child);
      take_spaced();
      take_word();
      return node(tree_.next(child));
    case NodeKind::FinallyExpression:
      node(child);
      take_spaced();
      return node(tree_.next(child));
    case NodeKind::ClosureExpression:
      return closure(id);
    case NodeKind::ParallelClause:
      take();
      return list(child, CommaStyle::SingleAsWritten);
    case NodeKind::ReturnExpression:
      take();
      if (!child.exists()) return;
      space();
      return node(child);
    default:
      // `break`, `continue`
      return take();
  }
}

void Formatter::pursue(NodeId id) {
  const NodeId goal = tree_.first(id);
  take_word();
  node(goal);
  take_spaced();  // `from`
  NodeId part = tree_.next(goal);
  node(part);
  for (part = tree_.next(part); part.exists() && tree_.kind(part) == NodeKind::PursueLimit; part = tree_.next(part)) {
    take_spaced();
    node(tree_.first(part));
  }
  space();
  brace_list(part, BraceLayout::Author);
}

void Formatter::closure(NodeId id) {
  take();
  for (NodeId part = tree_.first(id); part.exists(); part = tree_.next(part)) {
    const bool is_body = !tree_.next(part).exists();
    if (at(TokenKind::Pipe) && is_body) take();
    if (is_body) space();
    node(part);
    if (at(TokenKind::Comma) && within(id) && !is_body) {
      take();
      if (!at(TokenKind::Pipe)) space();
    }
  }
}

void Formatter::arm(NodeId id) {
  for (NodeId part = tree_.first(id); part.exists(); part = tree_.next(part)) {
    // Before a part there can be `for`, `in`, `as name`, `else`, `=>` and `name =`.
    while (next() < tree_[part].first_token) take_word();
    node(part);
    if (within(id)) space();
  }
}

/// A chain of operators of one level, whether they group to the left or, like `??`, to the right.
void Formatter::binary(NodeId id) {
  const int chain_level = level(tree_.tokens[tree_[id].main_token].kind);
  const auto continues = [&](NodeId operand) {
    return tree_.kind(operand) == NodeKind::BinaryExpression &&
           level(tree_.tokens[tree_[operand].main_token].kind) == chain_level;
  };
  std::vector<NodeId> operands;
  NodeId left = id;
  for (; continues(left); left = tree_.first(left)) operands.push_back(tree_.next(tree_.first(left)));
  operands.push_back(left);
  std::reverse(operands.begin(), operands.end());
  while (continues(operands.back())) {
    const NodeId last = operands.back();
    operands.back() = tree_.first(last);
    operands.push_back(tree_.next(tree_.first(last)));
  }
  // A `-` at the start of a line would be a sign, so it ends the line before, and so do the operators next to it.
  const bool minus = std::any_of(operands.begin() + 1, operands.end(), [this](NodeId operand) {
    TokenIndex before = tree_[operand].first_token - 1;
    while (is_trivia(tree_.tokens[before].kind)) --before;
    return tree_.tokens[before].kind == TokenKind::Minus;
  });
  begin_group();
  layout().indent();
  for (std::size_t index = 0; index < operands.size(); ++index) {
    if (index > 0) {
      gap(minus ? Gap::Blank : Gap::SpaceLine);
      take();
      gap(minus ? Gap::SpaceLine : Gap::Blank);
    }
    node(operands[index]);
  }
  layout().dedent();
  end_group();
}

/// A chain of calls, fields and indices. If it has two or more methods and does not fit on a line, each method has its
/// own.
void Formatter::postfix_chain(NodeId id) {
  std::vector<NodeId> links;
  NodeId root = id;
  for (; is_postfix(tree_.kind(root)); root = tree_.first(root)) links.push_back(root);
  std::reverse(links.begin(), links.end());
  const auto is_method = [this](NodeId link) { return tree_.kind(link) == NodeKind::MethodCallExpression; };
  const bool breakable = std::count_if(links.begin(), links.end(), is_method) >= 2;
  if (breakable) begin_group();
  const std::size_t hard_before = layout().hard_count();
  node(root);
  if (breakable) layout().indent();
  bool hugs = false;  // line ends are only in the last link's arguments, so the chain need not be broken
  for (const NodeId link : links) {
    hugs = false;
    const NodeId operand = tree_.first(link);
    switch (tree_.kind(link)) {
      case NodeKind::CallExpression:
        comments();
        hugs = layout().hard_count() == hard_before && !line_ends();
        node(tree_.next(operand));
        break;
      case NodeKind::IndexExpression:
        begin_group();
        take();
        layout().indent();
        gap(Gap::SoftLine);
        node(tree_.next(operand));
        close_bracket(Gap::SoftLine);
        end_group();
        break;
      case NodeKind::BudgetExpression:
      case NodeKind::StrategyExpression:
        space();
        node(tree_.next(operand));
        break;
      default:
        if (breakable && is_method(link)) gap(Gap::SoftLine);
        take();
        take();
        for (NodeId part = tree_.next(operand); part.exists(); part = tree_.next(part)) {
          comments();
          hugs = layout().hard_count() == hard_before && !line_ends();
          node(part);
        }
    }
  }
  if (!breakable) return;
  layout().dedent();
  if (hugs && last_list_hugs_) {
    layout().end_hugging_group(last_braces_);
  } else {
    end_group();
  }
}

void Formatter::if_expression(NodeId id) {
  bool one_line = true;
  for (NodeId branch = id; branch.exists();) {
    NodeId next;
    for (NodeId part = tree_.next(tree_.first(branch)); part.exists(); part = tree_.next(part)) {
      if (tree_.kind(part) == NodeKind::Block) one_line = one_line && fits_one_line(part);
      if (tree_.kind(part) == NodeKind::IfExpression) next = part;
    }
    branch = next;
  }
  const Gap edge = one_line ? Gap::SpaceLine : Gap::HardLine;
  begin_group();
  for (NodeId branch = id; branch.exists();) {
    take_word();
    const NodeId condition = tree_.first(branch);
    node(condition);
    space();
    const NodeId body = tree_.next(condition);
    block_inside(body, edge);
    branch = tree_.next(body);
    if (!branch.exists()) break;
    take_spaced();
    if (tree_.kind(branch) == NodeKind::IfExpression) continue;
    block_inside(branch, edge);
    break;
  }
  end_group();
}

}  // namespace tenon::syntax
