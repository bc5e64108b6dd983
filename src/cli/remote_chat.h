#pragma once

#include "cli/command_line.h"
#include "cli/environment.h"

namespace tenon::cli {

/// Holds a conversation that a server of the store has in memory, or could continue: the messages are passed on, and
/// the answers are shown as they are written. This process needs neither the model nor the libraries of the
/// conversation. Returns the exit code.
[[nodiscard]] int chat_with_server(const ChatCommand& command, const Environment& environment);

}  // namespace tenon::cli
