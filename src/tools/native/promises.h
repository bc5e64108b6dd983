#pragma once

#include <optional>
#include <string>

#include "types/table/type_table.h"
#include "vm/values/refinements.h"
#include "vm/values/value.h"

namespace tenon::tools {

/// What a scalar or a text, a list or a map as a whole, breaks of what its declared type promises beyond its kind (the
/// width of an i32, the literals of a union, the bounds and patterns of refinements), as in "`150` is not in
/// `Percent`"; nothing when all is kept. The value has the type's kind.
[[nodiscard]] std::optional<std::string> find_broken_promise(const vm::Refinements& refinements, types::TypeId type,
                                                             const vm::Value& value);

/// A value in a message: a number or a short text as it is, cut after some 40 characters.
[[nodiscard]] std::string describe_value(const vm::Value& value);

}  // namespace tenon::tools
