#include "bytecode/codec.h"

#include <bit>

#include "base/wire.h"
#include "bytecode/codec_fields.h"

namespace tenon::bytecode {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;
using wire::Writer;

/// Types of every table, which are not written.
std::uint32_t built_in_types() {
  return TypeTable().size();
}

// Writing. Each function writes one message; the numbers are its fields.

void write_place(Writer& out, std::uint32_t number, const Place& place) {
  Writer packed;
  packed.varint(place.file);
  packed.varint(place.line);
  packed.varint(place.column);
  out.present_field(number, packed);
}

void write_types(Writer& out, std::uint32_t number, const std::vector<TypeId>& types) {
  if (types.empty()) return;
  Writer packed;
  for (const TypeId type : types) packed.varint(type.index);
  out.present_field(number, packed);
}

void write_type_id(Writer& out, std::uint32_t number, TypeId type) {
  if (type.exists()) out.present_field(number, type.index);
}

void write_texts(Writer& out, std::uint32_t number, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) out.present_field(number, std::string_view(text));
}

void write_optional(Writer& out, std::uint32_t number, const std::optional<std::uint64_t>& value) {
  if (value) out.present_field(number, *value);
}

void write_bound(Writer& out, std::uint32_t integer_number, std::uint32_t real_number, const types::Bound& bound) {
  if (const auto* const integer = std::get_if<std::int64_t>(&bound)) {
    out.fixed_field(integer_number, static_cast<std::uint64_t>(*integer));
  } else if (const auto* const real = std::get_if<double>(&bound)) {
    out.fixed_field(real_number, std::bit_cast<std::uint64_t>(*real));
  }
}

Writer write_refinement(const types::Refinement& refinement) {
  Writer out;
  out.field(1, refinement.name);
  write_bound(out, 2, 3, refinement.low);
  write_bound(out, 4, 5, refinement.high);
  out.field(6, refinement.high_is_exclusive ? 1U : 0U);
  write_optional(out, 7, refinement.length_low);
  write_optional(out, 8, refinement.length_high);
  if (refinement.pattern) out.present_field(9, std::string_view(*refinement.pattern));
  out.field(10, refinement.documentation);
  return out;
}

Writer write_union(const types::UnionType& literals) {
  Writer out;
  out.field(1, literals.name);
  if (const auto* const texts = std::get_if<std::vector<std::string>>(&literals.literals)) {
    write_texts(out, 2, *texts);
  } else {
    Writer packed;
    for (const std::int64_t number : std::get<std::vector<std::int64_t>>(literals.literals))
      packed.signed_varint(number);
    out.present_field(3, packed);
  }
  out.field(4, literals.documentation);
  write_texts(out, 5, literals.literal_documentation);
  return out;
}

Writer write_struct(const types::StructType& type) {
  Writer out;
  out.field(1, type.name);
  out.field(2, type.documentation);
  for (const types::Field& field : type.fields) {
    Writer message;
    message.field(1, field.name);
    write_type_id(message, 2, field.type);
    message.field(3, field.documentation);
    message.field(4, field.is_trusted ? 1U : 0U);
    out.present_field(3, message);
  }
  return out;
}

Writer write_enum(const types::EnumType& type) {
  Writer out;
  out.field(1, type.name);
  out.field(2, type.documentation);
  for (const types::Variant& variant : type.variants) {
    Writer message;
    message.field(1, variant.name);
    message.field(2, variant.documentation);
    write_types(message, 3, variant.payload);
    out.present_field(3, message);
  }
  return out;
}

Writer write_type(const TypeTable& table, TypeId id) {
  const types::Type& type = table.get(id);
  Writer out;
  out.field(1, static_cast<std::uint64_t>(type.kind));
  out.field(2, type.name);
  write_types(out, 3, type.arguments);
  if (type.kind == TypeKind::Struct) out.present_field(4, write_struct(table.struct_type(id)));
  if (type.kind == TypeKind::Enum) out.present_field(5, write_enum(table.enum_type(id)));
  if (type.kind == TypeKind::Union) out.present_field(6, write_union(table.union_type(id)));
  if (type.kind == TypeKind::Refined) out.present_field(7, write_refinement(table.refinement(id)));
  return out;
}

