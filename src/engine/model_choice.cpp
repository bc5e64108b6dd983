#include "engine/model_choice.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include "base/descriptor.h"
#include "engine/model_providers.h"
#include "inference/judged/judged_model.h"
#include "inference/recorded/recording_model.h"
#include "inference/scripted/scripted_model.h"

namespace tenon::engine {
namespace {

using inference::Model;

using Opened = Result<std::unique_ptr<Model>, EngineError>;

/// Opens the model, and the judge if a separate one was chosen.
Opened open_all(const ModelChoice& choice, Watched watched, const System& system) {
  Opened writer = open_with_provider(choice.spec, "model", choice, watched, system);
  if (!writer || choice.judge.empty() || choice.judge == choice.spec) return writer;
  Opened judge = open_with_provider(choice.judge, "judge", choice, watched, system);
  if (!judge) return judge;
  return std::make_unique<inference::JudgedModel>(std::move(*writer), std::move(*judge));
}

/// Cannot be reached.
class MissingModel final : public Model {
 public:
  explicit MissingModel(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  void start(inference::GenerationId generation, inference::GenerationRequest /*request*/,
             inference::GenerationSink& sink) override {
    const auto why = fmt::format(
        "the run's model, `{}`, was a function of the program that started it: resume the run there, in Python with "
        "`tenon.resume(…, model=…)`, or choose another model, on the command line with `--model`",
        name_);
    sink.on_finished(generation, inference::ModelError{inference::ModelErrorKind::Unreachable, why, {}});
  }
  void cancel(inference::GenerationId /*generation*/) override {}
  void poll(std::chrono::milliseconds wait) override {
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, wait, [this] { return is_woken_; });
    is_woken_ = false;
  }
  void wake() override {
    const std::scoped_lock lock(mutex_);
    is_woken_ = true;
    woken_.notify_all();
  }

 private:
  const std::string name_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool is_woken_ = false;
};

}  // namespace

Watched watched_by(const bytecode::Program& program, Watched by_person) {
  const bool has_guard = std::any_of(program.sites.begin(), program.sites.end(),
                                     [](const bytecode::Site& site) { return site.guard != bytecode::no_function; });
  return has_guard ? Watched::Yes : by_person;
}

bool complete_choice(ModelChoice& choice, const effects::RunSettings& settings) {
  if (choice.spec.empty()) choice.spec = settings.model;
  if (choice.judge.empty()) choice.judge = settings.judge;
  return choice.spec == settings.model && choice.judge == settings.judge;
}

Result<std::unique_ptr<Model>, EngineError> open_model(const ModelChoice& choice, Watched watched,
                                                       const System& system) {
  Opened model = open_all(choice, watched, system);
  if (!model || choice.record.empty()) return model;
  // Shared, because a std::function is copyable.
  const auto file = std::make_shared<const Descriptor>(
      ::open(choice.record.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file->is_open()) {
    return failure(EngineError{EngineError::Kind::Failed, fmt::format("cannot write `{}`: {}", choice.record,
                                                                      std::generic_category().message(errno))});
  }
  return std::make_unique<inference::RecordingModel>(
      std::move(*model), [file, system, path = choice.record](std::string_view line) {
        if (!write_all(*file, line)) system.notify(NoticeKind::Warning, fmt::format("cannot write `{}`", path));
      });
}

std::unique_ptr<Model> open_missing_model(const ModelChoice& choice) {
  if (!choice.spec.starts_with(own_model_prefix)) return nullptr;
  return std::make_unique<MissingModel>(choice.spec.substr(own_model_prefix.size()));
}

std::unique_ptr<Model> open_no_model() {
  return std::make_unique<inference::ScriptedModel>(inference::Script{});
}

}  // namespace tenon::engine
