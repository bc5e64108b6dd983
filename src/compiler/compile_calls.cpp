// Calls. Arguments are in a window of registers, which becomes the callee's first ones; the result is returned in the
// first of them.

#include "base/ensure.h"
#include "compiler/agent_compiler.h"
#include "compiler/call_compiler.h"
#include "compiler/early_contracts.h"
#include "compiler/expression_compiler.h"
#include "compiler/filling_compiler.h"
#include "compiler/guard_compiler.h"
#include "compiler/outer_contract_compiler.h"
#include "compiler/pattern_compiler.h"
#include "compiler/place_compiler.h"
#include "diagnostics/kinds.h"
#include "syntax/limited_call.h"
#include "syntax/literals.h"
#include "types/builtin_methods.h"
#include "types/table/type_parts.h"

namespace tenon::compiler {

using types::BuiltinMethod;
using types::TargetKind;
using types::TypeId;

using types::TypeKind;
using types::TypeTable;

std::uint32_t CallCompiler::budget_of(NodeId clause) {
  Budget budget;
  budget.place = program_.place(module_, clause);
  for (const NodeId argument : tree().children(clause, NodeKind::NamedArgument)) {
    const std::string_view name = tree().main_text(argument);
    const NodeId value = tree().first(argument);
    const std::uint64_t number = syntax::integer_value(tree().text(value)).value_or(0);
    if (name == "time") {
      const std::string_view unit = tree().text(tree()[argument].end_token - 1);
      const std::uint64_t factor = syntax::unit_milliseconds(unit).value_or(1);  // the checker has seen to it
      budget.bounds.milliseconds = number > UINT64_MAX / factor ? UINT64_MAX : number * factor;
    } else if (name == "bits") {
      budget.bounds.bits = number;
    } else if (const auto bound = bytecode::find_bound(name)) {
      budget.bounds.*(*bound) = number;
    }
  }
  return program_.add_budget(budget);
}

BudgetedCall CallCompiler::take_limits(NodeId node) {
  const syntax::LimitedCall limited = syntax::read_limited_call(tree(), node);
  BudgetedCall call{.node = limited.call, .budget = {}};
  if (limited.budget.exists()) call.budget = budget_of(limited.budget);
  if (limited.strategy.exists()) {
    call_strategies_.insert_or_assign(limited.call.index, module_.strategies.at(limited.strategy.index));
  }
  return call;
}

void CallCompiler::within_budget(std::optional<std::uint32_t> budget, const std::function<void()>& write) {
  if (!budget) return write();
  emit_wide(Opcode::EnterBudget, 0, *budget);
  emitter_.open_budget();
  write();
  emitter_.close_budget();
  emit(Opcode::LeaveBudget);
}

void CallCompiler::call(NodeId node, Register to, std::optional<std::uint32_t> budget) {
  const std::vector<NodeId> arguments = tree().children(tree().find_child(node, NodeKind::Arguments));
  const types::Target& target = facts(node).target;
  switch (target.kind) {
    case TargetKind::Function:
      if (program_.checked().functions[target.index].role == types::FunctionRole::TakeOver) {
        return agents().handoff(node, arguments[0]);
      }
      if (outer_contracts().asks_for_violations(node)) return outer_contracts().violations(node, to);
      [[fallthrough]];
    case TargetKind::Extern:
      return declared_call(node, arguments,
                           emitter_.allocate_window(to, arguments.size() + outer_contracts().count_passed(node)), 0, to,
                           budget);
    case TargetKind::Fail: {
      const Register message = operand(arguments[0]);
      at(node);
      emit(type_of(arguments[0]) == TypeTable::failure ? Opcode::Raise : Opcode::Fail, message);
      return;
    }
    case TargetKind::Endorse:
      into(arguments[0], to);
      at(node);
      emit_wide(Opcode::Endorse, to, program_.constant(syntax::plain_string(tree(), arguments[1]).value_or("")));
      return;
    case TargetKind::Conversion: {
      into(arguments[0], to);
      const TypeId type = resolve(TypeId{target.index});
      const TypeTable& table = program_.type_table();
      // An Option is not checked.
      const bool proven = table.kind(type) == TypeKind::Option ||
                          (table.kind(type) == TypeKind::Union && type_of(arguments[0]) == type);
      if (table.kind(type) != TypeKind::Text && !proven) {
        at(node);
        emit(Opcode::Check, to, program_.type_operand(type));
      }
      return;
    }
    case TargetKind::NewContext:
      emit(Opcode::NewContext, to);
      return;
    case TargetKind::NewMap:
      emit(Opcode::MakeMap, to, to, 0);
      return;
    case TargetKind::NewList:
      emit(Opcode::MakeList, to, to, 0);
      return;
    case TargetKind::MapFrom:
      return map_from(arguments[0], to);
    case TargetKind::EnumCase: {
      const TypeId type = program_.type_table().base(type_of(node));
      const TypeKind kind = program_.type_table().kind(type);
      const TypeId shown = kind == TypeKind::Option   ? TypeTable::any_option
                           : kind == TypeKind::Result ? TypeTable::any_result
                                                      : type;
      if (arguments.empty()) {
        emit(Opcode::LoadCase, to, program_.type_operand(shown), static_cast<std::uint16_t>(target.detail));
        return;
      }
      const Register window = emitter_.allocate_window(to, arguments.size());
      for (std::size_t item = 0; item < arguments.size(); ++item)
        into(arguments[item], static_cast<Register>(window + item));
      emit(Opcode::MakeVariant, window, program_.type_operand(shown), static_cast<std::uint16_t>(target.detail));
      if (window != to) emit(Opcode::Take, to, window);
      return;
    }
    default:
      break;
  }
  ENSURE(false);
}

void CallCompiler::map_from(NodeId argument, Register to) {
  const std::vector<NodeId> pairs = tree().children(argument);
  bool literal = tree().kind(argument) == NodeKind::ListExpression && pairs.size() <= 64;
  for (const NodeId pair : pairs) literal = literal && tree().kind(pair) == NodeKind::TupleExpression;
  if (literal) {
    const Register window = allocate(std::max<std::size_t>(pairs.size() * 2, 1));
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      const NodeId key = tree().first(pairs[pair]);
      into(key, static_cast<Register>(window + 2 * pair));
      into(tree().next(key), static_cast<Register>(window + 2 * pair + 1));
    }
    emit(Opcode::MakeMap, to, window, static_cast<std::uint16_t>(pairs.size()));
    return;
  }
  const Register map = allocate();
  const Register window = allocate(3);
  const Register key = allocate();
  const Register value = allocate();
  emit(Opcode::MakeMap, map, map, 0);
  into(argument, window);
  load_integer(static_cast<Register>(window + 1), 0);
  const std::size_t start = emit_jump(Opcode::ForList, window);
  emit(Opcode::GetField, key, static_cast<Register>(window + 2), 0);
  emit(Opcode::GetField, value, static_cast<Register>(window + 2), 1);
  emit(Opcode::SetEntry, map, key, value);
  land_at(emit_jump(Opcode::Jump), start);
  land(start);
  emit(Opcode::Take, to, map);
}

