// `pursue … width n`: all actions that are available in the current states run at once, each in a separate context;
// values are checked against the goal, and the best of the new ones are kept. What needs no registers is in
// stdlib/pursuit.tn.

#include "bytecode/pursuit_variables.h"
#include "compiler/contract_compiler.h"
#include "compiler/pursue_compiler.h"

namespace tenon::compiler {

using types::TypeId;
using types::TypeTable;

namespace {

/// A record of the search. Its values have different types; a record only knows their number.
TypeId record_of(TypeTable& types, std::size_t count) {
  return types.tuple(std::vector<TypeId>(count, TypeTable::any_option));
}

/// The fields of a state: (value, tag, known).
constexpr std::uint16_t state_fields = 3;
/// After these, the results of an action's branch: whether it reached the goal, why there is no state, the state's
/// class, and the action's name.
constexpr std::uint16_t holds_field = 3;
constexpr std::uint16_t failure_field = 4;
constexpr std::uint16_t class_field = 5;
constexpr std::uint16_t name_field = 6;
constexpr std::uint16_t result_fields = 7;

/// The class of the empty text that an action which failed has in place of a state.
constexpr std::int64_t no_class = -1;

}  // namespace

/// As in `walk`.
std::vector<std::size_t> PursueCompiler::search(const PursuitCode& code, NodeId node) {
  TypeTable& types = program_.type_table();
  std::vector<std::size_t> reached;
  const Register states = allocate(state_fields);
  emit(Opcode::Move, states, code.value);
  emit(Opcode::Move, static_cast<Register>(states + 1), code.tag);
  emit(Opcode::Move, static_cast<Register>(states + 2), code.known);
  emit(Opcode::MakeRecord, states, states, program_.type_operand(record_of(types, state_fields)));
  emit(Opcode::MakeList, states, states, 1);
  name_state(bytecode::pursuit_states, node, states);
  const Register flag = allocate();
  const Register visited = allocate();  // the states from which the search has continued: see make_visited
  emit(Opcode::MakeList, visited, visited, 0);
  load_integer(flag, code.class_of(0));
  make_visited(flag, code.value, flag);
  emit(Opcode::Push, visited, flag);
  const std::size_t start = here();
  emit(Opcode::LessInteger, flag, code.steps, code.limit);
  const std::size_t more = emit_jump(Opcode::JumpIf, flag);
  emit(Opcode::LoadBoolean, code.is_spent, 1);
  const std::size_t spent = emit_jump(Opcode::Jump);
  land(more);
  const Register work = allocate(3);
  list_steps(code, states, work);
  emit(Opcode::Length, flag, work);
  emit(Opcode::EqualShort, flag, flag, 0);
  const std::size_t stuck = emit_jump(Opcode::JumpIf, flag);
  try_steps(code, work);
  const Register found = allocate();
  list_found(code, work, visited, found, reached);
  // Which of them are kept, and the reasons of the failed ones.
  const Register window = allocate(4);
  if (code.may_choose()) {
    emit(Opcode::Move, window, function_.context_register);
    emit(Opcode::Move, static_cast<Register>(window + 1), code.goal_text);
    emit(Opcode::Move, static_cast<Register>(window + 2), found);
    emit(Opcode::Move, static_cast<Register>(window + 3), *code.width);
    emit_wide(Opcode::Call, window, pursuit_function("keep_best"));
  } else {
    // Each state leads to one at most, so there are never more than in the step before.
    emit(Opcode::Move, window, found);
    emit_wide(Opcode::Call, window, pursuit_function("keep_new"));
  }
  emit(Opcode::GetField, flag, window, 2);
  const std::size_t is_not_step = emit_jump(Opcode::JumpUnless, flag);
  emit(Opcode::AddI64Short, code.steps, code.steps, 1);
  land(is_not_step);
  const Register loop = allocate(3);
  emit(Opcode::GetField, loop, window, 1);
  load_integer(static_cast<Register>(loop + 1), 0);
  const std::size_t failed = emit_jump(Opcode::ForList, loop);
  emit(Opcode::Push, code.blocked, static_cast<Register>(loop + 2));
  land_at(emit_jump(Opcode::Jump), failed);
  land(failed);
  emit(Opcode::MakeList, states, states, 0);
  emit(Opcode::GetField, loop, window, 0);
  load_integer(static_cast<Register>(loop + 1), 0);
  const std::size_t next = emit_jump(Opcode::ForList, loop);
  {
    const Temporaries loop_scope(*this);
    const Register state = allocate(state_fields);
    const Register result = allocate();
    emit(Opcode::GetItem, result, work, static_cast<Register>(loop + 2));
    for (std::uint16_t at = 0; at < state_fields; ++at) {
      emit(Opcode::GetField, static_cast<Register>(state + at), result, at);
    }
    emit(Opcode::MakeRecord, state, state, program_.type_operand(record_of(types, state_fields)));
    emit(Opcode::Push, states, state);
    const Register pair = allocate(2);
    emit(Opcode::GetField, pair, result, class_field);
    emit(Opcode::GetField, static_cast<Register>(pair + 1), result, 0);
    make_visited(pair, static_cast<Register>(pair + 1), pair);
    emit(Opcode::Push, visited, pair);
  }
  land_at(emit_jump(Opcode::Jump), next);
  land(next);
  emit(Opcode::Length, flag, states);
  emit(Opcode::EqualShort, flag, flag, 0);
  land_at(emit_jump(Opcode::JumpUnless, flag), start);
  land(spent);
  land(stuck);
  return reached;
}

/// to = (class, value), which is equal for equal states.
void PursueCompiler::make_visited(Register state_class, Register value, Register to) {
  const Temporaries scope(*this);
  const Register pair = allocate(2);
  emit(Opcode::Move, pair, state_class);
  emit(Opcode::Move, static_cast<Register>(pair + 1), value);
  emit(Opcode::MakeRecord, to, pair, program_.type_operand(record_of(program_.type_table(), 2)));
}

/// work = a list of (value, number of an available action); the guards of all states are checked at once. The reasons
/// why actions are not available are added to `blocked`.
void PursueCompiler::list_steps(const PursuitCode& code, Register states, Register work) {
  const Temporaries scope(*this);
  const Register window = allocate(3);
  emit(Opcode::Move, window, states);
  emit(Opcode::Length, static_cast<Register>(window + 1), states);
  const std::size_t branches = emit_jump(Opcode::ParallelFor, window);
  const std::size_t joined = emit_jump(Opcode::Jump);
  land(branches);
  {
    const Temporaries branch_scope(*this);
    const auto state = static_cast<Register>(window + 2);
    emit(Opcode::GetField, code.value, state, 0);
    emit(Opcode::GetField, code.tag, state, 1);
    emit(Opcode::GetField, code.known, state, 2);
    const Register enabled = allocate();
    find_enabled(code, enabled);
    emit(Opcode::EndBranch, enabled);
  }
  land(joined);
  emit(Opcode::MakeList, work, work, 0);
  emit(Opcode::MakeList, code.blocked, code.blocked, 0);
  const Register outer = allocate(3);
  emit(Opcode::Take, outer, window);
  load_integer(static_cast<Register>(outer + 1), 0);
  const std::size_t state_loop = emit_jump(Opcode::ForList, outer);
  const auto enabled = static_cast<Register>(outer + 2);
  {
    const Temporaries outer_scope(*this);
    const Register inner = allocate(3);
    emit(Opcode::GetField, inner, enabled, 1);
    load_integer(static_cast<Register>(inner + 1), 0);
    const std::size_t blocked_loop = emit_jump(Opcode::ForList, inner);
    emit(Opcode::Push, code.blocked, static_cast<Register>(inner + 2));
    land_at(emit_jump(Opcode::Jump), blocked_loop);
    land(blocked_loop);
    // The loop increments the counter before its body runs.
    const Register value = allocate();
    emit(Opcode::AddI64Short, value, static_cast<Register>(outer + 1), static_cast<std::uint16_t>(-1));
    emit(Opcode::GetItem, value, states, value);
    emit(Opcode::GetField, value, value, 0);
    emit(Opcode::GetField, inner, enabled, 0);
    load_integer(static_cast<Register>(inner + 1), 0);
    const std::size_t action_loop = emit_jump(Opcode::ForList, inner);
    const Register pair = allocate(2);
    emit(Opcode::Move, pair, value);
    emit(Opcode::Move, static_cast<Register>(pair + 1), static_cast<Register>(inner + 2));
    emit(Opcode::MakeRecord, pair, pair, program_.type_operand(record_of(program_.type_table(), 2)));
    emit(Opcode::Push, work, pair);
    land_at(emit_jump(Opcode::Jump), action_loop);
    land(action_loop);
  }
  land_at(emit_jump(Opcode::Jump), state_loop);
  land(state_loop);
}

/// work, a window of three registers, = a list of results, in the order of the work. A failure only ends its branch; a
/// budget that encloses the `pursue` ends all.
void PursueCompiler::try_steps(const PursuitCode& code, Register work) {
  const Temporaries scope(*this);
  TypeTable& types = program_.type_table();
  emit(Opcode::Length, static_cast<Register>(work + 1), work);
  const std::size_t branches = emit_jump(Opcode::ParallelFor, work);
  const std::size_t joined = emit_jump(Opcode::Jump);
  land(branches);
  const auto step = static_cast<Register>(work + 2);
  const Register chosen = allocate();
  emit(Opcode::GetField, code.value, step, 0);
  emit(Opcode::GetField, chosen, step, 1);
  const Register result = allocate(result_fields);
  const auto field = [&](std::size_t at) { return static_cast<Register>(result + at); };
  const auto end_branch = [&] {
    emit(Opcode::MakeRecord, result, result, program_.type_operand(record_of(types, result_fields)));
    emit(Opcode::EndBranch, result);
  };
  switch_over_actions(code, chosen, [&](const Action& action) {
    load_string(field(name_field), action.shape.name);
    const std::size_t begin = here();
    take_action(code, action);
    if (code.texts.gives_goal[action.number]) {
      emit(Opcode::LoadBoolean, field(holds_field), 1);
    } else if (code.facts.may_reach[action.number]) {
      emit(Opcode::Move, field(holds_field), is_goal(code, &action));
    } else {
      emit(Opcode::LoadBoolean, field(holds_field), 0);
    }
    const std::size_t end = here();
    emit(Opcode::Move, field(0), code.value);
    emit(Opcode::Move, field(1), code.tag);
    emit(Opcode::Move, field(2), code.known);
    load_string(field(failure_field), "");
    load_integer(field(class_field), code.class_of(action.number + 1));
    end_branch();
    const Register caught = allocate();
    add_handler(begin, end, here(), caught);
    load_string(field(0), "");
    load_integer(field(1), action.number + 1);
    emit(Opcode::MakeList, field(2), field(2), 0);
    emit(Opcode::LoadBoolean, field(holds_field), 0);
    describe_action_failure(action, caught, field(failure_field));
    load_integer(field(class_field), no_class);
    end_branch();
  });
  land(joined);
}

/// found = a list of records Found, one for each result. The first that is the goal is the value, and its jump is one
/// of `reached`.
void PursueCompiler::list_found(const PursuitCode& code, Register results, Register visited, Register found,
                                std::vector<std::size_t>& reached) {
  const Temporaries scope(*this);
  const Register seen = allocate();  // `visited`, and the earlier results
  emit(Opcode::Move, seen, visited);
  emit(Opcode::MakeList, found, found, 0);
  const Register loop = allocate(3);
  emit(Opcode::Move, loop, results);
  load_integer(static_cast<Register>(loop + 1), 0);
  const std::size_t next = emit_jump(Opcode::ForList, loop);
  {
    const Temporaries loop_scope(*this);
    const auto result = static_cast<Register>(loop + 2);
    const Register holds = allocate();
    emit(Opcode::GetField, code.value, result, 0);
    emit(Opcode::GetField, holds, result, holds_field);
    reached.push_back(emit_jump(Opcode::JumpIf, holds));
    const Register record = allocate(4);
    emit(Opcode::Render, record, code.value);
    emit(Opcode::GetField, static_cast<Register>(record + 1), result, name_field);
    const Register search = allocate(2);
    emit(Opcode::Move, search, seen);
    emit(Opcode::GetField, holds, result, class_field);
    make_visited(holds, code.value, static_cast<Register>(search + 1));
    emit(Opcode::Push, seen, static_cast<Register>(search + 1));
    emit(Opcode::CallBuiltin, static_cast<Register>(record + 2),
         static_cast<std::uint16_t>(types::Builtin::ListContains), search);
    emit(Opcode::GetField, static_cast<Register>(record + 3), result, failure_field);
    emit(Opcode::MakeRecord, record, record, program_.type_operand(pursuit_type("Found")));
    emit(Opcode::Push, found, record);
  }
  land_at(emit_jump(Opcode::Jump), next);
  land(next);
}

}  // namespace tenon::compiler
