#include "bare_loop.h"

#include <llama.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "bare loop: %s\n", what);
  std::exit(1);
}

}  // namespace

struct BareLoop::State {
  llama_model* model = nullptr;
  llama_context* context = nullptr;
  const llama_vocab* vocab = nullptr;
  std::vector<llama_token> prompt;
};

BareLoop::BareLoop(const std::filesystem::path& model_file) : state_(std::make_unique<State>()) {
  llama_model_params model_options = llama_model_default_params();
  model_options.n_gpu_layers = 0;
  state_->model = llama_model_load_from_file(model_file.c_str(), model_options);
  demand(state_->model != nullptr, "the model cannot be loaded");
  state_->vocab = llama_model_get_vocab(state_->model);
  llama_context_params options = llama_context_default_params();
  options.n_ctx = 2048;
  options.n_threads = 1;
  options.n_threads_batch = 1;
  state_->context = llama_init_from_model(state_->model, options);
  demand(state_->context != nullptr, "no context can be made");
}

BareLoop::~BareLoop() {
  llama_free(state_->context);
  llama_model_free(state_->model);
}

double BareLoop::read_prompt(std::span<const std::int32_t> prompt) {
  state_->prompt.assign(prompt.begin(), prompt.end());
  llama_memory_clear(llama_get_memory(state_->context), false);
  const Clock::time_point begin = Clock::now();
  const llama_batch batch =
      llama_batch_get_one(state_->prompt.data(), static_cast<std::int32_t>(state_->prompt.size()));
  demand(llama_decode(state_->context, batch) == 0, "the prompt cannot be evaluated");
  llama_synchronize(state_->context);
  return seconds_since(begin);
}

BareLoop::Written BareLoop::write(std::uint32_t tokens_max) {
  // Goes back to the end of the prompt and evaluates its last token again for the logits, outside the measured time.
  const auto prompt_size = static_cast<llama_pos>(state_->prompt.size());
  llama_memory_seq_rm(llama_get_memory(state_->context), 0, prompt_size - 1, -1);
  demand(llama_decode(state_->context, llama_batch_get_one(&state_->prompt.back(), 1)) == 0, "no token");
  const std::int32_t vocab_size = llama_vocab_n_tokens(state_->vocab);
  Written written;
  const Clock::time_point begin = Clock::now();
  while (written.tokens.size() < tokens_max) {
    const float* logits = llama_get_logits_ith(state_->context, -1);
    auto token = static_cast<llama_token>(std::max_element(logits, logits + vocab_size) - logits);
    if (llama_vocab_is_eog(state_->vocab, token)) break;
    written.tokens.push_back(token);
    if (written.tokens.size() == tokens_max) break;
    demand(llama_decode(state_->context, llama_batch_get_one(&token, 1)) == 0, "a token cannot be evaluated");
  }
  written.seconds = seconds_since(begin);
  return written;
}
