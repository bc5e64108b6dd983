// BodyNames of functions, externs and agents in a body, and what may be done with them there.

#include "types/check/expressions/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "types/check/body_checker.h"

namespace tenon::types {

/// What is written for a value of other languages.
std::optional<std::string_view> find_foreign_value(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"null", "None"},    {"nil", "None"},  {"undefined", "None"}, {"NULL", "None"}, {"none", "None"},
      {"nothing", "None"}, {"True", "true"}, {"False", "false"},    {"TRUE", "true"}, {"FALSE", "false"},
  };
  for (const auto& [other, ours] : words) {
    if (other == word) return ours;
  }
  return std::nullopt;
}

std::optional<std::string_view> find_foreign_case(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"Just", "Some"},    {"Success", "Ok"}, {"Right", "Ok"},  {"Error", "Err"}, {"Failure", "Err"},
      {"Failed", "Err"},   {"Left", "Err"},   {"some", "Some"}, {"ok", "Ok"},     {"err", "Err"},
      {"Nothing", "None"}, {"Some", "Some"},  {"None", "None"}, {"Ok", "Ok"},     {"Err", "Err"},
  };
  for (const auto& [other, ours] : words) {
    if (other == word) return ours;
  }
  return std::nullopt;
}

/// An agent's functions work on its state, which exists in its turns alone.
void BodyNames::check_agent_access(NodeId call, const FunctionDeclaration& function) {
  if (!function.agent.exists() || function.role == FunctionRole::AgentRun) return;
  if (body_.function.agent == function.agent) return;
  const AgentDeclaration& agent = program_.agents[function.agent.index];
  diagnostics_.report(diagnostics::PrivateAgentFunction, tree().span(tree().first(call)), function.name, agent.name)
      .hint("use `" + agent.name + "::run(input)` to call the agent");
}

/// Changes of the state by instructions would be lost.
void BodyNames::reject_state_change(NodeId place, LocalId variable) {
  const FunctionDeclaration& function = body_.function;
  if (function.role != FunctionRole::Instructions || !local(variable).is_agent_state) return;
  diagnostics_
      .report(diagnostics::InstructionsModifyState, tree().span(place), program_.agents[function.agent.index].name)
      .hint("modify the state in `turn`; instructions can only read it");
}

