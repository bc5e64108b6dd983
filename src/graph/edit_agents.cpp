// Edits of an agent's entries, instructions and doc comments.

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "graph/edit_step.h"
#include "graph/name_uses.h"

namespace tenon::graph {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::SyntaxTree;

std::string_view name_of(Section section) {
  return section == Section::State ? "state" : "scratchpad";
}

namespace {

NodeKind kind_of(Section section) {
  return section == Section::State ? NodeKind::StateSection : NodeKind::ScratchpadSection;
}

/// The entry that an edit names.
Result<NodeId, std::string> get_field(const EditedText& text, std::string_view agent_name, Section section,
                                      std::string_view field) {
  const auto agent = get_agent(text, agent_name);
  if (!agent) return failure(agent.error());
  for (const NodeId part : text.tree.children((*agent)->node, kind_of(section))) {
    for (const NodeId entry : text.tree.children(part, NodeKind::StateField)) {
      if (text.tree.main_text(entry) == field) return entry;
    }
  }
  return failure(fmt::format("the {} of `{}` has no entry `{}`", name_of(section), agent_name, field));
}

std::optional<std::string> find_name_problem(const Agent& agent, Section section, const std::string& name) {
  if (!is_name(name)) return fmt::format("`{}` is not a valid name", name);
  const std::vector<Setting>& fields = section == Section::State ? agent.state : agent.scratchpad;
  if (std::ranges::find(fields, name, &Setting::name) == fields.end()) return std::nullopt;
  return fmt::format("the {} of `{}` already has an entry `{}`", name_of(section), agent.name, name);
}

}  // namespace

Change change(const EditedText& text, const AddField& edit) {
  const auto agent = get_agent(text, edit.agent);
  if (!agent) return failure(agent.error());
  if (auto problem = find_name_problem(**agent, edit.section, edit.field.name)) return failure(*problem);
  const std::string_view type = trimmed(edit.field.type);
  const std::string_view value = trimmed(edit.field.value);
  if (type.empty()) return failure(fmt::format("the entry `{}` needs a type", edit.field.name));
  if (value.empty()) return failure(fmt::format("the entry `{}` needs a value to begin with", edit.field.name));
  const SyntaxTree& tree = text.tree;
  const std::string words = trimmed(edit.field.documentation).empty() ? "" : edit.field.documentation;
  const std::string lines = documentation_lines(words) + fmt::format("{}: {} = {}", edit.field.name, type, value);
  const NodeId node = (*agent)->node;
  const NodeId section = tree.find_child(node, kind_of(edit.section));
  Patches patches(tree);
  if (!section.exists()) {
    const bool has_state =
        edit.section == Section::Scratchpad && tree.find_child(node, NodeKind::StateSection).exists();
    const NodeId anchor = has_state ? last_of(tree, node, {NodeKind::StateSection}) : NodeId{};
    const std::string all = fmt::format("{} {{\n{}\n}}", name_of(edit.section), indented_lines(lines, "    "));
    patches.insert_lines(braces_of(tree, node), anchor, all,
                         has_state ? Patches::Gap::None : Patches::Gap::EmptyLineAfter);
    return patches.take();
  }
  NodeId anchor = last_of(tree, section, {NodeKind::StateField});
  if (edit.after) {
    const auto found = get_field(text, edit.agent, edit.section, *edit.after);
    if (!found) return failure(found.error());
    anchor = *found;
  }
  if (words.empty()) {
    patches.insert_element(braces_of(tree, section), anchor, lines);
  } else {
    patches.insert_lines(braces_of(tree, section), anchor, lines);
  }
  return patches.take();
}

Change change(const EditedText& text, const SetField& edit) {
  const auto field = get_field(text, edit.agent, edit.section, edit.field);
  if (!field) return failure(field.error());
  const SyntaxTree& tree = text.tree;
  const NodeId type = tree.first(*field);
  const NodeId value = type.exists() ? tree.next(type) : NodeId{};
  Patches patches(tree);
  for (const auto& [given, node, what] : {std::tuple(&edit.type, type, "type"), {&edit.value, value, "value"}}) {
    if (!*given) continue;
    if (trimmed(**given).empty()) return failure(fmt::format("the entry `{}` needs a {}", edit.field, what));
    if (!node.exists()) return failure(fmt::format("the entry `{}` has no {} to replace", edit.field, what));
    patches.replace(tree.span(node), trimmed(**given));
  }
  return patches.take();
}

Change change(const EditedText& text, const RenameField& edit) {
  const auto field = get_field(text, edit.agent, edit.section, edit.field);
  if (!field) return failure(field.error());
  const Agent& agent = **get_agent(text, edit.agent);
  Patches patches(text.tree);
  if (edit.name == edit.field) return patches.take();
  if (auto problem = find_name_problem(agent, edit.section, edit.name)) return failure(*problem);
  patches.replace(text.tree.main_span(*field), edit.name);
  for (const syntax::TokenIndex use : NameUses(text.tree).of_field(agent.node, name_of(edit.section), edit.field)) {
    patches.replace(text.tree.span(use), edit.name);
  }
  return patches.take();
}

Change change(const EditedText& text, const RemoveField& edit) {
  const auto field = get_field(text, edit.agent, edit.section, edit.field);
  if (!field) return failure(field.error());
  const SyntaxTree& tree = text.tree;
  Patches patches(tree);
  for (const NodeId section : tree.children((*get_agent(text, edit.agent))->node, kind_of(edit.section))) {
    const std::vector<NodeId> entries = tree.children(section, NodeKind::StateField);
    if (std::ranges::find(entries, *field) == entries.end()) continue;
    patches.remove_documented(entries.size() == 1 ? section : *field);
  }
  return patches.take();
}

Change change(const EditedText& text, const SetInstructions& edit) {
  const auto agent = get_agent(text, edit.agent);
  if (!agent) return failure(agent.error());
  const SyntaxTree& tree = text.tree;
  const NodeId node = (*agent)->node;
  const NodeId section = tree.find_child(node, NodeKind::InstructionsSection);
  const std::string_view statements = trimmed(edit.statements);
  Patches patches(tree);
  if (statements == trimmed((*agent)->instructions)) return patches.take();
  if (section.exists() && statements.empty()) {
    patches.remove_documented(section);
  } else if (section.exists()) {
    patches.replace_inside(braces_of(tree, section), statements);
  } else {
    const NodeId anchor = last_of(tree, node, {NodeKind::StateSection, NodeKind::ScratchpadSection});
    patches.insert_lines(braces_of(tree, node), anchor, "instructions {\n" + indented_lines(statements, "    ") + "\n}",
                         anchor.exists() ? Patches::Gap::EmptyLine : Patches::Gap::EmptyLineAfter);
  }
  return patches.take();
}

namespace {

/// The function of an agent, or the declaration of the file.
Result<NodeId, std::string> find_documented(const EditedText& text, const SetDocumentation& edit) {
  if (!edit.agent) {
    if (!edit.declaration) return failure(std::string("a doc comment needs `agent` or `declaration`"));
    const auto found = get_declaration(text, std::nullopt, *edit.declaration);
    if (!found) return failure(found.error());
    return (*found)->node;
  }
  if (edit.declaration) {
    const auto found = get_declaration(text, edit.agent, *edit.declaration);
    if (!found) return failure(found.error());
    return (*found)->node;
  }
  if (edit.block) {
    const auto block = get_block(text, *edit.agent, *edit.block);
    if (!block) return failure(block.error());
    return (*block)->node;
  }
  if (edit.section) return get_field(text, *edit.agent, *edit.section, edit.field);
  const auto agent = get_agent(text, *edit.agent);
  if (!agent) return failure(agent.error());
  return (*agent)->node;
}

}  // namespace

Change change(const EditedText& text, const SetDocumentation& edit) {
  const auto node = find_documented(text, edit);
  if (!node) return failure(node.error());
  Patches patches(text.tree);
  if (patches.replace_documentation(*node, trimmed(edit.text))) return patches.take();
  return failure(
      fmt::format("a doc comment needs its own line, and `{}` begins in the middle of one: put it on a line "
                  "of its own first",
                  text.tree.main_text(*node)));
}

}  // namespace tenon::graph