void CallCompiler::expect_answerable(NodeId node, const std::string& name, TypeId type, types::Answerer answerer) {
  const TypeTable& table = program_.type_table();
  if (!types::find_unanswerable(table, type, answerer).exists()) return;
  const auto& kind =
      answerer == types::Answerer::Person ? diagnostics::AskTypeNotSupported : diagnostics::AnswerTypeNotSupported;
  program_.diagnostics().report(kind, tree().main_span(node), name, table.describe(type));
}

CallShape CallCompiler::call_shape(NodeId node, std::span<const NodeId> arguments) {
  const types::Target& target = facts(node).target;
  CallShape shape;
  std::vector<types::Parameter> parameters;
  TypeId result;
  if (target.kind == TargetKind::Function) {
    const types::FunctionDeclaration& callee = program_.checked().functions[target.index];
    shape.name = callee.name;
    parameters = callee.parameters;
    result = callee.result;
    std::vector<TypeId> given = facts(node).type_arguments;
    for (TypeId& type : given) type = resolve(type);
    for (types::Parameter& parameter : parameters)
      parameter.type = program_.substitute(parameter.type, callee.type_parameter_types, given);
    result = program_.substitute(result, callee.type_parameter_types, given);
  } else {
    const types::ExternDeclaration& callee = program_.checked().externs[target.index];
    shape.name = callee.name;
    parameters = callee.parameters;
    std::vector<TypeId> given = facts(node).type_arguments;
    for (TypeId& type : given) type = resolve(type);
    result = program_.substitute(callee.result, callee.type_parameter_types, given);
  }
  const TypeTable& table = program_.type_table();
  std::string list;
  const std::size_t skipped = parameters.size() - arguments.size();  // a receiver in front of the dot
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    shape.parameter_names.push_back(parameters[at].name);
    shape.parameters.push_back(parameters[at].type);
    if (at >= skipped && tree().kind(arguments[at - skipped]) == NodeKind::HoleExpression) {
      expect_answerable(arguments[at - skipped], shape.name, parameters[at].type);
      shape.holes.push_back(static_cast<std::uint16_t>(at));
    } else if (at >= skipped && parameters[at].type != TypeTable::context) {
      shape.given.resize(parameters.size());
      shape.given[at] = scope_.line_of(arguments[at - skipped]);
    }
    if (parameters[at].type == TypeTable::context) continue;
    if (!list.empty()) list += ", ";
    list += parameters[at].name + ": " + table.describe(parameters[at].type);
  }
  shape.documentation = documentation_of(target, shape);
  shape.parameter_documentation = types::documentation_of(parameters);
  shape.signature = shape.name + "(" + list + ")";
  if (result != TypeTable::unit) shape.signature += " -> " + table.describe(result);
  return shape;
}

