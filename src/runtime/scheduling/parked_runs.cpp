#include "runtime/scheduling/parked_runs.h"

#include <iterator>
#include <utility>

namespace tenon::runtime {

void ParkedRuns::keep(Run& run) {
  const auto& chain = run.journal.chain();
  const bool has_moved = is_detached(run) && run.moved_after && *run.moved_after == run.journal.last();
  const bool is_same = !run.journal.has_pending() && run.pending_outcomes.empty() && run.is_quiescent && !run.cancel;
  if (!has_moved || !is_same || !chain || !run.core || run.known) return;
  auto started = run.journal.started();
  if (!started) return;
  auto parked = std::make_shared<ParkedRun>();
  parked->after = run.journal.last();
  parked->chain = *chain;
  parked->run.head.run = run.journal.name();
  parked->run.started = std::move(*started);
  parked->run.image = std::move(run.image);
  parked->run.function = run.function;
  parked->run.conversation = std::move(run.conversation);
  parked->run.core = std::move(run.core);
  parked->run.bytes_since_snapshot = run.journal.bytes_since_snapshot();
  parked->run.snapshot_bytes = run.snapshot_bytes;
  parked->run.asked = run.journal.asked();
  parked->run.state_pieces = run.journal.take_pieces();
  static_cast<void>(take(run.journal.name()));  // an older one
  newest_last_.push_back(std::move(parked));
  by_name_.insert_or_assign(run.journal.name().text, std::prev(newest_last_.end()));
  if (newest_last_.size() > parked_runs_max) static_cast<void>(take(newest_last_.front()->run.head.run));
}

std::shared_ptr<ParkedRun> ParkedRuns::take(const journal::RunName& run) {
  const auto found = by_name_.find(run.text);
  if (found == by_name_.end()) return nullptr;
  std::shared_ptr<ParkedRun> parked = std::move(*found->second);
  newest_last_.erase(found->second);
  by_name_.erase(found);
  return parked;
}

void ParkedRuns::clear() {
  by_name_.clear();
  newest_last_.clear();
}

}  // namespace tenon::runtime
