#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/waker.h"
#include "engine/engine_error.h"
#include "engine/event_reader.h"
#include "library/host_state.h"
#include "protocol/record_events.h"

namespace tenon::library {

/// Reads the events of a run, whichever process continues it. Used by one thread at a time.
class Follower final {
 public:
  Follower(std::shared_ptr<HostState> host, journal::RunHead head, std::uint64_t after);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  enum class State : std::uint8_t { Event, Nothing, Ended };
  /// `event` is set for State::Event. Waits at most `timeout` for one.
  [[nodiscard]] Result<State, engine::EngineError> next(std::chrono::milliseconds timeout, protocol::Event& event);
  /// Ends a `next` that waits, as if its time were over. Any thread.
  void interrupt();
  /// The state of the run after the events that were taken: TENON_RUN_RUNNING while there are more.
  [[nodiscard]] Result<tenon_run_state, engine::EngineError> state();
  /// Readable while there may be events.
  [[nodiscard]] int descriptor() const { return waker_.descriptor(); }
  [[nodiscard]] HostState& host() { return *host_; }

 private:
  void read();

  const std::shared_ptr<HostState> host_;
  const Waker waker_;
  std::atomic<std::uint64_t> interrupts_ = 0;
  std::optional<engine::EventReader> reader_;  ///< with the host's connection for reading
  std::deque<engine::EventReader::Read> ready_;
};

}  // namespace tenon::library
