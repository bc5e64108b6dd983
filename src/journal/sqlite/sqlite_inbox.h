#pragma once

#include "journal/inbox.h"
#include "journal/sqlite/connection.h"
#include "journal/wakeups.h"

namespace tenon::journal::sqlite {

class SqliteInbox final : public Inbox {
 public:
  SqliteInbox(Connection& connection, Wakeups& wakeups) : connection_(connection), wakeups_(wakeups) {}

  [[nodiscard]] Result<std::uint64_t, StoreError> send(const RunName& run, std::string_view bytes) override;
  [[nodiscard]] Result<std::vector<Command>, StoreError> unanswered(std::size_t limit) override;
  [[nodiscard]] Result<void, StoreError> answer(std::uint64_t command, std::string_view reply) override;
  [[nodiscard]] Result<std::optional<std::string>, StoreError> take_reply(std::uint64_t command) override;
  [[nodiscard]] Result<bool, StoreError> withdraw(std::uint64_t command) override;

 private:
  Connection& connection_;
  Wakeups& wakeups_;
};

}  // namespace tenon::journal::sqlite
