#include "bytecode/verifier.h"

#include <algorithm>

#include "base/utf8.h"
#include "bytecode/tool_sets.h"
#include "types/builtins.h"
#include "types/table/type_parts.h"

namespace tenon::bytecode {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

/// Keeps the first violation; callers that ask `is_good` skip later checks.
class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  Result<void, VerifyError> run() {
    check_types();
    for (const Constant& constant : program_.constants) check_constant(constant);
    for (const Extern& callee : program_.externs) check_extern(callee);
    for (const Site& site : program_.sites) check_site(site);
    for (const Agent& agent : program_.agents) check_agent(agent);
    for (const Tool& tool : program_.tools) check_tool(tool);
    for (const Function& function : program_.functions) {
      expect(function.agent == UINT32_MAX || function.agent < program_.agents.size(),
             "a function belongs to an agent that does not exist");
    }
    for (const TestCase& test : program_.tests) {
      expect(test.function < program_.functions.size(), "a test names a function that does not exist");
    }
    for (const Function& function : program_.functions) {
      if (is_good_) check_function(function);
    }
    if (is_good_) return {};
    return failure(std::move(error_));
  }

 private:
  void expect(bool holds, std::string_view complaint) {
    if (holds || !is_good_) return;
    is_good_ = false;
    error_ = {function_ == nullptr ? std::string() : function_->name, pc_, std::string(complaint)};
  }

  [[nodiscard]] bool has_type(TypeId type) const { return type.index < program_.types.size(); }

  void expect_type(TypeId type) { expect(has_type(type), "a type does not exist"); }

  void expect_text(std::string_view text) {
    expect(text.size() <= constant_bytes_max && find_invalid_utf8(text) == std::string_view::npos,
           "a text is not UTF-8 or too long");
  }

  void check_types() {
    const types::TypeTable& table = program_.types;
    for (std::uint32_t index = 0; index < table.size(); ++index) {
      const TypeId type{index};
      expect_text(table.get(type).name);
      for (const TypeId argument : table.get(type).arguments) expect(argument < type, "a type contains a later type");
      if (table.kind(type) == TypeKind::Struct) {
        for (const types::Field& field : table.struct_type(type).fields) expect_text(field.name);
      }
      if (table.kind(type) == TypeKind::Enum) {
        for (const types::Variant& variant : table.enum_type(type).variants) expect_text(variant.name);
      }
      types::for_each_part(table, type, types::TypeParts::OfValues, [&](TypeId part) { expect_type(part); });
    }
  }

  void check_constant(const Constant& constant) {
    if (const auto* const text = std::get_if<std::string>(&constant)) expect_text(*text);
  }

  void check_extern(const Extern& callee) {
    expect_text(callee.name);
    for (const TypeId type : callee.parameters) expect_type(type);
    expect_type(callee.result);
    expect(callee.parameter_names.size() == callee.parameters.size(), "an extern has parameters without names");
    expect(callee.parameter_documentation.empty() || callee.parameter_documentation.size() == callee.parameters.size(),
           "there is not one doc comment per parameter");
    expect(has_world_signature(callee), "a built-in effect has another signature");
    expect(callee.approval == no_extern || takes_calls_of(callee), "the approval of a call takes other arguments");
    const bool has_call_options =
        callee.call_options.is_once || callee.call_options.is_process || callee.call_options.within_ms;
    expect(callee.builtin_effect == types::BuiltinEffect::Native || !has_call_options,
           "a built-in effect has call options");
  }

  void check_agent(const Agent& agent) {
    const auto count = program_.functions.size();
    expect(agent.turn < count && agent.initial_state < count &&
               (agent.instructions == no_function || agent.instructions < count),
           "an agent names a function that does not exist");
    expect_type(agent.state);
    if (!is_good_) return;
    const Function& turn = program_.functions[agent.turn];
    expect(turn.parameters.size() == 2 && turn.parameters[0] == TypeTable::context,
           "an agent's turn does not take a context and an input");
    expect(program_.functions[agent.initial_state].parameters.empty(), "the initial state of an agent takes arguments");
    if (agent.run != no_function) {
      expect(agent.run < count && program_.functions[agent.run].parameters.size() == 1 &&
                 program_.functions[agent.run].parameters[0] == turn.parameters[1] &&
                 program_.functions[agent.run].result == turn.result,
             "an agent is not called with the input of its turn");
    }
    if (agent.take_over != no_function) {
      expect(agent.take_over < count && program_.functions[agent.take_over].parameters == turn.parameters &&
                 program_.functions[agent.take_over].result == turn.result,
             "an agent's handoff does not take the input of its turn");
    }
    if (agent.instructions == no_function) return;
    const Function& instructions = program_.functions[agent.instructions];
    expect(instructions.parameters.size() == 1 && instructions.parameters[0] == TypeTable::context &&
               instructions.result == TypeTable::string,
           "the instructions of an agent do not return a text for a context");
  }

