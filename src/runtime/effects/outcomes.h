#pragma once

#include <functional>
#include <string>

#include "runtime/effects/run_secrets.h"
#include "runtime/effects/timers.h"
#include "runtime/recording/recorder.h"
#include "runtime/scheduling/run_table.h"

namespace tenon::runtime {

/// Ends effects: the run gets the outcome, or the effect is performed again.
class Outcomes {
 public:
  /// All outlive this. `random_unit`, in [0, 1), may be empty: then delays are not spread.
  Outcomes(RunTable& runs, Recorder& recorder, RunSecrets& secrets, Timers& timers,
           const std::function<double()>& random_unit)
      : runs_(runs), recorder_(recorder), secrets_(secrets), timers_(timers), random_unit_(random_unit) {}

  /// The machine gets it when all its branches wait, after those that were enqueued before. Nothing happens if the
  /// request is not open any more.
  void enqueue(RunId run, std::string key, vm::Outcome outcome, effects::Cost cost = {});
  /// An attempt has ended without an outcome. The effect continues by itself, or `perform_again` follows.
  void add_attempt(RunId run, OpenRequest& open, effects::Attempted attempted);
  /// The request is performed with the next commit.
  void perform_again(RunId run, const std::string& key);
  /// A model or a tool cannot be reached: a run with a store waits, and tries again. False if the effect fails instead.
  [[nodiscard]] bool await_service(RunId run, const std::string& key, Outage outage);
  /// The wait for a service is over.
  void retry(RunId run, const std::string& key);
  /// The same for all services that the run waits for; their delays start from the first again.
  void retry_services(RunId run);

 private:
  RunTable& runs_;
  Recorder& recorder_;
  RunSecrets& secrets_;
  Timers& timers_;
  const std::function<double()>& random_unit_;
};

}  // namespace tenon::runtime
