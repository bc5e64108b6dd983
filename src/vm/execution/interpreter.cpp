#include "vm/execution/interpreter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/ensure.h"
#include "bytecode/control_regions.h"
#include "bytecode/instructions.h"
#include "vm/execution/implicit_flows.h"
#include "vm/execution/operations.h"
#include "vm/execution/tool_sets.h"
#include "vm/execution/trials.h"
#include "vm/execution/trust.h"
#include "vm/values/object.h"

// Dispatch is by computed goto, an extension of GCC and Clang: each instruction jumps to the code of the next one
// itself, so that the branch predictor sees which instruction follows which.
#pragma GCC diagnostic ignored "-Wpedantic"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-label-as-value"
#endif

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using bytecode::Opcode;

constexpr std::size_t opcodes_max = 256;
using Targets = std::array<const void*, opcodes_max>;

/// The opcodes in the order of the table.
constexpr Opcode opcodes[] = {
#define TENON_OPCODE(number, name, a, b, c, meaning) Opcode::name,
    TENON_INSTRUCTIONS(TENON_OPCODE)
#undef TENON_OPCODE
};

/// `labels`: the address of the code at a region's end, at a trial's beginning, then that of each instruction's code
/// in the order of the table.
/// The result is indexed by opcode.
Targets spread(std::initializer_list<const void*> labels) {
  Targets targets{};
  const Opcode* opcode = std::begin(opcodes);
  const void* const* label = labels.begin();
  targets[bytecode::ControlRegions::region_end] = *label++;
  targets[bytecode::ControlRegions::trial_begin] = *label++;
  while (label != labels.end()) targets[static_cast<std::size_t>(*opcode++)] = *label++;
  return targets;
}

// Arithmetic on what registers hold, as two's complement: a register of another tag gives some number, never undefined
// behaviour.
std::int64_t whole(const Value& value) {
  return static_cast<std::int64_t>(value.bits());
}
double real(const Value& value) {
  return std::bit_cast<double>(value.bits());
}
bool fits_i32(std::int64_t value) {
  return value == static_cast<std::int32_t>(value);
}

[[gnu::always_inline]] inline LabelId join(MachineState& state, const Value& a, const Value& b) {
  if ((a.label().index | b.label().index) == 0) [[likely]]
    return {};
  return state.labels.join(a.label(), b.label());
}

[[gnu::always_inline]] inline void put_integer(Value& target, std::int64_t value, LabelId label) {
  target.set_plain(Tag::Integer, static_cast<std::uint64_t>(value), label);
}
[[gnu::always_inline]] inline void put_boolean(Value& target, bool value, LabelId label) {
  target.set_plain(Tag::Boolean, value ? 1 : 0, label);
}
[[gnu::always_inline]] inline void put_float(Value& target, double value, LabelId label) {
  target.set_plain(Tag::Float, std::bit_cast<std::uint64_t>(value), label);
}

/// Both may be the same register. Not written out below: a computed goto runs no destructors.
void take(Value& target, Value& source) {
  Value taken = std::move(source);
  target = std::move(taken);
}

void clear(Value* from, const Value* to) {
  for (; from < to; ++from) from->set_plain(Tag::Unit, 0);
}

/// Equality of what most comparisons compare; nothing for the rest.
enum class Quick : std::uint8_t { Different, Same, Unknown };
Quick compare_quickly(const Value& a, const Value& b) {
  if (a.tag() != b.tag()) return a.is_object() || b.is_object() ? Quick::Unknown : Quick::Different;
  switch (a.tag()) {
    case Tag::Unit:
    case Tag::Boolean:
    case Tag::Integer:
    case Tag::Case:
      return a.bits() == b.bits() ? Quick::Same : Quick::Different;
    case Tag::Float:
      return real(a) == real(b) ? Quick::Same : Quick::Different;
    case Tag::String: {
      const std::string& left = text_of(a).bytes;
      const std::string& right = text_of(b).bytes;
      if (left.size() != right.size()) return Quick::Different;
      if (left.size() > uncharged_bytes) return Quick::Unknown;
      return left == right ? Quick::Same : Quick::Different;
    }
    case Tag::List:
    case Tag::Map:
    case Tag::Record:
    case Tag::Variant:
    case Tag::Context:
    case Tag::Secret:
      break;
  }
  return Quick::Unknown;
}

