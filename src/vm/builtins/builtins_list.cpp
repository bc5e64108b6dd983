#include <algorithm>
#include <bit>
#include <cmath>

#include "vm/builtins/builtins.h"
#include "vm/values/render.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using types::Builtin;
using types::FailureKind;

bool is_list(const Value& value) {
  return value.tag() == Tag::List;
}
bool is_map(const Value& value) {
  return value.tag() == Tag::Map;
}
OpStatus damage_list(BuiltinCall& call) {
  return damage(call.state, "a list was expected");
}
OpStatus damage_map(BuiltinCall& call) {
  return damage(call.state, "a map and a text were expected");
}

double float_of(const Value& value) {
  return std::bit_cast<double>(value.bits());
}

void defer_cost_of_items(BuiltinCall& call, std::uint64_t items) {
  defer_cost(call.state, items * sizeof(Value));
}

/// The result depends on the parts of the arguments, not only on their shape.
void join_parts(BuiltinCall& call) {
  std::uint64_t values = 0;
  for (const Value& argument : call.arguments) {
    call.label = call.state.labels.join(call.label, whole_label(argument, call.state.labels, values));
  }
  defer_cost(call.state, values * cost_per_inspected_value);
}

/// An extracted item: the label of the list applies to it too.
Value item_of(BuiltinCall& call, const Value& item) {
  Value copy = item;
  add_label(copy, call.label, call.state.labels);
  return copy;
}

OpStatus list_contains(BuiltinCall& call) {
  if (!is_list(call.arguments[0])) return damage_list(call);
  join_parts(call);
  const auto items = call.arguments[0].items();
  call.result =
      Value::boolean(std::ranges::any_of(items, [&](const Value& item) { return equal(item, call.arguments[1]); }));
  return OpStatus::Ok;
}

OpStatus first(BuiltinCall& call) {
  if (!is_list(call.arguments[0])) return damage_list(call);
  const auto items = call.arguments[0].items();
  call.result = items.empty() ? Value::none() : Value::some(items.front());
  return OpStatus::Ok;
}

OpStatus last(BuiltinCall& call) {
  if (!is_list(call.arguments[0])) return damage_list(call);
  const auto items = call.arguments[0].items();
  call.result = items.empty() ? Value::none() : Value::some(items.back());
  return OpStatus::Ok;
}

OpStatus get(BuiltinCall& call) {
  if (!is_list(call.arguments[0])) return damage_list(call);
  const auto items = call.arguments[0].items();
  const std::uint64_t index = call.arguments[1].bits();
  call.result = index < items.size() ? Value::some(items[index]) : Value::none();
  return OpStatus::Ok;
}

OpStatus list_slice(BuiltinCall& call) {
  if (!is_list(call.arguments[0])) return damage_list(call);
  const auto items = call.arguments[0].items();
  const std::uint64_t from = call.arguments[1].bits();
  const std::uint64_t to = call.arguments[2].bits();
  if (from > to || to > items.size()) {
    return fail(call.state, FailureKind::Index,
                "slice(" + std::to_string(static_cast<std::int64_t>(from)) + ", " +
                    std::to_string(static_cast<std::int64_t>(to)) + ") of a list of " + std::to_string(items.size()) +
                    (items.size() == 1 ? " item" : " items"),
                call.label);
  }
  const auto part = items.subspan(from, to - from);
  defer_cost_of_items(call, part.size());
  call.result = Value::list(std::vector<Value>(part.begin(), part.end()));
  return OpStatus::Ok;
}

OpStatus reverse(BuiltinCall& call) {
  if (!is_list(call.arguments[0])) return damage_list(call);
  const auto items = call.arguments[0].items();
  defer_cost_of_items(call, items.size());
  call.result = Value::list(std::vector<Value>(items.rbegin(), items.rend()));
  return OpStatus::Ok;
}

/// Ascending, with NaN after all numbers; both have the same tag.
bool is_less(const Value& a, const Value& b) {
  if (a.tag() == Tag::String) return a.object() != b.object() && text_of(a).bytes < text_of(b).bytes;
  if (a.tag() == Tag::Integer) return static_cast<std::int64_t>(a.bits()) < static_cast<std::int64_t>(b.bits());
  if (std::isnan(float_of(b))) return !std::isnan(float_of(a));
  return float_of(a) < float_of(b);
}

