#include "journal/committer.h"

#include <signal.h>

#include <utility>

#include "base/ensure.h"

namespace tenon::journal {

ThreadCommitter::ThreadCommitter(Store& store, std::function<void()> notify)
    : store_(store), notify_(std::move(notify)) {}

ThreadCommitter::~ThreadCommitter() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ThreadCommitter::begin(std::span<const Append> appends) {
  {
    const std::scoped_lock lock(mutex_);
    ENSURE(!wanted_ && !outcome_ && state_ != State::Committing);
    wanted_ = appends;
  }
  if (thread_.joinable()) return changed_.notify_all();
  // Signals are the owner's to handle, so the thread begins with all of them blocked.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::optional<CommitOutcome> ThreadCommitter::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(outcome_, std::nullopt);
}

CommitOutcome ThreadCommitter::finish() {
  std::unique_lock lock(mutex_);
  ENSURE(wanted_ || outcome_ || state_ == State::Committing);
  changed_.wait(lock, [this] { return outcome_.has_value(); });
  return *std::exchange(outcome_, std::nullopt);
}

void ThreadCommitter::rest() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !wanted_ && state_ == State::Resting; });
}

void ThreadCommitter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return wanted_ || is_ending_; });
    if (!wanted_) return;
    const std::span<const Append> appends = *std::exchange(wanted_, std::nullopt);
    state_ = State::Committing;
    lock.unlock();
    CommitOutcome outcome = store_.commit(appends);
    lock.lock();
    outcome_ = std::move(outcome);
    state_ = State::Maintaining;
    lock.unlock();
    changed_.notify_all();
    if (notify_) notify_();
    // An error of the housekeeping is one of the store: the next commit gives it.
    static_cast<void>(store_.maintain());
    lock.lock();
    state_ = State::Resting;
    changed_.notify_all();
  }
}

}  // namespace tenon::journal
