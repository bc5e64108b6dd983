#pragma once

#include <string_view>

namespace tenon::blocks {

/// The entry of a conversation in place of the messages of a turn that failed with `ContextFull`. The runtime adds it;
/// `compress` finds it, and makes as much room as it can.
inline constexpr std::string_view left_out_entry =
    "[A message was left out here: it did not fit into the model's context.]";

}  // namespace tenon::blocks
