#include "runtime/scheduling/cancellation.h"

#include <utility>

#include "vm/execution/finally_handlers.h"

namespace tenon::runtime {

void Cancellation::request(RunId id, effects::CancelWanted wanted) {
  Run& run = runs_[id];
  const bool is_active = run.core && (!run.conversation || run.conversation->is_in_turn());
  const bool is_wanted_again = run.cancel || (run.core && run.core->cancelled());
  if (is_active && !is_wanted_again && vm::has_finally_handlers(run.core->image()->program())) {
    run.cancel = std::move(wanted);
    return runs_.enqueue(id);
  }
  if (is_active && run.core->cancelled()) wanted.ends_run = wanted.ends_run || run.core->cancelled()->ends_run;
  end(id, wanted);
}

bool Cancellation::begin(RunId id) {
  Run& run = runs_[id];
  const effects::CancelWanted wanted = *std::exchange(run.cancel, std::nullopt);
  if (!run.core->cancel(wanted)) {
    end(id, wanted);
    return false;
  }
  recorder_.add(run, wanted);
  run.is_quiescent = false;
  return true;
}

void Cancellation::end(RunId id, const effects::CancelWanted& wanted) {
  Run& run = runs_[id];
  effects_.cancel(id);
  run.pending_outcomes.clear();
  run.cancel.reset();
  recorder_.add(run, wanted);
  if (run.conversation && !wanted.ends_run) {
    recorder_.end_turn(run, RunCancelled{wanted.reason});
    run.core->open().clear();
    run.is_quiescent = true;
  } else {
    recorder_.end_run(run, RunCancelled{wanted.reason});
  }
  runs_.enqueue(id);
}

}  // namespace tenon::runtime