void CallCompiler::emit_call(NodeId node, Register window) {
  const types::Target& target = facts(node).target;
  std::vector<TypeId> given = facts(node).type_arguments;
  for (TypeId& type : given) type = resolve(type);
  if (target.kind == TargetKind::Extern) {
    const types::ExternId callee{target.index};
    const types::FunctionId wrapper = program_.checked().externs[target.index].wrapper;
    if (wrapper.exists()) {
      emit_wide(Opcode::Call, window, program_.instance(wrapper, {}));
      return;
    }
    const std::uint32_t index = program_.extern_instance(callee, given);
    const types::ExternDeclaration& declaration = program_.checked().externs[target.index];
    if (!given.empty()) {
      expect_answerable(node, declaration.name, program_.program().externs[index].result, types::Answerer::Person);
    }
    emit_wide(Opcode::CallExtern, window, index);
    return;
  }
  const types::FunctionId callee{target.index};
  if (const auto outer = outer_contracts().passed_by(node)) {
    const types::FunctionDeclaration& function = program_.checked().functions[callee.index];
    outer_contracts().pass_arguments(static_cast<Register>(window + function.parameters.size()));
    emit_wide(Opcode::Call, window, program_.instance(callee, given, function.strategy, Part::Whole, {}, *outer));
    outer_contracts().note_returned(window);
    return;
  }
  emit_wide(Opcode::Call, window, program_.instance(callee, given, strategy_of(node, callee)));
}

const types::Strategy& CallCompiler::strategy_of(NodeId call, types::FunctionId callee) const {
  const auto own = call_strategies_.find(call.index);
  return own == call_strategies_.end() ? program_.checked().functions[callee.index].strategy : own->second;
}

void CallCompiler::declared_call(NodeId node, std::span<const NodeId> arguments, Register window, std::size_t offset,
                                 Register to, std::optional<std::uint32_t> budget) {
  bool has_holes = false;
  for (std::size_t argument = 0; argument < arguments.size(); ++argument) {
    if (tree().kind(arguments[argument]) == NodeKind::HoleExpression) {
      has_holes = true;
    } else {
      into(arguments[argument], static_cast<Register>(window + offset + argument));
    }
  }
  at(node);
  const std::uint16_t budgets = emitter_.open_budgets();
  within_budget(budget, [&] {
    if (has_holes) {
      Site site;
      site.kind = SiteKind::Fill;
      site.place = program_.place(module_, node);
      site.function = scope_.own_instance();
      site.call = call_shape(node, arguments);
      guards().check_early(node, site.call, window);
      filling().fill(node, std::move(site), window, budgets);
    }
    emit_call(node, window);
  });
  if (window != to) emit(Opcode::Take, to, window);
}

