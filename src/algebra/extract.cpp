#include "algebra/extract.h"

#include <fmt/format.h>

#include "algebra/interaction.h"
#include "algebra/reconstruct.h"

namespace tenon::algebra {
namespace {

using effects::Ended;

/// Collects the calls of a run while its journal is fed to a machine.
class Replay final : public runtime::RecoveryObserver {
 public:
  void on_begun(runtime::RunCore& core, const effects::Started& started, std::string_view arguments) override {
    image_ = core.image();
    sites_.emplace(image_->program());
    collector_.emplace(*sites_, *image_);
    cycle_.function = started.function;
    cycle_.arguments = arguments;
    const auto begun = runtime::read_start(*image_, started, arguments);
    if (!begun) return;  // `recover` has told of it
    collector_->begin(core, begun->function, begun->arguments);
  }
  void on_rest(runtime::RunCore& core) override { collector_->take_requests(core); }
  void on_outcome(runtime::RunCore& core, std::uint64_t /*record*/, const effects::Finished& finished,
                  const std::string& value) override {
    const CallRequest* const request = collector_->find(finished.key);
    if (request == nullptr) return;
    order_.push_back(collector_->calls()[request->call].at);
    const effects::Cost& cost = finished.cost;
    usage_.push_back({cost.model_calls, cost.tokens, cost.cost_millionths, cost.milliseconds});
    collector_->take_outcome(core, finished.key, {value, finished.clause, finished.failure});
  }

  Result<Interaction, AlgebraError> finish(runtime::RecoveredRun& recovered, journal::Store& store) {
    const bytecode::Program& program = image_->program();
    cycle_.result = result_of(recovered.core.end(), program.functions[recovered.function].result, program.types);
    if (recovered.ended) {
      auto recorded = recorded_result(*recovered.ended, store);
      if (!recorded) return failure(AlgebraError{std::move(recorded.error().message)});
      // A value that could not be recorded, spent memory and a cancel are nothing that the program has come to.
      cycle_.control.is_stopped = cycle_.result != *recorded;
      cycle_.result = std::move(*recorded);
    }
    const bool has_ended = recovered.ended.has_value();
    collector_->finish(recovered.core, has_ended ? Collector::RunState::Ended : Collector::RunState::Waits);

    const effects::RunSettings& settings = recovered.started.settings;
    const Control stopped = cycle_.control;
    Control bounded = stopped;
    bounded.bounds = Control::Bounds{settings.model_calls_max, settings.instructions_max,    settings.depth_max,
                                     settings.tokens_max,      settings.cost_millionths_max, settings.milliseconds_max};
    Control ordered = bounded;
    ordered.order = order_;
    Control charged = ordered;
    charged.usage = usage_;
    std::string problem;
    for (const Control& control : {stopped, bounded, ordered, charged}) {
      cycle_.control = control;
      Interaction collected = make_interaction(*collector_, *sites_, cycle_);
      auto rebuilt = reconstruct(image_, collected.artifacts);
      if (rebuilt && rebuilt->events == collected.events) return rebuilt;
      problem = rebuilt ? "the events differ" : rebuilt.error().message;
    }
    return failure(AlgebraError{"the run cannot be rebuilt from its artifacts, which is a fault of Tenon: " + problem});
  }

 private:
  static Result<CallResult, journal::StoreError> recorded_result(const Ended& ended, journal::Store& store) {
    if (ended.how != Ended::How::Returned) {
      return Failed{ended.failure.kind, ended.failure.message, ended.failure.blame};
    }
    auto value = runtime::resolve(store, ended.value);
    if (!value) return failure(std::move(value.error()));
    return std::move(*value);
  }

  std::shared_ptr<const runtime::ProgramImage> image_;
  std::optional<CallSites> sites_;
  std::optional<Collector> collector_;
  Cycle cycle_;
  std::vector<std::string> order_;
  std::vector<Control::Usage> usage_;
};

}  // namespace

Result<Interaction, AlgebraError> extract(journal::Store& store, const journal::RunName& run,
                                          const runtime::ImageSource& images) {
  const auto head = store.head(run);
  if (!head) return failure(AlgebraError{head.error().message});
  Replay replay;
  auto recovered = runtime::recover(store, *head, images, runtime::SnapshotUse::Ignore, {}, &replay);
  if (!recovered) return failure(AlgebraError{std::move(recovered.error().message)});
  auto interaction = replay.finish(*recovered, store);
  if (!interaction) return failure(AlgebraError{fmt::format("run {}: {}", run.text, interaction.error().message)});
  return interaction;
}

}  // namespace tenon::algebra
