#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "journal/batch.h"
#include "journal/postgres/connection.h"
#include "journal/postgres/run_rows.h"
#include "journal/store.h"

namespace tenon::journal::postgres {

/// Reads runs. What belongs to the run that is read is fetched ahead, because each question to the server takes a round
/// trip. Used by one thread at a time.
class RunReading {
 public:
  explicit RunReading(Connection& connection) : connection_(connection) {}

  /// `Missing` for a run that does not exist; a forgotten one has a row.
  [[nodiscard]] Result<RunRow, StoreError> row(const RunName& run);
  /// `Missing` also for a forgotten one.
  [[nodiscard]] Result<RunRow, StoreError> living_row(const RunName& run);
  [[nodiscard]] Result<std::vector<Record>, StoreError> read(const RunName& run, std::uint64_t after,
                                                             std::size_t limit);
  [[nodiscard]] Result<std::optional<Snapshot>, StoreError> snapshot(const RunName& run);
  [[nodiscard]] Result<std::string, StoreError> content(const RunName& run, const Hash& hash);
  /// What was fetched ahead may not be true any more.
  void forget_fetched() { ahead_ = {}; }

 private:
  struct Piece;
  /// A row that is damaged is derived from the run's records, if they can be read. `rows`: that it was read from.
  [[nodiscard]] RunRow believed(RunRow row, const Rows& rows);
  [[nodiscard]] Result<Piece, StoreError> read_piece(const RunName& run, std::uint64_t after, std::size_t limit);
  [[nodiscard]] Result<void, StoreError> fetch(const RunName& run, const Hash& hash);

  /// Contents of the run that was read last.
  struct Ahead {
    std::string run;
    std::vector<Hash> referenced{};  ///< by records that were read, and not fetched; the newest are last
    std::unordered_map<Hash, std::string> fetched{};
  };

  Connection& connection_;
  Ahead ahead_;
  BatchDecoder batches_;
};

}  // namespace tenon::journal::postgres