  /// Whether the approval of the extern takes a struct of its arguments.
  [[nodiscard]] bool takes_calls_of(const Extern& callee) const {
    if (callee.approval >= program_.externs.size()) return false;
    const Extern& approval = program_.externs[callee.approval];
    if (approval.builtin_effect != types::BuiltinEffect::Approve || approval.parameters.size() != 2) return false;
    const TypeId call = approval.parameters[0];
    return has_type(call) && program_.types.kind(call) == TypeKind::Struct &&
           std::ranges::equal(program_.types.struct_type(call).fields, callee.parameters, {}, &types::Field::type);
  }

  [[nodiscard]] bool has_world_signature(const Extern& callee) const {
    const auto takes = [&](std::initializer_list<TypeId> parameters) {
      return std::equal(callee.parameters.begin(), callee.parameters.end(), parameters.begin(), parameters.end());
    };
    switch (callee.builtin_effect) {
      case types::BuiltinEffect::Native:
        return true;
      case types::BuiltinEffect::Ask:
        return takes({TypeTable::string});
      case types::BuiltinEffect::Approve:
        return callee.parameters.size() == 2 && takes({callee.parameters[0], TypeTable::string}) &&
               program_.types.kind(callee.result) == TypeKind::Option &&
               program_.types.get(callee.result).arguments[0] == callee.parameters[0];
      case types::BuiltinEffect::AskWithin:
        return takes({TypeTable::string, TypeTable::i64});
      case types::BuiltinEffect::Now:
        return takes({}) && callee.result == TypeTable::i64;
      case types::BuiltinEffect::Random:
        return takes({}) && callee.result == TypeTable::f64;
      case types::BuiltinEffect::Sleep:
        return takes({TypeTable::i64}) && callee.result == TypeTable::unit;
      case types::BuiltinEffect::AgentCalled:
      case types::BuiltinEffect::AgentReturned:
      case types::BuiltinEffect::HandedOff:
        return takes({TypeTable::string, TypeTable::string}) && callee.result == TypeTable::unit;
      case types::BuiltinEffect::AnswerRefused:
        // Programs of older journals do not name the answer.
        return (takes({TypeTable::string, TypeTable::string, TypeTable::string}) ||
                takes({TypeTable::string, TypeTable::string})) &&
               callee.result == TypeTable::unit;
      case types::BuiltinEffect::BlockEntered:
      case types::BuiltinEffect::BlockLeft:
      case types::BuiltinEffect::Emitted:
        return takes({TypeTable::string}) && callee.result == TypeTable::unit;
    }
    return false;
  }

  void check_call(const CallShape& call) {
    for (const TypeId type : call.parameters) expect_type(type);
    expect(call.parameter_names.size() == call.parameters.size(), "a call has parameters without names");
    expect(std::ranges::adjacent_find(call.holes, std::greater_equal<>{}) == call.holes.end(),
           "holes of a call are not in ascending order");
    expect(call.holes.empty() || call.holes.back() < call.parameters.size(), "a hole is after the last parameter");
    expect(call.given.empty() || call.given.size() == call.parameters.size(),
           "a call does not have one text per parameter");
    expect(call.parameter_documentation.empty() || call.parameter_documentation.size() == call.parameters.size(),
           "there is not one doc comment per parameter");
  }

