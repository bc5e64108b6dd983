#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inference/model.h"
#include "inference/outcome_schedule.h"
#include "inference/recorded/recording.h"

namespace tenon::inference {

/// Answers from a recording: a request gets the outcomes that the same request got when it was recorded, in their
/// order, and the last one from then on. Any other request is ScriptEnded, and the message shows where it differs from
/// the nearest recorded one. Nothing is waited for.
class RecordedModel final : public Model {
 public:
  explicit RecordedModel(Recording recording, std::string name = "recorded");

  /// Recorded exchanges that were not requested, in the recording's order.
  [[nodiscard]] std::vector<const RecordedExchange*> unused() const;

  [[nodiscard]] std::string_view name() const override { return name_; }
  void start(GenerationId generation, GenerationRequest request, GenerationSink& sink) override;
  void cancel(GenerationId generation) override { schedule_.cancel(generation); }
  void poll(std::chrono::milliseconds /*wait*/) override { schedule_.report_next(); }
  void wake() override {}

 private:
  struct Outcomes {
    std::vector<std::size_t> exchanges;  ///< indices, in the recording's order
    std::size_t given = 0;
  };

  [[nodiscard]] GenerationOutcome next_outcome(const GenerationRequest& request);

  std::string name_;
  Recording recording_;
  std::unordered_map<std::string, Outcomes> by_hash_;
  OutcomeSchedule schedule_;
};

/// Describes in a few lines how `request` differs from the most similar recorded request.
[[nodiscard]] std::string describe_difference(const Recording& recording, const GenerationRequest& request);

}  // namespace tenon::inference
