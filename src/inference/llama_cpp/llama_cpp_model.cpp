#include "inference/llama_cpp/llama_cpp_model.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "inference/decoding/enforced_form.h"
#include "inference/llama_cpp/scheduler.h"

namespace tenon::inference::llama_cpp {
namespace {

Result<PromptFrame, EngineError> choose_frame(const LlamaCppOptions& options, const Engine& engine) {
  PromptFrame frame;
  frame.raw = options.raw;
  switch (options.prompt_mode) {
    case PromptMode::Auto:
      frame.chat_template = engine.chat_template();
      frame.kind = frame.chat_template.empty() ? PromptFrame::Kind::Raw : PromptFrame::Kind::ChatTemplate;
      break;
    case PromptMode::Raw:
      frame.kind = PromptFrame::Kind::Raw;
      break;
    case PromptMode::Named:
      if (options.chat_template.empty()) return failure(EngineError{"The chat template to use is not named."});
      frame.chat_template = options.chat_template;
      break;
  }
  return frame;
}

}  // namespace

struct LlamaCppModel::State {
  State(std::unique_ptr<Engine> loaded, PromptTokenizer prompts, std::string model_name)
      : name(std::move(model_name)),
        engine(std::move(loaded)),
        tokenizer(std::move(prompts)),
        scheduler(*engine, tokenizer, name, &Scheduler::Clock::now) {}

  std::string name;
  std::unique_ptr<Engine> engine;
  PromptTokenizer tokenizer;
  Scheduler scheduler;

  std::mutex mutex;  // guards `woken` alone: the rest belongs to the thread that polls
  std::condition_variable condition;
  bool woken = false;
};

Result<std::unique_ptr<LlamaCppModel>, EngineError> LlamaCppModel::open(const LlamaCppOptions& options) {
  auto engine = Engine::open(options.engine);
  if (!engine) return failure(engine.error());
  auto frame = choose_frame(options, **engine);
  if (!frame) return failure(frame.error());
  auto tokenizer = PromptTokenizer::open((*engine)->vocabulary(), std::move(*frame));
  if (!tokenizer) return failure(EngineError{tokenizer.error().message});
  std::string name = !options.name.empty()        ? options.name
                     : !(*engine)->name().empty() ? (*engine)->name()
                                                  : options.engine.file.stem().string();
  return std::unique_ptr<LlamaCppModel>(
      new LlamaCppModel(std::make_unique<State>(std::move(*engine), std::move(*tokenizer), std::move(name))));
}

LlamaCppModel::LlamaCppModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
LlamaCppModel::~LlamaCppModel() = default;

std::string_view LlamaCppModel::name() const {
  return state_->name;
}

std::uint32_t LlamaCppModel::context_tokens() const {
  return state_->engine->context_tokens();
}

void LlamaCppModel::start(GenerationId generation, GenerationRequest request, GenerationSink& sink) {
  if (auto sent = sent_form(request)) request = std::move(*sent);
  state_->scheduler.start(generation, std::move(request), sink);
}

std::optional<GenerationRequest> LlamaCppModel::sent_form(const GenerationRequest& request) const {
  return decoding::without_enforced_form(request);
}

void LlamaCppModel::cancel(GenerationId generation) {
  state_->scheduler.cancel(generation);
  state_->scheduler.report();
}

void LlamaCppModel::poll(std::chrono::milliseconds wait) {
  if (!state_->scheduler.is_idle()) {
    state_->scheduler.step();
    state_->scheduler.report();
    return;
  }
  std::unique_lock lock(state_->mutex);
  state_->condition.wait_for(lock, wait, [this] { return state_->woken; });
  state_->woken = false;
}

void LlamaCppModel::wake() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->woken = true;
  }
  state_->condition.notify_one();
}

}  // namespace tenon::inference::llama_cpp