  void check_tool(const Tool& tool) {
    check_call(tool.call);
    expect_text(tool.call.name);
    expect_type(tool.record);
    expect(tool.function < program_.functions.size() &&
               (tool.function_in_parts == no_function || tool.function_in_parts < program_.functions.size()),
           "a tool names a function that does not exist");
    if (!is_good_) return;
    const types::TypeTable& table = program_.types;
    std::vector<TypeId> fields{TypeTable::i64};
    for (const std::uint16_t given : tool.given) {
      expect(given < tool.call.parameters.size() && std::ranges::find(tool.call.holes, given) == tool.call.holes.end(),
             "a given argument of a tool is not one of its parameters");
      if (!is_good_) return;
      fields.push_back(tool.call.parameters[given]);
    }
    expect(std::ranges::adjacent_find(tool.given, std::greater_equal<>{}) == tool.given.end(),
           "given arguments of a tool are not in ascending order");
    expect(table.kind(tool.record) == TypeKind::Struct &&
               std::ranges::equal(table.struct_type(tool.record).fields, fields, {}, &types::Field::type),
           "a tool's record does not match its given arguments");
    const auto result_of = [&](std::uint32_t index) {
      const Function& function = program_.functions[index];
      expect(function.parameters == passed_parameters(tool), "the function of a tool takes other arguments");
      const bool is_result = has_type(function.result) && table.kind(function.result) == TypeKind::Result;
      return is_result ? table.get(function.result).arguments[0] : TypeTable::error;
    };
    expect(result_of(tool.function) == TypeTable::string, "the function of a tool does not return a Result of a text");
    if (tool.function_in_parts == no_function) return;
    const TypeId parts = result_of(tool.function_in_parts);
    expect(table.kind(parts) == TypeKind::List && table.get(parts).arguments[0] == TypeTable::string,
           "the function of a tool that cuts its result does not return a Result of a list of texts");
  }

  void check_site(const Site& site) {
    expect(site.function < program_.functions.size(), "a site names a function that does not exist");
    if (site.kind == SiteKind::Completion) expect_type(site.result);
    if (site.guard != no_function && is_good_) {
      expect(site.guard < program_.functions.size() &&
                 program_.functions[site.guard].parameters.size() ==
                     program_.functions[site.function].parameters.size() + 1 &&
                 program_.functions[site.guard].result == TypeTable::boolean,
             "a guard is not a condition on arguments and an answer");
    }
    check_call(site.call);
    for (const Clause& clause : site.clauses) check_call(clause.call);
  }

  void check_function(const Function& function) {
    function_ = &function;
    pc_ = 0;
    expect_text(function.name);
    expect(function.register_count >= 1 && function.register_count <= registers_per_function_max,
           "the number of registers is out of range");
    expect(function.parameters.size() <= function.register_count, "there are more parameters than registers");
    expect(function.parameter_names.size() == function.parameters.size(), "there are parameters without names");
    expect(function.parameter_documentation.empty() ||
               function.parameter_documentation.size() == function.parameters.size(),
           "there is not one doc comment per parameter");
    for (const TypeId type : function.parameters) expect_type(type);
    expect_type(function.result);
    expect(function.context_register == no_register || function.context_register < function.register_count,
           "the context's register is out of range");
    expect(!function.code.empty() && function.code.size() <= INT32_MAX, "a function has no code or too much");
    if (!is_good_) return;
    for (const Handler& handler : function.handlers) {
      expect(
          handler.begin < handler.end && handler.end <= function.code.size() && handler.target < function.code.size(),
          "a handler's range or target is outside of the code");
      expect(handler.failure < function.register_count, "a handler's register is out of range");
    }
    for (const FinallyHandler& cleanup : function.finally_handlers) check_cleanup(function, cleanup);
    for (const VariableName& variable : function.variables) {
      expect_text(variable.name);
      expect(variable.at < function.register_count && variable.begin <= variable.end &&
                 variable.end <= function.code.size(),
             "a variable is outside of the registers or of the code");
    }
    expect(std::ranges::is_sorted(function.lines, {}, &LineEntry::pc), "lines are not in ascending order");
    for (pc_ = 0; pc_ < function.code.size() && is_good_; ++pc_) check_instruction(function.code[pc_]);
    if (is_good_) {
      pc_ = static_cast<std::uint32_t>(function.code.size() - 1);
      expect(ends_flow(static_cast<Opcode>(function.code.back().opcode)), "control can run past the end");
    }
    function_ = nullptr;
    pc_ = 0;
  }