/// Whether all items can be compared with each other.
bool are_comparable(std::span<const Value> items) {
  if (items.empty()) return true;
  const Tag tag = items.front().tag();
  if (tag != Tag::String && tag != Tag::Integer && tag != Tag::Float) return false;
  return std::ranges::all_of(items, [&](const Value& item) { return item.tag() == tag; });
}

OpStatus sort(BuiltinCall& call) {
  if (!is_list(call.arguments[0]) || !are_comparable(call.arguments[0].items())) return damage_list(call);
  join_parts(call);
  const auto items = call.arguments[0].items();
  std::vector<Value> sorted(items.begin(), items.end());
  defer_cost_of_items(call, sorted.size() * static_cast<std::uint64_t>(std::bit_width(sorted.size())));
  std::ranges::stable_sort(sorted, is_less);
  call.result = Value::list(std::move(sorted));
  return OpStatus::Ok;
}

OpStatus join_items(BuiltinCall& call) {
  if (!is_list(call.arguments[0]) || call.arguments[1].tag() != Tag::String) return damage_list(call);
  TextBuilder builder(call.state.labels);
  bool is_first = true;
  for (const Value& item : call.arguments[0].items()) {
    if (!is_first) builder.append(call.arguments[1]);
    is_first = false;
    if (auto shown = render(item, call.state.program->types(), call.state.labels, builder); !shown) {
      defer_cost(call.state, builder.size());
      return fail(call.state, FailureKind::Index, describe(shown.error()), call.label);
    }
  }
  defer_cost(call.state, builder.size() + call.arguments[0].items().size() * sizeof(Value));
  if (builder.is_too_long()) return fail(call.state, FailureKind::Index, describe(RenderError::TooLong), call.label);
  call.result = builder.finish();
  return OpStatus::Ok;
}

OpStatus concatenate(BuiltinCall& call) {
  if (!is_list(call.arguments[0]) || !is_list(call.arguments[1])) return damage_list(call);
  const auto left = call.arguments[0].items();
  const auto right = call.arguments[1].items();
  if (left.size() + right.size() > list_items_max) {
    return fail(call.state, FailureKind::Index, "a list holds at most " + std::to_string(list_items_max) + " items",
                call.label);
  }
  std::vector<Value> items;
  defer_cost_of_items(call, left.size() + right.size());
  items.reserve(left.size() + right.size());
  items.insert(items.end(), left.begin(), left.end());
  items.insert(items.end(), right.begin(), right.end());
  call.result = Value::list(std::move(items));
  return OpStatus::Ok;
}

OpStatus position(BuiltinCall& call) {
  if (!is_list(call.arguments[0])) return damage_list(call);
  join_parts(call);
  const auto items = call.arguments[0].items();
  const auto found = std::ranges::find_if(items, [&](const Value& item) { return equal(item, call.arguments[1]); });
  call.result = found == items.end() ? Value::none() : Value::some(Value::integer(found - items.begin()));
  return OpStatus::Ok;
}

OpStatus sum_integers(BuiltinCall& call, std::int64_t low, std::int64_t high, std::string_view type) {
  if (!is_list(call.arguments[0])) return damage_list(call);
  join_parts(call);
  std::int64_t sum = 0;
  for (const Value& item : call.arguments[0].items()) {
    if (__builtin_add_overflow(sum, static_cast<std::int64_t>(item.bits()), &sum) || sum < low || sum > high) {
      return fail(call.state, FailureKind::Arithmetic, "the sum does not fit into " + std::string(type), call.label);
    }
  }
  call.result = Value::integer(sum);
  return OpStatus::Ok;
}

OpStatus sum_i64(BuiltinCall& call) {
  return sum_integers(call, INT64_MIN, INT64_MAX, "i64");
}
OpStatus sum_i32(BuiltinCall& call) {
  return sum_integers(call, INT32_MIN, INT32_MAX, "i32");
}

