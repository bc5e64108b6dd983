#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bytecode/program.h"
#include "types/table/type_table.h"

namespace tenon::tools {

/// The C types of the parameters and the result of a plain symbol.
enum class PlainType : std::uint8_t { Void, Bool, Int32, Int64, Double, String };

/// The C type that carries values of a parameter's type; nothing for those that plain C cannot carry.
[[nodiscard]] std::optional<PlainType> find_plain_parameter(const types::TypeTable& types, types::TypeId type);
/// The same for a result, where `()` is void.
[[nodiscard]] std::optional<PlainType> find_plain_result(const types::TypeTable& types, types::TypeId type);

/// `int32_t add(int32_t x, int32_t y);`, which the symbol must be defined as. All types of the extern are plain.
[[nodiscard]] std::string describe_prototype(const types::TypeTable& types, const bytecode::Extern& declared);
/// `(x: i32, y: i32) -> i32`, as it is declared.
[[nodiscard]] std::string describe_signature(const types::TypeTable& types, const bytecode::Extern& declared);

}  // namespace tenon::tools
