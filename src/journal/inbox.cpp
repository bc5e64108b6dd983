// Commands of other processes. They and the owner's answers are rows of one table, so all can see them at once.
#include <fmt/format.h>

#include <algorithm>

#include "journal/sqlite_store.h"

namespace tenon::journal {
namespace {

StoreError too_large(const Database& database, std::string_view what, std::size_t size) {
  return {StoreError::Kind::TooLarge, fmt::format("{}: {} of {} bytes; {} at most (command_bytes_max)", database.path(),
                                                  what, size, command_bytes_max)};
}

/// A reader's connection refuses to write but for as long as this stands.
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

Result<std::uint64_t, StoreError> SqliteStore::send(const RunName& run, std::string_view bytes) {
  if (database_->broken()) return failure(*database_->broken());
  if (bytes.size() > command_bytes_max) return failure(too_large(*database_, "a command", bytes.size()));
  WritesToInbox writes(*database_, options_.access);
  if (auto done = writes.allow(); !done) return failure(done.error());
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  const auto row = get_run(run);
  if (!row) return failure(row.error());
  if (auto done = Execution(statements_.insert_command).text(run.text).blob(bytes).finish(); !done)
    return failure(done.error());
  const auto id = static_cast<std::uint64_t>(database_->last_row());
  if (auto done = transaction.commit(); !done) return failure(done.error());
  if (options_.access == Access::Owner) seen_data_version_ = -1;  // its own writes do not count as others'
  return id;
}

Result<std::vector<Command>, StoreError> SqliteStore::inbox(std::size_t limit) {
  if (database_->broken()) return failure(*database_->broken());
  static_cast<void>(inbox_may_have_changed());  // what comes from here on counts as new
  Execution query(statements_.select_commands);
  query.integer(static_cast<std::int64_t>(std::min<std::size_t>(limit, INT64_MAX)));
  std::vector<Command> commands;
  while (true) {
    const StepResult step = query.step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done) return commands;
    commands.push_back({query.get_unsigned(0), {std::string(query.get_bytes(1))}, std::string(query.get_bytes(2))});
  }
}

Result<void, StoreError> SqliteStore::answer(std::uint64_t command, std::string_view reply) {
  if (const auto refusal = refuse_writing()) return failure(*refusal);
  if (reply.size() > command_bytes_max) return failure(too_large(*database_, "a reply", reply.size()));
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  if (auto done = Execution(statements_.answer_command).integer(command).blob(reply).finish(); !done)
    return failure(done.error());
  if (database_->changes() == 0)
    return failure(StoreError{StoreError::Kind::Missing,
                              fmt::format("{}: no command {} waits for an answer", database_->path(), command)});
  if (auto done = Execution(statements_.drop_old_replies).integer(std::uint64_t{replies_kept_max - 1}).finish(); !done)
    return failure(done.error());
  return transaction.commit();
}

Result<std::optional<std::string>, StoreError> SqliteStore::take_reply(std::uint64_t command) {
  if (database_->broken()) return failure(*database_->broken());
  std::optional<std::string> reply;
  {
    Execution query(statements_.select_reply);
    const StepResult step = query.integer(command).step();
    if (step == StepResult::Failed) return failure(query.error());
    if (step == StepResult::Done)
      return failure(
          StoreError{StoreError::Kind::Missing,
                     fmt::format("{}: there is no command {}: its reply was taken or dropped, or its run was "
                                 "forgotten",
                                 database_->path(), command)});
    if (!query.find_bytes(0)) return std::optional<std::string>{};
    reply.emplace(*query.find_bytes(0));
  }
  WritesToInbox writes(*database_, options_.access);
  if (auto done = writes.allow(); !done) return failure(done.error());
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  if (auto done = Execution(statements_.delete_command).integer(command).finish(); !done) return failure(done.error());
  if (auto done = transaction.commit(); !done) return failure(done.error());
  return reply;
}

Result<bool, StoreError> SqliteStore::withdraw(std::uint64_t command) {
  if (database_->broken()) return failure(*database_->broken());
  WritesToInbox writes(*database_, options_.access);
  if (auto done = writes.allow(); !done) return failure(done.error());
  Transaction transaction(*database_);
  if (auto done = transaction.begin(Transaction::Kind::Write); !done) return failure(done.error());
  if (auto done = Execution(statements_.withdraw_command).integer(command).finish(); !done)
    return failure(done.error());
  const bool was_there = database_->changes() == 1;
  if (auto done = transaction.commit(); !done) return failure(done.error());
  return was_there;
}

bool SqliteStore::inbox_may_have_changed() {
  if (database_->broken()) return false;
  Execution query(statements_.data_version);
  if (query.step() != StepResult::Row) return true;
  const std::int64_t version = query.get_integer(0);
  const bool has_changed = version != seen_data_version_;
  seen_data_version_ = version;
  return has_changed;
}

}  // namespace tenon::journal
