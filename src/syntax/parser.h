#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// A recursive descent over the tokens that are not trivia. Nodes are built bottom-up: `open` marks a start, `close`
/// makes a node of everything finished since. Internal to this folder; others call `parse`.
class Parser {
 public:
  Parser(const source::SourceFile& file, diagnostics::Diagnostics& diagnostics);
  SyntaxTree run();

 private:
  /// The number of positions after the last token that can be peeked at.
  static constexpr std::size_t end_padding = 4;

  struct Mark {
    std::size_t pending = 0;  ///< the number of finished nodes before it
    std::size_t token = 0;    ///< position among the significant tokens
  };
  /// Sets a flag until the end of the scope.
  class Setting;
  class Nesting;

  /// The separator of a list's elements. After an element that ends with `}`, no separator is needed where a line end
  /// is sufficient.
  enum class Separator : std::uint8_t { Comma, CommaOrLineEnd };

  /// The contents of an item's braces: functions, and in an agent also its sections.
  enum class Parts : std::uint8_t { Methods, AgentParts };

  /// Where something is wrong or missing: at this token, or at the end of the line before it.
  enum class ErrorPlace : std::uint8_t { Here, EndOfLastLine };

  // parser.cpp: tokens and nodes
  [[nodiscard]] const Token& token(std::size_t ahead = 0) const { return tree_.tokens[index(position_ + ahead)]; }
  /// `ahead` can point beyond the end by at most `end_padding`.
  [[nodiscard]] TokenKind peek(std::size_t ahead = 0) const { return kinds_[position_ + ahead]; }
  [[nodiscard]] bool at(TokenKind kind) const { return peek() == kind; }
  [[nodiscard]] bool at_end() const { return at(TokenKind::End) || at(TokenKind::TemplateEnd); }
  [[nodiscard]] bool after_newline() const { return token().after_newline; }
  [[nodiscard]] bool at_word(std::string_view word, std::size_t ahead = 0) const;
  [[nodiscard]] bool at_line_end() const { return rules_.newlines && after_newline(); }
  [[nodiscard]] TokenIndex index(std::size_t position) const { return significant_[position]; }
  [[nodiscard]] TokenIndex last_index() const { return index(position_ > 0 ? position_ - 1 : 0); }
  TokenIndex advance();
  bool accept(TokenKind kind) {
    if (!at(kind)) return false;
    advance();
    return true;
  }
  bool expect(TokenKind kind);
  bool expect(TokenKind kind, std::string_view wanted);
  bool expect_closing(TokenKind kind, std::string_view wanted, TokenIndex opening);
  /// Reports what was found here and what is expected, unless it is a consequence of an earlier report. What is missing
  /// at the end of a line is reported there.
  diagnostics::Diagnostic* report_expected(std::string_view wanted);
  /// The same for something that is not allowed here, wherever its line begins.
  diagnostics::Diagnostic* report_unexpected(std::string_view wanted);
  /// Reports a word here, or directly before, that is an operator in other languages.
  void hint_operator(diagnostics::Diagnostic& told) const;
  /// What is found here, in the words of messages.
  [[nodiscard]] std::string describe_here() const;
  [[nodiscard]] bool follows_from_other_error() const;
  /// Records that something was reported here, so that its consequences are not.
  void mark_reported(ErrorPlace place = ErrorPlace::Here);
  /// Whether a line starts here that is indented no deeper than the line of the last error, which ends the damage.
  [[nodiscard]] bool at_recovery_end() const { return after_newline() && column() <= recovery_.column; }
  void end_recovery();
  void give_up(std::size_t limit);
  [[nodiscard]] Mark open() const { return {pending_.size(), position_}; }
  NodeId close(Mark mark, NodeKind kind);
  NodeId close(Mark mark, NodeKind kind, TokenIndex main_token);
  NodeId add_empty(NodeKind kind);
  /// Skips to the end of the line or one of `stops`, at this level of brackets, into an Error node.
  void skip_to(std::initializer_list<TokenKind> stops);
  /// Whether the line starts a statement or declaration that cannot be part of an expression.
  [[nodiscard]] bool at_fresh_start() const;
  /// Whether a declaration starts here that is not indented further than the current one. The sections of an agent are
  /// declarations inside it.
  [[nodiscard]] bool at_declaration() const;
  [[nodiscard]] std::size_t column() const;
  [[nodiscard]] bool closes_later(TokenKind close) const;
  bool recover_in_list(TokenKind close, std::size_t element_start);
  /// The rest of a list, with its bracket `opening`: elements, separators and the bracket `close`.
  template <class ParseElement>
  void parse_elements(TokenKind close, Separator separator, std::string_view wanted, ParseElement parse_element);

