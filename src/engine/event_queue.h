#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "protocol/record_events.h"
#include "runtime/events.h"

namespace tenon::engine {

/// An event of the agent protocol (docs/protocol) of one of an engine's runs.
struct RunEvent {
  runtime::RunId run;
  protocol::Event event;
};

/// Collects the events of a runtime's runs until they are taken. Used by the runtime's thread.
class EventQueue final : public runtime::Listener {
 public:
  /// `clock` outlives the queue.
  explicit EventQueue(Clock& clock) : clock_(clock) {}

  /// Returns the oldest event and removes it.
  [[nodiscard]] std::optional<RunEvent> take();

  void on_run_started(runtime::RunId run, const runtime::RunIdentity& identity) override;
  void on_run_released(runtime::RunId run) override;
  void on_recorded(const runtime::RecordBatch& batch) override;
  void on_generation_started(const runtime::SentGeneration& generation) override;
  void on_text(runtime::RunId run, std::string_view key, std::uint32_t attempt, std::uint32_t transport_attempt,
               std::string_view piece) override;

 private:
  /// The answer of one generation while it is written.
  struct Answer {
    std::uint32_t attempts = 0;  ///< begun
    std::pair<std::uint32_t, std::uint32_t> newest{};
    std::uint64_t offset = 0;  ///< bytes of the newest attempt
    std::string agent;
    std::uint32_t depth = 0;
  };
  struct Watched {
    std::string name;                                    ///< empty: the run has no store
    std::string title;                                   ///< the function's or the agent's
    std::map<std::string, Answer, std::less<>> answers;  ///< by the generation's key
  };

  Clock& clock_;
  std::map<runtime::RunId, Watched> runs_;
  std::deque<RunEvent> events_;
};

}  // namespace tenon::engine
