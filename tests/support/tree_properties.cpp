#include "tests/support/tree_properties.h"

#include <algorithm>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "source/source_file.h"
#include "syntax/format.h"
#include "syntax/parse.h"

namespace tenon::test {
namespace {

using syntax::Node;
using syntax::NodeId;
using syntax::SyntaxTree;
using syntax::Token;
using syntax::TokenIndex;
using syntax::TokenKind;

void append_shape(std::string& out, const SyntaxTree& tree, NodeId id) {
  out += '(';
  out += syntax::name_of(tree.kind(id));
  if (const std::string_view text = tree.main_text(id); tree.kind(id) != syntax::NodeKind::File && !text.empty()) {
    out += ':';
    out += text;
  }
  for (NodeId child = tree.first(id); child.exists(); child = tree.next(child)) {
    out += ' ';
    append_shape(out, tree, child);
  }
  out += ')';
}

std::string place(const SyntaxTree& tree, NodeId id) {
  return std::string(syntax::name_of(tree.kind(id))) + " at byte " + std::to_string(tree.span(id).offset);
}

std::string find_node_problem(const SyntaxTree& tree, NodeId id) {
  const Node& node = tree[id];
  if (node.end_token < node.first_token || node.end_token > tree.tokens.size())
    return place(tree, id) + " has no range";
  TokenIndex reached = node.first_token;
  std::size_t height = 0;
  for (NodeId child = tree.first(id); child.exists(); child = tree.next(child)) {
    if (tree[child].first_token < reached) return place(tree, child) + " starts before its sibling or parent ends";
    if (tree[child].end_token > node.end_token) return place(tree, child) + " ends after its parent";
    reached = std::max(reached, tree[child].end_token);
    height = std::max<std::size_t>(height, tree[child].height + 1U);
    if (std::string problem = find_node_problem(tree, child); !problem.empty()) return problem;
  }
  if (height != node.height) return place(tree, id) + " has another height";
  return height > syntax::tree_height_max ? place(tree, id) + " is too high" : "";
}

/// The tokens that a formatter must keep, in order: all except spaces and commas before a closing bracket.
std::vector<std::string_view> kept_tokens(const SyntaxTree& tree) {
  std::vector<std::string_view> kept;
  for (TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    const TokenKind kind = tree.tokens[at].kind;
    const bool closes = kind == TokenKind::RightParenthesis || kind == TokenKind::RightBracket ||
                        kind == TokenKind::RightBrace || kind == TokenKind::Greater;
    if (syntax::is_trivia(kind)) continue;
    if (closes && !kept.empty() && kept.back() == ",") kept.pop_back();
    kept.push_back(tree.text(at));
  }
  return kept;
}

std::vector<std::string_view> comments(const SyntaxTree& tree) {
  std::vector<std::string_view> found;
  for (TokenIndex at = 0; at < tree.tokens.size(); ++at) {
    const TokenKind kind = tree.tokens[at].kind;
    if (kind != TokenKind::LineComment && kind != TokenKind::DocComment && kind != TokenKind::BlockComment) continue;
    std::string_view text = tree.text(at);
    text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
    found.push_back(text);
  }
  return found;
}

}  // namespace

std::string shape_of(const SyntaxTree& tree) {
  std::string out;
  append_shape(out, tree, tree.root);
  return out;
}

std::string find_tree_problem(const SyntaxTree& tree) {
  std::uint32_t offset = 0;
  for (const Token& token : tree.tokens) {
    if (token.offset != offset) return "a gap at byte " + std::to_string(offset);
    offset += token.length;
  }
  if (offset != tree.file().text().size()) return "the text's end is missing";
  if (tree.tokens.empty() || tree.tokens.back().kind != TokenKind::End) return "no end";
  if (tree[tree.root].first_token != 0 || tree[tree.root].end_token != tree.tokens.size()) return "the root is not all";
  return find_node_problem(tree, tree.root);
}

std::string find_format_problem(const SyntaxTree& tree) {
  const source::SourceFile file({0}, "formatted.tn", syntax::format(tree));
  diagnostics::Diagnostics diagnostics;
  const SyntaxTree formatted = syntax::parse(file, diagnostics);
  if (diagnostics.has_errors())
    return "the result has errors: " + diagnostics.all().front().message + "\n" + std::string(file.text());
  if (kept_tokens(tree) != kept_tokens(formatted)) return "other tokens:\n" + std::string(file.text());
  if (comments(tree) != comments(formatted)) return "other comments:\n" + std::string(file.text());
  if (shape_of(tree) != shape_of(formatted)) return "another tree:\n" + std::string(file.text());
  if (syntax::format(formatted) != file.text()) {
    return "formatting again changes it:\n" + std::string(file.text()) + "\nto\n" + syntax::format(formatted);
  }
  return "";
}

}  // namespace tenon::test
