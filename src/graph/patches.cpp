#include "graph/patches.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "syntax/lexer.h"

namespace tenon::graph {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::TokenIndex;
using syntax::TokenKind;

constexpr std::string_view indentation_step = "    ";

/// The lines of a text with `added` before each but the first, and without `dropped`. Lines within strings and
/// comments, and empty lines, are unchanged.
std::string shifted(std::string_view text, std::string_view dropped, std::string_view added, std::string_view newline) {
  const source::SourceFile file({0}, "", std::string(text));
  diagnostics::Diagnostics ignored;
  std::string out;
  bool at_line_start = false;
  for (const syntax::Token& token : syntax::lex(file, ignored)) {
    std::string_view part = text.substr(token.offset, token.length);
    if (token.kind == TokenKind::Newline) {
      if (out.ends_with('\r')) out.pop_back();  // white space for the lexer
      out += newline;
      at_line_start = true;
      continue;
    }
    if (at_line_start && token.kind == TokenKind::Whitespace) {
      const std::size_t end = token.offset + token.length;
      const bool blank = end < text.size() && (text[end] == '\n' || text[end] == '\r');
      if (part.starts_with(dropped)) part.remove_prefix(dropped.size());
      if (!blank) out += added;
    } else if (at_line_start && token.kind != TokenKind::End) {
      out += added;
    }
    out += part;
    at_line_start = false;
  }
  return out;
}

}  // namespace

Braces braces_of(const syntax::SyntaxTree& tree, NodeId node) {
  TokenIndex token = tree[node].main_token;
  if (tree.kind(node) == NodeKind::OnClause) token = tree[tree.first(node)].end_token - 1;
  do token = tree.next_significant(token);
  while (tree.tokens[token].kind != TokenKind::LeftBrace);
  return {token, tree[node].end_token - 1};
}

namespace {

/// The offsets of what is between the braces, without white space at both ends.
std::pair<std::size_t, std::size_t> find_inside(const syntax::SyntaxTree& tree, Braces braces) {
  const std::string_view text = tree.file().text();
  std::size_t begin = tree.tokens[braces.opening].offset + 1;
  std::size_t end = tree.tokens[braces.closing].offset;
  const auto is_blank = [&](std::size_t at) {
    return std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos;
  };
  while (begin < end && is_blank(begin)) ++begin;
  while (end > begin && is_blank(end - 1)) --end;
  return {begin, end};
}

/// Whether the node has braces, which damaged text can lack.
bool has_braces(const syntax::SyntaxTree& tree, NodeId node) {
  if (tree.tokens[tree[node].end_token - 1].kind != TokenKind::RightBrace) return false;
  for (TokenIndex at = tree[node].main_token; at + 1 < tree[node].end_token; ++at) {
    if (tree.tokens[at].kind == TokenKind::LeftBrace) return true;
  }
  return false;
}

}  // namespace

std::string inside_of(const syntax::SyntaxTree& tree, NodeId node) {
  if (!has_braces(tree, node)) return "";
  const auto [begin, end] = find_inside(tree, braces_of(tree, node));
  const std::string_view text = tree.file().text();
  const std::string_view inside = text.substr(begin, end - begin);
  if (inside.find('\n') == std::string_view::npos) return std::string(inside);
  const std::string_view line = text.substr(0, begin).substr(text.substr(0, begin).rfind('\n') + 1);
  return unindented_lines(inside, line.substr(0, line.find_first_not_of(" \t")));
}

std::string documentation_lines(std::string_view words) {
  std::string out;
  while (!words.empty()) {
    const std::size_t end = words.find('\n');
    std::string_view line = words.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out += line.empty() ? "///\n" : "/// " + std::string(line) + '\n';
    words = end == std::string_view::npos ? std::string_view() : words.substr(end + 1);
  }
  return out;
}

Patches::Patches(const syntax::SyntaxTree& tree)
    : tree_(tree), text_(tree.file().text()), newline_(text_.find("\r\n") != std::string_view::npos ? "\r\n" : "\n") {}

