#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "vm/execution/operations.h"
#include "vm/messages.h"
#include "vm/values/render.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using types::FailureKind;
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
  if (!state.program->refinements().find_broken(TypeId{i.b}, r[i.a]).exists()) return OpStatus::Ok;
  std::string shown;
  // A value that cannot be shown completely is shown up to that point.
  static_cast<void>(to_json(r[i.a], types, shown));
  if (shown.size() > shown_bytes_max) {
    shown.resize(cut_utf8(shown, shown_bytes_max).size());
    shown += "…";
  }
  shown += messages_of(state.program->program()).wrong_value;
  return fail(state, FailureKind::Conversion, shown + "`" + types.describe(TypeId{i.b}) + "`",
              whole_label(r[i.a], state.labels), types.describe(TypeId{i.b}));
}

}  // namespace tenon::vm
