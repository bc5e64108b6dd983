#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "journal/postgres/append_plan.h"
#include "journal/postgres/append_statement.h"
#include "journal/postgres/connection.h"

namespace tenon::journal::postgres {

/// Commits appends. What the server answers decides, never what this process knows: an append whose fence does not
/// match is looked at again with the run's row, and a commit whose outcome was lost with its connection is compared
/// with the rows of its runs before it is reported or repeated. Used by one thread at a time.
class Appender {
 public:
  explicit Appender(Connection& connection) : connection_(connection) {}

  /// As Store::commit.
  [[nodiscard]] Result<AppendOutcomes, StoreError> commit(std::span<const Append> appends);
  [[nodiscard]] KnownRuns& known() { return known_; }

 private:
  /// A commit that is being performed.
  struct Commit {
    Commit(std::span<const Append> given, KnownRuns& known);
    std::span<const Append> appends;
    AppendPlanner planner;
    AppendOutcomes outcomes;
    std::set<std::size_t> open;  ///< places of appends without an outcome
    std::size_t doubts = 0;      ///< how often its outcome was lost
  };
  using Done = Result<void, StoreError>;

  [[nodiscard]] Done read_what_is_unknown(const AppendPlan& plan, Commit& commit);
  /// Returns the rows of those of the runs that exist, which the planner has then.
  [[nodiscard]] Result<std::vector<RunRow>, StoreError> read_rows(const std::vector<RunName>& runs, Commit& commit);
  /// As ServerLink::query, and waits for the server until the store is closed.
  [[nodiscard]] Result<Rows, StoreError> query(const Statement& statement, const Parameters& parameters = {});
  [[nodiscard]] Result<std::vector<std::int64_t>, StoreError> take_ids(std::size_t count);
  /// Performs a plan. Afterwards the appends that have no outcome are to be planned again.
  [[nodiscard]] Done perform(AppendPlan& plan, Commit& commit);
  [[nodiscard]] Done on_rejected(const SessionError& reason, const AppendPlan& plan, Commit& commit);
  [[nodiscard]] Done find_older_notes(const AppendPlan& plan, Commit& commit);
  /// Finds out what became of a transaction whose outcome was lost with its session.
  [[nodiscard]] Done resolve_doubt(const SessionError& reason, const AppendPlan& plan, Commit& commit);
  static void note_applied(const Layer& layer, const RunStep& step, Commit& commit);

  Connection& connection_;
  KnownRuns known_;
  AppendStatements statements_;
  std::vector<std::int64_t> free_ids_;  ///< for new runs
  std::int64_t notes_cleared_at_ = INT64_MIN;
};

}  // namespace tenon::journal::postgres