std::size_t Patches::line_begin(std::size_t offset) const {
  const std::size_t newline = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

std::size_t Patches::skip_blanks(std::size_t offset) const {
  while (offset < text_.size() && (text_[offset] == ' ' || text_[offset] == '\t')) ++offset;
  return offset;
}

std::size_t Patches::skip_newline(std::size_t offset) const {
  const std::string_view rest = text_.substr(offset);
  return rest.starts_with("\r\n") ? offset + 2 : rest.starts_with('\n') ? offset + 1 : offset;
}

bool Patches::is_empty_line(std::size_t begin) const {
  return begin < text_.size() && at_newline(skip_blanks(begin));
}

std::string Patches::indentation_at(std::size_t offset) const {
  const std::size_t begin = line_begin(offset);
  return std::string(text_.substr(begin, skip_blanks(begin) - begin));
}

std::size_t Patches::end_of(TokenIndex token) const {
  return tree_.tokens[token].offset + tree_.tokens[token].length;
}

void Patches::replace_lines(NodeId node, std::string_view text) {
  const source::Span span = tree_.span(node);
  std::string indentation = indentation_at(span.offset);
  if (!begins_line(span.offset)) indentation += indentation_step;
  patches_.push_back({span.offset, span.length, shifted(text, "", indentation, newline_)});
}

std::string Patches::inner_indentation(TokenIndex opening, NodeId anchor) const {
  if (anchor.exists() && begins_line(tree_.span(anchor).offset)) return indentation_at(tree_.span(anchor).offset);
  return indentation_at(tree_.tokens[opening].offset) + std::string(indentation_step);
}

void Patches::insert_lines(Braces braces, NodeId anchor, std::string_view text, Gap gap) {
  const std::string indentation = inner_indentation(braces.opening, anchor);
  TokenIndex last = braces.opening;
  if (anchor.exists()) last = tree_[anchor].end_token - 1;
  TokenIndex next = tree_.next_significant(last);
  if (anchor.exists() && tree_.tokens[next].kind == TokenKind::Comma) {
    last = next;
    next = tree_.next_significant(last);
  }
  // After the comments on the anchor's line.
  std::size_t at = end_of(last);
  TokenIndex token = last + 1;
  while (token < next && tree_.tokens[token].kind != TokenKind::Newline) ++token;
  const bool ends_line = token < next;
  if (ends_line) {
    at = tree_.tokens[token].offset;
    while (at > end_of(last) && (text_[at - 1] == ' ' || text_[at - 1] == '\t' || text_[at - 1] == '\r')) --at;
  }
  std::string lines = newline_;
  const bool gap_before = gap == Gap::EmptyLine || gap == Gap::EmptyLineBefore;
  const bool gap_after = (gap == Gap::EmptyLine || gap == Gap::EmptyLineAfter) && next != braces.closing;
  if (gap_before && anchor.exists()) lines += newline_;
  lines += indented_lines(text, indentation, newline_);
  std::size_t removed = 0;
  if (ends_line) {
    const std::size_t after = skip_newline(tree_.tokens[token].offset);
    if (gap_after && !is_empty_line(after)) lines += newline_;
  } else {
    // What follows on the same line gets its own line.
    removed = tree_.tokens[next].offset - at;
    lines += newline_;
    if (gap_after) lines += newline_;
    lines += next == braces.closing ? indentation_at(tree_.tokens[braces.opening].offset) : indentation;
    const std::string_view between = text_.substr(at, removed);
    if (between.find_first_not_of(" \t") != std::string_view::npos) {  // a comment
      at += removed;
      removed = 0;
    }
  }
  patches_.push_back({at, removed, std::move(lines)});
}

void Patches::insert_declaration(NodeId anchor, std::string_view text) {
  const std::string lines = indented_lines(text, "", newline_);
  if (!anchor.exists()) {
    const std::size_t begin = text_.find_last_not_of(" \t\r\n") + 1;  // 0 if there is nothing
    const std::string before = begin == 0 ? "" : newline_ + newline_;
    patches_.push_back({begin, text_.size() - begin, before + lines + newline_});
    return;
  }
  // After the comment on its line.
  std::size_t at = tree_.span(anchor).end();
  while (at < text_.size() && !at_newline(at)) ++at;
  const bool is_followed = at < text_.size() && !is_empty_line(skip_newline(at));
  patches_.push_back({at, 0, newline_ + newline_ + lines + (is_followed ? newline_ : "")});
}

void Patches::insert_element(Braces braces, NodeId anchor, std::string_view text) {
  const std::size_t after = anchor.exists() ? tree_.span(anchor).end() : end_of(braces.opening);
  const TokenIndex next = tree_.next_significant(anchor.exists() ? tree_[anchor].end_token - 1 : braces.opening);
  const bool comma = anchor.exists() && tree_.tokens[next].kind == TokenKind::Comma;
  if (anchor.exists() && begins_line(tree_.span(anchor).offset)) {
    return insert_lines(braces, anchor, std::string(text) + (comma ? "," : ""));
  }
  if (!anchor.exists() && next != braces.closing && begins_line(tree_.tokens[next].offset)) {
    return insert_lines(braces, anchor, text);
  }
  if (anchor.exists()) {
    patches_.push_back({after, 0, ", " + std::string(text)});
  } else if (next == braces.closing) {
    patches_.push_back({after, tree_.tokens[next].offset - after, " " + std::string(text) + " "});
  } else {
    patches_.push_back({tree_.tokens[next].offset, 0, std::string(text) + ", "});
  }
}

void Patches::replace_inside(Braces braces, std::string_view text) {
  const auto [begin, end] = find_inside(tree_, braces);
  const std::size_t opening = end_of(braces.opening);
  const std::size_t closing = tree_.tokens[braces.closing].offset;
  const std::string outer = indentation_at(tree_.tokens[braces.opening].offset);
  const bool has_lines = text_.substr(opening, closing - opening).find('\n') != std::string_view::npos;
  if (!has_lines && text.find('\n') == std::string_view::npos) {
    patches_.push_back({opening, closing - opening, text.empty() ? "" : " " + std::string(text) + " "});
  } else if (has_lines && begin < end && begins_line(begin)) {
    patches_.push_back({begin, end - begin, shifted(text, "", indentation_at(begin), newline_)});
  } else {
    const std::string inner = outer + std::string(indentation_step);
    patches_.push_back(
        {opening, closing - opening, newline_ + indented_lines(text, inner, newline_) + newline_ + outer});
  }
}

bool Patches::replace_documentation(NodeId node, std::string_view text) {
  const std::size_t at = tree_.span(node).offset;
  if (!begins_line(at)) return text.empty();
  const std::size_t begin = documented_begin(node);
  const std::string indentation = indentation_at(at);
  const std::string lines = documentation_lines(text);
  std::string inserted;
  for (std::size_t from = 0; from < lines.size();) {
    const std::size_t end = lines.find('\n', from);
    inserted += lines.substr(from, end - from) + newline_ + indentation;
    from = end + 1;
  }
  patches_.push_back({begin, at - begin, std::move(inserted)});
  return true;
}

void Patches::remove(NodeId node) {
  std::size_t begin = tree_.span(node).offset;
  std::size_t end = tree_.span(node).end();
  const TokenIndex next = tree_.next_significant(tree_[node].end_token - 1);
  const bool comma = tree_.tokens[next].kind == TokenKind::Comma;
  if (comma) end = end_of(next);
  const std::size_t after = skip_blanks(end);
  if (begins_line(begin)) {
    if (at_newline(after)) {
      begin = line_begin(begin);
      end = skip_newline(after);
    } else {
      end = after;  // a comment or another part follows
    }
  } else {
    std::size_t before = begin;
    while (before > 0 && (text_[before - 1] == ' ' || text_[before - 1] == '\t')) --before;
    const bool last = !comma && tree_.tokens[next].kind == TokenKind::RightBrace;
    if (last && before > 0 && text_[before - 1] == ',') --before;
    begin = before;
    if (at_newline(after)) end = after;
  }
  patches_.push_back({begin, end - begin, ""});
}

std::size_t Patches::documented_begin(NodeId node) const {
  std::size_t begin = tree_.span(node).offset;
  std::size_t newlines = 0;
  for (TokenIndex at = tree_[node].first_token; at-- > 0;) {
    const TokenKind kind = tree_.tokens[at].kind;
    if (kind == TokenKind::DocComment && begins_line(tree_.tokens[at].offset)) {
      begin = tree_.tokens[at].offset;
      newlines = 0;
    } else if (kind == TokenKind::Newline) {
      if (++newlines > 1) break;
    } else if (kind != TokenKind::Whitespace) {
      break;
    }
  }
  return begin;
}

std::string Patches::documented_text(NodeId node) const {
  const std::size_t begin = documented_begin(node);
  return unindented_lines(text_.substr(begin, tree_.span(node).end() - begin), indentation_at(begin), newline_);
}

void Patches::remove_documented(NodeId node) {
  remove(node);
  Patch& patch = patches_.back();
  std::size_t end = patch.offset + patch.removed;
  const std::size_t doc = documented_begin(node);
  if (doc < tree_.span(node).offset) patch.offset = std::min(patch.offset, doc);
  const bool whole_lines = end > 0 && text_[end - 1] == '\n';
  if (whole_lines) {
    patch.offset = line_begin(patch.offset);
    const auto line_before_is_edge = [&] {
      if (patch.offset == 0) return true;
      const std::size_t before = line_begin(patch.offset - 1);
      return is_empty_line(before) || text_.substr(before, patch.offset - before).find('{') != std::string_view::npos;
    };
    if (line_before_is_edge()) {
      while (is_empty_line(end)) end = skip_newline(skip_blanks(end));
    }
    // No empty line remains at the end of what contained the block.
    const bool at_end = end < text_.size() && text_[skip_blanks(end)] == '}';
    while (at_end && patch.offset > 0 && is_empty_line(line_begin(patch.offset - 1))) {
      patch.offset = line_begin(patch.offset - 1);
    }
  }
  patch.removed = end - patch.offset;
}

std::vector<Patch> Patches::take() {
  std::sort(patches_.begin(), patches_.end(), [](const Patch& a, const Patch& b) { return a.offset < b.offset; });
  return std::move(patches_);
}

std::string indented_lines(std::string_view lines, std::string_view indentation, std::string_view newline) {
  return std::string(indentation) + shifted(lines, "", indentation, newline);
}

std::string unindented_lines(std::string_view lines, std::string_view indentation, std::string_view newline) {
  return shifted(lines, indentation, "", newline);
}

std::string patched(std::string_view text, const std::vector<Patch>& patches) {
  std::string out;
  std::size_t done = 0;
  for (const Patch& patch : patches) {
    ENSURE(patch.offset >= done && patch.offset + patch.removed <= text.size());
    out += text.substr(done, patch.offset - done);
    out += patch.inserted;
    done = patch.offset + patch.removed;
  }
  return out += text.substr(done);
}

void PatchSteps::add(const std::vector<Patch>& step) {
  // From the last one on, so that the offsets of the others are valid.
  for (std::size_t at = step.size(); at-- > 0;) replace(step[at]);
}

void PatchSteps::replace(const Patch& patch) {
  std::vector<Piece> kept;
  std::size_t begin = 0;  // of the piece, in the text as it is now
  const std::size_t end = patch.offset + patch.removed;
  bool is_inserted = patch.inserted.empty();
  const auto insert = [&] {
    if (!is_inserted) kept.push_back({0, patch.inserted.size(), patch.inserted});
    is_inserted = true;
  };
  const auto keep = [&](const Piece& piece, std::size_t from, std::size_t to) {
    if (from >= to) return;
    kept.push_back({piece.offset + from, to - from,
                    piece.inserted.empty() ? std::string() : piece.inserted.substr(from, to - from)});
  };
  for (const Piece& piece : pieces_) {
    const std::size_t after = begin + piece.length;
    keep(piece, 0, std::min(piece.length, patch.offset > begin ? patch.offset - begin : 0));
    if (patch.offset <= after) insert();
    keep(piece, std::min(piece.length, end > begin ? end - begin : 0), piece.length);
    begin = after;
  }
  insert();
  pieces_ = std::move(kept);
}

std::vector<Patch> PatchSteps::joined() const {
  std::vector<Patch> patches;
  std::size_t done = 0;  // of the first text
  std::string inserted;
  const auto close = [&](std::size_t offset) {
    if (offset > done || !inserted.empty()) patches.push_back({done, offset - done, std::exchange(inserted, {})});
  };
  for (const Piece& piece : pieces_) {
    if (!piece.inserted.empty()) {
      inserted += piece.inserted;
      continue;
    }
    close(piece.offset);
    done = piece.offset + piece.length;
  }
  close(length_);
  return patches;
}

}  // namespace tenon::graph
