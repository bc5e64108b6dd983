#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "protocol/record_events.h"
#include "runtime/events.h"
#include "runtime/host/text_pieces.h"

namespace tenon::engine {

/// An event of the agent protocol (docs/protocol) of one of an engine's runs.
struct RunEvent {
  runtime::RunId run;
  protocol::Event event;
};

/// Of a run whose events are not taken, provisional pieces of answers are dropped beyond this number of events: the
/// whole answer follows as an event of its own.
inline constexpr std::size_t events_with_pieces_max = 10'000;

/// Collects the events of a runtime's runs until they are taken. Used by the runtime's thread.
class EventQueue final : public runtime::Listener {
 public:
  /// `clock` outlives the queue.
  explicit EventQueue(Clock& clock) : clock_(clock) {}

  /// Whether the events of runs that start from now on are collected.
  void collect(bool is_collecting) { is_collecting_ = is_collecting; }

  /// Returns the oldest event, of this run or of any, and removes it.
  [[nodiscard]] std::optional<RunEvent> take(std::optional<runtime::RunId> run = std::nullopt);
  [[nodiscard]] bool is_empty() const { return oldest_.empty(); }

  [[nodiscard]] runtime::ReadRecords reads_records() const override {
    return is_collecting_ ? runtime::ReadRecords::All : runtime::ReadRecords::None;
  }
  void on_run_started(runtime::RunId run, const runtime::RunIdentity& identity) override;
  void on_run_released(runtime::RunId run) override;
  void on_recorded(const runtime::RecordBatch& batch) override;
  void on_generation_started(const runtime::SentGeneration& generation) override;
  void on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;

 private:
  struct Collected {
    std::string name;                                              ///< empty: the run has no store
    std::string title;                                             ///< the function's or the agent's
    protocol::RunValues values;                                    ///< as far as records came
    std::deque<std::pair<std::uint64_t, protocol::Event>> events;  ///< with their numbers in the order of all runs
  };
  void add(runtime::RunId run, Collected& to, protocol::Event event);

  Clock& clock_;
  bool is_collecting_ = true;
  std::map<runtime::RunId, Collected> runs_;
  runtime::TextPieces pieces_;
  std::map<std::uint64_t, runtime::RunId> oldest_;  ///< the first event of each run that has some
  std::uint64_t next_ = 0;
};

}  // namespace tenon::engine
