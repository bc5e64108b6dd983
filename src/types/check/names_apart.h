#pragma once

#include <string>
#include <utility>

#include "types/checked_program.h"

namespace tenon::types {

/// Both types for one message. Where they look the same, their structs and enums have the names of their modules:
/// `shop::Order`. `types`: the table that the types are from.
[[nodiscard]] std::pair<std::string, std::string> describe_apart(const CheckedProgram& program, const TypeTable& types,
                                                                 TypeId first, TypeId second);

}  // namespace tenon::types
