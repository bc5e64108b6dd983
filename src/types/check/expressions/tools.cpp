// Sets of tools: `tools { … }`.

#include "types/check/expressions/tools.h"

#include <algorithm>
#include <unordered_map>

#include "base/counted.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "syntax/limited_call.h"
#include "syntax/literals.h"
#include "types/check/body_checker.h"

namespace tenon::types {

/// The names in the set, as far as they are known: an empty name is one with an error.
std::vector<std::string> ToolChecker::names_of_tools(NodeId node) const {
  std::vector<std::string> names;
  for (const NodeId entry : tree().children(node, NodeKind::ToolEntry)) names.push_back(tool_name(entry));
  return names;
}

std::string ToolChecker::tool_name(NodeId entry) const {
  const NodeId expression = tree().first(entry);
  if (!expression.exists()) return {};
  if (tree()[entry].main_token >= tree()[expression].end_token) return std::string(tree().main_text(entry));
  const Target& target = facts(entry).target;
  if (target.kind == TargetKind::Extern) return program_.externs[target.index].name;
  if (target.kind != TargetKind::Function) return {};
  const FunctionDeclaration& function = program_.functions[target.index];
  if (function.role == FunctionRole::AgentRun) return program_.agents[function.agent.index].name;
  return function.name_as_tool();
}

TypeId ToolChecker::check_tools(NodeId node) {
  std::unordered_map<std::string, NodeId> seen;
  for (const NodeId entry : tree().children(node, NodeKind::ToolEntry)) {
    check_tool_entry(entry);
    const std::string name = tool_name(entry);
    if (name.empty()) continue;
    const auto [first, is_new] = seen.emplace(name, entry);
    if (!is_new) {
      diagnostics_.report(diagnostics::DuplicateTool, tree().span(entry), name)
          .label(tree().span(first->second), "first used here")
          .hint("rename one of them: `… as name`");
    }
  }
  return types_.tools();
}

void ToolChecker::check_given(std::span<const NodeId> arguments) {
  for (const NodeId argument : arguments) {
    if (tree().kind(argument) != NodeKind::HoleExpression) check_expression(argument, Expectation::any());
  }
}

/// The function or extern that the entry names, or nothing, which is reported. `expression`: its name or its call.
std::optional<Target> ToolChecker::find_tool(NodeId expression, NodeId callee, std::span<const NodeId> arguments) {
  if (!callee.exists() || tree().kind(callee) != NodeKind::NameExpression) {
    if (tree().kind(expression) == NodeKind::Error) return std::nullopt;
    check_given(arguments);
    diagnostics_.report(diagnostics::NotATool, tree().span(expression))
        .hint("write a name, or a call with `_` for the arguments from the model: `refund(id, _)`");
    return std::nullopt;
  }
  const std::vector<syntax::TokenIndex> path = tree().path(callee);
  if (path.empty()) return std::nullopt;
  const std::string written(tree().text(callee));
  if (path.size() == 1 && find_local(written)) {
    check_given(arguments);
    diagnostics_.report(diagnostics::VariableAsTool, tree().span(expression), written)
        .hint("use `+` to add a set of tools in a variable to another set");
    return std::nullopt;
  }
  Target target = checker_.names.find_callee(path);
  if (target.kind == TargetKind::None) {
    if (const auto agent = checker_.names.find_agent(path)) {
      const FunctionId run = program_.agents[agent->index].run;
      if (!run.exists()) return std::nullopt;  // reported at the agent's declaration
      target = {TargetKind::Function, run.index, 0};
    }
  }
  if (target.kind == TargetKind::None) {
    checker_.names.report_unknown_name(callee, tree().text(path.back()), tree().span(callee), BodyNames::Use::Called);
    check_given(arguments);
    return std::nullopt;
  }
  if (target.kind == TargetKind::Extern) {
    checker_.names.reject_notification(expression, ExternId{target.index});
    return target;
  }
  const FunctionDeclaration& function = program_.functions[target.index];
  if (function.role != FunctionRole::Written && function.role != FunctionRole::AgentRun) {
    check_given(arguments);
    diagnostics_.report(diagnostics::HandoffAsTool, tree().span(expression))
        .hint("use the name of the agent alone to let it answer as a tool");
    return std::nullopt;
  }
  checker_.names.check_agent_access(expression, function);
  return target;
}

void ToolChecker::check_tool_entry(NodeId entry) {
  const syntax::LimitedCall limited = syntax::read_limited_call(tree(), tree().first(entry));
  const NodeId expression = limited.call;
  if (!expression.exists()) return;
  if (limited.budget.exists()) checker_.budgets.check_budget_clause(limited.budget);
  const bool is_call = tree().kind(expression) == NodeKind::CallExpression;
  const NodeId callee = is_call ? tree().first(expression) : expression;
  const NodeId list = is_call ? tree().find_child(expression, NodeKind::Arguments) : NodeId{};
  std::vector<NodeId> arguments;
  if (list.exists()) arguments = tree().children(list);
  const std::optional<Target> target = find_tool(expression, callee, arguments);
  if (!target) return;
  facts(entry).target = *target;
  if (limited.strategy.exists()) checker_.contracts.check_call_strategy(tree().first(entry), limited.strategy, *target);
  const bool is_function = target->kind == TargetKind::Function;
  const std::string name = is_function ? program_.functions[target->index].name : program_.externs[target->index].name;
  const std::vector<Parameter> parameters =
      is_function ? program_.functions[target->index].parameters : program_.externs[target->index].parameters;
  const std::vector<TypeId> type_parameters = is_function ? program_.functions[target->index].type_parameter_types
                                                          : program_.externs[target->index].type_parameter_types;
  TypeId result = is_function ? program_.functions[target->index].result : program_.externs[target->index].result;
  std::vector<TypeId> given = body_.resolver.resolve_type_arguments(tree().find_child(callee, NodeKind::TypeArguments));
  if (given.size() != type_parameters.size()) {
    auto& report = diagnostics_.report(diagnostics::TypeArgumentCount, tree().span(callee), name,
                                       counted(type_parameters.size(), "type argument"), counted_were(given.size()));
    if (given.empty()) report.hint(fmt::format("specify the type: `{}<…>(_)`", name));
    given.resize(type_parameters.size(), TypeTable::error);
  }
  facts(entry).type_arguments = given;
  result = checker_.assignability.substitute(result, type_parameters, given);
  const bool shows_secret = holds_secret(types_, result);
  if (shows_secret || types_.kind(result) == TypeKind::Tools) {
    diagnostics_.report(diagnostics::ToolResultNotVisible, tree().span(expression), name, describe(result))
        .hint("wrap it in a function that returns only what the model may see");
  }
  const auto contexts =
      static_cast<std::size_t>(std::count_if(parameters.begin(), parameters.end(), [](const Parameter& parameter) {
        return parameter.type == TypeTable::context;
      }));
  const bool leaves_contexts_out = is_call && arguments.size() + contexts == parameters.size();
  if (is_call && !leaves_contexts_out && arguments.size() != parameters.size()) {
    diagnostics_.report(diagnostics::ArgumentCount, tree().span(expression), name,
                        counted(parameters.size(), "argument"), counted_were(arguments.size()));
    check_given(arguments);
    return;
  }
  std::size_t next = 0;
  for (const Parameter& parameter : parameters) {
    const TypeId type = checker_.assignability.substitute(parameter.type, type_parameters, given);
    const bool is_fresh = type == TypeTable::context && (!is_call || leaves_contexts_out);
    if (is_fresh) continue;
    const NodeId argument = is_call ? arguments[next++] : expression;
    if (is_call && tree().kind(argument) != NodeKind::HoleExpression) {
      check_value(argument, type);
    } else {
      if (is_call) record(argument, type);
      if (!is_answerable(type)) {
        diagnostics_
            .report(diagnostics::HoleTypeNotSupported, tree().span(argument),
                    parameter.name.empty() ? "this argument" : "`" + parameter.name + "`", describe(type))
            .hint(fmt::format("supply it here: `{}(…)`, with `_` for the arguments from the model", name));
      }
    }
  }
}

/// `only` and `without` on a `tools { … }` expression: names that it does not have are reported.
void ToolChecker::check_tool_names(NodeId receiver, NodeId argument) {
  receiver = tree().without_parentheses(receiver);
  if (!receiver.exists()) return;
  if (tree().kind(receiver) != NodeKind::ToolsExpression || tree().kind(argument) != NodeKind::ListExpression) return;
  const std::vector<std::string> names = names_of_tools(receiver);
  if (std::find(names.begin(), names.end(), "") != names.end()) return;
  for (const NodeId item : tree().children(argument)) {
    if (tree().kind(item) != NodeKind::StringExpression) continue;
    const std::optional<std::string> name = syntax::plain_string(tree(), item);
    if (!name || std::find(names.begin(), names.end(), *name) != names.end()) continue;
    auto& report = diagnostics_.report(diagnostics::UnknownTool, tree().span(item), *name);
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    if (const auto nearest = diagnostics::find_nearest(*name, candidates))
      report.hint(fmt::format("did you mean `{}`?", *nearest));
  }
}

}  // namespace tenon::types
