#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include "inference/model.h"

namespace tenon::inference {

/// Outcomes that are known when their generations start, for scripted and recorded models. They are reported in the
/// order of a separate clock, which jumps to the next outcome's time when all before it are reported: no time passes,
/// and the order is the same in every run.
class OutcomeSchedule {
 public:
  void start(GenerationId generation, GenerationSink& sink, GenerationOutcome outcome, std::chrono::milliseconds delay);
  /// Reports the generation as Cancelled, if it is in progress.
  void cancel(GenerationId generation);
  /// Reports what comes next: all that ends at the same time, but nothing that a sink starts meanwhile.
  void report_next();

 private:
  using Moment = std::pair<std::chrono::milliseconds, std::uint64_t>;  ///< the clock, then the order of starts

  struct Pending {
    GenerationId generation = 0;
    GenerationSink* sink = nullptr;
    GenerationOutcome outcome;
  };

  std::chrono::milliseconds now_{0};
  std::uint64_t starts_ = 0;
  std::map<Moment, Pending> pending_;
  std::map<GenerationId, Moment> moments_;
};

}  // namespace tenon::inference
