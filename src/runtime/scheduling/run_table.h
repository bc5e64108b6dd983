#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "runtime/scheduling/run_state.h"

namespace tenon::runtime {

/// The runs in memory, and the queue of those that can continue.
class RunTable {
 public:
  [[nodiscard]] RunId add();
  /// The place is used again for another run.
  void remove(RunId id);

  [[nodiscard]] Run& operator[](RunId id) { return runs_[id.index]; }
  [[nodiscard]] const Run& operator[](RunId id) const { return runs_[id.index]; }
  /// All places, also free ones.
  [[nodiscard]] const std::deque<Run>& all() const { return runs_; }
  /// The request; null once it has an outcome, its branch was cancelled, or the run has ended.
  [[nodiscard]] OpenRequest* find(RunId id, const std::string& key);

  /// Nothing happens if it is queued, or has ended.
  void enqueue(RunId id);
  /// The oldest one, which is not queued any more.
  [[nodiscard]] RunId take_next();
  [[nodiscard]] const std::deque<RunId>& queue() const { return queue_; }
  void clear_queue();

 private:
  std::deque<Run> runs_;
  std::vector<RunId> free_;
  std::deque<RunId> queue_;
};

}  // namespace tenon::runtime
