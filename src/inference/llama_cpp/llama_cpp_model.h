#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inference/llama_cpp/engine.h"
#include "inference/llama_cpp/prompt.h"
#include "inference/model.h"

namespace tenon::inference::llama_cpp {

/// How messages become a prompt.
enum class PromptMode : std::uint8_t {
  Auto,   ///< the chat template in the model's file; raw when it has none
  Raw,    ///< plain text with a few examples, for models that only continue a text
  Named,  ///< the template that `chat_template` gives
};

struct LlamaCppOptions {
  EngineOptions engine;
  std::string name;  ///< what the model reports; empty: the name in its file
  PromptMode prompt_mode = PromptMode::Auto;
  std::string chat_template;  ///< for `Named`: the name of a template that llama.cpp knows (`chatml`), or Jinja text
  RawFrame raw;
};

/// A model file run by llama.cpp in this process. The key-value cache follows the context tree: what a prompt has in
/// common with an earlier or a running one is not evaluated again, branches that are started together evaluate their
/// common prefix once, and all generations in progress advance in one batch. Thousands may be started; those without
/// room are queued. `poll` works in slices of one batch, so that other work gets its turn. Answers with a schema
/// are constrained token by token: they satisfy it, or are cut off.
class LlamaCppModel final : public Model {
 public:
  /// Loads the file (tenths of a second for a small model). Fails with a message for people.
  [[nodiscard]] static Result<std::unique_ptr<LlamaCppModel>, EngineError> open(const LlamaCppOptions& options);
  LlamaCppModel(const LlamaCppModel&) = delete;
  LlamaCppModel& operator=(const LlamaCppModel&) = delete;
  ~LlamaCppModel() override;

  [[nodiscard]] std::string_view name() const override;
  void start(GenerationId generation, GenerationRequest request, GenerationSink& sink) override;
  [[nodiscard]] std::optional<GenerationRequest> sent_form(const GenerationRequest& request) const override;
  void cancel(GenerationId generation) override;
  void poll(std::chrono::milliseconds wait) override;
  void wake() override;

  /// The length that prompt and answer together may have, in tokens.
  [[nodiscard]] std::uint32_t context_tokens() const;

 private:
  struct State;
  explicit LlamaCppModel(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tenon::inference::llama_cpp
