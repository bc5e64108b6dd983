#pragma once

#include <chrono>

#include "cli/environment.h"
#include "runtime/runtime.h"

/// How commands that run programs react to SIGINT and SIGTERM.
namespace tenon::cli {

/// 130 after SIGINT, 143 after SIGTERM: what a shell reports for a process that the signal has ended.
[[nodiscard]] int exit_code_of_stop(const Environment& environment);

/// Says what is waited for, and for how long; nothing if nothing is.
void notify_waiting(const runtime::EffectsInProgress& effects, std::chrono::milliseconds grace,
                    const Environment& environment);

/// Runs until nothing can continue, or until the process receives a stop signal: then `grace` returns how long effects
/// in progress may take. A function on this thread that keeps the runtime from noticing the signal ends the process
/// after `grace_max`, or a second if that is less.
void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace_max,
                       const std::function<std::chrono::seconds()>& grace, const Environment& environment);

/// The same with one time for both.
void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace, const Environment& environment);

}  // namespace tenon::cli
