#include "journal/work_queue.h"

#include <utility>

#include "base/signal_free_thread.h"

namespace tenon::journal {

ThreadQueue::~ThreadQueue() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ThreadQueue::begin(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  if (thread_.joinable()) return changed_.notify_all();
  thread_ = start_signal_free_thread([this] { perform(); });
}

void ThreadQueue::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !is_performing_; });
}

void ThreadQueue::perform() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !waiting_.empty() || is_ending_; });
    if (waiting_.empty()) return;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    is_performing_ = true;
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    is_performing_ = false;
    if (waiting_.empty()) changed_.notify_all();
  }
}

}  // namespace tenon::journal
