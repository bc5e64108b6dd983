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

/// An extern's key in its parts: the run, the request, and behind a `#` how many answers of persons the call had.
struct CallKey {
  std::string run, request;
  std::uint64_t answers = 0;
};
[[nodiscard]] CallKey read_call_key(std::string_view key);

/// What everybody was promised: the records that a store has acknowledged, and what was done in the world. Outlives
/// the simulated processes, and finds out where a promise is broken.
class Ledger {
 public:
  explicit Ledger(journal::RunName run) : run_(std::move(run)) {}

  /// The store has said that this is durable.
  void acknowledge(const journal::Append& append);
  /// After a process's end: what the disk has kept. Everything that was acknowledged is there; what was not, but is
  /// there, counts from now on.
  void recover(const std::vector<journal::Record>& records);

  /// An extern is called, under the effect's whole key; `call` is the function with its arguments.
  enum class Times : bool { Any, Once };
  void call(const std::string& key, const std::string& call, Times times, std::int64_t now_ms);
  /// What a call has done in the world: the value, as JSON.
  void give(const std::string& key, std::string value) { given_.insert_or_assign(key, std::move(value)); }
  /// What has become of a call of the request; nothing when it was never made.
  [[nodiscard]] std::optional<std::string> find_given(const std::string& request) const;
  /// The model is asked; `attempt` counts from 0, and each earlier one has an answer that could not be used. `earlier`:
  /// attempts at sending that it is told of.
  void ask_model(const std::string& key, std::uint32_t attempt, const inference::EarlierAttempts& earlier,
                 std::int64_t now_ms);
  /// Somebody hears of records.
  void tell(std::uint64_t first, std::span<const effects::Record> records);
  void tell_turn_end();
  void tell_run_end();

  [[nodiscard]] const journal::RunName& run() const { return run_; }
  [[nodiscard]] const std::vector<std::string>& records() const { return records_; }
  /// Turns that have begun; that have ended.
  [[nodiscard]] std::uint64_t turns_started() const { return turns_started_; }
  [[nodiscard]] std::uint64_t turns_ended() const { return turns_ended_; }
  [[nodiscard]] bool has_outcome(const std::string& key) const { return finished_.contains(key); }
  [[nodiscard]] bool has_ended() const { return ends_ > 0; }
  [[nodiscard]] bool is_cancelled() const { return is_cancelled_; }
  /// Effects that were performed more than once.
  [[nodiscard]] std::uint64_t repetitions() const { return repetitions_; }
  void add_problem(std::string problem) { problems_.push_back(std::move(problem)); }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

  /// What the run did, a line for each effect and turn, by key; without what differs from run to run: numbers, times,
  /// the order of arrival, and what `varying_extern`, `now` and `random` have to do with.
  [[nodiscard]] std::string interaction() const;

 private:
  void take(const std::string& bytes);
  /// A request must be durable, and its outcome must not be there.
  void check_start(const std::string& key, std::string_view what);

  journal::RunName run_;
  std::vector<std::string> records_;
  std::map<std::string, effects::Requested> requested_;
  struct Attempts {
    std::uint32_t unusable = 0, transport = 0;
    std::uint32_t sent = 0;    ///< at sending the newest request
    std::int64_t next_at = 0;  ///< of these the last one's
  };
  std::map<std::string, Attempts> attempts_;
  std::map<std::string, std::string> given_;          ///< by the effect's whole key
  std::map<std::string, std::int64_t> deadlines_;     ///< of calls that are given a time, by request
  std::map<std::string, std::uint64_t> resolutions_;  ///< persons' answers on calls that were cut off, by request
  std::map<std::string, std::uint64_t> made_;         ///< calls, by the effect's whole key
  std::set<std::string> cut_off_;                     ///< requests whose newest question is what has become of them
  std::map<std::string, effects::Finished> finished_;
  std::map<std::string, std::uint64_t> paused_, continued_;  ///< questions of externs, and the answers
  std::map<std::string, std::string> calls_;
  std::vector<effects::TurnEnded> turn_ends_;
  effects::Ended ended_;
  std::uint64_t turns_started_ = 0;
  std::uint64_t turns_ended_ = 0;
  std::uint64_t ends_ = 0;
  std::uint64_t repetitions_ = 0;
  std::uint64_t turn_ends_told_ = 0;
  bool is_cancelled_ = false;
  std::vector<std::string> problems_;
};

}  // namespace tenon::simulation
