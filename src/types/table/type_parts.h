#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "types/table/type_table.h"

namespace tenon::types {

/// Which parts of a type a walk visits.
enum class TypeParts : std::uint8_t {
  OfValues,   ///< what values consist of: elements, fields, payloads
  AsWritten,  ///< what the type is written with; a struct or an enum is only its name
};

/// Calls `visit` with each direct part of the type, in the order of the declaration.
template <class Visit>
void for_each_part(const TypeTable& types, TypeId type, TypeParts which, const Visit& visit) {
  const TypeKind kind = types.kind(type);
  if (which == TypeParts::OfValues) {
    if (kind == TypeKind::Range || kind == TypeKind::Closure) return;  // not values
    if (kind == TypeKind::Struct) {
      for (const Field& field : types.struct_type(type).fields) visit(field.type);
    } else if (kind == TypeKind::Enum) {
      for (const Variant& variant : types.enum_type(type).variants) {
        for (const TypeId part : variant.payload) visit(part);
      }
    }
  }
  for (const TypeId part : types.get(type).arguments) visit(part);
}

/// The first type for which `is_wanted` is true among `type` and its parts, direct and indirect ones; an absent id if
/// there is none. Each is looked at once: a type before its parts, the parts in the order of the declaration.
template <class Predicate>
[[nodiscard]] TypeId find_within(const TypeTable& types, TypeId type, TypeParts which, const Predicate& is_wanted) {
  std::unordered_set<TypeId> seen;
  std::vector<TypeId> pending{type};
  while (!pending.empty()) {
    const TypeId next = pending.back();
    pending.pop_back();
    if (!seen.insert(next).second) continue;
    if (is_wanted(next)) return next;
    const auto first = static_cast<std::ptrdiff_t>(pending.size());
    for_each_part(types, next, which, [&](TypeId part) { pending.push_back(part); });
    std::reverse(pending.begin() + first, pending.end());
  }
  return {};
}

/// Calls `visit` with `type` and with its parts, direct and indirect ones, once with each, in the same order.
template <class Visit>
void for_each_within(const TypeTable& types, TypeId type, TypeParts which, const Visit& visit) {
  static_cast<void>(find_within(types, type, which, [&](TypeId part) {
    visit(part);
    return false;
  }));
}

/// The type with `map` applied to each type that it is written with. Structs and enums are written with none.
template <class Map>
[[nodiscard]] TypeId map_type(TypeTable& types, TypeId type, const Map& map) {
  Type copy = types.get(type);
  bool has_changed = false;
  for (TypeId& argument : copy.arguments) {
    const TypeId mapped = map(argument);
    has_changed = has_changed || mapped != argument;
    argument = mapped;
  }
  return has_changed ? types.intern(std::move(copy)) : type;
}

/// The direct parts of a type of which its values consist.
[[nodiscard]] std::vector<TypeId> list_parts(const TypeTable& types, TypeId type);

/// Whether values of the type are texts: String, text types, unions of texts. Refinements do not matter.
[[nodiscard]] bool is_text(const TypeTable& types, TypeId type);
/// Whether they are whole numbers: i32, i64, unions of numbers.
[[nodiscard]] bool is_integer(const TypeTable& types, TypeId type);
/// The same, or f64.
[[nodiscard]] bool is_number(const TypeTable& types, TypeId type);

/// Whether values of the kind can come into or out of a run if their parts can: not a context, a closure, a set of
/// tools, or a kind without values.
[[nodiscard]] bool can_leave_run(TypeKind kind);

/// The kind of what operations on a value of the type work on: String for all texts, I64 for unions of numbers.
[[nodiscard]] TypeKind operand_kind(const TypeTable& types, TypeId type);

/// The source of an answer. A person can be asked for a secret, a model cannot, because it would have to see it first.
enum class Answerer : std::uint8_t { Model, Person };

/// Whether the answerer cannot supply the type, whatever its parts are: Context, closures, results, ranges, an enum
/// without cases; for a model also secrets.
[[nodiscard]] bool is_unanswerable(const TypeTable& types, TypeId type, Answerer answerer);
/// The first part of `type` that the answerer cannot supply, or an absent id.
[[nodiscard]] TypeId find_unanswerable(const TypeTable& types, TypeId type, Answerer answerer = Answerer::Model);

/// Whether a model's answer of the type is an object with the value under the key `value`: not for strings, which are
/// plain text, nor for types that are objects themselves.
[[nodiscard]] bool is_answered_under_key(const TypeTable& types, TypeId type);

/// How much a value of the type can say, in bits: the logarithm of how many values there are. Nothing if a text or a
/// number without bounds is within it, so that it can say anything.
[[nodiscard]] std::optional<double> information_of(const TypeTable& types, TypeId type);

/// Whether a value of the type can contain a secret.
[[nodiscard]] bool holds_secret(const TypeTable& types, TypeId type);
/// Whether any value of the program can.
[[nodiscard]] bool has_secrets(const TypeTable& types);

}  // namespace tenon::types
