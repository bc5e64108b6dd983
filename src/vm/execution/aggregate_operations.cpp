#include <algorithm>

#include "vm/execution/operations.h"
#include "vm/values/context.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using types::FailureKind;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;

OpStatus expect(MachineState& state, Tag tag) {
  return damage(state, "a " + std::string(tag_name(tag)) + " was expected");
}

/// The run-time type of a value of the type: all Options share one type, and so do all Results.
TypeId run_time_type(const TypeTable& types, std::uint32_t index) {
  const TypeId type = types.base(TypeId{index});
  if (types.kind(type) == TypeKind::Option) return TypeTable::any_option;
  if (types.kind(type) == TypeKind::Result) return TypeTable::any_result;
  return type;
}

std::size_t payload_count(const TypeTable& types, TypeId type, std::uint32_t index) {
  if (type == TypeTable::any_option || type == TypeTable::any_result) return 1;
  return types.enum_type(type).variants[index].payload.size();
}

OpStatus fail_index(MachineState& state, const Value& index, std::size_t size, LabelId label) {
  return fail(state, FailureKind::Index,
              "index " + std::to_string(static_cast<std::int64_t>(index.bits())) + " is outside of a list of " +
                  std::to_string(size) + (size == 1 ? " item" : " items"),
              label);
}

OpStatus fail_key(MachineState& state, const Value& key, LabelId label) {
  return fail(state, FailureKind::Index, "the map has no key \"" + std::string(key.as_text()) + "\"", label);
}

OpStatus fail_too_many(MachineState& state, std::string_view what) {
  return fail(state, FailureKind::Index,
              "a " + std::string(what) + " holds at most " + std::to_string(list_items_max) + " items");
}

/// A string whose spans are raised is copied.
void raise(MachineState& state, Value& value, LabelId label) {
  if (value.tag() == Tag::String && text_of(value).spans) defer_cost(state, text_of(value).bytes.size());
  add_label(value, label, state.labels);
}

/// The last step of operations without further cost.
[[nodiscard]] OpStatus put(MachineState& state, Value& target, Value value, LabelId label) {
  if (label == LabelTable::program_text) [[likely]] {
    target = std::move(value);
    return OpStatus::Ok;
  }
  if (value.tag() != Tag::String) {
    value.set_label(state.labels.join(value.label(), label));
    target = std::move(value);
    return OpStatus::Ok;
  }
  raise(state, value, label);
  target = std::move(value);
  return done(state);
}

/// The same with a copy of what an aggregate holds. Most are numbers, whose copy is two words.
[[nodiscard]] OpStatus put_copy(MachineState& state, Value& target, const Value& held, LabelId label) {
  if (held.is_object()) return put(state, target, held, label);
  target.set_plain(held.tag(), held.bits(), state.labels.join(held.label(), label));
  return OpStatus::Ok;
}

/// For an in-place change. The cost is that of the copy, which is made if there are other references to the object.
ListObject& change_list(MachineState& state, Value& value) {
  if (value.object()->is_shared()) [[unlikely]]
    defer_cost(state, list_of(value).items.size() * sizeof(Value));
  return own_list(value);
}
MapObject& change_map(MachineState& state, Value& value) {
  if (value.object()->is_shared()) [[unlikely]]
    defer_cost(state, map_of(value).slots.size() * sizeof(MapEntry));
  return own_map(value);
}

/// Items that move by one position; a move costs less than a copy.
void defer_cost_of_moves(MachineState& state, std::uint64_t items) {
  constexpr std::uint64_t bytes_per_move = 4;
  defer_cost(state, items * bytes_per_move);
}

void raise_shape(MachineState& state, Value& aggregate, const Value& by) {
  if (by.label() != LabelTable::program_text) aggregate.set_label(state.labels.join(aggregate.label(), by.label()));
}

bool is_fields(const Value& value) {
  return value.tag() == Tag::Record || value.tag() == Tag::Variant;
}

}  // namespace

OpStatus operate_load_case(MachineState& state, Value* r, Instruction i) {
  const TypeId type = run_time_type(state.program->types(), i.b);
  r[i.a].set_plain(Tag::Case, Value::plain_case(type, i.c).bits());
  return OpStatus::Ok;
}