  void check_cleanup(const Function& function, const FinallyHandler& cleanup) {
    const bool is_inside = cleanup.begin <= cleanup.block && cleanup.block < cleanup.end &&
                           cleanup.end < function.code.size() && cleanup.kept < function.register_count;
    expect(is_inside, "the block of a `finally` is outside of the code");
    if (!is_good_) return;
    const auto is = [&](std::uint32_t pc, Opcode opcode) {
      return function.code[pc].opcode == static_cast<std::uint16_t>(opcode) && function.code[pc].a == cleanup.kept;
    };
    const bool is_finally = is(cleanup.block, Opcode::BeginCleanup) && is(cleanup.end, Opcode::EndCleanup);
    const bool is_shield =
        cleanup.begin == cleanup.block && is(cleanup.block, Opcode::LoadUnit) && is(cleanup.end, Opcode::EndShield);
    expect(is_finally || is_shield, "the block of a `finally` or `shield` has no begin or end");
  }

  static bool ends_flow(Opcode opcode) {
    return opcode == Opcode::Jump || opcode == Opcode::Switch || opcode == Opcode::Return ||
           opcode == Opcode::ReturnUnit || opcode == Opcode::Fail || opcode == Opcode::Raise ||
           opcode == Opcode::Unreachable || opcode == Opcode::EndBranch;
  }

  void expect_window(std::uint32_t first, std::size_t count) {
    expect(first + count <= function_->register_count, "a window of registers is out of range");
  }

  void expect_target(std::uint32_t target) { expect(target < function_->code.size(), "a jump leaves the function"); }

  void check_operand(Operand kind, std::uint16_t value, Instruction instruction) {
    switch (kind) {
      case Operand::None:
      case Operand::Immediate:
      case Operand::Short:
      case Operand::Count:
      case Operand::Field:
        return;
      case Operand::Read:
      case Operand::Write:
      case Operand::ReadWrite:
        expect(value < function_->register_count, "a register is out of range");
        return;
      case Operand::Window:
        return;  // by instruction, as its length is
      case Operand::Constant:
        expect(instruction.wide() < program_.constants.size(), "a constant does not exist");
        return;
      case Operand::Type:
        expect_type(TypeId{value});
        return;
      case Operand::Jump: {
        const std::int64_t target = std::int64_t{pc_} + 1 + instruction.signed_wide();
        expect(target >= 0 && target < static_cast<std::int64_t>(function_->code.size()), "a jump leaves the function");
        return;
      }
      case Operand::Function:
        expect(instruction.wide() < program_.functions.size(), "a function does not exist");
        return;
      case Operand::Extern:
        expect(instruction.wide() < program_.externs.size(), "an extern does not exist");
        return;
      case Operand::Site:
        expect(instruction.wide() < program_.sites.size(), "a site does not exist");
        return;
      case Operand::Table:
        expect(instruction.wide() < program_.jump_tables.size(), "a jump table does not exist");
        return;
      case Operand::Budget:
        expect(instruction.wide() < program_.budgets.size(), "a budget does not exist");
        return;
      case Operand::Builtin:
        expect(types::find_builtin(value) != nullptr, "a built-in does not exist");
        return;
    }
  }

  void check_instruction(Instruction i) {
    const InstructionInfo* const info = find_instruction(i.opcode);
    expect(info != nullptr, "an instruction does not exist");
    if (!is_good_) return;
    check_operand(info->operands[0], i.a, i);
    check_operand(info->operands[1], i.b, i);
    check_operand(info->operands[2], i.c, i);
    if (is_good_) check_meaning(info->opcode, i);
  }

