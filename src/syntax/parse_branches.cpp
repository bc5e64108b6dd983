// Expressions with several branches: if, match, select, parallel, pursue, tools.

#include "syntax/parse_branches.h"

#include <vector>

#include "syntax/parse_expressions.h"
#include "syntax/parse_lists.h"
#include "syntax/parse_patterns.h"
#include "syntax/parse_statements.h"
#include "syntax/parse_templates.h"

namespace tenon::syntax {
namespace {

/// After `=>`: an expression, or one that is injected.
void parse_body(Parser& p) {
  const Mark mark = p.open();
  parse_expression(p);
  if (p.at(TokenKind::Bang) && !p.at_line_end()) {
    p.advance();
    p.close(mark, NodeKind::InjectBody);
  }
}

/// `{ … }` of a match, select or parallel: elements on separate lines, or separated by commas.
template <class ParseElement>
void parse_arms(Parser& p, NodeKind kind, ParseElement parse_element) {
  const Setting lines(p.rules().newlines, true);
  const Setting literals(p.rules().struct_literals, true);
  const Setting units(p.rules().units, false);
  if (!p.expect(TokenKind::LeftBrace)) return;
  const Setting arrows(p.enclosing().arrow_reported, false);
  parse_elements(p, TokenKind::RightBrace, Separator::CommaOrLineEnd, "`,` or `}`", [&] {
    const Mark mark = p.open();
    TokenIndex main_token = p.here();
    parse_element(main_token);
    p.close_or_error(mark, kind, main_token);
  });
}

/// Whether another block follows the block here, which then is a value, as in `match { f() } { … }`.
bool at_block_before_block(const Parser& p) {
  std::size_t depth = 0;
  for (std::size_t at = p.position(); p.kind_at(at) != TokenKind::End; ++at) {
    if (p.kind_at(at) == TokenKind::LeftBrace) ++depth;
    if (p.kind_at(at) == TokenKind::RightBrace && --depth == 0) return p.kind_at(at + 1) == TokenKind::LeftBrace;
  }
  return false;
}

}  // namespace

void parse_if(Parser& p) {
  const Nesting nesting(p);
  // A chain of `else if` is one level, however long it is; each link is part of the one before it.
  std::vector<Mark> links;
  for (;;) {
    const Mark mark = p.open();
    p.advance();
    parse_condition(p);
    if (heads_section(p, mark, NodeKind::TemplateIf)) break;
    parse_block(p);
    links.push_back(mark);
    // `else =>` is the last clause of a `select` around this.
    if (p.peek(1) == TokenKind::FatArrow || !p.accept(TokenKind::Else)) break;
    if (!p.at(TokenKind::If)) {
      parse_block(p);
      break;
    }
  }
  p.close_links(links, NodeKind::IfExpression);
}

void parse_match(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  p.advance();
  if (p.at(TokenKind::LeftBrace) && !at_block_before_block(p)) {
    p.report_unexpected("a value to match");
    p.add_empty(NodeKind::Error);
    p.end_recovery();
  } else {
    parse_expression_without_struct_literals(p);
  }
  parse_arms(p, NodeKind::MatchArm, [&](TokenIndex&) {
    parse_pattern(p);
    if (p.at(TokenKind::If)) {
      const Mark guard = p.open();
      p.advance();
      parse_expression(p);
      p.close(guard, NodeKind::Guard);
    }
    if (p.expect(TokenKind::FatArrow)) parse_body(p);
  });
  p.close(mark, NodeKind::MatchExpression);
}

void parse_select(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  p.advance();
  parse_arms(p, NodeKind::SelectClause, [&](TokenIndex& name) {
    if (!p.accept(TokenKind::Else)) {
      if (p.at(TokenKind::DotDot)) {
        const Mark spread = p.open();
        p.advance();
        parse_postfix(p);
        p.close(spread, NodeKind::SpreadExpression);
      } else {
        parse_postfix(p);
      }
      if (p.accept(TokenKind::As)) name = p.expect_name("a name for the result");
    }
    if (p.expect(TokenKind::FatArrow)) parse_body(p);
  });
  p.close(mark, NodeKind::SelectExpression);
}

bool at_pursue(const Parser& p) {
  if (!p.at_word("pursue") || p.token(1).after_newline) return false;
  return p.peek(1) == TokenKind::StringStart || p.peek(1) == TokenKind::Pipe || p.peek(1) == TokenKind::Identifier;
}

void parse_pursue(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  p.advance();
  parse_expression_without_struct_literals(p);
  if (p.at_word("from")) {
    p.advance();
    parse_expression_without_struct_literals(p);
  } else {
    p.report_expected("`from` and the initial state");
  }
  while (p.at_word("limit") || p.at_word("width")) {
    const Mark limit = p.open();
    p.advance();
    parse_expression_without_struct_literals(p);
    p.close(limit, NodeKind::PursueLimit);
  }
  parse_arms(p, NodeKind::PursueAction, [&](TokenIndex& name) {
    parse_postfix(p);
    if (p.accept(TokenKind::As)) name = p.expect_name("a name for the action");
  });
  p.close(mark, NodeKind::PursueExpression);
}

bool at_tools(const Parser& p) {
  return p.at_word("tools") && p.peek(1) == TokenKind::LeftBrace && p.rules().struct_literals &&
         !p.token(1).after_newline;
}

void parse_tools(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  p.advance();
  parse_arms(p, NodeKind::ToolEntry, [&](TokenIndex& name) {
    parse_postfix(p);
    if (p.accept(TokenKind::As)) name = p.expect_name("a name for the tool");
  });
  p.close(mark, NodeKind::ToolsExpression);
}

void parse_parallel(Parser& p) {
  const Nesting nesting(p);
  const Mark mark = p.open();
  p.advance();
  parse_arms(p, NodeKind::ParallelBranch, [&](TokenIndex&) {
    if (p.at(TokenKind::Identifier) && p.peek(1) == TokenKind::Equal) {
      p.advance();
      p.advance();
    }
    parse_expression(p);
  });
  p.close(mark, NodeKind::ParallelExpression);
}

}  // namespace tenon::syntax
