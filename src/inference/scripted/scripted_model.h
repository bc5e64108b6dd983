#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model.h"
#include "inference/outcome_schedule.h"
#include "inference/scripted/script.h"

namespace tenon::inference {

/// Answers from a script. No time passes: the model has a separate clock, which jumps to the next answer's
/// time when everything that was to happen before it has been reported. So answers come in the order of their delays,
/// the same in every run, and an answer that takes longer than its request allows is TimedOut.
class ScriptedModel final : public Model {
 public:
  explicit ScriptedModel(Script script, std::string name = "script");

  /// Answers of a rule that were not requested. A single answer, which may be given any number of times, is unused if
  /// it was never given.
  struct Unused {
    std::string label;  ///< empty: any
    std::vector<std::string> prompt_contains;
    std::uint32_t line = 0;
    std::size_t answers = 0;
    friend bool operator==(const Unused&, const Unused&) = default;
  };
  [[nodiscard]] std::vector<Unused> unused() const;

  [[nodiscard]] std::string_view name() const override { return name_; }
  void start(GenerationId generation, GenerationRequest request, GenerationSink& sink) override;
  void cancel(GenerationId generation) override { schedule_.cancel(generation); }
  /// Reports what comes next on the model's own clock; never waits.
  void poll(std::chrono::milliseconds /*wait*/) override { schedule_.report_next(); }
  void wake() override {}
  [[nodiscard]] bool follows_a_script() const override { return !script_.rules.empty(); }
  void skip(const GenerationRequest& request) override;
  [[nodiscard]] std::vector<std::string> unused_answers() const override;

 private:
  [[nodiscard]] GenerationOutcome next_outcome(const GenerationRequest& request, std::chrono::milliseconds& delay);

  std::string name_;
  Script script_;
  std::vector<std::size_t> given_;  ///< for each rule, how often it has answered
  OutcomeSchedule schedule_;
};

}  // namespace tenon::inference
