#pragma once

#include "journal/inbox.h"
#include "journal/sqlite/connection.h"

namespace tenon::journal::sqlite {

class SqliteInbox final : public Inbox {
 public:
  explicit SqliteInbox(Connection& connection) : connection_(connection) {}

  [[nodiscard]] Result<std::uint64_t, StoreError> send(const RunName& run, std::string_view bytes) override;
  [[nodiscard]] Result<std::vector<Command>, StoreError> unanswered(std::size_t limit) override;
  [[nodiscard]] Result<void, StoreError> answer(std::uint64_t command, std::string_view reply) override;
  [[nodiscard]] Result<std::optional<std::string>, StoreError> take_reply(std::uint64_t command) override;
  [[nodiscard]] Result<bool, StoreError> withdraw(std::uint64_t command) override;
  [[nodiscard]] bool may_have_changed() override;

 private:
  Connection& connection_;
  std::int64_t seen_data_version_ = -1;
};

}  // namespace tenon::journal::sqlite
