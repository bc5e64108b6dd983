// Items, types, patterns and statements.

#include "base/ensure.h"
#include "syntax/formatter.h"

namespace tenon::syntax {
namespace {

/// Between a function's head and its body.
bool is_clause(NodeKind kind) {
  return kind == NodeKind::BudgetClause || kind == NodeKind::ContractClause || kind == NodeKind::StrategyClause;
}

}  // namespace

void Formatter::node(NodeId id) {
  // A `|` before the first pattern is not part of its node.
  while (next() < tree_[id].first_token) {
    take_word();
  }
  ENSURE(next() == tree_[id].first_token);
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

/// Names and `::` up to the token `end`.
void Formatter::names_until(TokenIndex end) {
  while (next() < end && (at(TokenKind::Identifier) || at(TokenKind::ColonColon))) take();
}

void Formatter::use(NodeId id) {
  take_word();
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
  take_word();
  take();
  // With a contract, each clause has its own line, and so does the brace of the body.
  const bool has_contract = tree_.find_child(id, NodeKind::ContractClause).exists();
  for (; child.exists(); child = tree_.next(child)) {
    const NodeKind kind = tree_.kind(child);
    if (has_contract && is_clause(kind)) {
      layout().begin_group();  // comments before the clause are indented with it
      layout().indent();
      gap(Gap::HardLine);
      node(child);
      layout().dedent();
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
  if (next() == tree_[id].main_token) return;
  take_word();
}

/// What follows the first token of an entry's path.
void Formatter::script_entry(NodeId child) {
  while (at(TokenKind::ColonColon) || (at(TokenKind::Identifier) && next() != tree_[child].first_token)) take();
  if (tree_.kind(child) == NodeKind::Arguments) {
    list(tree_.first(child));
    child = tree_.next(child);
  }
  if (tree_.kind(child) == NodeKind::ScriptCondition) {
    node(child);
    child = tree_.next(child);
  }
  take_spaced();
  node(child);
}

void Formatter::item(NodeId id) {
  const NodeId child = tree_.first(id);
  switch (tree_.kind(id)) {
    case NodeKind::UseItem:
      return use(id);
    case NodeKind::TrustItem:
      take_word();
      take();
      take_if(TokenKind::Semicolon);
      return;
    case NodeKind::FunctionItem:
    case NodeKind::ExternItem:
      return function(id);
    case NodeKind::StructItem:
    case NodeKind::EnumItem:
    case NodeKind::ScriptSection:
    case NodeKind::StateSection:
    case NodeKind::ScratchpadSection:
      take_word();
      if (at(TokenKind::FatArrow)) return node(child);
      if (!at(TokenKind::LeftBrace)) take_word();
      return brace_list(child, BraceLayout::Author);
    case NodeKind::AgentItem:
    case NodeKind::ImplItem:
      take_word();
      take_word();
      begin_group();
      block_inside(id, Gap::HardLine);
      return end_group();
    case NodeKind::StateField:
      secret_word(id);
      take();
      take_word();
      node(child);
      take_spaced();
      return node(tree_.next(child));
    case NodeKind::TestItem:
      take_word();
      node(child);
      space();
      return node(tree_.next(child));
    case NodeKind::TypeItem:
      take_word();
      take_word();
      take_word();
      layout().indent();  // comments before the type, such as that of the first alternative
      comments();
      if (line_ends()) flush();
      layout().dedent();
      node(child);
      take_if(TokenKind::Semicolon);
      return;
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
      return item_part(id);
  }
}

void Formatter::item_part(NodeId id) {
  const NodeId child = tree_.first(id);
  switch (tree_.kind(id)) {
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
      take_word();
      node(child);
      if (within(id)) take();  // the unit of a number
      return;
    case NodeKind::ScriptEntry:
      if (at(TokenKind::FatArrow)) {
        take_word();
        return node(child);
      }
      take();
      return script_entry(child);
    case NodeKind::ScriptCondition:
      for (NodeId text = child; text.exists(); text = tree_.next(text)) {
        take_spaced();
        node(text);
      }
      return;
    case NodeKind::TypeParameters:
    case NodeKind::Parameters:
    case NodeKind::ExternOptions:
      return list(child);
    case NodeKind::ReturnType:
    case NodeKind::InstructionsSection:
      take_word();
      return node(child);
    case NodeKind::BudgetClause:
    case NodeKind::StrategyClause:
      take();
      return list(child);
    case NodeKind::ContractClause:
      take_word();
      begin_group();
      node(child);
      if (tree_.next(child).exists()) {  // `as "words"`
        layout().indent();
        gap(Gap::SpaceLine);
        take_word();
        node(tree_.next(child));
        layout().dedent();
      }
      return end_group();
    default:
      // UseName, TypeParameter: a name.
      return names_until(tree_[id].end_token);
  }
}

/// `"a" | "b"`
void Formatter::union_type(NodeId id) {
  begin_group();
  layout().indent();
  for (NodeId child = tree_.first(id); child.exists(); child = tree_.next(child)) {
    node(child);
    if (!tree_.next(child).exists()) break;
    gap(Gap::SpaceLine);
    take_word();
  }
  layout().dedent();
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
    case NodeKind::TrustedType:
      take_word();
      node(child);
      if (!within(id)) return;
      space();
      take_word();  // `else approve`
      return take();
    case NodeKind::TupleType:
    case NodeKind::TuplePattern:
      return list(child, CommaStyle::SingleAsWritten);
    case NodeKind::UnionType:
      return union_type(id);
    case NodeKind::OrPattern:
      if (at(TokenKind::Pipe)) take_word();
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
      take_word();
      return node(child);
    case NodeKind::LiteralPattern:
      // A range without a start has its `..` before its only child.
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
      take_word();
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
      take_word();
      for (NodeId part = child; part.exists(); part = tree_.next(part)) {
        if (at(TokenKind::Colon)) {
          take_word();
        } else if (at(TokenKind::Equal)) {
          take_spaced();
        }
        node(part);
      }
      break;
    case NodeKind::AssignStatement:
      node(child);
      take_spaced();
      node(tree_.next(child));
      break;
    case NodeKind::AssertStatement:
      take_word();
      node(child);
      break;
    case NodeKind::WhileStatement:
      take_word();
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

}  // namespace tenon::syntax
