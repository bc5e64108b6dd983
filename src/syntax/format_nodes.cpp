// The formatter's walk: what stands between the tokens of each kind of node.

#include <algorithm>

#include "base/ensure.h"
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

/// What may stand between a function's head and its body.
bool is_clause(NodeKind kind) {
  return kind == NodeKind::BudgetClause || kind == NodeKind::ContractClause || kind == NodeKind::StrategyClause;
}

}  // namespace

void Formatter::node(NodeId id) {
  // A `|` before a pattern belongs to no pattern.
  while (next_ < tree_[id].first_token) {
    take();
    space();
  }
  ENSURE(next_ == tree_[id].first_token);
  const NodeKind kind = tree_.kind(id);
  if (kind == NodeKind::Error) {
    take_verbatim(id);
  } else if (kind < NodeKind::NamedType) {
    item(id);
  } else if (kind < NodeKind::Block || kind >= NodeKind::WildcardPattern) {
    type_or_pattern(id);
  } else if (kind <= NodeKind::WhileStatement) {
    statement(id);
  } else {
    expression(id);
  }
}

void Formatter::file(NodeId id) {
  // The root ends behind `End`, which is not written.
  statements(tree_.first(id), static_cast<TokenIndex>(tree_.tokens.size() - 1));
}

/// Names and `::` up to the token `end`.
void Formatter::names_until(TokenIndex end) {
  while (next_ < end && (at(TokenKind::Identifier) || at(TokenKind::ColonColon))) take();
}

void Formatter::use(NodeId id) {
  take();
  space();
  const NodeId names = tree_.find_child(id, NodeKind::UseList);
  names_until(names.exists() ? tree_[names].first_token : tree_[id].end_token);
  if (names.exists()) list(tree_.first(names));
  take_if(TokenKind::Semicolon);
}

void Formatter::function(NodeId id) {
  NodeId child = tree_.first(id);
  if (take_if(TokenKind::Extern)) {
    if (child.exists() && tree_.kind(child) == NodeKind::ExternOptions) {
      node(child);
      child = tree_.next(child);
    }
    space();
  }
  take();
  space();
  take();
  // With a contract, each clause stands on a line of its own, and so does the body's brace.
  const bool has_contract = tree_.find_child(id, NodeKind::ContractClause).exists();
  for (; child.exists(); child = tree_.next(child)) {
    const NodeKind kind = tree_.kind(child);
    if (has_contract && is_clause(kind)) {
      layout_.begin_group();  // comments before the clause are indented with it
      layout_.indent();
      gap(Gap::HardLine);
      node(child);
      layout_.dedent();
      end_group();
      continue;
    }
    if (kind != NodeKind::TypeParameters && kind != NodeKind::Parameters)
      gap(has_contract && kind == NodeKind::Block ? Gap::HardLine : Gap::Blank);
    node(child);
  }
  take_if(TokenKind::Semicolon);
}

/// `secret` before the name of a field or parameter.
void Formatter::secret_word(NodeId id) {
  if (next_ == tree_[id].main_token) return;
  take();
  space();
}

