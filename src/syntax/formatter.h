#pragma once

#include <string>
#include <vector>

#include "syntax/layout.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// Walks the tree and hands its tokens, in their order, to a Layout. Each token is taken exactly once, so that the tree
/// only decides about what stands between them. Comments belong to the token behind them. Internal to this folder;
/// others call `format`.
class Formatter {
 public:
  explicit Formatter(const SyntaxTree& tree);
  std::string run();

 private:
  using Blank = Layout::Blank;

  /// What is owed before the next token.
  enum class Gap : std::uint8_t {
    Nothing,
    Blank,      ///< a blank that never ends a line
    SoftLine,   ///< Layout::Line::Soft
    SpaceLine,  ///< Layout::Line::Space
    HardLine,   ///< Layout::Line::Hard
  };
  enum class CommaStyle : std::uint8_t {
    Plain,            ///< a trailing comma exactly where the list is broken
    SingleAsWritten,  ///< the comma behind a single element means something: `(a,)`
  };
  /// What `{ … }` does where all of it would have room on one line.
  enum class BraceLayout : std::uint8_t {
    Fit,     ///< stays on it
    Author,  ///< stays on it if the author put it there
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
  /// Whether two tokens without a blank between them would be read as others.
  [[nodiscard]] bool would_merge(TokenKind next) const;
  [[nodiscard]] TokenIndex significant_from(TokenIndex token) const;

  // formatter.cpp: lists and blocks
  void list(NodeId first, CommaStyle commas = CommaStyle::Plain);
  void brace_list(NodeId first, BraceLayout layout);
  /// Whether the last element may break without the list around it.
  [[nodiscard]] bool elements(NodeId first, Gap between, CommaStyle commas);
  void block(NodeId node);
  /// The block within a group that is there already.
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
  /// Whether an empty line stands between two neighbours, as one of them is a block.
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
  TokenIndex next_ = 0;    ///< the next token that is no trivia
  TokenIndex trivia_ = 0;  ///< the first trivia not yet looked at
  Gap gap_ = Gap::Nothing;
  Blank blank_ = Blank::No;    ///< whether a blank line stands where the gap is
  bool keeps_blank_ = false;   ///< whether the gap is one between statements or elements
  bool after_opening_ = true;  ///< at the file's beginning or right behind a bracket: no blank line here
  bool written_ = false;       ///< something stands in the file
  TokenKind last_ = TokenKind::End;
  std::string_view last_text_;
  bool last_list_hugs_ = false;  ///< whether the last list may leave breaking to a group in its last element
  std::size_t last_braces_ = 0;  ///< the group of the last `{ … }` that ended
  bool last_is_item_ = false;    ///< the last token stands behind a `.`
};

}  // namespace tenon::syntax
