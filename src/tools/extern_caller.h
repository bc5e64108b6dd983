#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/extern_error.h"
#include "vm/values/value.h"

namespace tenon::tools {

class ExternTable;

/// One call of a program's extern.
struct ExternCall {
  std::shared_ptr<const ExternTable> table;         ///< of native functions; null if there are none
  std::uint32_t subject = 0;                        ///< index into Program::externs
  std::vector<vm::Value> arguments;                 ///< of the declared types
  std::string key;                                  ///< the effect's key; may be empty
  std::optional<std::string> input = std::nullopt;  ///< a person's answer to the question of the previous call
  std::uint32_t run = 0;                            ///< RunId::index of the run that calls
};

/// Where a call runs.
enum class Placement : std::uint8_t {
  Inline,  ///< on the calling thread, at once: nothing else runs meanwhile
  Pool,    ///< on a thread of the pool, if there is one: other work continues
};

/// Chosen by the caller, unique among its calls in progress.
using CallId = std::uint64_t;

/// Receives the results of calls; called only from within `ExternCaller::cancel` and `poll`.
class ExternSink {
 public:
  virtual ~ExternSink() = default;
  /// Called exactly once for every call that did not end in `start`, including a cancelled one. The value has no
  /// labels.
  virtual void on_returned(CallId call, ExternOutcome outcome) = 0;
};

/// The asynchronous interface for calling externs, as inference::Model is for models. Owned and driven by one thread,
/// to which the arguments and results belong. Only `wake` may be called from other threads.
class ExternCaller {
 public:
  virtual ~ExternCaller() = default;

  /// Starts a call. Returns the outcome if the call has already ended; otherwise the sink gets it later.
  [[nodiscard]] virtual std::optional<ExternOutcome> start(CallId id, ExternCall call, Placement placement,
                                                           ExternSink& sink) = 0;
  /// Ends a call for its caller, with the kind Cancelled. A function that is already running continues, but its result
  /// is discarded.
  virtual void cancel(CallId id) = 0;
  /// Reports the calls that have ended; if there are none, waits at most `wait` for one.
  virtual void poll(std::chrono::milliseconds wait) = 0;
  /// Ends a `poll` that waits. From any thread.
  virtual void wake() = 0;
};

}  // namespace tenon::tools
