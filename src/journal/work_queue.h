#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tenon::journal {

/// Performs work, one piece after the other, for a thread that continues meanwhile.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  virtual void begin(std::function<void()> work) = 0;
  /// Waits until everything that was begun has been performed.
  virtual void finish() = 0;
};

/// Performs it on a thread of its own, which starts with the first piece. Used by one thread.
class ThreadQueue final : public WorkQueue {
 public:
  ThreadQueue() = default;
  /// Performs what was begun first.
  ~ThreadQueue() override;
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;

  void begin(std::function<void()> work) override;
  void finish() override;

 private:
  void perform();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool is_performing_ = false;
  bool is_ending_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace tenon::journal