/// The fuel without the work. What does not fit into it is charged when the interpreter has stopped.
std::uint64_t charge_deferred_fuel(MachineState& state, std::uint64_t fuel) {
  const std::uint64_t taken = std::min(fuel, state.deferred_cost);
  state.deferred_cost -= taken;
  return fuel - taken;
}

/// The key of the newest request. Not inlined: the code of its texts would take registers from `interpret`.
[[gnu::noinline]] Value request_key(const Fiber& fiber) {
  return Value::string(fiber.key_of(std::max<std::uint64_t>(fiber.next_ordinal, 1) - 1));
}

/// At the end of a block: fails again with what the register keeps, if it keeps a failure.
OpStatus fail_kept(MachineState& state, Value* r, Instruction i) {
  return r[i.a].tag() == Tag::Unit ? OpStatus::Ok : fail_again(state, std::exchange(r[i.a], Value()));
}

}  // namespace

// `r` are the frame's registers, `i` the instruction at `pc`.
#define CODE(name) code_##name:
#define DISPATCH()               \
  do {                           \
    if (fuel == 0) goto no_fuel; \
    --fuel;                      \
    i = *pc;                     \
    goto* targets[i.opcode];     \
  } while (false)
#define NEXT()  \
  do {          \
    ++pc;       \
    DISPATCH(); \
  } while (false)
/// What a function has done that executes an instruction.
#define AFTER(status)                              \
  do {                                             \
    const OpStatus how = (status);                 \
    if (how != OpStatus::Ok) [[unlikely]] {        \
      if (how == OpStatus::Failed) goto failed;    \
      if (how == OpStatus::Corrupt) goto damaged;  \
      note_spending(state, fiber, r[i.a].label()); \
      fuel = charge_deferred_fuel(state, fuel);    \
    }                                              \
  } while (false)
/// An instruction that a function executes.
#define OPERATION(name, function)                                               \
  CODE(name) {                                                                  \
    AFTER(function(state, r, i));                                               \
    if constexpr (bytecode::can_fail(Opcode::name)) NOTE_DOUBT(r[i.a].label()); \
    NEXT();                                                                     \
  }
/// The part of rb at rc: whether there is one depends on these.
#define PART_OPERATION(name, function)                 \
  CODE(name) {                                         \
    const LabelId label = join(state, r[i.b], r[i.c]); \
    AFTER(function(state, r, i));                      \
    NOTE_DOUBT(label);                                 \
    NEXT();                                            \
  }
/// A single statement that does not fail.
#define STATEMENT(name, statement) \
  CODE(name) {                     \
    statement;                     \
    NEXT();                        \
  }
/// A failure that a function explains.
#define FAIL(function)                        \
  do {                                        \
    static_cast<void>(function(state, r, i)); \
    goto failed;                              \
  } while (false)
/// What the newest frame executes: the code of `callable`, or the same with marks.
#define CODE_BEGIN (frame->open_regions == 0 ? callable->code : code_of(state, fiber))
/// The instruction might have failed because of what has this label, and has not.
#define NOTE_DOUBT(label_expression)                           \
  do {                                                         \
    const LabelId doubt = (label_expression);                  \
    if (doubt.index != 0 && watches) [[unlikely]] {            \
      frame->pc = static_cast<std::uint32_t>(pc - CODE_BEGIN); \
      note_doubt(state, fiber, doubt);                         \
    }                                                          \
  } while (false)
/// What follows depends on what has this label.
#define DECIDE(name, label_expression)                                       \
  do {                                                                       \
    by = (label_expression);                                                 \
    if (by.index != 0 && by != fiber.control && by != within) [[unlikely]] { \
      decided = &&decided_##name;                                            \
      goto decide;                                                           \
    }                                                                        \
    decided_##name:;                                                         \
  } while (false)