  // parse_items.cpp
  void parse_item();
  void parse_use();
  void parse_function(Mark mark);
  void parse_extern(Mark mark);
  void parse_extern_options();
  void parse_struct(Mark mark);
  void parse_enum(Mark mark);
  void parse_impl(Mark mark);
  void parse_type_item(Mark mark);
  void parse_test(Mark mark);
  void parse_script_section();
  void parse_type_parameters();
  void parse_parameters();
  void parse_return_type();
  /// The clauses between a function's head and its body: its budget, its contract, its strategy.
  void parse_clauses();
  void parse_contract_clauses();
  /// `budget(…)` or `strategy(…)`: words with numbers.
  void parse_limits_clause(NodeKind kind, std::string_view example);
  TokenIndex parse_name(std::string_view wanted);
  void skip_to_item();
  [[nodiscard]] bool at_item_start() const;
  [[nodiscard]] bool at_contextual_item() const;

  // parse_agents.cpp: `agent`, and the lists of parts that it and `impl` have
  void parse_agent(Mark mark);
  bool parse_agent_section();
  void parse_state_section(NodeKind kind);
  void parse_state_field();
  void parse_instructions_section();
  /// Reads up to the closing brace, which the caller reads.
  void parse_parts(Parts parts, std::string_view wanted);
  void skip_to_part(Parts parts);
  [[nodiscard]] bool at_part(Parts parts) const;
  [[nodiscard]] bool at_agent_section() const;

  // parse_blocks.cpp: the blocks of an agent, and the sections that name or contain them
  void parse_block_item();
  /// Up to the closing brace, which the caller reads.
  void parse_block_parts();
  void parse_block_part();
  void parse_block_statements();
  void parse_block_option();
  void parse_when_clause();
  void parse_to_clause();
  void parse_on_clause();
  void parse_called_clause();
  void parse_item_clause();
  void parse_branch();
  void parse_turn_section();
  /// `{ block … }`, including the braces.
  void parse_block_list();
  /// `start` or `next_turn` followed by a name.
  void parse_naming_section(NodeKind kind, std::string_view wanted);
  /// `-> name`; returns the name's token.
  TokenIndex parse_target();
  /// Whether a continuation of an expression is `ahead` tokens further: `catch e {` or `finally {`.
  [[nodiscard]] bool at_expression_tail(std::size_t ahead) const;
  [[nodiscard]] bool at_block_item() const;
  [[nodiscard]] bool at_block_part() const;
  [[nodiscard]] bool at_next_block_part() const;
  [[nodiscard]] bool at_outer_block_part() const;
  TokenIndex parse_name_behind(std::string_view wanted);

  // parse_templates.cpp: strings
  void parse_string();
  void parse_string_pieces(bool in_section);
  void parse_template();
  NodeKind parse_template_inside();
  void parse_section(Mark mark, NodeKind kind);
  void parse_template_body();
  void parse_stray_else();
  void skip_template();
  void end_template();
  /// Whether `if` or `for`, whose condition or list has just been read, is the head of a section: `{{ if c }}`. Then
  /// the node belongs to the section.
  bool heads_section(Mark mark, NodeKind kind);
  /// `{{ else …`
  [[nodiscard]] bool at_template_else() const { return at(TokenKind::TemplateStart) && peek(1) == TokenKind::Else; }
  /// `{{ end }}`, which is not a name inside a section.
  [[nodiscard]] bool at_template_end() const {
    return at(TokenKind::TemplateStart) && at_word("end", 1) && peek(2) == TokenKind::TemplateEnd;
  }

