// `pursue`: a loop over states. In each state the guards of the actions are checked, the model chooses among the
// available ones, and the value of the action is the next state. Whatever needs no registers is in stdlib/pursuit.tn.

#include <fmt/format.h>

#include <algorithm>

#include "bytecode/pursuit_variables.h"
#include "compiler/call_compiler.h"
#include "compiler/contract_compiler.h"
#include "compiler/pattern_compiler.h"
#include "compiler/pursue_compiler.h"
#include "compiler/tool_compiler.h"
#include "diagnostics/kinds.h"

namespace tenon::compiler {

using types::Contract;
using types::ContractKind;
using types::TargetKind;

using types::TypeId;
using types::TypeTable;

namespace {

/// The limit of steps of a `pursue` without `limit`.
constexpr std::int64_t default_steps_max = 10;

}  // namespace

std::uint32_t PursueCompiler::pursuit_function(const std::string& name) {
  const types::CheckedProgram& checked = program_.checked();
  return program_.instance(checked.modules[checked.pursuit_module.index].functions.at(name), {});
}

TypeId PursueCompiler::pursuit_type(const std::string& name) {
  const types::CheckedProgram& checked = program_.checked();
  return checked.modules[checked.pursuit_module.index].type_names.at(name);
}

/// The actions, with their given arguments evaluated.
std::vector<Action> PursueCompiler::actions_of(NodeId node) {
  std::vector<Action> actions;
  const types::Pursuit& pursuit = module_.pursuits.at(node.index);
  for (const NodeId part : tree().children(node, NodeKind::PursueAction)) {
    const auto [call, budget] = calls().take_limits(tree().first(part));
    const std::vector<NodeId> arguments = tree().children(tree().find_child(call, NodeKind::Arguments));
    Action action;
    action.node = call;
    action.budget = budget;
    action.number = static_cast<std::uint32_t>(actions.size());
    action.shape = calls().call_shape(call, arguments);
    action.hole = action.shape.holes.at(0);
    const types::Target& target = facts(call).target;
    // Its `requires` are checked before it can be chosen.
    action.shape.documentation = calls().documentation_of(target, {});
    action.function = target.kind == TargetKind::Extern ? program_.checked().externs[target.index].wrapper
                                                        : types::FunctionId{target.index};
    action.type_arguments = facts(call).type_arguments;
    for (TypeId& type : action.type_arguments) type = resolve(type);
    action.given = allocate(std::max<std::size_t>(arguments.size(), 1));
    for (std::size_t at = 0; at < arguments.size(); ++at) {
      const auto place = static_cast<Register>(action.given + at);
      if (at == action.hole) {
        emit(Opcode::LoadUnit, place);
      } else {
        into(arguments[at], place);
      }
    }
    if (action.function.exists()) {
      const types::FunctionDeclaration& callee = program_.checked().functions[action.function.index];
      for (const Contract& contract : callee.contracts) {
        const bool is_required = contract.kind == ContractKind::Requires;
        action.has_guard |= is_required;
        action.has_judged_guard |= is_required && contract.is_judged;
        action.has_judged |= !is_required && contract.is_judged;
      }
    }
    describe_action(action, pursuit.names[action.number]);
    actions.push_back(std::move(action));
  }
  return actions;
}

/// The model's description of an action: its parameter for the state, and its given arguments.
void PursueCompiler::describe_action(Action& action, const std::string& name) {
  CallShape& shape = action.shape;
  const TypeTable& table = program_.type_table();
  action.documented =
      shape.documentation.empty() ? shape.name : fmt::format("{} // {}", shape.name, shape.documentation);
  shape.name = name;
  shape.signature = fmt::format("{}({}: {})", name, shape.parameter_names[action.hole],
                                table.describe(shape.parameters[action.hole]));
  const TypeId result = type_of(action.node);
  if (result != TypeTable::unit) shape.signature += " -> " + table.describe(result);
  action.about = allocate();
  const Temporaries scope(*this);
  std::vector<std::size_t> shown;
  for (std::size_t at = 0; at < shape.parameters.size(); ++at) {
    const TypeId type = shape.parameters[at];
    const bool is_hidden = at == action.hole || type == TypeTable::context ||
                           table.kind(type) == types::TypeKind::Tools || types::holds_secret(table, type);
    if (!is_hidden) shown.push_back(at);
  }
  action.has_others = !shown.empty();
  const Register parts = allocate(std::max<std::size_t>(2 * shown.size(), 1));
  load_string(parts, "");
  for (std::size_t at = 0; at < shown.size(); ++at) {
    const auto head = static_cast<Register>(parts + 2 * at);
    load_string(head, fmt::format("{}{} = ", at == 0 ? "" : ", ", shape.parameter_names[shown[at]]));
    emit(Opcode::Move, static_cast<Register>(head + 1), static_cast<Register>(action.given + shown[at]));
  }
  emit(Opcode::Template, action.about, parts, static_cast<std::uint16_t>(std::max<std::size_t>(2 * shown.size(), 1)));
}

/// The index of a part of the called function.
std::uint32_t PursueCompiler::action_part(const Action& action, Part part) {
  const types::Strategy& strategy = part == Part::Unguarded
                                        ? calls().strategy_of(action.node, action.function)
                                        : program_.checked().functions[action.function.index].strategy;
  const bool knows_state = part == Part::Guard || part == Part::Ensured;
  const Holes holes = knows_state ? Holes{static_cast<std::uint16_t>(action.hole)} : Holes{};
  return program_.instance(action.function, action.type_arguments, strategy, part, holes);
}

/// So that a person who looks at a run sees the present state of the `pursue`.
void PursueCompiler::name_state(std::string_view what, NodeId node, Register at) {
  const Place place = program_.place(module_, node);
  emitter_.name_variable(at, fmt::format("{}{}:{}", what, place.line, place.column));
}

void PursueCompiler::pursue(NodeId node, Register to) {
  const Temporaries scope(*this);
  const NodeId goal = tree().first(node);
  PursuitCode code{
      .facts = module_.pursuits.at(node.index),
      .texts = types::find_known_texts(program_.checked(), declaration_.module, node, program_.checked().verdicts),
      .goal = goal};
  code.is_judged = tree().kind(goal) != NodeKind::ClosureExpression;
  code.goal_text = allocate();
  if (code.is_judged) {
    into(goal, code.goal_text);
  } else {
    load_string(code.goal_text, fmt::format("`{}`", tree().text(goal)));
  }
  code.value = allocate();
  into(tree().next(goal), code.value);
  code.limit = allocate();
  load_integer(code.limit, default_steps_max);
  for (const NodeId bound : tree().children(node, NodeKind::PursueLimit)) {
    if (tree().main_text(bound) == "width") code.width = allocate();
    into(tree().first(bound), tree().main_text(bound) == "width" ? *code.width : code.limit);
  }
  code.actions = actions_of(node);
  code.types.push_back(program_.type_table().base(type_of(tree().next(goal))));
  for (const Action& action : code.actions) {
    code.types.push_back(program_.type_table().base(type_of(action.node)));
  }
  code.tag = allocate();
  load_integer(code.tag, 0);
  if (!code.width) {
    name_state(bytecode::pursuit_value, node, code.value);
    name_state(bytecode::pursuit_action, node, code.tag);
  }
  code.known = allocate();
  code.ensured = allocate();
  load_known(code, 0);
  code.steps = allocate();
  load_integer(code.steps, 0);
  code.blocked = allocate();
  emit(Opcode::MakeList, code.blocked, code.blocked, 0);
  code.is_spent = allocate();
  emit(Opcode::LoadBoolean, code.is_spent, 0);
  at(node);
  // Computed goals are free, so they are also checked for the initial state.
  std::vector<std::size_t> reached;
  if (!code.is_judged && code.facts.may_start_there) {
    reached.push_back(emit_jump(Opcode::JumpIf, is_goal(code, nullptr)));
  }
  const std::vector<std::size_t> reached_later = code.width ? search(code, node) : walk(code);
  reached.insert(reached.end(), reached_later.begin(), reached_later.end());
  at(node);
  const Register window = allocate(4);
  emit(Opcode::Move, window, code.goal_text);
  emit(Opcode::Move, static_cast<Register>(window + 1), code.steps);
  emit(Opcode::Move, static_cast<Register>(window + 2), code.is_spent);
  emit(Opcode::Move, static_cast<Register>(window + 3), code.blocked);
  emit_wide(Opcode::Call, window, pursuit_function("describe_end"));
  emit(Opcode::BreakContract, window, code.goal_text);
  land_all(reached);
  emit(Opcode::Take, to, code.value);
}

/// One action after the other, each on the value of the previous one. Returns the jumps that are taken at the goal;
/// without them, the code that follows is reached if there is no way to continue.
std::vector<std::size_t> PursueCompiler::walk(const PursuitCode& code) {
  const Register blocked = code.blocked;
  const Register steps = code.steps;
  const Register open = allocate();  // the record Enabled, without the actions that have failed in this state
  const Register enabled = allocate();
  const Register chosen = allocate();
  const std::size_t start = here();
  const Register flag = allocate();
  emit(Opcode::LessInteger, flag, steps, code.limit);
  const std::size_t more = emit_jump(Opcode::JumpIf, flag);
  emit(Opcode::LoadBoolean, code.is_spent, 1);
  const std::size_t spent = emit_jump(Opcode::Jump);
  land(more);
  find_enabled(code, open);
  const std::size_t choice = here();
  emit(Opcode::GetField, blocked, open, 1);
  emit(Opcode::GetField, enabled, open, 0);
  emit(Opcode::Length, flag, enabled);
  emit(Opcode::EqualShort, flag, flag, 0);
  const std::size_t stuck = emit_jump(Opcode::JumpIf, flag);
  choose_action(code, enabled, chosen);
  std::vector<std::size_t> reached;
  switch_over_actions(code, chosen, [&](const Action& action) {
    const std::size_t begin = here();
    take_action(code, action);
    const std::size_t end = here();
    emit(Opcode::AddI64Short, steps, steps, 1);
    if (code.texts.gives_goal[action.number]) {
      reached.push_back(emit_jump(Opcode::Jump));
    } else {
      if (code.facts.may_reach[action.number]) reached.push_back(emit_jump(Opcode::JumpIf, is_goal(code, &action)));
      land_at(emit_jump(Opcode::Jump), start);
    }
    // The state is still the one before the action, and the other actions remain available in it.
    const Register caught = allocate();
    add_handler(begin, end, here(), caught);
    const Register window = allocate(3);
    emit(Opcode::Take, window, open);
    load_integer(static_cast<Register>(window + 1), action.number);
    describe_action_failure(action, caught, static_cast<Register>(window + 2));
    emit_wide(Opcode::Call, window, pursuit_function("without_action"));
    emit(Opcode::Take, open, window);
    land_at(emit_jump(Opcode::Jump), choice);
  });
  land(spent);
  land(stuck);
  return reached;
}

/// to = `halve` fails: the message of the failure in `caught`.
void PursueCompiler::describe_action_failure(const Action& action, Register caught, Register to) {
  const Temporaries scope(*this);
  const Register parts = allocate(2);
  load_string(parts, fmt::format("`{}` fails: ", action.shape.name));
  emit(Opcode::GetField, static_cast<Register>(parts + 1), caught, failure_message_field);
  emit(Opcode::Template, to, parts, 2);
}

/// Code for each action, of which the one with the number in `chosen` is executed; each ends with its own jump.
void PursueCompiler::switch_over_actions(const PursuitCode& code, Register chosen,
                                         const std::function<void(const Action&)>& write) {
  const std::size_t jump = emit_wide(Opcode::Switch, chosen, 0);
  emit(Opcode::Unreachable);
  JumpTable table;
  table.otherwise = static_cast<std::uint32_t>(here() - 1);
  for (const Action& action : code.actions) {
    const Temporaries action_scope(*this);
    table.targets.push_back(static_cast<std::uint32_t>(here()));
    write(action);
  }
  const std::uint32_t index = program_.add_jump_table(std::move(table));
  emitter_.set_wide(jump, index);
}

/// enabled = the record Enabled of the current state.
void PursueCompiler::find_enabled(const PursuitCode& code, Register enabled) {
  const Temporaries scope(*this);
  const Register all = allocate();
  emit(Opcode::MakeList, all, all, 0);
  for (const Action& action : code.actions) {
    const Temporaries action_scope(*this);
    const Register guarded = allocate(6);
    const auto field = [&](std::size_t at) { return static_cast<Register>(guarded + at); };
    const Register broken = field(3);
    load_string(field(0), action.shape.name);
    load_string(field(1), action.documented);
    emit(Opcode::Move, field(2), action.about);
    for (std::size_t at = 3; at < 6; ++at) emit(Opcode::MakeList, field(at), field(at), 0);
    // The action does not accept states of another type.
    const std::vector<bool>& takes = code.facts.takes[action.number];
    std::vector<std::size_t> fits;
    const bool takes_all = std::all_of(takes.begin(), takes.end(), [](bool taken) { return taken; });
    if (!takes_all) {
      const Register is_tag = allocate();
      for (std::size_t tag = 0; tag < takes.size(); ++tag) {
        if (!takes[tag]) continue;
        emit(Opcode::EqualShort, is_tag, code.tag, static_cast<std::uint16_t>(tag));
        fits.push_back(emit_jump(Opcode::JumpIf, is_tag));
      }
      load_string(is_tag, fmt::format("a `{}`", program_.type_table().describe(action.shape.parameters[action.hole])));
      emit(Opcode::Push, broken, is_tag);
    }
    const std::size_t unfit = takes_all ? SIZE_MAX : emit_jump(Opcode::Jump);
    land_all(fits);
    if (action.has_guard) {
      const Register window = allocate(action.shape.parameters.size());
      for (std::size_t at = 0; at < action.shape.parameters.size(); ++at) {
        emit(Opcode::Move, static_cast<Register>(window + at),
             at == action.hole ? code.value : static_cast<Register>(action.given + at));
      }
      emit_wide(Opcode::Call, window, action_part(action, Part::Guard));
      for (std::uint16_t at = 0; at < 3; ++at) emit(Opcode::GetField, field(3 + at), window, at);
    }
    if (unfit != SIZE_MAX) land(unfit);
    emit(Opcode::MakeRecord, guarded, guarded, program_.type_operand(pursuit_type("Guarded")));
    emit(Opcode::Push, all, guarded);
  }
  const Register window = allocate(3);
  const bool is_any_judged = std::ranges::any_of(code.actions, &Action::has_judged_guard);
  if (is_any_judged) {
    emit(Opcode::Render, window, code.value);
    emit(Opcode::Move, static_cast<Register>(window + 1), code.known);
    emit(Opcode::Take, static_cast<Register>(window + 2), all);
  } else {
    emit(Opcode::Take, window, all);
  }
  emit_wide(Opcode::Call, window, pursuit_function(is_any_judged ? "find_enabled" : "find_unjudged"));
  emit(Opcode::Take, enabled, window);
}

/// chosen = the number of one of the enabled actions. If there is only one, the model is not asked.
void PursueCompiler::choose_action(const PursuitCode& code, Register enabled, Register chosen) {
  const Temporaries scope(*this);
  if (!code.may_choose()) {
    // An action is a column of a run's artifacts also where no model chooses it.
    for (const Action& action : code.actions) static_cast<void>(add_choice(action));
    load_integer(chosen, 0);
    emit(Opcode::GetItem, chosen, enabled, chosen);
    return;
  }
  const Register flag = allocate();
  emit(Opcode::Length, flag, enabled);
  emit(Opcode::EqualShort, flag, flag, 1);
  const std::size_t several = emit_jump(Opcode::JumpUnless, flag);
  load_integer(chosen, 0);
  emit(Opcode::GetItem, chosen, enabled, chosen);
  const std::size_t done = emit_jump(Opcode::Jump);
  land(several);
  const Register names = allocate();
  const Register set = allocate();
  const Register notes = allocate();  // about their given arguments
  emit(Opcode::MakeList, names, names, 0);
  emit(Opcode::MakeList, set, set, 0);
  emit(Opcode::MakeList, notes, notes, 0);
  for (const Action& action : code.actions) {
    const Temporaries action_scope(*this);
    const Register name = allocate();
    load_string(name, action.shape.name);
    emit(Opcode::Push, names, name);
    const Register search = allocate(2);
    emit(Opcode::Move, search, enabled);
    load_integer(static_cast<Register>(search + 1), action.number);
    emit(Opcode::CallBuiltin, flag, static_cast<std::uint16_t>(types::Builtin::ListContains), search);
    const std::size_t skip = emit_jump(Opcode::JumpUnless, flag);
    const std::uint32_t tool = add_choice(action);
    const Register record = allocate();
    load_integer(record, tool);
    emit(Opcode::MakeRecord, record, record, program_.type_operand(program_.program().tools[tool].record));
    emit(Opcode::Push, set, record);
    if (action.has_others) {
      const Register note = allocate(2);
      load_string(note, action.shape.name);
      emit(Opcode::Move, static_cast<Register>(note + 1), action.about);
      emit(Opcode::MakeRecord, note, note, program_.type_operand(pursuit_type("Note")));
      emit(Opcode::Push, notes, note);
    }
    land(skip);
  }
  const Register window = allocate(6);
  emit(Opcode::Move, window, function_.context_register);
  emit(Opcode::Move, static_cast<Register>(window + 1), code.goal_text);
  emit(Opcode::Render, static_cast<Register>(window + 2), code.value);
  emit(Opcode::Take, static_cast<Register>(window + 3), notes);
  emit(Opcode::Take, static_cast<Register>(window + 4), names);
  emit(Opcode::Take, static_cast<Register>(window + 5), set);
  emit_wide(Opcode::Call, window, pursuit_function("choose_action"));
  emit(Opcode::Take, chosen, window);
  land(done);
}

/// The action as a tool, for the model that chooses.
std::uint32_t PursueCompiler::add_choice(const Action& action) {
  CallShape shown;
  shown.name = action.shape.name;
  shown.documentation = action.shape.documentation;
  shown.signature = action.shape.signature;
  return tools().add_choice(std::move(shown), program_.place(module_, action.node));
}

/// The next state is the value of the action.
void PursueCompiler::take_action(const PursuitCode& code, const Action& action) {
  const Temporaries scope(*this);
  const std::size_t count = action.shape.parameters.size();
  const auto pass = [&](Register window) {
    for (std::size_t at = 0; at < count; ++at) {
      emit(Opcode::Move, static_cast<Register>(window + at),
           at == action.hole ? code.value : static_cast<Register>(action.given + at));
    }
  };
  const Register value = allocate();
  const Register window = allocate(count + 1);
  pass(window);
  at(action.node);
  calls().within_budget(action.budget, [&] {
    if (action.has_guard) {
      emit_wide(Opcode::Call, window, action_part(action, Part::Unguarded));
    } else {
      calls().emit_call(action.node, window);
    }
  });
  emit(Opcode::Take, value, window);
  if (action.has_judged) {
    pass(window);
    emit(Opcode::Move, static_cast<Register>(window + count), value);
    emit_wide(Opcode::Call, window, action_part(action, Part::Ensured));
    emit(Opcode::Take, code.ensured, window);
  }
  emit(Opcode::Take, code.value, value);
  load_integer(code.tag, action.number + 1);
  load_known(code, action.number + 1);
  if (!action.has_judged) return;
  const Register joined = allocate(2);
  emit(Opcode::Move, joined, code.known);
  emit(Opcode::Move, static_cast<Register>(joined + 1), code.ensured);
  emit(Opcode::CallBuiltin, code.known, static_cast<std::uint16_t>(types::Builtin::ListConcatenate), joined);
}

/// known = the keys of texts that are satisfied by every state with that tag.
void PursueCompiler::load_known(const PursuitCode& code, std::uint32_t tag) {
  const Temporaries scope(*this);
  const std::vector<std::string>& known = code.texts.known[tag];
  const Register texts = allocate(std::max<std::size_t>(known.size(), 1));
  for (std::size_t at = 0; at < known.size(); ++at) load_string(static_cast<Register>(texts + at), known[at]);
  emit(Opcode::MakeList, code.known, texts, static_cast<std::uint16_t>(known.size()));
}

/// A register that says whether the current state, of the goal's type, is the goal; `by` is the action that produced
/// it.
Register PursueCompiler::is_goal(const PursuitCode& code, const Action* by) {
  const Register holds = allocate();
  if (!code.is_judged) {
    const std::vector<NodeId> parts = tree().children(code.goal);
    patterns().bind_to(parts[0], code.value);
    const Register caught = allocate();
    const std::size_t begin = here();
    into(parts.back(), holds);
    const std::size_t end = here();
    const std::size_t done = emit_jump(Opcode::Jump);
    // A goal that cannot be computed is not reached.
    add_handler(begin, end, here(), caught);
    emit(Opcode::LoadBoolean, holds, 0);
    land(done);
    return holds;
  }
  const Register window = allocate(3);
  emit(Opcode::Move, window, code.goal_text);
  emit(Opcode::Render, static_cast<Register>(window + 1), code.value);
  if (by != nullptr && by->has_judged) {
    emit(Opcode::Move, static_cast<Register>(window + 2), code.ensured);
  } else {
    emit(Opcode::MakeList, static_cast<Register>(window + 2), static_cast<Register>(window + 2), 0);
  }
  emit_wide(Opcode::Call, window, pursuit_function("is_reached"));
  emit(Opcode::Take, holds, window);
  return holds;
}

}  // namespace tenon::compiler
