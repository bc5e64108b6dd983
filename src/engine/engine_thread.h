#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/waker.h"
#include "engine/engine.h"

namespace tenon::engine {

/// An engine with a thread of its own, which continues the runs: for callers on several threads, and for event loops,
/// which wait for the descriptor. Any thread may call it, except for the functions that it calls.
class EngineThread final {
 public:
  /// `engine` collects events (EventUse::Collected).
  explicit EngineThread(std::unique_ptr<Engine> engine);
  /// As `stop` without a grace time, if it was not called.
  ~EngineThread();
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;

  /// Calls `use` with the engine on its thread, waits for it, and returns its result. Not after `stop`.
  template <class Use>
  std::invoke_result_t<Use&, Engine&> call(Use use) {
    std::packaged_task<std::invoke_result_t<Use&, Engine&>(Engine&)> task(std::move(use));
    auto result = task.get_future();
    post([&task](Engine& engine) { task(engine); });
    return result.get();
  }

  /// Returns the oldest event that was not taken. Waits at most `timeout` for one.
  [[nodiscard]] std::optional<RunEvent> next_event(std::chrono::milliseconds timeout);
  /// A file descriptor that is readable while `next_event` has an event. Belongs to this object, and is only polled.
  [[nodiscard]] int descriptor() const { return news_.descriptor(); }

  /// Engine::stop, and the end of the thread.
  void stop(std::chrono::milliseconds grace);

 private:
  void post(std::function<void(Engine&)> task);
  void loop();
  [[nodiscard]] std::deque<std::function<void(Engine&)>> take_tasks(bool waits);
  void keep(RunEvent event);

  std::unique_ptr<Engine> engine_;
  const Waker news_;  ///< woken while there are events
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void(Engine&)>> tasks_;
  std::deque<RunEvent> events_;
  std::optional<std::chrono::milliseconds> grace_;  ///< set when the thread is to end
  std::thread thread_;
};

}  // namespace tenon::engine