  // parse_types.cpp
  void parse_type();
  void parse_type_operand();
  void parse_type_arguments();
  void parse_types_until(TokenKind close);
  void parse_constraints(Mark mark);
  void parse_pattern();
  void parse_pattern_operand();
  void parse_pattern_list();
  void parse_field_patterns();

  // parse_statements.cpp
  void parse_block();
  void parse_block_rest(Mark mark, TokenIndex opening);
  void parse_statements();
  void parse_statement();
  void parse_let();
  void parse_while();
  void parse_for();
  [[nodiscard]] bool at_assert() const;
  void end_statement(NodeKind kind, NodeKind expression);
  void parse_condition();

  // parse_foreign.cpp: syntax of other languages, reported once with the equivalent
  /// `let mut x`: the word is skipped.
  void reject_mut();
  /// `if a = b {`: continues as if it were a comparison.
  void reject_assignment(Mark condition);
  [[nodiscard]] bool at_foreign_statement() const;
  void parse_foreign_statement();
  /// `var x = 1`
  [[nodiscard]] bool at_foreign_let() const;
  void parse_foreign_let();
  /// `f"…"`
  [[nodiscard]] bool at_text_prefix() const;
  void parse_prefixed_text();
  /// `Point { 1, 2 }` after its name, which follows the mark.
  bool reject_unnamed_fields(Mark name);
  [[nodiscard]] bool at_loop() const;
  void parse_loop();
  /// `format!(…)` after its name, which follows the mark.
  bool reject_macro(Mark name);
  /// `retrun 5`: a statement that starts with a word similar to a keyword.
  bool reject_misspelt_keyword(Mark statement);
  /// `Rect { w: f64 }` in an enum: the types are read as those of `Rect(f64)`.
  void reject_named_values(std::string_view name);

  // parse_expressions.cpp
  void parse_expression();
  void parse_expression_without_struct_literals();
  void parse_binary(int precedence_min);
  void parse_range_bounds();
  void parse_prefix();
  void parse_postfix();
  void parse_operand();
  void parse_name_expression();
  void parse_parentheses();
  void parse_list();
  void parse_arguments();
  void parse_if();
  void parse_match();
  [[nodiscard]] bool at_block_before_block() const;
  void parse_select();
  [[nodiscard]] bool at_tools() const;
  void parse_tools();
  void parse_body();
  template <class ParseElement>
  void parse_arms(NodeKind kind, ParseElement parse_element);
  void parse_element_expression();
  bool reject_injection();
  void check_number_end();
  void parse_closure();
  void parse_parallel();
  /// `pursue` is an ordinary name unless it directly precedes a string, a closure or a name.
  [[nodiscard]] bool at_pursue() const {
    if (!at_word("pursue") || token(1).after_newline) return false;
    return peek(1) == TokenKind::StringStart || peek(1) == TokenKind::Pipe || peek(1) == TokenKind::Identifier;
  }
  void parse_pursue();
  void parse_struct_fields();
  /// `secret` before the name of a field, an entry or a parameter, if it is not itself such a name.
  [[nodiscard]] bool at_secret() const {
    return peek(1) == TokenKind::Identifier && peek(2) == TokenKind::Colon && at_word("secret");
  }
  void accept_secret() {
    if (at_secret()) advance();
  }
  [[nodiscard]] bool at_budget() const { return peek(1) == TokenKind::LeftParenthesis && at_word("budget"); }
  [[nodiscard]] bool at_strategy() const { return peek(1) == TokenKind::LeftParenthesis && at_word("strategy"); }
  [[nodiscard]] bool at_contract() const { return at_word("requires") || at_word("ensures") || at_word("check"); }
  [[nodiscard]] bool at_type_arguments() const;
  [[nodiscard]] bool at_struct_fields() const;
  [[nodiscard]] bool at_expression_start() const;
  [[nodiscard]] int binary_precedence() const;

