#pragma once

#include <vector>

#include "types/type_table.h"

namespace tenon::types {

/// The types that stand directly in a type: elements, fields, payloads.
[[nodiscard]] std::vector<TypeId> list_parts(const TypeTable& types, TypeId type);

/// A part of `type` that no model can give a value of (Context, closures, results, ranges, an enum without cases), or
/// an absent id.
[[nodiscard]] TypeId find_unanswerable(const TypeTable& types, TypeId type);

}  // namespace tenon::types
