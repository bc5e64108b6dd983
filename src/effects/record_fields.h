#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "effects/record.h"

/// The numbers of a record's fields, shared by encoding and decoding.
namespace tenon::effects {

enum : std::uint32_t { record_format_field = 1, record_time = 2 };
/// The field of each kind of body, in the order of the variant.
inline constexpr std::array<std::uint32_t, 14> body_fields = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 50, 51, 60, 61};
static_assert(std::variant_size_v<RecordBody> == body_fields.size());

/// Of RunSettings.
inline constexpr bytecode::BoundFields settings_bounds = {{{8, &bytecode::Bounds::model_calls},
                                                           {9, &bytecode::Bounds::instructions},
                                                           {10, &bytecode::Bounds::depth},
                                                           {11, &bytecode::Bounds::tokens},
                                                           {12, &bytecode::Bounds::cost_millionths},
                                                           {13, &bytecode::Bounds::milliseconds}}};

/// The field of the agent's name in the AgentScope of each kind of body. The next number is the depth's.
enum : std::uint32_t {
  requested_scope = 10,
  attempted_scope = 8,
  finished_scope = 8,
  paused_scope = 50,
  continued_scope = 50,
  said_scope = 3,
  refused_scope = 5,
};

}  // namespace tenon::effects
