#pragma once

#include <tenon/extern.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/extern_caller.h"
#include "tools/outside_call.h"

namespace tenon::tools {

/// Performs a call of an extern, on the thread that runs the program. It either completes the call, as a function that
/// is written with tenon/extern.h does, or defers it. What it throws fails the call.
using ProvidedFunction = std::function<void(tenon_call* call)>;
/// By the names of the externs.
using ProvidedFunctionMap = std::map<std::string, ProvidedFunction, std::less<>>;

/// What the embedding program is notified of besides. Each may be empty.
struct ProvidedHooks {
  /// Before and after functions are called one after the other, on the same thread, so that a program with a lock of
  /// its own takes it once for all of them.
  std::function<void()> before_calls;
  std::function<void()> after_calls;
  /// The result of a deferred call is not needed any more. It may be finished meanwhile: the pointer only names it.
  std::function<void(const tenon_call* call)> on_cancelled;
  /// The number that the embedding program gives the run of a call (ExternCall::run). Called on the thread that runs
  /// the program.
  std::function<std::uint64_t(std::uint32_t run)> number_of = {};
};

/// To be called within a ProvidedFunction: the call continues after the function has returned, and everything of it
/// stays valid until `finish_deferred`. False, and the call fails, if it is not a ProvidedFunction's, or an argument is
/// nested too deep for another thread.
bool defer(tenon_call* call);
/// Whether the work of a deferred call may begin now; any thread. False: the call is to be completed without it, as one
/// of an unavailable service.
bool may_begin(tenon_call* call);
/// Within a ProvidedFunction: whether the call was placed inline, as nothing else would run meanwhile. False for calls
/// that are not a ProvidedFunction's.
bool is_lone(const tenon_call* call);
/// To be called within a ProvidedFunction: `work` is called in its place, after it has returned and on the same thread,
/// while other threads use the engine. It completes the call, and cannot defer it; what it throws fails the call.
/// False, and nothing is done: the call is not lone, another one is made outside already, its owner makes none outside
/// (ProvidedFunctions::LoneCalls), or an argument is nested too deep.
bool perform_outside(tenon_call* call, ProvidedFunction work);
/// ProvidedHooks::number_of of the call's run; 0 if there is none. Any thread, as long as the call is valid.
std::uint64_t run_number(const tenon_call* call);
/// Completes a deferred call with what was stored in it, from any thread; then the call is invalid. Nothing happens if
/// it was not deferred, or was finished before. If its result is no longer needed, or its engine does not
/// exist any more, nothing else happens.
void finish_deferred(tenon_call* call);

/// Calls the externs that the embedding program provides (BindingKind::Provided), and passes the others on. Calls with
/// Placement::Inline are made at once, the others by the next `poll`, all that are ready one after the other.
///
/// One call at a time may be made outside. While it is, calls with Placement::Inline count as Placement::Pool: what was
/// quick before may block, too, and then each would keep another thread.
class ProvidedFunctions final : public ExternCaller {
 public:
  /// What becomes of a call with Placement::Inline.
  enum class LoneCalls {
    Inside,   ///< it is made at once
    Outside,  ///< the same, or outside if the function asks for that: after each `start` and `poll`, the owner takes it
    None      ///< as with Placement::Pool: the thread is to return in a short time
  };
  /// `next`: for the other externs. `notify`: called on any thread when a deferred call was finished, so that an owner
  /// who waits elsewhere can `poll`; may be empty. `may_begin`: a call whose turn comes while this is false fails as
  /// unavailable, and its function is not called; on any thread, and not for cancelled calls; may be empty.
  ProvidedFunctions(ProvidedFunctionMap functions, ProvidedHooks hooks, std::unique_ptr<ExternCaller> next,
                    std::function<void()> notify, std::function<bool()> may_begin = {});
  ~ProvidedFunctions() override;
  ProvidedFunctions(const ProvidedFunctions&) = delete;
  ProvidedFunctions& operator=(const ProvidedFunctions&) = delete;

  [[nodiscard]] std::optional<ExternOutcome> start(CallId id, ExternCall call, Placement placement,
                                                   ExternSink& sink) override;
  void cancel(CallId id) override;
  void poll(std::chrono::milliseconds wait) override;
  void wake() override { next_->wake(); }
  [[nodiscard]] std::vector<std::string> names() const;

  /// From now on. At first they are made inside.
  void make_lone_calls(LoneCalls where) { lone_calls_ = where; }
  /// The call that is to be made outside now; null: there is none. Until it is taken, `poll` does nothing.
  [[nodiscard]] std::shared_ptr<OutsideCall> take_outside();
  /// Reports such a call after OutsideCall::make, unless it was cancelled. In the place of OutsideCall::finish, and
  /// only when the owner has waited for nothing else.
  void take_back(const std::shared_ptr<OutsideCall>& call);

  struct Finished;
  struct Call;

 private:
  struct Pending {
    std::shared_ptr<Call> call;
    ExternSink* sink = nullptr;
  };

  void perform(const std::shared_ptr<Call>& call);
  void fail_thrown(const std::shared_ptr<Call>& call);
  void perform_ready();
  void report(const std::shared_ptr<Call>& call);
  void note_cancelled(Call& call) const;

  const ProvidedFunctionMap functions_;
  const ProvidedHooks hooks_;
  std::unique_ptr<ExternCaller> next_;
  std::shared_ptr<Finished> finished_;  ///< shared with calls that end after this has
  std::unordered_map<CallId, Pending> pending_;
  std::vector<std::shared_ptr<Call>> ready_;  ///< started and not performed yet
  LoneCalls lone_calls_ = LoneCalls::Inside;
  std::shared_ptr<Call> outside_;  ///< from its start until it comes back, even if it was cancelled meanwhile
  bool is_outside_taken_ = false;
};

}  // namespace tenon::tools
