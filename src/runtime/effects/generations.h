#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inference/model.h"
#include "inference/prompting/repair_loop.h"
#include "runtime/effects/budget_ends.h"
#include "runtime/effects/effect_performer.h"
#include "runtime/effects/outcomes.h"
#include "runtime/effects/stream_guard.h"

namespace tenon::runtime {

/// The answers of models that are waited for. An answer that cannot be used is recorded before the model is asked to
/// repair it, so that a crash neither allows more attempts nor changes what the model is sent.
class Generations final : public EffectPerformer, private inference::GenerationSink {
 public:
  /// All outlive this. `listener` may be null.
  Generations(RunTable& runs, Outcomes& outcomes, inference::Model& model, Clock& clock, Listener* listener);

  /// Sends the request, after the attempts that are recorded of it.
  void start(RunId run, const OpenRequest& open);

  [[nodiscard]] bool is_in_progress(RunId run, vm::RequestId request) const override;
  [[nodiscard]] std::size_t size() const override { return generations_.size(); }
  [[nodiscard]] bool is_awaited() const override { return !generations_.empty() && !model_.follows_a_script(); }
  void poll(std::chrono::milliseconds wait) override;
  void end_late() override;
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_late() override;
  void cancel(RunId run, vm::RequestId request) override;
  void cancel(RunId run) override;
  void cancel_all() override;

 private:
  /// An answer that is waited for.
  struct Generation {
    RunId run;
    vm::Request request;
    inference::prompting::RepairLoop repair_loop;
    vm::Usage usage = {};
    effects::Cost cost = {};
    inference::EarlierAttempts earlier = {};  ///< at sending the newest request, before this process
    std::unique_ptr<StreamGuard> guard = nullptr;
    bool is_stopped = false;  ///< its text violates a contract already: the text so far is its answer
    /// Milliseconds that a budget of time has left it, earlier attempts included.
    std::optional<std::uint64_t> time_left = std::nullopt;
  };

  void resume_dialogue(Generation& generation, const OpenRequest& open);
  void send(inference::GenerationId id);
  void stop_broken();
  void end(inference::GenerationId id);
  void record_unusable(const Generation& generation, std::uint32_t attempt, const inference::Answer& answer);
  [[nodiscard]] bool fail(Generation& generation, const inference::ModelError& error, vm::Outcome& result);
  void notify_finished(const Generation& generation, const inference::GenerationOutcome& outcome) const;

  void on_text(inference::GenerationId id, std::uint32_t attempt, std::string_view piece) override;
  void on_attempt_failed(inference::GenerationId id, std::uint32_t failed, std::string_view reason,
                         std::chrono::milliseconds wait) override;
  void on_finished(inference::GenerationId id, inference::GenerationOutcome outcome) override;

  RunTable& runs_;
  Outcomes& outcomes_;
  inference::Model& model_;
  Clock& clock_;
  Listener* listener_;
  std::unordered_map<inference::GenerationId, Generation> generations_;
  std::vector<inference::GenerationId> to_stop_;  ///< whose contracts are violated already
  BudgetEnds budget_ends_;
  inference::GenerationId next_id_ = 1;
};

}  // namespace tenon::runtime
