#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/effects/budget_ends.h"
#include "runtime/effects/effect_performer.h"
#include "runtime/effects/outcomes.h"
#include "runtime/waits/questions.h"
#include "tools/extern_caller.h"

namespace tenon::runtime {

/// How long a call that is made at most once is waited for after its branch was cancelled, or a budget of time around
/// it is spent, unless `within` says how long it may take.
inline constexpr std::chrono::milliseconds outlived_call_max{60'000};

/// The calls of externs in progress.
class ExternCalls final : public EffectPerformer, private tools::ExternSink {
 public:
  /// All outlive this. `caller` and `listener` may be null: without a caller, calls fail. `lone_call`: where a call
  /// runs if nothing else is in progress and the last call of its extern was quick.
  ExternCalls(RunTable& runs, Outcomes& outcomes, Questions& questions, RunSecrets& secrets,
              tools::ExternCaller* caller, Clock& clock, Listener* listener, tools::Placement lone_call);

  /// `is_alone`: nothing else could continue meanwhile. An error if a secret cannot be opened: then no call is made.
  [[nodiscard]] Result<void, effects::SecretError> start(RunId run, const OpenRequest& open, bool is_alone);
  /// The names of the externs, one for each call.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The call's time is over (`within`), whether or not it is in progress. A function in this process continues, and
  /// its result is discarded; a separate process is ended.
  void time_out(RunId run, const OpenRequest& open);

  [[nodiscard]] bool is_in_progress(RunId run, vm::RequestId request) const override;
  [[nodiscard]] std::size_t size() const override { return calls_.size(); }
  [[nodiscard]] bool is_awaited() const override { return !calls_.empty(); }
  void poll(std::chrono::milliseconds wait) override;
  void end_late() override;
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_late() override;
  void cancel(RunId run, vm::RequestId request) override;
  void cancel(RunId run) override;
  void cancel_all() override;

 private:
  struct Call {
    RunId run;
    vm::Request request;
    std::chrono::nanoseconds started{};
    std::vector<std::string> secrets;  ///< texts that it was given and that it may not give back
    /// Milliseconds that a budget of time has left it at its start.
    std::optional<std::uint64_t> time_left = std::nullopt;
  };

  [[nodiscard]] std::optional<Call> take(RunId run, vm::RequestId request);
  /// Where the call runs. Handing it to another thread costs more than most functions take. It is worth it when
  /// something else could continue meanwhile, and needed when the call may have to be abandoned: because its time is
  /// limited, or because the process is asked to stop during a call that takes long. A call that is made at most once
  /// must not keep a signal from being noticed: what has begun to stop waits for it.
  [[nodiscard]] const std::string& name_of(const Call& call) const;
  [[nodiscard]] tools::Placement place(const Call& call, const OpenRequest& open, bool is_alone) const;
  /// The call has ended, or is given up: its extern is quick if it took little time until now.
  void note_time(const Call& call, bool has_returned);
  /// The end of a call that is not in `calls_` any more.
  void conclude(Call call, tools::ExternOutcome outcome, std::uint64_t milliseconds_min = 0);
  void end(tools::CallId id);
  void on_returned(tools::CallId id, tools::ExternOutcome outcome) override;

  RunTable& runs_;
  Outcomes& outcomes_;
  Questions& questions_;
  RunSecrets& secrets_;
  tools::ExternCaller* caller_;
  Clock& clock_;
  Listener* listener_;
  tools::Placement lone_call_;
  std::unordered_set<std::string> quick_;  ///< names of externs whose last call was quick
  std::unordered_map<tools::CallId, Call> calls_;
  BudgetEnds budget_ends_;
  tools::CallId next_id_ = 1;
};

}  // namespace tenon::runtime
