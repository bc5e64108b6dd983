#pragma once

#include <string>
#include <vector>

#include "types/type_table.h"

/// Types of two programs, compared by the values that they have: what was written under one, and is to be read under
/// the other.
namespace tenon::types {

/// Whether each value of `from` is one of `to` as it is recorded: structs by the names of their fields, enums and
/// unions where `to` may have more, a refinement that `to` has as well or has no more. Names of structs and enums do
/// not matter; those of text types do.
[[nodiscard]] bool reads_as(const TypeTable& from_types, TypeId from, const TypeTable& to_types, TypeId to);

/// What keeps a struct from being read as another one, a line for each field, for people: "`items` was `List<String>`,
/// and is `List<Item>`". Empty when nothing does.
[[nodiscard]] std::vector<std::string> list_shape_differences(const TypeTable& from_types, TypeId from,
                                                              const TypeTable& to_types, TypeId to);

/// The struct as a program declares it, under another name: `struct Before { items: List<String> }`.
[[nodiscard]] std::string declare_struct(const TypeTable& types, TypeId type, const std::string& name);

}  // namespace tenon::types
