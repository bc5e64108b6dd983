#pragma once

#include <functional>
#include <string>
#include <vector>

#include "inference/model.h"
#include "runtime/effects/outcomes.h"

namespace tenon::runtime {

/// Takes the new requests of machines: records them, and completes those that need no effect.
class Requests {
 public:
  /// All outlive this. `random_unit`, in [0, 1), may be empty: then `random()` fails.
  Requests(RunTable& runs, Recorder& recorder, Outcomes& outcomes, inference::Model& model,
           const std::function<double()>& random_unit)
      : runs_(runs), recorder_(recorder), outcomes_(outcomes), model_(model), random_unit_(random_unit) {}

  /// The open requests with these keys, in the order of the program. They are performed with the next commit.
  void open(RunId run, const std::vector<std::string>& keys);
  /// Gives an outcome of another run, as if the effect had been performed. False if it is lost, or of a type
  /// that has changed: then the effect is performed.
  [[nodiscard]] bool deliver_known(RunId run, const OpenRequest& open, const effects::Finished& known);
  /// Gives the outcome of an effect that needs nothing outside of the process, and so can be repeated. False if it is
  /// another one.
  [[nodiscard]] bool give_instant(RunId run, const OpenRequest& open);

 private:
  [[nodiscard]] vm::Outcome instant_outcome(Run& run, effects::EffectKind kind) const;

  RunTable& runs_;
  Recorder& recorder_;
  Outcomes& outcomes_;
  inference::Model& model_;
  const std::function<double()>& random_unit_;
};

}  // namespace tenon::runtime
