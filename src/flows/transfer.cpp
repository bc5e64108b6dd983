#include "flows/transfer.h"

#include <algorithm>
#include <array>

#include "base/ensure.h"
#include "bytecode/control_regions.h"
#include "types/builtins.h"
#include "types/table/type_parts.h"

namespace tenon::flows {
namespace {

using bytecode::Instruction;
using bytecode::Opcode;
using types::Builtin;

/// What an instruction does to labels. `own` is the label of a value, `whole` that with all its parts.
enum Rule : std::uint8_t {
  NotComputed,  // it is not one of these
  Nothing,      // writes nothing
  Clean,        // ra = what the program says
  Copy,
  TakeAll,
  OwnB,
  OwnBC,
  WholeB,
  WholeBC,
  WholeWindow,
  AppendText,
  MakesList,
  MakesMap,
  MakesRecord,
  MakesVariant,
  GetsPart,
  SetsField,
  TakesField,
  GetsItem,
  SetsItem,
  TakesItem,
  GetsEntry,
  SetsEntry,
  TakesEntry,
  Pushes,
  Pops,
  RemovesEntry,
  RemovesItem,
  NewsContext,
  Injects,
  InjectsUnlessSaid,
  InjectsInRole,
  GetsEntries,
  LoadsState,
  TakesState,
  StoresState,
  SwapsState,
  TakesKept,
  StoresKept,
  CallsBuiltin,
  Endorses,
};

enum class Fails : bool { Never, Can };

struct Row {
  Opcode opcode;
  Rule rule;
  Fails fails;
};

constexpr Row rows[] = {
    {Opcode::LoadConstant, Clean, Fails::Never},
    {Opcode::LoadUnit, Clean, Fails::Never},
    {Opcode::LoadBoolean, Clean, Fails::Never},
    {Opcode::LoadInteger, Clean, Fails::Never},
    {Opcode::LoadCase, Clean, Fails::Never},
    {Opcode::RequestKey, Clean, Fails::Never},
    {Opcode::Move, Copy, Fails::Never},
    {Opcode::Take, TakeAll, Fails::Never},
    {Opcode::AddI32, OwnBC, Fails::Can},
    {Opcode::SubtractI32, OwnBC, Fails::Can},
    {Opcode::MultiplyI32, OwnBC, Fails::Can},
    {Opcode::DivideI32, OwnBC, Fails::Can},
    {Opcode::RemainderI32, OwnBC, Fails::Can},
    {Opcode::NegateI32, OwnB, Fails::Can},
    {Opcode::AddI32Short, OwnB, Fails::Can},
    {Opcode::AddI64, OwnBC, Fails::Can},
    {Opcode::SubtractI64, OwnBC, Fails::Can},
    {Opcode::MultiplyI64, OwnBC, Fails::Can},
    {Opcode::DivideI64, OwnBC, Fails::Can},
    {Opcode::RemainderI64, OwnBC, Fails::Can},
    {Opcode::NegateI64, OwnB, Fails::Can},
    {Opcode::AddI64Short, OwnB, Fails::Can},
    {Opcode::AddF64, OwnBC, Fails::Never},
    {Opcode::SubtractF64, OwnBC, Fails::Never},
    {Opcode::MultiplyF64, OwnBC, Fails::Never},
    {Opcode::DivideF64, OwnBC, Fails::Never},
    {Opcode::RemainderF64, OwnBC, Fails::Never},
    {Opcode::NegateF64, OwnB, Fails::Never},
    {Opcode::IntegerToF64, OwnB, Fails::Never},
    {Opcode::F64ToInteger, OwnB, Fails::Can},
    {Opcode::IntegerToI32, OwnB, Fails::Can},
    {Opcode::Not, OwnB, Fails::Never},
    {Opcode::Equal, WholeBC, Fails::Never},
    {Opcode::NotEqual, WholeBC, Fails::Never},
    {Opcode::LessInteger, OwnBC, Fails::Never},
    {Opcode::LessEqualInteger, OwnBC, Fails::Never},
    {Opcode::LessF64, OwnBC, Fails::Never},
    {Opcode::LessEqualF64, OwnBC, Fails::Never},
    {Opcode::LessString, OwnBC, Fails::Never},
    {Opcode::LessEqualString, OwnBC, Fails::Never},
    {Opcode::EqualShort, OwnB, Fails::Never},
    {Opcode::LessShort, OwnB, Fails::Never},
    {Opcode::LessEqualShort, OwnB, Fails::Never},
    {Opcode::GreaterShort, OwnB, Fails::Never},
    {Opcode::GreaterEqualShort, OwnB, Fails::Never},
    {Opcode::Concatenate, WholeBC, Fails::Can},
    {Opcode::Append, AppendText, Fails::Can},
    {Opcode::Template, WholeWindow, Fails::Can},
    {Opcode::Render, WholeB, Fails::Can},
    {Opcode::ReadJson, WholeB, Fails::Can},
    {Opcode::Describe, WholeB, Fails::Never},
    {Opcode::DescribeSides, WholeBC, Fails::Never},
    {Opcode::MakeList, MakesList, Fails::Never},
    {Opcode::MakeMap, MakesMap, Fails::Never},
    {Opcode::MakeRecord, MakesRecord, Fails::Never},
    {Opcode::MakeVariant, MakesVariant, Fails::Never},
    {Opcode::GetField, GetsPart, Fails::Never},
    {Opcode::SetField, SetsField, Fails::Never},
    {Opcode::TakeField, TakesField, Fails::Never},
    {Opcode::GetItem, GetsItem, Fails::Can},
    {Opcode::SetItem, SetsItem, Fails::Can},
    {Opcode::TakeItem, TakesItem, Fails::Can},
    {Opcode::GetEntry, GetsEntry, Fails::Can},
    {Opcode::SetEntry, SetsEntry, Fails::Can},
    {Opcode::TakeEntry, TakesEntry, Fails::Can},
    {Opcode::GetCase, OwnB, Fails::Never},
    {Opcode::GetPayload, GetsPart, Fails::Never},
    {Opcode::Push, Pushes, Fails::Can},
    {Opcode::Pop, Pops, Fails::Never},
    {Opcode::RemoveEntry, RemovesEntry, Fails::Never},
    {Opcode::Length, OwnB, Fails::Never},
    {Opcode::InsertItem, SetsItem, Fails::Can},
    {Opcode::RemoveItem, RemovesItem, Fails::Can},
    {Opcode::NewContext, NewsContext, Fails::Never},
    {Opcode::Inject, Injects, Fails::Can},
    {Opcode::InjectAs, Injects, Fails::Can},
    {Opcode::InjectPrompt, InjectsUnlessSaid, Fails::Can},
    {Opcode::InjectRole, InjectsInRole, Fails::Can},
    {Opcode::ContextEntries, GetsEntries, Fails::Never},
    {Opcode::LoadState, LoadsState, Fails::Never},
    {Opcode::TakeState, TakesState, Fails::Never},
    {Opcode::StoreState, StoresState, Fails::Never},
    {Opcode::SwapState, SwapsState, Fails::Never},
    {Opcode::TakeKept, TakesKept, Fails::Never},
    {Opcode::StoreKept, StoresKept, Fails::Never},
    {Opcode::CallBuiltin, CallsBuiltin, Fails::Can},
    {Opcode::Endorse, Endorses, Fails::Never},
    {Opcode::Check, Nothing, Fails::Can},
    {Opcode::Assert, Nothing, Fails::Can},
};

struct Known {
  Rule rule = NotComputed;
  bool can_fail = true;
};
constexpr std::size_t opcodes_max = 256;
constexpr std::array<Known, opcodes_max> known_rules = [] {
  std::array<Known, opcodes_max> table{};
  for (const Row& row : rows) table[static_cast<std::size_t>(row.opcode)] = {row.rule, row.fails == Fails::Can};
  return table;
}();

// What the machine takes for something that might have failed (vm/execution/trials.h), fails here.
static_assert(std::ranges::all_of(rows, [](const Row& row) {
  return !bytecode::can_fail(row.opcode) || row.fails == Fails::Can;
}));

/// What a built-in method's result has of its arguments. Its own label is always that of all of theirs, and with
/// `Inner`, of all their parts, too.
enum class Made : std::uint8_t {
  Value,        ///< no parts
  Inner,        ///< no parts
  Part,         ///< the first one's part, taken out
  Option,       ///< of an item of the first one
  InnerOption,  ///< likewise
  EntryOption,  ///< of a value of the first one, a map
  Items,        ///< a list of items of the first one
  NamedItems,   ///< likewise; texts in the second one say which
  InnerItems,   ///< likewise
  BothItems,    ///< of both
  Keys,         ///< a list of the first one's keys
  Values,       ///< a list of the first one's values
  Read,         ///< a list of values that are read from texts of the second one, a map
  Parts,        ///< a list without a label, of parts of the first one
  Trust,        ///< what is known of labels, which depend on nothing
  Count,        ///< of the first one's entries
  TrustedPart,  ///< the first one without what is not trusted, a context
};

Made made_by(Builtin builtin) {
  switch (builtin) {
    case Builtin::ListContains:
    case Builtin::ListJoin:
    case Builtin::ListFind:
    case Builtin::ListSumInteger:
    case Builtin::ListSumI32:
    case Builtin::ListSumF64:
    case Builtin::ContextText:
    case Builtin::ToJson:
      return Made::Inner;
    case Builtin::ListFirst:
    case Builtin::ListLast:
    case Builtin::ListGet:
      return Made::Option;
    case Builtin::ListMinimum:
    case Builtin::ListMaximum:
      return Made::InnerOption;
    case Builtin::MapGet:
      return Made::EntryOption;
    case Builtin::ListSlice:
    case Builtin::ListReverse:
      return Made::Items;
    case Builtin::ToolsOnly:
    case Builtin::ToolsWithout:
      return Made::NamedItems;
    case Builtin::ListSort:
      return Made::InnerItems;
    case Builtin::ListConcatenate:
    case Builtin::ToolsJoin:
      return Made::BothItems;
    case Builtin::MapKeys:
      return Made::Keys;
    case Builtin::MapValues:
      return Made::Values;
    case Builtin::OptionUnwrap:
    case Builtin::ResultUnwrap:
    case Builtin::ToolFind:
      return Made::Part;
    case Builtin::ToolArguments:
      return Made::Read;
    case Builtin::CutByTrust:
      return Made::Parts;
    case Builtin::IsTrusted:
      return Made::Trust;
    case Builtin::ContextLength:
      return Made::Count;
    case Builtin::ContextTrustedPart:
      return Made::TrustedPart;
    default:  // of texts, numbers, and what is known of a value without its parts
      return Made::Value;
  }
}

}  // namespace

Transfer::Transfer(const bytecode::Program& program, Labels& labels, Values& values)
    : program_(program), labels_(labels), values_(values) {
  for (std::uint32_t at = 0; at < program.tools.size(); ++at) tools_.emplace(program.tools[at].record.index, at);
}

bool Transfer::can_fail(Opcode opcode) {
  return known_rules[static_cast<std::size_t>(opcode)].can_fail;
}

Label Transfer::whole_of(const Registers& r, std::size_t first, std::size_t count) {
  Label label;
  for (std::size_t at = first; at < first + count && at < r.size(); ++at) {
    label = labels_.join(label, values_.whole(r[at]));
  }
  return label;
}

Label Transfer::label_of_operands(const FrameState& state, Instruction i) {
  const bytecode::InstructionInfo* const info = bytecode::find_instruction(i.opcode);
  ENSURE(info != nullptr);
  const std::array<std::uint16_t, 3> places = {i.a, i.b, i.c};
  Label label;
  for (std::size_t at = 0; at < places.size(); ++at) {
    const bytecode::Operand operand = info->operands[at];
    if (operand == bytecode::Operand::Read || operand == bytecode::Operand::ReadWrite) {
      label = labels_.join(label, values_.whole(state.registers[places[at]]));
    }
  }
  const auto opcode = static_cast<Opcode>(i.opcode);
  if (opcode == Opcode::Template) label = labels_.join(label, whole_of(state.registers, i.b, i.c));
  if (opcode == Opcode::CallBuiltin) {
    label = labels_.join(label, whole_of(state.registers, i.c, types::find_builtin(i.b)->argument_count));
  }
  return label.possible();
}

Label Transfer::label_of_failure(const FrameState& state, Instruction i) {
  if (static_cast<Opcode>(i.opcode) != Opcode::CallBuiltin) return label_of_operands(state, i);
  const types::BuiltinInfo* const builtin = types::find_builtin(i.b);
  ENSURE(builtin != nullptr);
  const std::size_t deciding = types::first_deciding_argument(builtin->builtin);
  return whole_of(state.registers, i.c + deciding, builtin->argument_count - deciding).possible();
}

bool Transfer::apply(FrameState& state, Instruction i, Step at) {
  const Rule rule = known_rules[i.opcode < opcodes_max ? i.opcode : 0].rule;
  Registers& r = state.registers;
  switch (rule) {
    case NotComputed:
      return false;
    case Nothing:
      return true;
    case Endorses:
      r[i.a] = values_.raise(values_.without_labels(r[i.a]), labels_.way_up(at.function, at.pc));
      return true;
    case Injects:
      inject(r, i, at, true);
      return true;
    case InjectsUnlessSaid: {
      const Label compared = labels_.join(values_.whole(values_.part(r[i.a], 0)), values_.whole(r[i.b])).possible();
      inject(r, i, at, false);
      at.kind = StepKind::Injected;
      r[i.a] = values_.raise(r[i.a], labels_.step(compared, at));
      return true;
    }
    case InjectsInRole: {
      const Label role = values_.own(r[i.c]);
      inject(r, i, at, true);
      at.kind = StepKind::Injected;
      r[i.a] = values_.raise(r[i.a], labels_.step(role, at));
      return true;
    }
    case LoadsState:
    case TakesState:
    case StoresState:
    case SwapsState:
    case TakesKept:
    case StoresKept:
      use_state(state, i, rule, at);
      return true;
    case MakesList:
    case MakesMap:
    case MakesRecord:
    case MakesVariant:
    case NewsContext:
    case CallsBuiltin:
      make(r, i, rule);
      return true;
    default:
      break;
  }
  if (rule >= SetsField) {
    change(r, i, rule);
  } else {
    compute(r, i, rule);
  }
  return true;
}

/// What writes ra alone.
void Transfer::compute(Registers& r, Instruction i, std::uint8_t rule) {
  switch (rule) {
    case Clean:
      r[i.a] = Values::clean;
      return;
    case Copy:
      r[i.a] = r[i.b];
      return;
    case TakeAll: {
      const ValueId taken = r[i.b];
      r[i.b] = Values::clean;
      r[i.a] = taken;
      return;
    }
    case OwnB:
      r[i.a] = values_.plain(values_.own(r[i.b]));
      return;
    case OwnBC:
      r[i.a] = values_.plain(labels_.join(values_.own(r[i.b]), values_.own(r[i.c])));
      return;
    case WholeB:
      r[i.a] = values_.plain(values_.whole(r[i.b]));
      return;
    case WholeBC:
      r[i.a] = values_.plain(labels_.join(values_.whole(r[i.b]), values_.whole(r[i.c])));
      return;
    case WholeWindow:
      r[i.a] = values_.plain(whole_of(r, i.b, i.c));
      return;
    case AppendText:
      r[i.a] = values_.plain(labels_.join(values_.whole(r[i.a]), values_.whole(r[i.b])));
      return;
    case GetsPart:
      r[i.a] = values_.take(r[i.b], i.c);
      return;
    default:
      ENSURE(false);
  }
}

void Transfer::make(Registers& r, Instruction i, std::uint8_t rule) {
  const auto window = [&](std::size_t first, std::size_t count) {
    return std::vector<ValueId>(r.begin() + static_cast<std::ptrdiff_t>(first),
                                r.begin() + static_cast<std::ptrdiff_t>(first + count));
  };
  switch (rule) {
    case MakesList: {
      ValueId items = i.c == 0 ? Values::clean : r[i.b];
      for (std::size_t at = 1; at < i.c; ++at) items = values_.merge(items, r[i.b + at]);
      r[i.a] = values_.list({}, items);
      return;
    }
    case MakesMap: {
      Label own;
      ValueId keys = Values::clean;
      ValueId mapped = Values::clean;
      for (std::size_t at = 0; at < i.c; ++at) {
        const ValueId key = r[i.b + 2 * at];
        const ValueId value = r[i.b + 2 * at + 1];
        own = labels_.join(own, values_.own(key));
        keys = at == 0 ? key : values_.merge(keys, key);
        mapped = at == 0 ? value : values_.merge(mapped, value);
      }
      r[i.a] = values_.make(Shape::Items, own, {keys, mapped});
      return;
    }
    case MakesRecord: {
      std::vector<ValueId> parts = window(i.b, field_count(types::TypeId{i.c}));
      const auto tool = tools_.find(i.c);
      r[i.a] = tool == tools_.end() ? values_.make(Shape::Record, {}, std::move(parts))
                                    : values_.tool(tool->second, std::move(parts));
      return;
    }
    case MakesVariant: {
      const std::size_t count = payload_count(i);
      const ValueId made = values_.make(Shape::Variant, {}, window(i.a, count));
      for (std::size_t at = 0; at < count; ++at) r[i.a + at] = Values::clean;
      r[i.a] = made;
      return;
    }
    case NewsContext:
      r[i.a] = values_.empty_context();
      return;
    case CallsBuiltin:
      r[i.a] = call_builtin(r, i);
      return;
    default:
      ENSURE(false);
  }
}

/// What changes a value in place. That a part was put there, or taken, is known from the place.
void Transfer::change(Registers& r, Instruction i, std::uint8_t rule) {
  const auto own_c = [&] { return values_.own(r[i.c]); };
  const auto add_part = [&](ValueId to, std::size_t index, ValueId part) {
    return values_.with_part(to, Shape::Items, index, values_.merge(values_.part(to, index), part));
  };
  /// The part is taken out of rb, at the place or key rc.
  const auto take = [&](std::size_t index) {
    const ValueId taken = values_.raise(values_.take(r[i.b], index), own_c());
    r[i.b] = values_.raise(r[i.b], own_c());
    r[i.a] = taken;
  };
  switch (rule) {
    case SetsField:
      r[i.a] = values_.with_part(r[i.a], Shape::Record, i.b, r[i.c]);
      return;
    case TakesField: {
      const ValueId taken = values_.take(r[i.b], i.c);
      r[i.b] = values_.with_part(r[i.b], Shape::Record, i.c, Values::clean);
      r[i.a] = taken;
      return;
    }
    case GetsItem:
      r[i.a] = values_.raise(values_.take(r[i.b], 0), own_c());
      return;
    case GetsEntry:
      r[i.a] = values_.raise(values_.take(r[i.b], 1), own_c());
      return;
    case SetsItem:
      r[i.a] = values_.raise(add_part(r[i.a], 0, r[i.c]), values_.own(r[i.b]));
      return;
    case SetsEntry:
      r[i.a] = values_.raise(add_part(add_part(r[i.a], 0, r[i.b]), 1, r[i.c]), values_.own(r[i.b]));
      return;
    case TakesItem:
    case RemovesItem:
      take(0);
      return;
    case TakesEntry:
      take(1);
      return;
    case Pushes:
      r[i.a] = add_part(r[i.a], 0, r[i.b]);
      return;
    case Pops:
      r[i.a] = values_.make(Shape::Variant, values_.own(r[i.b]), {values_.part(r[i.b], 0)});
      return;
    case RemovesEntry: {
      const Label own = labels_.join(values_.own(r[i.b]), own_c());
      const ValueId removed = values_.make(Shape::Variant, own, {values_.part(r[i.b], 1)});
      r[i.b] = values_.raise(r[i.b], own_c());
      r[i.a] = removed;
      return;
    }
    case GetsEntries: {
      const ValueId entry = values_.make(Shape::Record, {}, {Values::clean, values_.part(r[i.b], 1)});
      r[i.a] = values_.list(labels_.join(values_.own(r[i.b]), values_.whole(values_.part(r[i.b], 2))), entry);
      return;
    }
    default:
      ENSURE(false);
  }
}

void Transfer::inject(Registers& r, Instruction i, Step at, bool is_certain) {
  at.kind = StepKind::Injected;
  Label added = values_.whole(r[i.b]);
  if (!is_certain) added = added.possible();
  added = labels_.step(added, at);
  const ValueId context = r[i.a];
  const Label all = labels_.join(values_.whole(values_.part(context, 0)), added);
  const bool is_first = values_.shape(context) == Shape::Context && values_.part_count(context) == 0;
  const Label any = is_first ? added : labels_.merge(values_.whole(values_.part(context, 1)), added);
  r[i.a] = values_.context(values_.own(context), all, any, values_.whole(values_.part(context, 2)));
}

void Transfer::use_state(FrameState& state, Instruction i, std::uint8_t rule, Step at) {
  at.kind = StepKind::Kept;
  Registers& r = state.registers;
  switch (rule) {
    case LoadsState:
      r[i.a] = state.agent_state;
      return;
    case TakesState:
      r[i.a] = state.agent_state;
      state.agent_state = Values::clean;
      return;
    case StoresState:
      state.agent_state = values_.step(r[i.a], at);
      return;
    case SwapsState: {
      // Any kept state may be the one, and any may be kept.
      const Label kept = values_.whole(values_.part(state.kept_states, 0)).possible();
      const Label all = labels_.join(kept, values_.whole(state.agent_state).possible());
      state.agent_state = values_.plain(kept);
      state.kept_states = values_.list(values_.own(state.kept_states), values_.plain(all));
      r[i.a] = Values::clean;
      return;
    }
    case TakesKept:
      r[i.a] = state.kept_states;
      state.kept_states = Values::clean;
      return;
    case StoresKept:
      state.kept_states = r[i.a];
      return;
    default:
      ENSURE(false);
  }
}

ValueId Transfer::result_of(const bytecode::Extern& callee, Label call, Label source) {
  const bool is_native = callee.builtin_effect == types::BuiltinEffect::Native;
  if (callee.is_vouched) return values_.plain(call);
  if (!is_native || !holds_vouched(callee.result)) return values_.plain(labels_.join(call, source));
  return values_.raise(vouched(callee.result, labels_.join(call, source), 0), call);
}

/// Of a type with trusted fields within: they have no label of their own, and the rest that of the extern.
ValueId Transfer::vouched(types::TypeId of, Label source, std::size_t depth) {
  if (depth > Values::depth_max) return values_.plain(source.possible());
  const types::TypeId type = program_.types.base(of);
  const auto part = [&](types::TypeId part_type) {
    return holds_vouched(part_type) ? vouched(part_type, source, depth + 1) : values_.plain(source);
  };
  std::vector<ValueId> parts;
  switch (program_.types.kind(type)) {
    case types::TypeKind::List:
      return values_.list({}, part(program_.types.get(type).arguments[0]));
    case types::TypeKind::Map:
      return values_.make(Shape::Items, {}, {values_.plain(source), part(program_.types.get(type).arguments[0])});
    case types::TypeKind::Struct:
      for (const types::Field& field : program_.types.struct_type(type).fields) {
        parts.push_back(field.is_trusted ? Values::clean : part(field.type));
      }
      return values_.make(Shape::Record, {}, std::move(parts));
    case types::TypeKind::Tuple:
      for (const types::TypeId item : program_.types.get(type).arguments) parts.push_back(part(item));
      return values_.make(Shape::Record, {}, std::move(parts));
    case types::TypeKind::Option:
    case types::TypeKind::Result:
      return values_.make(Shape::Variant, {}, {part(program_.types.get(type).arguments[0])});
    case types::TypeKind::Enum:
      for (const types::Variant& variant : program_.types.enum_type(type).variants) {
        for (std::size_t at = 0; at < variant.payload.size(); ++at) {
          const ValueId item = part(variant.payload[at]);
          if (at < parts.size()) {
            parts[at] = values_.merge(parts[at], item);
          } else {
            parts.push_back(item);
          }
        }
      }
      return values_.make(Shape::Variant, {}, std::move(parts));
    default:
      return values_.plain(source);
  }
}

/// Whether a struct within the type has trusted fields.
bool Transfer::holds_vouched(types::TypeId type) {
  const auto known = holds_vouched_.find(type.index);
  if (known != holds_vouched_.end()) return known->second;
  const auto has_trusted_field = [&](types::TypeId part) {
    return program_.types.kind(part) == types::TypeKind::Struct &&
           std::ranges::any_of(program_.types.struct_type(part).fields, &types::Field::is_trusted);
  };
  const bool holds = types::find_within(program_.types, type, types::TypeParts::OfValues, has_trusted_field).exists();
  holds_vouched_.emplace(type.index, holds);
  return holds;
}

ValueId Transfer::call_builtin(const Registers& r, Instruction i) {
  const types::BuiltinInfo* const info = types::find_builtin(i.b);
  ENSURE(info != nullptr);
  const Made made = made_by(info->builtin);
  const bool is_inner = made == Made::Inner || made == Made::InnerOption || made == Made::InnerItems;
  Label own;
  for (std::size_t at = 0; at < info->argument_count; ++at) {
    const ValueId argument = r[i.c + at];
    own = labels_.join(own, is_inner ? values_.whole(argument) : values_.own(argument));
  }
  const ValueId first = r[i.c];
  switch (made) {
    case Made::Value:
    case Made::Inner:
      return values_.plain(own);
    case Made::Part:
      return values_.raise(values_.take(first, 0), own);
    case Made::Option:
    case Made::InnerOption:
      return values_.make(Shape::Variant, own, {values_.part(first, 0)});
    case Made::EntryOption:
      return values_.make(Shape::Variant, own, {values_.part(first, 1)});
    case Made::Items:
    case Made::InnerItems:
      return values_.list(own, values_.part(first, 0));
    case Made::NamedItems:
      return values_.list(labels_.join(own, values_.whole(r[i.c + 1])), values_.part(first, 0));
    case Made::BothItems:
      return values_.list(own, values_.merge(values_.part(first, 0), values_.part(r[i.c + 1], 0)));
    case Made::Keys:
      return values_.list(own, values_.part(first, 0));
    case Made::Values:
      return values_.list(own, values_.part(first, 1));
    case Made::Read:
      return values_.list(own, values_.plain(values_.whole(r[i.c + 1]).possible()));
    case Made::Parts:
      return values_.list({}, values_.plain(values_.whole(first).possible()));
    case Made::Trust:
      return Values::clean;
    case Made::Count:
      return values_.plain(labels_.join(own, values_.whole(values_.part(first, 2))));
    case Made::TrustedPart: {
      if (labels_.followed() != Followed::WaysUp) return values_.context(own, {}, {});
      const auto kept = [&](std::size_t at) { return values_.whole(values_.part(first, at)).possible(); };
      return values_.context(own, kept(0), kept(1), kept(2));
    }
  }
  return values_.plain(own);
}

std::size_t Transfer::payload_count(Instruction i) const {
  const types::TypeId type = program_.types.base(types::TypeId{i.b});
  if (program_.types.kind(type) != types::TypeKind::Enum) return 1;
  return program_.types.enum_type(type).variants[i.c].payload.size();
}

std::size_t Transfer::field_count(types::TypeId of) const {
  const types::TypeId type = program_.types.base(of);
  return program_.types.kind(type) == types::TypeKind::Struct ? program_.types.struct_type(type).fields.size()
                                                              : program_.types.get(type).arguments.size();
}

}  // namespace tenon::flows
