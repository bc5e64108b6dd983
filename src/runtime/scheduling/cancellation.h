#pragma once

#include "runtime/effects/effects.h"

namespace tenon::runtime {

/// Cancels runs and turns: `finally` blocks run first, and their effects are performed.
class Cancellation {
 public:
  /// All outlive this.
  Cancellation(RunTable& runs, Recorder& recorder, Effects& effects)
      : runs_(runs), recorder_(recorder), effects_(effects) {}

  /// The clean-up begins when all branches wait. A second request ends the run or the turn at once.
  void request(RunId run, PendingCancel cancel);
  /// All branches wait: begins the clean-up that was requested, or ends the run or the turn. False if it has ended.
  [[nodiscard]] bool begin(RunId run);
  /// At once, whatever there is to clean up.
  void end(RunId run, PendingCancel cancel);

 private:
  RunTable& runs_;
  Recorder& recorder_;
  Effects& effects_;
};

}  // namespace tenon::runtime
