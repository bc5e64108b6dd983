#pragma once

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
  struct Watched {
    std::string name;   ///< empty: the run has no store
    std::string title;  ///< the function's or the agent's
  };

  Clock& clock_;
  std::map<runtime::RunId, Watched> runs_;
  runtime::TextPieces pieces_;
  std::deque<RunEvent> events_;
};

}  // namespace tenon::engine
