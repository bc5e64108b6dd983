#include "syntax/token_writer.h"

#include <algorithm>

#include "syntax/format.h"

namespace tenon::syntax {
namespace {

bool opens_group(TokenKind kind) {
  return kind == TokenKind::LeftBrace || kind == TokenKind::LeftParenthesis || kind == TokenKind::LeftBracket;
}

bool is_line_comment(TokenKind kind) {
  return kind == TokenKind::LineComment || kind == TokenKind::DocComment;
}

std::string_view without_trailing_blanks(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

TokenWriter::TokenWriter(const SyntaxTree& tree) : tree_(tree), next_(significant_from(0)) {}

std::string TokenWriter::write() {
  comments();
  if (!written_) return {};
  const std::string_view text = tree_.file().text();
  const std::size_t line_end = text.find('\n');
  const bool carriage_returns = line_end != std::string_view::npos && line_end > 0 && text[line_end - 1] == '\r';
  const std::string_view newline = carriage_returns ? "\r\n" : "\n";
  return layout_.write(newline, line_width_max) + std::string(newline);
}

TokenIndex TokenWriter::significant_from(TokenIndex token) const {
  while (token + 1 < tree_.tokens.size() && is_trivia(tree_.tokens[token].kind)) ++token;
  return token;
}

void TokenWriter::take() {
  comments();
  if (gap_ == Gap::Nothing && would_merge(peek())) gap_ = Gap::Blank;
  flush();
  last_is_item_ = last_ == TokenKind::Dot;
  last_ = peek();
  last_text_ = tree_.text(next_);
  layout_.text(last_text_);
  written_ = true;
  after_opening_ = opens_group(last_);
  trivia_ = next_ + 1;
  next_ = significant_from(trivia_);
}

bool TokenWriter::take_if(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

void TokenWriter::drop_comma() {
  comments();
  trivia_ = next_ + 1;
  next_ = significant_from(trivia_);
}

void TokenWriter::take_verbatim(NodeId id) {
  comments();
  flush();
  const Node& node = tree_[id];
  last_ = tree_.tokens[node.end_token - 1].kind;
  last_text_ = tree_.text(node.end_token - 1);
  layout_.text(tree_.text(id));
  written_ = true;
  after_opening_ = false;
  trivia_ = node.end_token;
  next_ = significant_from(trivia_);
}

void TokenWriter::gap(Gap wanted) {
  const bool blank_or_line =
      (gap_ == Gap::Blank && wanted == Gap::SoftLine) || (gap_ == Gap::SoftLine && wanted == Gap::Blank);
  gap_ = blank_or_line ? Gap::SpaceLine : std::max(gap_, wanted);
}

void TokenWriter::separate(Gap wanted) {
  gap(wanted);
  keeps_blank_ = true;
}

void TokenWriter::flush() {
  const Blank blank = keeps_blank_ && !after_opening_ ? blank_ : Blank::No;
  switch (gap_) {
    case Gap::Nothing:
      break;
    case Gap::Blank:
      layout_.text(" ");
      break;
    case Gap::SoftLine:
      layout_.line(Layout::Line::Soft, blank);
      break;
    case Gap::SpaceLine:
      layout_.line(Layout::Line::Space, blank);
      break;
    case Gap::HardLine:
      layout_.line(Layout::Line::Hard, blank);
      break;
  }
  gap_ = Gap::Nothing;
  blank_ = Blank::No;
  keeps_blank_ = false;
}

void TokenWriter::comments() {
  std::size_t newlines = 0;
  TokenKind last_comment = TokenKind::End;
  for (; trivia_ < next_; ++trivia_) {
    const TokenKind kind = tree_.tokens[trivia_].kind;
    if (kind == TokenKind::Newline) {
      ++newlines;
    } else if (is_line_comment(kind) || kind == TokenKind::BlockComment) {
      comment(trivia_, newlines);
      last_comment = kind;
      newlines = 0;
    }
  }
  if (newlines >= 2) blank_ = Blank::Yes;
  if (last_comment == TokenKind::End) return;
  if (is_line_comment(last_comment) || newlines > 0) {
    separate(Gap::HardLine);
  } else {
    gap(Gap::Blank);
  }
}

void TokenWriter::comment(TokenIndex token, std::size_t newlines_before) {
  if (newlines_before > 0 && written_) {
    if (newlines_before >= 2) blank_ = Blank::Yes;
    separate(Gap::HardLine);
    flush();
  } else if (written_) {
    layout_.text(" ");
  }
  layout_.text(without_trailing_blanks(tree_.text(token)));
  written_ = true;
  after_opening_ = false;
}

std::size_t TokenWriter::begin_group() {
  comments();
  if (gap_ == Gap::Nothing && would_merge(peek())) gap_ = Gap::Blank;
  flush();
  return layout_.begin_group();
}

bool TokenWriter::would_merge(TokenKind next) const {
  switch (next) {
    case TokenKind::Dot: {
      const bool before_digits = tree_.tokens[significant_from(next_ + 1)].kind == TokenKind::Integer;
      return (last_ == TokenKind::Integer && before_digits && !last_is_item_) || last_text_.ends_with('.') ||
             last_ == TokenKind::Question;
    }
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual:
      return last_text_.ends_with('.');
    case TokenKind::Pipe:
      return last_ == TokenKind::Pipe;
    case TokenKind::Question:
      return last_ == TokenKind::Question;
    default:
      return false;
  }
}

bool TokenWriter::author_broke_after_brace(TokenIndex brace) const {
  for (TokenIndex at = brace + 1; is_trivia(tree_.tokens[at].kind); ++at) {
    if (tree_.tokens[at].kind == TokenKind::Newline) return true;
  }
  return false;
}

}  // namespace tenon::syntax
