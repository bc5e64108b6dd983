#include "syntax/parse_clauses.h"

#include "syntax/parse_expressions.h"
#include "syntax/parse_lists.h"

namespace tenon::syntax {

bool at_budget(const Parser& p) {
  return p.peek(1) == TokenKind::LeftParenthesis && p.at_word("budget");
}

bool at_strategy(const Parser& p) {
  return p.peek(1) == TokenKind::LeftParenthesis && p.at_word("strategy");
}

bool at_contract(const Parser& p) {
  return p.at_word("requires") || p.at_word("ensures") || p.at_word("check");
}

void parse_clauses(Parser& p) {
  while (true) {
    if (at_budget(p)) {
      parse_limits_clause(p, NodeKind::BudgetClause, "a limit such as `calls: 10`");
    } else if (at_strategy(p)) {
      parse_limits_clause(p, NodeKind::StrategyClause, "a strategy such as `repair: 2`");
    } else if (at_contract(p)) {
      parse_contract_clauses(p);
    } else {
      return;
    }
  }
}

void parse_contract_clauses(Parser& p) {
  const Setting lines(p.rules().newlines, true);
  while (at_contract(p)) {
    const Mark mark = p.open();
    p.advance();
    const Setting limits(p.rules().limits, false);
    parse_expression_without_struct_literals(p);
    if (p.accept(TokenKind::As)) parse_expression_without_struct_literals(p);
    p.close(mark, NodeKind::ContractClause);
  }
}

void parse_limits_clause(Parser& p, NodeKind kind, std::string_view example) {
  const Mark mark = p.open();
  const Setting lines(p.rules().newlines, false);
  const Setting units(p.rules().units, true);
  p.advance();
  p.advance();
  parse_elements(p, TokenKind::RightParenthesis, Separator::Comma, "`,` or `)`", [&] {
    const Mark argument = p.open();
    const TokenIndex name = p.expect_name(example);
    if (p.expect(TokenKind::Colon)) parse_expression(p);
    p.close_or_error(argument, NodeKind::NamedArgument, name);
  });
  p.close(mark, kind);
}

}  // namespace tenon::syntax
