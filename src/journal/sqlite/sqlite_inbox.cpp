// Commands of other processes and the owner's replies are rows of one table, so that both sides see them at once.
#include "journal/sqlite/sqlite_inbox.h"

#include <fmt/format.h>

#include <algorithm>

#include "journal/sqlite/run_rows.h"

namespace tenon::journal::sqlite {
namespace {

StoreError too_large(const Database& database, std::string_view what, std::size_t size) {
  return {StoreError::Kind::TooLarge, fmt::format("{}: {} has {} bytes (maximum {}, command_bytes_max)",
                                                  database.name(), what, size, command_bytes_max)};
}

/// Allows a reader's connection to write while this exists.
class WritesToInbox {
 public:
  WritesToInbox(Database& database, Access access) : database_(database), access_(access) {}
  WritesToInbox(const WritesToInbox&) = delete;
  WritesToInbox& operator=(const WritesToInbox&) = delete;
  ~WritesToInbox() {
    if (access_ == Access::Reader) static_cast<void>(database_.execute("PRAGMA query_only = ON"));
  }
  [[nodiscard]] Result<void, StoreError> allow() {
    return access_ == Access::Reader ? database_.execute("PRAGMA query_only = OFF") : Result<void, StoreError>{};
  }

 private:
  Database& database_;
  Access access_;
};

}  // namespace

Result<std::uint64_t, StoreError> SqliteInbox::send(const NewCommand& command) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  if (command.bytes.size() > command_bytes_max)
    return failure(too_large(connection_.database(), "a command", command.bytes.size()));
  WritesToInbox writes(connection_.database(), connection_.access());
  if (auto done = writes.allow(); !done) return failure(done.error());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  if (command.starts_run == NewCommand::StartsRun::No)
    if (const auto row = get_run(connection_, command.run); !row) return failure(row.error());
  Execution insert(connection_.statements().insert_command);
  if (auto done = insert.text(command.run.text).blob(command.bytes).finish(); !done) return failure(done.error());
  const auto id = static_cast<std::uint64_t>(connection_.database().last_row());
  if (auto done = transaction.commit(); !done) return failure(done.error());
  wakeups_.announce();
  return id;
}

Result<std::vector<Command>, StoreError> SqliteInbox::unanswered(OwnerId /*owner*/,
                                                                 std::span<const std::uint64_t> known,
                                                                 std::size_t limit) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  Execution query(connection_.statements().select_commands);
  query.integer(row_limit(limit + known.size()));
  std::vector<Command> commands;
  while (true) {
    const StepResult step = query.step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done || commands.size() == limit) return commands;
    const bool is_known = std::ranges::find(known, query.get_unsigned(0)) != known.end();
    if (is_known) continue;
    commands.push_back({query.get_unsigned(0), {std::string(query.get_bytes(1))}, std::string(query.get_bytes(2))});
  }
}

Result<void, StoreError> SqliteInbox::answer(std::uint64_t command, std::string_view reply,
                                             ReplyDurability /*durability*/) {
  if (auto writable = connection_.require_writable(); !writable) return writable;
  if (reply.size() > command_bytes_max) return failure(too_large(connection_.database(), "a reply", reply.size()));
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  if (auto done = Execution(connection_.statements().answer_command).integer(command).blob(reply).finish(); !done)
    return failure(done.error());
  if (connection_.database().changes() == 0)
    return failure(StoreError{StoreError::Kind::Missing,
                              fmt::format("{}: there is no unanswered command {}", connection_.name(), command)});
  if (auto done =
          Execution(connection_.statements().drop_old_replies).integer(std::uint64_t{replies_kept_max - 1}).finish();
      !done)
    return failure(done.error());
  return transaction.commit();
}

Result<std::optional<std::string>, StoreError> SqliteInbox::take_reply(std::uint64_t command) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  std::optional<std::string> reply;
  {
    Execution query(connection_.statements().select_reply);
    const StepResult step = query.integer(command).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done)
      return failure(
          StoreError{StoreError::Kind::Missing,
                     fmt::format("{}: there is no command {}: its reply was taken or dropped, or its run was "
                                 "forgotten",
                                 connection_.name(), command)});
    if (!query.find_bytes(0)) return std::optional<std::string>{};
    reply.emplace(*query.find_bytes(0));
  }
  WritesToInbox writes(connection_.database(), connection_.access());
  if (auto done = writes.allow(); !done) return failure(done.error());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  if (auto done = Execution(connection_.statements().delete_command).integer(command).finish(); !done)
    return failure(done.error());
  if (auto done = transaction.commit(); !done) return failure(done.error());
  return reply;
}

Result<std::vector<CommandReply>, StoreError> SqliteInbox::take_replies(std::span<const std::uint64_t> commands) {
  std::vector<CommandReply> replies;
  for (const std::uint64_t command : commands) {
    auto reply = take_reply(command);
    if (!reply && reply.error().kind == StoreError::Kind::Missing) continue;  // its run was forgotten
    if (!reply) return failure(reply.error());
    if (*reply) replies.push_back({command, std::move(**reply)});
  }
  return replies;
}

Result<bool, StoreError> SqliteInbox::withdraw(std::uint64_t command) {
  if (auto usable = connection_.require_usable(); !usable) return failure(usable.error());
  WritesToInbox writes(connection_.database(), connection_.access());
  if (auto done = writes.allow(); !done) return failure(done.error());
  Transaction transaction(connection_.database());
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  if (auto done = Execution(connection_.statements().withdraw_command).integer(command).finish(); !done)
    return failure(done.error());
  const bool was_there = connection_.database().changes() == 1;
  if (auto done = transaction.commit(); !done) return failure(done.error());
  return was_there;
}

}  // namespace tenon::journal::sqlite
