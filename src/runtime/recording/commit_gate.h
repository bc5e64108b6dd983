#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "effects/record.h"
#include "journal/committer.h"
#include "journal/store.h"
#include "runtime/events.h"
#include "runtime/recording/run_journal.h"

namespace tenon::runtime {

/// Records of a run that become durable together, and the effects that may start then.
struct PendingBatch {
  RunId run;
  std::uint64_t last = 0;               ///< the number of the newest record
  RecordList records;                   ///< for the listener; empty without one
  std::vector<std::string> to_perform;  ///< keys of requests that may begin then
  enum class WithoutRoom : bool { Fail, Drop } without_room = WithoutRoom::Fail;  ///< on the disk
  std::optional<std::string> moves_to = {};                                       ///< as journal::Append has it
};

/// A batch after its commit.
struct CommittedBatch {
  PendingBatch what;
  /// Why it is not durable, and will not be without help; nothing if it is durable.
  std::optional<RunDetached> problem;
};

/// Ensures that no effect starts and no listener is notified before the records that led to it are durable. Batches
/// enter here and leave in the same order once the store has them. All batches that wait when a commit begins are
/// committed together, so that a thousand runs share one wait for the disk. While the committer's thread commits, the
/// store belongs to it, and `store` waits.
class CommitGate {
 public:
  /// Both outlive the gate. `committer` may be null: then every commit is made inline.
  CommitGate(journal::Store* store, journal::Committer* committer) : store_(store), committer_(committer) {}
  /// Waits for the commit in progress; its outcome is dropped.
  ~CommitGate();
  CommitGate(const CommitGate&) = delete;
  CommitGate& operator=(const CommitGate&) = delete;

  /// Waits for the next commit.
  void add(PendingBatch what, journal::Append append);
  /// Adds keys to the newest batch of their run that waits here.
  void follow(RunId run, std::vector<std::string> to_perform);
  /// Drops the waiting batches of a run and returns their number. A batch that is being committed is still returned.
  std::size_t drop(RunId run);

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// The size of the batches that wait (journal::bytes_of).
  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_bytes_; }
  /// On the committer's thread.
  [[nodiscard]] bool is_committing() const { return is_committing_; }
  [[nodiscard]] bool is_empty() const { return waiting_.empty() && !is_committing_; }

  /// Begins a commit of all waiting batches, unless one is in progress.
  void begin();
  /// Commits all waiting batches on the caller's thread. No commit may be in progress.
  [[nodiscard]] std::vector<CommittedBatch> commit();
  /// The batches committed since the last call. With `Wait::Yes` it waits for the commit in progress.
  enum class Wait : bool { No, Yes };
  [[nodiscard]] std::vector<CommittedBatch> take(Wait wait);

  /// The store, once no commit is in progress. May be null.
  [[nodiscard]] journal::Store* store();

 private:
  [[nodiscard]] std::vector<CommittedBatch> pass(const journal::CommitOutcome& outcome);
  void move_waiting();

  journal::Store* store_;
  journal::Committer* committer_;
  std::vector<PendingBatch> waiting_;
  std::vector<journal::Append> waiting_appends_;  ///< in the order of `waiting_`
  std::size_t waiting_bytes_ = 0;
  std::vector<PendingBatch> committing_;
  std::vector<journal::Append> committing_appends_;
  bool is_committing_ = false;
};

}  // namespace tenon::runtime
