#include "engine/engine_thread.h"

#include "base/ensure.h"

namespace tenon::engine {
namespace {

/// How long the engine waits for its effects at once. It is woken earlier.
constexpr std::chrono::milliseconds effects_wait{1'000};

}  // namespace

EngineThread::EngineThread(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {
  ENSURE(news_.is_open());
  thread_ = std::thread([this] { loop(); });
}

EngineThread::~EngineThread() {
  stop(std::chrono::milliseconds{0});
}

void EngineThread::stop(std::chrono::milliseconds grace) {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    grace_ = grace;
  }
  changed_.notify_all();
  engine_->wake();
  thread_.join();
}

void EngineThread::post(std::function<void(Engine&)> task) {
  {
    const std::scoped_lock lock(mutex_);
    ENSURE(!grace_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
  engine_->wake();
}

/// `waits`: until there is a task or the thread is to end.
std::deque<std::function<void(Engine&)>> EngineThread::take_tasks(bool waits) {
  std::unique_lock lock(mutex_);
  if (waits) changed_.wait(lock, [this] { return !tasks_.empty() || grace_; });
  return std::exchange(tasks_, {});
}

void EngineThread::loop() {
  bool can_continue = true;
  for (;;) {
    for (const auto& task : take_tasks(!can_continue)) task(*engine_);
    {
      const std::scoped_lock lock(mutex_);
      if (grace_ && tasks_.empty()) break;
    }
    if (auto event = engine_->next_event(effects_wait)) {
      keep(std::move(*event));
      can_continue = true;
    } else {
      can_continue = engine_->can_continue();
    }
  }
  engine_->stop(*grace_);
  while (auto event = engine_->next_event(std::chrono::milliseconds{0})) keep(std::move(*event));
}

void EngineThread::keep(RunEvent event) {
  const std::scoped_lock lock(mutex_);
  events_.push_back(std::move(event));
  changed_.notify_all();
  if (events_.size() == 1) news_.wake();
}

std::optional<RunEvent> EngineThread::next_event(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, timeout, [this] { return !events_.empty(); })) return std::nullopt;
  RunEvent event = std::move(events_.front());
  events_.pop_front();
  if (events_.empty()) news_.clear();
  return event;
}

}  // namespace tenon::engine