void Formatter::item(NodeId id) {
  const NodeId child = tree_.first(id);
  switch (tree_.kind(id)) {
    case NodeKind::UseItem:
      return use(id);
    case NodeKind::FunctionItem:
    case NodeKind::ExternItem:
      return function(id);
    case NodeKind::StructItem:
    case NodeKind::EnumItem:
    case NodeKind::ScriptSection:
    case NodeKind::StateSection:
    case NodeKind::ScratchpadSection:
      take();
      space();
      if (!at(TokenKind::LeftBrace)) {
        take();
        space();
      }
      return brace_list(child, BraceLayout::Author);
    case NodeKind::AgentItem:
    case NodeKind::ImplItem:
      take();
      space();
      take();
      space();
      begin_group();
      block_inside(id, Gap::HardLine);
      return end_group();
    case NodeKind::StateField:
      secret_word(id);
      take();
      take();
      space();
      node(child);
      space();
      take();
      space();
      return node(tree_.next(child));
    case NodeKind::TestItem:
      take();
      space();
      node(child);
      space();
      return node(tree_.next(child));
    case NodeKind::TypeItem:
      take();
      space();
      take();
      space();
      take();
      space();
      node(child);
      take_if(TokenKind::Semicolon);
      return;
    case NodeKind::VariantItem:
      take();
      if (at(TokenKind::LeftParenthesis) && within(id)) list(child);
      return;
    case NodeKind::FieldItem:
    case NodeKind::Parameter:
    case NodeKind::NamedArgument:
    case NodeKind::ExternOption:
      secret_word(id);
      take();
      if (!child.exists()) return;
      take();
      space();
      node(child);
      if (within(id)) take();  // the unit of a number
      return;
    case NodeKind::ScriptEntry:
      take();
      while (at(TokenKind::ColonColon) || at(TokenKind::Identifier)) take();
      space();
      take();
      space();
      return node(child);
    case NodeKind::TypeParameters:
    case NodeKind::Parameters:
    case NodeKind::ExternOptions:
      return list(child);
    case NodeKind::ReturnType:
    case NodeKind::InstructionsSection:
      take();
      space();
      return node(child);
    case NodeKind::BudgetClause:
    case NodeKind::StrategyClause:
      take();
      return list(child);
    case NodeKind::ContractClause:
      take();
      space();
      begin_group();
      node(child);
      if (tree_.next(child).exists()) {  // `as "words"`
        layout_.indent();
        gap(Gap::SpaceLine);
        take();
        space();
        node(tree_.next(child));
        layout_.dedent();
      }
      return end_group();
    case NodeKind::BlockItem:
    case NodeKind::BlockOption:
    case NodeKind::ItemClause:
    case NodeKind::ToClause:
    case NodeKind::OnClause:
    case NodeKind::BranchItem:
    case NodeKind::TurnSection:
      return block_part(id);
    case NodeKind::StartSection:
    case NodeKind::NextTurnSection:
    case NodeKind::WhenClause:
    case NodeKind::OnArm:
    case NodeKind::ElseClause:
    case NodeKind::CalledClause:
    case NodeKind::NextClause:
      return words(id);
    default:
      // UseName, TypeParameter: a name.
      return names_until(tree_[id].end_token);
  }
}

/// `"a" | "b"`
void Formatter::union_type(NodeId id) {
  begin_group();
  layout_.indent();
  for (NodeId child = tree_.first(id); child.exists(); child = tree_.next(child)) {
    node(child);
    if (!tree_.next(child).exists()) break;
    gap(Gap::SpaceLine);
    take();
    space();
  }
  layout_.dedent();
  end_group();
}

void Formatter::type_or_pattern(NodeId id) {
  const NodeId child = tree_.first(id);
  switch (tree_.kind(id)) {
    case NodeKind::NamedType:
      names_until(tree_[id].end_token);
      if (within(id)) list(child);
      return;
    case NodeKind::OptionalType:
      node(child);
      return take();
    case NodeKind::SecretType:
      take();
      space();
      return node(child);
    case NodeKind::TupleType:
    case NodeKind::TuplePattern:
      return list(child, CommaStyle::SingleAsWritten);
    case NodeKind::UnionType:
      return union_type(id);
    case NodeKind::OrPattern:
      if (at(TokenKind::Pipe)) {
        take();
        space();
      }
      return union_type(id);
    case NodeKind::RefinedType:
      for (NodeId part = child; part.exists(); part = tree_.next(part)) {
        if (part != child) space();
        node(part);
      }
      return;
    case NodeKind::RangeConstraint:
    case NodeKind::LengthConstraint:
    case NodeKind::PatternConstraint:
      take();
      space();
      return node(child);
    case NodeKind::LiteralPattern:
      // A range without a beginning has its `..` before its only child.
      return child.exists() ? node(child) : take();
    case NodeKind::PathPattern:
      names_until(tree_[id].end_token);
      if (within(id)) list(child);
      return;
    case NodeKind::StructPattern:
      names_until(tree_[id].end_token);
      space();
      return brace_list(child, BraceLayout::Fit);
    case NodeKind::FieldPattern:
      take();
      if (!child.exists()) return;
      take();
      space();
      return node(child);
    case NodeKind::LiteralType:
      return node(child);
    default:
      // WildcardPattern, NamePattern
      return take();
  }
}

