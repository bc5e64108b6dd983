#pragma once

#include "journal/inbox.h"
#include "journal/sqlite/connection.h"
#include "journal/sqlite/lock_file_wakeups.h"

namespace tenon::journal::sqlite {

class SqliteInbox final : public Inbox {
 public:
  SqliteInbox(Connection& connection, LockFileWakeups& wakeups) : connection_(connection), wakeups_(wakeups) {}

  [[nodiscard]] Result<std::uint64_t, StoreError> send(const NewCommand& command) override;
  [[nodiscard]] Result<CommandTaker, StoreError> taker_of(const RunName& /*run*/) override {
    return CommandTaker::None;
  }
  using Inbox::unanswered;
  [[nodiscard]] Result<std::vector<Command>, StoreError> unanswered(OwnerId owner, std::span<const std::uint64_t> known,
                                                                    std::size_t limit) override;
  /// There is no other owner.
  [[nodiscard]] Result<void, StoreError> redirect(std::uint64_t /*command*/) override { return {}; }
  [[nodiscard]] Result<void, StoreError> answer(std::uint64_t command, std::string_view reply,
                                                ReplyDurability durability) override;
  [[nodiscard]] Result<std::optional<std::string>, StoreError> take_reply(std::uint64_t command) override;
  [[nodiscard]] Result<std::vector<CommandReply>, StoreError> take_replies(
      std::span<const std::uint64_t> commands) override;
  /// Only the owner's death would leave them, which the sender cannot know.
  [[nodiscard]] Result<std::vector<std::uint64_t>, StoreError> without_taker(
      std::span<const std::uint64_t> /*commands*/) override {
    return std::vector<std::uint64_t>{};
  }
  [[nodiscard]] Result<bool, StoreError> withdraw(std::uint64_t command) override;

 private:
  Connection& connection_;
  LockFileWakeups& wakeups_;
};

}  // namespace tenon::journal::sqlite
