// A function as a whole: registers, code, jumps, places.

#include <algorithm>
#include <set>

#include "base/ensure.h"
#include "compiler/function_compiler.h"
#include "diagnostics/kinds.h"
#include "syntax/literals.h"
#include "types/builtin_methods.h"

namespace tenon::compiler {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

FunctionCompiler::FunctionCompiler(ProgramCompiler& program, types::FunctionId function,
                                   std::span<const TypeId> type_arguments, const types::Strategy& strategy, Part part,
                                   Holes holes)
    : program_(program),
      declaration_(program.checked().functions[function.index]),
      module_(program.checked().modules[declaration_.module.index]),
      id_(function),
      type_arguments_(type_arguments.begin(), type_arguments.end()),
      strategy_(strategy),
      part_(part),
      holes_(std::move(holes)) {
  // The checker has declared the parameters as the function's first variables, in order.
  const std::vector<types::Local>& locals = program.checked().locals;
  const auto first =
      std::find_if(locals.begin(), locals.end(), [&](const types::Local& local) { return local.function == function; });
  first_local_ = static_cast<std::uint32_t>(first - locals.begin());
}

Function FunctionCompiler::run() {
  function_.name = declaration_.name;
  function_.documentation = declaration_.documentation;
  function_.place = program_.place(module_, declaration_.node, true);
  if (!type_arguments_.empty()) {
    function_.name += '<';
    for (std::size_t at = 0; at < type_arguments_.size(); ++at) {
      function_.name += (at > 0 ? ", " : "") + program_.type_table().describe(type_arguments_[at]);
    }
    function_.name += '>';
  }
  function_.result = resolve(declaration_.result);
  for (std::size_t at = 0; at < declaration_.parameters.size(); ++at) {
    function_.parameter_names.push_back(declaration_.parameters[at].name);
    function_.parameters.push_back(resolve(declaration_.parameters[at].type));
    bind_local(first_local_ + static_cast<std::uint32_t>(at));
  }
  if (declaration_.own_context) function_.context_register = static_cast<std::uint16_t>(*declaration_.own_context);
  if (declaration_.agent.exists()) function_.agent = declaration_.agent.index;
  if (part_ == Part::Guard || part_ == Part::Ensured || part_ == Part::StreamGuard || part_ == Part::Early) {
    place_ = function_.place;
    if (part_ == Part::Guard) guard();
    if (part_ == Part::Ensured) ensured();
    if (part_ == Part::StreamGuard) stream_guard();
    if (part_ == Part::Early) early();
    return std::move(function_);
  }
  if (declaration_.role != types::FunctionRole::Written) {
    place_ = function_.place;
    switch (declaration_.role) {
      case types::FunctionRole::InitialState:
        initial_state();
        break;
      case types::FunctionRole::Instructions:
        instructions();
        break;
      case types::FunctionRole::AgentRun:
        agent_run();
        break;
      case types::FunctionRole::TakeOver:
        take_over();
        break;
      case types::FunctionRole::ExternCall:
        extern_call();
        break;
      case types::FunctionRole::Written:
        break;
    }
    function_.register_count = std::max<std::uint16_t>(function_.register_count, 1);
    return std::move(function_);
  }
  if (const NodeId clause = tree().find_child(declaration_.node, NodeKind::BudgetClause); clause.exists()) {
    emit_wide(Opcode::EnterBudget, 0, budget_of(clause));
    ++budget_depth_;
  }
  place_ = function_.place;
  check_requirements();
  const NodeId body_node = tree().find_child(declaration_.node, NodeKind::Block);
  const TypeId type = type_of(body_node);
  if (has_contract(true)) {
    returned_value_ = allocate();
    shelter_arguments(body_node);
  }
  if (function_.result == TypeTable::unit || function_.result == TypeTable::error) {
    block(body_node, std::nullopt);
    return_value(std::nullopt);
  } else if (declaration_.is_completed) {
    block(body_node, std::nullopt);
    bind_arguments();
    const bool is_vote = strategy_.kind == types::Strategy::Kind::Vote && strategy_.count > 1;
    has_contract(true) || is_vote ? complete_by_contract() : complete();
  } else {
    const Register value = allocate();
    block(body_node, value);
    if (type == TypeTable::never) {
      emit(Opcode::Unreachable);
    } else {
      return_value(value);
    }
  }
  if (!returns_.empty()) {
    land_all(returns_);
    bind_arguments();
    place_ = function_.place;
    check_value(*returned_value_);
    emit(Opcode::Return, *returned_value_);
  }
  function_.register_count = std::max<std::uint16_t>(function_.register_count, 1);
  return std::move(function_);
}

/// What a contract says of a parameter is about the argument, whatever the body makes of its variable: the body gets
/// copies of those that it changes.
void FunctionCompiler::shelter_arguments(NodeId body) {
  std::set<std::uint32_t> changed;
  list_changed(body, changed);
  for (std::size_t at = 0; at < declaration_.parameters.size(); ++at) {
    const std::uint32_t local = first_local_ + static_cast<std::uint32_t>(at);
    if (!changed.contains(local) || function_.parameters[at] == TypeTable::context) continue;
    const Register copy = allocate();
    emit(Opcode::Move, copy, static_cast<Register>(at));
    locals_[local] = copy;
  }
}

/// From here on the parameters stand for the arguments.
void FunctionCompiler::bind_arguments() {
  for (std::size_t at = 0; at < declaration_.parameters.size(); ++at) {
    locals_[first_local_ + static_cast<std::uint32_t>(at)] = static_cast<Register>(at);
  }
}

std::uint32_t FunctionCompiler::own_instance() {
  return program_.instance(id_, type_arguments_, strategy_, part_);
}

std::size_t FunctionCompiler::emit(Opcode opcode, std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  if (function_.lines.empty() || !(function_.lines.back().place == place_)) {
    function_.lines.push_back({static_cast<std::uint32_t>(here()), place_});
  }
  function_.code.push_back({static_cast<std::uint16_t>(opcode), a, b, c});
  return here() - 1;
}

std::size_t FunctionCompiler::emit_wide(Opcode opcode, std::uint16_t a, std::uint32_t wide) {
  return emit(opcode, a, static_cast<std::uint16_t>(wide & 0xFFFFU), static_cast<std::uint16_t>(wide >> 16U));
}

void FunctionCompiler::land_at(std::size_t jump, std::size_t target) {
  const auto distance =
      static_cast<std::uint32_t>(static_cast<std::int32_t>(target) - static_cast<std::int32_t>(jump) - 1);
  function_.code[jump].b = static_cast<std::uint16_t>(distance & 0xFFFFU);
  function_.code[jump].c = static_cast<std::uint16_t>(distance >> 16U);
}

void FunctionCompiler::land(std::size_t jump) {
  land_at(jump, here());
}

void FunctionCompiler::land_all(const std::vector<std::size_t>& jumps) {
  for (const std::size_t jump : jumps) land(jump);
}

Register FunctionCompiler::allocate(std::size_t count) {
  const std::uint32_t first = next_;
  next_ += static_cast<std::uint32_t>(count);
  if (next_ > registers_per_function_max) {
    if (!too_large_) {
      program_.diagnostics().report(diagnostics::TooLarge, tree().main_span(declaration_.node),
                                    "values in one function", std::size_t{registers_per_function_max});
    }
    too_large_ = true;
    next_ = static_cast<std::uint32_t>(std::min<std::size_t>(count, registers_per_function_max));
    return 0;
  }
  function_.register_count = std::max(function_.register_count, static_cast<std::uint16_t>(next_));
  return static_cast<Register>(first);
}

Register FunctionCompiler::allocate_window(Register to, std::size_t count) {
  if (to + 1U != next_) return allocate(std::max<std::size_t>(count, 1));
  if (count > 1) allocate(count - 1);
  return to;
}

bool FunctionCompiler::is_plain(TypeKind kind) {
  return kind == TypeKind::Unit || kind == TypeKind::Never || kind == TypeKind::Boolean || kind == TypeKind::I32 ||
         kind == TypeKind::I64 || kind == TypeKind::F64;
}

void FunctionCompiler::at(NodeId node, bool main_token) {
  place_ = program_.place(module_, node, main_token);
}

void FunctionCompiler::load_string(Register to, std::string text) {
  emit_wide(Opcode::LoadConstant, to, program_.constant(std::move(text)));
}

void FunctionCompiler::load_integer(Register to, std::int64_t value) {
  if (value >= INT32_MIN && value <= INT32_MAX) {
    emit_wide(Opcode::LoadInteger, to, static_cast<std::uint32_t>(static_cast<std::int32_t>(value)));
  } else {
    emit_wide(Opcode::LoadConstant, to, program_.constant(value));
  }
}

void FunctionCompiler::add_handler(std::size_t begin, std::size_t end, std::size_t target, Register failure) {
  function_.handlers.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                                static_cast<std::uint32_t>(target), failure, budget_depth_});
}

