#include "engine/model_choice.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include "inference/judged/judged_model.h"
#include "inference/llama_cpp/llama_cpp_model.h"
#include "inference/llama_cpp/model_file.h"
#include "inference/openai_http/openai_model.h"
#include "inference/recorded/recorded_model.h"
#include "inference/recorded/recording_model.h"
#include "inference/scripted/scripted_model.h"

namespace tenon::engine {
namespace {

using inference::Model;

using Opened = Result<std::unique_ptr<Model>, EngineError>;

EngineError model_failure(std::string message) {
  return {EngineError::Kind::Failed, std::move(message)};
}

/// A script or a recording is read as a whole.
constexpr std::size_t script_bytes_max = std::size_t{1} << 30U;

Opened open_llama(const ModelChoice& choice, const std::string& path) {
  inference::llama_cpp::LlamaCppOptions options;
  options.engine.file = path;
  const std::uint32_t cores = std::max(1U, std::thread::hardware_concurrency());
  options.engine.threads = choice.threads > 0 ? choice.threads : cores;
  options.engine.context_tokens = choice.context_tokens;
  // With several threads, the order of additions depends on the length, so equal bits require one thread.
  options.engine.determinism =
      choice.same_bits ? inference::llama_cpp::Determinism::SameBits : inference::llama_cpp::Determinism::None;
  if (choice.same_bits) options.engine.threads = choice.threads > 0 ? choice.threads : 1;
  if (choice.raw_prompts) options.prompt_mode = inference::llama_cpp::PromptMode::Raw;
  auto model = inference::llama_cpp::LlamaCppModel::open(options);
  if (!model) return failure(model_failure(model.error().message));
  return std::unique_ptr<Model>(std::move(*model));
}

Opened open_builtin(const ModelChoice& choice, const System& system) {
  const auto folder =
      inference::llama_cpp::make_models_folder(system.variable("XDG_CACHE_HOME"), system.variable("HOME"));
  if (!folder) return failure(model_failure(folder.error().message));
  const auto notice = [&](std::string_view text) { system.notify(NoticeKind::Progress, text); };
  const auto file = inference::llama_cpp::fetch_builtin_model(*folder, notice);
  if (!file) return failure(model_failure(file.error().message));
  return open_llama(choice, file->string());
}

Opened open_openai(const ModelChoice& choice, const std::string& name, Watched watched, const System& system) {
  inference::OpenAiOptions options;
  if (const std::string url = system.variable("OPENAI_BASE_URL"); !url.empty()) options.base_url = url;
  options.api_key = inference::Secret(system.variable("OPENAI_API_KEY"));
  options.model = name;
  options.fields = choice.request_fields;
  options.streaming = watched == Watched::Yes ? inference::Streaming::On : inference::Streaming::Off;
  options.ca_file = system.variable("SSL_CERT_FILE");
  std::string proxy = system.variable("HTTPS_PROXY");
  if (proxy.empty()) proxy = system.variable("https_proxy");
  options.proxy = options.base_url.starts_with("https:") ? proxy : system.variable("http_proxy");
  options.no_proxy = system.variable("no_proxy");
  Clock& clock = system.clock;
  auto model =
      inference::OpenAiModel::open(std::move(options), {system.random_unit, [&clock] { return clock.wall(); }});
  if (!model) {
    return failure(model_failure(fmt::format("cannot use the model `openai:{}`: {}", name, model.error().message)));
  }
  return std::unique_ptr<Model>(std::move(*model));
}

EngineError cannot_read(const std::string& path, const FileError& error) {
  return model_failure(fmt::format("cannot read `{}`: {}", path, error.message));
}

Opened open_script(const std::string& path, const System& system) {
  const auto text = system.files.read_file(path, script_bytes_max);
  if (!text) return failure(cannot_read(path, text.error()));
  auto script = inference::parse_script(*text);
  if (!script) {
    const auto& error = script.error();
    return failure(model_failure(fmt::format("{}:{}:{}: {}", path, error.line, error.column, error.message)));
  }
  return std::make_unique<inference::ScriptedModel>(std::move(*script));
}

Opened open_recorded(const std::string& path, const System& system) {
  const auto text = system.files.read_file(path, script_bytes_max);
  if (!text) return failure(cannot_read(path, text.error()));
  auto recording = inference::parse_recording(*text);
  if (!recording) {
    return failure(model_failure(fmt::format("{}:{}: {}", path, recording.error().line, recording.error().message)));
  }
  return std::make_unique<inference::RecordedModel>(std::move(*recording));
}

/// Opens a model when it is first asked: a program that does not ask it does not wait until its file is loaded. What
/// can be checked without that is checked before.
class DeferredModel final : public Model {
 public:
  DeferredModel(std::string name, std::function<Opened()> open) : name_(std::move(name)), open_(std::move(open)) {}