  const source::SourceFile& file_;
  diagnostics::Diagnostics& diagnostics_;
  SyntaxTree tree_;
  std::vector<TokenIndex> significant_;  ///< tokens that are not trivia, `End`, and `end_padding` copies of it
  std::vector<TokenKind> kinds_;         ///< theirs
  std::vector<NodeId> pending_;
  std::size_t position_ = 0;
  std::size_t template_start_ = SIZE_MAX;    ///< of the innermost template: only there can a section start
  NodeKind section_head_ = NodeKind::Error;  ///< of the template that was just read, if it is one
  std::size_t depth_ = 0;
  std::size_t item_column_ = 0;         ///< the column where the line of the current declaration starts
  std::size_t part_column_ = SIZE_MAX;  ///< the column where the current part of an agent's block starts, if any
  bool in_agent_ = false;
  /// What is allowed at the current position.
  struct Rules {
    bool newlines = true;  ///< the end of a line ends a statement
    bool struct_literals = true;
    bool limits = true;  ///< `budget(…)` and `strategy(…)` belong to the call before them, not to the enclosing head
    bool units = false;                 ///< a number can be followed directly by a unit: `30s`
    bool arrow_ends_statement = false;  ///< `->` can follow a statement: it names the next block
    bool type_ranges = true;            ///< `in` after a type starts its range, not the list of an `item`
  } rules_;
  /// What has been reported, and what follows from it.
  struct Recovery {
    std::size_t reported_position = SIZE_MAX;  ///< one report per token, however many rules it violates
    bool is_active = false;                    ///< after a report, until `at_recovery_end` or a separator
    source::Span line;                         ///< of the last error
    std::size_t column = 0;                    ///< where that line starts
    std::size_t element_start = SIZE_MAX;      ///< of the last element of a list that was started: its position
    std::uint32_t statement_start = 0;         ///< of the innermost statement, element or declaration: its offset
    std::vector<source::Span> unreadable;      ///< lines with errors of the lexer or without their brackets
    bool arrow_reported = false;               ///< a `=>` among the statements of the block: all may be arms
    std::size_t errors_before_test = 0;        ///< errors that had been reported when the current test started
  } recovery_;
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

/// Counts the levels of recursion; beyond the limit the parser gives up.
class Parser::Nesting {
 public:
  explicit Nesting(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ > nesting_depth_max) parser_.give_up(nesting_depth_max);
  }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  ~Nesting() { --parser_.depth_; }

 private:
  Parser& parser_;
};

template <class ParseElement>
void Parser::parse_elements(TokenKind close, Separator separator, std::string_view wanted, ParseElement parse_element) {
  if (recovery_.is_active && after_newline()) end_recovery();
  bool has_reported = false;
  while (!at(close) && !at_end()) {
    const std::size_t start = position_;
    const std::uint32_t outer_start = recovery_.statement_start;
    if (after_newline()) recovery_.statement_start = token().offset;
    recovery_.element_start = position_;
    parse_element();
    recovery_.statement_start = outer_start;
    if (at(close)) break;
    if (accept(TokenKind::Comma)) continue;
    const bool separated = after_newline() || tree_.tokens[last_index()].kind == TokenKind::RightBrace;
    if (separator == Separator::CommaOrLineEnd && separated && position_ != start && !at_declaration() &&
        !at_outer_block_part())
      continue;
    // A separator that is missing once is most likely missing everywhere.
    if (has_reported) {
      mark_reported();
    } else {
      report_expected(wanted);
    }
    has_reported = true;
    if (!recover_in_list(close, start)) return;
  }
  if (!accept(close)) report_expected(wanted);
}

}  // namespace tenon::syntax
