#include "runtime/scheduling/cancellation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "vm/execution/finally_handlers.h"

namespace tenon::runtime {

void Cancellation::request(RunId id, PendingCancel cancel) {
  Run& run = runs_[id];
  const bool is_active = run.core && (!run.conversation || run.conversation->is_in_turn());
  const bool is_wanted_again = run.cancel || (run.core && run.core->cancelled());
  if (is_active && !is_wanted_again && vm::has_finally_handlers(run.core->image()->program())) {
    run.cancel = std::move(cancel);
    return runs_.enqueue(id);
  }
  // What an earlier request was to end, ends too.
  bool& ends_run = cancel.wanted.ends_run;
  if (is_active && run.core->cancelled()) ends_run = ends_run || run.core->cancelled()->ends_run;
  if (run.cancel) {
    ends_run = ends_run || run.cancel->wanted.ends_run;
    std::ranges::move(run.cancel->notes, std::back_inserter(cancel.notes));
  }
  end(id, std::move(cancel));
}

bool Cancellation::begin(RunId id) {
  Run& run = runs_[id];
  PendingCancel cancel = *std::exchange(run.cancel, std::nullopt);
  if (!run.core->cancel(cancel.wanted)) {
    end(id, std::move(cancel));
    return false;
  }
  run.journal.keep_notes(std::move(cancel.notes));
  recorder_.add(run, std::move(cancel.wanted));
  run.is_quiescent = false;
  return true;
}

void Cancellation::end(RunId id, PendingCancel cancel) {
  Run& run = runs_[id];
  effects_.cancel(id);
  run.pending_outcomes.clear();
  run.cancel.reset();
  run.journal.keep_notes(std::move(cancel.notes));
  recorder_.add(run, cancel.wanted);
  RunCancelled cancelled{std::move(cancel.wanted.reason)};
  if (run.conversation && !cancel.wanted.ends_run) {
    recorder_.end_turn(run, std::move(cancelled));
    run.core->open().clear();
    run.is_quiescent = true;
  } else {
    recorder_.end_run(run, std::move(cancelled));
  }
  runs_.enqueue(id);
}

}  // namespace tenon::runtime
