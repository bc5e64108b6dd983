#pragma once

#include <vector>

#include "types/table/type_table.h"

namespace tenon::types {

/// The structs and enums of infinite size, because a value of each needs another one of the same type first:
/// `struct Node { next: Node }`. An Option, a List or a Map can be empty and so ends the cycle, and so does an enum
/// with a case of finite size. Returns the types of each cycle in its order, without those that merely contain one of
/// them.
[[nodiscard]] std::vector<std::vector<TypeId>> find_recursive_types(const TypeTable& types);

}  // namespace tenon::types
