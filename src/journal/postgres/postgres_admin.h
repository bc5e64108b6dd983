#pragma once

#include "journal/postgres/connection.h"
#include "journal/postgres/postgres_store.h"
#include "journal/postgres/transaction.h"
#include "journal/run_file.h"
#include "journal/store_admin.h"

namespace tenon::journal::postgres {

class PostgresAdmin final : public StoreAdmin {
 public:
  PostgresAdmin(Connection& connection, PostgresStore& store) : connection_(connection), store_(store) {}

  [[nodiscard]] Result<CheckReport, StoreError> check() override;
  [[nodiscard]] Result<std::string, StoreError> export_run(const RunName& run) override;
  [[nodiscard]] Result<Imported, StoreError> import_run(std::string_view bytes) override;
  [[nodiscard]] Result<Imported, StoreError> import_forgotten(const RunHead& head) override;
  [[nodiscard]] Result<void, StoreError> forget(const RunName& run, std::int64_t now_ms) override;
  [[nodiscard]] Result<void, StoreError> keep_note(const Note& note, std::int64_t now_ms) override;
  [[nodiscard]] Result<std::vector<Note>, StoreError> list_notes(std::string_view after, std::size_t limit) override;
  [[nodiscard]] Result<void, StoreError> backup(const std::string& path) override;
  [[nodiscard]] Result<void, StoreError> compact() override;

 private:
  /// Reads a run with everything that it has, in a transaction that shows one state.
  [[nodiscard]] Result<RunFile, StoreError> read_file(Session& session, const RunName& run);
  [[nodiscard]] Result<Imported, StoreError> import(Session& session, RunFile& file);
  [[nodiscard]] Result<void, StoreError> forget(Session& session, const RunName& run, std::int64_t now_ms);
  /// Copies everything into the store in a file, in one state.
  [[nodiscard]] Result<void, StoreError> copy_to(StoreConnection& file);
  [[nodiscard]] Result<void, StoreError> copy_run(Session& session, const RunRow& row, StoreConnection& file);
  [[nodiscard]] StoreError error(const SessionError& reason) const { return connection_.error(reason); }

  Connection& connection_;
  PostgresStore& store_;
};

}  // namespace tenon::journal::postgres
