#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "syntax/tree.h"

namespace tenon::syntax {

/// A position among the tokens of a file that are not trivia.
class TokenCursor {
 public:
  /// The number of positions after the last token that can be peeked at.
  static constexpr std::size_t end_padding = 4;

  /// The tokens of `tree` must outlive the cursor.
  explicit TokenCursor(const SyntaxTree& tree);

  [[nodiscard]] const source::SourceFile& file() const { return tree_.file(); }
  [[nodiscard]] std::size_t position() const { return position_; }

  // Functions with `ahead` can look beyond the end by at most `end_padding`.
  [[nodiscard]] TokenKind peek(std::size_t ahead = 0) const { return kinds_[position_ + ahead]; }
  [[nodiscard]] const Token& token(std::size_t ahead = 0) const { return tree_.tokens[index(position_ + ahead)]; }
  [[nodiscard]] bool at_word(std::string_view word, std::size_t ahead = 0) const {
    return peek(ahead) == TokenKind::Identifier && tree_.text(index(position_ + ahead)) == word;
  }
  [[nodiscard]] bool at(TokenKind kind) const { return peek() == kind; }
  [[nodiscard]] bool at_end() const { return at(TokenKind::End) || at(TokenKind::TemplateEnd); }
  /// Whether this token is the first of its line.
  [[nodiscard]] bool after_newline() const { return token().after_newline; }
  /// The kind of the token at any position up to the end.
  [[nodiscard]] TokenKind kind_at(std::size_t position) const { return kinds_[position]; }

  [[nodiscard]] TokenIndex index(std::size_t position) const { return significant_[position]; }
  [[nodiscard]] TokenIndex here() const { return index(position_); }
  [[nodiscard]] std::string_view text_here() const { return tree_.text(here()); }
  [[nodiscard]] source::Span span_here() const { return tree_.span(here()); }
  /// The bytes between the start of the line and this token; at most 1000.
  [[nodiscard]] std::size_t column() const;

  /// The token before this one; at the start, this one.
  [[nodiscard]] TokenIndex last_index() const { return index(position_ > 0 ? position_ - 1 : 0); }
  [[nodiscard]] const Token& last_token() const { return tree_.tokens[last_index()]; }
  [[nodiscard]] std::string_view last_text() const { return tree_.text(last_index()); }

 protected:
  void move_to_next() { ++position_; }
  void move_to_end() { position_ = kinds_.size() - 1 - end_padding; }

 private:
  const SyntaxTree& tree_;
  std::vector<TokenIndex> significant_;  ///< tokens that are not trivia, `End`, and `end_padding` copies of it
  std::vector<TokenKind> kinds_;         ///< theirs
  std::size_t position_ = 0;
};

}  // namespace tenon::syntax