void Formatter::statement(NodeId id) {
  const NodeId child = tree_.first(id);
  switch (tree_.kind(id)) {
    case NodeKind::Block:
      return block(id);
    case NodeKind::LetStatement:
      take();
      space();
      for (NodeId part = child; part.exists(); part = tree_.next(part)) {
        if (at(TokenKind::Colon)) {
          take();
          space();
        } else if (at(TokenKind::Equal)) {
          space();
          take();
          space();
        }
        node(part);
      }
      break;
    case NodeKind::AssignStatement:
      node(child);
      space();
      take();
      space();
      node(tree_.next(child));
      break;
    case NodeKind::AssertStatement:
      take();
      space();
      node(child);
      break;
    case NodeKind::WhileStatement:
      take();
      space();
      node(child);
      space();
      node(tree_.next(child));
      break;
    case NodeKind::InjectStatement:
      node(child);
      take();
      break;
    default:
      node(child);
      break;
  }
  if (within(id)) take_if(TokenKind::Semicolon);
}

/// A chain of operators of one level, which group to the left; `??`, which groups to the right, is one too.
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
  // A `-` at the beginning of a line would be a sign, so that it ends one, and with it the operators around it.
  const bool minus = std::any_of(operands.begin() + 1, operands.end(), [this](NodeId operand) {
    TokenIndex before = tree_[operand].first_token - 1;
    while (is_trivia(tree_.tokens[before].kind)) --before;
    return tree_.tokens[before].kind == TokenKind::Minus;
  });
  begin_group();
  layout_.indent();
  for (std::size_t index = 0; index < operands.size(); ++index) {
    if (index > 0) {
      gap(minus ? Gap::Blank : Gap::SpaceLine);
      take();
      gap(minus ? Gap::SpaceLine : Gap::Blank);
    }
    node(operands[index]);
  }
  layout_.dedent();
  end_group();
}

/// Calls, fields and indices one behind the other. From two methods on each has a line where one line is too short.
void Formatter::postfix_chain(NodeId id) {
  std::vector<NodeId> links;
  NodeId root = id;
  for (; is_postfix(tree_.kind(root)); root = tree_.first(root)) links.push_back(root);
  std::reverse(links.begin(), links.end());
  const auto is_method = [this](NodeId link) { return tree_.kind(link) == NodeKind::MethodCallExpression; };
  const bool breakable = std::count_if(links.begin(), links.end(), is_method) >= 2;
  if (breakable) begin_group();
  const std::size_t hard_before = layout_.hard_count();
  node(root);
  if (breakable) layout_.indent();
  bool hugs = false;  // line ends, if any, stand within the last link's arguments alone, which need not break the chain
  for (const NodeId link : links) {
    hugs = false;
    const NodeId operand = tree_.first(link);
    switch (tree_.kind(link)) {
      case NodeKind::CallExpression:
        comments();
        hugs = layout_.hard_count() == hard_before && gap_ != Gap::HardLine;
        node(tree_.next(operand));
        break;
      case NodeKind::IndexExpression:
        begin_group();
        take();
        layout_.indent();
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
          hugs = layout_.hard_count() == hard_before && gap_ != Gap::HardLine;
          node(part);
        }
    }
  }
  if (!breakable) return;
  layout_.dedent();
  if (hugs && last_list_hugs_) {
    layout_.end_hugging_group(last_braces_);
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
    take();
    space();
    const NodeId condition = tree_.first(branch);
    node(condition);
    space();
    const NodeId body = tree_.next(condition);
    block_inside(body, edge);
    branch = tree_.next(body);
    if (!branch.exists()) break;
    space();
    take();
    space();
    if (tree_.kind(branch) == NodeKind::IfExpression) continue;
    block_inside(branch, edge);
    break;
  }
  end_group();
}

