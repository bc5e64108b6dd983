#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "journal/store.h"

namespace tenon::journal {

/// What Store::commit gives.
using CommitOutcome = Result<std::vector<std::optional<AppendRefusal>>, StoreError>;

/// Commits for somebody who goes on meanwhile, one commit at a time. From `begin` until `finish`, or until `take` has
/// given the outcome and `rest` has returned, the store is the committer's: nobody else may use it.
class Committer {
 public:
  virtual ~Committer() = default;
  /// Begins a commit; none may be under way. The appends stay as they are until its outcome is taken.
  virtual void begin(std::span<const Append> appends) = 0;
  /// What has become of the commit; nothing as long as it is under way. Given once.
  [[nodiscard]] virtual std::optional<CommitOutcome> take() = 0;
  /// Waits for the outcome of a commit that was begun, and takes it.
  [[nodiscard]] virtual CommitOutcome finish() = 0;
  /// Waits until the store is the caller's again. Does not take an outcome.
  virtual void rest() = 0;
};

/// Commits on a thread of its own, which begins with the first commit. Used by one thread.
class ThreadCommitter final : public Committer {
 public:
  /// `notify` is called on the committer's thread when an outcome has come; it may not call the committer. May be
  /// empty.
  ThreadCommitter(Store& store, std::function<void()> notify);
  /// Ends the commit under way first.
  ~ThreadCommitter() override;
  ThreadCommitter(const ThreadCommitter&) = delete;
  ThreadCommitter& operator=(const ThreadCommitter&) = delete;

  void begin(std::span<const Append> appends) override;
  [[nodiscard]] std::optional<CommitOutcome> take() override;
  [[nodiscard]] CommitOutcome finish() override;
  void rest() override;

 private:
  enum class State : std::uint8_t {
    Resting,
    Committing,
    Maintaining,  ///< the outcome is there, and the store is still in use
  };

  void work();

  Store& store_;
  const std::function<void()> notify_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::span<const Append>> wanted_;
  std::optional<CommitOutcome> outcome_;
  State state_ = State::Resting;
  bool is_ending_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace tenon::journal
