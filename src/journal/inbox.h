#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/store.h"

namespace tenon::journal {

/// A request to the owner of the store from another process, concerning one run.
struct Command {
  std::uint64_t id = 0;
  RunName run;
  std::string bytes;  ///< opaque here
};

/// Maximum size of a command and of its reply.
inline constexpr std::size_t command_bytes_max = std::size_t{16} << 20U;
/// Replies that no sender took: beyond this number the oldest are dropped.
inline constexpr std::size_t replies_kept_max = 1'000;

/// How other processes ask the owner of a store to do something with a run. Used by one thread at a time.
class Inbox {
 public:
  virtual ~Inbox() = default;

  /// Leaves a command for the owner, and announces it (journal/wakeups.h); any process may. Returns the command's id.
  [[nodiscard]] virtual Result<std::uint64_t, StoreError> send(const RunName& run, std::string_view bytes) = 0;
  /// Returns unanswered commands, oldest first; they remain until they are answered.
  [[nodiscard]] virtual Result<std::vector<Command>, StoreError> unanswered(std::size_t limit) = 0;
  [[nodiscard]] virtual Result<void, StoreError> answer(std::uint64_t command, std::string_view reply) = 0;
  /// Returns and removes the reply to a command; none while it is unanswered.
  [[nodiscard]] virtual Result<std::optional<std::string>, StoreError> take_reply(std::uint64_t command) = 0;
  /// Removes an unanswered command. False when it has been answered or removed.
  [[nodiscard]] virtual Result<bool, StoreError> withdraw(std::uint64_t command) = 0;
};

}  // namespace tenon::journal