void Formatter::expression(NodeId id) {
  const NodeId child = tree_.first(id);
  switch (tree_.kind(id)) {
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
      take();
      space();
      return node(child);
    case NodeKind::UnaryExpression:
      take();
      return node(child);
    case NodeKind::BinaryExpression:
      return binary(id);
    case NodeKind::RangeExpression: {
      const bool begins = child.exists() && tree_[child].first_token == next_;
      if (begins) node(child);
      take();
      const NodeId end = begins ? tree_.next(child) : child;
      if (end.exists()) node(end);
      return;
    }
    case NodeKind::CastExpression:
      node(child);
      space();
      take();
      space();
      return node(tree_.next(child));
    case NodeKind::CallExpression:
    case NodeKind::MethodCallExpression:
    case NodeKind::FieldExpression:
    case NodeKind::IndexExpression:
    case NodeKind::BudgetExpression:
    case NodeKind::StrategyExpression:
      return postfix_chain(id);
    case NodeKind::IfExpression:
      return if_expression(id);
    case NodeKind::LetCondition:
      take();
      space();
      node(child);
      space();
      take();
      space();
      return node(tree_.next(child));
    case NodeKind::MatchExpression:
      take();
      space();
      node(child);
      space();
      return brace_list(tree_.next(child), BraceLayout::Author);
    case NodeKind::PursueExpression: {
      take();
      space();
      node(child);
      space();
      take();
      space();
      NodeId part = tree_.next(child);
      node(part);
      for (part = tree_.next(part); part.exists() && tree_.kind(part) == NodeKind::PursueLimit;
           part = tree_.next(part)) {
        space();
        take();
        space();
        node(tree_.first(part));
      }
      space();
      return brace_list(part, BraceLayout::Author);
    }
    case NodeKind::SelectExpression:
    case NodeKind::ParallelExpression:
    case NodeKind::ToolsExpression:
      take();
      space();
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
      for (NodeId part = child; part.exists(); part = tree_.next(part)) {
        // Before a part may stand `as name`, `else`, `=>` and `name =`.
        while (next_ < tree_[part].first_token) {
          take();
          space();
        }
        node(part);
        if (within(id)) space();
      }
      return;
    case NodeKind::InjectBody:
      node(child);
      return take();
    case NodeKind::Guard:
    case NodeKind::TryExpression:
      take();
      space();
      return node(child);
    case NodeKind::CatchExpression:
      node(child);
      space();
      take();
      space();
      take();
      space();
      return node(tree_.next(child));
    case NodeKind::FinallyExpression:
      node(child);
      space();
      take();
      space();
      return node(tree_.next(child));
    case NodeKind::ClosureExpression:
      take();
      for (NodeId part = child; part.exists(); part = tree_.next(part)) {
        if (at(TokenKind::Pipe) && !tree_.next(part).exists()) take();
        if (!tree_.next(part).exists()) space();
        node(part);
        if (at(TokenKind::Comma) && within(id) && tree_.next(part).exists()) {
          take();
          if (!at(TokenKind::Pipe)) space();
        }
      }
      return;
    case NodeKind::ForExpression:
      take();
      space();
      for (NodeId part = child; part.exists(); part = tree_.next(part)) {
        if (take_if(TokenKind::In)) space();
        node(part);
        if (tree_.next(part).exists()) space();
      }
      return;
    case NodeKind::ParallelClause:
      take();
      return list(child, CommaStyle::SingleAsWritten);
    case NodeKind::ReturnExpression:
      take();
      if (!child.exists()) return;
      space();
      return node(child);
    default:
      // Literals, `_`, `break`, `continue`
      return take();
  }
}

}  // namespace tenon::syntax
