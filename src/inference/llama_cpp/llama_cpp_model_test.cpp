#include "inference/llama_cpp/llama_cpp_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/utf8.h"
#include "inference/llama_cpp/model_for_tests.h"

namespace tenon::inference::llama_cpp {
namespace {

using ::testing::HasSubstr;

/// Collects what a model reports; checks its promises on the way.
class Collector final : public GenerationSink {
 public:
  void on_text(GenerationId generation, std::uint32_t attempt, std::string_view piece) override {
    EXPECT_EQ(attempt, 1U);
    EXPECT_FALSE(outcomes.contains(generation)) << "text after the end";
    streamed[generation] += piece;
  }
  void on_finished(GenerationId generation, GenerationOutcome outcome) override {
    EXPECT_TRUE(outcomes.emplace(generation, std::move(outcome)).second) << "two ends";
  }

  const Answer& answer(GenerationId generation) const {
    const GenerationOutcome& outcome = outcomes.at(generation);
    if (const auto* error = std::get_if<ModelError>(&outcome)) throw std::runtime_error(error->message);
    return std::get<Answer>(outcome);
  }
  const ModelError& error(GenerationId generation) const { return std::get<ModelError>(outcomes.at(generation)); }

  std::map<GenerationId, std::string> streamed;
  std::map<GenerationId, GenerationOutcome> outcomes;
};

LlamaCppOptions make_options() {
  LlamaCppOptions options;
  options.engine.file = get_builtin_model_for_tests();
  options.engine.context_tokens = 2048;
  options.engine.sequences = 16;
  options.name = "builtin";
  return options;
}

std::unique_ptr<LlamaCppModel> open_model(const LlamaCppOptions& options) {
  auto model = LlamaCppModel::open(options);
  if (!model) throw std::runtime_error(model.error().message);
  return std::move(*model);
}

/// A user message of these entries, a line each.
Message make_message(const std::vector<std::string>& entries) {
  Message message;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    message.text += entries[i];
    if (i + 1 < entries.size()) message.text += '\n';
    message.entry_ends.push_back(static_cast<std::uint32_t>(message.text.size()));
  }
  return message;
}

GenerationRequest make_request(const std::vector<std::string>& entries, std::uint32_t tokens_max = 8) {
  GenerationRequest request;
  request.messages.push_back(make_message(entries));
  request.sampling.tokens_max = tokens_max;
  request.timeout = std::chrono::minutes(30);  // the machine may be busy
  return request;
}

std::shared_ptr<const AnswerSchema> make_schema(std::string json) {
  return std::make_shared<AnswerSchema>(AnswerSchema{"answer", std::move(json)});
}

constexpr const char* call_schema = R"({"type":"object","properties":{"tool":{"enum":["add","subtract","multiply"]},
  "x":{"type":"integer","minimum":0,"maximum":100},"why":{"type":"string","maxLength":12}},
  "required":["tool","x","why"],"additionalProperties":false})";

void run(LlamaCppModel& model, const Collector& collector, std::size_t outcomes) {
  while (collector.outcomes.size() < outcomes) model.poll(std::chrono::milliseconds(100));
}

const Answer& ask(LlamaCppModel& model, Collector& collector, GenerationId id, GenerationRequest request) {
  const std::size_t outcomes = collector.outcomes.size();
  model.start(id, std::move(request), collector);
  run(model, collector, outcomes + 1);
  return collector.answer(id);
}

/// The tokens of prompts as a tree: what a perfect cache evaluates.
class TokenTree {
 public:
  explicit TokenTree(const LlamaCppOptions& options)
      : engine_(std::move(*Engine::open(options.engine))),
        tokenizer_(std::move(*PromptTokenizer::open(
            engine_->vocabulary(),
            {.kind = PromptFrame::Kind::ChatTemplate, .chat_template = engine_->chat_template(), .raw = {}}))) {}