/// The next item, or a jump at the end.
#define LOOP(name, function)                       \
  CODE(name) {                                     \
    DECIDE(name, r[i.a].label());                  \
    const OpStatus status = function(state, r, i); \
    if (status == no_more) {                       \
      pc += i.signed_wide();                       \
      NEXT();                                      \
    }                                              \
    AFTER(status);                                 \
    NEXT();                                        \
  }
/// Of `callee`, whose registers begin at the `window`.
#define PREPARE_CALL()                                                          \
  if (depth_left == 0) [[unlikely]]                                             \
    goto too_deep;                                                              \
  const std::size_t base = frame->base + std::size_t{i.a};                      \
  if (base + callee->register_count > registers.capacity()) [[unlikely]] {      \
    if (base + callee->register_count > registers_max) goto too_many_registers; \
    registers.reserve(base + callee->register_count);                           \
    r = registers.data() + frame->base;                                         \
  }                                                                             \
  Value* const window = r + i.a
/// The arguments are in the window. The frame is made in place: a copy costs time.
#define ENTER_CALL(function_index)                                                             \
  do {                                                                                         \
    --depth_left;                                                                              \
    frame->pc = static_cast<std::uint32_t>(pc - CODE_BEGIN);                                   \
    frames.emplace_back(function_index, 0, static_cast<std::uint32_t>(base), frame->scope, 0); \
    frame = &frames.back();                                                                    \
    callable = callee;                                                                         \
    r = window;                                                                                \
    pc = callee->code;                                                                         \
    if (state.observer != nullptr) [[unlikely]]                                                \
      state.observer->on_call(fiber.key, frame->function, {r, callee->parameter_count});       \
    DISPATCH();                                                                                \
  } while (false)
#define COMPARISON(name, left, sign, right, label) \
  CODE(name) {                                     \
    put_boolean(r[i.a], (left)sign(right), label); \
    NEXT();                                        \
  }
/// What an instruction has computed that fails with other operands.
#define PUT_INTEGER(value, label_expression)  \
  do {                                        \
    const LabelId label = (label_expression); \
    put_integer(r[i.a], value, label);        \
    NOTE_DOUBT(label);                        \
    NEXT();                                   \
  } while (false)
#define I32_ARITHMETIC(name, sign, explain)                                          \
  CODE(name) {                                                                       \
    const auto result = static_cast<std::int64_t>(r[i.b].bits() sign r[i.c].bits()); \
    if (!fits_i32(result)) [[unlikely]]                                              \
      FAIL(explain);                                                                 \
    PUT_INTEGER(result, join(state, r[i.b], r[i.c]));                                \
  }
#define I64_ARITHMETIC(name, function, explain)                       \
  CODE(name) {                                                        \
    std::int64_t result = 0;                                          \
    if (function(whole(r[i.b]), whole(r[i.c]), &result)) [[unlikely]] \
      FAIL(explain);                                                  \
    PUT_INTEGER(result, join(state, r[i.b], r[i.c]));                 \
  }
#define REAL_ARITHMETIC(name, expression)                       \
  CODE(name) {                                                  \
    put_float(r[i.a], expression, join(state, r[i.b], r[i.c])); \
    NEXT();                                                     \
  }

