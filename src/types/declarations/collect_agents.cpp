// Declarations of agents.

#include <algorithm>
#include <map>

#include "diagnostics/kinds.h"
#include "types/check/checker.h"
#include "types/type_parts.h"

namespace tenon::types {

/// The entries of `state { … }` are the fields of a struct of the agent's name.
void Checker::collect_agent_state(NodeId item, TypeId type) {
  if (types_.kind(type) != TypeKind::Struct || !types_.struct_type(type).fields.empty()) return;
  const NodeId section = tree().find_child(item, NodeKind::StateSection);
  if (!section.exists()) return;
  std::vector<Field> fields;
  for (const NodeId field : tree().children(section, NodeKind::StateField)) {
    const std::string name(tree().main_text(field));
    const NodeId type_node = tree().first(field);
    TypeId entry = type_node.exists() ? resolve_declared_type(field, type_node) : TypeTable::error;
    if (refuse_context(entry, type_node, "stored in a field")) entry = TypeTable::error;
    const auto same = [&](const Field& other) { return other.name == name; };
    if (std::any_of(fields.begin(), fields.end(), same)) {
      diagnostics_.report(diagnostics::DeclaredTwice, tree().main_span(field), name);
      continue;
    }
    fields.push_back({name, entry, tree().documentation(field)});
  }
  types_.mutable_struct(type).fields = std::move(fields);
}

FunctionId Checker::add_agent_function(const AgentDeclaration& agent, AgentId id, FunctionRole role, NodeId node,
                                       std::string_view name, std::vector<Parameter> parameters, TypeId result) {
  FunctionDeclaration function;
  function.role = role;
  function.agent = id;
  function.module = module_id_;
  function.node = node;
  function.name = agent.name + "::" + std::string(name);
  function.documentation = agent.documentation;
  function.parameters = std::move(parameters);
  function.result = result;
  if (!function.parameters.empty() && function.parameters[0].type == TypeTable::context) function.own_context = 0;
  program_.functions.push_back(std::move(function));
  return FunctionId{static_cast<std::uint32_t>(program_.functions.size() - 1)};
}

void Checker::collect_agent(NodeId item) {
  const std::string name(tree().main_text(item));
  const auto declared = module_->type_names.find(name);
  if (declared == module_->type_names.end()) return;
  const bool is_first = std::none_of(program_.agents.begin(), program_.agents.end(),
                                     [&](const AgentDeclaration& other) { return other.state == declared->second; });
  if (!is_first) return;  // told where names are collected
  const AgentId id{static_cast<std::uint32_t>(program_.agents.size())};
  AgentDeclaration agent;
  agent.module = module_id_;
  agent.node = item;
  agent.name = name;
  agent.documentation = tree().documentation(item);
  agent.state = declared->second;
  for (const NodeKind section : {NodeKind::StateSection, NodeKind::InstructionsSection}) {
    const std::vector<NodeId> sections = tree().children(item, section);
    for (std::size_t at = 1; at < sections.size(); ++at) {
      diagnostics_.report(diagnostics::DuplicateSection, tree().main_span(sections[at]), name,
                          section == NodeKind::StateSection ? "state" : "instructions");
    }
  }
  if (const NodeId section = tree().find_child(item, NodeKind::StateSection); section.exists()) {
    for (const NodeId field : tree().children(section, NodeKind::StateField)) {
      if (!tree().is_written(tree()[field].main_token)) agent.added_entries.emplace_back(tree().main_text(field));
    }
  }
  program_.agents.push_back(agent);
  for (const NodeId node : tree().children(item, NodeKind::FunctionItem)) {
    collect_function(node, agent.state);
    program_.functions.back().agent = id;
  }
  auto& methods = program_.methods[agent.state.index];
  const auto turn = methods.find("turn");
  if (turn == methods.end()) {
    diagnostics_.report(diagnostics::MissingTurn, tree().main_span(item), name)
        .hint("add `fn turn(ctx: Context, input: String) -> String { … }`");
    return;
  }
  agent.turn = turn->second;
  const FunctionDeclaration& declaration = program_.functions[agent.turn.index];
  const std::vector<Parameter>& parameters = declaration.parameters;
  if (parameters.size() != 2 || parameters[0].type != TypeTable::context || parameters[1].type == TypeTable::context ||
      !declaration.type_parameters.empty()) {
    diagnostics_.report(diagnostics::TurnParameters, tree().main_span(declaration.node), name)
        .hint("write `fn turn(ctx: Context, input: String) -> String`");
    return;
  }
  const Parameter input = parameters[1];
  if (holds_secret(types_, input.type)) {
    // What is said to an agent is part of the conversation, which the model sees.
    diagnostics_.report(diagnostics::SecretShown, input.span, describe(input.type), "passed to an agent")
        .hint("ask for it in the turn: `ask<secret String>(\"…\")`");
  }
  const TypeId result = declaration.result;
  // What is said to an agent and what it answers are part of the conversation.
  if (types_.kind(input.type) == TypeKind::Tools || types_.kind(result) == TypeKind::Tools) {
    diagnostics_
        .report(diagnostics::ToolsNotAllowed, tree().main_span(declaration.node),
                types_.kind(result) == TypeKind::Tools ? "returned from an agent" : "passed to an agent")
        .hint("build the set where the agent uses it");
    return;
  }
  for (const auto& [method, function] : std::map(methods.begin(), methods.end())) {
    check_migration(agent, method, function);
  }
  agent.initial_state = add_agent_function(agent, id, FunctionRole::InitialState, item, "state", {}, agent.state);
  if (const NodeId section = tree().find_child(item, NodeKind::InstructionsSection); section.exists()) {
    agent.instructions = add_agent_function(agent, id, FunctionRole::Instructions, section, "instructions",
                                            {{"", TypeTable::context, tree().main_span(section)}}, TypeTable::unit);
  }
  agent.run = add_agent_function(agent, id, FunctionRole::AgentRun, item, "run", {input}, result);
  if (const auto [found, added] = methods.emplace("run", agent.run); !added) {
    const FunctionDeclaration& run = program_.functions[found->second.index];
    diagnostics_.report(diagnostics::ReservedAgentFunction, tree().main_span(run.node), name, "run")
        .hint("`" + name + "::run(input)` already calls the agent; rename the function");
  }
  agent.take_over = add_agent_function(agent, id, FunctionRole::TakeOver, item, "handoff",
                                       {{"", TypeTable::context, input.span}, input}, result);
  if (const auto [found, added] = methods.emplace("handoff", agent.take_over); !added) {
    const FunctionDeclaration& handoff = program_.functions[found->second.index];
    diagnostics_.report(diagnostics::ReservedAgentFunction, tree().main_span(handoff.node), name, "handoff")
        .hint("`" + name + "::handoff(input)` already hands off to the agent; rename the function");
  }
  program_.agents.back() = agent;
}

/// `fn migrate(old: ShopperBefore) -> Shopper`: the agent's state, made of what it was in an older program. There may
/// be several, `migrate_…`, for several older programs.
void Checker::check_migration(const AgentDeclaration& agent, const std::string& method, FunctionId id) {
  if (method != "migrate" && !method.starts_with("migrate_")) return;
  const FunctionDeclaration& function = program_.functions[id.index];
  const bool is_right = function.type_parameters.empty() && function.parameters.size() == 1 &&
                        types_.kind(function.parameters[0].type) == TypeKind::Struct &&
                        function.parameters[0].type != agent.state && function.result == agent.state;
  if (is_right) return;
  diagnostics_.report(diagnostics::MigrationSignature, tree().main_span(function.node), method, agent.name)
      .hint("write `fn " + method + "(old: Before) -> " + agent.name +
            "`, where `struct Before` has the fields of the old state");
}

/// `Billing::handoff(input)` in the `turn` of another agent: the turn ends here, and the other one's answer is its
/// value.
TypeId Checker::check_handoff(NodeId node, FunctionId id, std::span<const NodeId> arguments) {
  const FunctionDeclaration& callee = program_.functions[id.index];
  const std::string name = program_.agents[callee.agent.index].name;
  const FunctionDeclaration& caller = program_.functions[function_.index];
  const bool in_turn = caller.agent.exists() && program_.agents[caller.agent.index].turn == function_;
  facts(node).target = {TargetKind::Function, id.index, 0};
  if (!in_turn || in_branch_ || depth_.closures > 0 || depth_.guarded > 0) {
    diagnostics_.report(diagnostics::MisplacedHandoff, tree().span(node), name)
        .hint("hand off in an agent's `turn`, outside of parallel branches, closures, `try` and `catch`");
  } else if (callee.result != caller.result) {
    diagnostics_.report(diagnostics::TypeMismatch, tree().span(node), describe(callee.result), describe(caller.result))
        .hint("the other agent's answer becomes the answer of this turn, so both must have the same type");
  }
  if (expect_count(node, name + "::handoff", 1, arguments.size())) {
    if (tree().kind(arguments[0]) == NodeKind::HoleExpression) {
      diagnostics_.report(diagnostics::MisplacedHole, tree().span(arguments[0]));
    } else {
      check_value(arguments[0], callee.parameters[1].type);
    }
  }
  return TypeTable::never;
}

/// An agent's functions work on its state, which exists in its turns alone.
void Checker::check_agent_access(NodeId call, const FunctionDeclaration& function) {
  if (!function.agent.exists() || function.role == FunctionRole::AgentRun) return;
  if (function_.exists() && program_.functions[function_.index].agent == function.agent) return;
  const AgentDeclaration& agent = program_.agents[function.agent.index];
  diagnostics_.report(diagnostics::PrivateAgentFunction, tree().span(tree().first(call)), function.name, agent.name)
      .hint("use `" + agent.name + "::run(input)` to call the agent");
}

/// What instructions would change is gone when they have been said.
void Checker::refuse_state_change(NodeId place, std::uint32_t local) {
  const FunctionDeclaration& function = program_.functions[function_.index];
  if (function.role != FunctionRole::Instructions || !program_.locals[local].is_agent_state) return;
  diagnostics_
      .report(diagnostics::InstructionsModifyState, tree().span(place), program_.agents[function.agent.index].name)
      .hint("modify the state in `turn`; instructions can only read it");
}

void Checker::check_initial_state(const FunctionDeclaration& function) {
  const NodeId section = tree().find_child(function.node, NodeKind::StateSection);
  if (!section.exists()) return;
  const std::vector<Field> fields = types_.struct_type(function.result).fields;
  std::size_t at = 0;
  for (const NodeId field : tree().children(section, NodeKind::StateField)) {
    if (at == fields.size() || fields[at].name != tree().main_text(field)) continue;  // declared twice
    const TypeId type = fields[at++].type;
    const NodeId type_node = tree().first(field);
    const NodeId value = type_node.exists() ? tree().next(type_node) : NodeId{};
    if (value.exists()) check_value(value, type);
  }
}

}  // namespace tenon::types
