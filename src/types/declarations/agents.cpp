// Declarations of agents.

#include "types/declarations/declarations.h"

#include <algorithm>
#include <map>

#include "diagnostics/kinds.h"
#include "types/table/type_parts.h"

namespace tenon::types {

FunctionId Declarations::add_agent_function(const AgentDeclaration& agent, AgentId id, FunctionRole role, NodeId node,
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

void Declarations::collect_agent(NodeId item) {
  const std::string name(tree().main_text(item));
  const auto declared = module_->type_names.find(name);
  if (declared == module_->type_names.end()) return;
  const bool is_first = std::none_of(program_.agents.begin(), program_.agents.end(),
                                     [&](const AgentDeclaration& other) { return other.state == declared->second; });
  if (!is_first) return;  // reported where names are collected
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
  agent_name_ = name;
  for (const NodeId node : tree().children(item, NodeKind::FunctionItem)) {
    collect_function(node, agent.state);
    program_.functions.back().agent = id;
  }
  agent_name_.clear();
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
    // The input of an agent is part of the conversation, which the model sees.
    diagnostics_.report(diagnostics::SecretShown, input.span, describe(input.type), "passed to an agent")
        .hint("ask for it in the turn: `ask<secret String>(\"…\")`");
  }
  const TypeId result = declaration.result;
  // An agent's input and its answer are part of the conversation.
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
void Declarations::check_migration(const AgentDeclaration& agent, const std::string& method, FunctionId id) {
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

}  // namespace tenon::types
