#include <re2/re2.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "vm/execution/operations.h"
#include "vm/values/render.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using types::FailureKind;
using types::Refinement;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;

std::string show_integer(const Value& value) {
  return std::to_string(static_cast<std::int64_t>(value.bits()));
}

/// In the table, the arithmetic of i32 precedes that of i64.
bool is_i32(Instruction i) {
  return i.opcode <= static_cast<std::uint16_t>(bytecode::Opcode::AddI32Short);
}

OpStatus explain(MachineState& state, const Value* r, Instruction i, std::string_view sign) {
  const LabelId label = state.labels.join(r[i.b].label(), r[i.c].label());
  const std::string expression = show_integer(r[i.b]) + " " + std::string(sign) + " " + show_integer(r[i.c]);
  return fail(state, FailureKind::Arithmetic, expression + " does not fit into " + (is_i32(i) ? "i32" : "i64"), label);
}

/// Whether the value satisfies the refinement.
bool satisfies(const LoadedProgram& program, const Value& value, TypeId type) {
  const Refinement& refinement = program.types().refinement(type);
  const auto* const low_integer = std::get_if<std::int64_t>(&refinement.low);
  const auto* const high_integer = std::get_if<std::int64_t>(&refinement.high);
  const auto* const low_number = std::get_if<double>(&refinement.low);
  const auto* const high_number = std::get_if<double>(&refinement.high);
  if (value.tag() == Tag::Integer) {
    if (low_integer != nullptr && value.as_integer() < *low_integer) return false;
    if (high_integer != nullptr && value.as_integer() > *high_integer) return false;
  }
  if (value.tag() == Tag::Float) {
    const double number = value.as_float();
    // NaN is not within any limits.
    if (low_number != nullptr && !(number >= *low_number)) return false;
    if (high_number != nullptr && !(refinement.high_is_exclusive ? number < *high_number : number <= *high_number))
      return false;
  }
  if (refinement.length_low || refinement.length_high) {
    std::uint64_t length = 0;
    if (value.tag() == Tag::String) length = code_points(value);
    if (value.tag() == Tag::List) length = value.items().size();
    if (value.tag() == Tag::Map) length = value.entries().size();
    if (refinement.length_low && length < *refinement.length_low) return false;
    if (refinement.length_high && length > *refinement.length_high) return false;
  }
  const re2::RE2* const pattern = program.pattern(type);
  return pattern == nullptr || value.tag() != Tag::String || re2::RE2::FullMatch(value.as_text(), *pattern);
}

bool is_literal(const TypeTable& types, const Value& value, TypeId type) {
  const types::UnionType& literals = types.union_type(type);
  if (const auto* const texts = std::get_if<std::vector<std::string>>(&literals.literals)) {
    return value.tag() == Tag::String && std::ranges::find(*texts, value.as_text()) != texts->end();
  }
  const auto& numbers = std::get<std::vector<std::int64_t>>(literals.literals);
  return value.tag() == Tag::Integer && std::ranges::find(numbers, value.as_integer()) != numbers.end();
}

}  // namespace

OpStatus explain_add(MachineState& state, Value* r, Instruction i) {
  return explain(state, r, i, "+");
}
OpStatus explain_subtract(MachineState& state, Value* r, Instruction i) {
  return explain(state, r, i, "-");
}
OpStatus explain_multiply(MachineState& state, Value* r, Instruction i) {
  return explain(state, r, i, "*");
}

OpStatus explain_divide(MachineState& state, Value* r, Instruction i) {
  const bool is_remainder = i.opcode == static_cast<std::uint16_t>(bytecode::Opcode::RemainderI32) ||
                            i.opcode == static_cast<std::uint16_t>(bytecode::Opcode::RemainderI64);
  if (r[i.c].bits() != 0) return explain(state, r, i, is_remainder ? "%" : "/");
  return fail(state, FailureKind::Arithmetic, "division of " + show_integer(r[i.b]) + " by zero",
              state.labels.join(r[i.b].label(), r[i.c].label()));
}

OpStatus explain_negate(MachineState& state, Value* r, Instruction i) {
  return fail(state, FailureKind::Arithmetic,
              "-(" + show_integer(r[i.b]) + ") does not fit into " + (is_i32(i) ? "i32" : "i64"), r[i.b].label());
}

OpStatus explain_add_short(MachineState& state, Value* r, Instruction i) {
  return fail(
      state, FailureKind::Arithmetic,
      show_integer(r[i.b]) + " + " + std::to_string(i.signed_c()) + " does not fit into " + (is_i32(i) ? "i32" : "i64"),
      r[i.b].label());
}

OpStatus operate_f64_to_integer(MachineState& state, Value* r, Instruction i) {
  const double number = std::trunc(std::bit_cast<double>(r[i.b].bits()));
  const bool to_i32 = state.program->types().kind(TypeId{i.c}) == TypeKind::I32;
  const double low = to_i32 ? -0x1p31 : -0x1p63;
  const double high = to_i32 ? 0x1p31 : 0x1p63;
  const LabelId label = r[i.b].label();
  if (!(number >= low && number < high)) {
    std::string shown;
    append_f64(std::bit_cast<double>(r[i.b].bits()), shown);
    return fail(state, FailureKind::Conversion, shown + " does not fit into " + (to_i32 ? "i32" : "i64"), label);
  }
  r[i.a].set_plain(Tag::Integer, static_cast<std::uint64_t>(static_cast<std::int64_t>(number)), label);
  return OpStatus::Ok;
}

OpStatus operate_integer_to_i32(MachineState& state, Value* r, Instruction i) {
  const auto number = static_cast<std::int64_t>(r[i.b].bits());
  const LabelId label = r[i.b].label();
  if (number != static_cast<std::int32_t>(number)) {
    return fail(state, FailureKind::Conversion, std::to_string(number) + " does not fit into i32", label);
  }
  r[i.a].set_plain(Tag::Integer, static_cast<std::uint64_t>(number), label);
  return OpStatus::Ok;
}

OpStatus operate_check(MachineState& state, Value* r, Instruction i) {
  constexpr std::size_t shown_bytes_max = 200;
  const TypeTable& types = state.program->types();
  TypeId type{i.b};
  bool holds = true;
  for (; holds && types.kind(type) == TypeKind::Refined; type = types.get(type).arguments[0]) {
    holds = satisfies(*state.program, r[i.a], type);
  }
  if (holds && types.kind(type) == TypeKind::Union) holds = is_literal(types, r[i.a], type);
  if (holds) return OpStatus::Ok;
  std::string shown;
  // A value that cannot be shown completely is shown up to that point.
  static_cast<void>(to_json(r[i.a], types, shown));
  if (shown.size() > shown_bytes_max) {
    shown.resize(cut_utf8(shown, shown_bytes_max).size());
    shown += "…";
  }
  return fail(state, FailureKind::Conversion, shown + " is no `" + types.describe(TypeId{i.b}) + "`",
              whole_label(r[i.a], state.labels), types.describe(TypeId{i.b}));
}

}  // namespace tenon::vm
