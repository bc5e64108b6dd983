#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "journal/batch.h"
#include "journal/sqlite/append.h"
#include "journal/sqlite/connection.h"
#include "journal/store.h"

namespace tenon::journal::sqlite {

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(Connection& connection) : connection_(connection), appender_(connection) {}

  [[nodiscard]] Result<AppendOutcomes, StoreError> commit(std::span<const Append> appends) override;
  [[nodiscard]] Result<ClaimOutcomes, StoreError> claim(std::span<const RunName> runs, ClaimMode mode) override;
  /// The next of the runs that had work to do when this was first called, and that were not claimed since.
  [[nodiscard]] Result<std::vector<RunName>, StoreError> take_unclaimed(std::size_t limit);
  [[nodiscard]] Result<RunHead, StoreError> head(const RunName& run) override;
  [[nodiscard]] Result<std::vector<Record>, StoreError> read(const RunName& run, std::uint64_t after,
                                                             std::size_t limit) override;
  [[nodiscard]] Result<std::optional<Snapshot>, StoreError> snapshot(const RunName& run) override;
  [[nodiscard]] Result<std::string, StoreError> content(const RunName& run, const Hash& hash) override;
  [[nodiscard]] Result<std::optional<Note>, StoreError> find_note(std::string_view key) override;
  [[nodiscard]] Result<void, StoreError> maintain() override { return connection_.maintain(); }

 private:
  [[nodiscard]] Result<RunHead, StoreError> claim_one(const RunName& run);
  /// Returns the id of a run that was not forgotten. It never changes.
  [[nodiscard]] Result<std::int64_t, StoreError> find_run_id(const RunName& run);

  Connection& connection_;
  Appender appender_;
  std::optional<std::set<std::string>> unclaimed_;  ///< names; nothing: they were not read yet
  std::pair<std::string, std::int64_t> run_id_;     ///< of the run whose content was read last
  BatchDecoder batches_;                            ///< of `read`
};

}  // namespace tenon::journal::sqlite
