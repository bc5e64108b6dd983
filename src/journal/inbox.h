#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/ownership.h"
#include "journal/store.h"

namespace tenon::journal {

/// A request to the owner of a run from another process.
struct Command {
  std::uint64_t id = 0;
  RunName run;
  std::string bytes;  ///< opaque here
};

/// Maximum size of a command and of its reply.
inline constexpr std::size_t command_bytes_max = std::size_t{16} << 20U;
/// Replies that no sender took: beyond this number the oldest are dropped.
inline constexpr std::size_t replies_kept_max = 1'000;

struct CommandReply {
  std::uint64_t command = 0;  ///< its id
  std::string bytes;          ///< opaque here
};

/// A command to be sent.
struct NewCommand {
  RunName run;
  std::string_view bytes;
  /// Whether the command starts the run, which then need not exist.
  enum class StartsRun : bool { No, Yes } starts_run = StartsRun::No;
  std::string_view pool = {};  ///< of the hosts that may take it while no owner has the run
  OwnerId sender = {};         ///< is notified of the reply; none: the sender looks for it
  /// Owners that are not to get it. With some, sending fails with `Missing` if there is no one else.
  std::span<const OwnerId> except = {};
};

/// What a crash of the store's server may do to a reply that has just been given.
enum class ReplyDurability : bool {
  Full,          ///< nothing: the command is not given to anyone again
  MayBeRepeated  ///< it is lost, and the command given again. Quicker: for commands that are recognized then
};

/// The reply to a command, to be given.
struct CommandAnswer {
  std::uint64_t command = 0;  ///< its id
  std::string bytes;          ///< opaque here
  ReplyDurability durability = ReplyDurability::Full;
};

/// Who takes a command for a run, if one were sent now.
enum class CommandTaker : std::uint8_t {
  None,     ///< no process that lives; of a run that has ended, too
  Owner,    ///< the host that has the run
  Visitor,  ///< the process that has claimed the run by name, which starts no others
  Host,     ///< no one has the run, and a host of its pool would claim it
};

/// How processes ask the owner of a run to do something with it. A command goes to the run's owner. While the run has
/// none, it goes to a host that takes such commands: the one with the fewest runs. Used by one thread at a time.
class Inbox {
 public:
  virtual ~Inbox() = default;

  /// Leaves a command, durably, and announces it (journal/wakeups.h); any process may. Returns the command's id.
  [[nodiscard]] virtual Result<std::uint64_t, StoreError> send(const NewCommand& command) = 0;
  /// The same for several, with as few commits as the store needs. Returns the outcome of each.
  [[nodiscard]] virtual std::vector<Result<std::uint64_t, StoreError>> send_all(std::span<const NewCommand> commands);
  /// Owners that have died count as alive until another owner has noticed it. In a store in a file always `None`: who
  /// asks has the store, or its lock says who has it.
  [[nodiscard]] virtual Result<CommandTaker, StoreError> taker_of(const RunName& run) = 0;
  /// Gives commands whose owner has left or died, or that had none, to the owner that their run has now, or else to
  /// this one, if it is a host of their pool: the oldest ones. Returns how many.
  [[nodiscard]] virtual Result<std::size_t, StoreError> adopt(OwnerId /*owner*/, std::size_t /*limit*/) { return 0; }
  /// Returns unanswered commands for this owner, oldest first, without those that are `known`; they remain until they
  /// are answered.
  [[nodiscard]] virtual Result<std::vector<Command>, StoreError> unanswered(OwnerId owner,
                                                                            std::span<const std::uint64_t> known,
                                                                            std::size_t limit) = 0;
  [[nodiscard]] Result<std::vector<Command>, StoreError> unanswered(OwnerId owner, std::size_t limit) {
    return unanswered(owner, {}, limit);
  }
  /// Passes an unanswered command on: to the owner that its run has now, or to a host of the pool to which the run has
  /// moved. Does nothing if the run has no owner, and the pool that it had.
  [[nodiscard]] virtual Result<void, StoreError> redirect(std::uint64_t command) = 0;
  [[nodiscard]] virtual Result<void, StoreError> answer(std::uint64_t command, std::string_view reply,
                                                        ReplyDurability durability) = 0;
  [[nodiscard]] Result<void, StoreError> answer(std::uint64_t command, std::string_view reply) {
    return answer(command, reply, ReplyDurability::Full);
  }
  /// The same for several, as durable as the most durable of them. An error of one does not prevent the others.
  [[nodiscard]] virtual Result<void, StoreError> answer_all(std::span<const CommandAnswer> answers);
  /// Returns and removes the reply to a command; none while it is unanswered.
  [[nodiscard]] virtual Result<std::optional<std::string>, StoreError> take_reply(std::uint64_t command) = 0;
  /// Returns and removes the replies to those of the commands that were answered.
  [[nodiscard]] virtual Result<std::vector<CommandReply>, StoreError> take_replies(
      std::span<const std::uint64_t> commands) = 0;
  /// Those of the commands that are unanswered, and that no process which lives will take: their target has died or
  /// there was none, and their pool has no host.
  [[nodiscard]] virtual Result<std::vector<std::uint64_t>, StoreError> without_taker(
      std::span<const std::uint64_t> commands) = 0;
  /// Removes an unanswered command. False when it has been answered or removed.
  [[nodiscard]] virtual Result<bool, StoreError> withdraw(std::uint64_t command) = 0;
};

}  // namespace tenon::journal