  /// Adds a prompt; gives the number of its tokens that were not on the tree.
  std::uint32_t add(const GenerationRequest& request) {
    std::vector<Token> path;
    std::uint32_t added = 0;
    const auto tokens = tokenizer_.tokenize(request.messages, 100'000);
    for (const Token token : tokens.value()) {
      path.push_back(token);
      if (nodes_.insert(path).second) ++added;
    }
    return added;
  }

 private:
  std::unique_ptr<Engine> engine_;
  PromptTokenizer tokenizer_;
  std::set<std::vector<Token>> nodes_;
};

TEST(LlamaCppModelTest, AnswersInTextAndCountsTokens) {
  auto model = open_model(make_options());
  Collector collector;
  const Answer& answer = ask(*model, collector, 1, make_request({"Write one short sentence about rain."}, 24));
  EXPECT_FALSE(answer.text.empty());
  EXPECT_EQ(answer.text, collector.streamed[1]);
  EXPECT_EQ(answer.model, "builtin");
  EXPECT_EQ(answer.usage.computed, answer.usage.prompt);
  EXPECT_EQ(answer.usage.reused, 0U);
  EXPECT_EQ(answer.usage.forced, 0U);
  EXPECT_LE(answer.usage.generated, 24U);
  EXPECT_GT(answer.usage.generated, 0U);
  EXPECT_EQ(answer.finish == Finish::CutOff, answer.usage.generated == 24U);
}

TEST(LlamaCppModelTest, HoldsAnAnswerInsideItsSchema) {
  auto model = open_model(make_options());
  Collector collector;
  for (GenerationId id = 0; id < 6; ++id) {
    GenerationRequest request = make_request({fmt::format("What is {} times seven? Choose a tool.", id)}, 200);
    request.schema = make_schema(call_schema);
    request.sampling.temperature = id % 2 == 0 ? 0.0F : 1.5F;
    request.sampling.seed = id;
    model->start(id, std::move(request), collector);
  }
  run(*model, collector, 6);
  for (GenerationId id = 0; id < 6; ++id) {
    const Answer& answer = collector.answer(id);
    EXPECT_EQ(answer.finish, Finish::Complete);
    const auto value = nlohmann::json::parse(answer.text);
    EXPECT_TRUE(value.at("tool") == "add" || value.at("tool") == "subtract" || value.at("tool") == "multiply");
    EXPECT_GE(value.at("x").get<int>(), 0);
    EXPECT_LE(value.at("x").get<int>(), 100);
    EXPECT_TRUE(value.at("why").is_string());
    EXPECT_EQ(value.size(), 3U);
    // `{"tool":"`, `","x":`, `,"why":"` leave no choice.
    EXPECT_GE(answer.usage.forced, 7U);
    EXPECT_LT(answer.usage.forced, answer.usage.generated);
  }
}

TEST(LlamaCppModelTest, CutsATypedAnswerOffWhereItIsTooLong) {
  auto model = open_model(make_options());
  Collector collector;
  GenerationRequest request = make_request({"Count."}, 5);
  request.schema = make_schema(R"({"type":"array","items":{"type":"integer","minimum":0,"maximum":9},"minItems":20})");
  const Answer& answer = ask(*model, collector, 1, std::move(request));
  EXPECT_EQ(answer.finish, Finish::CutOff);
  EXPECT_EQ(answer.usage.generated, 5U);
}

TEST(LlamaCppModelTest, EvaluatesNothingForAnAnswerWithoutChoice) {
  auto model = open_model(make_options());
  Collector collector;
  GenerationRequest request = make_request({"Say yes."});
  request.schema = make_schema(R"({"const":{"answer":"yes"}})");
  const Answer& answer = ask(*model, collector, 1, std::move(request));
  EXPECT_EQ(answer.text, R"({"answer":"yes"})");
  EXPECT_EQ(answer.finish, Finish::Complete);
  EXPECT_EQ(answer.usage.computed, 0U);
  EXPECT_EQ(answer.usage.forced, answer.usage.generated);
}

TEST(LlamaCppModelTest, RefusesASchemaThatItCannotEnforce) {
  auto model = open_model(make_options());
  Collector collector;
  GenerationRequest request = make_request({"List."});
  request.schema = make_schema(R"({"type":"array","items":{"type":"integer"},"uniqueItems":true})");
  model->start(1, std::move(request), collector);
  run(*model, collector, 1);
  EXPECT_EQ(collector.error(1).kind, ModelErrorKind::Rejected);
  EXPECT_THAT(collector.error(1).message, HasSubstr("uniqueItems"));
}

// main injects two entries and calls f; f injects and calls g; both return; main calls a sibling; then eight branches
// run at once. Each call's prompt is what is on the stack.
TEST(LlamaCppModelTest, EvaluatesEachTokenOfTheContextTreeOnce) {
  const LlamaCppOptions options = make_options();
  auto model = open_model(options);
  TokenTree tree(options);
  Collector collector;
  const std::vector<std::string> stack = {"You plan the work of a small bakery. Answer briefly.",
                                          "The oven holds twelve loaves. Flour is short this week; butter is not."};
  GenerationId id = 0;
  const auto call = [&](std::vector<std::string> own) {
    own.insert(own.begin(), stack.begin(), stack.end());
    const GenerationRequest request = make_request(own);
    const std::uint32_t expected = tree.add(request);
    const Usage usage = ask(*model, collector, ++id, request).usage;
    EXPECT_EQ(usage.computed, expected) << "call " << id;
    EXPECT_EQ(usage.computed + usage.reused, usage.prompt) << "call " << id;
    return usage;
  };
  call({});
  call({"f: How many loaves for Monday?"});
  call({"f: How many loaves for Monday?", "g: How much flour is that?"});
  const Usage sibling = call({"h: Which bread sells best in the rain?"});
  EXPECT_GT(sibling.reused, sibling.computed);
  EXPECT_EQ(call({"f: How many loaves for Monday?"}).computed, 0U);  // the very same prompt again

  std::uint32_t expected = 0;
  for (GenerationId branch = 100; branch < 108; ++branch) {
    std::vector<std::string> entries = stack;
    entries.emplace_back("The branches below share this entry, which no call has had before.");
    entries.push_back(fmt::format("Task {}: say what day {} of the week is for.", branch, branch));
    const GenerationRequest request = make_request(entries);
    expected += tree.add(request);
    model->start(branch, request, collector);
  }
  run(*model, collector, id + 8);
  std::uint32_t computed = 0;
  for (GenerationId branch = 100; branch < 108; ++branch) computed += collector.answer(branch).usage.computed;
  EXPECT_EQ(computed, expected);
}

TEST(LlamaCppModelTest, EvaluatesOnePromptOnceForManyThatAreTheSame) {
  const LlamaCppOptions options = make_options();
  auto model = open_model(options);
  Collector collector;
  constexpr GenerationId count = 2000;
  for (GenerationId id = 0; id < count; ++id) {
    GenerationRequest request = make_request({"Name a colour."}, 1);
    request.sampling.temperature = 1;
    request.sampling.seed = id;
    model->start(id, std::move(request), collector);
  }
  run(*model, collector, count);
  std::uint32_t computed = 0;
  std::set<std::string> texts;
  for (GenerationId id = 0; id < count; ++id) {
    computed += collector.answer(id).usage.computed;
    texts.insert(collector.answer(id).text);
  }
  EXPECT_EQ(computed, collector.answer(0).usage.prompt);
  EXPECT_GT(texts.size(), 10U);  // the seeds differ
}

TEST(LlamaCppModelTest, ReturnsTheSameAnswerAloneInABatchAndWithACachedPrefix) {
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 5; ++i) {
    GenerationRequest request = make_request(
        {"Here are some facts about a harbour town, its ferries and its weather in the autumn.",
         fmt::format("The ferry number {} leaves at {} in the morning and is late when the fog is thick.", i, 6 + i),
         "Write a sentence about it."},
        16);
    if (i == 3) request.schema = make_schema(call_schema);
    if (i == 3) request.sampling.tokens_max = 100;
    // Chance, so that a difference in the last bits has an effect.
    request.sampling.temperature = 1.2F;
    request.sampling.seed = static_cast<std::uint64_t>(i);
    requests.push_back(std::move(request));
  }
  std::vector<std::string> alone;
  for (const GenerationRequest& request : requests) {
    auto model = open_model(make_options());
    Collector collector;
    alone.push_back(ask(*model, collector, 1, request).text);
  }
  auto model = open_model(make_options());
  Collector together;
  for (std::size_t i = 0; i < requests.size(); ++i) model->start(i, requests[i], together);
  run(*model, together, requests.size());
  Collector again;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(together.answer(i).text, alone[i]) << i;
    EXPECT_EQ(ask(*model, again, i, requests[i]).text, alone[i]) << i;
    EXPECT_GT(again.answer(i).usage.reused, 0U);
  }
}

