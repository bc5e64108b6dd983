// `EXPR finally { … }`: a block that runs no matter how the expression ends. `shield { … }`: a block that a
// cancellation does not cut.

#include <utility>

#include "compiler/agent_compiler.h"
#include "compiler/contract_compiler.h"
#include "compiler/exit_compiler.h"
#include "compiler/expression_compiler.h"
#include "compiler/outer_contract_compiler.h"
#include "compiler/statement_compiler.h"

namespace tenon::compiler {

void ExitCompiler::return_value(std::optional<Register> value) {
  if (return_by_finally(value)) return;
  if (returned_value_) {
    if (value) {
      emit(Opcode::Move, *returned_value_, *value);
    } else {
      emit(Opcode::LoadUnit, *returned_value_);
    }
    returns_.push_back(emit_jump(Opcode::Jump));
  } else if (value) {
    emit_return(*value);
  } else {
    emit(Opcode::ReturnUnit);
  }
}

namespace {

/// How control continues after the block: Finally::how.
enum : std::uint8_t { proceeds, returns, breaks, continues, hands_off };

}  // namespace

Loop ExitCompiler::end_loop() {
  Loop ended = std::move(loops_.back());
  loops_.pop_back();
  return ended;
}

void ExitCompiler::return_checked() {
  if (returns_.empty()) return;
  land_all(returns_);
  scope_.bind_arguments();
  emitter_.set_place(function_.place);
  if (scope_.has_contract(true)) outer_contracts().check_own(*returned_value_);
  outer_contracts().check_value(*returned_value_);
  emit_return(*returned_value_);
}

bool ExitCompiler::has_handoff(NodeId node) const {
  const types::Target& target = facts(node).target;
  if (target.kind == types::TargetKind::Function && tree().kind(node) == NodeKind::CallExpression &&
      program_.checked().functions[target.index].role == types::FunctionRole::TakeOver) {
    return true;
  }
  for (NodeId child = tree().first(node); child.exists(); child = tree().next(child)) {
    if (has_handoff(child)) return true;
  }
  return false;
}

void ExitCompiler::finally_expression(NodeId node, std::optional<Register> to) {
  const Temporaries scope(*this);
  const NodeId guarded = tree().first(node);
  const Register kept = allocate();
  Finally own;
  own.how = allocate();
  own.value = allocate();
  own.loops = loops_.size();
  emit(Opcode::LoadUnit, kept);
  load_integer(own.how, proceeds);
  if (has_handoff(guarded)) {
    own.state = allocate(2);
    emit(Opcode::LoadBoolean, static_cast<Register>(*own.state + 1), 0);
  }
  std::optional<Register> value;
  if (to) value = allocate();
  finallies_.push_back(std::move(own));
  const std::size_t begin = here();
  if (value) {
    into(guarded, *value);
  } else {
    expressions().drop(guarded);
  }
  const Finally left = std::move(finallies_.back());
  finallies_.pop_back();
  land_all(left.jumps);
  at(node, true);
  const std::size_t start = emit(Opcode::BeginCleanup, kept);
  emitter_.open_budget();
  finally_block(tree().next(guarded), left);
  at(node, true);
  const std::size_t end = emit(Opcode::EndCleanup, kept);
  emitter_.close_budget();
  function_.finally_handlers.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(start),
                                        static_cast<std::uint32_t>(end), kept, emitter_.open_budgets()});
  leave_finally(left);
  if (to) emit(Opcode::Take, *to, *value);
}

void ExitCompiler::shield_expression(NodeId node, std::optional<Register> to) {
  const Temporaries scope(*this);
  const NodeId block = tree().first(node);
  const Register kept = allocate();
  Finally own;
  own.how = allocate();
  own.value = allocate();
  own.loops = loops_.size();
  load_integer(own.how, proceeds);
  std::optional<Register> value;
  if (to) value = allocate();
  finallies_.push_back(std::move(own));
  at(node);
  const auto begin = static_cast<std::uint32_t>(emit(Opcode::LoadUnit, kept));
  statements().block(block, value);
  const Finally left = std::move(finallies_.back());
  finallies_.pop_back();
  land_all(left.jumps);
  at(node, true);
  const auto end = static_cast<std::uint32_t>(emit(Opcode::EndShield, kept));
  function_.finally_handlers.push_back({begin, begin, end, kept, emitter_.open_budgets()});
  leave_finally(left);
  if (to) emit(Opcode::Take, *to, *value);
}