bool FunctionCompiler::is_state(NodeId name) const {
  const types::Target& target = facts(name).target;
  return target.kind == types::TargetKind::Local && program_.checked().locals[target.index].is_agent_state;
}

Register FunctionCompiler::local_register(std::uint32_t local) {
  if (program_.checked().locals[local].is_agent_state) {
    // It lives with the agent: whatever is called may have changed it.
    const Register copy = allocate();
    emit(Opcode::LoadState, copy);
    return copy;
  }
  const auto found = locals_.find(local);
  ENSURE(found != locals_.end());
  return found->second;
}

Register FunctionCompiler::bind_local(std::uint32_t local) {
  const Register place = allocate();
  locals_[local] = place;
  return place;
}

TypeId FunctionCompiler::resolve(TypeId type) {
  return program_.substitute(type, declaration_.type_parameter_types, type_arguments_);
}
TypeId FunctionCompiler::type_of(NodeId node) {
  return resolve(facts(node).type);
}
TypeKind FunctionCompiler::base_kind(TypeId type) {
  const TypeTable& table = program_.type_table();
  const TypeId base = table.base(type);
  const TypeKind kind = table.kind(base);
  if (kind == TypeKind::Text) return TypeKind::String;
  if (kind != TypeKind::Union) return kind;
  return std::holds_alternative<std::vector<std::string>>(table.union_type(base).literals) ? TypeKind::String
                                                                                           : TypeKind::I64;
}
TypeKind FunctionCompiler::kind_of(NodeId node) {
  return base_kind(type_of(node));
}