std::optional<FunctionId> BodyNames::find_function(std::string_view name) {
  const std::string key(name);
  // An agent's functions know each other by their own names.
  const bool in_agent = body_.function.agent.exists();
  if (in_agent) {
    const AgentDeclaration& agent = program_.agents[body_.function.agent.index];
    const auto& own = program_.methods.at(agent.state.index);
    if (const auto found = own.find(key);
        found != own.end() && program_.functions[found->second.index].role == FunctionRole::Written)
      return found->second;
  }
  if (const auto found = module_->functions.find(key); found != module_->functions.end()) return found->second;
  const auto imported = module_->imports.find(key);
  if (imported == module_->imports.end() || imported->second.is_module) return std::nullopt;
  const Module& from = program_.modules[imported->second.module.index];
  const auto found = from.functions.find(key);
  return found == from.functions.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ExternId> BodyNames::find_extern(std::string_view name) {
  const std::string key(name);
  if (const auto found = module_->externs.find(key); found != module_->externs.end()) return found->second;
  const auto imported = module_->imports.find(key);
  if (imported == module_->imports.end() || imported->second.is_module) return std::nullopt;
  const Module& from = program_.modules[imported->second.module.index];
  const auto found = from.externs.find(key);
  return found == from.externs.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ExternId> BodyNames::find_effect_builtin(std::string_view name) const {
  const auto found = program_.effect_builtins.find(std::string(name));
  return found == program_.effect_builtins.end() ? std::nullopt : std::optional(found->second);
}

/// Notifications report what the program does, so a model cannot call them.
void BodyNames::reject_notification(NodeId node, ExternId id) {
  const ExternDeclaration& called = program_.externs[id.index];
  if (!is_notification(called.builtin_effect)) return;
  diagnostics_.report(diagnostics::NotificationByModel, tree().span(node), called.name)
      .hint("let the model call one of your functions or produce a text, then call it from there");
}

/// `xs.push(x)` needs a place that it can change.
void BodyNames::check_mutable_receiver(NodeId receiver, std::string_view name) {
  const NodeId root = tree().root_of_place(receiver);
  const Target& target = facts(root).target;
  if (tree().kind(root) != NodeKind::NameExpression || target.kind != TargetKind::Local) {
    diagnostics_.report(diagnostics::NotAssignable, tree().span(receiver), "this expression")
        .hint(fmt::format("bind the value with `let` first: `{}` modifies its receiver", name));
    return;
  }
  reject_state_change(receiver, LocalId{target.index});
  if (body_.contract_scope && body_.scope.is_among_first(*body_.contract_scope, LocalId{target.index})) {
    diagnostics_.report(diagnostics::ContractSideEffect, tree().span(receiver),
                        fmt::format("a change to `{}`", tree().text(root)));
    return;
  }
  if (body_.scope.is_among_first(body_.branch_start, LocalId{target.index})) {
    diagnostics_.report(diagnostics::AssignmentInBranch, tree().span(receiver), std::string(tree().text(root)))
        .hint("return the result as the value of the branch instead");
  }
}

/// The cases of that name, as `Enum::Case`: that of the enum that is expected, if it has one, or those of the module's
/// enums.
std::vector<std::string> BodyNames::find_cases(std::string_view name, Expectation expected) {
  const auto is_of = [&](TypeId type) { return types_.kind(type) == TypeKind::Enum && body_.find_member(type, name); };
  std::vector<std::string> found;
  TypeId goal = expected.has_type() ? types_.base(expected.type) : TypeTable::error;
  while (types_.kind(goal) == TypeKind::Option) goal = types_.base(types_.get(goal).arguments[0]);
  if (is_of(goal)) return {fmt::format("{}::{}", body_.describe_as_code(goal), name)};
  for (const auto& [type_name, type] : module_->type_names) {
    if (is_of(type)) found.push_back(fmt::format("{}::{}", type_name, name));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Hints on `self` and `this`. Returns whether the name is one of them.
bool BodyNames::hint_self(diagnostics::Diagnostic& report, std::string_view name, source::Span span) const {
  if (name != "self" && name != "this") return false;
  const FunctionDeclaration& function = body_.function;
  const bool has_self = !function.parameters.empty() && function.parameters[0].name == "self";
  if (function.agent.exists()) {
    report.hint("the functions of an agent use `state`, and call each other by name: `f(…)`");
  } else if (has_self) {
    report.hint("write `self`").fix = {span, "self"};
  } else {
    report.hint("`self` is the first parameter of a method in an `impl`");
  }
  return true;
}

/// Whether the function of an agent has the parameter `self`, which has been reported.
bool BodyNames::has_reported_self() const {
  const NodeId node = body_.function.node;
  if (!body_.function.agent.exists() || !node.exists()) return false;
  const NodeId list = tree().find_child(node, NodeKind::Parameters);
  if (!list.exists()) return false;
  const auto nodes = tree().children(list, NodeKind::Parameter);
  return std::ranges::any_of(nodes, [&](NodeId at) { return tree().main_text(at) == "self"; });
}

/// Reports a path into a module that does not have that item, or only as a function. Returns whether it is one.
bool BodyNames::report_path_in_module(NodeId node, std::span<const syntax::TokenIndex> path) {
  const std::string first(tree().text(path[0]));
  const std::string item(tree().text(path[1]));
  const auto imported = module_->imports.find(first);
  if (imported == module_->imports.end() || !imported->second.is_module) return false;
  if (body_.resolver.find_type_in(imported->second.module, item)) return false;
  if (path.size() == 2 && find_callee(path).kind != TargetKind::None) {
    diagnostics_.report(diagnostics::NotAValue, tree().span(node), std::string(tree().text(node)))
        .hint(fmt::format("call it: `{}(…)`", tree().text(node)));
  } else {
    body_.resolver.report_not_in_module(tree().span(path[1]), imported->second.module, first, item);
  }
  return true;
}

bool BodyNames::is_module(std::string_view name) const {
  const auto imported = module_->imports.find(std::string(name));
  return imported != module_->imports.end() && imported->second.is_module;
}

void BodyNames::report_unknown_name(NodeId node, std::string_view name, source::Span span, Use use,
                                    Expectation expected) {
  record(node, TypeTable::error);
  if (name == "self" && has_reported_self()) return;
  const auto path =
      tree().kind(node) == NodeKind::NameExpression ? tree().path(node) : std::vector<syntax::TokenIndex>();
  if (!path.empty() && module_->missing_imports.contains(tree().text(path.front()))) return;
  if (path.size() > 1) {
    if (report_path_in_module(node, path)) return;
    const std::string_view first = tree().text(path.front());
    if (name != first && !body_.resolver.find_type(std::string(first)))
      return report_unknown_name(node, first, tree().span(path.front()), use);
  }
  if (!body_.reported.unknown_names.emplace(name).second) return;
  if (diagnostics_.is_full()) {
    diagnostics_.report(diagnostics::UnknownName, span, std::string(name));
    return;
  }
  std::vector<std::string_view> values, types;
  for (const auto& [local, id] : body_.scope.all()) values.push_back(local);
  for (const auto& [function, id] : module_->functions) values.push_back(function);
  for (const auto& [native, id] : module_->externs) values.push_back(native);
  for (const auto& [imported, from] : module_->imports) values.push_back(imported);
  for (const auto& [type, id] : module_->type_names) types.push_back(type);
  std::sort(values.begin(), values.end());
  std::sort(types.begin(), types.end());
  // Among equally near names, the first one wins: one of the kind that is expected.
  std::vector<std::string_view>& candidates = use == Use::Type ? types : values;
  const std::vector<std::string_view>& others = use == Use::Type ? values : types;
  candidates.insert(candidates.end(), others.begin(), others.end());
  auto& report = diagnostics_.report(diagnostics::UnknownName, span, std::string(name));
  if (hint_self(report, name, span)) return;
  if (const std::vector<std::string> cases = find_cases(name, expected); use != Use::Type && !cases.empty()) {
    constexpr std::size_t shown_cases_max = 4;
    std::string shown = "`" + cases[0] + "`";
    for (std::size_t at = 1; at < cases.size() && at < shown_cases_max; ++at) shown += " or `" + cases[at] + "`";
    report.hint(fmt::format("did you mean {}?", shown));
    if (cases.size() == 1) report.fix = {span, cases[0]};
  } else if (const auto known = find_foreign_case(name); known && use == Use::Called && *known != "None") {
    report.hint(fmt::format("write `{}(…)`", *known)).fix = {span, std::string(*known)};
  } else if (const auto meant = find_foreign_value(name)) {
    report.hint(*meant == "None" ? "use `None`" : fmt::format("write `{}`", *meant)).fix = {span, std::string(*meant)};
  } else if (const auto nearest = diagnostics::find_nearest(name, candidates)) {
    report.hint(fmt::format("did you mean `{}`?", *nearest));
    // A type where a value is needed would be the next mistake.
    const bool fits = use != Use::Value || !module_->type_names.contains(*nearest);
    if (fits) report.fix = {span, *nearest};
  }
}

/// The path before `=>`, or of a call after it: `classify`, `Order::total`, `shop::classify`, `shop::Order::total`.
Target BodyNames::find_callee(std::span<const syntax::TokenIndex> path) {
  const auto target = [](std::optional<FunctionId> function, std::optional<ExternId> native) -> Target {
    if (function) return {TargetKind::Function, function->index, 0};
    if (native) return {TargetKind::Extern, native->index, 0};
    return {};
  };
  if (path.empty()) return {};
  const std::string name(tree().text(path.back()));
  if (path.size() == 1) {
    const auto native = find_extern(name);
    return target(find_function(name), native ? native : find_effect_builtin(name));
  }
  const std::string first(tree().text(path[0]));
  const auto imported = module_->imports.find(first);
  const bool in_module = imported != module_->imports.end() && imported->second.is_module;
  if (in_module && path.size() == 2) {
    const Module& from = program_.modules[imported->second.module.index];
    const auto function = from.functions.find(name);
    const auto native = from.externs.find(name);
    return target(function == from.functions.end() ? std::nullopt : std::optional(function->second),
                  native == from.externs.end() ? std::nullopt : std::optional(native->second));
  }
  const std::optional<TypeId> type = body_.resolver.find_type(path.first(path.size() - 1));
  if (!type) return {};
  const auto methods = program_.methods.find(type->index);
  if (methods == program_.methods.end()) return {};
  const auto method = methods->second.find(name);
  return target(method == methods->second.end() ? std::nullopt : std::optional(method->second), std::nullopt);
}

std::string BodyNames::function_name() const {
  const FunctionDeclaration& function = body_.function;
  return function.is_test ? "a test" : "`" + function.name + "`";
}

void BodyNames::require_own_context(NodeId node, std::string_view what) {
  const FunctionDeclaration& function = body_.function;
  if (function.own_context || body_.reported.missing_context) return;
  const std::string_view hint =
      function.is_test ? "call a function with a context: `f(Context::new())`" : "add a parameter `ctx: Context`";
  if (what == "select") {
    diagnostics_.report(diagnostics::SelectWithoutContext, tree().main_span(node), function_name())
        .hint(std::string(hint));
  } else if (what == "pursue") {
    diagnostics_.report(diagnostics::PursueWithoutContext, tree().main_span(node), function_name())
        .hint(std::string(hint));
  } else if (what == "_") {
    diagnostics_.report(diagnostics::HoleWithoutContext, tree().span(node), function_name()).hint(std::string(hint));
  } else {
    diagnostics_.report(diagnostics::InjectWithoutContext, tree().span(node), function_name()).hint(std::string(hint));
  }
  body_.reported.missing_context = true;
}

/// The agent that a path names, as `Support` or `desk::Support`.
std::optional<AgentId> BodyNames::find_agent(std::span<const syntax::TokenIndex> path) {
  const std::optional<TypeId> type = body_.resolver.find_type(path);
  if (!type) return std::nullopt;
  for (std::uint32_t at = 0; at < program_.agents.size(); ++at) {
    if (program_.agents[at].state == *type) return AgentId{at};
  }
  return std::nullopt;
}

}  // namespace tenon::types
