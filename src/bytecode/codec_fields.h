#pragma once

#include "bytecode/bounds.h"

/// Numbers of fields that encoding and decoding share. Internal to this folder.
namespace tenon::bytecode {

/// Of Budget.
inline constexpr BoundFields budget_fields = {{{2, &Bounds::model_calls},
                                               {3, &Bounds::tokens},
                                               {4, &Bounds::instructions},
                                               {5, &Bounds::depth},
                                               {6, &Bounds::cost_millionths},
                                               {7, &Bounds::milliseconds}}};
inline constexpr std::uint32_t budget_bits = 8;

}  // namespace tenon::bytecode
