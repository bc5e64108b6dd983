#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "syntax/layout.h"
#include "syntax/tree.h"

namespace tenon::syntax {

/// Passes the tokens of a tree, in order and each exactly once, to a Layout, with the comments and gaps between them.
/// Comments belong to the token that follows. The caller (`Formatter`) determines the gaps and groups. Internal to this
/// folder.
class TokenWriter {
 protected:
  using Blank = Layout::Blank;

  /// What must be written before the next token.
  enum class Gap : std::uint8_t {
    Nothing,
    Blank,      ///< a space that never ends a line
    SoftLine,   ///< Layout::Line::Soft
    SpaceLine,  ///< Layout::Line::Space
    HardLine,   ///< Layout::Line::Hard
  };

  explicit TokenWriter(const SyntaxTree& tree);
  /// The text of everything that was taken, and of the comments after it.
  [[nodiscard]] std::string write();

  /// The next token that is not trivia.
  [[nodiscard]] TokenIndex next() const { return next_; }
  [[nodiscard]] TokenKind peek() const { return tree_.tokens[next_].kind; }
  [[nodiscard]] bool at(TokenKind kind) const { return peek() == kind; }
  [[nodiscard]] bool within(NodeId node) const { return next_ < tree_[node].end_token; }
  /// The kind of the token that was written last.
  [[nodiscard]] TokenKind last() const { return last_; }
  /// The first token from there on that is not trivia.
  [[nodiscard]] TokenIndex significant_from(TokenIndex token) const;
  [[nodiscard]] bool author_broke_after_brace(TokenIndex brace) const;

  void take();
  /// The next token and a space.
  void take_word() {
    take();
    space();
  }
  /// The next token between spaces.
  void take_spaced() {
    space();
    take_word();
  }
  bool take_if(TokenKind kind);
  /// Skips a trailing comma; the list determines whether one is written.
  void drop_comma();
  /// Writes the whole node unchanged, except for what precedes it.
  void take_verbatim(NodeId node);
  /// Writes the comments before the next token.
  void comments();

  void gap(Gap wanted);
  /// A gap between two statements or elements, where one blank line is kept.
  void separate(Gap wanted);
  void space() { gap(Gap::Blank); }
  /// Whether the next token starts a new line in any case.
  [[nodiscard]] bool line_ends() const { return gap_ == Gap::HardLine; }
  /// Whether the gap contains a blank line.
  void set_blank(Blank blank) { blank_ = blank; }
  /// Passes the gap to the layout.
  void flush();

  [[nodiscard]] Layout& layout() { return layout_; }
  /// Starts before the next token and after its comments.
  std::size_t begin_group();
  void end_group() { layout_.end_group(); }

 private:
  void comment(TokenIndex token, std::size_t newlines_before);
  /// Whether two tokens without a space between them would be read as other tokens.
  [[nodiscard]] bool would_merge(TokenKind next) const;

  const SyntaxTree& tree_;
  Layout layout_;
  TokenIndex next_ = 0;
  TokenIndex trivia_ = 0;  ///< the first trivia that has not been handled
  Gap gap_ = Gap::Nothing;
  Blank blank_ = Blank::No;
  bool keeps_blank_ = false;   ///< whether the gap is between statements or elements
  bool after_opening_ = true;  ///< at the start of the file or directly after an opening bracket: no blank line here
  bool written_ = false;       ///< something has been written
  TokenKind last_ = TokenKind::End;
  std::string_view last_text_;
  bool last_is_item_ = false;  ///< the last token follows a `.`
};

}  // namespace tenon::syntax
