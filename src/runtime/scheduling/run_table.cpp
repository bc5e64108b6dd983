#include "runtime/scheduling/run_table.h"

#include <utility>

namespace tenon::runtime {

RunId RunTable::add() {
  if (free_.empty()) {
    runs_.emplace_back();
    return {static_cast<std::uint32_t>(runs_.size() - 1)};
  }
  const RunId id = free_.back();
  free_.pop_back();
  return id;
}

void RunTable::remove(RunId id) {
  if (runs_[id.index].is_queued) std::erase(queue_, id);
  runs_[id.index] = Run{};
  free_.push_back(id);
}

OpenRequest* RunTable::find(RunId id, const std::string& key) {
  Run& run = runs_[id.index];
  return run.end || !run.core ? nullptr : run.core->find(key);
}

void RunTable::enqueue(RunId id) {
  Run& run = runs_[id.index];
  if (run.is_queued || run.is_end_reported) return;
  run.is_queued = true;
  queue_.push_back(id);
}

RunId RunTable::take_next() {
  const RunId next = queue_.front();
  queue_.pop_front();
  runs_[next.index].is_queued = false;
  return next;
}

void RunTable::clear_queue() {
  for (const RunId id : std::exchange(queue_, {})) runs_[id.index].is_queued = false;
}

}  // namespace tenon::runtime
