#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "syntax/token_cursor.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// The start of a node.
struct Mark {
  std::size_t pending = 0;  ///< the number of finished nodes before it
  std::size_t token = 0;    ///< position among the significant tokens
};

/// What the grammar allows at the current position.
struct Rules {
  bool newlines = true;  ///< the end of a line ends a statement
  bool struct_literals = true;
  bool limits = true;  ///< `budget(…)` and `strategy(…)` belong to the call before them, not to the enclosing head
  bool units = false;  ///< a number can be followed directly by a unit: `30s`
  bool arrow_ends_statement = false;  ///< `->` can follow a statement: it names the next block
  bool type_ranges = true;            ///< `in` after a type starts its range, not the list of an `item`
};

/// What encloses the current position.
struct Enclosing {
  std::size_t item_column = 0;         ///< the column where the line of the current declaration starts
  std::size_t part_column = SIZE_MAX;  ///< the column where the current part of an agent's block starts, if any
  bool in_agent = false;
  std::size_t template_start = SIZE_MAX;    ///< of the innermost template: only there can a section start
  NodeKind section_head = NodeKind::Error;  ///< of the template that was just read, if it is one
  std::uint32_t statement_start = 0;        ///< of the innermost statement, element or declaration: its offset
  bool arrow_reported = false;              ///< a `=>` among the statements of the block: all may be arms
  std::size_t errors_before_test = 0;       ///< errors that had been reported when the current test started
};

/// What the functions of the grammar (`parse_*.h`) have in common, which take it as `p`: a cursor over the tokens, the
/// nodes that are finished, and what has been reported. Nodes are built bottom-up: `open` marks a start, `close` makes
/// a node of everything finished since. Internal to this folder; others call `parse`.
class Parser : public TokenCursor {
 public:
  /// Adds nodes and damage to `tree`, which has its tokens. Both arguments must outlive the parser.
  Parser(SyntaxTree& tree, diagnostics::Diagnostics& diagnostics);

  [[nodiscard]] const SyntaxTree& tree() const { return tree_; }
  [[nodiscard]] diagnostics::Diagnostics& diagnostics() { return diagnostics_; }
  [[nodiscard]] Rules& rules() { return rules_; }
  [[nodiscard]] const Rules& rules() const { return rules_; }
  [[nodiscard]] Enclosing& enclosing() { return enclosing_; }
  [[nodiscard]] const Enclosing& enclosing() const { return enclosing_; }

  // Tokens
  [[nodiscard]] bool at_line_end() const { return rules_.newlines && after_newline(); }
  /// Moves to the next token, unless this is the last; returns this one.
  TokenIndex advance();
  bool accept(TokenKind kind) {
    if (!at(kind)) return false;
    advance();
    return true;
  }
  /// Accepts the token, or reports that it is expected.
  bool expect(TokenKind kind);
  bool expect(TokenKind kind, std::string_view wanted);
  /// The same for the bracket that closes `opening`.
  bool expect_closing(TokenKind kind, std::string_view wanted, TokenIndex opening);
  /// Returns the name; if there is none, which is reported, the token here.
  TokenIndex expect_name(std::string_view wanted);

  // Nodes
  [[nodiscard]] Mark open() const { return {pending_.size(), position()}; }
  NodeId close(Mark mark, NodeKind kind);
  NodeId close(Mark mark, NodeKind kind, TokenIndex main_token);
  /// Makes a chain of nodes of everything finished since the marks: each node is the last child of the one before it.
  void close_links(std::span<const Mark> links, NodeKind kind);
  /// An `Error` node if there is no token since the mark.
  NodeId close_or_error(Mark mark, NodeKind kind, TokenIndex main_token);
  NodeId add_empty(NodeKind kind);
  /// The last node that was finished since the mark; it may be absent.
  [[nodiscard]] NodeId last_since(Mark mark) const {
    return pending_.size() > mark.pending ? pending_.back() : NodeId{};
  }
  /// Its kind; `Error` if it is absent.
  [[nodiscard]] NodeKind last_kind_since(Mark mark) const;
  [[nodiscard]] bool has_advanced(Mark mark) const { return position() != mark.token; }

  // Reports
  /// Reports what was found here and what is expected, unless it is a consequence of an earlier report. What is missing
  /// at the end of a line is reported there. Returns null if nothing was reported.
  diagnostics::Diagnostic* report_expected(std::string_view wanted);
  /// The same for something that is not allowed here, wherever its line begins.
  diagnostics::Diagnostic* report_unexpected(std::string_view wanted);
  /// Adds a hint if the word here, or directly before, is an operator in other languages.
  void hint_operator(diagnostics::Diagnostic& report) const;
  /// The token here, as messages name it.
  [[nodiscard]] std::string describe_here() const;
  [[nodiscard]] bool follows_from_other_error() const;
  /// Records that an error was reported at this token, so that its consequences are not.
  void mark_reported() { mark_reported(ErrorPlace::Here); }
  [[nodiscard]] std::size_t reported_position() const { return recovery_.reported_position; }

  // Recovery: from a report up to the end of the damage, nothing else is reported.
  [[nodiscard]] bool is_recovering() const { return recovery_.is_active; }
  void set_recovering(bool is_recovering) { recovery_.is_active = is_recovering; }
  void end_recovery();
  /// An element of a list starts here: what is missing before it is reported here, and not at the end of the last line.
  void start_element() { recovery_.element_start = position(); }

  /// Counts the levels of recursion; beyond the limit the parser gives up. See `Nesting`.
  void enter_level() {
    if (++depth_ > nesting_depth_max) give_up(nesting_depth_max);
  }
  void leave_level() { --depth_; }
  /// Whether the rest of the file is skipped because it is nested too deeply.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  /// Where something is wrong or missing: at this token, or at the end of the line before it.
  enum class ErrorPlace : std::uint8_t { Here, EndOfLastLine };
  struct Recovery {
    std::size_t reported_position = SIZE_MAX;  ///< one report per token, however many rules it violates
    bool is_active = false;                    ///< after a report, until `at_recovery_end` or a separator
    source::Span line;                         ///< of the last error
    std::size_t column = 0;                    ///< where that line starts
    std::size_t element_start = SIZE_MAX;      ///< of the last element of a list that was started: its position
    std::vector<source::Span> unreadable;      ///< lines with errors of the lexer or without their brackets
  };

  void mark_reported(ErrorPlace place);
  /// Whether a line starts here that is indented no deeper than the line of the last error, which ends the damage.
  [[nodiscard]] bool at_recovery_end() const { return after_newline() && column() <= recovery_.column; }
  void give_up(std::size_t limit);
  /// The same because of the height of a finished node.
  void give_up_at(const Node& node);

  SyntaxTree& tree_;
  diagnostics::Diagnostics& diagnostics_;
  std::vector<NodeId> pending_;  ///< finished nodes without a parent
  std::size_t depth_ = 0;
  std::size_t links_start_ = SIZE_MAX;  ///< of the chain whose links are being closed
  Rules rules_;
  Enclosing enclosing_;
  Recovery recovery_;
  bool gave_up_ = false;
};

/// Sets a rule, or what encloses the position, until the end of the scope.
template <class Value>
class Setting {
 public:
  Setting(Value& place, Value value) : place_(place), before_(place) { place_ = value; }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { place_ = before_; }

 private:
  Value& place_;
  Value before_;
};

/// A level of recursion, until the end of the scope.
class Nesting {
 public:
  explicit Nesting(Parser& p) : p_(p) { p_.enter_level(); }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  ~Nesting() { p_.leave_level(); }

 private:
  Parser& p_;
};

}  // namespace tenon::syntax
