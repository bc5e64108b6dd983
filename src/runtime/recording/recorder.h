#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "runtime/scheduling/run_state.h"

namespace tenon::runtime {

/// Adds the records of what happens to a run's journal, as docs/internals/journal.md describes them. They become
/// durable with the run's next commit.
class Recorder {
 public:
  /// `clock` outlives this.
  explicit Recorder(Clock& clock) : clock_(clock) {}

  /// Milliseconds since 1970.
  [[nodiscard]] std::int64_t now_ms() const { return wall_ms(clock_); }
  /// The same for what happens in a run: never less than before, although another process with another clock may have
  /// continued the run before.
  [[nodiscard]] std::int64_t now_ms(Run& run) const { return run.newest_time = std::max(run.newest_time, now_ms()); }

  /// The run has waited until this time, by the monotonic clock: what follows in it is not earlier, although the wall
  /// clock may not have come to it.
  static void reach(Run& run, std::int64_t time) { run.newest_time = std::max(run.newest_time, time); }

  /// The same moments by both clocks.
  [[nodiscard]] Moment moment() const { return {now_ms(), clock_.monotonic()}; }
  [[nodiscard]] Moment moment(Run& run) const { return {now_ms(run), clock_.monotonic()}; }

  void add(Run& run, effects::RecordBody&& body);
  void add_request(Run& run, OpenRequest& open);
  /// What was refused since the run's last outcome.
  void add_refusals(Run& run);
  /// Before the machine gets it; takes `arrived.form` and `arrived.notes`.
  void add_outcome(Run& run, PendingOutcome& arrived, const OpenRequest& open);
  /// Also kept in the request, for the attempts that follow.
  void add_attempt(Run& run, OpenRequest& open, effects::Attempted attempted);
  /// Records that a person is asked the question of the request.
  void add_pause(Run& run, OpenRequest& open, effects::Paused::Why why, effects::StoredText form = {});
  /// A person has answered that question.
  void add_answer(Run& run, OpenRequest& open, std::string_view input, std::vector<journal::Note> notes);
  /// Ends the turn of the run's conversation, also in memory: with a failure if its value cannot be recorded.
  void end_turn(Run& run, TurnOutcome outcome);
  /// Ends the run, also in memory: with a failure if its value cannot be stored.
  void end_run(Run& run, RunEnd end);
  /// Adds a snapshot of a run that waits, if the records since the last one take more than it did, and more than
  /// `bytes_min`.
  void add_snapshot(Run& run, std::uint64_t bytes_min) const;

  /// For the store's list of runs.
  [[nodiscard]] journal::RunSummary summary_of(const Run& run) const;

 private:
  Clock& clock_;
};

}  // namespace tenon::runtime