Exit interpret(MachineState& state, Fiber& fiber, std::uint64_t& fuel_left, std::uint64_t depth_max) {
  static const Targets targets = spread({&&region_end, &&trial_begin,
#define TENON_LABEL(number, name, a, b, c, meaning) &&code_##name,
                                         TENON_INSTRUCTIONS(TENON_LABEL)
#undef TENON_LABEL
  });

  const LoadedProgram& program = *state.program;
  const Callable* const callables = program.callables().data();
  const bytecode::JumpTable* const tables = program.program().jump_tables.data();
  std::vector<Frame>& frames = fiber.frames;
  RegisterStack& registers = fiber.registers;

  std::uint64_t fuel = fuel_left;
  std::uint64_t depth_left = depth_max > fiber.depth() ? depth_max - fiber.depth() : 0;
  Frame* frame = &frames.back();
  const Callable* callable = &callables[frame->function];
  Value* r = registers.data() + frame->base;
  const Instruction* pc = CODE_BEGIN + frame->pc;
  Instruction i;
  Exit exit = Exit::OutOfFuel;
  LabelId by;                     // of what is decided on
  LabelId within;                 // a label that `fiber.control` includes: deciding on it adds nothing
  const void* decided = nullptr;  // where the instruction continues then
  std::uint32_t at = 0;           // the index of `pc`
  const bool watches = program.control_regions().has_actions();  // trials may be open

  DISPATCH();

  // Moving values.
  CODE(LoadConstant) {
    r[i.a] = program.constant(i.wide());
    NEXT();
  }
  STATEMENT(LoadUnit, r[i.a].set_plain(Tag::Unit, 0))
  CODE(LoadBoolean) {
    put_boolean(r[i.a], i.b != 0, {});
    NEXT();
  }
  CODE(LoadInteger) {
    put_integer(r[i.a], i.signed_wide(), {});
    NEXT();
  }
  OPERATION(LoadCase, operate_load_case)
  CODE(Move) {
    r[i.a] = r[i.b];
    NEXT();
  }
  CODE(Take) {
    take(r[i.a], r[i.b]);
    NEXT();
  }

  STATEMENT(LoadState, r[i.a] = fiber.agent_state)
  STATEMENT(TakeState, take(r[i.a], fiber.agent_state))
  STATEMENT(StoreState, fiber.agent_state = r[i.a])
  STATEMENT(SwapState, r[i.a] = Value::boolean(swap_agent_state(fiber, types::TypeId{i.b})))
  STATEMENT(TakeKept, take(r[i.a], fiber.kept_states))
  STATEMENT(StoreKept, fiber.kept_states = r[i.a])

  // Arithmetic.
  I32_ARITHMETIC(AddI32, +, explain_add)
  I32_ARITHMETIC(SubtractI32, -, explain_subtract)
  I32_ARITHMETIC(MultiplyI32, *, explain_multiply)
  CODE(DivideI32) {
    const std::int64_t divisor = whole(r[i.c]);
    if (divisor == 0) [[unlikely]]
      FAIL(explain_divide);
    const std::int64_t quotient =
        divisor == -1 ? static_cast<std::int64_t>(0 - r[i.b].bits()) : whole(r[i.b]) / divisor;
    if (!fits_i32(quotient)) [[unlikely]]
      FAIL(explain_divide);
    PUT_INTEGER(quotient, join(state, r[i.b], r[i.c]));
  }
  CODE(RemainderI32) {
    const std::int64_t divisor = whole(r[i.c]);
    const bool overflows = divisor == -1 && whole(r[i.b]) == std::numeric_limits<std::int32_t>::min();
    if (divisor == 0 || overflows) [[unlikely]]
      FAIL(explain_divide);
    PUT_INTEGER(divisor == -1 ? 0 : whole(r[i.b]) % divisor, join(state, r[i.b], r[i.c]));
  }
  CODE(NegateI32) {
    const auto negative = static_cast<std::int64_t>(0 - r[i.b].bits());
    if (!fits_i32(negative)) [[unlikely]]
      FAIL(explain_negate);
    PUT_INTEGER(negative, r[i.b].label());
  }
  CODE(AddI32Short) {
    const auto sum = static_cast<std::int64_t>(r[i.b].bits() + static_cast<std::uint64_t>(std::int64_t{i.signed_c()}));
    if (!fits_i32(sum)) [[unlikely]]
      FAIL(explain_add_short);
    PUT_INTEGER(sum, r[i.b].label());
  }
  I64_ARITHMETIC(AddI64, __builtin_add_overflow, explain_add)
  I64_ARITHMETIC(SubtractI64, __builtin_sub_overflow, explain_subtract)
  I64_ARITHMETIC(MultiplyI64, __builtin_mul_overflow, explain_multiply)
  CODE(DivideI64) {
    const std::int64_t divisor = whole(r[i.c]);
    const bool overflows = divisor == -1 && whole(r[i.b]) == std::numeric_limits<std::int64_t>::min();
    if (divisor == 0 || overflows) [[unlikely]]
      FAIL(explain_divide);
    PUT_INTEGER(whole(r[i.b]) / divisor, join(state, r[i.b], r[i.c]));
  }
  CODE(RemainderI64) {
    const std::int64_t divisor = whole(r[i.c]);
    const bool overflows = divisor == -1 && whole(r[i.b]) == std::numeric_limits<std::int64_t>::min();
    if (divisor == 0 || overflows) [[unlikely]]
      FAIL(explain_divide);
    PUT_INTEGER(whole(r[i.b]) % divisor, join(state, r[i.b], r[i.c]));
  }
  CODE(NegateI64) {
    if (whole(r[i.b]) == std::numeric_limits<std::int64_t>::min()) [[unlikely]]
      FAIL(explain_negate);
    PUT_INTEGER(-whole(r[i.b]), r[i.b].label());
  }
  CODE(AddI64Short) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(whole(r[i.b]), std::int64_t{i.signed_c()}, &sum)) [[unlikely]]
      FAIL(explain_add_short);
    PUT_INTEGER(sum, r[i.b].label());
  }
  REAL_ARITHMETIC(AddF64, real(r[i.b]) + real(r[i.c]))
  REAL_ARITHMETIC(SubtractF64, real(r[i.b]) - real(r[i.c]))
  REAL_ARITHMETIC(MultiplyF64, real(r[i.b]) * real(r[i.c]))
  REAL_ARITHMETIC(DivideF64, real(r[i.b]) / real(r[i.c]))
  REAL_ARITHMETIC(RemainderF64, std::fmod(real(r[i.b]), real(r[i.c])))
  CODE(NegateF64) {
    put_float(r[i.a], -real(r[i.b]), r[i.b].label());
    NEXT();
  }
  CODE(IntegerToF64) {
    put_float(r[i.a], static_cast<double>(whole(r[i.b])), r[i.b].label());
    NEXT();
  }
  OPERATION(F64ToInteger, operate_f64_to_integer)
  OPERATION(IntegerToI32, operate_integer_to_i32)

  // Logic and comparison.
  CODE(Not) {
    put_boolean(r[i.a], r[i.b].bits() == 0, r[i.b].label());
    NEXT();
  }
  CODE(Equal) {
    const Quick quick = compare_quickly(r[i.b], r[i.c]);
    if (quick == Quick::Unknown) {
      AFTER(operate_equal(state, r, i));
    } else {
      put_boolean(r[i.a], quick == Quick::Same, join(state, r[i.b], r[i.c]));
    }
    NEXT();
  }
  CODE(NotEqual) {
    const Quick quick = compare_quickly(r[i.b], r[i.c]);
    if (quick == Quick::Unknown) {
      AFTER(operate_not_equal(state, r, i));
    } else {
      put_boolean(r[i.a], quick == Quick::Different, join(state, r[i.b], r[i.c]));
    }
    NEXT();
  }
  COMPARISON(LessInteger, whole(r[i.b]), <, whole(r[i.c]), join(state, r[i.b], r[i.c]))
  COMPARISON(LessEqualInteger, whole(r[i.b]), <=, whole(r[i.c]), join(state, r[i.b], r[i.c]))
  COMPARISON(LessF64, real(r[i.b]), <, real(r[i.c]), join(state, r[i.b], r[i.c]))
  COMPARISON(LessEqualF64, real(r[i.b]), <=, real(r[i.c]), join(state, r[i.b], r[i.c]))
  OPERATION(LessString, operate_less_string)
  OPERATION(LessEqualString, operate_less_equal_string)
  COMPARISON(EqualShort, whole(r[i.b]), ==, i.signed_c(), r[i.b].label())
  COMPARISON(LessShort, whole(r[i.b]), <, i.signed_c(), r[i.b].label())
  COMPARISON(LessEqualShort, whole(r[i.b]), <=, i.signed_c(), r[i.b].label())
  COMPARISON(GreaterShort, whole(r[i.b]), >, i.signed_c(), r[i.b].label())
  COMPARISON(GreaterEqualShort, whole(r[i.b]), >=, i.signed_c(), r[i.b].label())

  // Jumps.
  CODE(Jump) {
    pc += i.signed_wide();
    NEXT();
  }
  CODE(JumpIf) {
    DECIDE(JumpIf, r[i.a].label());
    if (r[i.a].bits() != 0) pc += i.signed_wide();
    NEXT();
  }
  CODE(JumpUnless) {
    DECIDE(JumpUnless, r[i.a].label());
    if (r[i.a].bits() == 0) pc += i.signed_wide();
    NEXT();
  }
  CODE(Switch) {
    DECIDE(Switch, r[i.a].label());
    const bytecode::JumpTable& table = tables[i.wide()];
    const std::uint64_t choice = r[i.a].bits();
    pc = CODE_BEGIN + (choice < table.targets.size() ? table.targets[choice] : table.otherwise);
    DISPATCH();
  }
  LOOP(ForList, operate_for_list)
  LOOP(ForMap, operate_for_map)
  CODE(ForRange) {
    DECIDE(ForRange, join(state, r[i.a], r[i.a + 1]));
    const std::int64_t next = whole(r[i.a]);
    if (next >= whole(r[i.a + 1])) {
      pc += i.signed_wide();
      NEXT();
    }
    const LabelId label = join(state, r[i.a], r[i.a + 1]);
    put_integer(r[i.a + 2], next, label);
    put_integer(r[i.a], next + 1, label);
    NEXT();
  }

  CODE(ForInclusiveRange) {
    DECIDE(ForInclusiveRange, join(state, r[i.a], r[i.a + 1]));
    const std::int64_t next = whole(r[i.a]);
    const std::int64_t last = whole(r[i.a + 1]);
    if (next > last) {
      pc += i.signed_wide();
      NEXT();
    }
    const LabelId label = join(state, r[i.a], r[i.a + 1]);
    put_integer(r[i.a + 2], next, label);
    // There may be no number after the last one: the end is an empty range.
    put_integer(r[i.a], next == last ? 1 : next + 1, label);
    if (next == last) put_integer(r[i.a + 1], 0, label);
    NEXT();
  }

  // Texts and aggregates.
  OPERATION(Concatenate, operate_concatenate)
  OPERATION(Append, operate_append)
  OPERATION(Template, operate_template)
  OPERATION(Render, operate_render)
  OPERATION(Describe, operate_describe)
  OPERATION(DescribeSides, operate_describe_sides)
  OPERATION(MakeList, operate_make_list)
  OPERATION(MakeMap, operate_make_map)
  OPERATION(MakeRecord, operate_make_record)
  OPERATION(MakeVariant, operate_make_variant)
  OPERATION(GetField, operate_get_field)
  OPERATION(SetField, operate_set_field)
  OPERATION(TakeField, operate_take_field)
  CODE(GetItem) {
    const Value& list = r[i.b];
    if (list.tag() == Tag::List) [[likely]] {
      const std::vector<Value>& items = list_of(list).items;
      const std::uint64_t position = r[i.c].bits();
      if (position < items.size()) [[likely]] {
        const Value& item = items[position];
        const LabelId label = join(state, list, r[i.c]);
        if (label.index == 0) {
          r[i.a] = item;
          NEXT();
        }
        if (!item.is_object()) {
          r[i.a].set_plain(item.tag(), item.bits(), state.labels.join(item.label(), label));
          NOTE_DOUBT(label);
          NEXT();
        }
      }
    }
    const LabelId label = join(state, r[i.b], r[i.c]);
    AFTER(operate_get_item(state, r, i));
    NOTE_DOUBT(label);
    NEXT();
  }
  OPERATION(SetItem, operate_set_item)
  PART_OPERATION(TakeItem, operate_take_item)
  PART_OPERATION(GetEntry, operate_get_entry)
  OPERATION(SetEntry, operate_set_entry)
  PART_OPERATION(TakeEntry, operate_take_entry)
  OPERATION(GetCase, operate_get_case)
  OPERATION(GetPayload, operate_get_payload)
  OPERATION(Push, operate_push)
  OPERATION(Pop, operate_pop)
  OPERATION(RemoveEntry, operate_remove_entry)
  OPERATION(Length, operate_length)
  OPERATION(InsertItem, operate_insert_item)
  PART_OPERATION(RemoveItem, operate_remove_item)

  STATEMENT(RequestKey, r[i.a] = request_key(fiber))

  // Context.
  STATEMENT(NewContext, r[i.a] = Value::empty_context())
  OPERATION(Inject, operate_inject)
  OPERATION(InjectAs, operate_inject_as)
  OPERATION(InjectPrompt, operate_inject_prompt)
  OPERATION(InjectRole, operate_inject_role)
  OPERATION(ContextEntries, operate_context_entries)

  // Calls.
  CODE(Call) {
    const Callable* const callee = &callables[i.wide()];
    PREPARE_CALL();
    // What the caller has left after the arguments is dead. A callee begins with () in all other registers.
    clear(window + callee->parameter_count, r + callable->register_count);
    ENTER_CALL(i.wide());
  }
