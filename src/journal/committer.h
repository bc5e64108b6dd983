#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "journal/store.h"
#include "journal/work_queue.h"

namespace tenon::journal {

/// What Store::commit returns.
using CommitOutcome = Result<AppendOutcomes, StoreError>;

/// Commits for a caller that continues meanwhile, one commit at a time. From `begin` until `finish`, or until `take`
/// has returned the outcome and `rest` has returned, the store is the committer's: no one else may use it.
class Committer {
 public:
  virtual ~Committer() = default;
  /// Begins a commit; none may be in progress. The appends must not change until its outcome is taken.
  virtual void begin(std::span<const Append> appends) = 0;
  /// The outcome of the commit; nothing while it is in progress. Returned once.
  [[nodiscard]] virtual std::optional<CommitOutcome> take() = 0;
  /// Waits for the outcome of a commit that was begun, and takes it.
  [[nodiscard]] virtual CommitOutcome finish() = 0;
  /// Waits until the store is the caller's again. Does not take an outcome.
  virtual void rest() = 0;
};

/// Commits on the thread of a queue. Used by one thread, on which an exception of a commit is thrown again.
class ThreadCommitter final : public Committer {
 public:
  /// With a queue of its own. `notify` is called on the queue's thread when an outcome has come; it may not call the
  /// committer. May be empty.
  ThreadCommitter(Store& store, std::function<void()> notify);
  /// On a queue that also performs other work with the store; it outlives this.
  ThreadCommitter(Store& store, WorkQueue& queue, std::function<void()> notify);
  /// Ends the commit in progress first.
  ~ThreadCommitter() override;
  ThreadCommitter(const ThreadCommitter&) = delete;
  ThreadCommitter& operator=(const ThreadCommitter&) = delete;

  void begin(std::span<const Append> appends) override;
  [[nodiscard]] std::optional<CommitOutcome> take() override;
  [[nodiscard]] CommitOutcome finish() override;
  void rest() override;
  /// Waits until the outcome of the commit in progress has come, `wait` at most.
  void wait_for(std::chrono::milliseconds wait);

 private:
  void commit(std::span<const Append> appends);

  Store& store_;
  std::unique_ptr<WorkQueue> own_queue_;
  WorkQueue& queue_;
  const std::function<void()> notify_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<CommitOutcome> outcome_;
  std::exception_ptr exception_;  ///< of a commit; thrown instead of its outcome
  bool is_committing_ = false;
};

}  // namespace tenon::journal
