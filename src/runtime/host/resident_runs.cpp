#include "runtime/host/resident_runs.h"

#include <utility>

namespace tenon::runtime {

std::optional<RunId> ResidentRuns::find(const journal::RunName& run) const {
  const auto found = by_name_.find(run.text);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

void ResidentRuns::add(RunId run, const journal::RunName& name) {
  if (runs_.size() <= run.index) runs_.resize(run.index + 1);
  runs_[run.index] = Resident{.name = name};
  by_name_.emplace(name.text, run);
}

void ResidentRuns::forget(RunId run) {
  if (run.index >= runs_.size() || runs_[run.index].name.text.empty()) return;
  Resident& resident = runs_[run.index];
  if (resident.idle_since != 0) idle_.erase(resident.idle_since);
  by_name_.erase(resident.name.text);
  std::erase(touched_, run);
  std::erase(starting_, run);
  resident = Resident{};
}

void ResidentRuns::touch(RunId run) {
  Resident& resident = runs_[run.index];
  if (resident.idle_since != 0) idle_.erase(std::exchange(resident.idle_since, 0));
  if (std::exchange(resident.is_touched, true)) return;
  touched_.push_back(run);
}

void ResidentRuns::note_recorded(RunId run) {
  runs_[run.index].has_recorded = true;
  touch(run);
}

ResidentRuns::Released ResidentRuns::release_idle(std::size_t idle_max) {
  for (const RunId run : std::exchange(starting_, {})) look_at(run);
  for (const RunId run : std::exchange(touched_, {})) {
    runs_[run.index].is_touched = false;
    look_at(run);
  }
  while (idle_.size() > idle_max) {
    const RunId run = idle_.begin()->second;
    if (runtime_.is_idle(run) && !runtime_.has_due_timer(run)) {
      release(run);
    } else {
      // Its timer fires, or has fired and what follows is being committed: it is touched then.
      idle_.erase(std::exchange(runs_[run.index].idle_since, 0));
    }
  }
  return std::exchange(released_, {});
}

void ResidentRuns::look_at(RunId run) {
  Resident& resident = runs_[run.index];
  if (resident.name.text.empty() || resident.idle_since != 0) return;
  if (!runtime_.is_idle(run)) {
    // It is touched again when something has come of it.
    if (!resident.has_recorded) starting_.push_back(run);
  } else if (runtime_.end(run)) {
    release(run);
  } else {
    resident.idle_since = ++idle_counter_;
    idle_.emplace(resident.idle_since, run);
  }
}

void ResidentRuns::release(RunId run) {
  Resident& resident = runs_[run.index];
  if (resident.idle_since != 0) idle_.erase(resident.idle_since);
  by_name_.erase(resident.name.text);
  ++released_.count;
  if (!runtime_.end(run)) released_.waiting.push_back(std::move(resident.name));
  // First, because a listener of the release may add a run.
  resident = Resident{};
  runtime_.release(run);
}

}  // namespace tenon::runtime
