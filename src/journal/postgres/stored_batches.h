#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "journal/batch.h"
#include "journal/postgres/run_rows.h"
#include "journal/postgres/session.h"

namespace tenon::journal::postgres {

/// A row of `batches`.
struct BatchRow {
  std::int64_t run = 0;
  std::uint64_t first = 0;
  std::uint64_t append = 0;
  std::uint64_t count = 0;
  Hash chain_before = {};
  std::string_view bytes = {};  ///< valid during the visit
};

/// Reads all rows from the one after `run` and `first` 0 on, in the order of their keys, in pieces. The visit ends the
/// reading by returning false. In one transaction, or they are not of one state.
[[nodiscard]] Result<void, SessionError> visit_batches(Session& session, std::optional<std::int64_t> run,
                                                       const std::function<bool(const BatchRow&)>& visit);

/// What is wrong with a run's batches.
struct BatchesProblem {
  std::uint64_t record = 0;
  std::string_view what;
};

/// Compares a run's batches with each other and, at their end, with the run's head.
class BatchCheck {
 public:
  explicit BatchCheck(const RunName& run) : chain_(chain_start(run)) {}
  /// The next batch, which is decoded.
  [[nodiscard]] Result<Batch, BatchesProblem> next(const BatchRow& row);
  [[nodiscard]] std::optional<BatchesProblem> finish(const RunHead& head) const;
  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] const Hash& chain() const { return chain_; }
  /// The number of the last append that has a batch.
  [[nodiscard]] std::uint64_t last_append() const { return last_append_; }

 private:
  Hash chain_;
  std::uint64_t records_ = 0;
  std::uint64_t last_append_ = 0;
};

}  // namespace tenon::journal::postgres