TEST(LlamaCppModelTest, MakesWayWhenRoomRunsOutAndLosesNothing) {
  LlamaCppOptions options = make_options();
  options.engine.context_tokens = 256;
  options.engine.cache_tokens = 256;  // for all together
  const auto make = [](int i) {
    GenerationRequest request = make_request({fmt::format("Tell a long story about the number {}.", i)}, 60);
    request.sampling.temperature = 0.8F;
    request.sampling.seed = static_cast<std::uint64_t>(i);
    return request;
  };
  std::vector<std::string> alone;
  for (int i = 0; i < 4; ++i) {
    auto model = open_model(options);
    Collector collector;
    alone.push_back(ask(*model, collector, 1, make(i)).text);
  }
  auto model = open_model(options);
  Collector collector;
  for (int i = 0; i < 4; ++i) model->start(static_cast<GenerationId>(i), make(i), collector);
  run(*model, collector, 4);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(collector.answer(static_cast<GenerationId>(i)).text, alone[static_cast<std::size_t>(i)]);
}

// A long answer must not keep those who wait from the dead cells of a full cache.
TEST(LlamaCppModelTest, BeginsOnAnEmptyCacheBesideALongAnswer) {
  LlamaCppOptions options = make_options();
  options.engine.context_tokens = 512;
  options.engine.cache_tokens = 512;
  auto model = open_model(options);
  Collector collector;
  GenerationRequest story = make_request({"Tell a long story."}, 40);
  const std::string alone = ask(*model, collector, 1, story).text;
  std::string text;
  for (int i = 0; i < 90; ++i) text += fmt::format(" {}", i % 7);
  for (GenerationId id = 2; id < 4; ++id) ask(*model, collector, id, make_request({fmt::format("{}{}", id, text)}, 1));
  model->start(4, story, collector);
  model->start(5, make_request({"5" + text}, 1), collector);
  run(*model, collector, 5);
  EXPECT_EQ(collector.answer(4).text, alone);
  EXPECT_LT(collector.answer(5).usage.milliseconds, collector.answer(4).usage.milliseconds);
}

