// `tools { … }`: a list with a record for each tool, and for each tool a function that calls it.

#include <algorithm>

#include "base/ensure.h"
#include "bytecode/tool_sets.h"
#include "compiler/call_compiler.h"
#include "compiler/tool_compiler.h"
#include "diagnostics/kinds.h"
#include "types/table/type_parts.h"

namespace tenon::compiler {

using bytecode::passed_parameters;
using types::FunctionRole;
using types::TargetKind;

using types::TypeId;
using types::TypeTable;

namespace {

/// A function that calls a tool. Its parameters are the arguments from the program and from the model, in the callee's
/// order; other contexts are new ones. Its result is the callee's, as text or cut by trust, or the callee's failure.
class ToolFunction {
 public:
  enum class Shown : bool { AsText, InParts };

  ToolFunction(const Tool& tool, Place place, Shown shown)
      : tool_(tool), passed_(passed_parameters(tool)), shown_(shown) {
    function_.name = "tool " + tool.call.name;
    function_.documentation = tool.call.documentation;
    function_.place = place;
    function_.lines.push_back({0, place});
  }

  /// The tool's own limits: the index of a budget within which it is called.
  std::optional<std::uint32_t> budget;

  Function make(Opcode call, std::uint32_t callee, TypeTable& types, std::uint16_t any_result) {
    const std::size_t count = tool_.call.parameters.size();
    const auto window = static_cast<Register>(passed_.size());
    Register next = 0;
    for (std::uint16_t at = 0; at < count; ++at) {
      const auto place = static_cast<Register>(window + at);
      if (!is_passed(at)) {
        emit(Opcode::NewContext, place);
        continue;
      }
      emit(Opcode::Take, place, next++);
      function_.parameter_names.push_back(tool_.call.parameter_names[at]);
    }
    function_.parameters = passed_;
    function_.result = types.result(shown_ == Shown::AsText ? TypeTable::string : types.list(TypeTable::string));
    function_.register_count = static_cast<std::uint16_t>(window + std::max<std::size_t>(count, 1));
    if (budget) emit_wide(Opcode::EnterBudget, 0, *budget);
    emit_wide(call, window, callee);
    if (budget) emit(Opcode::LeaveBudget);
    if (shown_ == Shown::AsText) {
      emit(Opcode::Render, window, window);
    } else {
      emit(Opcode::CallBuiltin, window, static_cast<std::uint16_t>(types::Builtin::CutByTrust), window);
    }
    const auto end = static_cast<std::uint32_t>(function_.code.size());
    emit(Opcode::MakeVariant, window, any_result, 0);
    emit(Opcode::Return, window);
    function_.handlers.push_back({0, end, static_cast<std::uint32_t>(function_.code.size()), window, 0});
    emit(Opcode::MakeVariant, window, any_result, 1);
    emit(Opcode::Return, window);
    return std::move(function_);
  }

 private:
  [[nodiscard]] bool is_passed(std::uint16_t at) const {
    return std::ranges::find(tool_.given, at) != tool_.given.end() ||
           std::ranges::find(tool_.call.holes, at) != tool_.call.holes.end();
  }

  void emit(Opcode opcode, std::uint16_t a = 0, std::uint16_t b = 0, std::uint16_t c = 0) {
    function_.code.push_back({static_cast<std::uint16_t>(opcode), a, b, c});
  }
  void emit_wide(Opcode opcode, std::uint16_t a, std::uint32_t operand) {
    emit(opcode, a, static_cast<std::uint16_t>(operand & 0xFFFFU), static_cast<std::uint16_t>(operand >> 16U));
  }