OpStatus operate_make_list(MachineState&, Value* r, Instruction i) {
  r[i.a] = Value::list(std::vector<Value>(r + i.b, r + i.b + i.c));
  return OpStatus::Ok;
}

OpStatus operate_make_map(MachineState& state, Value* r, Instruction i) {
  auto* const map = new MapObject;
  Value made = Value::adopt(Tag::Map, map);
  for (std::uint32_t k = 0; k < i.c; ++k) {
    const Value& key = r[i.b + 2 * k];
    if (key.tag() != Tag::String) return expect(state, Tag::String);
    map->set(key, r[i.b + 2 * k + 1]);
    raise_shape(state, made, key);
  }
  r[i.a] = std::move(made);
  return OpStatus::Ok;
}

OpStatus operate_make_record(MachineState& state, Value* r, Instruction i) {
  const TypeTable& types = state.program->types();
  const TypeId type = types.base(TypeId{i.c});
  const std::size_t count =
      types.kind(type) == TypeKind::Struct ? types.struct_type(type).fields.size() : types.get(type).arguments.size();
  FieldsObject* const record = FieldsObject::create(Tag::Record, type, 0, static_cast<std::uint32_t>(count));
  for (std::size_t k = 0; k < count; ++k) record->data()[k] = r[i.b + k];
  r[i.a] = Value::adopt(Tag::Record, record);
  return OpStatus::Ok;
}

OpStatus operate_make_variant(MachineState& state, Value* r, Instruction i) {
  const TypeId type = run_time_type(state.program->types(), i.b);
  const std::size_t count = payload_count(state.program->types(), type, i.c);
  FieldsObject* const variant = FieldsObject::create(Tag::Variant, type, i.c, static_cast<std::uint32_t>(count));
  for (std::size_t k = 0; k < count; ++k) variant->data()[k].swap(r[i.a + k]);
  r[i.a] = Value::adopt(Tag::Variant, variant);
  return OpStatus::Ok;
}

OpStatus operate_get_field(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::Record || i.c >= fields_of(r[i.b]).count) return expect(state, Tag::Record);
  return put_copy(state, r[i.a], fields_of(r[i.b]).data()[i.c], r[i.b].label());
}

OpStatus operate_set_field(MachineState& state, Value* r, Instruction i) {
  if (r[i.a].tag() != Tag::Record || i.b >= fields_of(r[i.a]).count) return expect(state, Tag::Record);
  Value value = r[i.c];
  own_fields(r[i.a]).data()[i.b] = std::move(value);
  return OpStatus::Ok;
}

OpStatus operate_take_field(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::Record || i.c >= fields_of(r[i.b]).count) return expect(state, Tag::Record);
  const LabelId label = r[i.b].label();
  return put(state, r[i.a], std::move(own_fields(r[i.b]).data()[i.c]), label);
}

OpStatus operate_get_item(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::List) return expect(state, Tag::List);
  const auto& items = list_of(r[i.b]).items;
  const LabelId label = state.labels.join(r[i.b].label(), r[i.c].label());
  if (r[i.c].bits() >= items.size()) return fail_index(state, r[i.c], items.size(), label);
  return put_copy(state, r[i.a], items[r[i.c].bits()], label);
}

OpStatus operate_set_item(MachineState& state, Value* r, Instruction i) {
  if (r[i.a].tag() != Tag::List) return expect(state, Tag::List);
  const std::size_t size = list_of(r[i.a]).items.size();
  const std::uint64_t index = r[i.b].bits();
  if (index >= size) return fail_index(state, r[i.b], size, state.labels.join(r[i.a].label(), r[i.b].label()));
  Value value = r[i.c];
  raise_shape(state, r[i.a], r[i.b]);
  change_list(state, r[i.a]).items[index] = std::move(value);
  return done(state);
}

OpStatus operate_take_item(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::List) return expect(state, Tag::List);
  const std::size_t size = list_of(r[i.b]).items.size();
  const std::uint64_t index = r[i.c].bits();
  const LabelId label = state.labels.join(r[i.b].label(), r[i.c].label());
  if (index >= size) return fail_index(state, r[i.c], size, label);
  raise_shape(state, r[i.b], r[i.c]);
  static_cast<void>(put(state, r[i.a], std::move(change_list(state, r[i.b]).items[index]), label));
  return done(state);
}