Writer write_constant(const Constant& constant) {
  Writer out;
  if (const auto* const boolean = std::get_if<bool>(&constant)) out.present_field(1, *boolean ? 1U : 0U);
  if (const auto* const integer = std::get_if<std::int64_t>(&constant))
    out.fixed_field(2, static_cast<std::uint64_t>(*integer));
  if (const auto* const real = std::get_if<double>(&constant)) out.fixed_field(3, std::bit_cast<std::uint64_t>(*real));
  if (const auto* const text = std::get_if<std::string>(&constant)) out.present_field(4, std::string_view(*text));
  return out;
}

Writer write_code(const std::vector<Instruction>& code) {
  Writer out;
  for (const Instruction i : code) {
    out.fixed64(i.opcode | (static_cast<std::uint64_t>(i.a) << 16U) | (static_cast<std::uint64_t>(i.b) << 32U) |
                (static_cast<std::uint64_t>(i.c) << 48U));
  }
  return out;
}

Writer write_function(const Function& function) {
  Writer out;
  out.field(1, function.name);
  out.field(2, function.documentation);
  write_place(out, 3, function.place);
  write_texts(out, 4, function.parameter_names);
  write_types(out, 5, function.parameters);
  write_type_id(out, 6, function.result);
  out.field(7, function.register_count);
  if (function.context_register != no_register) out.present_field(8, function.context_register);
  out.present_field(9, write_code(function.code));
  Writer handlers;
  for (const Handler& handler : function.handlers) {
    handlers.varint(handler.begin);
    handlers.varint(handler.end);
    handlers.varint(handler.target);
    handlers.varint(handler.failure);
    handlers.varint(handler.budget_depth);
  }
  out.field(10, handlers.view());
  Writer lines;
  for (const LineEntry& line : function.lines) {
    lines.varint(line.pc);
    lines.varint(line.place.file);
    lines.varint(line.place.line);
    lines.varint(line.place.column);
  }
  out.field(11, lines.view());
  if (function.agent != UINT32_MAX) out.present_field(12, function.agent);
  out.field(13, function.is_agent_run ? 1U : 0U);
  Writer cleanups;
  for (const FinallyHandler& cleanup : function.finally_handlers) {
    cleanups.varint(cleanup.begin);
    cleanups.varint(cleanup.block);
    cleanups.varint(cleanup.end);
    cleanups.varint(cleanup.kept);
    cleanups.varint(cleanup.budget_depth);
  }
  out.field(80, cleanups.view());
  write_texts(out, 81, function.parameter_documentation);
  Writer variables;
  for (const VariableName& variable : function.variables) {
    out.present_field(82, std::string_view(variable.name));
    variables.varint(variable.at);
    variables.varint(variable.begin);
    variables.varint(variable.end);
  }
  out.field(83, variables.view());
  out.field(84, function.result_documentation);
  return out;
}

Writer write_extern(const Extern& callee) {
  Writer out;
  out.field(1, callee.name);
  out.field(2, callee.documentation);
  write_place(out, 3, callee.place);
  write_texts(out, 4, callee.parameter_names);
  write_types(out, 5, callee.parameters);
  write_type_id(out, 6, callee.result);
  out.field(7, static_cast<std::uint64_t>(callee.builtin_effect));
  out.field(40, callee.call_options.is_once ? 1U : 0U);
  out.field(41, callee.call_options.is_process ? 1U : 0U);
  out.field(42, callee.call_options.within_ms.value_or(0));
  write_texts(out, 43, callee.parameter_documentation);
  out.field(44, callee.call_options.acts ? 1U : 0U);
  Writer trusted;
  for (const std::uint16_t parameter : callee.trusted_parameters) trusted.varint(parameter);
  out.field(45, trusted.view());
  out.field(46, callee.is_vouched ? 1U : 0U);
  if (callee.approval != no_extern) out.field(47, std::uint64_t{callee.approval} + 1);
  return out;
}

Writer write_agent(const Agent& agent) {
  Writer out;
  out.field(1, agent.name);
  out.field(2, agent.documentation);
  write_place(out, 3, agent.place);
  write_type_id(out, 4, agent.state);
  out.present_field(5, agent.turn);
  out.present_field(6, agent.initial_state);
  if (agent.instructions != no_function) out.present_field(7, agent.instructions);
  if (agent.run != no_function) out.present_field(50, agent.run);
  if (agent.take_over != no_function) out.present_field(51, agent.take_over);
  write_texts(out, 52, agent.added_entries);
  return out;
}

Writer write_call(const CallShape& call) {
  Writer out;
  out.field(1, call.name);
  out.field(2, call.documentation);
  out.field(3, call.signature);
  write_texts(out, 4, call.parameter_names);
  write_types(out, 5, call.parameters);
  Writer holes;
  for (const std::uint16_t hole : call.holes) holes.varint(hole);
  out.field(6, holes.view());
  write_texts(out, 7, call.given);
  write_texts(out, 8, call.parameter_documentation);
  return out;
}

