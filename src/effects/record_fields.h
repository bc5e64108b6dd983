#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "effects/record.h"

/// The numbers of a record's fields, shared by encoding and decoding.
namespace tenon::effects {

enum : std::uint32_t { record_format_field = 1, record_time = 2 };
/// The field of each kind of body, in the order of the variant.
inline constexpr std::array<std::uint32_t, 13> body_fields = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 50, 51, 60};
static_assert(std::variant_size_v<RecordBody> == body_fields.size());

}  // namespace tenon::effects
