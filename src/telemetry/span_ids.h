#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "telemetry/span.h"

namespace tenon::telemetry {

/// The source of span ids.
class SpanIds {
 public:
  /// `random_unit`: numbers in [0, 1); the first ones distinguish processes.
  explicit SpanIds(const std::function<double()>& random_unit);

  /// A new trace with its first span.
  [[nodiscard]] SpanContext new_trace();
  /// A new span in this trace.
  [[nodiscard]] SpanContext new_span(const SpanContext& of_trace);
  /// The trace and the span with which the turn of a recorded run starts. The same in every process, so that a process
  /// that resumes the turn after a crash can link to it. `turn`: 0 for a run of a function.
  [[nodiscard]] static SpanContext of_turn(std::string_view run, std::uint64_t turn);

 private:
  [[nodiscard]] SpanContext next();

  std::uint64_t seed_[2];
  std::uint64_t count_ = 0;
};

}  // namespace tenon::telemetry