OpStatus operate_get_entry(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::Map) return expect(state, Tag::Map);
  if (r[i.c].tag() != Tag::String) return expect(state, Tag::String);
  const MapObject& map = map_of(r[i.b]);
  const LabelId label = state.labels.join(r[i.b].label(), r[i.c].label());
  const std::uint32_t slot = map.find(text_of(r[i.c]).bytes);
  if (slot == MapObject::no_slot) return fail_key(state, r[i.c], label);
  return put_copy(state, r[i.a], map.slots[slot].value, label);
}

OpStatus operate_set_entry(MachineState& state, Value* r, Instruction i) {
  if (r[i.a].tag() != Tag::Map) return expect(state, Tag::Map);
  if (r[i.b].tag() != Tag::String) return expect(state, Tag::String);
  Value key = r[i.b];
  Value value = r[i.c];
  MapObject& map = change_map(state, r[i.a]);
  if (map.live >= list_items_max) return fail_too_many(state, "map");
  raise_shape(state, r[i.a], key);
  map.set(std::move(key), std::move(value));
  return done(state);
}

OpStatus operate_take_entry(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::Map) return expect(state, Tag::Map);
  if (r[i.c].tag() != Tag::String) return expect(state, Tag::String);
  const LabelId label = state.labels.join(r[i.b].label(), r[i.c].label());
  if (map_of(r[i.b]).find(text_of(r[i.c]).bytes) == MapObject::no_slot) return fail_key(state, r[i.c], label);
  MapObject& map = change_map(state, r[i.b]);
  const std::uint32_t slot = map.find(text_of(r[i.c]).bytes);
  raise_shape(state, r[i.b], r[i.c]);
  static_cast<void>(put(state, r[i.a], std::move(map.slots[slot].value), label));
  return done(state);
}

OpStatus operate_get_case(MachineState& state, Value* r, Instruction i) {
  const Value& value = r[i.b];
  if (value.tag() != Tag::Case && value.tag() != Tag::Variant) return damage(state, "a case was expected");
  r[i.a].set_plain(Tag::Integer, value.case_index(), value.label());
  return OpStatus::Ok;
}

OpStatus operate_get_payload(MachineState& state, Value* r, Instruction i) {
  if (!is_fields(r[i.b]) || i.c >= fields_of(r[i.b]).count) return expect(state, Tag::Variant);
  return put_copy(state, r[i.a], fields_of(r[i.b]).data()[i.c], r[i.b].label());
}

OpStatus operate_push(MachineState& state, Value* r, Instruction i) {
  if (r[i.a].tag() != Tag::List) return expect(state, Tag::List);
  Value value = r[i.b];
  auto& items = change_list(state, r[i.a]).items;
  if (items.size() >= list_items_max) return fail_too_many(state, "list");
  items.push_back(std::move(value));
  return done(state);
}

OpStatus operate_pop(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::List) return expect(state, Tag::List);
  const LabelId label = r[i.b].label();
  Value popped = Value::none();
  if (!list_of(r[i.b]).items.empty()) {
    auto& items = change_list(state, r[i.b]).items;
    popped = Value::some(std::move(items.back()));
    items.pop_back();
  }
  static_cast<void>(put(state, r[i.a], std::move(popped), label));
  return done(state);
}

OpStatus operate_remove_entry(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::Map) return expect(state, Tag::Map);
  if (r[i.c].tag() != Tag::String) return expect(state, Tag::String);
  const LabelId label = state.labels.join(r[i.b].label(), r[i.c].label());
  const Value key = r[i.c];
  Value removed = Value::none();
  if (map_of(r[i.b]).find(text_of(key).bytes) != MapObject::no_slot) {
    MapObject& map = change_map(state, r[i.b]);
    removed = Value::some(map.remove(map.find(text_of(key).bytes)));
  }
  raise_shape(state, r[i.b], key);  // that nothing was removed depends on the key, too
  static_cast<void>(put(state, r[i.a], std::move(removed), label));
  return done(state);
}

OpStatus operate_length(MachineState& state, Value* r, Instruction i) {
  const Value& value = r[i.b];
  std::uint64_t length = 0;
  if (value.tag() == Tag::List) {
    length = list_of(value).items.size();
  } else if (value.tag() == Tag::String) {
    length = code_points(value);
  } else if (value.tag() == Tag::Map) {
    length = map_of(value).live;
  } else {
    return damage(state, "a text, list or map was expected");
  }
  r[i.a].set_plain(Tag::Integer, length, value.label());
  return OpStatus::Ok;
}

