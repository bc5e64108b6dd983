// Groups of suggestions that come from the checked program.
#include <algorithm>

#include "completion/suggestions.h"
#include "types/builtin_methods.h"
#include "types/builtins.h"

namespace tenon::completion {

using syntax::NodeId;
using syntax::NodeKind;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;

std::string signature_of(const types::CheckedProgram& program, const std::vector<types::Parameter>& parameters,
                         TypeId result) {
  std::string text = "(";
  for (const types::Parameter& parameter : parameters) {
    if (parameter.type == TypeTable::context) continue;
    if (text.size() > 1) text += ", ";
    if (!parameter.name.empty()) text += parameter.name + ": ";
    text += program.types.describe_briefly(parameter.type);
  }
  text += ")";
  if (result.exists() && result != TypeTable::unit) text += " -> " + program.types.describe_briefly(result);
  return text;
}

void Suggestions::add_names() {
  for (const types::Local* const local : text_.variables()) {
    add(local->name, NameKind::Variable, local->is_agent_state ? "" : describe(local->type));
  }
  const NodeId agent = text_.find_around(NodeKind::AgentItem);
  const bool has_scratchpad = agent.exists() && text_.tree().find_child(agent, NodeKind::ScratchpadSection).exists() &&
                              text_.find_around(NodeKind::BlockItem).exists();
  if (has_scratchpad) add("scratchpad", NameKind::Variable);
  add_agent_functions();
  add_functions(text_.module(), true);
  add_agents();
  for (const auto& [name, type] : text_.module().type_names) {
    const bool is_written =
        text_.module().declared_at.contains(name) && text_.is_written(text_.module().declared_at.at(name), name);
    if (is_written && find_agent(name) == nullptr) add(name, NameKind::Type);
  }
  for (const auto& [name, imported] : text_.module().imports) {
    add(name, imported.is_module ? NameKind::Module : NameKind::Function);
  }
  for (const auto& [name, id] : text_.program().effect_builtins) {
    const types::ExternDeclaration& effect = text_.program().externs[id.index];
    add(name, NameKind::Function, signature_of(text_.program(), effect.parameters, effect.result),
        effect.documentation);
  }
  add("fail", NameKind::Function, "(message: String)", "Ends the function with a failure.");
  add("endorse", NameKind::Function, "(value: T, why: String) -> T", "The value, which the program answers for.");
  add_words({"true", "false", "None", "Some", "Ok", "Err", "Context", "Map", "List"}, NameKind::Value);
}

/// Those of the agent around the place, which know each other by their own names.
void Suggestions::add_agent_functions() {
  const syntax::SyntaxTree& tree = text_.tree();
  const NodeId node = text_.find_around(NodeKind::AgentItem);
  const types::AgentDeclaration* const agent = node.exists() ? find_agent(tree.main_text(node)) : nullptr;
  if (agent == nullptr) return;
  const types::CheckedProgram& program = text_.program();
  const auto methods = program.methods.find(agent->state.index);
  if (methods == program.methods.end()) return;
  for (const NodeId written : tree.children(node, NodeKind::FunctionItem)) {
    const auto found = methods->second.find(std::string(tree.main_text(written)));
    if (found == methods->second.end()) continue;
    const types::FunctionDeclaration& function = program.functions[found->second.index];
    add(found->first, NameKind::Function, signature_of(program, function.parameters, function.result),
        function.documentation);
  }
}

void Suggestions::add_functions(const types::Module& module, bool is_entry) {
  const types::CheckedProgram& program = text_.program();
  for (const auto& [name, id] : module.functions) {
    const types::FunctionDeclaration& function = program.functions[id.index];
    const bool is_shown =
        !is_entry || (module.declared_at.contains(name) && text_.is_written(module.declared_at.at(name), name));
    if (!is_shown) continue;
    add(name, NameKind::Function, signature_of(program, function.parameters, function.result), function.documentation);
  }
  for (const auto& [name, id] : module.externs) {
    const types::ExternDeclaration& native = program.externs[id.index];
    add(name, NameKind::Extern, signature_of(program, native.parameters, native.result), native.documentation);
  }
}

void Suggestions::add_module(const types::Module& module) {
  add_functions(module, false);
  for (const auto& [name, type] : module.type_names) add(name, NameKind::Type);
  for (const auto& [name, type] : module.aliases) add(name, NameKind::Type);
}

void Suggestions::add_types() {
  const types::Module& module = text_.module();
  for (const auto& names : {module.type_names, module.aliases}) {
    for (const auto& [name, type] : names) {
      if (!module.declared_at.contains(name) || !text_.is_written(module.declared_at.at(name), name)) continue;
      if (find_agent(name) == nullptr) add(name, NameKind::Type);
    }
  }
  for (const std::string_view name : types::builtin_type_names()) add(name, NameKind::Type);
  for (const auto& [name, imported] : module.imports) {
    if (imported.is_module || find_type(name).exists())
      add(name, imported.is_module ? NameKind::Module : NameKind::Type);
  }
}

void Suggestions::add_fields(TypeId type, const std::set<std::string, std::less<>>& without) {
  const types::CheckedProgram& program = text_.program();
  for (const types::Field& field : program.types.struct_type(type).fields) {
    if (!without.contains(field.name)) add(field.name, NameKind::Field, describe(field.type), field.documentation);
  }
}

/// After a `.`.
void Suggestions::add_members(TypeId type) {
  types::CheckedProgram& program = text_.program();
  if (type == TypeTable::error) return;
  const bool is_optional = is_after(syntax::TokenKind::QuestionDot);
  if (is_optional && program.types.kind(type) == TypeKind::Option) type = program.types.get(type).arguments[0];
  const TypeId base = program.types.base(type);
  const auto agent = std::ranges::find(program.agents, base, &types::AgentDeclaration::state);
  const bool is_state = agent != program.agents.end();
  if (program.types.kind(base) == TypeKind::Struct) {
    std::set<std::string, std::less<>> hidden;
    if (is_state) hidden.insert(agent->added_entries.begin(), agent->added_entries.end());
    add_fields(base, hidden);
  }
  if (is_state) return;
  if (const auto methods = program.methods.find(base.index); methods != program.methods.end()) {
    for (const auto& [name, id] : methods->second) {
      const types::FunctionDeclaration& function = program.functions[id.index];
      std::vector<types::Parameter> parameters = function.parameters;
      if (parameters.empty() || parameters.front().name != "self") continue;
      parameters.erase(parameters.begin());
      add(name, NameKind::Method, signature_of(program, parameters, function.result), function.documentation);
    }
  }
  for (const std::string_view name : types::builtin_method_names(program.types, base)) {
    const auto method = types::find_builtin_method(program.types, base, name);
    std::string detail;
    if (method) {
      std::vector<types::Parameter> parameters;
      for (const TypeId parameter : method->parameters) parameters.push_back({"", parameter, {}, {}});
      detail = signature_of(program, parameters, method->result);
    }
    add(name, NameKind::Method, std::move(detail));
  }
}

void Suggestions::add_cases(TypeId type, std::string_view owner) {
  const types::CheckedProgram& program = text_.program();
  const TypeId base = program.types.base(type);
  if (program.types.kind(base) != TypeKind::Enum) return;
  for (const types::Variant& variant : program.types.enum_type(base).variants) {
    std::string payload;
    for (const TypeId part : variant.payload) payload += (payload.empty() ? "(" : ", ") + describe(part);
    if (!payload.empty()) payload += ")";
    const std::string label = (owner.empty() ? "" : std::string(owner) + "::") + variant.name;
    add(label, NameKind::Case, std::move(payload), variant.documentation);
  }
}

/// In a `match`: the cases of the value.
void Suggestions::add_patterns() {
  if (!text_.find_around(NodeKind::MatchArm).exists() && !text_.find_around(NodeKind::LetCondition).exists()) return;
  const types::NodeFacts* const facts = text_.find_facts(NodeKind::MatchExpression, CheckedText::Part::First);
  const types::CheckedProgram& program = text_.program();
  if (facts != nullptr && facts->type != TypeTable::error) {
    const TypeId base = program.types.base(facts->type);
    if (program.types.kind(base) == TypeKind::Enum) return add_cases(base, program.types.enum_type(base).name);
    if (program.types.kind(base) == TypeKind::Option) return add_words({"Some", "None"}, NameKind::Case);
    if (program.types.kind(base) == TypeKind::Result) return add_words({"Ok", "Err"}, NameKind::Case);
  }
  add_words({"Some", "None", "Ok", "Err"}, NameKind::Case);
}

/// In `Order { … }`: the fields that it does not have yet.
void Suggestions::add_fields_of_struct() {
  const syntax::SyntaxTree& tree = text_.tree();
  const NodeId node = text_.find_around(NodeKind::StructExpression);
  if (!node.exists()) return;
  const TypeId type = find_type(std::string(tree.text(tree.first(node))));
  if (!type.exists() || text_.program().types.kind(type) != TypeKind::Struct) return;
  std::set<std::string, std::less<>> given;
  for (const NodeId field : tree.children(node, NodeKind::FieldInitializer)) given.emplace(tree.main_text(field));
  const std::size_t first = found_.size();
  add_fields(type, given);
  for (std::size_t at = first; at < found_.size(); ++at) found_[at].inserted = found_[at].label + ": ";
}

}  // namespace tenon::completion
