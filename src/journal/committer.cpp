#include "journal/committer.h"

#include <utility>

#include "base/ensure.h"

namespace tenon::journal {

ThreadCommitter::ThreadCommitter(Store& store, std::function<void()> notify)
    : store_(store), own_queue_(std::make_unique<ThreadQueue>()), queue_(*own_queue_), notify_(std::move(notify)) {}

ThreadCommitter::ThreadCommitter(Store& store, WorkQueue& queue, std::function<void()> notify)
    : store_(store), queue_(queue), notify_(std::move(notify)) {}

ThreadCommitter::~ThreadCommitter() {
  queue_.finish();
}

void ThreadCommitter::begin(std::span<const Append> appends) {
  {
    const std::scoped_lock lock(mutex_);
    ENSURE(!outcome_ && !is_committing_);
    is_committing_ = true;
  }
  queue_.begin([this, appends] { commit(appends); });
}

std::optional<CommitOutcome> ThreadCommitter::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(outcome_, std::nullopt);
}

CommitOutcome ThreadCommitter::finish() {
  std::unique_lock lock(mutex_);
  ENSURE(outcome_ || is_committing_);
  changed_.wait(lock, [this] { return outcome_.has_value(); });
  return *std::exchange(outcome_, std::nullopt);
}

void ThreadCommitter::rest() {
  queue_.finish();
}

void ThreadCommitter::wait_for(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [this] { return !is_committing_; });
}

void ThreadCommitter::commit(std::span<const Append> appends) {
  CommitOutcome outcome = store_.commit(appends);
  {
    const std::scoped_lock lock(mutex_);
    outcome_ = std::move(outcome);
    is_committing_ = false;
  }
  changed_.notify_all();
  if (notify_) notify_();
  // An error of the housekeeping is one of the store: the next commit returns it.
  static_cast<void>(store_.maintain());
}

}  // namespace tenon::journal