TEST(LlamaCppModelTest, WorksInTheFastModeTooWhenRoomRunsOut) {
  LlamaCppOptions options = make_options();
  options.engine.determinism = Determinism::None;
  options.engine.context_tokens = 256;
  options.engine.cache_tokens = 256;
  auto model = open_model(options);
  Collector collector;
  for (GenerationId id = 0; id < 4; ++id) {
    GenerationRequest request = make_request({fmt::format("Count to {}.", id)}, 90);
    request.schema =
        make_schema(R"({"type":"array","items":{"type":"integer","minimum":0,"maximum":9},"minItems":200})");
    model->start(id, std::move(request), collector);
  }
  run(*model, collector, 4);
  for (GenerationId id = 0; id < 4; ++id) {
    EXPECT_EQ(collector.answer(id).finish, Finish::CutOff);
    EXPECT_EQ(collector.answer(id).usage.generated, 90U);
  }
}

TEST(LlamaCppModelTest, ReportsTheNumbersOfATooLongPrompt) {
  LlamaCppOptions options = make_options();
  options.engine.context_tokens = 256;
  auto model = open_model(options);
  Collector collector;
  std::string text;
  for (int i = 0; i < 300; ++i) text += " word";
  model->start(1, make_request({text}), collector);
  model->start(2, make_request({std::string(10'000'000, 'x')}), collector);
  run(*model, collector, 2);
  EXPECT_EQ(collector.error(1).kind, ModelErrorKind::ContextFull);
  EXPECT_THAT(collector.error(1).message, HasSubstr("256"));
  EXPECT_THAT(collector.error(1).message, HasSubstr(std::to_string(collector.error(1).usage.prompt)));
  EXPECT_EQ(collector.error(2).kind, ModelErrorKind::ContextFull);
}

