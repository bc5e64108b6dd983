#pragma once

#include <vector>

#include "types/type_table.h"

namespace tenon::types {

/// The types that stand directly in a type: elements, fields, payloads.
[[nodiscard]] std::vector<TypeId> list_parts(const TypeTable& types, TypeId type);

/// Who gives a value. A person can be asked for a secret, a model cannot: it would have to be told first.
enum class Answerer : std::uint8_t { Model, Person };

/// A part of `type` that no answerer can give a value of (Context, closures, results, ranges, an enum without cases, of
/// a model secrets), or an absent id.
[[nodiscard]] TypeId find_unanswerable(const TypeTable& types, TypeId type, Answerer answerer = Answerer::Model);

/// Whether a model's answer of the type is an object that holds it under the key `value`: not for texts, which are
/// answered as they are, nor for what is an object itself.
[[nodiscard]] bool is_answered_under_key(const TypeTable& types, TypeId type);

/// Whether a value of the type may have a secret in it.
[[nodiscard]] bool holds_secret(const TypeTable& types, TypeId type);
/// Whether any value of the program may.
[[nodiscard]] bool has_secrets(const TypeTable& types);

}  // namespace tenon::types
