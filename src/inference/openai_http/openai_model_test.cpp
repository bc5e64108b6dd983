#include "inference/openai_http/openai_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/generation_recorder.h"
#include "tests/support/mock_server.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace tenon::tests;

constexpr std::string_view key = "sk-test-0123456789abcdef";

OpenAiOptions options_for(const MockServerThread& server) {
  OpenAiOptions options;
  options.base_url = server.base_url();
  options.api_key = Secret{std::string(key)};
  options.model = "mock-1";
  options.retry.delay_first = milliseconds(2);
  options.retry.delay_max = milliseconds(8);
  return options;
}

std::unique_ptr<OpenAiModel> open_model(OpenAiOptions options) {
  auto model = OpenAiModel::open(std::move(options), {.random_unit = [] { return 0.5; },
                                                      .wall_clock = [] { return std::chrono::system_clock::now(); }});
  EXPECT_TRUE(model.has_value()) << (model ? "" : model.error().message);
  return std::move(*model);
}

GenerationRequest ask(std::string text) {
  GenerationRequest request;
  request.messages.push_back({Role::User, std::move(text), {}});
  request.timeout = milliseconds(10'000);
  return request;
}

GenerationOutcome outcome_of(Model& model, GenerationRequest request) {
  GenerationRecorder recorder;
  model.start(1, std::move(request), recorder);
  if (!recorder.wait_for(model, 1)) return ModelError{ModelErrorKind::TimedOut, "the test gave up", {}};
  EXPECT_EQ(recorder.finished_count.at(1), 1U);
  return recorder.outcomes.at(1);
}

Answer answer_of(Model& model, GenerationRequest request) {
  auto outcome = outcome_of(model, std::move(request));
  if (const auto* error = std::get_if<ModelError>(&outcome)) {
    ADD_FAILURE() << error->message;
    return {};
  }
  return std::get<Answer>(outcome);
}

ModelError error_of(Model& model, GenerationRequest request) {
  auto outcome = outcome_of(model, std::move(request));
  if (const auto* answer = std::get_if<Answer>(&outcome)) {
    ADD_FAILURE() << "answered: " << answer->text;
    return {};
  }
  ModelError error = std::get<ModelError>(outcome);
  EXPECT_THAT(error.message, Not(HasSubstr(std::string(key))));
  return error;
}

/// A handler that gives its replies in order, and the last one for ever.
RequestHandler replies(std::vector<ReplyPlan> plans) {
  return [plans = std::move(plans)](const HttpRequest& request) {
    return plans[std::min<std::size_t>(request.ordinal, plans.size() - 1)];
  };
}

ReplyPlan answering(std::string_view content) {
  return {Send{http_reply(200, chat_reply_json(content))}};
}

TEST(OpenAiModel, SendsMessagesAndReadsTheAnswer) {
  MockServerThread server(replies({answering("a \"quoted\"\nanswer 🎉")}));
  const auto model = open_model(options_for(server));
  GenerationRequest request = ask("Is water wet?\n\"Yes\" or \"no\".");
  request.messages.insert(request.messages.begin(), {Role::System, "Be brief.", {}});
  request.messages.push_back({Role::Assistant, "Yes.", {}});
  request.sampling = {.temperature = 0.7F, .seed = 42, .tokens_max = 77};
  const Answer answer = answer_of(*model, request);
  EXPECT_EQ(answer.text, "a \"quoted\"\nanswer 🎉");
  EXPECT_EQ(answer.finish, Finish::Complete);
  EXPECT_EQ(answer.model, "mock-1");
  EXPECT_EQ(answer.usage.prompt, 20U);
  EXPECT_EQ(answer.usage.reused, 8U);
  EXPECT_EQ(answer.usage.computed, 12U);
  EXPECT_EQ(answer.usage.generated, 5U);
  EXPECT_EQ(answer.usage.attempts, 1U);
  EXPECT_GT(answer.usage.milliseconds, 0.0);

  EXPECT_EQ(nlohmann::json::parse(server.bodies().at(0)), nlohmann::json::parse(R"({
    "model": "mock-1",
    "messages": [{"role": "system", "content": "Be brief."},
                 {"role": "user", "content": "Is water wet?\n\"Yes\" or \"no\"."},
                 {"role": "assistant", "content": "Yes."}],
    "max_tokens": 77, "temperature": 0.7, "seed": 42})"));
  EXPECT_THAT(server.heads().at(0), HasSubstr("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(server.heads().at(0), HasSubstr("Authorization: Bearer " + std::string(key)));
  EXPECT_THAT(server.heads().at(0), Not(HasSubstr("Expect")));
}

TEST(OpenAiModel, ASchemaTravelsAsResponseFormat) {
  MockServerThread server(replies({answering(R"({"ok":true})")}));
  const auto model = open_model(options_for(server));
  GenerationRequest request = ask("Is water wet?");
  const std::string schema = R"({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]})";
  request.schema = std::make_shared<AnswerSchema>(AnswerSchema{"is_wet", schema});
  EXPECT_EQ(answer_of(*model, request).text, R"({"ok":true})");
  EXPECT_THAT(
      server.bodies().at(0),
      HasSubstr(R"("response_format":{"type":"json_schema","json_schema":{"name":"is_wet","strict":true,"schema":)" +
                schema + "}}"));
}

TEST(OpenAiModel, ARefusalKeepsTheServersWordsAndHidesTheKey) {
  MockServerThread server(
      replies({{Send{http_reply(401, R"({"error":{"message":"Incorrect API key provided: )" + std::string(key) +
                                         R"(.","type":"invalid_request_error"}})")}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = error_of(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Rejected);
  EXPECT_EQ(error.message, "127.0.0.1:" + std::to_string(server.port()) +
                               ": HTTP 401: Incorrect API key provided: [key]. (check the API key)");
  EXPECT_EQ(server.counts().requests, 1U);
}

TEST(OpenAiModel, ConnectionsAreUsedAgain) {
  MockServerThread server(replies({answering("ok")}));
  const auto model = open_model(options_for(server));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(answer_of(*model, ask("again")).text, "ok");
  EXPECT_EQ(server.counts().connections, 1U);
  EXPECT_EQ(server.counts().requests, 20U);
}

TEST(OpenAiModel, AThousandAtOnce) {
  MockServerThread server([](const HttpRequest& request) {
    const auto body = nlohmann::json::parse(request.body);
    return ReplyPlan{Wait{milliseconds(20)},
                     Send{http_reply(200, chat_reply_json(body["messages"][0]["content"].get<std::string>()))}};
  });
  const auto model = open_model(options_for(server));
  GenerationRecorder recorder;
  for (GenerationId id = 0; id < 1'000; ++id) model->start(id, ask("text " + std::to_string(id)), recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 1'000));
  for (const auto& [id, outcome] : recorder.outcomes) {
    ASSERT_TRUE(std::holds_alternative<Answer>(outcome));
    EXPECT_EQ(std::get<Answer>(outcome).text, "text " + std::to_string(id));
    EXPECT_EQ(recorder.finished_count.at(id), 1U);
  }
  EXPECT_GT(server.counts().in_progress_max, 500U);
}

}  // namespace
}  // namespace tenon::inference
