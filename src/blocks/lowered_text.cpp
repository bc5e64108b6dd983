#include "blocks/lowered_text.h"

#include <fmt/format.h>

namespace tenon::blocks {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;
using syntax::Token;
using syntax::TokenIndex;
using syntax::TokenKind;

namespace {

bool is_type_name(std::string_view name) {
  return !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
}

}  // namespace

LoweredText::LoweredText(const SyntaxTree& tree) : tree_(tree) {
  for (const NodeId item : tree.children(tree.root)) {
    const TokenIndex end = tree[item].end_token;
    // Tests are outside of agents, and refer to generated functions by name: `BetterCritique`, `sort_choice`.
    if (tree.kind(item) == NodeKind::TestItem) continue;
    declare(item);
    if (const std::string_view name = tree.main_text(item); is_type_name(name)) taken_.emplace(name);
    // Names after `.` and `::` are declared elsewhere.
    TokenKind before = TokenKind::Newline;
    for (TokenIndex at = tree[item].first_token; at < end; ++at) {
      const TokenKind kind = tree.tokens[at].kind;
      const std::string_view name = tree.text(at);
      const bool is_member = before == TokenKind::Dot || before == TokenKind::ColonColon;
      if (kind == TokenKind::Identifier && !is_member && !is_type_name(name) && name != "judged") taken_.emplace(name);
      if (!is_trivia(kind)) before = kind;
    }
  }
}

void LoweredText::declare(NodeId item) {
  if (tree_.kind(item) != NodeKind::UseItem) {
    if (!tree_.main_text(item).empty()) declared_.emplace(tree_.main_text(item));
    return;
  }
  const NodeId path = tree_.first(item);
  if (!path.exists()) return;
  if (const NodeId list = tree_.next(path); list.exists()) {
    for (const NodeId name : tree_.children(list, NodeKind::UseName)) declared_.emplace(tree_.main_text(name));
    return;
  }
  const auto names = tree_.path(path);
  if (names.empty()) return;
  declared_.emplace(tree_.text(names.back()));
  uses_reports_ |= tree_.text(path) == "std::report";
}

std::string_view LoweredText::report_function() const {
  return uses_reports_ || !is_declared("report") ? "report::write_report" : "write_report";
}

void LoweredText::use_reports() {
  if (!uses_reports_) glue_as_is(is_declared("report") ? "use std::report::write_report\n" : "use std::report\n");
}

std::string_view LoweredText::own_name(const std::string& key, std::string_view wanted) {
  const auto [at, is_new] = own_names_.try_emplace(key, wanted);
  for (int number = 2; is_new && !taken_.insert(at->second).second; ++number) {
    at->second = fmt::format("{}_{}", wanted, number);
  }
  return at->second;
}

void LoweredText::add(std::string_view text, bool is_copied, std::uint32_t written) {
  if (text.empty()) return;
  const auto begin = static_cast<std::uint32_t>(text_.size());
  const auto length = static_cast<std::uint32_t>(text.size());
  text_ += text;
  if (!stretches_.empty()) {
    Stretch& last = stretches_.back();
    const bool continues =
        is_copied ? last.is_copied && last.written + last.length == written : !last.is_copied && last.origin == origin_;
    if (continues) {
      last.length += length;
      return;
    }
  }
  stretches_.push_back({begin, length, written, is_copied, origin_});
}

LoweredText& LoweredText::glue_as_is(std::string_view text) {
  add(text, false, 0);
  return *this;
}

LoweredText& LoweredText::glue(std::string_view text) {
  const auto is_of_word = [](char byte) {
    return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  };
  while (!text.empty()) {
    const std::size_t sign = std::min(text.find('$'), text.size());
    glue_as_is(text.substr(0, sign));
    std::size_t end = std::min(sign + 1, text.size());
    while (end < text.size() && is_of_word(text[end])) ++end;
    if (sign < text.size()) {
      const std::string_view word = text.substr(sign + 1, end - sign - 1);
      glue_as_is(own_name(std::string(word), word));
    }
    text.remove_prefix(end);
  }
  return *this;
}

LoweredText& LoweredText::copy(TokenIndex token) {
  const syntax::Token& written = tree_.tokens[token];
  if (written.length == 0) {  // a missing bracket
    if (written.kind == syntax::TokenKind::RightBrace) glue_as_is("}");
    if (written.kind == syntax::TokenKind::LeftBrace) glue_as_is("{");
    if (written.kind == syntax::TokenKind::RightParenthesis) glue_as_is(")");
    if (written.kind == syntax::TokenKind::RightBracket) glue_as_is("]");
  }
  if (written.kind == syntax::TokenKind::Unknown) return *this;
  add(tree_.text(token), true, tree_.tokens[token].offset);
  return *this;
}

LoweredText& LoweredText::copy_written(TokenIndex begin, TokenIndex end) {
  for (TokenIndex at = begin; at < end; ++at) copy(at);
  return *this;
}

namespace {

/// The text before, instead of or after a token.
struct Change {
  std::string_view before, instead, after;
};
using Changes = std::map<TokenIndex, Change>;

bool is_name(const SyntaxTree& tree, NodeId node, std::string_view name) {
  return tree.kind(node) == NodeKind::NameExpression && tree.text(node) == name;
}

void find_changes(const SyntaxTree& tree, NodeId node, LoweredText::Names names, const Change& scratchpad,
                  Changes& changes) {
  const TokenIndex first = tree[node].first_token;
  if (is_name(tree, node, "scratchpad")) changes[first] = scratchpad;
  if (tree.kind(node) == NodeKind::CallExpression && tree.first(node).exists()) {
    const NodeId callee = tree.first(node);
    if (is_name(tree, callee, "emit")) changes[tree[callee].first_token].instead = "$emit_text";
    if (names == LoweredText::Names::Condition && is_name(tree, callee, "judged")) {
      if (const NodeId arguments = tree.find_child(node, NodeKind::Arguments); arguments.exists())
        changes[tree[arguments].first_token].after = "ctx, ";
    }
  }
  for (NodeId child = tree.first(node); child.exists(); child = tree.next(child)) {
    find_changes(tree, child, names, scratchpad, changes);
  }
}

}  // namespace

LoweredText& LoweredText::copy(NodeId node, Names names) {
  const TokenIndex begin = tree_[node].first_token;
  const TokenIndex end = tree_[node].end_token;
  if (names == Names::Kept) return copy_written(begin, end);
  const auto entry = own_names_.find("scratchpad_entry");
  const bool is_renamed = entry != own_names_.end() && entry->second != "scratchpad";
  const Change scratchpad = is_renamed ? Change{"", "state.$scratchpad_entry", ""} : Change{"state.", "", ""};
  Changes changes;
  find_changes(tree_, node, names, scratchpad, changes);
  TokenIndex at = begin;
  for (const auto& [token, change] : changes) {
    copy_written(at, token);
    glue(change.before);
    if (change.instead.empty()) {
      copy(token);
    } else {
      glue(change.instead);
    }
    glue(change.after);
    at = token + 1;
  }
  return copy_written(at, end);
}

SyntaxTree LoweredText::place(SyntaxTree parsed, source::SourceFile& file) const {
  const std::uint32_t glue_begin = file.append_glue(text_);
  SyntaxTree placed(file);
  placed.nodes = std::move(parsed.nodes);
  placed.root = parsed.root;
  placed.tokens = std::move(parsed.tokens);
  std::size_t stretch = 0;
  for (Token& token : placed.tokens) {
    while (stretch + 1 < stretches_.size() && token.offset >= stretches_[stretch].begin + stretches_[stretch].length) {
      ++stretch;
    }
    if (stretches_.empty()) break;
    const Stretch& in = stretches_[stretch];
    const bool is_whole = token.offset + token.length <= in.begin + in.length;
    if (in.is_copied && is_whole) {
      token.offset = in.written + (token.offset - in.begin);
    } else {
      token.offset += glue_begin;
    }
  }
  for (const Stretch& at : stretches_) placed.anchors.push_back({glue_begin + at.begin, at.origin});
  return placed;
}

}  // namespace tenon::blocks