/// Looks at a value that goes where a narrower type is wanted.
void FunctionCompiler::narrow(NodeId node, Register value) {
  const TypeId to = facts(node).narrowed_to;
  if (!to.exists()) return;
  at(node);
  emit(Opcode::Check, value, program_.type_operand(resolve(to)));
}

/// Whether evaluating the node can assign a variable: only statements can, and methods that change their receiver.
bool FunctionCompiler::changes_variables(NodeId node) const {
  const NodeKind kind = tree().kind(node);
  if (kind == NodeKind::Block || kind == NodeKind::InjectBody) return true;
  if (kind == NodeKind::MethodCallExpression && facts(node).target.kind == types::TargetKind::Method &&
      types::changes_receiver(static_cast<types::BuiltinMethod>(facts(node).target.index))) {
    return true;
  }
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) {
    if (changes_variables(child)) return true;
  }
  return false;
}

/// The variables that the node assigns, wholly or in part, or calls a method of that changes them.
void FunctionCompiler::list_changed(NodeId node, std::set<std::uint32_t>& locals) const {
  const bool is_method = tree().kind(node) == NodeKind::MethodCallExpression &&
                         facts(node).target.kind == types::TargetKind::Method &&
                         types::changes_receiver(static_cast<types::BuiltinMethod>(facts(node).target.index));
  if (is_method || tree().kind(node) == NodeKind::AssignStatement) {
    const NodeId root = tree().root_of_place(tree().first(node));
    if (facts(root).target.kind == types::TargetKind::Local) locals.insert(facts(root).target.index);
  }
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) list_changed(child, locals);
}

}  // namespace tenon::compiler