/// Calls the function that `member` of the tool names.
#define CALL_TOOL(name, member)                                                    \
  CODE(name) {                                                                     \
    DECIDE(name, r[i.a].label());                                                  \
    const std::optional<std::uint32_t> function =                                  \
        tool_function(r + i.a, state.program->program(), &bytecode::Tool::member); \
    if (!function) [[unlikely]] {                                                  \
      static_cast<void>(damage(state, "a tool was expected"));                     \
      goto damaged;                                                                \
    }                                                                              \
    const Callable* const callee = &callables[*function];                          \
    PREPARE_CALL();                                                                \
    pass_tool_arguments(state, window, r + callable->register_count);              \
    ENTER_CALL(*function);                                                         \
  }
  CALL_TOOL(CallTool, function)
  CALL_TOOL(CallToolInParts, function_in_parts)
#undef CALL_TOOL
  CODE(Return) {
    Value result = std::move(r[i.a]);
    clear(r, r + callable->register_count);
    r->swap(result);
    goto leave;
  }
  CODE(ReturnUnit) {
    clear(r, r + callable->register_count);
    goto leave;
  }
leave:
  if (state.observer != nullptr) [[unlikely]]
    state.observer->on_return(fiber.key, frame->function, *r);
  if ((frame->open_budgets | frame->open_regions) != 0 || frames.size() == 1) [[unlikely]]
    goto leave_slowly;
  frames.pop_back();
  ++depth_left;
  frame = &frames.back();
  callable = &callables[frame->function];
  r = registers.data() + frame->base;
  pc = CODE_BEGIN + frame->pc;
  NEXT();
