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
  if (exception_) std::rethrow_exception(exception_);
  return std::exchange(outcome_, std::nullopt);
}

CommitOutcome ThreadCommitter::finish() {
  std::unique_lock lock(mutex_);
  ENSURE(outcome_ || is_committing_);
  changed_.wait(lock, [this] { return !is_committing_; });
  if (exception_) std::rethrow_exception(exception_);
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
  std::optional<CommitOutcome> outcome;
  std::exception_ptr exception;
  try {
    outcome = store_.commit(appends);
  } catch (...) {
    exception = std::current_exception();
  }
  {
    const std::scoped_lock lock(mutex_);
    outcome_ = std::move(outcome);
    exception_ = exception;
    is_committing_ = false;
  }
  changed_.notify_all();
  if (notify_) notify_();
  // An error of the housekeeping is one of the store: the next commit returns it.
  if (!exception) static_cast<void>(store_.maintain());
}

}  // namespace tenon::journal
