#include "engine/model_providers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "inference/decoding/enforced_form.h"
#include "inference/llama_cpp/llama_cpp_model.h"
#include "inference/llama_cpp/model_file.h"
#include "inference/openai_http/openai_model.h"
#include "inference/recorded/recorded_model.h"
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
      if (!opened) {  // an outage: a person or time can repair a file, a full memory, or the download
        return sink.on_finished(
            generation, inference::ModelError{inference::ModelErrorKind::Unreachable, opened.error().message, {}});
      }
      model_ = std::move(*opened);
      opened_.store(model_.get(), std::memory_order_release);
    }
    model_->start(generation, std::move(request), sink);
  }
  [[nodiscard]] std::optional<inference::GenerationRequest> sent_form(
      const inference::GenerationRequest& request) const override {
    // Only llama.cpp's models are opened late: their token masks enforce the form.
    return inference::decoding::without_enforced_form(request);
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

Opened open_llama(const std::string& path, const ModelChoice& choice) {
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

Opened open_gguf(const std::string& path, const ModelChoice& choice, Watched /*watched*/, const System& /*system*/) {
  if (auto checked = inference::llama_cpp::check_model_file(path); !checked) {
    return failure(model_failure(std::move(checked.error().message)));
  }
  return std::make_unique<DeferredModel>(path, [choice, path] { return open_llama(path, choice); });
}

Opened fetch_and_open_builtin(const ModelChoice& choice, const System& system) {
  const auto folder =
      inference::llama_cpp::make_models_folder(system.variable("XDG_CACHE_HOME"), system.variable("HOME"));
  if (!folder) return failure(model_failure(folder.error().message));
  const auto notice = [&](std::string_view text) { system.notify(NoticeKind::Progress, text); };
  const auto file = inference::llama_cpp::fetch_builtin_model(*folder, notice);
  if (!file) return failure(model_failure(file.error().message));
  return open_llama(file->string(), choice);
}

Opened open_builtin(const std::string& /*rest*/, const ModelChoice& choice, Watched /*watched*/, const System& system) {
  const auto folder =
      inference::llama_cpp::make_models_folder(system.variable("XDG_CACHE_HOME"), system.variable("HOME"));
  if (!folder) return failure(model_failure(folder.error().message));
  return std::make_unique<DeferredModel>("builtin",
                                         [choice, system] { return fetch_and_open_builtin(choice, system); });
}

Opened open_openai(const std::string& name, const ModelChoice& choice, Watched watched, const System& system) {
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

Opened open_script(const std::string& path, const ModelChoice& /*choice*/, Watched /*watched*/, const System& system) {
  const auto text = system.files.read_file(path, script_bytes_max);
  if (!text) return failure(cannot_read(path, text.error()));
  auto script = inference::parse_script(*text);
  if (!script) {
    const auto& error = script.error();
    return failure(model_failure(fmt::format("{}:{}:{}: {}", path, error.line, error.column, error.message)));
  }
  return std::make_unique<inference::ScriptedModel>(std::move(*script));
}

Opened open_recorded(const std::string& path, const ModelChoice& /*choice*/, Watched /*watched*/,
                     const System& system) {
  const auto text = system.files.read_file(path, script_bytes_max);
  if (!text) return failure(cannot_read(path, text.error()));
  auto recording = inference::parse_recording(*text);
  if (!recording) {
    return failure(model_failure(fmt::format("{}:{}: {}", path, recording.error().line, recording.error().message)));
  }
  return std::make_unique<inference::RecordedModel>(std::move(*recording));
}

using Rest = ModelProvider::Rest;

constexpr std::array providers = {
    ModelProvider{"builtin", Rest::Nothing, "", "llama_cpp",
                  "The model that comes with Tenon, in the process; fetched once and cached", open_builtin},
    ModelProvider{"gguf", Rest::Path, "PATH", "llama_cpp", "A GGUF file, in the process", open_gguf},
    ModelProvider{"openai", Rest::Name, "NAME", "openai",
                  "A model of an OpenAI-compatible endpoint: OPENAI_BASE_URL, OPENAI_API_KEY", open_openai},
    ModelProvider{"script", Rest::Path, "FILE", "tenon.script", "A script of answers, for tests and demonstrations",
                  open_script},
    ModelProvider{"recorded", Rest::Path, "FILE", "tenon.recorded", "Answers that --record has written", open_recorded},
};

}  // namespace

std::string ModelProvider::form() const {
  return rest == Rest::Nothing ? std::string(prefix) : fmt::format("{}:{}", prefix, placeholder);
}

std::span<const ModelProvider> model_providers() {
  return providers;
}

const ModelProvider* find_provider(std::string_view spec) {
  const std::string_view prefix = spec.substr(0, spec.find(':'));
  const auto* const found = std::ranges::find(providers, prefix, &ModelProvider::prefix);
  return found == providers.end() ? nullptr : found;
}

std::string list_model_forms(std::string_view after_default) {
  std::string list;
  for (const ModelProvider& provider : providers) {
    if (!list.empty()) list += &provider == &providers.back() ? " or " : ", ";
    list += provider.form();
    if (provider.prefix == default_model) list += after_default;
  }
  return list;
}

Opened open_with_provider(const std::string& spec, std::string_view setting, const ModelChoice& choice, Watched watched,
                          const System& system) {
  const std::size_t colon = spec.find(':');
  const std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  const ModelProvider* const provider = find_provider(spec);
  if (provider != nullptr && (provider->rest == Rest::Nothing ? spec == provider->prefix : !rest.empty())) {
    return provider->open(rest, choice, watched, system);
  }
  return failure(EngineError{EngineError::Kind::Usage, fmt::format("expected {}, got `{}`", list_model_forms(), spec),
                             std::string(setting)});
}

}  // namespace tenon::engine
