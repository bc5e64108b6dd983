#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "journal/store.h"

namespace tenon::journal {

/// Of the appends that wait for their commit.
inline constexpr std::size_t committer_bytes_max = std::size_t{64} << 20U;

/// What became of an append.
struct Completion {
  std::uint64_t token = 0;  ///< as it was submitted
  /// Durable, if there is neither a refusal nor an error.
  Result<std::optional<AppendRefusal>, StoreError> outcome;
};

/// Commits appends on a thread of its own: whatever is queued when a commit has ended goes into the next one together.
/// So a lone append waits for nobody, and a thousand at once share one wait for the disk. Appends of one thread are
/// committed in the order in which it submitted them.
class Committer {
 public:
  struct Options {
    std::size_t bytes_max = committer_bytes_max;
    /// Called on the committer's thread when completions have come; it may not call the committer.
    std::function<void()> notify;
  };

  Committer(std::unique_ptr<Store> store, Options options);
  /// Commits what is queued first.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// Takes the append. False, and nothing is taken, when more than `bytes_max` bytes would wait; a single one that is
  /// larger is taken when nothing waits. Any thread.
  [[nodiscard]] bool submit(Append& append, std::uint64_t token);
  /// Commits on the caller's thread, if nothing is queued or being committed; nothing, and nothing was done, otherwise.
  [[nodiscard]] std::optional<Result<std::optional<AppendRefusal>, StoreError>> commit_now(const Append& append);
  /// What has been completed since the last time, in the order of the commits. Any thread.
  [[nodiscard]] std::vector<Completion> poll();
  /// The store, while no commit is under way: for claiming and answering. Waits for the commit under way, and commits
  /// wait for it; who reads much, or may not wait for a disk, has a Reader's store of its own.
  template <class Work>
  decltype(auto) with_store(const Work& work) {
    const std::unique_lock lock = lock_store();
    return work(*store_);
  }

 private:
  struct Queued {
    Append append;
    std::uint64_t token = 0;
    std::size_t bytes = 0;
  };

  /// After the commit under way at the latest, however many appends are queued.
  [[nodiscard]] std::unique_lock<std::mutex> lock_store();
  void run();
  void commit(std::vector<Queued> queued);

  const Options options_;
  std::mutex store_mutex_;  ///< taken before `mutex_` where both are
  const std::unique_ptr<Store> store_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Queued> queue_;
  std::vector<Completion> completions_;
  std::size_t bytes_ = 0;  ///< queued or being committed
  int store_waiters_ = 0;  ///< of `lock_store`: the next commit lets them go first
  bool is_committing_ = false;
  bool is_ending_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace tenon::journal