  [[nodiscard]] std::string_view name() const override { return model_ ? model_->name() : std::string_view(name_); }
  void start(inference::GenerationId generation, inference::GenerationRequest request,
             inference::GenerationSink& sink) override {
    if (!model_) {
      Opened opened = open_();
      if (!opened) {
        return sink.on_finished(generation,
                                inference::ModelError{inference::ModelErrorKind::Rejected, opened.error().message, {}});
      }
      model_ = std::move(*opened);
      opened_.store(model_.get(), std::memory_order_release);
    }
    model_->start(generation, std::move(request), sink);
  }
  void convert_to_sent(inference::GenerationRequest& request) const override {
    inference::leave_out_form_note(request);  // only llama.cpp's models are opened late, and they enforce the schema
  }
  void cancel(inference::GenerationId generation) override {
    if (model_) model_->cancel(generation);
  }
  void poll(std::chrono::milliseconds wait) override {
    if (model_) model_->poll(wait);
  }
  void wake() override {
    if (Model* const model = opened_.load(std::memory_order_acquire)) model->wake();
  }

 private:
  std::string name_;
  std::function<Opened()> open_;
  std::unique_ptr<Model> model_;
  std::atomic<Model*> opened_{nullptr};  ///< for `wake`, which other threads call
};

/// Opens the model of `choice.spec`. `setting`: the setting that it was chosen with, for messages.
Opened open_chosen(const ModelChoice& choice, std::string_view setting, Watched watched, const System& system) {
  const std::size_t colon = choice.spec.find(':');
  const std::string kind = choice.spec.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : choice.spec.substr(colon + 1);
  if (choice.spec == "builtin") {
    const auto folder =
        inference::llama_cpp::make_models_folder(system.variable("XDG_CACHE_HOME"), system.variable("HOME"));
    if (!folder) return failure(model_failure(folder.error().message));
    return std::make_unique<DeferredModel>("builtin", [choice, system] { return open_builtin(choice, system); });
  }
  if (kind == "gguf" && !rest.empty()) {
    if (auto checked = inference::llama_cpp::check_model_file(rest); !checked) {
      return failure(model_failure(std::move(checked.error().message)));
    }
    return std::make_unique<DeferredModel>(rest, [choice, rest] { return open_llama(choice, rest); });
  }
  if (kind == "openai" && !rest.empty()) return open_openai(choice, rest, watched, system);
  if (kind == "script" && !rest.empty()) return open_script(rest, system);
  if (kind == "recorded" && !rest.empty()) return open_recorded(rest, system);
  return failure(EngineError{
      EngineError::Kind::Usage,
      fmt::format("expected builtin, gguf:PATH, openai:NAME, script:FILE or recorded:FILE, got `{}`", choice.spec),
      std::string(setting)});
}

/// Opens the model, and the judge if a separate one was chosen.
Opened open_all(const ModelChoice& choice, Watched watched, const System& system) {
  Opened writer = open_chosen(choice, "model", watched, system);
  if (!writer || choice.judge.empty() || choice.judge == choice.spec) return writer;
  ModelChoice of_judge = choice;
  of_judge.spec = choice.judge;
  Opened judge = open_chosen(of_judge, "judge", watched, system);
  if (!judge) return judge;
  return std::make_unique<inference::JudgedModel>(std::move(*writer), std::move(*judge));
}

/// Opens the model, and records requests and answers if a file was chosen for them.
Opened open_chosen_and_record(const ModelChoice& choice, Watched watched, const System& system) {
  Opened model = open_all(choice, watched, system);
  if (!model || choice.record.empty()) return model;
  const int file = ::open(choice.record.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0)
    return failure(
        model_failure(fmt::format("cannot write `{}`: {}", choice.record, std::generic_category().message(errno))));
  const std::shared_ptr<const int> owned(new int(file), [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  });
  return std::make_unique<inference::RecordingModel>(
      std::move(*model), [owned, system, path = choice.record](std::string_view line) {
        while (!line.empty()) {
          const ssize_t written = ::write(*owned, line.data(), line.size());
          if (written < 0 && errno == EINTR) continue;
          if (written <= 0) return system.notify(NoticeKind::Warning, fmt::format("cannot write `{}`", path));
          line.remove_prefix(static_cast<std::size_t>(written));
        }
      });
}

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
  return open_chosen_and_record(choice, watched, system);
}

std::unique_ptr<Model> open_no_model() {
  return std::make_unique<inference::ScriptedModel>(inference::Script{});
}

}  // namespace tenon::engine
