#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "journal/committer.h"
#include "journal/open_store.h"
#include "journal/wakeups.h"
#include "journal/work_queue.h"

namespace tenon::journal {

/// An open store for a thread that never waits for the disk: it begins work, and is called when the work is done. Used
/// by one thread.
class AsyncStore {
 public:
  /// Runs on another thread, with a connection that nothing else uses meanwhile.
  using Work = std::function<void(StoreConnection& store)>;
  /// Runs on the caller's thread, in `deliver`.
  using Done = std::function<void()>;

  virtual ~AsyncStore() = default;
  /// `notify` is called, on any thread, when `deliver` or the committer has something for the caller. It may not call
  /// the store. Set before anything is begun.
  virtual void on_progress(std::function<void()> notify) = 0;
  /// Work with the owner's connection: in the order of the calls, also with regard to commits.
  virtual void write(Work work, Done done) = 0;
  /// Work that only reads. It sees what was durable when it was begun, and may see more. In any order.
  virtual void read(Work work, Done done) = 0;
  /// Calls `done` for work that has been performed, which may begin more. Returns the number of calls. Throws what work
  /// has thrown.
  virtual std::size_t deliver() = 0;
  /// Work whose `done` was not called yet, without commits.
  [[nodiscard]] virtual std::size_t in_progress() const = 0;
  /// Waits until all work has been performed; `deliver` calls its `done`. While a store's server cannot be reached,
  /// that takes until it can, or until `stop_waiting`.
  virtual void finish() = 0;
  /// As StoreConnection::stop_waiting.
  virtual void stop_waiting() {}

  /// Commits to the owner's connection.
  [[nodiscard]] virtual Committer& committer() = 0;
  /// The owner's connection, for callers that accept to wait: they call `finish` first.
  [[nodiscard]] virtual StoreConnection& owner() = 0;
  [[nodiscard]] virtual Wakeups& wakeups() = 0;
};

/// Two connections to a store, each with a thread of its own.
class ThreadedStore final : public AsyncStore {
 public:
  /// `reader`: the same store, opened for reading.
  ThreadedStore(std::unique_ptr<StoreConnection> owner, std::unique_ptr<StoreConnection> reader);
  /// Performs what was begun; its `done` is not called any more.
  ~ThreadedStore() override;
  ThreadedStore(const ThreadedStore&) = delete;
  ThreadedStore& operator=(const ThreadedStore&) = delete;

  void on_progress(std::function<void()> notify) override { notify_ = std::move(notify); }
  void write(Work work, Done done) override { begin(writes_, *owner_, std::move(work), std::move(done)); }
  void read(Work work, Done done) override { begin(reads_, *reader_, std::move(work), std::move(done)); }
  std::size_t deliver() override;
  [[nodiscard]] std::size_t in_progress() const override { return in_progress_; }
  void finish() override;
  void stop_waiting() override;
  [[nodiscard]] Committer& committer() override { return committer_; }
  [[nodiscard]] StoreConnection& owner() override { return *owner_; }
  [[nodiscard]] Wakeups& wakeups() override { return owner_->wakeups(); }

 private:
  void begin(WorkQueue& queue, StoreConnection& store, Work work, Done done);
  void notify() const {
    if (notify_) notify_();
  }

  std::unique_ptr<StoreConnection> owner_;
  std::unique_ptr<StoreConnection> reader_;
  std::function<void()> notify_;
  std::mutex mutex_;
  std::vector<Done> finished_;    ///< performed, and not delivered
  std::exception_ptr exception_;  ///< of work
  std::size_t in_progress_ = 0;
  ThreadQueue writes_;  ///< this and the next: their threads use the others
  ThreadQueue reads_;
  ThreadCommitter committer_;
};

}  // namespace tenon::journal
