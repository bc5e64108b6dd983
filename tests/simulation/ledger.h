#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "effects/record.h"
#include "inference/model.h"
#include "journal/store.h"

namespace tenon::simulation {

/// The parts of an extern's key: the run, the request, and after a `#` the number of answers that the call had
/// received.
struct CallKey {
  std::string run, request;
  std::uint64_t answers = 0;
};
[[nodiscard]] CallKey read_call_key(std::string_view key);

/// Everything that was promised: the records that a store has acknowledged, and the effects on the world. Survives the
/// simulated processes, and detects broken promises.
class Ledger {
 public:
  explicit Ledger(journal::RunName run) : run_(std::move(run)) {}

  /// The store has acknowledged this as durable.
  void acknowledge(const journal::Append& append);
  /// After the end of a process: the contents of the disk. Everything acknowledged must be there; unacknowledged
  /// records that are there count from now on.
  void recover(const std::vector<journal::Record>& records);

  /// An extern is called with the full key of the effect; `call` is the function with its arguments.
  enum class Times : bool { Any, Once };
  void call(const std::string& key, const std::string& call, Times times, std::int64_t now_ms);
  /// The call with this full key says that it was interrupted.
  void note_interruption(const std::string& key);
  /// The effect of a call on the world: the value, as JSON.
  void give(const std::string& key, std::string value) { given_.insert_or_assign(key, std::move(value)); }
  /// The result of a call of the request; nothing if it was never made.
  [[nodiscard]] std::optional<std::string> find_given(const std::string& request) const;
  /// The model is asked; `attempt` counts from 0, and each earlier one had an invalid answer. `earlier`: the transport
  /// attempts that are passed to the model.
  void ask_model(const std::string& key, std::uint32_t attempt, const inference::EarlierAttempts& earlier,
                 std::int64_t now_ms);
  /// A listener is notified of records.
  void tell(std::uint64_t first, std::span<const effects::Record> records);
  void tell_run_end();

  [[nodiscard]] const journal::RunName& run() const { return run_; }
  [[nodiscard]] const std::vector<std::string>& records() const { return records_; }
  /// Turns that have started; turns that have ended.
  [[nodiscard]] std::uint64_t turns_started() const { return turns_started_; }
  [[nodiscard]] std::uint64_t turns_ended() const { return turns_ended_; }
  [[nodiscard]] bool has_outcome(const std::string& key) const { return finished_.contains(key); }
  [[nodiscard]] bool has_ended() const { return ends_ > 0; }
  [[nodiscard]] bool is_cancelled() const { return is_cancelled_; }
  /// The run may end in the middle of what a cancellation does not cut.
  void allow_cut() { may_cut_ = true; }
  /// How often a person was asked what has become of a call, unless the call itself did not know.
  [[nodiscard]] std::uint64_t doubts() const { return doubts_; }
  /// Effects that were performed more than once.
  [[nodiscard]] std::uint64_t repetitions() const { return repetitions_; }
  void add_problem(std::string problem) { problems_.push_back(std::move(problem)); }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

  /// What the run did, one line per effect and turn, by key. Excludes what differs from run to run: numbers, times, the
  /// order of arrival, and everything that depends on `varying_extern`, `now` and `random`.
  [[nodiscard]] std::string interaction() const;

 private:
  void take(const std::string& bytes);
  void take_request(std::uint64_t number, const effects::Requested& requested, std::int64_t time);
  void take_outcome(std::uint64_t number, const effects::Finished& finished);
  /// No `shield` block is cut.
  void check_shields(std::uint64_t number);
  void take_attempt(std::uint64_t number, const effects::Attempted& attempted);
  /// Checks that a request is durable and does not have an outcome yet.
  void check_start(const std::string& key, std::string_view what);

  journal::RunName run_;
  std::vector<std::string> records_;
  std::map<std::string, effects::Requested> requested_;
  struct Attempts {
    std::uint32_t unusable = 0, unavailable = 0;
    std::uint32_t sent = 0;    ///< attempts to send the newest request
    bool is_away = false;      ///< the service cannot be reached, and no retry is recorded
    std::int64_t next_at = 0;  ///< of the last of these
  };
  std::map<std::string, Attempts> attempts_;
  std::map<std::string, std::string> given_;          ///< by the full key of the effect
  std::map<std::string, std::int64_t> once_;          ///< requests of externs that are called at most once, their times
  std::map<std::string, std::int64_t> deadlines_;     ///< of calls with `within`, by request
  std::map<std::string, std::uint64_t> resolutions_;  ///< persons' decisions about interrupted calls, by request
  std::map<std::string, std::uint64_t> made_;         ///< calls, by the full key of the effect
  std::set<std::string> interrupted_;                 ///< requests of calls that said so
  std::set<std::string> cut_off_;                     ///< requests whose newest question is about an interrupted call
  std::map<std::string, effects::Finished> finished_;
  std::map<std::string, std::uint64_t> paused_, continued_;  ///< questions of externs, and the answers
  std::map<std::string, std::string> calls_;
  std::vector<effects::TurnEnded> turn_ends_;
  effects::Ended ended_;
  std::uint64_t turns_started_ = 0;
  std::uint64_t turns_ended_ = 0;
  std::uint64_t ends_ = 0;
  std::uint64_t repetitions_ = 0;
  std::uint64_t doubts_ = 0;
  std::map<std::string, std::int64_t> shields_;  ///< entered and not left, by the arguments of their steps
  bool is_cancelled_ = false;
  bool may_cut_ = false;
  std::vector<std::string> problems_;
};

}  // namespace tenon::simulation
