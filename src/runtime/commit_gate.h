#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "effects/record.h"
#include "journal/committer.h"
#include "journal/store.h"
#include "runtime/events.h"

namespace tenon::runtime {

/// What one commit makes durable of a run, and what follows from it.
struct PendingBatch {
  RunId run;
  std::uint64_t first = 0;               ///< the number of the first record
  std::uint64_t last = 0;                ///< of the last one; one less than `first` without records
  std::vector<effects::Record> records;  ///< for whoever is told; empty when nobody is
  std::vector<std::string> to_perform;   ///< keys of requests that may begin then
};

/// Something that a commit was made for.
struct CommittedBatch {
  PendingBatch what;
  /// Why it is not durable and never will be by itself; nothing when it is.
  std::optional<RunDetached> problem;
};

/// The promise that nothing leaves before it is durable: what a run has come to goes in here, and comes out when the
/// store has it, in the order in which it went in. Whatever waits when a commit begins goes into it together, so that a
/// thousand runs share one wait for the disk. While a commit is under way on the committer's thread the store is the
/// committer's, and `store` waits for it.
class CommitGate {
 public:
  /// Both outlive the gate. `committer` may be null: then every commit is made inline.
  CommitGate(journal::Store* store, journal::Committer* committer) : store_(store), committer_(committer) {}
  /// Waits for the commit under way; nobody hears of it.
  ~CommitGate();
  CommitGate(const CommitGate&) = delete;
  CommitGate& operator=(const CommitGate&) = delete;

  /// Waits for the next commit.
  void add(PendingBatch what, journal::Append append);
  /// For keys that may begin when all that is durable of their run which waits here: of the newest.
  void follow(RunId run, std::vector<std::string> to_perform);
  /// Forgets what waits of a run, and gives how many that were. What is being committed comes out all the same.
  std::size_t drop(RunId run);

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// On the committer's thread.
  [[nodiscard]] bool is_committing() const { return is_committing_; }
  [[nodiscard]] bool is_empty() const { return waiting_.empty() && !is_committing_; }

  /// Begins a commit of all that waits, unless one is under way.
  void begin();
  /// Commits all that waits on the caller's thread. None may be under way.
  [[nodiscard]] std::vector<CommittedBatch> commit();
  /// What has come through since the last time. With `Wait::Yes` the commit under way is waited for.
  enum class Wait : bool { No, Yes };
  [[nodiscard]] std::vector<CommittedBatch> take(Wait wait);

  /// The store, while nobody commits. May be null.
  [[nodiscard]] journal::Store* store();

 private:
  [[nodiscard]] std::vector<CommittedBatch> pass(const journal::CommitOutcome& outcome);
  void move_waiting();

  journal::Store* store_;
  journal::Committer* committer_;
  std::vector<PendingBatch> waiting_;
  std::vector<journal::Append> waiting_appends_;  ///< in the order of `waiting_`
  std::vector<PendingBatch> committing_;
  std::vector<journal::Append> committing_appends_;
  bool is_committing_ = false;
};

}  // namespace tenon::runtime
