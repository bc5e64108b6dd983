#pragma once

#include <tenon/extern.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "tools/extern_caller.h"

namespace tenon::tools {

/// Performs a call of an extern, on the thread that runs the program. It either completes the call, as a function that
/// is written with tenon/extern.h does, or defers it.
using ProvidedFunction = std::function<void(tenon_call* call)>;
/// By the names of the externs.
using ProvidedFunctionMap = std::map<std::string, ProvidedFunction, std::less<>>;

/// To be called within a ProvidedFunction: the call continues after the function has returned, and everything of it
/// stays valid until `finish_deferred`. False, and the call fails, if it is not a ProvidedFunction's, or an argument is
/// nested too deep for another thread.
bool defer(tenon_call* call);
/// Completes a deferred call with what was stored in it. Once per call, from any thread; then the call is invalid. If
/// its result is no longer needed, or its engine does not exist any more, nothing else happens.
void finish_deferred(tenon_call* call);

/// Calls the externs that the embedding program provides (BindingKind::Provided), and passes the others on.
class ProvidedFunctions final : public ExternCaller {
 public:
  /// `next`: for the other externs. `notify`: called on any thread when a deferred call was finished, so that an owner
  /// who waits elsewhere can `poll`; may be empty.
  ProvidedFunctions(ProvidedFunctionMap functions, std::unique_ptr<ExternCaller> next, std::function<void()> notify);
  ~ProvidedFunctions() override;
  ProvidedFunctions(const ProvidedFunctions&) = delete;
  ProvidedFunctions& operator=(const ProvidedFunctions&) = delete;

  [[nodiscard]] std::optional<ExternOutcome> start(CallId id, ExternCall call, Placement placement,
                                                   ExternSink& sink) override;
  void cancel(CallId id) override;
  void poll(std::chrono::milliseconds wait) override;
  void wake() override { next_->wake(); }

  struct Finished;
  struct Call;

 private:
  struct Pending {
    std::shared_ptr<Call> call;
    ExternSink* sink = nullptr;
  };

  const ProvidedFunctionMap functions_;
  std::unique_ptr<ExternCaller> next_;
  std::shared_ptr<Finished> finished_;  ///< shared with calls that end after this has
  std::unordered_map<CallId, Pending> pending_;
};

}  // namespace tenon::tools
