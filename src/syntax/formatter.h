#pragma once

#include <string>
#include <vector>

#include "syntax/layout.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// Traverses the tree and passes its tokens, in order, to a Layout. Each token is passed exactly once, so the tree only
/// determines what is between them. Comments belong to the token that follows. Internal to this folder; others call
/// `format`.
class Formatter {
 public:
  explicit Formatter(const SyntaxTree& tree);
  std::string run();

 private:
  using Blank = Layout::Blank;

  /// What must be written before the next token.
  enum class Gap : std::uint8_t {
    Nothing,
    Blank,      ///< a space that never ends a line
    SoftLine,   ///< Layout::Line::Soft
    SpaceLine,  ///< Layout::Line::Space
    HardLine,   ///< Layout::Line::Hard
  };
  enum class CommaStyle : std::uint8_t {
    Plain,            ///< a trailing comma if the list is broken
    SingleAsWritten,  ///< the comma after a single element is meaningful: `(a,)`
  };
  /// What `{ … }` does if it would fit on one line.
  enum class BraceLayout : std::uint8_t {
    Fit,     ///< stays on one line
    Author,  ///< stays on one line if the author wrote it there
  };

  // formatter.cpp: tokens and comments
  [[nodiscard]] TokenKind peek() const { return tree_.tokens[next_].kind; }
  [[nodiscard]] bool at(TokenKind kind) const { return peek() == kind; }
  [[nodiscard]] bool within(NodeId node) const { return next_ < tree_[node].end_token; }
  void take();
  bool take_if(TokenKind kind);
  void close_bracket(Gap edge);
  void drop_comma();
  void take_verbatim(NodeId node);
  void gap(Gap wanted);
  /// A gap between two statements or elements, where one blank line is kept.
  void separate(Gap wanted);
  void space() { gap(Gap::Blank); }
  void comments();
  void comment(TokenIndex token, std::size_t newlines_before);
  void flush();
  std::size_t begin_group();
  void end_group() { layout_.end_group(); }
  /// Whether two tokens without a space between them would be read as other tokens.
  [[nodiscard]] bool would_merge(TokenKind next) const;
  [[nodiscard]] TokenIndex significant_from(TokenIndex token) const;

  // formatter.cpp: lists and blocks
  void list(NodeId first, CommaStyle commas = CommaStyle::Plain);
  void brace_list(NodeId first, BraceLayout layout);
  /// Whether the last element can be broken without breaking the list.
  [[nodiscard]] bool elements(NodeId first, Gap between, CommaStyle commas);
  void block(NodeId node);
  /// The block, inside an existing group.
  void block_inside(NodeId node, Gap edge);
  void statements(NodeId first, TokenIndex end);
  [[nodiscard]] bool fits_one_line(NodeId block) const;
  [[nodiscard]] bool author_broke_after_brace(TokenIndex brace) const;
  [[nodiscard]] bool commas_between(NodeId first) const;
  [[nodiscard]] bool is_huggable(NodeId node) const;

  // format_blocks.cpp
  void block_part(NodeId id);
  void head_of_block_part(NodeId id);
  void block_statements(NodeId id, NodeId body);
  void words(NodeId id);
  /// Whether an empty line separates two neighbors, because one of them is a block.
  [[nodiscard]] bool stand_apart(NodeId left, NodeId right) const;

  // format_nodes.cpp
  void node(NodeId id);
  void secret_word(NodeId id);
  void item(NodeId id);
  void type_or_pattern(NodeId id);
  void statement(NodeId id);
  void expression(NodeId id);
  void file(NodeId id);
  void function(NodeId id);
  void use(NodeId id);
  void names_until(TokenIndex end);
  void binary(NodeId id);
  void postfix_chain(NodeId id);
  void if_expression(NodeId id);
  void union_type(NodeId id);

  const SyntaxTree& tree_;
  Layout layout_;
  TokenIndex next_ = 0;    ///< the next token that is not trivia
  TokenIndex trivia_ = 0;  ///< the first trivia that has not been handled
  Gap gap_ = Gap::Nothing;
  Blank blank_ = Blank::No;    ///< whether the gap contains a blank line
  bool keeps_blank_ = false;   ///< whether the gap is between statements or elements
  bool after_opening_ = true;  ///< at the start of the file or directly after an opening bracket: no blank line here
  bool written_ = false;       ///< something has been written
  TokenKind last_ = TokenKind::End;
  std::string_view last_text_;
  bool last_list_hugs_ = false;  ///< whether the last list can leave the break to a group in its last element
  std::size_t last_braces_ = 0;  ///< the group of the last `{ … }` that ended
  bool last_is_item_ = false;    ///< the last token follows a `.`
};

}  // namespace tenon::syntax
