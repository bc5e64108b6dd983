#pragma once

#include "journal/postgres/connection.h"
#include "journal/postgres/run_rows.h"
#include "journal/run_file.h"
#include "journal/store_admin.h"

namespace tenon::journal::postgres {

/// Adds a run that was read from a file: all of it or nothing. The run has no owner then.
class RunImport {
 public:
  /// Both outlive it.
  RunImport(Connection& connection, const RunFile& file) : connection_(connection), file_(file) {}

  [[nodiscard]] Result<Imported, StoreError> perform();

 private:
  using Done = Result<void, SessionError>;

  /// Adds everything in a transaction. False if there is a run of the name.
  [[nodiscard]] Result<bool, SessionError> add(Session& session);
  [[nodiscard]] Result<bool, SessionError> add_row(Session& session);
  [[nodiscard]] Done add_batches(Session& session);
  [[nodiscard]] Done add_contents(Session& session);
  /// Whether the run that is there is the same.
  [[nodiscard]] Result<Imported, StoreError> compare();

  Connection& connection_;
  const RunFile& file_;
  RunRow row_;
};

}  // namespace tenon::journal::postgres
