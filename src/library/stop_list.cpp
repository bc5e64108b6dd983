#include "library/stop_list.h"

#include <algorithm>
#include <utility>

namespace tenon::library {

using engine::Engine;
using engine::RunResult;
using runtime::RunId;

tenon_run_state state_of(RunResult::How how) {
  using How = RunResult::How;
  switch (how) {
    case How::Returned:
      return TENON_RUN_RETURNED;
    case How::Cancelled:
      return TENON_RUN_CANCELLED;
    case How::Detached:
      return TENON_RUN_DETACHED;
    case How::Failed:
    case How::Damaged:
      break;
  }
  return TENON_RUN_FAILED;
}

tenon_run_state state_of(const Engine& engine, RunId run) {
  switch (engine.state(run)) {
    case engine::RunState::Asks:
      return TENON_RUN_ASKS;
    case engine::RunState::Ready:
      return TENON_RUN_READY;
    case engine::RunState::Ended:
      return state_of(engine.end_of(run));
    case engine::RunState::Running:
      break;
  }
  return TENON_RUN_RUNNING;
}

void StopList::watch(std::shared_ptr<RunSlot> slot) {
  stepped_.push_back(slot->id);
  watched_[slot->id.index] = std::move(slot);
}

void StopList::on_run_released(RunId run) {
  watched_.erase(run.index);
}

void StopList::on_stepped(RunId run) {
  if (watched_.contains(run.index)) stepped_.push_back(run);
}

void StopList::add(RunSlot& slot, tenon_run_state state) {
  const std::scoped_lock lock(mutex_);
  if (slot.is_forgotten) return;
  if (slot.stop == 0) slot.stop = next_++;
  stops_[slot.stop] = {&slot, state};
}

void StopList::forget(RunSlot& slot) {
  const std::scoped_lock lock(mutex_);
  slot.is_forgotten = true;
  stops_.erase(slot.stop);
}

void StopList::add_unstarted(RunSlot& slot, engine::EngineError error) {
  slot.end.state = TENON_RUN_FAILED;
  slot.end.start_error = std::move(error);
  slot.has_end = true;
  if ((slot.flags & TENON_WITH_STOPS) != 0) add(slot, TENON_RUN_FAILED);
}

void StopList::look(Engine& engine) {
  if (stepped_.empty()) return;
  std::vector<RunId> stepped = std::exchange(stepped_, {});
  std::ranges::sort(stepped);
  const auto repeated = std::ranges::unique(stepped);
  stepped.erase(repeated.begin(), repeated.end());
  for (const RunId run : stepped) {
    const auto found = watched_.find(run.index);
    if (found == watched_.end()) continue;
    const std::shared_ptr<RunSlot> slot = found->second;
    const tenon_run_state state = state_of(engine, run);
    if (state == TENON_RUN_RUNNING) continue;  // its next step is reported, too
    const bool has_ended = state != TENON_RUN_ASKS && state != TENON_RUN_READY;
    if (has_ended && (slot->flags & TENON_WITH_EVENTS) == 0) {
      slot->end.state = state;
      if (state == TENON_RUN_RETURNED && slot->program != nullptr) {
        slot->end.value = engine.take_value(run);
      } else if (state == TENON_RUN_RETURNED) {
        slot->end.value = engine.copy_value(run);
      }
      if (!slot->end.value || slot->program == nullptr) {
        slot->end.result = engine.result(run);
        static_cast<void>(engine.release(run));
      }
      slot->has_end = true;
    }
    add(*slot, state);
  }
}

tenon_run_state StopList::look_for(Engine& engine, RunSlot& slot) {
  look(engine);
  const std::scoped_lock lock(mutex_);
  const auto found = stops_.find(slot.stop);
  if (found == stops_.end()) return TENON_RUN_RUNNING;
  const tenon_run_state state = found->second.second;
  stops_.erase(found);
  slot.stop = 0;
  return state;
}

std::size_t StopList::take(std::span<tenon_stop> to) {
  const std::scoped_lock lock(mutex_);
  std::size_t count = 0;
  while (count < to.size() && !stops_.empty()) {
    const auto& [slot, state] = stops_.begin()->second;
    to[count++] = {slot->number, state};
    slot->stop = 0;
    stops_.erase(stops_.begin());
  }
  return count;
}

bool StopList::is_empty() const {
  const std::scoped_lock lock(mutex_);
  return stops_.empty();
}

}  // namespace tenon::library
