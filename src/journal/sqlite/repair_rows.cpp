#include "journal/sqlite/repair_rows.h"

#include <fmt/format.h>

#include "journal/sqlite/derive_row.h"

namespace tenon::journal::sqlite {
namespace {

/// Keeps the sum of times within 64 bits for every number of runs.
constexpr std::int64_t time_modulus = 1'000'003;

/// What an index has in common with the rows that it was built from, without its order.
struct Totals {
  std::int64_t rows = 0;
  std::int64_t keys = 0;
  std::int64_t ids = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
  void add(std::int64_t key, std::int64_t id) {
    ++rows;
    keys += key;
    ids += id;
  }
};

class RowRepair {
 public:
  explicit RowRepair(Connection& connection) : connection_(connection) {}

  Result<std::vector<std::string>, StoreError> run() {
    if (auto done = read_rows(); !done) return failure(done.error());
    auto agree = damaged_.empty() ? do_indexes_agree() : Result<bool, StoreError>(false);
    if (!agree) return failure(agree.error());
    if (!*agree) {
      if (damaged_.empty())
        notices_.push_back(
            fmt::format("{}: an index of the runs was damaged and has been built again", connection_.name()));
      // Before the rows are changed: SQLite changes none that an index contradicts.
      if (auto done = connection_.database().execute("REINDEX runs"); !done) return failure(done.error());
    }
    for (const RunRow& row : damaged_)
      if (auto done = repair(row); !done) return failure(done.error());
    return std::move(notices_);
  }

 private:
  Result<void, StoreError> read_rows() {
    // By the rows' own order: none of their indexes is trusted here.
    Statement statement(connection_.database(), "SELECT " TENON_RUN_COLUMNS " FROM runs NOT INDEXED");
    Execution query(statement);
    while (true) {
      const StepResult step = query.step();
      if (step == StepResult::Failed) return failure(query.error());
      if (step == StepResult::Done) return {};
      add_totals(query);
      if (is_intact_run_row(query)) continue;
      damaged_.push_back(read_unverified_run_row(query));
    }
  }

  void add_totals(const Execution& row) {
    by_state_.add(row.get_integer(8), row.get_integer(0));
    if (const auto wake_at = row.find_integer(9)) by_wake_at_.add(*wake_at % time_modulus, row.get_integer(0));
  }

  Result<void, StoreError> repair(const RunRow& damaged) {
    const auto derived = derive_run_row(connection_.database(), damaged);
    if (!derived) return failure(derived.error());
    if (!derived->problem.empty()) {
      notices_.push_back(fmt::format("{}: run {}: its row is damaged, and its records cannot be read: {}",
                                     connection_.name(), damaged.head.run.text, derived->problem));
      return {};
    }
    const RunRow& row = derived->row;
    const RunSummary& summary = row.head.summary;
    Statement statement(connection_.database(),
                        "UPDATE runs SET id = ?2, name = ?3, records = ?4, chain = ?5, last_batch = ?6, state = ?7, "
                        "wake_at = ?8, title = ?9, detail = ?10, checksum = ?11 WHERE id = ?1");
    if (auto done = Execution(statement)
                        .integer(damaged.id)
                        .integer(row.id)
                        .text(row.head.run.text)
                        .integer(row.head.records)
                        .blob(row.head.chain.view())
                        .integer(row.last_batch)
                        .integer(static_cast<std::int64_t>(summary.state))
                        .optional(summary.wake_at)
                        .text(summary.title)
                        .text(summary.detail)
                        .integer(checksum_of(row))
                        .finish();
        !done)
      return done;
    notices_.push_back(fmt::format("{}: the summary of run {} was damaged; it is derived from the run's records",
                                   connection_.name(), row.head.run.text));
    return {};
  }

  Result<Totals, StoreError> totals(const std::string& sql) {
    Statement statement(connection_.database(), sql.c_str());
    Execution query(statement);
    if (query.step() != StepResult::Row) return failure(query.error());
    return Totals{query.get_integer(0), query.get_integer(1), query.get_integer(2)};
  }

  Result<bool, StoreError> do_indexes_agree() {
    const auto by_state =
        totals("SELECT count(*), ifnull(sum(state), 0), ifnull(sum(id), 0) FROM runs INDEXED BY runs_by_state");
    if (!by_state) return failure(by_state.error());
    const auto by_wake_at =
        totals(fmt::format("SELECT count(*), ifnull(sum(wake_at % {}), 0), ifnull(sum(id), 0) FROM runs INDEXED BY "
                           "runs_by_wake_at WHERE wake_at IS NOT NULL",
                           time_modulus));
    if (!by_wake_at) return failure(by_wake_at.error());
    return *by_state == by_state_ && *by_wake_at == by_wake_at_;
  }

  Connection& connection_;
  std::vector<RunRow> damaged_;
  std::vector<std::string> notices_;
  Totals by_state_;
  Totals by_wake_at_;
};

}  // namespace

Result<std::vector<std::string>, StoreError> repair_run_rows(Connection& connection) {
  return RowRepair(connection).run();
}

}  // namespace tenon::journal::sqlite