  const Tool& tool_;
  std::vector<TypeId> passed_;
  Shown shown_;
  Function function_;
};

}  // namespace

void ToolCompiler::tool_set(NodeId node, Register to) {
  const std::vector<NodeId> entries = tree().children(node, NodeKind::ToolEntry);
  const Register items = allocate(std::max<std::size_t>(entries.size(), 1));
  for (std::size_t at = 0; at < entries.size(); ++at) tool(entries[at], static_cast<Register>(items + at));
  emit(Opcode::MakeList, to, items, static_cast<std::uint16_t>(entries.size()));
}

void ToolCompiler::tool(NodeId entry, Register to) {
  const Temporaries scope(*this);
  const types::Target& target = facts(entry).target;
  const NodeId whole = tree().first(entry);
  const auto [expression, budget] = calls().take_limits(whole);
  const bool is_call = tree().kind(expression) == NodeKind::CallExpression;
  std::vector<NodeId> arguments;
  if (is_call) arguments = tree().children(tree().find_child(expression, NodeKind::Arguments));
  std::vector<TypeId> type_arguments = facts(entry).type_arguments;
  for (TypeId& type : type_arguments) type = resolve(type);

  Tool tool;
  TypeId result;
  bool is_agent = false;
  std::vector<bool> is_trusted;
  const auto describe_call = [&](const auto& callee) {
    tool.call.name = callee.name;
    for (const types::Parameter& parameter : callee.parameters) {
      tool.call.parameter_names.push_back(parameter.name);
      is_trusted.push_back(parameter.is_trusted);
      tool.call.parameters.push_back(program_.substitute(parameter.type, callee.type_parameter_types, type_arguments));
    }
    tool.call.parameter_documentation = types::documentation_of(callee.parameters);
    result = program_.substitute(callee.result, callee.type_parameter_types, type_arguments);
  };
  if (target.kind == TargetKind::Extern) {
    describe_call(program_.checked().externs[target.index]);
  } else {
    const types::FunctionDeclaration& callee = program_.checked().functions[target.index];
    describe_call(callee);
    tool.call.name = callee.name_as_tool();
    is_agent = callee.role == FunctionRole::AgentRun;
    if (is_agent) {
      tool.call.name = program_.checked().agents[callee.agent.index].name;
      tool.call.parameter_names = {"message"};
    }
  }
  const bool is_renamed = tree()[entry].main_token >= tree()[whole].end_token;
  if (is_renamed) tool.call.name = std::string(tree().main_text(entry));

  // The given arguments are in the record, after the tool's index.
  const auto contexts = static_cast<std::size_t>(std::ranges::count(tool.call.parameters, TypeTable::context));
  const bool leaves_contexts_out =
      !is_call || (contexts > 0 && arguments.size() + contexts == tool.call.parameters.size());
  types::StructType shape{tool.call.name, "", {{"tool", TypeTable::i64, ""}}};
  std::vector<NodeId> given;
  std::size_t next = 0;
  for (std::uint16_t at = 0; at < tool.call.parameters.size(); ++at) {
    if (leaves_contexts_out && tool.call.parameters[at] == TypeTable::context) continue;
    const NodeId argument = is_call ? arguments[next++] : NodeId{};
    if (argument.exists() && tree().kind(argument) != NodeKind::HoleExpression) {
      shape.fields.push_back({tool.call.parameter_names[at], tool.call.parameters[at], ""});
      tool.given.push_back(at);
      given.push_back(argument);
    } else {
      calls().expect_answerable(argument.exists() ? argument : expression, tool.call.name, tool.call.parameters[at]);
      tool.call.holes.push_back(at);
    }
  }
  if (types::holds_secret(program_.type_table(), result)) {
    program_.diagnostics().report(diagnostics::ToolResultNotVisible, tree().span(expression), tool.call.name,
                                  program_.type_table().describe(result));
  }
  std::string list;
  for (const std::uint16_t hole : tool.call.holes) {
    if (!list.empty()) list += ", ";
    list += tool.call.parameter_names[hole] + (is_trusted[hole] ? ": trusted " : ": ") +
            program_.type_table().describe(tool.call.parameters[hole]);
  }
  tool.call.documentation = calls().documentation_of(target, tool.call);
  tool.call.signature = tool.call.name + "(" + list + ")";
  if (result != TypeTable::unit) tool.call.signature += " -> " + program_.type_table().describe(result);
  tool.place = program_.place(module_, entry);

  // An extern with a contract is called through the function that checks the contract.
  const types::FunctionId function_id = target.kind == TargetKind::Extern
                                            ? program_.checked().externs[target.index].wrapper
                                            : types::FunctionId{target.index};
  const bool is_extern = !function_id.exists();
  const std::uint32_t callee =
      is_extern ? program_.extern_instance(types::ExternId{target.index}, type_arguments)
                : program_.instance(function_id, type_arguments, calls().strategy_of(expression, function_id));
  const std::uint16_t type = program_.type_operand(program_.type_table().add_struct(std::move(shape)));
  tool.record = TypeId{type};
  const auto function = [&](ToolFunction::Shown shown) {
    ToolFunction calls(tool, tool.place, shown);
    calls.budget = budget;
    return calls.make(is_extern ? Opcode::CallExtern : Opcode::Call, callee, program_.type_table(),
                      program_.type_operand(TypeTable::any_result));
  };
  tool.function = program_.add_function(function(ToolFunction::Shown::AsText));
  Function in_parts = function(ToolFunction::Shown::InParts);
  const std::uint32_t index = program_.add_tool(std::move(tool), std::move(in_parts));

  const Register window = allocate(given.size() + 1);
  for (std::size_t at = 0; at < given.size(); ++at) into(given[at], static_cast<Register>(window + 1 + at));
  at(entry);
  load_integer(window, index);
  emit(Opcode::MakeRecord, to, window, type);
}

std::uint32_t ToolCompiler::add_choice(CallShape shown, Place place) {
  Tool tool;
  TypeTable& types = program_.type_table();
  Function function;
  function.name = "choice of " + shown.name;
  function.documentation = shown.documentation;
  function.place = place;
  function.lines.push_back({0, place});
  function.result = types.result(TypeTable::string);
  function.register_count = 1;
  const std::uint32_t nothing = program_.constant(std::string());
  const auto emit_in = [&](Opcode opcode, std::uint16_t b = 0, std::uint16_t c = 0) {
    function.code.push_back({static_cast<std::uint16_t>(opcode), 0, b, c});
  };
  emit_in(Opcode::LoadConstant, static_cast<std::uint16_t>(nothing & 0xFFFFU),
          static_cast<std::uint16_t>(nothing >> 16U));
  emit_in(Opcode::MakeVariant, program_.type_operand(TypeTable::any_result), 0);
  emit_in(Opcode::Return);
  tool.record = types.add_struct({shown.name, "", {{"tool", TypeTable::i64, ""}}});
  tool.call = std::move(shown);
  tool.place = place;
  tool.function = program_.add_function(std::move(function));
  return program_.add_tool(std::move(tool), std::nullopt);
}

void ToolCompiler::named_tool(Register set, Register name, Register given, Register to) {
  const Temporaries scope(*this);
  const auto call = [&](types::Builtin builtin, Register result, Register arguments) {
    emit(Opcode::CallBuiltin, result, static_cast<std::uint16_t>(builtin), arguments);
  };
  const Register arguments = allocate(2);
  const Register window = allocate(2);  // the last one: a call clears what is after it
  const auto second = [](Register first) { return static_cast<Register>(first + 1); };
  emit(Opcode::Move, arguments, set);
  emit(Opcode::Move, second(arguments), name);
  call(types::Builtin::ToolFind, window, arguments);
  emit(Opcode::Move, arguments, window);
  emit(Opcode::Move, second(arguments), given);
  call(types::Builtin::ToolArguments, second(window), arguments);
  program_.use_tools_in_parts();
  emit(Opcode::CallToolInParts, window);
  emit(Opcode::Take, to, window);
}

void ToolCompiler::chosen_tool(NodeId spread, Register chosen, Register to) {
  const Temporaries scope(*this);
  // The last ones: a call clears what is after its window.
  const Register fields = allocate(3);
  const Register window = allocate(2);
  emit(Opcode::Take, fields, static_cast<Register>(chosen + 3));
  emit(Opcode::Take, static_cast<Register>(fields + 1), static_cast<Register>(chosen + 4));
  emit(Opcode::Take, window, static_cast<Register>(chosen + 1));
  emit(Opcode::Take, static_cast<Register>(window + 1), static_cast<Register>(chosen + 2));
  at(spread);
  emit(Opcode::CallTool, window);
  emit(Opcode::Take, static_cast<Register>(fields + 2), window);
  emit(Opcode::MakeRecord, to, fields, program_.type_operand(program_.checked().tool_result));
}

}  // namespace tenon::compiler