OpStatus sum_f64(BuiltinCall& call) {
  if (!is_list(call.arguments[0])) return damage_list(call);
  join_parts(call);
  double sum = 0;
  for (const Value& item : call.arguments[0].items()) sum += float_of(item);
  call.result = Value::floating(sum);
  return OpStatus::Ok;
}

template <class IsBetter>
OpStatus choose(BuiltinCall& call, IsBetter is_better) {
  if (!is_list(call.arguments[0]) || !are_comparable(call.arguments[0].items())) return damage_list(call);
  join_parts(call);
  const Value* best = nullptr;
  for (const Value& item : call.arguments[0].items()) {
    const bool best_is_nan = best != nullptr && best->tag() == Tag::Float && std::isnan(float_of(*best));
    const bool item_is_nan = item.tag() == Tag::Float && std::isnan(float_of(item));
    if (best == nullptr || best_is_nan || (!item_is_nan && is_better(item, *best))) best = &item;
  }
  call.result = best == nullptr ? Value::none() : Value::some(*best);
  return OpStatus::Ok;
}

OpStatus list_minimum(BuiltinCall& call) {
  return choose(call, is_less);
}
OpStatus list_maximum(BuiltinCall& call) {
  return choose(call, [](const Value& a, const Value& b) { return is_less(b, a); });
}

OpStatus map_get(BuiltinCall& call) {
  if (!is_map(call.arguments[0]) || call.arguments[1].tag() != Tag::String) return damage_map(call);
  const Value* const found = call.arguments[0].find_entry(call.arguments[1].as_text());
  call.result = found == nullptr ? Value::none() : Value::some(*found);
  return OpStatus::Ok;
}

OpStatus map_contains(BuiltinCall& call) {
  if (!is_map(call.arguments[0]) || call.arguments[1].tag() != Tag::String) return damage_map(call);
  call.result = Value::boolean(call.arguments[0].find_entry(call.arguments[1].as_text()) != nullptr);
  return OpStatus::Ok;
}

OpStatus map_keys(BuiltinCall& call) {
  if (!is_map(call.arguments[0])) return damage_map(call);
  defer_cost_of_items(call, call.arguments[0].entries().size());
  std::vector<Value> keys;
  for (const MapEntry& entry : call.arguments[0].entries()) keys.push_back(item_of(call, entry.key));
  call.result = Value::list(std::move(keys));
  return OpStatus::Ok;
}

OpStatus map_values(BuiltinCall& call) {
  if (!is_map(call.arguments[0])) return damage_map(call);
  defer_cost_of_items(call, call.arguments[0].entries().size());
  std::vector<Value> values;
  for (const MapEntry& entry : call.arguments[0].entries()) values.push_back(item_of(call, entry.value));
  call.result = Value::list(std::move(values));
  return OpStatus::Ok;
}

}  // namespace

BuiltinFunction* find_list_builtin(types::Builtin builtin) {
  if (builtin == types::Builtin::ListContains) return list_contains;
  if (builtin == types::Builtin::ListFirst) return first;
  if (builtin == types::Builtin::ListLast) return last;
  if (builtin == types::Builtin::ListGet) return get;
  if (builtin == types::Builtin::ListSlice) return list_slice;
  if (builtin == types::Builtin::ListReverse) return reverse;
  if (builtin == types::Builtin::ListSort) return sort;
  if (builtin == types::Builtin::ListJoin) return join_items;
  if (builtin == types::Builtin::ListConcatenate) return concatenate;
  if (builtin == types::Builtin::ListFind) return position;
  if (builtin == types::Builtin::ListSumInteger) return sum_i64;
  if (builtin == types::Builtin::ListSumI32) return sum_i32;
  if (builtin == types::Builtin::ListSumF64) return sum_f64;
  if (builtin == types::Builtin::ListMinimum) return list_minimum;
  if (builtin == types::Builtin::ListMaximum) return list_maximum;
  return nullptr;
}

BuiltinFunction* find_map_builtin(types::Builtin builtin) {
  if (builtin == types::Builtin::MapGet) return map_get;
  if (builtin == types::Builtin::MapContains) return map_contains;
  if (builtin == types::Builtin::MapKeys) return map_keys;
  if (builtin == types::Builtin::MapValues) return map_values;
  return nullptr;
}

}  // namespace tenon::vm