void CallCompiler::method_call(NodeId node, Register to, std::optional<std::uint32_t> budget) {
  const NodeId receiver_node = tree().first(node);
  const std::vector<NodeId> arguments = tree().children(tree().find_child(node, NodeKind::Arguments));
  const types::Target& target = facts(node).target;
  const bool declared = target.kind == TargetKind::Function || target.kind == TargetKind::Extern;
  const std::size_t window_size = arguments.size() + 1 + (declared ? outer_contracts().count_passed(node) : 0);
  if (target.detail == 0) {
    if (declared && outer_contracts().asks_for_violations(node)) return outer_contracts().violations(node, to);
    if (declared) {
      const Register window = emitter_.allocate_window(to, window_size);
      into(receiver_node, window);
      return declared_call(node, arguments, window, 1, to, budget);
    }
    if (target.kind == TargetKind::Builtin) {
      return static_cast<void>(
          builtin_call(node, static_cast<types::Builtin>(target.index), std::nullopt, arguments, to));
    }
    if (target.kind == TargetKind::ReadJson) {
      const Register text = operand(receiver_node);
      at(node, true);
      return read_json(node, text, to);
    }
    const auto method = static_cast<BuiltinMethod>(target.index);
    Register receiver = 0;
    if (!types::changes_receiver(method)) {
      receiver = allocate();
      bool stable = true;
      for (const NodeId argument : arguments) stable = stable && !scope_.changes_variables(argument);
      if (stable) {
        receiver = operand(receiver_node);
      } else {
        into(receiver_node, receiver);
      }
    }
    at(node, true);
    return places().builtin_method(node, receiver, receiver_node, arguments, to);
  }
  // `option?.method(…)`: None stays None.
  const Register option = allocate();
  into(receiver_node, option);
  const std::size_t absent = expressions().open_option(option);
  const Register result = allocate();
  if (declared) {
    const Register window = emitter_.allocate_window(result, window_size);
    emit(Opcode::Move, window, option);
    declared_call(node, arguments, window, 1, result, budget);
  } else if (target.kind == TargetKind::Builtin) {
    static_cast<void>(builtin_call(node, static_cast<types::Builtin>(target.index), option, arguments, result));
  } else if (target.kind == TargetKind::ReadJson) {
    read_json(node, option, result);
  } else {
    places().builtin_method(node, option, receiver_node, arguments, result);
  }
  const TypeId type = type_of(node);
  if (type == TypeTable::unit) {
    land(absent);
    emit(Opcode::LoadUnit, to);
    return;
  }
  // A method that returns an Option is not wrapped again.
  TypeId given = target.kind == TargetKind::Function ? program_.checked().functions[target.index].result
                 : target.kind == TargetKind::Extern ? program_.checked().externs[target.index].result
                                                     : TypeTable::error;
  if (target.kind == TargetKind::ReadJson) {
    given = resolve(TypeId{target.index});
  } else if (!declared) {
    const TypeId inner = program_.type_table().get(program_.type_table().base(type_of(receiver_node))).arguments[0];
    const auto method = types::find_builtin_method(program_.type_table(), inner, tree().main_text(node));
    if (method && method->result.exists()) given = method->result;
  }
  if (scope_.operand_kind(given) != TypeKind::Option) expressions().make_some(result);
  emit(Opcode::Take, to, result);
  const std::size_t end = emit_jump(Opcode::Jump);
  land(absent);
  emit(Opcode::LoadCase, to, program_.type_operand(TypeTable::any_option), 0);
  land(end);
}

void CallCompiler::read_json(NodeId node, Register text, Register to) {
  const TypeId type = resolve(TypeId{facts(node).target.index});
  const TypeTable& table = program_.type_table();
  if (types::find_unanswerable(table, type).exists()) {
    program_.diagnostics().report(diagnostics::NotRepresentableInJson, tree().main_span(node), table.describe(type));
  }
  emit(Opcode::ReadJson, to, text, program_.type_operand(type));
}

Register CallCompiler::builtin_call(NodeId node, types::Builtin builtin, std::optional<Register> receiver,
                                    std::span<const NodeId> arguments, Register to) {
  const Register window = allocate(arguments.size() + 1);
  if (receiver) {
    emit(Opcode::Move, window, *receiver);
  } else {
    into(tree().first(node), window);
  }
  for (std::size_t argument = 0; argument < arguments.size(); ++argument) {
    into(arguments[argument], static_cast<Register>(window + 1 + argument));
  }
  at(node, true);
  emit(Opcode::CallBuiltin, to, static_cast<std::uint16_t>(builtin), window);
  if (receiver || !is_plain(kind_of(tree().first(node)))) emit(Opcode::LoadUnit, window);
  return window;
}

