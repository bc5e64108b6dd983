#pragma once

#include "journal/postgres/appender.h"
#include "journal/postgres/claims.h"
#include "journal/postgres/keeper.h"
#include "journal/postgres/run_reading.h"
#include "journal/store.h"

namespace tenon::journal::postgres {

class PostgresStore final : public Store {
 public:
  /// `keeper`: of an owner; null for a reader.
  PostgresStore(Connection& connection, Keeper* keeper) : connection_(connection), keeper_(keeper) {}

  [[nodiscard]] Result<AppendOutcomes, StoreError> commit(std::span<const Append> appends) override;
  [[nodiscard]] Result<ClaimOutcomes, StoreError> claim(std::span<const RunName> runs, ClaimMode mode) override {
    return claims_.claim(runs, mode);
  }
  [[nodiscard]] Result<RunHead, StoreError> head(const RunName& run) override;
  [[nodiscard]] Result<std::vector<Record>, StoreError> read(const RunName& run, std::uint64_t after,
                                                             std::size_t limit) override {
    return reading_.read(run, after, limit);
  }
  [[nodiscard]] Result<std::optional<Snapshot>, StoreError> snapshot(const RunName& run) override {
    return reading_.snapshot(run);
  }
  [[nodiscard]] Result<std::string, StoreError> content(const RunName& run, const Hash& hash) override {
    return reading_.content(run, hash);
  }
  [[nodiscard]] Result<std::optional<Note>, StoreError> find_note(std::string_view key) override;
  [[nodiscard]] Result<std::vector<std::optional<Note>>, StoreError> find_notes(
      std::span<const std::string> keys) override;
  /// The server keeps its own house.
  [[nodiscard]] Result<void, StoreError> maintain() override { return {}; }

  [[nodiscard]] Claims& claims() { return claims_; }
  [[nodiscard]] RunReading& reading() { return reading_; }
  /// Another part of the connection has changed runs.
  void forget_known();

 private:
  Connection& connection_;
  Keeper* const keeper_;
  Appender appender_{connection_};
  Claims claims_{connection_, appender_.known()};
  RunReading reading_{connection_};
};

}  // namespace tenon::journal::postgres
