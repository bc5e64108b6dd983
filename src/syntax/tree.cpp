#include "syntax/tree.h"

#include <algorithm>

namespace tenon::syntax {

std::string_view name_of(NodeKind kind) {
  static constexpr std::string_view names[] = {
#define TENON_NODE(name, children) #name,
      TENON_NODES(TENON_NODE)
#undef TENON_NODE
  };
  return names[static_cast<std::size_t>(kind)];
}

std::string_view SyntaxTree::text(NodeId id) const {
  const Node& node = nodes[id.index];
  const Token& first = tokens[node.first_token];
  if (node.end_token <= node.first_token) return {};
  const Token& last = tokens[node.end_token - 1];
  // A node that is partly generated does not have a contiguous text.
  if (last.offset < first.offset) return text(node.first_token);
  return file_->text({file_->id(), first.offset, last.offset + last.length - first.offset});
}

source::Span SyntaxTree::span(NodeId id) const {
  const Node& node = nodes[id.index];
  if (node.end_token <= node.first_token) {
    const source::Span at = span(node.first_token);
    return {at.file, at.offset, 0};
  }
  const source::Span first = span(node.first_token);
  const source::Span last = span(node.end_token - 1);
  if (anchors.empty() || (is_written(node.first_token) && is_written(node.end_token - 1))) {
    if (last.offset >= first.offset) return {file_->id(), first.offset, last.end() - first.offset};
    return first;
  }
  // The text in the source, if there is any.
  TokenIndex begin = node.first_token;
  TokenIndex end = node.end_token;
  const auto is_word = [&](TokenIndex at) { return is_written(at) && !is_trivia(tokens[at].kind); };
  while (begin < end && !is_word(begin)) ++begin;
  if (begin == end) return first;
  while (!is_word(end - 1)) --end;
  const source::Span from = span(begin);
  const source::Span to = span(end - 1);
  return to.offset >= from.offset ? source::Span{file_->id(), from.offset, to.end() - from.offset} : from;
}

source::Span SyntaxTree::anchor(TokenIndex token) const {
  const auto after = std::upper_bound(anchors.begin(), anchors.end(), tokens[token].offset,
                                      [](std::uint32_t offset, const GlueAnchor& at) { return offset < at.offset; });
  return after == anchors.begin() ? source::Span{file_->id(), 0, 0} : std::prev(after)->origin;
}

std::vector<NodeId> SyntaxTree::children(NodeId parent) const {
  std::vector<NodeId> found;
  for (NodeId child = first(parent); child.exists(); child = next(child)) found.push_back(child);
  return found;
}

std::vector<NodeId> SyntaxTree::children(NodeId parent, NodeKind wanted) const {
  std::vector<NodeId> found;
  for (NodeId child = first(parent); child.exists(); child = next(child)) {
    if (kind(child) == wanted) found.push_back(child);
  }
  return found;
}

NodeId SyntaxTree::root_of_place(NodeId place) const {
  while (kind(place) == NodeKind::FieldExpression || kind(place) == NodeKind::IndexExpression) place = first(place);
  return place;
}

NodeId SyntaxTree::without_parentheses(NodeId id) const {
  while (id.exists() && kind(id) == NodeKind::ParenthesizedExpression) id = first(id);
  return id;
}

NodeId SyntaxTree::find_child(NodeId parent, std::size_t position) const {
  NodeId child = first(parent);
  for (; position > 0 && child.exists(); --position) child = next(child);
  return child;
}

NodeId SyntaxTree::find_child(NodeId parent, NodeKind wanted) const {
  NodeId child = first(parent);
  while (child.exists() && kind(child) != wanted) child = next(child);
  return child;
}

std::vector<TokenIndex> SyntaxTree::path(NodeId id) const {
  std::vector<TokenIndex> names;
  const Node& node = nodes[id.index];
  const NodeId condition = node.kind == NodeKind::ScriptEntry ? find_child(id, NodeKind::ScriptCondition) : NodeId{};
  const TokenIndex end = condition.exists() ? nodes[condition.index].first_token : node.end_token;  // `when` is a name
  for (TokenIndex at = node.first_token; at < end; ++at) {
    const TokenKind token = tokens[at].kind;
    if (token == TokenKind::Identifier) {
      names.push_back(at);
    } else if (token != TokenKind::ColonColon && !is_trivia(token)) {
      break;
    }
  }
  return names;
}

std::string SyntaxTree::documentation_before(TokenIndex before) const {
  std::vector<std::string_view> lines;
  std::size_t newlines = 0;
  for (TokenIndex at = before; at-- > 0;) {
    const TokenKind token = tokens[at].kind;
    if (token == TokenKind::DocComment) {
      std::string_view line = text(at).substr(3);
      if (line.starts_with(' ')) line.remove_prefix(1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines.push_back(line);
      newlines = 0;
    } else if (token == TokenKind::Newline) {
      if (++newlines > 1) break;  // a blank line separates the comment
    } else if (token != TokenKind::Whitespace) {
      break;
    }
  }
  std::string joined;
  for (std::size_t index = lines.size(); index-- > 0;) {
    joined += lines[index];
    if (index > 0) joined += '\n';
  }
  return joined;
}

TokenIndex SyntaxTree::next_significant(TokenIndex token) const {
  do ++token;
  while (token + 1 < tokens.size() && is_trivia(tokens[token].kind));
  return std::min(token, static_cast<TokenIndex>(tokens.size() - 1));
}

std::optional<TokenIndex> SyntaxTree::find_block_kind(NodeId block) const {
  const TokenIndex colon = next_significant(nodes[block.index].main_token);
  const TokenIndex kind = next_significant(colon);
  if (tokens[colon].kind != TokenKind::Colon || tokens[kind].kind != TokenKind::Identifier) return std::nullopt;
  return kind < nodes[block.index].end_token ? std::optional(kind) : std::nullopt;
}

bool SyntaxTree::ends_with_semicolon(NodeId statement) const {
  const Node& node = nodes[statement.index];
  return node.end_token > node.first_token && tokens[node.end_token - 1].kind == TokenKind::Semicolon;
}

}  // namespace tenon::syntax