leave_slowly:
  if (frame->open_regions != 0) {
    at = static_cast<std::uint32_t>(pc - CODE_BEGIN);
    leave_regions(state, fiber, *r);
    within = {};
    pc = callable->code + at;
  }
  if (frames.size() == 1) {
    if (fiber.parent.number != FiberId::none) {
      static_cast<void>(damage(state, "a branch returns from the function around it"));
      goto damaged;
    }
    while (frame->open_budgets > 0) close_scope(state, fiber);
    exit = Exit::Returned;
    goto stop;
  }
  while (frame->open_budgets > 0) close_scope(state, fiber);
  frames.pop_back();
  ++frames.back().pc;
  fuel_left = fuel;
  return Exit::Scope;

decide:
  at = static_cast<std::uint32_t>(pc - CODE_BEGIN);
  frame->pc = at;
  pc = open_region(state, fiber, at, by) + at;
  within = by;
  goto* decided;
region_end:
  at = static_cast<std::uint32_t>(pc - CODE_BEGIN);
  within = {};
  static_cast<void>(end_regions(state, fiber, at));
  goto trials;
trial_begin:
  at = static_cast<std::uint32_t>(pc - CODE_BEGIN);
trials:
  if (watches) begin_trials(state, fiber, at);
  pc = CODE_BEGIN + at;
  i = program.code_of(frame->function)[at];
  goto* targets[i.opcode];

  CODE(CallBuiltin) {
    AFTER(operate_call_builtin(state, r, i));
    if (watches) [[unlikely]] {
      const LabelId label = std::exchange(state.doubt, {});
      if (bytecode::can_fail(i)) NOTE_DOUBT(label);
    }
    NEXT();
  }
  OPERATION(ReadJson, operate_read_json)

  // Effects.
  CODE(CallExtern)
  CODE(Complete)
  CODE(Fill)
  CODE(Select) {
    exit = Exit::Effect;
    goto stop;
  }

  // Failures and budgets.
  OPERATION(Fail, operate_fail)
  OPERATION(Raise, operate_raise)
  OPERATION(BreakContract, operate_break_contract)
  CODE(BreakRequires) {
    if (break_requires(state, fiber, r[i.a], r[i.b]) == OpStatus::Corrupt) goto damaged;
    goto failed;
  }
  CODE(Check) {
    AFTER(operate_check(state, r, i));
    if (watches) {
      frame->pc = static_cast<std::uint32_t>(pc - CODE_BEGIN);
      note_doubt_of(state, fiber, r[i.a]);
    }
    NEXT();
  }
  CODE(Endorse) {
    frame->pc = static_cast<std::uint32_t>(pc - CODE_BEGIN);
    endorse(state, fiber, r[i.a], state.program->constant(i.wide()).as_text());
    NEXT();
  }
  CODE(RequireTrusted) {
    frame->pc = static_cast<std::uint32_t>(pc - CODE_BEGIN);
    AFTER(require_trusted(state, fiber, r[i.a], state.program->constant(i.wide())));
    NEXT();
  }
  CODE(EnterBudget) {
    open_scope(state, fiber, i.wide());
    ++pc;
    exit = Exit::Scope;
    goto stop;
  }
  CODE(LeaveBudget) {
    if (frame->open_budgets <= (frames.size() == 1 ? fiber.budget_floor : 0)) {
      static_cast<void>(damage(state, "a budget is left that was not entered"));
      goto damaged;
    }
    close_scope(state, fiber);
    ++pc;
    exit = Exit::Scope;
    goto stop;
  }
  CODE(BeginCleanup) {
    open_cleanup(state, fiber);
    ++pc;
    exit = Exit::Scope;
    goto stop;
  }
  CODE(EndCleanup) {
    const bool is_entered = frame->open_budgets > (frames.size() == 1 ? fiber.budget_floor : 0) &&
                            state.scopes[frame->scope.index].kind != ScopeKind::Budget;
    if (!is_entered) {
      static_cast<void>(damage(state, "a `finally` ends that was not entered"));
      goto damaged;
    }
    close_scope(state, fiber);
    const OpStatus status = fail_kept(state, r, i);
    if (status == OpStatus::Corrupt) goto damaged;
    if (status == OpStatus::Failed) goto failed;
    ++pc;
    exit = Exit::Scope;
    goto stop;
  }
  OPERATION(EndShield, fail_kept)
  CODE(Unreachable) {
    static_cast<void>(damage(state, "control is where it cannot be"));
    goto damaged;
  }

  // Branches.
  CODE(Parallel)
  CODE(ParallelFor) {
    exit = Exit::Block;
    goto stop;
  }
  CODE(EndBranch) {
    if (frames.size() != 1 || fiber.parent.number == FiberId::none) {
      static_cast<void>(damage(state, "a branch ends that was not begun"));
      goto damaged;
    }
    exit = Exit::BranchEnded;
    goto stop;
  }

  // Tests.
  OPERATION(Assert, operate_assert)

too_deep:
  if (fail_depth(state, frame->scope, fiber.depth() + 1) == OpStatus::Failed) goto failed;
  exit = Exit::Scope;  // a `finally` continues at a greater depth
  goto stop;
too_many_registers:
  static_cast<void>(fail_budget(state, run_scope, "registers", registers_max, "registers"));
  goto failed;
failed:
  exit = Exit::Failed;
  goto stop;
damaged:
  exit = Exit::Damaged;
  goto stop;
no_fuel:
  exit = Exit::OutOfFuel;
stop:
  frames.back().pc = static_cast<std::uint32_t>(pc - CODE_BEGIN);
  fuel_left = fuel;
  return exit;
}

}  // namespace tenon::vm
