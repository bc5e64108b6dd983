#pragma once

#include <cstddef>
#include <string>

#include "types/table/type_table.h"
#include "vm/values/value.h"

namespace tenon::vm {

/// The maximum length of a described value in bytes, without the marks of what is left out.
inline constexpr std::size_t described_bytes_max = 300;

/// Values for a person, as in the message of a failed `assert`.
struct Description {
  std::string text;
  std::size_t work = 0;  ///< bytes of JSON that were written for it
};

/// The value as a line of JSON. Secrets are hidden; `…` marks what is left out.
[[nodiscard]] Description describe_value(const Value& value, const types::TypeTable& types);

/// The sides of a comparison, `  left:  …` and `  right: …` on separate lines. If they are long, only the parts around
/// the first difference are shown.
[[nodiscard]] Description describe_sides(const Value& left, const Value& right, const types::TypeTable& types);

}  // namespace tenon::vm
