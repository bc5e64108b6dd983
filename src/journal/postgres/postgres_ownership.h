#pragma once

#include "journal/ownership.h"
#include "journal/postgres/claims.h"
#include "journal/postgres/keeper.h"

namespace tenon::journal::postgres {

class PostgresOwnership final : public Ownership {
 public:
  /// `keeper`: null for a reader.
  PostgresOwnership(Connection& connection, Claims& claims, Keeper* keeper)
      : connection_(connection), claims_(claims), keeper_(keeper) {}

  [[nodiscard]] OwnerId self() const override { return {static_cast<std::uint64_t>(connection_.owner())}; }
  [[nodiscard]] LeaseState lease() override { return keeper_ == nullptr ? LeaseState::Held : keeper_->lease(); }
  void report_load(std::uint64_t runs) override {
    if (keeper_ != nullptr) keeper_->report_load(runs);
  }
  [[nodiscard]] bool is_sole() const override { return false; }
  [[nodiscard]] std::uint64_t abandonments() const override { return keeper_ == nullptr ? 0 : keeper_->abandonments(); }
  [[nodiscard]] std::uint64_t given() const override { return keeper_ == nullptr ? 0 : keeper_->given(); }
  [[nodiscard]] Result<std::vector<RunHead>, StoreError> claim_abandoned(std::size_t limit,
                                                                         std::span<const RunName> except) override;
  using Ownership::claim_abandoned;
  [[nodiscard]] Result<void, StoreError> release(std::span<const RunName> runs) override {
    return claims_.release(runs);
  }
  [[nodiscard]] Result<void, StoreError> give_back(std::span<const RunName> runs) override;
  [[nodiscard]] Result<void, StoreError> rejoin() override;
  [[nodiscard]] Result<std::vector<std::string>, StoreError> pools_without_hosts() override;
  [[nodiscard]] Result<std::vector<Owner>, StoreError> owners() override;

 private:
  Connection& connection_;
  Claims& claims_;
  Keeper* const keeper_;
  std::uint64_t searched_after_ = 0;  ///< abandonments
};

}  // namespace tenon::journal::postgres
