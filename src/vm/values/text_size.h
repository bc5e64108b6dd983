#pragma once

#include <cstddef>
#include <cstdint>

#include "vm/values/value.h"

namespace tenon::vm {

/// A writer counts the parts of a value with `is_text_over` once it has written this many bytes: small values are
/// written without a count, and large ones are refused before they take much memory.
inline constexpr std::size_t counted_text_bytes_min = std::size_t{1} << 20U;

/// Whether the text of the value, in any form (JSON, records), has more bytes than `bytes_max`, or it has more parts
/// than `parts_max`, counting itself. A part that occurs in several places is written in each. The bytes are those of
/// texts, names of fields, brackets and commas, and one for any other value, so false says only that the text may be
/// short enough. Takes time linear in the distinct parts, for any nesting and sharing.
[[nodiscard]] bool is_text_over(const Value& value, const types::TypeTable& types, std::size_t bytes_max,
                                std::size_t parts_max = SIZE_MAX);

}  // namespace tenon::vm
