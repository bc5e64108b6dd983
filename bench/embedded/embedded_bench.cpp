// bench_embedded MODEL RESULTS: see bench/embedded/run.
#include <fmt/format.h>
#include <llama.h>
#include <llguidance.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bare_loop.h"
#include "inference/llama_cpp/llama_cpp_model.h"

namespace {

using namespace tenon::inference;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 7;
constexpr std::uint32_t answer_tokens = 64;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Counts finished generations and keeps the last answer.
class Sink final : public GenerationSink {
 public:
  void on_text(GenerationId, std::uint32_t, std::string_view) override {}
  void on_finished(GenerationId, GenerationOutcome outcome) override {
    if (const auto* error = std::get_if<ModelError>(&outcome)) {
      fmt::print(stderr, "{}\n", error->message);
      std::exit(1);
    }
    answer = std::get<Answer>(std::move(outcome));
    generated += answer.usage.generated;
    computed += answer.usage.computed;
    ++finished;
  }
  Answer answer;
  std::uint32_t finished = 0;
  std::uint32_t generated = 0;
  std::uint32_t computed = 0;
};

std::unique_ptr<llama_cpp::LlamaCppModel> open_model(const std::string& file) {
  llama_cpp::LlamaCppOptions options;
  options.engine.file = file;
  options.engine.context_tokens = 2048;
  options.engine.cache_tokens = 8192;
  auto model = llama_cpp::LlamaCppModel::open(options);
  if (!model) {
    fmt::print(stderr, "{}\n", model.error().message);
    std::exit(1);
  }
  return std::move(*model);
}

GenerationRequest make_request(const std::string& text, std::uint32_t tokens_max) {
  GenerationRequest request;
  Message message;
  message.text = text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') message.entry_ends.push_back(static_cast<std::uint32_t>(i + 1));
  }
  request.messages.push_back(std::move(message));
  request.sampling.tokens_max = tokens_max;
  return request;
}

/// Starts all requests at once. Returns the seconds until the last one has finished.
double run(llama_cpp::LlamaCppModel& model, Sink& sink, const std::vector<GenerationRequest>& requests) {
  const std::uint32_t finished = sink.finished;
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < requests.size(); ++i) model.start(i, requests[i], sink);
  while (sink.finished < finished + requests.size()) model.poll(std::chrono::milliseconds(100));
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string make_story(int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i) {
    text += fmt::format("Entry {}: the ferry left the harbour at {} and carried {} people to the island.\n", i,
                        6 + i % 12, 20 + 3 * i);
  }
  return text;
}

/// Six calls on one stack: each sees the shared prefix and a line of its own.
std::vector<GenerationRequest> make_calls(int sentences) {
  std::vector<GenerationRequest> calls;
  for (int i = 0; i < 6; ++i) {
    calls.push_back(make_request(make_story(sentences) + fmt::format("Task {}: say how many people came.", i), 16));
  }
  return calls;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "bench_embedded MODEL RESULTS\n");
    return 2;
  }
  const std::string file = argv[1];
  auto model = open_model(file);
  BareLoop bare(file);

  const GenerationRequest plain = make_request("Tell a long story about a lighthouse and its keeper.", answer_tokens);
  GenerationRequest typed = plain;
  typed.schema =
      std::make_shared<AnswerSchema>(AnswerSchema{"story", R"({"type":"string","minLength":600,"maxLength":2000})"});

  // The bare loop gets exactly the same tokens.
  llama_cpp::EngineOptions engine_options;
  engine_options.file = file;
  engine_options.context_tokens = 512;
  auto engine = std::move(*llama_cpp::Engine::open(engine_options));
  auto tokenizer = std::move(*llama_cpp::PromptTokenizer::open(
      engine->vocabulary(),
      {.kind = llama_cpp::PromptFrame::Kind::ChatTemplate, .chat_template = engine->chat_template(), .raw = {}}));
  const std::vector<llama_cpp::Token> prompt = tokenizer.tokenize(plain.messages, 512).value();

  Sink sink;
  run(*model, sink, {plain});  // afterwards the prompt is in the cache, so only decoding is measured
  run(*model, sink, {typed});
  bare.read_prompt(prompt);
  std::vector<double> bare_rates;
  std::vector<double> plain_ratios;
  std::vector<double> typed_ratios;
  for (int round = 0; round < rounds; ++round) {
    const BareLoop::Written written = bare.write(answer_tokens);
    const double bare_rate = static_cast<double>(written.tokens.size()) / written.seconds;
    const auto measure = [&](const GenerationRequest& request) {
      const std::uint32_t before = sink.generated;
      const double seconds = run(*model, sink, {request});
      return static_cast<double>(sink.generated - before) / seconds / bare_rate;
    };
    bare_rates.push_back(bare_rate);
    plain_ratios.push_back(measure(plain));
    typed_ratios.push_back(measure(typed));
  }

  // The same calls with a cache that follows the stack, and with an empty cache for each.
  std::vector<double> reuse_gains;
  std::uint32_t computed = 0;
  for (int round = 0; round < 3; ++round) {
    const std::vector<GenerationRequest> calls = make_calls(20);
    double fresh_seconds = 0;
    for (const GenerationRequest& call : calls) {
      auto fresh = open_model(file);
      Sink fresh_sink;
      fresh_seconds += run(*fresh, fresh_sink, {call});
    }
    auto kept = open_model(file);
    Sink kept_sink;
    double kept_seconds = 0;
    for (const GenerationRequest& call : calls) kept_seconds += run(*kept, kept_sink, {call});
    computed = kept_sink.computed;
    reuse_gains.push_back(fresh_seconds / kept_seconds);
  }

  // Eight branches at once, compared with the same eight in sequence.
  std::vector<double> branch_gains;
  for (int round = 0; round < 3; ++round) {
    std::vector<GenerationRequest> branches;
    for (int i = 0; i < 8; ++i) {
      branches.push_back(make_request(make_story(10) + fmt::format("Branch {} of round {}.", i, round), 32));
    }
    auto one = open_model(file);
    Sink one_sink;
    double sequential = 0;
    for (const GenerationRequest& branch : branches) sequential += run(*one, one_sink, {branch});
    auto all = open_model(file);
    Sink all_sink;
    branch_gains.push_back(sequential / run(*all, all_sink, branches));
  }

  const nlohmann::ordered_json result = {
      {"bench", "embedded"},
      {"model", std::string(model->name())},
      {"llama.cpp", llama_version()},
      {"llguidance", llg_get_version()},
      {"threads", 1},
      {"rounds", rounds},
      {"bare_tokens_per_second", median(bare_rates)},
      {"decode_plain_ratio", median(plain_ratios)},
      {"decode_typed_ratio", median(typed_ratios)},
      {"six_calls_reuse_gain", median(reuse_gains)},
      {"six_calls_prompt_tokens_computed", computed},
      {"eight_branches_batched_gain", median(branch_gains)},
  };
  fmt::print("bare llama.cpp loop                   {:6.1f} tokens/s (1 thread)\n", median(bare_rates));
  fmt::print("Tenon / bare, plain text              {:6.3f}   (at least 0.95)\n", median(plain_ratios));
  fmt::print("Tenon / bare, held inside a schema    {:6.3f}   (at least 0.95)\n", median(typed_ratios));
  fmt::print("six calls: empty cache / kept stack   {:6.2f}\n", median(reuse_gains));
  fmt::print("eight branches: in turn / at once     {:6.2f}\n", median(branch_gains));
  std::ofstream(argv[2]) << result.dump(2) << '\n';
  return 0;
}
