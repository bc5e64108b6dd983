#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/environment.h"
#include "runtime/runtime.h"

/// How commands that run programs react to SIGINT and SIGTERM.
namespace tenon::cli {

/// 130 after SIGINT, 143 after SIGTERM: what a shell reports for a process that the signal has ended.
[[nodiscard]] int exit_code_of_stop(const Environment& environment);

/// Says what is waited for, for how long, and that another signal ends `ended` (`the process`, `the turn`) at once;
/// nothing if nothing is waited for.
void notify_waiting(const runtime::EffectsInProgress& effects, std::chrono::milliseconds grace, std::string_view ended,
                    const Environment& environment);

/// Runs until nothing can continue, or until the process receives a stop signal: then `grace` returns how long effects
/// in progress may take, or nothing if they are to continue (runtime::Grace). A function on this thread that keeps the
/// runtime from noticing the signal ends the process after `grace_max`, or a second if that is less.
void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace_max,
                       const std::function<std::optional<std::chrono::seconds>()>& grace,
                       const Environment& environment);

/// The same with one time for both.
void run_until_stopped(runtime::Runtime& runtime, std::chrono::seconds grace, const Environment& environment);

/// Follows the calls that are made at most once while a signal ends a run or a turn, so that a person knows what is
/// waited for, and of which calls it is not known whether they happened. If a second signal ends the process, that is
/// said, too.
class OnceCallWatch final {
 public:
  /// `ended`: what another signal ends at once, `the process` or `the turn`. All outlive it.
  OnceCallWatch(runtime::Runtime& runtime, runtime::RunId run, std::string_view ended, const Environment& environment)
      : runtime_(runtime), run_(run), ended_(ended), environment_(environment) {}
  ~OnceCallWatch() { environment_.set_last_words({}); }
  OnceCallWatch(const OnceCallWatch&) = delete;
  OnceCallWatch& operator=(const OnceCallWatch&) = delete;

  /// Looks at the calls in progress, and says what is waited for when that changes. Returns whether anything is.
  bool look();
  /// The run or the turn has ended: says which calls had no outcome when they were last looked at.
  void report_unknown() const;

 private:
  [[nodiscard]] std::string describe_unknown() const;

  runtime::Runtime& runtime_;
  runtime::RunId run_;
  std::string_view ended_;
  const Environment& environment_;
  std::vector<std::string> in_progress_;  ///< the names of the externs, sorted
  std::vector<std::string> said_;         ///< of those that are waited for
};

}  // namespace tenon::cli
