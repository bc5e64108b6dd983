#pragma once

#include <vector>

#include "types/type_table.h"

namespace tenon::types {

/// The structs and enums of which no value could ever be finished, because each needs another of its own kind first:
/// `struct Node { next: Node }`. An Option, a List or a Map can be empty and so breaks the circle, and so does an enum
/// with a case that can be made. Of the types that lead around a circle all stand together, in the order of the circle;
/// those that merely hold one of them are left out.
[[nodiscard]] std::vector<std::vector<TypeId>> find_endless(const TypeTable& types);

}  // namespace tenon::types