/// The block works on the state of its own agent, also after a handoff; afterwards the state of the other agent is
/// restored.
void ExitCompiler::finally_block(NodeId node, const Finally& left) {
  const Temporaries scope(*this);
  const auto when_handed_off = [&](auto what) {
    if (!left.state) return;
    const std::size_t otherwise = emit_jump(Opcode::JumpUnless, static_cast<Register>(*left.state + 1));
    what();
    land(otherwise);
  };
  const Register other = left.state ? allocate() : 0;
  when_handed_off([&] {
    emit(Opcode::LoadState, other);
    emit(Opcode::StoreState, *left.state);
  });
  // Control cannot jump out of the block.
  const std::vector<Loop> loops = std::exchange(loops_, {});
  const std::vector<Finally> finallies = std::exchange(finallies_, {});
  statements().block(node, std::nullopt);
  loops_ = loops;
  finallies_ = finallies;
  when_handed_off([&] { emit(Opcode::StoreState, other); });
}

/// After the block: continues what it interrupted.
void ExitCompiler::leave_finally(const Finally& left) {
  const auto when = [&](std::uint16_t how, bool is_there, auto leave) {
    if (!is_there) return;
    const Temporaries scope(*this);
    const Register is_so = allocate();
    emit(Opcode::EqualShort, is_so, left.how, how);
    const std::size_t otherwise = emit_jump(Opcode::JumpUnless, is_so);
    leave();
    land(otherwise);
  };
  const bool in_instructions = declaration_.role == types::FunctionRole::Instructions;
  when(returns, left.has_return, [&] { in_instructions ? agents().return_instructions() : return_value(left.value); });
  when(hands_off, left.has_handoff, [&] { return_handoff(left.value); });
  when(breaks, left.has_break, [&] { leave_loop(NodeKind::BreakExpression); });
  when(continues, left.has_continue, [&] { leave_loop(NodeKind::ContinueExpression); });
}

bool ExitCompiler::return_by_finally(std::optional<Register> value) {
  if (finallies_.empty()) return false;
  Finally& inner = finallies_.back();
  if (value) {
    emit(Opcode::Move, inner.value, *value);
  } else {
    emit(Opcode::LoadUnit, inner.value);
  }
  load_integer(inner.how, returns);
  inner.has_return = true;
  inner.jumps.push_back(emit_jump(Opcode::Jump));
  return true;
}

void ExitCompiler::keep_state() {
  for (const Finally& around : finallies_) {
    emit(Opcode::LoadState, *around.state);
    emit(Opcode::LoadBoolean, static_cast<Register>(*around.state + 1), 1);
  }
}

void ExitCompiler::return_handoff(Register value) {
  if (finallies_.empty()) {
    emit_return(value);
    return;
  }
  Finally& inner = finallies_.back();
  emit(Opcode::Move, inner.value, value);
  load_integer(inner.how, hands_off);
  inner.has_handoff = true;
  inner.jumps.push_back(emit_jump(Opcode::Jump));
}

void ExitCompiler::leave_loop(NodeKind kind) {
  const bool is_break = kind == NodeKind::BreakExpression;
  if (finallies_.empty() || finallies_.back().loops < loops_.size()) {
    auto& jumps = is_break ? loops_.back().breaks : loops_.back().continues;
    jumps.push_back(emit_jump(Opcode::Jump));
    return;
  }
  Finally& inner = finallies_.back();
  load_integer(inner.how, is_break ? breaks : continues);
  (is_break ? inner.has_break : inner.has_continue) = true;
  inner.jumps.push_back(emit_jump(Opcode::Jump));
}

}  // namespace tenon::compiler
