// What is recorded of tries that have not given an outcome.

#include <algorithm>

#include "runtime/runtime.h"

namespace tenon::runtime {

/// The model sends again by itself, and does not wait for the disk: a crash in between costs one attempt more, not the
/// count. What it has recorded when it ends is what the next process goes on from.
void Runtime::on_attempt_failed(inference::GenerationId id, std::uint32_t /*failed*/, std::string_view reason,
                                std::chrono::milliseconds wait) {
  const auto found = generations_.find(id);
  if (found == generations_.end()) return;  // cancelled: nobody waits
  const Generation& generation = found->second;
  Run& run = runs_[generation.run.index];
  OpenRequest* const open = run.journal ? run.core->find(generation.key) : nullptr;
  if (open == nullptr) return;
  effects::Attempted attempted;
  attempted.what = effects::Attempted::What::Transport;
  attempted.attempt = static_cast<std::uint32_t>(std::count_if(
      open->attempts.begin(), open->attempts.end(),
      [](const effects::Attempted& earlier) { return earlier.what == effects::Attempted::What::Transport; }));
  attempted.reason = reason;
  attempted.next_at = now_ms() + wait.count();
  record_attempt(generation, *open, std::move(attempted));
}

void Runtime::record_attempt(const Generation& generation, OpenRequest& open, effects::Attempted attempted) {
  Run& run = runs_[generation.run.index];
  attempted.key = generation.key;
  place(run, generation.request, attempted.agent, attempted.depth);
  open.attempts.push_back(attempted);
  open.records.push_back(run.journal->add({now_ms(), std::move(attempted)}));
  enqueue(generation.run);
}

}  // namespace tenon::runtime