OpStatus operate_insert_item(MachineState& state, Value* r, Instruction i) {
  if (r[i.a].tag() != Tag::List) return expect(state, Tag::List);
  const std::size_t size = list_of(r[i.a]).items.size();
  const std::uint64_t index = r[i.b].bits();
  if (index > size) return fail_index(state, r[i.b], size, state.labels.join(r[i.a].label(), r[i.b].label()));
  if (size >= list_items_max) return fail_too_many(state, "list");
  Value value = r[i.c];
  raise_shape(state, r[i.a], r[i.b]);
  auto& items = change_list(state, r[i.a]).items;
  defer_cost_of_moves(state, size - index);
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(index), std::move(value));
  return done(state);
}

OpStatus operate_remove_item(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::List) return expect(state, Tag::List);
  const std::size_t size = list_of(r[i.b]).items.size();
  const std::uint64_t index = r[i.c].bits();
  const LabelId label = state.labels.join(r[i.b].label(), r[i.c].label());
  if (index >= size) return fail_index(state, r[i.c], size, label);
  raise_shape(state, r[i.b], r[i.c]);
  auto& items = change_list(state, r[i.b]).items;
  defer_cost_of_moves(state, size - index);
  Value removed = std::move(items[index]);
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(index));
  static_cast<void>(put(state, r[i.a], std::move(removed), label));
  return done(state);
}

namespace {

/// Compares two values; `label` is the join of all labels in both.
bool compare(MachineState& state, const Value& left, const Value& right, LabelId& label) {
  std::uint64_t values = 0;
  label = whole_label(left, state.labels, values);
  label = state.labels.join(label, whole_label(right, state.labels, values));
  defer_cost(state, values * cost_per_inspected_value);
  const bool are_texts = left.tag() == Tag::String && right.tag() == Tag::String;
  if (are_texts) defer_cost(state, std::min(text_of(left).bytes.size(), text_of(right).bytes.size()));
  return equal(left, right);
}

}  // namespace

OpStatus operate_equal(MachineState& state, Value* r, Instruction i) {
  LabelId label;
  const bool are_equal = compare(state, r[i.b], r[i.c], label);
  r[i.a].set_plain(Tag::Boolean, are_equal ? 1 : 0, label);
  return done(state);
}

OpStatus operate_not_equal(MachineState& state, Value* r, Instruction i) {
  LabelId label;
  const bool are_equal = compare(state, r[i.b], r[i.c], label);
  r[i.a].set_plain(Tag::Boolean, are_equal ? 0 : 1, label);
  return done(state);
}

OpStatus operate_for_list(MachineState& state, Value* r, Instruction i) {
  const Value& list = r[i.a];
  if (list.tag() != Tag::List) return expect(state, Tag::List);
  const std::uint64_t position = r[i.a + 1].bits();
  if (position >= list_of(list).items.size()) return no_more;
  r[i.a + 1].set_plain(Tag::Integer, position + 1);
  return put_copy(state, r[i.a + 2], list_of(list).items[position], list.label());
}

OpStatus operate_for_map(MachineState& state, Value* r, Instruction i) {
  const Value& map = r[i.a];
  if (map.tag() != Tag::Map) return expect(state, Tag::Map);
  const auto& slots = map_of(map).slots;
  std::uint64_t position = r[i.a + 1].bits();
  while (position < slots.size() && slots[position].key.tag() == Tag::Unit) ++position;
  if (position >= slots.size()) return no_more;
  r[i.a + 1].set_plain(Tag::Integer, position + 1);
  static_cast<void>(put(state, r[i.a + 2], slots[position].key, map.label()));
  return put_copy(state, r[i.a + 3], slots[position].value, map.label());
}

OpStatus raise_again(MachineState& state, const Value& raised) {
  if (!is_failure(raised)) return damage(state, "a Failure was expected");
  state.cause = {};
  state.cause.raised = raised;
  return OpStatus::Failed;
}

OpStatus operate_raise(MachineState& state, Value* r, Instruction i) {
  return raise_again(state, r[i.a]);
}

}  // namespace tenon::vm
