#include "completion/suggestions.h"

#include <algorithm>

#include "blocks/kinds.h"
#include "blocks/model.h"
#include "types/standard_library.h"

namespace tenon::completion {

using syntax::NodeId;
using syntax::NodeKind;
using syntax::TokenIndex;
using syntax::TokenKind;

namespace {

/// The last token before this one that is not trivia.
TokenIndex before(const syntax::SyntaxTree& tree, TokenIndex token) {
  while (token > 0 && syntax::is_trivia(tree.tokens[--token].kind)) {
  }
  return token;
}

bool is_first_of_statement(const syntax::SyntaxTree& tree, const NodePath& path) {
  if (path.size() < 3) return false;
  return tree.kind(path[path.size() - 2]) == NodeKind::ExpressionStatement;
}

}  // namespace

std::vector<Suggestion> Suggestions::take() {
  add_names_for(text_.path().back());
  return std::move(found_);
}

void Suggestions::add(std::string_view label, NameKind kind, std::string detail, std::string documentation,
                      std::string inserted) {
  found_.push_back({std::string(label), kind, std::move(detail), std::move(documentation), std::move(inserted)});
}

void Suggestions::add_words(std::initializer_list<std::string_view> words, NameKind kind) {
  for (const std::string_view word : words) add(word, kind);
}

bool Suggestions::is_after(TokenKind kind) const {
  const syntax::SyntaxTree& tree = text_.tree();
  return tree.tokens[before(tree, text_.token())].kind == kind;
}

void Suggestions::add_names_for(NodeId node) {
  const syntax::SyntaxTree& tree = text_.tree();
  const bool is_main = tree[node].main_token == text_.token();
  switch (tree.kind(node)) {
    case NodeKind::FieldExpression:
    case NodeKind::MethodCallExpression: {
      const types::NodeFacts* const facts = text_.find_facts(tree.kind(node), CheckedText::Part::First);
      if (facts != nullptr) add_members(facts->type);
      return;
    }
    case NodeKind::NamedType:
      return add_types();
    case NodeKind::NameExpression:
    case NodeKind::PathPattern:
      if (is_after(TokenKind::ColonColon)) return add_for_path(node);
      if (tree.kind(node) == NodeKind::PathPattern) return add_patterns();
      add_option_values(node);
      add_names();
      return add_expression_words();
    case NodeKind::NamePattern:
      return add_patterns();
    case NodeKind::FieldInitializer:
      return add_fields_of_struct();
    case NodeKind::NextClause:
    case NodeKind::WhenClause:
    case NodeKind::ToClause:
    case NodeKind::ElseClause:
    case NodeKind::OnArm:
    case NodeKind::StartSection:
      if (is_main) return add_targets();
      return;
    case NodeKind::CalledClause:
      if (is_main) return add_targets();
      return add_functions(text_.module(), true);
    case NodeKind::NextTurnSection:
      return add_words({"restart", "resume", "smart"}, NameKind::Value);
    case NodeKind::BlockItem:
      if (tree.find_block_kind(node) == text_.token()) return add_kinds();
      if (!is_main) add_options();
      return;
    case NodeKind::BlockOption:
      if (is_main) add_options();
      return;
    case NodeKind::ScriptEntry:
      add_functions(text_.module(), true);
      return add_agents();
    case NodeKind::Path:
      if (is_after(TokenKind::ColonColon)) {
        for (const std::string_view name : types::standard_module_names()) add(name, NameKind::Module);
      } else {
        add("std", NameKind::Module, "", "", "std::");
      }
      return;
    case NodeKind::UseName: {
      const types::Module& module = text_.module();
      const auto names = tree.path(tree.first(text_.find_around(NodeKind::UseItem)));
      const auto used =
          names.empty() ? module.imports.end() : module.imports.find(std::string(tree.text(names.back())));
      if (used != module.imports.end()) add_module(text_.program().modules[used->second.module.index]);
      return;
    }
    case NodeKind::File:
    case NodeKind::AgentItem:
    case NodeKind::Error:
      return add_for_error();
    default:
      return;  // the name is declared here
  }
}

/// What is not read yet is known by what surrounds it.
void Suggestions::add_for_error() {
  const syntax::SyntaxTree& tree = text_.tree();
  const NodePath& path = text_.path();
  const auto around =
      std::find_if(path.rbegin(), path.rend(), [&](NodeId node) { return tree.kind(node) != NodeKind::Error; });
  const NodeKind kind = around == path.rend() ? NodeKind::File : tree.kind(*around);
  const bool is_name = kind != NodeKind::File && tree[*around].main_token == text_.token();
  if (is_name) return;
  if (kind == NodeKind::File) {
    for (const auto& [word, inserted] : {std::pair{"agent", "agent "},
                                         {"fn", "fn "},
                                         {"struct", "struct "},
                                         {"enum", "enum "},
                                         {"type", "type "},
                                         {"impl", "impl "},
                                         {"use", "use "},
                                         {"extern", "extern fn "},
                                         {"test", "test "}}) {
      add(word, NameKind::Keyword, "", "", inserted);
    }
  } else if (kind == NodeKind::AgentItem) {
    for (const auto& [word, inserted] : {std::pair{"block", "block "},
                                         {"state", "state {"},
                                         {"scratchpad", "scratchpad {"},
                                         {"instructions", "instructions {"},
                                         {"start", "start "},
                                         {"next_turn", "next_turn "},
                                         {"pre_turn", "pre_turn {"},
                                         {"post_turn", "post_turn {"},
                                         {"fn", "fn "}}) {
      add(word, NameKind::Keyword, "", "", inserted);
    }
  } else if (kind == NodeKind::BlockItem) {
    add_options();
  } else if (kind == NodeKind::TurnSection || kind == NodeKind::BranchItem) {
    add("block", NameKind::Keyword, "", "", "block ");
  } else if (kind != NodeKind::StateSection && kind != NodeKind::ScratchpadSection && kind != NodeKind::StructItem) {
    add_names();
  }
}

types::TypeId Suggestions::find_type(const std::string& name) const {
  const types::Module& module = text_.module();
  if (const auto found = module.type_names.find(name); found != module.type_names.end()) return found->second;
  if (const auto found = module.aliases.find(name); found != module.aliases.end()) return found->second;
  const auto imported = module.imports.find(name);
  if (imported == module.imports.end() || imported->second.is_module) return {};
  const types::Module& from = text_.program().modules[imported->second.module.index];
  const auto found = from.type_names.find(name);
  return found == from.type_names.end() ? types::TypeId{} : found->second;
}

const types::AgentDeclaration* Suggestions::find_agent(std::string_view name) const {
  const auto found = std::ranges::find(text_.program().agents, name, &types::AgentDeclaration::name);
  return found == text_.program().agents.end() ? nullptr : &*found;
}

/// After `Owner::`.
void Suggestions::add_for_path(NodeId node) {
  const syntax::SyntaxTree& tree = text_.tree();
  const TokenIndex owner_token = before(tree, before(tree, text_.token()));
  const std::string owner(tree.text(owner_token));
  const types::CheckedProgram& program = text_.program();
  if (const types::AgentDeclaration* const agent = find_agent(owner)) {
    std::string signature = "(input)";
    if (agent->run.exists()) {
      const types::FunctionDeclaration& run = program.functions[agent->run.index];
      signature = signature_of(program, run.parameters, run.result);
    }
    return add("run", NameKind::Function, std::move(signature), agent->documentation);
  }
  if (const types::TypeId type = find_type(owner); type.exists()) return add_cases(type, "");
  const auto imported = text_.module().imports.find(owner);
  if (imported != text_.module().imports.end() && imported->second.is_module) {
    return add_module(program.modules[imported->second.module.index]);
  }
  const bool is_value = tree.kind(node) == NodeKind::NameExpression;
  if (is_value && (owner == "Context" || owner == "List")) add("new", NameKind::Function, "()");
  if (is_value && owner == "Map") {
    add("new", NameKind::Function, "()");
    add("from", NameKind::Function, "(pairs)");
  }
}

void Suggestions::add_expression_words() {
  add_words({"if", "match", "for", "select", "parallel", "pursue", "try", "tools"});
  if (is_first_of_statement(text_.tree(), text_.path()))
    add_words({"let", "while", "return", "break", "continue", "assert"});
}

/// Values that only options of blocks have.
void Suggestions::add_option_values(NodeId node) {
  const syntax::SyntaxTree& tree = text_.tree();
  const NodeId option = text_.find_around(NodeKind::BlockOption);
  if (!option.exists()) return;
  const std::string_view name = tree.main_text(option);
  const bool is_whole = tree.first(option) == node;
  if (is_whole && name == "agent") add_agents();
  if (is_whole && name == "mode") add_words({"improve", "retry", "synthesize"}, NameKind::Value);
  if (is_whole && name == "format") {
    for (const std::string_view format : blocks::report_formats) add(format, NameKind::Value);
  }
  if (name == "into" || name == "read" || name == "write") add_fields_of_agent();
}

/// `state.topic`, `scratchpad.note`.
void Suggestions::add_fields_of_agent() {
  const syntax::SyntaxTree& tree = text_.tree();
  const NodeId agent = text_.find_around(NodeKind::AgentItem);
  if (!agent.exists()) return;
  for (const NodeId section : tree.children(agent)) {
    const bool is_state = tree.kind(section) == NodeKind::StateSection;
    if (!is_state && tree.kind(section) != NodeKind::ScratchpadSection) continue;
    for (const NodeId field : tree.children(section, NodeKind::StateField)) {
      const std::string place = (is_state ? "state." : "scratchpad.") + std::string(tree.main_text(field));
      const NodeId type = tree.first(field);
      add(place, NameKind::Field, type.exists() ? std::string(tree.text(type)) : "", tree.documentation(field));
    }
  }
}

void Suggestions::add_targets() {
  const syntax::SyntaxTree& tree = text_.tree();
  const NodePath& path = text_.path();
  const auto is_item = [&](NodeId node) { return tree.kind(node) == NodeKind::BlockItem; };
  const auto own = std::find_if(path.rbegin(), path.rend(), is_item);
  // The edges of a block lead to those beside it.
  const NodeId around = own == path.rend() ? text_.find_around(NodeKind::AgentItem) : *std::next(own);
  if (!around.exists()) return;
  for (const NodeId block : tree.children(around, NodeKind::BlockItem)) {
    const auto kind = tree.find_block_kind(block);
    add(tree.main_text(block), NameKind::Block, kind ? std::string(tree.text(*kind)) : "", tree.documentation(block));
  }
}

void Suggestions::add_kinds() {
  for (const blocks::KindRule& rule : blocks::kind_rules()) {
    add(rule.name, NameKind::BlockKind, "", std::string(rule.meaning));
  }
}

/// The options that the block does not have yet, and its edges.
void Suggestions::add_options() {
  const syntax::SyntaxTree& tree = text_.tree();
  const NodeId block = text_.find_around(NodeKind::BlockItem);
  if (!block.exists()) return;
  const auto kind = tree.find_block_kind(block);
  const blocks::KindRule* const rule = kind ? blocks::find_kind(tree.text(*kind)) : nullptr;
  if (rule == nullptr) return;
  const std::vector<NodeId> present = tree.children(block, NodeKind::BlockOption);
  const bool has_colon = tree.tokens[tree.next_significant(text_.token())].kind == TokenKind::Colon;
  for (const blocks::OptionRule& option : rule->options) {
    const auto is_it = [&](NodeId node) { return tree.main_text(node) == option.name; };
    if (std::ranges::any_of(present, is_it)) continue;
    const std::string inserted = std::string(option.name) + (has_colon ? "" : ": ");
    add(option.name, NameKind::Option, option.need == blocks::OptionRule::Need::Required ? "required" : "",
        std::string(option.meaning), inserted);
  }
  using blocks::Part;
  for (const auto& [part, word] : {std::pair{Part::When, "when"},
                                   {Part::To, "to"},
                                   {Part::On, "on"},
                                   {Part::Else, "else"},
                                   {Part::Called, "called"},
                                   {Part::Items, "item"},
                                   {Part::Branches, "branch"}}) {
    const std::string inserted = part == Part::Else ? "else -> " : std::string(word) + ' ';
    if (rule->allows(part)) add(word, NameKind::Keyword, "", "", inserted);
  }
  if (rule->allows(Part::Items)) add("block", NameKind::Keyword, "", "", "block ");
}

void Suggestions::add_agents() {
  for (const types::AgentDeclaration& agent : text_.program().agents) {
    if (agent.module == types::ModuleId{0}) add(agent.name, NameKind::Agent, "", agent.documentation);
  }
}

}  // namespace tenon::completion
