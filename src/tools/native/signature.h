#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bytecode/program.h"
#include "types/table/type_table.h"

namespace tenon::tools {

/// Compares the signature of a function in a library, such as `(List<Order>, i32?) -> String`, with its declaration.
/// `_` matches any type, a basic type's name all types that are passed as it (String for text types and unions of
/// texts, i64 for unions of numbers), refinements are left out; structs, enums and aliases are compared by name.
/// Returns the difference, for people, or nothing.
[[nodiscard]] std::optional<std::string> find_disagreement(std::string_view signature, const types::TypeTable& types,
                                                           const bytecode::Extern& declared);

}  // namespace tenon::tools
