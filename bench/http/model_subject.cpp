#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "bench/http/subject.h"
#include "inference/openai_http/openai_model.h"

namespace tenon::bench {
namespace {

using namespace tenon::inference;

constexpr std::string_view question = "Is the following statement true? Water is wet.";
constexpr std::string_view right_answer = R"({"ok":true})";
constexpr std::string_view answer_schema =
    R"({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false})";

class ModelSubject final : public Subject, private GenerationSink {
 public:
  explicit ModelSubject(const std::string& base_url)
      : schema_(std::make_shared<AnswerSchema>(
            AnswerSchema{"answer", std::string(answer_schema), std::string(answer_schema)})),
        model_(open_bench_model(base_url)) {}

  void run_sequence(std::size_t count, const StartWatch& start_watch) override {
    call(std::string(question));
    start_watch();
    for (std::size_t i = 0; i < count; ++i) call(std::string(question));
  }

  void run_loop(std::size_t rounds, const StartWatch& start_watch) override {
    call(std::string(question));
    start_watch();
    std::string history(question);
    for (std::size_t i = 0; i < rounds; ++i) {
      call(history);
      history += "\nadd({\"a\":" + std::to_string(i) + ",\"b\":1})";
      history += "\nThe result is " + std::to_string(i + 1) + ".";
    }
  }

  void run_many(std::size_t agents, std::size_t calls, const StartWatch& start_watch) override {
    call(std::string(question));
    start_watch();
    on_end_ = [this](GenerationId) {};
    std::vector<std::size_t> calls_left(agents, calls);
    std::size_t live = agents;
    on_end_ = [&](GenerationId agent) {
      if (--calls_left[agent] > 0) {
        model_->start(agent, ask(std::string(question)), *this);
      } else {
        --live;
      }
    };
    for (std::size_t agent = 0; agent < agents; ++agent) model_->start(agent, ask(std::string(question)), *this);
    while (live > 0) model_->poll(std::chrono::milliseconds(100));
  }

 private:
  [[nodiscard]] GenerationRequest ask(std::string text) const {
    GenerationRequest request;
    request.messages.push_back({Role::User, std::move(text), {}});
    request.schema = schema_;
    request.label = "answer";
    return request;
  }

  void call(std::string text) {
    bool is_done = false;
    on_end_ = [&](GenerationId) { is_done = true; };
    model_->start(0, ask(std::move(text)), *this);
    while (!is_done) model_->poll(std::chrono::milliseconds(1'000));
  }

  void on_text(GenerationId, std::uint32_t, std::string_view) override {}
  void on_finished(GenerationId generation, GenerationOutcome outcome) override {
    if (const auto* error = std::get_if<ModelError>(&outcome)) stop(error->message);
    if (std::get<Answer>(outcome).text != right_answer) stop("a wrong answer: " + std::get<Answer>(outcome).text);
    on_end_(generation);
  }

  std::shared_ptr<const AnswerSchema> schema_;
  std::unique_ptr<Model> model_;
  std::function<void(GenerationId)> on_end_;
};

}  // namespace

std::unique_ptr<Model> open_bench_model(const std::string& base_url) {
  OpenAiOptions options;
  options.base_url = base_url;
  options.api_key = Secret{"bench"};
  options.model = "mock";
  auto model = OpenAiModel::open(std::move(options), {.random_unit = [] { return 0.5; },
                                                      .wall_clock = [] { return std::chrono::system_clock::now(); }});
  if (!model) stop(model.error().message);
  return std::move(*model);
}

std::unique_ptr<Subject> make_model_subject(const std::string& base_url) {
  return std::make_unique<ModelSubject>(base_url);
}

}  // namespace tenon::bench
