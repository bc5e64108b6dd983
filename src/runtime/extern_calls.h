#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "vm/value.h"

namespace tenon::runtime {

/// What a native function gave, or why it gave nothing.
using ExternOutcome = std::variant<vm::Value, std::string>;

/// Chosen by the caller, unique among its calls under way.
using ExternCallId = std::uint64_t;

class ExternSink {
 public:
  virtual ~ExternSink() = default;
  virtual void on_extern_finished(ExternCallId call, ExternOutcome outcome) = 0;
};

/// The externs of one program, bound to what runs them. Driven by one thread, like a Model: the sink is called only from within
/// `start` and `poll`.
class ExternCalls {
 public:
  virtual ~ExternCalls() = default;
  /// `key`: the effect's key, stable over repetitions of the run.
  virtual void start(ExternCallId call, std::uint32_t index, std::span<const vm::Value> arguments, std::string_view key, ExternSink& sink) = 0;
  /// Nobody waits for the result any more; the sink is not called for it.
  virtual void cancel(ExternCallId call) = 0;
  /// Hands out what has finished. Does not wait.
  virtual void poll() = 0;
  /// Waits until a call has finished, `wait` at most; at once when none is under way.
  virtual void wait(std::chrono::milliseconds wait) = 0;
};

}  // namespace tenon::runtime
