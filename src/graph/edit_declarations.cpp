// Edits of what a file declares, and of the functions of an agent.

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "graph/edit_step.h"
#include "graph/name_uses.h"
#include "syntax/parse.h"

namespace tenon::graph {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;

const std::vector<Declaration>* find_declarations(const EditedText& text, const std::optional<std::string>& agent) {
  if (!agent) return &text.graph.declarations;
  const Agent* const found = text.graph.find(*agent);
  return found == nullptr ? nullptr : &found->functions;
}

/// What a new declaration's source declares, or the reason why it is not one declaration.
Result<Declaration, std::string> read_declaration(std::string_view source) {
  const source::SourceFile file({0}, "", std::string(source));
  diagnostics::Diagnostics diagnostics;
  const SyntaxTree tree = syntax::parse(file, diagnostics);
  if (diagnostics.has_errors()) {
    diagnostics.sort();
    return failure(fmt::format("the declaration has an error: {}", diagnostics.all().front().message));
  }
  const Graph graph = make_graph(tree);
  if (graph.declarations.size() != 1 || tree.children(tree.root).size() != 1) {
    return failure(std::string("expected one declaration, such as `fn name() -> String { … }`"));
  }
  return graph.declarations.front();
}

bool has_name(const Declaration& declaration) {
  return declaration.kind != "impl" && declaration.kind != "test" && declaration.kind != "use";
}

}  // namespace

Result<const Declaration*, std::string> get_declaration(const EditedText& text, const std::optional<std::string>& agent,
                                                        std::string_view name) {
  const std::vector<Declaration>* const all = find_declarations(text, agent);
  if (all == nullptr) return failure(fmt::format("there is no agent `{}`", *agent));
  const auto is_it = [&](const Declaration& one) { return one.name == name && one.kind != "impl"; };
  const auto found = std::ranges::find_if(*all, is_it);
  if (found != all->end()) return &*found;
  return failure(agent ? fmt::format("`{}` has no function `{}`", *agent, name)
                       : fmt::format("the program declares no `{}`", name));
}

Change change(const EditedText& text, const AddDeclaration& edit) {
  const auto added = read_declaration(trimmed(edit.source));
  if (!added) return failure(added.error());
  const std::vector<Declaration>* const others = find_declarations(text, edit.agent);
  if (others == nullptr) return failure(fmt::format("there is no agent `{}`", *edit.agent));
  if (edit.agent && added->kind != "fn") return failure(std::string("an agent declares functions alone"));
  const auto is_same = [&](const Declaration& one) { return has_name(one) && one.name == added->name; };
  if (has_name(*added) && std::ranges::any_of(*others, is_same)) {
    return failure(fmt::format("there is already a declaration `{}`", added->name));
  }
  NodeId anchor;
  if (edit.after) {
    const auto found = get_declaration(text, edit.agent, *edit.after);
    if (!found) return failure(found.error());
    anchor = (*found)->node;
  }
  const SyntaxTree& tree = text.tree;
  Patches patches(tree);
  if (edit.agent) {
    const NodeId node = (*get_agent(text, *edit.agent))->node;
    if (!anchor.exists()) anchor = tree.children(node).empty() ? NodeId{} : tree.children(node).back();
    patches.insert_lines(braces_of(tree, node), anchor, trimmed(edit.source), Patches::Gap::EmptyLine);
  } else {
    patches.insert_declaration(anchor, trimmed(edit.source));
  }
  return patches.take();
}

Change change(const EditedText& text, const RenameDeclaration& edit) {
  const auto found = get_declaration(text, edit.agent, edit.declaration);
  if (!found) return failure(found.error());
  if (!has_name(**found)) return failure(fmt::format("a `{}` has no name to change", (*found)->kind));
  const SyntaxTree& tree = text.tree;
  Patches patches(tree);
  if (edit.name == edit.declaration) return patches.take();
  if (!is_name(edit.name)) return failure(fmt::format("`{}` is not a valid name", edit.name));
  const std::vector<Declaration>& others = *find_declarations(text, edit.agent);
  if (std::ranges::any_of(others, [&](const Declaration& one) { return has_name(one) && one.name == edit.name; })) {
    return failure(fmt::format("there is already a declaration `{}`", edit.name));
  }
  const NameUses names(tree);
  const auto uses = edit.agent ? names.of_function((*get_agent(text, *edit.agent))->node, edit.declaration)
                               : names.of_declaration((*found)->node);
  patches.replace(tree.main_span((*found)->node), edit.name);
  for (const syntax::TokenIndex use : uses) {
    if (names.find_variable(edit.name, use).exists()) {
      return failure(fmt::format("a variable `{}` would hide the declaration at line {}: choose another name",
                                 edit.name, tree.file().position(tree.span(use).offset).line));
    }
    patches.replace(tree.span(use), edit.name);
  }
  return patches.take();
}

Change change(const EditedText& text, const RemoveDeclaration& edit) {
  const auto found = get_declaration(text, edit.agent, edit.declaration);
  if (!found) return failure(found.error());
  Patches patches(text.tree);
  patches.remove_documented((*found)->node);
  return patches.take();
}

}  // namespace tenon::graph
