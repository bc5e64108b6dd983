#include "completion/checked_text.h"

#include <algorithm>

#include "base/file_with_text.h"
#include "syntax/scopes.h"

namespace tenon::completion {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;
using syntax::TokenIndex;
using syntax::TokenKind;

bool contains(const SyntaxTree& tree, NodeId node, TokenIndex token) {
  return tree[node].first_token <= token && token < tree[node].end_token;
}

types::Checked check(const std::string& path, std::string_view text, FileSystem& files) {
  FileWithText with_text(files, path, text);
  return types::check(path, with_text, types::Strictness::Relaxed);
}

}  // namespace

NodePath path_to(const SyntaxTree& tree, TokenIndex token) {
  NodePath path;
  for (NodeId node = tree.root; node.exists();) {
    path.push_back(node);
    NodeId inner = tree.first(node);
    while (inner.exists() && !contains(tree, inner, token)) inner = tree.next(inner);
    node = inner;
  }
  return path;
}

CheckedText::CheckedText(const std::string& path, std::string_view text, std::size_t offset, FileSystem& files)
    : checked_(check(path, text, files)) {
  if (checked_.program.modules.empty()) return;
  const auto is_it = [&](const syntax::Token& token) {
    return token.kind == TokenKind::Identifier && token.offset <= offset && offset <= token.offset + token.length;
  };
  const SyntaxTree& written = tree();
  const auto found = std::ranges::find_if(written.tokens, is_it);
  if (found == written.tokens.end()) return;
  token_ = static_cast<TokenIndex>(found - written.tokens.begin());
  path_ = path_to(written, *token_);
  const SyntaxTree& checked = *module().tree;
  for (TokenIndex at = 0; at < checked.tokens.size(); ++at) {
    const syntax::Token& token = checked.tokens[at];
    if (token.kind == TokenKind::Identifier && token.offset == found->offset) checked_tokens_.push_back(at);
  }
}

NodeId CheckedText::find_around(NodeKind kind) const {
  const auto found = std::find_if(path_.rbegin(), path_.rend(), [&](NodeId node) { return tree().kind(node) == kind; });
  return found == path_.rend() ? NodeId{} : *found;
}

const types::NodeFacts* CheckedText::find_facts(NodeKind kind, Part part) const {
  const SyntaxTree& checked = *module().tree;
  if (module().facts.size() != checked.nodes.size()) return nullptr;
  const types::NodeFacts* best = nullptr;
  for (const TokenIndex token : checked_tokens_) {
    const NodePath path = path_to(checked, token);
    const auto found =
        std::find_if(path.rbegin(), path.rend(), [&](NodeId node) { return checked.kind(node) == kind; });
    if (found == path.rend()) continue;
    const NodeId node = part == Part::First ? checked.first(*found) : *found;
    if (!node.exists()) continue;
    best = &module().facts_of(node);
    if (best->type != types::TypeTable::error || best->target.kind != types::TargetKind::None) return best;
  }
  return best;
}

types::FunctionId CheckedText::find_function(TokenIndex token) const {
  const SyntaxTree& tree = *module().tree;
  types::FunctionId found;
  std::size_t length = SIZE_MAX;
  for (std::uint32_t at = 0; at < program().functions.size(); ++at) {
    const types::FunctionDeclaration& function = program().functions[at];
    if (function.module != types::ModuleId{0} || !function.node.exists()) continue;
    if (!contains(tree, function.node, token)) continue;
    const std::size_t own = tree[function.node].end_token - tree[function.node].first_token;
    if (own < length) found = types::FunctionId{at};
    length = std::min(length, own);
  }
  return found;
}

bool CheckedText::is_written(source::Span span, std::string_view name) const {
  const std::string_view text = module().file->text();
  return span.file == module().file->id() && span.offset < text.size() && text.substr(span.offset, span.length) == name;
}

/// Whether the variable is declared before `use`, in a node that contains `use` too.
bool CheckedText::is_in_scope(NodeId function, const types::Local& local, TokenIndex use) const {
  const SyntaxTree& tree = *module().tree;
  const auto begin = tree.tokens.begin() + tree[function].first_token;
  const auto end = tree.tokens.begin() + use;
  const auto declared = std::find_if(begin, end, [&](const syntax::Token& token) {
    return token.kind == TokenKind::Identifier && token.offset == local.span.offset;
  });
  if (declared == end) return false;
  const auto token = static_cast<TokenIndex>(declared - tree.tokens.begin());
  const NodePath path = path_to(tree, token);
  const auto is_own_let = [&](NodeId node) {
    return tree.kind(node) == NodeKind::LetStatement && contains(tree, node, use);
  };
  if (std::ranges::any_of(path, is_own_let)) return false;
  const auto scope =
      std::find_if(path.rbegin(), path.rend(), [&](NodeId node) { return syntax::holds_variables(tree.kind(node)); });
  return scope == path.rend() || contains(tree, *scope, use);
}

std::vector<const types::Local*> CheckedText::variables() const {
  std::vector<const types::Local*> found;
  for (const TokenIndex use : checked_tokens_) {
    const types::FunctionId function = find_function(use);
    if (!function.exists()) continue;
    const NodeId node = program().functions[function.index].node;
    for (const types::Local& local : program().locals) {
      if (local.function != function) continue;
      // Those of a block's function are its context, the input and the state, which all blocks have.
      const bool is_given = local.is_agent_state || local.name == "ctx" || local.name == "input";
      const bool is_own = is_written(local.span, local.name) && is_in_scope(node, local, use);
      if (is_own || (is_given && !is_written(local.span, local.name))) found.push_back(&local);
    }
    break;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace tenon::completion
