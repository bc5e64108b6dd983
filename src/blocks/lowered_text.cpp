#include "blocks/lowered_text.h"

#include <map>

namespace tenon::blocks {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;
using syntax::Token;
using syntax::TokenIndex;
using syntax::TokenKind;

void LoweredText::add(std::string_view text, bool is_copied, std::uint32_t written) {
  if (text.empty()) return;
  const auto begin = static_cast<std::uint32_t>(text_.size());
  const auto length = static_cast<std::uint32_t>(text.size());
  text_ += text;
  if (!stretches_.empty()) {
    Stretch& last = stretches_.back();
    const bool goes_on = is_copied ? last.is_copied && last.written + last.length == written
                                   : !last.is_copied && last.stands_for == stands_for_;
    if (goes_on) {
      last.length += length;
      return;
    }
  }
  stretches_.push_back({begin, length, written, is_copied, stands_for_});
}

LoweredText& LoweredText::glue(std::string_view text) {
  add(text, false, 0);
  return *this;
}

LoweredText& LoweredText::copy(TokenIndex token) {
  add(tree_.text(token), true, tree_.tokens[token].offset);
  return *this;
}

LoweredText& LoweredText::copy_written(TokenIndex begin, TokenIndex end) {
  for (TokenIndex at = begin; at < end; ++at) copy(at);
  return *this;
}

namespace {

/// What stands before, in place of or behind a token.
struct Change {
  std::string_view before, instead, behind;
};
using Changes = std::map<TokenIndex, Change>;

bool is_name(const SyntaxTree& tree, NodeId node, std::string_view name) {
  return tree.kind(node) == NodeKind::NameExpression && tree.text(node) == name;
}

void find_changes(const SyntaxTree& tree, NodeId node, LoweredText::Names names, Changes& changes) {
  const TokenIndex first = tree[node].first_token;
  if (is_name(tree, node, "scratchpad")) changes[first].before = "state.";
  if (tree.kind(node) == NodeKind::CallExpression && tree.first(node).exists()) {
    const NodeId callee = tree.first(node);
    if (is_name(tree, callee, "emit")) changes[tree[callee].first_token].instead = "emit_text";
    if (names == LoweredText::Names::Condition && is_name(tree, callee, "judged")) {
      if (const NodeId arguments = tree.find_child(node, NodeKind::Arguments); arguments.exists())
        changes[tree[arguments].first_token].behind = "ctx, ";
    }
  }
  for (NodeId child = tree.first(node); child.exists(); child = tree.next(child)) {
    find_changes(tree, child, names, changes);
  }
}

}  // namespace

LoweredText& LoweredText::copy(NodeId node, Names names) {
  const TokenIndex begin = tree_[node].first_token;
  const TokenIndex end = tree_[node].end_token;
  if (names == Names::Kept) return copy_written(begin, end);
  Changes changes;
  find_changes(tree_, node, names, changes);
  TokenIndex at = begin;
  for (const auto& [token, change] : changes) {
    copy_written(at, token);
    glue(change.before);
    if (change.instead.empty()) {
      copy(token);
    } else {
      glue(change.instead);
    }
    glue(change.behind);
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
  for (const Stretch& at : stretches_) placed.anchors.push_back({glue_begin + at.begin, at.stands_for});
  return placed;
}

}  // namespace tenon::blocks
