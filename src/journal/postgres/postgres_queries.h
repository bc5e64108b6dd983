#pragma once

#include "journal/postgres/connection.h"
#include "journal/run_queries.h"

namespace tenon::journal::postgres {

class PostgresQueries final : public RunQueries {
 public:
  explicit PostgresQueries(Connection& connection) : connection_(connection) {}

  [[nodiscard]] Result<std::vector<RunHead>, StoreError> list(const RunFilter& filter) override;
  [[nodiscard]] Result<std::vector<DueRun>, StoreError> due(const DueFilter& filter) override;
  [[nodiscard]] Result<std::optional<std::int64_t>, StoreError> next_due(const std::optional<DueRun>& after,
                                                                         OwnerId owner) override;
  [[nodiscard]] Result<std::optional<RunName>, StoreError> newest() override;
  [[nodiscard]] Result<StoreCounts, StoreError> count() override;

 private:
  Connection& connection_;
};

}  // namespace tenon::journal::postgres