Writer write_site(const Site& site) {
  Writer out;
  out.field(1, static_cast<std::uint64_t>(site.kind));
  write_place(out, 2, site.place);
  out.field(3, site.function);
  write_type_id(out, 4, site.result);
  out.field(5, write_call(site.call).view());
  for (const Clause& clause : site.clauses) {
    Writer message;
    message.field(1, write_call(clause.call).view());
    message.field(2, clause.binding);
    message.field(3, clause.is_else ? 1U : 0U);
    message.field(70, clause.is_set ? 1U : 0U);
    out.present_field(6, message);
  }
  out.field(80, site.is_sampled ? 1U : 0U);
  if (site.guard != no_function) out.field(81, std::uint64_t{site.guard} + 1);
  out.field(82, site.is_attempt ? 1U : 0U);
  out.field(83, site.is_judge ? 1U : 0U);
  out.field(84, site.is_short ? 1U : 0U);
  if (site.narrow_bits) out.field(85, std::uint64_t{*site.narrow_bits} + 1);
  return out;
}

Writer write_tool(const Tool& tool) {
  Writer out;
  out.field(1, write_call(tool.call).view());
  Writer given;
  for (const std::uint16_t parameter : tool.given) given.varint(parameter);
  out.field(2, given.view());
  out.present_field(3, tool.function);
  write_type_id(out, 4, tool.record);
  write_place(out, 5, tool.place);
  if (tool.function_in_parts != no_function) out.present_field(6, tool.function_in_parts);
  return out;
}

Writer write_table(const JumpTable& table) {
  Writer out;
  Writer targets;
  for (const std::uint32_t target : table.targets) targets.varint(target);
  out.field(1, targets.view());
  out.field(2, table.otherwise);
  return out;
}

Writer write_budget(const Budget& budget) {
  Writer out;
  write_place(out, 1, budget.place);
  write_bounds(out, budget_fields, budget.bounds);
  if (budget.bounds.bits) out.present_field(budget_bits, *budget.bounds.bits);
  return out;
}

void write_answers(Writer& out, std::uint32_t number, const std::vector<ScriptedAnswer>& answers) {
  for (const ScriptedAnswer& answer : answers) {
    Writer message;
    message.field(1, static_cast<std::uint64_t>(answer.kind));
    message.field(2, answer.callee);
    message.field(3, answer.answer);
    message.field(4, answer.fails ? 1U : 0U);
    for (const std::string& text : answer.contained) message.present_field(5, std::string_view(text));
    for (const std::string& argument : answer.arguments) message.present_field(6, std::string_view(argument));
    if (answer.place) write_place(message, 90, *answer.place);
    out.present_field(number, message);
  }
}

Writer write_test(const TestCase& test) {
  Writer out;
  out.field(1, test.name);
  write_place(out, 2, test.place);
  out.field(3, test.function);
  write_answers(out, 4, test.answers);
  return out;
}

}  // namespace

std::string encode(const Program& program) {
  Writer out;
  out.present_field(1, program_format);
  for (const SourceText& source : program.sources) {
    Writer message;
    message.field(1, source.path);
    message.field(2, source.text);
    out.present_field(2, message);
  }
  for (std::uint32_t index = built_in_types(); index < program.types.size(); ++index) {
    out.present_field(3, write_type(program.types, {index}));
  }
  for (const Constant& constant : program.constants) out.present_field(4, write_constant(constant));
  for (const Function& function : program.functions) out.present_field(5, write_function(function));
  for (const Extern& callee : program.externs) out.present_field(6, write_extern(callee));
  for (const Site& site : program.sites) out.present_field(7, write_site(site));
  for (const JumpTable& table : program.jump_tables) out.present_field(8, write_table(table));
  for (const Budget& budget : program.budgets) out.present_field(9, write_budget(budget));
  for (const TestCase& test : program.tests) out.present_field(10, write_test(test));
  for (const Agent& agent : program.agents) out.present_field(11, write_agent(agent));
  for (const Tool& tool : program.tools) out.present_field(70, write_tool(tool));
  out.field(71, static_cast<std::uint64_t>(program.messages));
  out.field(72, program.awaits_once_calls ? 1 : 0);
  out.field(73, program.trusts_person ? 1 : 0);
  return out.take();
}

}  // namespace tenon::bytecode
