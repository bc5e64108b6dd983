#pragma once

#include <vector>

#include "types/type_table.h"

namespace tenon::types {

/// The direct parts of a type: elements, fields, payloads.
[[nodiscard]] std::vector<TypeId> list_parts(const TypeTable& types, TypeId type);

/// The source of an answer. A person can be asked for a secret, a model cannot, because it would have to see it first.
enum class Answerer : std::uint8_t { Model, Person };

/// A part of `type` that the answerer cannot supply (Context, closures, results, ranges, an enum without cases; for a
/// model also secrets), or an absent id.
[[nodiscard]] TypeId find_unanswerable(const TypeTable& types, TypeId type, Answerer answerer = Answerer::Model);

/// Whether a model's answer of the type is an object with the value under the key `value`: not for strings, which are
/// plain text, nor for types that are objects themselves.
[[nodiscard]] bool is_answered_under_key(const TypeTable& types, TypeId type);

/// Whether a value of the type can contain a secret.
[[nodiscard]] bool holds_secret(const TypeTable& types, TypeId type);
/// Whether any value of the program can.
[[nodiscard]] bool has_secrets(const TypeTable& types);

}  // namespace tenon::types
