#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// A recursive descent over the tokens that are no trivia. Nodes are built bottom up: `open` marks a beginning, `close`
/// makes a node of everything finished since. Internal to this folder; others call `parse`.
class Parser {
 public:
  Parser(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics);
  SyntaxTree run();

 private:
  struct Mark {
    std::size_t pending = 0;  ///< finished nodes before it
    std::size_t token = 0;    ///< position among the significant tokens
  };
  /// Sets a flag for the time of one scope.
  class Setting;
  class Nesting;

  // parser.cpp: tokens and nodes
  [[nodiscard]] const Token& token(std::size_t ahead = 0) const;
  [[nodiscard]] TokenKind peek(std::size_t ahead = 0) const { return token(ahead).kind; }
  [[nodiscard]] bool at(TokenKind kind) const { return peek() == kind; }
  [[nodiscard]] bool at_word(std::string_view word, std::size_t ahead = 0) const;
  [[nodiscard]] bool at_line_end() const { return token().after_newline && newlines_matter_; }
  [[nodiscard]] TokenIndex index(std::size_t position) const;
  TokenIndex advance();
  bool accept(TokenKind kind);
  bool expect(TokenKind kind);
  bool expect(TokenKind kind, std::string_view wanted);
  void report_expected(std::string_view wanted);
  void give_up();
  [[nodiscard]] Mark open() const { return {pending_.size(), position_}; }
  [[nodiscard]] Mark open_before_last() const;
  NodeId close(Mark mark, NodeKind kind);
  NodeId close(Mark mark, NodeKind kind, TokenIndex main_token);
  NodeId add_empty(NodeKind kind);
  void skip_to(std::initializer_list<TokenKind> stops);

  // parse_items.cpp
  void parse_item();
  void parse_use();
  void parse_function(Mark mark);
  void parse_extern(Mark mark);
  void parse_struct(Mark mark);
  void parse_enum(Mark mark);
  void parse_impl(Mark mark);
  void parse_type_item(Mark mark);
  void parse_test(Mark mark);
  void parse_script_section();
  void parse_type_parameters();
  void parse_parameters();
  void parse_return_type();
  void parse_budget_clause();
  TokenIndex parse_name(std::string_view wanted);
  void skip_to_item();
  [[nodiscard]] bool at_item_start() const;

  // parse_types.cpp
  void parse_type();
  void parse_type_operand();
  void parse_type_arguments();
  void parse_constraints(Mark mark);
  void parse_pattern();
  void parse_pattern_operand();

  // parse_statements.cpp
  void parse_block();
  void parse_statement();
  void parse_let();
  void parse_while();
  void parse_for();
  void end_statement(NodeKind kind, NodeKind expression);
  void parse_condition();

  // parse_expressions.cpp
  void parse_expression();
  void parse_expression_without_struct_literals();
  void parse_binary(int precedence_min);
  void parse_prefix();
  void parse_postfix();
  void parse_operand();
  void parse_name_expression();
  void parse_string();
  void parse_parentheses();
  void parse_list();
  void parse_arguments();
  void parse_if();
  void parse_match();
  void parse_select();
  void parse_body();
  void parse_closure();
  void parse_parallel();
  void parse_struct_fields();
  [[nodiscard]] bool at_type_arguments() const;
  [[nodiscard]] bool at_struct_fields() const;
  [[nodiscard]] bool at_expression_start() const;
  [[nodiscard]] int binary_precedence() const;

  const source::SourceFile& file_;
  diagnostics::Diagnostics& diagnostics_;
  SyntaxTree tree_;
  std::vector<TokenIndex> significant_;
  std::vector<NodeId> pending_;
  std::size_t position_ = 0;
  std::size_t reported_position_ = SIZE_MAX;  ///< one report for a token, however many rules it disappoints
  std::size_t depth_ = 0;
  bool newlines_matter_ = true;
  bool struct_literals_ = true;
  bool gave_up_ = false;
};

class Parser::Setting {
 public:
  Setting(bool& flag, bool value) : flag_(flag), before_(flag) { flag_ = value; }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { flag_ = before_; }

 private:
  bool& flag_;
  bool before_;
};

/// Counts the levels of recursion; past the limit the parser gives up.
class Parser::Nesting {
 public:
  explicit Nesting(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ > nesting_depth_max) parser_.give_up();
  }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  ~Nesting() { --parser_.depth_; }

 private:
  Parser& parser_;
};

}  // namespace tenon::syntax
