#pragma once

#include <string>
#include <vector>

#include "types/table/type_table.h"

/// Compares types of two programs by their values: data that was written with one type and will be read with the
/// other.
namespace tenon::types {

/// Whether each value of `from` is also a value of `to` in its recorded form: structs by the names of their fields;
/// enums and unions can have more in `to`; refinements must be equal or absent in `to`. Names of structs and enums do
/// not matter; those of text types do.
[[nodiscard]] bool reads_as(const TypeTable& from_types, TypeId from, const TypeTable& to_types, TypeId to);

/// Why a struct cannot be read as another one, one line per field, for people: "`items` was `List<String>`, and is
/// `List<Item>`". Empty if it can.
[[nodiscard]] std::vector<std::string> list_shape_differences(const TypeTable& from_types, TypeId from,
                                                              const TypeTable& to_types, TypeId to);

/// The declaration of the struct under another name: `struct Before { items: List<String> }`.
[[nodiscard]] std::string declare_struct(const TypeTable& types, TypeId type, const std::string& name);

}  // namespace tenon::types
