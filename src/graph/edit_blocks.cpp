// Edits of whole blocks, and of an agent's sections about them.

#include <fmt/format.h>

#include <set>

#include "base/ascii.h"
#include "graph/edit_step.h"
#include "syntax/lexer.h"

namespace tenon::graph {
namespace {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;
using syntax::TokenIndex;
using syntax::TokenKind;

constexpr std::initializer_list<NodeKind> sections = {NodeKind::StateSection,        NodeKind::ScratchpadSection,
                                                      NodeKind::InstructionsSection, NodeKind::StartSection,
                                                      NodeKind::NextTurnSection,     NodeKind::TurnSection};

std::string no_sequence(std::string_view agent, std::string_view path) {
  return fmt::format(
      "`{}` has no sequence `{}`; there are the main one (an empty text), `pre_turn`, `post_turn`, the "
      "path of a for_each, and a parallel's path with `/` and a branch's name",
      agent, path);
}

/// The lines of a block in the formatter's layout, without indentation.
Result<std::string, std::string> new_block(const AddBlock& edit) {
  if (!is_name(edit.name)) return failure(fmt::format("`{}` is not a valid block name", edit.name));
  if (!is_name(edit.kind)) return failure(fmt::format("`{}` is not a block kind", edit.kind));
  std::string out = documentation_lines(edit.documentation);
  std::vector<std::string> parts;
  if (edit.item) parts.push_back(fmt::format("item {}: {} in {}", edit.item->name, edit.item->type, edit.item->list));
  for (const Setting& option : edit.options) {
    if (!is_name(option.name)) return failure(fmt::format("`{}` is not a valid option name", option.name));
    parts.push_back(fmt::format("{}: {}", option.name, trimmed(option.value)));
  }
  if (const std::string_view statements = trimmed(edit.statements); !statements.empty()) {
    parts.emplace_back(statements);
  }
  if (edit.next) parts.push_back("-> " + *edit.next);
  out += fmt::format("block {}: {} {{", edit.name, edit.kind);
  for (const std::string& part : parts) out += "\n" + indented_lines(part, "    ");
  return out + (parts.empty() ? "}" : "\n}");
}

}  // namespace

NodeId last_of(const SyntaxTree& tree, NodeId parent, std::initializer_list<NodeKind> kinds) {
  NodeId last;
  for (NodeId child = tree.first(parent); child.exists(); child = tree.next(child)) {
    for (const NodeKind kind : kinds) {
      if (tree.kind(child) == kind) last = child;
    }
  }
  return last;
}

bool is_name(std::string_view text) {
  const source::SourceFile file({0}, "", std::string(text));
  diagnostics::Diagnostics diagnostics;
  const std::vector<syntax::Token> tokens = syntax::lex(file, diagnostics);
  return tokens.size() == 2 && tokens.front().kind == TokenKind::Identifier;
}

Result<const Agent*, std::string> get_agent(const EditedText& text, std::string_view agent) {
  if (const Agent* const found = text.graph.find(agent)) return found;
  return failure(fmt::format("there is no agent `{}`", agent));
}

Result<const Block*, std::string> get_block(const EditedText& text, std::string_view agent, std::string_view path) {
  const auto found = get_agent(text, agent);
  if (!found) return failure(found.error());
  if (const Block* const block = (*found)->find_block(path)) return block;
  return failure(fmt::format("`{}` has no block `{}`", agent, path));
}

Result<std::string, std::string> block_source(const EditedText& text, std::string_view agent, std::string_view path) {
  const auto block = get_block(text, agent, path);
  if (!block) return failure(block.error());
  return Patches(text.tree).documented_text((*block)->node);
}

Change insert_block(const EditedText& text, std::string_view agent_name, const Place& place, std::string_view source) {
  const auto agent = get_agent(text, agent_name);
  if (!agent) return failure(agent.error());
  const SyntaxTree& tree = text.tree;
  Patches patches(tree);
  const Sequence* const sequence = (*agent)->find_sequence(place.sequence);
  if (sequence == nullptr && place.after) {
    return failure(fmt::format("there is no block `{}` in `{}`", *place.after, place.sequence));
  }
  if (sequence == nullptr && (place.sequence == "pre_turn" || place.sequence == "post_turn")) {
    const NodeId node = (*agent)->node;
    const NodeId anchor = last_of(tree, node, sections);
    const std::string section = place.sequence + " {\n" + indented_lines(source, "    ") + "\n}";
    patches.insert_lines(braces_of(tree, node), anchor, section, Patches::Gap::EmptyLine);
    return patches.take();
  }
  if (sequence == nullptr) {
    // A for_each without blocks, or a parallel without that branch.
    const Block* block = (*agent)->find_block(place.sequence);
    std::string lines(source);
    NodeId anchor;
    if (block == nullptr || block->kind != "for_each") {
      block = (*agent)->find_block(sequence_of(place.sequence));
      const std::string_view branch = name_in(place.sequence);
      if (block == nullptr || block->kind != "parallel" || !is_name(branch)) {
        return failure(no_sequence(agent_name, place.sequence));
      }
      lines = fmt::format("branch {} {{\n{}\n}}", branch, indented_lines(source, "    "));
      anchor = last_of(tree, block->node, {NodeKind::BlockOption, NodeKind::BranchItem});
    } else {
      anchor = last_of(tree, block->node, {NodeKind::BlockOption, NodeKind::ItemClause});
    }
    patches.insert_lines(braces_of(tree, block->node), anchor, lines);
    return patches.take();
  }
  NodeId anchor = last_of(tree, sequence->node, {NodeKind::BlockItem});
  if (place.after) {
    const Block* const after = sequence->find(*place.after);
    if (after == nullptr) return failure(fmt::format("there is no block `{}` in `{}`", *place.after, place.sequence));
    anchor = after->node;
  }
  if (!anchor.exists() && tree.kind(sequence->node) == NodeKind::AgentItem) {
    anchor = last_of(tree, sequence->node, sections);
  }
  const bool among_options = tree.kind(sequence->node) == NodeKind::BlockItem;
  const NodeId next = anchor.exists() ? tree.next(anchor) : tree.first(sequence->node);
  const bool before_option = among_options && next.exists() && tree.kind(next) != NodeKind::BlockItem;
  Patches::Gap gap = Patches::Gap::EmptyLine;
  if (before_option) gap = Patches::Gap::EmptyLineBefore;
  patches.insert_lines(braces_of(tree, sequence->node), anchor, source, gap);
  return patches.take();
}

Change change(const EditedText& text, const AddBlock& edit) {
  const auto source = new_block(edit);
  if (!source) return failure(source.error());
  return insert_block(text, edit.agent, edit.place, *source);
}

Change change(const EditedText& text, const DeleteBlock& edit) {
  const auto block = get_block(text, edit.agent, edit.block);
  if (!block) return failure(block.error());
  Patches patches(text.tree);
  patches.remove_documented((*block)->node);
  return patches.take();
}

namespace {

/// The names of an agent's blocks, including nested ones.
void gather_names(const Sequence& sequence, std::set<std::string_view>& names) {
  for (const Block& block : sequence.blocks) {
    names.insert(block.name);
    for (const Sequence& nested : block.nested) gather_names(nested, names);
  }
}

/// The entries of tests' scripts for the block, `Agent::sort`, or for one of its generated functions,
/// `Agent::sort_choice`.
void rename_in_scripts(const SyntaxTree& tree, const Agent& agent, const std::set<std::string_view>& blocks,
                       std::string_view old, std::string_view name, Patches& patches) {
  std::set<std::string_view> functions;
  for (const NodeId function : tree.children(agent.node, NodeKind::FunctionItem)) {
    functions.insert(tree.main_text(function));
  }
  const auto is_old = [&](std::string_view callee) {
    if (functions.contains(callee)) return false;
    while (!blocks.contains(callee)) {
      const std::size_t underscore = callee.rfind('_');
      if (underscore == std::string_view::npos) return false;
      callee = callee.substr(0, underscore);
    }
    return callee == old;
  };
  for (const NodeId test : tree.children(tree.root, NodeKind::TestItem)) {
    const NodeId body = tree.find_child(test, NodeKind::Block);
    if (!body.exists()) continue;
    for (const NodeId script : tree.children(body, NodeKind::ScriptSection)) {
      for (const NodeId entry : tree.children(script, NodeKind::ScriptEntry)) {
        const std::vector<TokenIndex> path = tree.path(entry);
        if (path.size() != 2 || tree.text(path[0]) != agent.name || !is_old(tree.text(path[1]))) continue;
        source::Span span = tree.span(path[1]);
        span.length = static_cast<std::uint32_t>(old.size());
        patches.replace(span, name);
      }
    }
  }
}

}  // namespace

Change change(const EditedText& text, const RenameBlock& edit) {
  const auto block = get_block(text, edit.agent, edit.block);
  if (!block) return failure(block.error());
  if (!is_name(edit.name)) return failure(fmt::format("`{}` is not a valid block name", edit.name));
  const Agent& agent = **get_agent(text, edit.agent);
  const Sequence& sequence = *agent.find_sequence(sequence_of(edit.block));
  const std::string& old = (*block)->name;
  std::set<std::string_view> names;
  for (const Sequence& each : agent.sequences) gather_names(each, names);
  if (old != edit.name && names.contains(edit.name)) {
    return failure(fmt::format("there is a block `{}` already", edit.name));
  }
  const SyntaxTree& tree = text.tree;
  Patches patches(tree);
  patches.replace(tree.main_span((*block)->node), edit.name);
  for (const Block& other : sequence.blocks) {
    for (const Edge& edge : other.edges) {
      if (edge.target == old) patches.replace(tree.main_span(edge.node), edit.name);
    }
  }
  if (&sequence == &agent.main()) {
    for (const NodeId start : tree.children(agent.node, NodeKind::StartSection)) {
      if (tree.main_text(start) == old) patches.replace(tree.main_span(start), edit.name);
    }
  }
  rename_in_scripts(tree, agent, names, old, edit.name, patches);
  return patches.take();
}

namespace {

/// `start NAME` or `next_turn NAME`.
Change set_section(const EditedText& text, std::string_view agent_name, NodeKind kind, std::string_view word,
                   const std::optional<std::string>& name) {
  const auto agent = get_agent(text, agent_name);
  if (!agent) return failure(agent.error());
  if (name && !is_name(*name)) return failure(fmt::format("`{}` is not a valid name", *name));
  const SyntaxTree& tree = text.tree;
  const NodeId node = (*agent)->node;
  const NodeId section = tree.find_child(node, kind);
  Patches patches(tree);
  if (section.exists()) {
    if (name) {
      patches.replace(tree.main_span(section), *name);
    } else {
      patches.remove(section);
    }
  } else if (name) {
    NodeId anchor = last_of(
        tree, node,
        {NodeKind::StateSection, NodeKind::ScratchpadSection, NodeKind::InstructionsSection, NodeKind::StartSection});
    const NodeId next = anchor.exists() ? tree.next(anchor) : tree.first(node);
    const bool before_block = next.exists() && tree.kind(next) == NodeKind::BlockItem;
    patches.insert_lines(braces_of(tree, node), anchor, fmt::format("{} {}", word, *name),
                         before_block ? Patches::Gap::EmptyLineAfter : Patches::Gap::None);
  }
  return patches.take();
}

}  // namespace

Change change(const EditedText& text, const SetStart& edit) {
  return set_section(text, edit.agent, NodeKind::StartSection, "start", edit.block);
}

Change change(const EditedText& text, const SetNextTurn& edit) {
  return set_section(text, edit.agent, NodeKind::NextTurnSection, "next_turn", edit.mode);
}

Change change(const EditedText& text, const Replace& edit) {
  const std::string_view all = text.tree.file().text();
  if (edit.offset > all.size() || all.substr(edit.offset, edit.removed.size()) != edit.removed) {
    return failure(fmt::format("the text at byte {} is not the one to be replaced", edit.offset));
  }
  return std::vector<Patch>{{edit.offset, edit.removed.size(), edit.inserted}};
}

}  // namespace tenon::graph
