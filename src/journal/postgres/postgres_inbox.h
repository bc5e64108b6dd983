#pragma once

#include <set>
#include <string>
#include <vector>

#include "journal/inbox.h"
#include "journal/postgres/connection.h"

namespace tenon::journal::postgres {

/// Commands and replies are rows of one table; the owner of a row is notified of it when the row is durable.
class PostgresInbox final : public Inbox {
 public:
  explicit PostgresInbox(Connection& connection) : connection_(connection) {}

  [[nodiscard]] Result<std::uint64_t, StoreError> send(const NewCommand& command) override;
  [[nodiscard]] std::vector<Result<std::uint64_t, StoreError>> send_all(std::span<const NewCommand> commands) override;
  [[nodiscard]] Result<CommandTaker, StoreError> taker_of(const RunName& run) override;
  using Inbox::unanswered;
  [[nodiscard]] Result<std::size_t, StoreError> adopt(OwnerId owner, std::size_t limit) override;
  [[nodiscard]] Result<std::vector<Command>, StoreError> unanswered(OwnerId owner, std::span<const std::uint64_t> known,
                                                                    std::size_t limit) override;
  [[nodiscard]] Result<void, StoreError> redirect(std::uint64_t command) override;
  [[nodiscard]] Result<void, StoreError> answer(std::uint64_t command, std::string_view reply,
                                                ReplyDurability durability) override;
  [[nodiscard]] Result<void, StoreError> answer_all(std::span<const CommandAnswer> answers) override;
  [[nodiscard]] Result<std::optional<std::string>, StoreError> take_reply(std::uint64_t command) override;
  [[nodiscard]] Result<std::vector<CommandReply>, StoreError> take_replies(
      std::span<const std::uint64_t> commands) override;
  [[nodiscard]] Result<std::vector<std::uint64_t>, StoreError> without_taker(
      std::span<const std::uint64_t> commands) override;
  [[nodiscard]] Result<bool, StoreError> withdraw(std::uint64_t command) override;

 private:
  /// Returns the ids and the replies, null where there is none, of those commands that exist, and removes the rows of
  /// replies that were taken before.
  [[nodiscard]] Result<Rows, StoreError> read_replies(std::span<const std::uint64_t> commands);
  /// Wakes an owner for which there is a command now.
  void announce_command(std::int64_t owner);
  struct Group;  ///< commands that are sent together
  [[nodiscard]] bool leave_for_owners(Group& group);
  [[nodiscard]] bool leave_for_hosts(Group& group);
  void find_left(Group& group);
  [[nodiscard]] Result<std::uint64_t, StoreError> send_once(const NewCommand& command, std::int64_t token);
  [[nodiscard]] Result<std::optional<std::uint64_t>, StoreError> try_send(const NewCommand& command,
                                                                          std::int64_t token);
  [[nodiscard]] Result<std::uint64_t, StoreError> id_of(const Rows& inserted, const NewCommand& command) const;
  /// Wakes owners after a commit that concerns them.
  void announce(Session& session, const std::set<std::string>& owners, const std::string& what) const;

  Connection& connection_;
  /// Commands whose replies were taken, and whose rows are removed with the next call.
  std::vector<std::uint64_t> taken_;
};

}  // namespace tenon::journal::postgres