TEST(LlamaCppModelTest, CutsOffWhereTheContextEnds) {
  LlamaCppOptions options = make_options();
  options.engine.context_tokens = 64;
  options.engine.cache_tokens = 256;
  auto model = open_model(options);
  Collector collector;
  GenerationRequest request = make_request({"Count from one to one hundred."}, 1000);
  request.schema = make_schema(R"({"type":"array","items":{"type":"integer","minimum":0,"maximum":9},"minItems":200})");
  const Answer& answer = ask(*model, collector, 1, std::move(request));
  EXPECT_EQ(answer.finish, Finish::CutOff);
  EXPECT_EQ(answer.usage.prompt + answer.usage.generated, 64U);
}

TEST(LlamaCppModelTest, CancelsWhatRunsAndWhatWaits) {
  LlamaCppOptions options = make_options();
  options.engine.sequences = 1;
  auto model = open_model(options);
  Collector collector;
  model->start(1, make_request({"Tell a long story."}, 200), collector);
  model->start(2, make_request({"Tell another story."}, 200), collector);
  while (collector.streamed[1].empty()) model->poll(std::chrono::milliseconds(0));
  model->cancel(2);
  EXPECT_EQ(collector.error(2).kind, ModelErrorKind::Cancelled);
  model->cancel(1);
  EXPECT_EQ(collector.error(1).kind, ModelErrorKind::Cancelled);
  EXPECT_GT(collector.error(1).usage.generated, 0U);
  model->cancel(1);
  EXPECT_FALSE(ask(*model, collector, 3, make_request({"Hello."}, 2)).text.empty());
}

TEST(LlamaCppModelTest, EndsWhatTakesTooLong) {
  auto model = open_model(make_options());
  Collector collector;
  GenerationRequest request = make_request({"Tell a very long story."}, 2000);
  request.timeout = std::chrono::milliseconds(150);
  model->start(1, std::move(request), collector);
  model->start(2, make_request({"Hello."}, 2), collector);
  run(*model, collector, 2);
  EXPECT_EQ(collector.error(1).kind, ModelErrorKind::TimedOut);
  EXPECT_EQ(collector.answer(2).usage.generated, 2U);
}

TEST(LlamaCppModelTest, StartsFromWithinASink) {
  auto model = open_model(make_options());
  struct Chain final : GenerationSink {
    void on_text(GenerationId, std::uint32_t, std::string_view) override {}
    void on_finished(GenerationId generation, GenerationOutcome outcome) override {
      EXPECT_TRUE(std::holds_alternative<Answer>(outcome));
      ++finished;
      if (generation < 3) model->start(generation + 1, make_request({"Hello."}, 1), *this);
    }
    LlamaCppModel* model = nullptr;
    int finished = 0;
  } chain;
  chain.model = model.get();
  model->start(1, make_request({"Hello."}, 1), chain);
  while (chain.finished < 3) model->poll(std::chrono::milliseconds(10));
}

