#include "bench/recovery/recording.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "base/ensure.h"
#include "bench/load_program.h"

namespace tenon::bench {

std::shared_ptr<const runtime::ProgramImage> load(const std::string& path) {
  return std::make_shared<const runtime::ProgramImage>(load_program(path),
                                                       inference::prompting::PromptTemplates::builtin(), nullptr);
}

/// Answers the given number of requests; the next one is never answered and sets the flag.
class Recording::CountedModel final : public inference::Model {
 public:
  explicit CountedModel(std::uint64_t answers) : answers_(answers) {}
  [[nodiscard]] std::string_view name() const override { return "counted"; }
  void start(inference::GenerationId id, inference::GenerationRequest /*request*/,
             inference::GenerationSink& sink) override {
    if (answers_-- == 0) {
      is_used_up = true;
      return;
    }
    in_progress_.push_back({id, &sink});
  }
  void cancel(inference::GenerationId /*id*/) override {}
  void poll(std::chrono::milliseconds /*wait*/) override {
    for (const auto& [id, sink] : std::exchange(in_progress_, {})) {
      sink->on_finished(
          id, inference::Answer{"Your order is on its way, and should be with you in two days.", {}, {}, "counted"});
    }
  }
  void wake() override {}
  std::atomic<bool> is_used_up = false;

 private:
  std::uint64_t answers_;
  std::deque<std::pair<inference::GenerationId, inference::GenerationSink*>> in_progress_;
};

Recording::Recording(std::shared_ptr<const runtime::ProgramImage> image, const std::string& store, std::string model)
    : image_(std::move(image)), model_name_(std::move(model)) {
  auto opened = journal::open_store(store, {.durability = journal::Durability::Process});
  if (!opened) stop(opened.error().message);
  store_ = std::move(*opened);
}

Recording::~Recording() = default;

journal::RunName Recording::run(const std::string& function, std::uint64_t steps, std::uint64_t recorded) {
  CountedModel model(recorded);
  runtime::Runtime runtime({.model = model, .clock = clock_, .store = &store_->journals()}, {});
  const auto index = runtime::find_function(image_->program(), function);
  if (!index) stop("the program has no function " + function);
  std::vector<vm::Argument> arguments;
  for (const types::TypeId type : image_->program().functions[*index].parameters) {
    if (type == types::TypeTable::context) {
      arguments.push_back({vm::Value::empty_context(), std::nullopt});
      continue;
    }
    auto value = image_->reader().read_argument(type, std::to_string(steps));
    ENSURE(value.has_value());
    arguments.push_back({std::move(*value), std::nullopt});
  }
  runtime::RunOptions options;
  options.model = model_name_;
  options.prompts = "default";
  options.budgets.model_calls = std::nullopt;
  options.budgets.instructions = std::nullopt;
  const journal::RunName name = journal::make_run_name(1);
  const runtime::RunId id = runtime.start(image_, *index, std::move(arguments), std::move(options), name);
  runtime.run(&model.is_used_up);
  const auto& end = runtime.end(id);
  if (end && !std::holds_alternative<vm::Value>(*end)) stop("a run has failed");
  if (!end && !model.is_used_up) stop("a run has not ended");
  return name;
}

journal::RunName Recording::converse(const std::string& agent, std::uint64_t turns) {
  CountedModel model(UINT64_MAX);
  runtime::Runtime runtime({.model = model, .clock = clock_, .store = &store_->journals()}, {});
  const auto& agents = image_->program().agents;
  std::uint32_t index = 0;
  while (index < agents.size() && agents[index].name != agent) ++index;
  if (index == agents.size()) stop("the program has no agent " + agent);
  const journal::RunName name = journal::make_run_name(1);
  const runtime::RunId id = runtime.start_conversation(image_, index, {}, name);
  for (std::uint64_t turn = 1; turn <= turns; ++turn) {
    runtime.run();
    const std::string said = "Where is my order number " + std::to_string(turn) + ", please?";
    if (!runtime.prompt(id, said)) stop("a prompt is refused");
    runtime.run();
    const auto& outcome = runtime.turn_outcome(id);
    if (!outcome || !std::holds_alternative<vm::Value>(*outcome)) stop("a turn has failed");
  }
  return name;
}

}  // namespace tenon::bench
