#include "journal/postgres/known_runs.h"

#include <utility>

namespace tenon::journal::postgres {

KnownRun* KnownRuns::find(const RunName& run) {
  const auto found = runs_.find(run.text);
  return found == runs_.end() ? nullptr : &found->second;
}

void KnownRuns::make_room() {
  if (runs_.size() < known_runs_max) return;
  runs_.clear();
  contents_ = 0;
}

KnownRun& KnownRuns::put(RunRow row) {
  KnownRun& known = runs_[row.head.run.text];
  known.row = std::move(row);
  return known;
}

void KnownRuns::add_content(KnownRun& run, const Hash& hash) {
  if (contents_ >= known_contents_max) {
    for (auto& [name, other] : runs_) other.contents.clear();
    contents_ = 0;
  }
  if (run.contents.insert(hash).second) ++contents_;
}

void KnownRuns::add_shared_body(const Hash& hash) {
  if (shared_bodies_.size() >= known_shared_bodies_max) shared_bodies_.clear();
  shared_bodies_.insert(hash);
}

}  // namespace tenon::journal::postgres
