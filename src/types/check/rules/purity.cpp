#include "types/check/rules/purity.h"

#include <fmt/format.h>

#include <algorithm>

#include "types/builtin_methods.h"

namespace tenon::types {

using syntax::NodeId;
using syntax::NodeKind;

Purity::Purity(const CheckedProgram& program, const std::vector<FunctionId>& functions) : program_(program) {
  std::vector<FunctionId> open = functions;
  while (!open.empty()) {
    const FunctionId id = open.back();
    open.pop_back();
    const auto [at, is_new] = functions_.try_emplace(id.index);
    if (!is_new) continue;
    look_at(id, at->second);
    open.insert(open.end(), at->second.calls.begin(), at->second.calls.end());
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (auto& [id, found] : functions_) {
      for (const FunctionId called : found.calls) {
        if (found.effect || !functions_.at(called.index).effect) continue;
        found.effect = functions_.at(called.index).effect;
        has_changed = true;
      }
    }
  }
}

std::optional<std::string> Purity::effect_of(FunctionId function) const {
  return functions_.at(function.index).effect;
}

void Purity::look_at(FunctionId id, Found& found) const {
  const FunctionDeclaration& function = program_.functions[id.index];
  const std::string where = fmt::format(" in `{}`", function.name);
  if (function.role == FunctionRole::AgentRun || function.role == FunctionRole::TakeOver) {
    found.effect = fmt::format("the agent `{}`", program_.agents[function.agent.index].name);
    return;
  }
  if (function.performs) {
    found.effect = fmt::format("the extern `{}`", program_.externs[function.performs->index].name);
    return;
  }
  const bool is_judged = std::any_of(function.contracts.begin(), function.contracts.end(),
                                     [](const Contract& contract) { return contract.is_judged; });
  if (function.is_completed) {
    found.effect = fmt::format("a generation of `{}`", function.name);
  } else if (is_judged) {
    found.effect = fmt::format("a judge{}", where);
  }
  const Module& module = program_.modules[function.module.index];
  const NodeId body = module.tree->find_child(function.node, NodeKind::Block);
  if (body.exists()) visit(module, body, where, found);
}

void Purity::visit(const Module& module, NodeId node, const std::string& where, Found& found) const {
  const syntax::SyntaxTree& tree = *module.tree;
  const auto note = [&](std::string effect) {
    if (!found.effect) found.effect = std::move(effect);
  };
  const auto is_state = [&](NodeId place) {
    const Target& target = module.facts_of(tree.root_of_place(place)).target;
    return target.kind == TargetKind::Local && program_.locals[target.index].is_agent_state;
  };
  const Target& target = module.facts_of(node).target;
  switch (tree.kind(node)) {
    case NodeKind::HoleExpression:
      note("a hole" + where);
      break;
    case NodeKind::SelectExpression:
      note("`select`" + where);
      break;
    case NodeKind::PursueExpression:
      note("`pursue`" + where);
      break;
    case NodeKind::AssignStatement:
      if (is_state(tree.first(node))) note("a change to an agent's state" + where);
      break;
    case NodeKind::MethodCallExpression:
      if (target.kind == TargetKind::Method && changes_receiver(static_cast<BuiltinMethod>(target.index)) &&
          is_state(tree.first(node))) {
        note("a change to an agent's state" + where);
      }
      break;
    default:
      break;
  }
  if (target.kind == TargetKind::Extern) {
    note(fmt::format("the extern `{}`", program_.externs[target.index].name));
  }
  if (target.kind == TargetKind::Function) found.calls.push_back(FunctionId{target.index});
  for (NodeId child = tree.first(node); child.exists(); child = tree.next(child)) visit(module, child, where, found);
}

}  // namespace tenon::types
