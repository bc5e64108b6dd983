#include "syntax/formatter.h"

#include <algorithm>

#include "base/ensure.h"
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

Formatter::Formatter(const SyntaxTree& tree) : tree_(tree), next_(significant_from(0)) {}

std::string Formatter::run() {
  file(tree_.root);
  comments();
  if (!written_) return {};
  const std::string_view text = tree_.file().text();
  const std::size_t line_end = text.find('\n');
  const bool carriage_returns = line_end != std::string_view::npos && line_end > 0 && text[line_end - 1] == '\r';
  const std::string_view newline = carriage_returns ? "\r\n" : "\n";
  return layout_.write(newline, line_width_max) + std::string(newline);
}

TokenIndex Formatter::significant_from(TokenIndex token) const {
  while (token + 1 < tree_.tokens.size() && is_trivia(tree_.tokens[token].kind)) ++token;
  return token;
}

void Formatter::take() {
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

bool Formatter::take_if(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

/// Skips a trailing comma; the list decides whether one is written.
void Formatter::drop_comma() {
  comments();
  trivia_ = next_ + 1;
  next_ = significant_from(trivia_);
}

/// Writes the whole node unchanged, except for what precedes it.
void Formatter::take_verbatim(NodeId id) {
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

void Formatter::gap(Gap wanted) {
  const bool blank_or_line =
      (gap_ == Gap::Blank && wanted == Gap::SoftLine) || (gap_ == Gap::SoftLine && wanted == Gap::Blank);
  gap_ = blank_or_line ? Gap::SpaceLine : std::max(gap_, wanted);
}

void Formatter::separate(Gap wanted) {
  gap(wanted);
  keeps_blank_ = true;
}

void Formatter::flush() {
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

/// Writes the comments before the next token.
void Formatter::comments() {
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

void Formatter::comment(TokenIndex token, std::size_t newlines_before) {
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

std::size_t Formatter::begin_group() {
  comments();
  if (gap_ == Gap::Nothing && would_merge(peek())) gap_ = Gap::Blank;
  flush();
  return layout_.begin_group();
}

bool Formatter::would_merge(TokenKind next) const {
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

bool Formatter::author_broke_after_brace(TokenIndex brace) const {
  for (TokenIndex at = brace + 1; is_trivia(tree_.tokens[at].kind); ++at) {
    if (tree_.tokens[at].kind == TokenKind::Newline) return true;
  }
  return false;
}

/// Whether elements are separated by commas, and not only by line ends.
bool Formatter::commas_between(NodeId first) const {
  if (!first.exists()) return true;
  for (NodeId left = first, right = tree_.next(first); right.exists(); left = right, right = tree_.next(right)) {
    if (tree_.tokens[significant_from(tree_[left].end_token)].kind != TokenKind::Comma) return false;
  }
  return true;
}

/// Whether an argument can start on the line of its call although it continues on further lines.
bool Formatter::is_huggable(NodeId id) const {
  switch (tree_.kind(id)) {
    case NodeKind::Block:
    case NodeKind::MatchExpression:
    case NodeKind::SelectExpression:
    case NodeKind::ParallelExpression:
    case NodeKind::ToolsExpression:
      return true;
    case NodeKind::ClosureExpression: {
      NodeId body = tree_.first(id);
      while (tree_.next(body).exists()) body = tree_.next(body);
      return is_huggable(body);
    }
    case NodeKind::CallExpression:
    case NodeKind::MethodCallExpression: {
      const NodeId arguments = tree_.find_child(id, NodeKind::Arguments);
      const NodeId only = tree_.first(arguments);
      return only.exists() && !tree_.next(only).exists() && is_huggable(only);
    }
    default:
      return false;
  }
}

bool Formatter::elements(NodeId first, Gap between, CommaStyle comma_style) {
  const bool commas = commas_between(first);
  const std::size_t hard_before = layout_.hard_count();
  bool huggable = false;
  bool trailing = false;
  std::size_t count = 0;
  bool ends_with_brace = false;
  for (NodeId element = first; at(TokenKind::DotDot) || element.exists(); ++count) {
    comments();
    const bool hard = layout_.hard_count() != hard_before || gap_ == Gap::HardLine;
    const bool is_node = element.exists() && next_ == tree_[element].first_token;
    if (is_node) {
      node(element);
    } else {
      take();  // the `..` of a pattern
    }
    huggable = is_node && !hard && is_huggable(element);
    ends_with_brace = last_ == TokenKind::RightBrace;
    if (is_node) element = tree_.next(element);
    trailing = at(TokenKind::Comma);
    const TokenIndex behind = trailing ? significant_from(next_ + 1) : next_;
    const bool more = element.exists() || tree_.tokens[behind].kind == TokenKind::DotDot;
    if (more) {
      if (trailing) take();
      separate(between);
    } else if (trailing) {
      drop_comma();
    }
  }
  const std::size_t hard_after = layout_.hard_count();
  const bool kept = (comma_style == CommaStyle::SingleAsWritten && count == 1) || !commas ||
                    (between != Gap::SpaceLine && ends_with_brace);
  if (!kept || trailing) {
    if (gap_ == Gap::HardLine) flush();
    if (kept) {
      layout_.text(",");
    } else {
      layout_.text_if_broken(",");
    }
  }
  comments();
  return huggable && layout_.hard_count() == hard_after && gap_ != Gap::HardLine;
}

/// The end of the list whose opening bracket precedes `edge`.
void Formatter::close_bracket(Gap edge) {
  comments();
  layout_.dedent();
  gap(edge);
  blank_ = Blank::No;
  take();
}

/// `( … )`, `[ … ]` or `< … >` around the nodes from `first` on.
void Formatter::list(NodeId first, CommaStyle comma_style) {
  begin_group();
  take();
  layout_.indent();
  const bool empty = !first.exists();
  bool hugs = false;
  if (!empty) {
    gap(Gap::SoftLine);
    hugs = elements(first, Gap::SpaceLine, comma_style);
  }
  close_bracket(empty ? Gap::Nothing : Gap::SoftLine);
  if (hugs) {
    layout_.end_hugging_group(last_braces_);
  } else {
    end_group();
  }
  last_list_hugs_ = hugs;
}

void Formatter::brace_list(NodeId first, BraceLayout layout) {
  const std::size_t group = begin_group();
  const bool expanded = (layout == BraceLayout::Author && author_broke_after_brace(next_)) || !commas_between(first);
  const bool empty = !first.exists() && tree_.tokens[significant_from(next_ + 1)].kind == TokenKind::RightBrace;
  const Gap edge = empty ? Gap::Nothing : expanded ? Gap::HardLine : Gap::SpaceLine;
  take();
  layout_.indent();
  if (!empty) {
    gap(edge);
    static_cast<void>(elements(first, layout == BraceLayout::Fit ? Gap::SpaceLine : edge, CommaStyle::Plain));
  }
  close_bracket(edge);
  end_group();
  last_braces_ = group;
}

bool Formatter::fits_one_line(NodeId id) const {
  const NodeId only = tree_.first(id);
  const Node& node = tree_[id];
  if (!only.exists()) return significant_from(node.first_token + 1) + 1 == node.end_token;
  if (tree_.next(only).exists() || tree_.kind(only) == NodeKind::ScriptSection) return false;
  const bool alone = significant_from(node.first_token + 1) == tree_[only].first_token &&
                     significant_from(tree_[only].end_token) + 1 == node.end_token;
  return alone && !author_broke_after_brace(node.first_token);
}

void Formatter::block(NodeId id) {
  const std::size_t group = begin_group();
  block_inside(id, fits_one_line(id) ? Gap::SpaceLine : Gap::HardLine);
  end_group();
  last_braces_ = group;
}

void Formatter::block_inside(NodeId id, Gap edge) {
  const TokenIndex closing = tree_[id].end_token - 1;
  take();
  layout_.indent();
  const bool empty = next_ == closing;
  if (!empty) {
    gap(edge);
    statements(tree_.first(id), closing);
  }
  close_bracket(empty ? Gap::Nothing : edge);
}

/// Statements, items or parts of a block from `child` up to the token `end`, with the `;` and `,` that do not belong to
/// any of them.
void Formatter::statements(NodeId child, TokenIndex end) {
  NodeId before;
  while (next_ < end) {
    if (child.exists() && tree_[child].first_token <= next_) {
      node(child);
      before = child;
      child = tree_.next(child);
    } else if (at(TokenKind::Comma) && significant_from(next_ + 1) == end) {
      drop_comma();
    } else {
      take();
    }
    if (next_ >= end || !child.exists() || tree_[child].first_token > next_) continue;
    separate(Gap::HardLine);
    if (before.exists() && stand_apart(before, child)) blank_ = Blank::Yes;
  }
}

}  // namespace tenon::syntax
