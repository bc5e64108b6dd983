#include "cli/model_choice.h"

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

namespace tenon::cli {
namespace {

using inference::Model;

/// Why there is no model. `is_usage`: the command line is wrong.
struct ModelChoiceError {
  std::string message;
  bool is_usage = false;
};
using Opened = Result<std::unique_ptr<Model>, ModelChoiceError>;

/// A script or a recording is read as a whole.
constexpr std::size_t script_bytes_max = std::size_t{1} << 30U;

Opened open_llama(const ModelChoice& choice, const std::string& path, const Environment&) {
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
  if (!model) return failure(ModelChoiceError{model.error().message, false});
  return std::unique_ptr<Model>(std::move(*model));
}

Opened open_builtin(const ModelChoice& choice, const Environment& environment) {
  const auto folder =
      inference::llama_cpp::make_models_folder(environment.variable("XDG_CACHE_HOME"), environment.variable("HOME"));
  if (!folder) return failure(ModelChoiceError{folder.error().message, false});
  const auto notice = [&](std::string_view text) { environment.write_error(std::string(text) + "\n"); };
  const auto file = inference::llama_cpp::fetch_builtin_model(*folder, notice);
  if (!file) return failure(ModelChoiceError{file.error().message, false});
  return open_llama(choice, file->string(), environment);
}

Opened open_openai(const ModelChoice& choice, const std::string& name, Watched watched,
                   const Environment& environment) {
  inference::OpenAiOptions options;
  if (const std::string url = environment.variable("OPENAI_BASE_URL"); !url.empty()) options.base_url = url;
  options.api_key = inference::Secret(environment.variable("OPENAI_API_KEY"));
  options.model = name;
  options.fields = choice.request_fields;
  options.streaming = watched == Watched::Yes ? inference::Streaming::On : inference::Streaming::Off;
  options.ca_file = environment.variable("SSL_CERT_FILE");
  std::string proxy = environment.variable("HTTPS_PROXY");
  if (proxy.empty()) proxy = environment.variable("https_proxy");
  options.proxy = options.base_url.starts_with("https:") ? proxy : environment.variable("http_proxy");
  options.no_proxy = environment.variable("no_proxy");
  Clock& clock = environment.clock;
  auto model =
      inference::OpenAiModel::open(std::move(options), {environment.random_unit, [&clock] { return clock.wall(); }});
  if (!model) {
    return failure(
        ModelChoiceError{fmt::format("cannot use the model `openai:{}`: {}", name, model.error().message), false});
  }
  return std::unique_ptr<Model>(std::move(*model));
}

ModelChoiceError cannot_read(const std::string& path, const FileError& error) {
  return {fmt::format("cannot read `{}`: {}", path, error.message), false};
}

Opened open_script(const std::string& path, const Environment& environment) {
  const auto text = environment.files.read_file(path, script_bytes_max);
  if (!text) return failure(cannot_read(path, text.error()));
  auto script = inference::parse_script(*text);
  if (!script) {
    const auto& error = script.error();
    return failure(ModelChoiceError{fmt::format("{}:{}:{}: {}", path, error.line, error.column, error.message), false});
  }
  return std::make_unique<inference::ScriptedModel>(std::move(*script));
}

Opened open_recorded(const std::string& path, const Environment& environment) {
  const auto text = environment.files.read_file(path, script_bytes_max);
  if (!text) return failure(cannot_read(path, text.error()));
  auto recording = inference::parse_recording(*text);
  if (!recording) {
    return failure(
        ModelChoiceError{fmt::format("{}:{}: {}", path, recording.error().line, recording.error().message), false});
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

/// Opens the model of `choice.spec`. `option`: the option that it was chosen with, for messages.
Opened open_chosen(const ModelChoice& choice, std::string_view option, Watched watched,
                   const Environment& environment) {
  const std::size_t colon = choice.spec.find(':');
  const std::string kind = choice.spec.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : choice.spec.substr(colon + 1);
  if (choice.spec == "builtin") {
    const auto folder =
        inference::llama_cpp::make_models_folder(environment.variable("XDG_CACHE_HOME"), environment.variable("HOME"));
    if (!folder) return failure(ModelChoiceError{folder.error().message, false});
    return std::make_unique<DeferredModel>("builtin",
                                           [choice, &environment] { return open_builtin(choice, environment); });
  }
  if (kind == "gguf" && !rest.empty()) {
    if (auto checked = inference::llama_cpp::check_model_file(rest); !checked) {
      return failure(ModelChoiceError{std::move(checked.error().message), false});
    }
    return std::make_unique<DeferredModel>(
        rest, [choice, rest, &environment] { return open_llama(choice, rest, environment); });
  }
  if (kind == "openai" && !rest.empty()) return open_openai(choice, rest, watched, environment);
  if (kind == "script" && !rest.empty()) return open_script(rest, environment);
  if (kind == "recorded" && !rest.empty()) return open_recorded(rest, environment);
  return failure(ModelChoiceError{
      fmt::format("invalid value for `{}`: expected builtin, gguf:PATH, openai:NAME, script:FILE or recorded:FILE, got "
                  "`{}`",
                  option, choice.spec),
      true});
}

/// Opens the model, and the judge if a separate one was chosen.
Opened open_all(const ModelChoice& choice, Watched watched, const Environment& environment) {
  Opened writer = open_chosen(choice, "--model", watched, environment);
  if (!writer || choice.judge.empty() || choice.judge == choice.spec) return writer;
  ModelChoice of_judge = choice;
  of_judge.spec = choice.judge;
  Opened judge = open_chosen(of_judge, "--judge", watched, environment);
  if (!judge) return judge;
  return std::make_unique<inference::JudgedModel>(std::move(*writer), std::move(*judge));
}

/// Opens the model, and records requests and answers if `--record` was given.
Opened open_chosen_and_record(const ModelChoice& choice, Watched watched, const Environment& environment) {
  Opened model = open_all(choice, watched, environment);
  if (!model || choice.record.empty()) return model;
  const int file = ::open(choice.record.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0)
    return failure(ModelChoiceError{
        fmt::format("cannot write `{}`: {}", choice.record, std::generic_category().message(errno)), false});
  const std::shared_ptr<const int> owned(new int(file), [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  });
  const auto& write_error = environment.write_error;
  return std::make_unique<inference::RecordingModel>(
      std::move(*model), [owned, write_error, path = choice.record](std::string_view line) {
        while (!line.empty()) {
          const ssize_t written = ::write(*owned, line.data(), line.size());
          if (written < 0 && errno == EINTR) continue;
          if (written <= 0) return write_error(fmt::format("warning: cannot write `{}`\n", path));
          line.remove_prefix(static_cast<std::size_t>(written));
        }
      });
}

}  // namespace

Watched watched_by(const Environment& environment, const bytecode::Program& program) {
  const bool has_guard = std::any_of(program.sites.begin(), program.sites.end(),
                                     [](const bytecode::Site& site) { return site.guard != bytecode::no_function; });
  return environment.error_is_terminal || has_guard ? Watched::Yes : Watched::No;
}

bool complete_choice(ModelChoice& choice, const effects::RunSettings& settings) {
  if (choice.spec.empty()) choice.spec = settings.model;
  if (choice.judge.empty()) choice.judge = settings.judge;
  return choice.spec == settings.model && choice.judge == settings.judge;
}

Result<std::unique_ptr<Model>, int> open_model(const ModelChoice& choice, Watched watched,
                                               const Environment& environment) {
  Opened model = open_chosen_and_record(choice, watched, environment);
  if (model) return std::move(*model);
  return failure(fail(model.error().message, environment, model.error().is_usage ? exit_usage : exit_failed));
}

Result<std::unique_ptr<Model>, int> open_no_model() {
  return std::make_unique<inference::ScriptedModel>(inference::Script{});
}

}  // namespace tenon::cli
