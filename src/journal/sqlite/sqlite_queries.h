#pragma once

#include "journal/run_queries.h"
#include "journal/sqlite/connection.h"

namespace tenon::journal::sqlite {

class SqliteQueries final : public RunQueries {
 public:
  explicit SqliteQueries(Connection& connection) : connection_(connection) {}

  [[nodiscard]] Result<std::vector<RunHead>, StoreError> list(const RunFilter& filter) override;
  [[nodiscard]] Result<std::vector<DueRun>, StoreError> due(const DueFilter& filter) override;
  [[nodiscard]] Result<std::optional<std::int64_t>, StoreError> next_due(const std::optional<DueRun>& after,
                                                                         OwnerId owner) override;
  [[nodiscard]] Result<std::optional<RunName>, StoreError> newest() override;
  [[nodiscard]] Result<StoreCounts, StoreError> count() override;

 private:
  [[nodiscard]] Result<std::vector<RunHead>, StoreError> read_heads(Execution& query);

  Connection& connection_;
};

}  // namespace tenon::journal::sqlite
