// A function that is written in the program.

#include <fmt/format.h>

#include <set>

#include "compiler/body_compiler.h"
#include "compiler/call_compiler.h"
#include "compiler/completion_compiler.h"
#include "compiler/contract_compiler.h"
#include "compiler/exit_compiler.h"
#include "compiler/outer_contract_compiler.h"
#include "compiler/statement_compiler.h"

namespace tenon::compiler {

using types::Strategy;
using types::TypeId;
using types::TypeTable;

void BodyCompiler::compile() {
  // The instruction has no place: the budget has one.
  emitter_.set_place({});
  if (const NodeId clause = tree().find_child(declaration_.node, NodeKind::BudgetClause); clause.exists()) {
    emit_wide(Opcode::EnterBudget, 0, calls().budget_of(clause));
    emitter_.open_budget();
  }
  emitter_.set_place(function_.place);
  for (std::size_t at = 0; at < declaration_.parameters.size(); ++at) {
    const types::Parameter& parameter = declaration_.parameters[at];
    if (parameter.is_trusted) {
      require_trusted(static_cast<Register>(at), fmt::format("`{}` of `{}`", parameter.name, declaration_.name));
    }
  }
  contracts().check_requirements();
  const NodeId body = tree().find_child(declaration_.node, NodeKind::Block);
  const bool has_contract = scope_.has_contract(true);
  if (has_contract || scope_.outer.function.exists()) exits().check_returned(allocate());
  if (has_contract) shelter_arguments(body);
  outer_contracts().begin(body);
  if (function_.result == TypeTable::unit || function_.result == TypeTable::error) {
    statements().block(body, std::nullopt);
    exits().return_value(std::nullopt);
  } else if (declaration_.is_completed) {
    statements().block(body, std::nullopt);
    scope_.bind_arguments();
    const bool is_vote = scope_.strategy.kind == Strategy::Kind::Vote && scope_.strategy.count > 1;
    has_contract || is_vote ? completions().complete_by_contract() : completions().complete();
  } else {
    const Register value = allocate();
    statements().block(body, value);
    if (type_of(body) == TypeTable::never) {
      emit(Opcode::Unreachable);
    } else {
      exits().return_value(value);
    }
  }
  exits().return_checked();
}

/// A parameter in a contract is the argument, even if the body assigns its variable: the body gets copies of those that
/// it changes.
void BodyCompiler::shelter_arguments(NodeId body) {
  std::set<std::uint32_t> changed;
  scope_.list_changed(body, changed);
  for (std::size_t at = 0; at < declaration_.parameters.size(); ++at) {
    const std::uint32_t local = scope_.first_local + static_cast<std::uint32_t>(at);
    if (!changed.contains(local) || function_.parameters[at] == TypeTable::context) continue;
    const Register copy = allocate();
    emit(Opcode::Move, copy, static_cast<Register>(at));
    set_variable(local, copy);
  }
}

}  // namespace tenon::compiler