void CallCompiler::closure_loop(NodeId, BuiltinMethod method, Register receiver, std::span<const NodeId> arguments,
                                Register to) {
  const NodeId closure = arguments.back();
  std::vector<NodeId> parts = tree().children(closure);
  const NodeId body_node = parts.back();
  parts.pop_back();
  if (method == BuiltinMethod::OptionMap) {
    const Register option = allocate();
    emit(Opcode::Move, option, receiver);
    const std::size_t absent = expressions().open_option(option);
    patterns().bind_to(parts[0], option);
    const Register value = allocate();
    into(body_node, value);
    expressions().make_some(value);
    emit(Opcode::Take, to, value);
    const std::size_t end = emit_jump(Opcode::Jump);
    land(absent);
    emit(Opcode::LoadCase, to, program_.type_operand(TypeTable::any_option), 0);
    land(end);
    return;
  }
  const Register result = allocate();
  switch (method) {
    case BuiltinMethod::Map:
    case BuiltinMethod::Filter:
      emit(Opcode::MakeList, result, result, 0);
      break;
    case BuiltinMethod::Any:
      emit(Opcode::LoadBoolean, result, 0);
      break;
    case BuiltinMethod::All:
      emit(Opcode::LoadBoolean, result, 1);
      break;
    case BuiltinMethod::Find:
      emit(Opcode::LoadCase, result, program_.type_operand(TypeTable::any_option), 0);
      break;
    default:
      into(arguments[0], result);
      break;
  }
  const Register window = allocate(3);
  emit(Opcode::Move, window, receiver);
  load_integer(static_cast<Register>(window + 1), 0);
  const std::size_t start = emit_jump(Opcode::ForList, window);
  const auto item = static_cast<Register>(window + 2);
  std::size_t leave = SIZE_MAX;
  {
    const Temporaries scope(*this);
    if (method == BuiltinMethod::Fold) patterns().bind_to(parts[0], result);
    patterns().bind_to(parts.back(), item);
    const Register value = allocate();
    into(body_node, value);
    switch (method) {
      case BuiltinMethod::Map:
        emit(Opcode::Push, result, value);
        break;
      case BuiltinMethod::Filter: {
        const std::size_t skip = emit_jump(Opcode::JumpUnless, value);
        emit(Opcode::Push, result, item);
        land(skip);
        break;
      }
      case BuiltinMethod::Any:
      case BuiltinMethod::All:
      case BuiltinMethod::Find: {
        const bool all = method == BuiltinMethod::All;
        const std::size_t on = emit_jump(all ? Opcode::JumpIf : Opcode::JumpUnless, value);
        if (method == BuiltinMethod::Find) {
          emit(Opcode::Move, result, item);
          expressions().make_some(result);
        } else {
          emit(Opcode::LoadBoolean, result, all ? 0 : 1);
        }
        leave = emit_jump(Opcode::Jump);
        land(on);
        break;
      }
      default:
        emit(Opcode::Take, result, value);
        break;
    }
  }
  land_at(emit_jump(Opcode::Jump), start);
  land(start);
  if (leave != SIZE_MAX) land(leave);
  emit(Opcode::LoadUnit, window);
  emit(Opcode::Take, to, result);
}

std::string CallCompiler::documentation_of(const types::Target& target, const CallShape& shape) const {
  const types::CheckedProgram& checked = program_.checked();
  const bool is_extern = target.kind == TargetKind::Extern;
  std::string text =
      is_extern ? checked.externs[target.index].documentation : checked.functions[target.index].documentation;
  const types::FunctionId id = is_extern ? checked.externs[target.index].wrapper : types::FunctionId{target.index};
  if (!id.exists()) return text;
  const types::FunctionDeclaration& function = checked.functions[id.index];
  const types::Module& module = checked.modules[function.module.index];
  bool is_first = true;
  for (const types::Contract& contract : function.contracts) {
    if (contract.kind != types::ContractKind::Requires ||
        !names_any(checked, function, contract.expression, shape.holes))
      continue;
    const NodeId words = contract.words.exists() ? contract.words : contract.expression;
    const bool is_text = module.tree->kind(words) == NodeKind::StringExpression;
    const auto plain = is_text ? syntax::plain_string(*module.tree, words) : std::nullopt;
    if (is_first) text += text.empty() ? "Requires: " : " Requires: ";
    text += is_first ? "" : "; ";
    text += plain ? *plain : fmt::format("`{}`", module.tree->text(contract.expression));
    is_first = false;
  }
  return text;
}

}  // namespace tenon::compiler