  /// The windows' lengths, and what else the table says in words.
  void check_meaning(Opcode opcode, Instruction i) {
    if (opcode == Opcode::MakeList || opcode == Opcode::Template) expect_window(i.b, i.c);
    if (opcode == Opcode::MakeMap) expect_window(i.b, std::size_t{2} * i.c);
    if (opcode == Opcode::ForList || opcode == Opcode::ForRange || opcode == Opcode::ForInclusiveRange ||
        opcode == Opcode::ParallelFor) {
      expect_window(i.a, 3);
    }
    if (opcode == Opcode::ForMap) expect_window(i.a, 4);
    if (opcode == Opcode::Call)
      expect_window(i.a, std::max<std::size_t>(1, program_.functions[i.wide()].parameters.size()));
    if (opcode == Opcode::CallExtern)
      expect_window(i.a, std::max<std::size_t>(1, program_.externs[i.wide()].parameters.size()));
    if (opcode == Opcode::CallBuiltin) expect_window(i.c, types::find_builtin(i.b)->argument_count);
    if (opcode == Opcode::Assert || opcode == Opcode::Endorse || opcode == Opcode::RequireTrusted) {
      expect(std::holds_alternative<std::string>(program_.constants[i.wide()]),
             "the text of an instruction is not a text");
    }
    if (opcode == Opcode::MakeRecord) check_record(i);
    if (opcode == Opcode::ContextEntries) {
      const bool is_struct = program_.types.kind(TypeId{i.c}) == TypeKind::Struct;
      expect(is_struct && program_.types.struct_type(TypeId{i.c}).fields.size() == 2,
             "the entries of a context are not structs of two fields");
    }
    if (opcode == Opcode::MakeVariant || opcode == Opcode::LoadCase) check_case(opcode, i);
    if (opcode == Opcode::F64ToInteger) {
      const TypeKind kind = program_.types.kind(TypeId{i.c});
      expect(kind == TypeKind::I32 || kind == TypeKind::I64, "a conversion is not to an integer");
    }
    if (opcode == Opcode::Check) {
      const TypeKind kind = program_.types.kind(TypeId{i.b});
      expect(kind == TypeKind::Refined || kind == TypeKind::Union, "a check is not against a refinement or union");
    }
    if (opcode == Opcode::Switch) {
      const JumpTable& table = program_.jump_tables[i.wide()];
      for (const std::uint32_t target : table.targets) expect_target(target);
      expect_target(table.otherwise);
    }
    if (opcode == Opcode::Parallel) {
      const JumpTable& table = program_.jump_tables[i.wide()];
      for (const std::uint32_t target : table.targets) expect_target(target);
      expect_window(i.a, table.targets.size());
    }
    if (opcode == Opcode::CallTool || opcode == Opcode::CallToolInParts) expect_window(i.a, 2);
    if (opcode == Opcode::Complete) check_request(SiteKind::Completion, i, 1);
    if (opcode == Opcode::Fill) check_request(SiteKind::Fill, i, program_.sites[i.wide()].call.parameters.size());
    if (opcode == Opcode::Select) {
      std::size_t holes = 0;
      for (const Clause& clause : program_.sites[i.wide()].clauses) holes = std::max(holes, clause.call.holes.size());
      const std::size_t sets = count_sets(program_.sites[i.wide()]);
      if (sets > 0) holes = std::max({holes, sets, chosen_tool_values});
      check_request(SiteKind::Select, i, 1 + holes);
    }
  }

  void check_request(SiteKind kind, Instruction i, std::size_t window) {
    const Site& site = program_.sites[i.wide()];
    expect(site.kind == kind, "a site is of another kind");
    expect(&program_.functions[site.function] == function_, "a site belongs to another function");
    expect(function_->context_register != no_register, "the model is asked without a context");
    expect_window(i.a, window);
  }

  void check_record(Instruction i) {
    const types::TypeTable& table = program_.types;
    const TypeId type = table.base(TypeId{i.c});
    const bool is_struct = table.kind(type) == TypeKind::Struct;
    expect(is_struct || table.kind(type) == TypeKind::Tuple, "a record is not of a struct or tuple");
    if (is_good_) expect_window(i.b, types::list_parts(table, type).size());
  }

  void check_case(Opcode opcode, Instruction i) {
    const types::TypeTable& table = program_.types;
    const TypeId type = table.base(TypeId{i.b});
    std::size_t payload = 0;
    switch (table.kind(type)) {
      case TypeKind::Option:
        expect(i.c <= 1, "an Option has two cases");
        payload = i.c;
        break;
      case TypeKind::Result:
        expect(i.c <= 1, "a Result has two cases");
        payload = 1;
        break;
      case TypeKind::Enum:
        expect(i.c < table.enum_type(type).variants.size(), "the case of an enum does not exist");
        if (is_good_) payload = table.enum_type(type).variants[i.c].payload.size();
        break;
      default:
        expect(false, "a case is not of an enum");
        return;
    }
    if (opcode == Opcode::LoadCase) {
      expect(payload == 0, "a plain case has a payload");
    } else {
      expect(payload > 0, "a variant has no payload");
      expect_window(i.a, payload);
    }
  }

  const Program& program_;
  const Function* function_ = nullptr;
  std::uint32_t pc_ = 0;
  bool is_good_ = true;
  VerifyError error_;
};

}  // namespace

std::string describe(const VerifyError& error) {
  if (error.function.empty()) return error.message;
  return "function `" + error.function + "`, instruction " + std::to_string(error.pc) + ": " + error.message;
}

Result<void, VerifyError> verify(const Program& program) {
  return Verifier(program).run();
}

}  // namespace tenon::bytecode
