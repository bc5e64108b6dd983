#pragma once

#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/environment.h"

namespace tenon::cli {

/// How a conversation that was held with a server has ended.
struct RemoteChatEnd {
  std::optional<int> code = {};  ///< the exit code
  /// Without a code: what could not be passed on, because the process has ended and no other one takes the run.
  std::string unsaid = {};
};

/// Holds a conversation that a server of the store has in memory, or could continue: the messages are passed on, and
/// the answers are shown as they are written. This process needs neither the model nor the libraries of the
/// conversation.
[[nodiscard]] RemoteChatEnd chat_with_server(const ChatCommand& command, const Environment& environment);

}  // namespace tenon::cli