TEST(LlamaCppModelTest, WakesFromAnotherThread) {
  auto model = open_model(make_options());
  const auto before = std::chrono::steady_clock::now();
  std::jthread waker([&] { model->wake(); });
  model->poll(std::chrono::seconds(30));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST(LlamaCppModelTest, ContinuesATextInRawMode) {
  LlamaCppOptions options = make_options();
  options.prompt_mode = PromptMode::Raw;
  auto model = open_model(options);
  Collector collector;
  const Answer& answer = ask(*model, collector, 1, make_request({"Name the colour of the sky in one word."}, 24));
  EXPECT_FALSE(answer.text.empty());
  EXPECT_EQ(answer.text.find(options.raw.stop), std::string::npos);
  EXPECT_EQ(answer.text, collector.streamed[1]);
}

TEST(LlamaCppModelTest, EndsATextAtItsLargestLength) {
  for (const PromptMode mode : {PromptMode::Auto, PromptMode::Raw}) {
    LlamaCppOptions options = make_options();
    options.prompt_mode = mode;
    auto model = open_model(options);
    Collector collector;
    for (GenerationId id = 0; id < 4; ++id) {
      GenerationRequest request = make_request({"Tell a very long story about the sea, in French."}, 400);
      request.text_form = std::make_shared<TextForm>(TextForm{.length_min = 20, .length_max = 40, .patterns = {}});
      request.sampling.temperature = id == 0 ? 0.0F : 1.5F;
      request.sampling.seed = id;
      model->start(id, std::move(request), collector);
    }
    run(*model, collector, 4);
    for (GenerationId id = 0; id < 4; ++id) {
      const Answer& answer = collector.answer(id);
      EXPECT_EQ(answer.finish, Finish::Complete);
      EXPECT_EQ(find_invalid_utf8(answer.text), std::string_view::npos);
      EXPECT_LE(count_code_points(answer.text), 40U) << answer.text;
      // In raw mode the frame's stop can end a text before.
      if (mode == PromptMode::Auto) {
        EXPECT_GE(count_code_points(answer.text), 20U) << answer.text;
      }
      EXPECT_EQ(answer.text, collector.streamed[id]);
    }
  }
}

TEST(LlamaCppModelTest, HoldsATextInItsPattern) {
  auto model = open_model(make_options());
  Collector collector;
  GenerationRequest request = make_request({"Invent a code for an order of tea."}, 400);
  request.text_form =
      std::make_shared<TextForm>(TextForm{.length_min = {}, .length_max = 8, .patterns = {"[A-Z]{3}-[0-9]+"}});
  const Answer& answer = ask(*model, collector, 1, std::move(request));
  EXPECT_EQ(answer.finish, Finish::Complete);
  EXPECT_THAT(answer.text, ::testing::MatchesRegex("[A-Z][A-Z][A-Z]-[0-9]+"));
  EXPECT_LE(answer.text.size(), 8U);
}

TEST(LlamaCppModelTest, ReportsAFormThatNoTextCanHave) {
  auto model = open_model(make_options());
  Collector collector;
  GenerationRequest request = make_request({"Hello."});
  request.label = "greet";
  request.text_form = std::make_shared<TextForm>(TextForm{.length_min = 3, .length_max = {}, .patterns = {"[A-Z]{2}"}});
  model->start(1, std::move(request), collector);
  run(*model, collector, 1);
  EXPECT_EQ(collector.error(1).kind, ModelErrorKind::Rejected);
  EXPECT_THAT(collector.error(1).message, HasSubstr("text for `greet` cannot be enforced"));
}

TEST(LlamaCppModelTest, ReportsWhatIsWrongWithAFile) {
  LlamaCppOptions options = make_options();
  options.engine.file = "no/such/file.gguf";
  EXPECT_THAT(LlamaCppModel::open(options).error().message, HasSubstr("no/such/file.gguf"));
  options.engine.file = "/proc/self/exe";
  EXPECT_THAT(LlamaCppModel::open(options).error().message, HasSubstr("is not a model"));
  options = make_options();
  options.prompt_mode = PromptMode::Named;
  options.chat_template = "no-such-template";
  EXPECT_THAT(LlamaCppModel::open(options).error().message, HasSubstr("chatml"));
}

}  // namespace
}  // namespace tenon::inference::llama_cpp
