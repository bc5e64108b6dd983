#pragma once

#include "journal/ownership.h"
#include "journal/sqlite/sqlite_store.h"

namespace tenon::journal::sqlite {

/// The lock on the file makes one process the owner of all runs, for as long as it has the store open.
class SqliteOwnership final : public Ownership {
 public:
  SqliteOwnership(Connection& connection, SqliteStore& store) : connection_(connection), store_(store) {}

  [[nodiscard]] OwnerId self() const override;
  [[nodiscard]] LeaseState lease() override { return LeaseState::Held; }
  void report_load(std::uint64_t /*runs*/) override {}
  [[nodiscard]] bool is_sole() const override { return true; }
  [[nodiscard]] std::uint64_t abandonments() const override { return 0; }
  [[nodiscard]] std::uint64_t given() const override { return 0; }
  [[nodiscard]] Result<std::vector<RunHead>, StoreError> claim_abandoned(std::size_t limit,
                                                                         std::span<const RunName> except) override;
  using Ownership::claim_abandoned;
  [[nodiscard]] Result<void, StoreError> release(std::span<const RunName> /*runs*/) override { return {}; }
  [[nodiscard]] Result<void, StoreError> give_back(std::span<const RunName> /*runs*/) override { return {}; }
  [[nodiscard]] Result<void, StoreError> rejoin() override { return {}; }
  [[nodiscard]] Result<std::vector<std::string>, StoreError> pools_without_hosts() override {
    return std::vector<std::string>{};
  }
  [[nodiscard]] Result<std::vector<Owner>, StoreError> owners() override;

 private:
  Connection& connection_;
  SqliteStore& store_;
};

}  // namespace tenon::journal::sqlite
