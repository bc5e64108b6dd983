#include "inference/openai_http/openai_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/openai_testing.h"
#include "tests/support/patience.h"
#include "tests/support/tls_front.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace tenon::test;
using Clock = std::chrono::steady_clock;

TEST(OpenAiModel, SendsMessagesAndReadsTheAnswer) {
  MockServerThread server(replies({answering("a \"quoted\"\nanswer 🎉")}));
  const auto model = open_model(options_for(server));
  GenerationRequest request = ask("Is water wet?\n\"Yes\" or \"no\".");
  request.messages.insert(request.messages.begin(), {Role::System, "Be brief.", {}});
  request.messages.push_back({Role::Assistant, "Yes.", {}});
  request.sampling = {.temperature = 0.7F, .seed = 42, .tokens_max = 77};
  const Answer answer = get_answer(*model, request);
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
  EXPECT_THAT(server.heads().at(0), HasSubstr("Authorization: Bearer " + std::string(test_key)));
  EXPECT_THAT(server.heads().at(0), Not(HasSubstr("Expect")));
}

TEST(OpenAiModel, ASchemaTravelsAsResponseFormat) {
  MockServerThread server(replies({answering(R"({"ok":true})")}));
  const auto model = open_model(options_for(server));
  GenerationRequest request = ask("Is water wet?");
  const std::string schema = R"({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]})";
  request.schema = std::make_shared<AnswerSchema>(AnswerSchema{"is_wet", "{}", schema});
  EXPECT_EQ(get_answer(*model, request).text, R"({"ok":true})");
  EXPECT_THAT(
      server.bodies().at(0),
      HasSubstr(R"("response_format":{"type":"json_schema","json_schema":{"name":"is_wet","strict":true,"schema":)" +
                schema + "}}"));
}

TEST(OpenAiModel, ASchemaThatStrictModeRejectsIsSentAsNonStrict) {
  MockServerThread server(replies({answering(R"({"a":1})")}));
  const auto model = open_model(options_for(server));
  GenerationRequest request = ask("Count.");
  const std::string schema = R"({"type":"object","additionalProperties":{"type":"integer"}})";
  request.schema = std::make_shared<AnswerSchema>(AnswerSchema{"count", schema, ""});
  EXPECT_EQ(get_answer(*model, request).text, R"({"a":1})");
  EXPECT_THAT(server.bodies().at(0), HasSubstr(R"("json_schema":{"name":"count","strict":false,"schema":)" + schema));
}

TEST(OpenAiModel, TheShownPromptIsThePromptThatIsSent) {
  const auto with_schema = [](std::string strict) {
    GenerationRequest request = ask("Is water wet?");
    request.form_note = FormNote{.message = request.messages.size()};
    request.messages.push_back({Role::User, "Answer with JSON.", {}});
    request.schema = std::make_shared<AnswerSchema>(AnswerSchema{"is_wet", R"({"minLength":1})", std::move(strict)});
    return request;
  };
  for (const SchemaField field : {SchemaField::JsonSchema, SchemaField::JsonObject, SchemaField::Omit}) {
    for (const char* const strict : {"", R"({"strict":1})"}) {
      MockServerThread server(replies({answering("{}")}));
      OpenAiOptions options = options_for(server);
      options.fields.schema = field;
      const auto model = open_model(options);
      const GenerationRequest shown = model->sent_form(with_schema(strict)).value_or(with_schema(strict));
      static_cast<void>(get_answer(*model, with_schema(strict)));
      const auto body = nlohmann::json::parse(server.bodies().at(0));
      ASSERT_EQ(body["messages"].size(), shown.messages.size());
      for (std::size_t at = 0; at < shown.messages.size(); ++at) {
        EXPECT_EQ(body["messages"][at]["content"], shown.messages[at].text);
      }
      const bool has_schema = body.contains("response_format") && body["response_format"].contains("json_schema");
      ASSERT_EQ(has_schema, shown.schema != nullptr);
      if (has_schema) {
        EXPECT_EQ(body["response_format"]["json_schema"]["schema"], nlohmann::json::parse(shown.schema->json_schema));
      }
      EXPECT_EQ(shown.messages.size(), field == SchemaField::JsonSchema && *strict != 0 ? 1U : 2U);
    }
  }
}

TEST(OpenAiModel, ARefusalKeepsTheServersWordsAndHidesTheKey) {
  MockServerThread server(
      replies({{Send{http_reply(401, R"({"error":{"message":"Incorrect API key provided: )" + std::string(test_key) +
                                         R"(.","type":"invalid_request_error"}})")}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Misconfigured);
  EXPECT_EQ(error.message,
            "HTTP 401: Incorrect API key provided: [key]. (set OPENAI_API_KEY to a key that the endpoint accepts)");
  EXPECT_EQ(error.endpoint, "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(server.counts().requests, 1U);
}

TEST(OpenAiModel, ConnectionsAreUsedAgain) {
  MockServerThread server(replies({answering("ok")}));
  const auto model = open_model(options_for(server));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(get_answer(*model, ask("again")).text, "ok");
  EXPECT_EQ(server.counts().connections, 1U);
  EXPECT_EQ(server.counts().requests, 20U);
}

/// Client and server of a connection are in this process. By default a process may have 1,024 open files.
class ManyFiles {
 public:
  ManyFiles() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit many = {std::max<rlim_t>(before_.rlim_cur, wanted), std::max<rlim_t>(before_.rlim_max, wanted)};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &many), 0) << "a process may have " << before_.rlim_max << " open files here";
  }
  ~ManyFiles() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  ManyFiles(const ManyFiles&) = delete;
  ManyFiles& operator=(const ManyFiles&) = delete;

 private:
  static constexpr rlim_t wanted = 4'096;
  rlimit before_ = {};
};

TEST(OpenAiModel, AThousandAtOnce) {
  const ManyFiles many_files;
  MockServerThread server([](const HttpRequest& request) {
    const auto body = nlohmann::json::parse(request.body);
    return ReplyPlan{Wait{milliseconds(500)},
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

TEST(OpenAiModel, NoMoreAreSentAtOnceThanTheLimit) {
  MockServerThread server([](const HttpRequest&) {
    return ReplyPlan{Wait{milliseconds(5)}, Send{http_reply(200, chat_reply_json("ok"))}};
  });
  OpenAiOptions options = options_for(server);
  options.requests_in_flight_max = 4;
  const auto model = open_model(std::move(options));
  GenerationRecorder recorder;
  for (GenerationId id = 0; id < 50; ++id) model->start(id, ask("hello"), recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 50));
  EXPECT_EQ(server.counts().in_progress_max, 4U);
  EXPECT_EQ(server.counts().connections, 4U);
}

TEST(OpenAiModel, BurstsUseNoMoreConnectionsThanTheLimit) {
  MockServerThread server([](const HttpRequest& request) {
    const auto body = nlohmann::json::parse(request.body);
    return ReplyPlan{Wait{milliseconds(5)},
                     Send{http_reply(200, chat_reply_json(body["messages"][0]["content"].get<std::string>()))}};
  });
  OpenAiOptions options = options_for(server);
  options.requests_in_flight_max = 150;  // these do not share one set of connections
  const auto model = open_model(std::move(options));
  for (int burst = 0; burst < 3; ++burst) {
    GenerationRecorder recorder;
    for (GenerationId id = 0; id < 400; ++id) model->start(id, ask("text " + std::to_string(id)), recorder);
    ASSERT_TRUE(recorder.wait_for(*model, 400));
    for (const auto& [id, outcome] : recorder.outcomes) {
      ASSERT_TRUE(std::holds_alternative<Answer>(outcome));
      EXPECT_EQ(std::get<Answer>(outcome).text, "text " + std::to_string(id));
    }
  }
  EXPECT_LE(server.counts().in_progress_max, 150U);
  EXPECT_LE(server.counts().connections, 150U);
}

TEST(OpenAiModel, AnOpenConnectionIsUsedAfterOtherRequestsWereCancelled) {
  MockServerThread server([](const HttpRequest& request) -> ReplyPlan {
    if (request.body.find("silent") != std::string_view::npos) return {StaySilent{}};
    return answering("ok");
  });
  const auto model = open_model(options_for(server));
  GenerationRecorder recorder;
  model->start(0, ask("hello"), recorder);
  for (GenerationId id = 1; id <= 200; ++id) model->start(id, ask("silent"), recorder);
  const auto deadline = Clock::now() + patience;
  while ((recorder.outcomes.empty() || server.counts().requests < 201) && Clock::now() < deadline) {
    model->poll(milliseconds(10));
  }
  ASSERT_EQ(server.counts().requests, 201U);
  ASSERT_TRUE(recorder.outcomes.contains(0));
  for (GenerationId id = 1; id <= 200; ++id) model->cancel(id);
  EXPECT_EQ(get_answer(*model, ask("again")).text, "ok");
  EXPECT_EQ(server.counts().connections, 201U);
}

TEST(OpenAiModel, ATimeoutRunsInLineToo) {
  MockServerThread server(replies({{StaySilent{}}}));
  OpenAiOptions options = options_for(server);
  options.requests_in_flight_max = 1;
  const auto model = open_model(std::move(options));
  GenerationRecorder recorder;
  model->start(1, ask("blocks the line"), recorder);
  GenerationRequest request = ask("waits");
  request.timeout = milliseconds(50);
  model->start(2, request, recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 1));
  EXPECT_EQ(std::get<ModelError>(recorder.outcomes.at(2)).kind, ModelErrorKind::TimedOut);
  EXPECT_THAT(std::get<ModelError>(recorder.outcomes.at(2)).message, HasSubstr("it was not sent"));
}

TEST(OpenAiModel, CancelEndsAGenerationAtAnyStage) {
  MockServerThread server([](const HttpRequest& request) -> ReplyPlan {
    if (request.body.find("fail") != std::string_view::npos) return {Send{http_reply(503, "", "Retry-After: 5\r\n")}};
    return {StaySilent{}};
  });
  OpenAiOptions options = options_for(server);
  options.requests_in_flight_max = 2;
  const auto model = open_model(std::move(options));
  GenerationRecorder recorder;
  model->start(1, ask("fail"), recorder);
  model->start(2, ask("silent"), recorder);
  model->start(3, ask("silent"), recorder);
  model->start(4, ask("in line"), recorder);
  for (int i = 0; i < 10; ++i) model->poll(milliseconds(10));
  EXPECT_EQ(server.counts().requests, 3U);
  EXPECT_TRUE(recorder.outcomes.empty());
  for (GenerationId id = 1; id <= 4; ++id) {
    model->cancel(id);
    ASSERT_TRUE(recorder.outcomes.contains(id));
    EXPECT_EQ(std::get<ModelError>(recorder.outcomes.at(id)).kind, ModelErrorKind::Cancelled);
  }
  model->cancel(1);
  model->cancel(99);
  for (int i = 0; i < 3; ++i) model->poll(milliseconds(5));
  for (GenerationId id = 1; id <= 4; ++id) EXPECT_EQ(recorder.finished_count.at(id), 1U);
}

TEST(OpenAiModel, ASinkMayStartAndCancel) {
  MockServerThread server([](const HttpRequest& request) -> ReplyPlan {
    const auto body = nlohmann::json::parse(request.body);
    return {Send{http_reply(200, chat_reply_json(body["messages"][0]["content"].get<std::string>()))}};
  });
  const auto model = open_model(options_for(server));
  struct ChainSink final : GenerationSink {
    void on_text(GenerationId, std::uint32_t, std::string_view) override {}
    void on_finished(GenerationId id, GenerationOutcome outcome) override {
      ends.emplace_back(id, std::holds_alternative<Answer>(outcome));
      if (id == 1 && ends.size() < 5) {
        model->start(1, ask("again"), *this);  // its own id is free again
        model->start(2, ask("to be cancelled"), *this);
        model->cancel(2);
      }
    }
    Model* model = nullptr;
    std::vector<std::pair<GenerationId, bool>> ends;
  };
  ChainSink sink;
  sink.model = model.get();
  model->start(1, ask("first"), sink);
  for (int i = 0; i < 500 && sink.ends.size() < 5; ++i) model->poll(milliseconds(10));
  EXPECT_THAT(sink.ends, ElementsAre(std::pair(1U, true), std::pair(2U, false), std::pair(1U, true),
                                     std::pair(2U, false), std::pair(1U, true)));
}

TEST(OpenAiModel, RequestsWaitWhileTheyMayNotBegin) {
  MockServerThread server(replies({answering("yes")}));
  const auto model = open_model(options_for(server));
  bool may_begin = false;
  model->begin_only_while([&] { return may_begin; });
  GenerationRecorder recorder;
  model->start(1, ask("hello"), recorder);
  for (int i = 0; i < 20; ++i) model->poll(milliseconds(5));
  EXPECT_EQ(server.counts().requests, 0U);
  may_begin = true;
  for (int i = 0; i < 500 && recorder.outcomes.empty(); ++i) model->poll(milliseconds(10));
  EXPECT_EQ(recorder.outcomes.size(), 1U);
  EXPECT_EQ(server.counts().requests, 1U);
}

TEST(OpenAiModel, WakeEndsAPollThatWaits) {
  MockServerThread server(replies({{StaySilent{}}}));
  const auto model = open_model(options_for(server));
  GenerationRecorder recorder;
  model->start(1, ask("hello"), recorder);
  std::atomic<bool> is_woken = false;
  std::thread waker([&] {
    std::this_thread::sleep_for(milliseconds(100));
    is_woken = true;
    model->wake();
  });
  const auto begin = std::chrono::steady_clock::now();
  // The first polls connect and send; one of those after them waits until it is woken.
  while (!is_woken) model->poll(2 * test::patience);
  waker.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, test::patience);
  EXPECT_TRUE(recorder.outcomes.empty());
}

/// How many polls end within 300 ms, once the connections have nothing more to tell the client.
int fewest_polls(Model& model) {
  const auto deadline = Clock::now() + patience;
  int polls = 0;
  do {
    polls = 0;
    const auto begin = Clock::now();
    for (; Clock::now() - begin < milliseconds(300); ++polls) model.poll(milliseconds(300));
  } while (polls >= 20 && Clock::now() < deadline);
  return polls;
}

TEST(OpenAiModel, WaitingCostsNoProcessorTime) {
  MockServerThread server(replies({{StaySilent{}}}));
  const auto model = open_model(options_for(server));
  GenerationRecorder recorder;
  for (GenerationId id = 0; id < 100; ++id) model->start(id, ask("hello"), recorder);
  const auto deadline = Clock::now() + patience;
  while (server.counts().requests < 100 && Clock::now() < deadline) model->poll(milliseconds(5));
  ASSERT_EQ(server.counts().requests, 100U);
  EXPECT_LT(fewest_polls(*model), 20);
}

TEST(OpenAiModel, TheEndOfAnIdleConnectionCostsNoProcessorTime) {
  MockServerThread server([](const HttpRequest&) -> ReplyPlan {
    return {Send{http_reply(200, chat_reply_json("ok"))}, Close{}};
  });
  const auto model = open_model(options_for(server));
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "ok");
  EXPECT_LT(fewest_polls(*model), 20);
  EXPECT_EQ(get_answer(*model, ask("again")).text, "ok");
  EXPECT_EQ(server.counts().connections, 2U);
}

TEST(OpenAiModel, TheFieldForTheLengthFollowsTheHostOrTheOption) {
  MockServerThread server(replies({answering("ok")}));
  OpenAiOptions options = options_for(server);
  options.fields.token_limit = TokenLimitField::MaxCompletionTokens;
  options.fields.sampling = SamplingFields::Omit;
  EXPECT_EQ(get_answer(*open_model(options), ask("hello")).text, "ok");
  EXPECT_EQ(nlohmann::json::parse(server.bodies().at(0)),
            nlohmann::json::parse(
                R"({"model":"mock-1","messages":[{"role":"user","content":"hello"}],"max_completion_tokens":1024})"));
}

TEST(OpenAiModel, TheBaseUrlMayHaveASlashOrAQuery) {
  MockServerThread server(replies({answering("ok")}));
  OpenAiOptions options = options_for(server);
  options.base_url = server.base_url() + "/";
  EXPECT_EQ(get_answer(*open_model(options), ask("hello")).text, "ok");
  options.base_url = server.base_url() + "?api-version=1";
  EXPECT_EQ(get_answer(*open_model(options), ask("hello")).text, "ok");
  EXPECT_THAT(server.heads().at(0), StartsWith("POST /v1/chat/completions HTTP"));
  EXPECT_THAT(server.heads().at(1), StartsWith("POST /v1/chat/completions?api-version=1 HTTP"));
}

TEST(OpenAiModel, ALargePromptIsSentWhole) {
  MockServerThread server([](const HttpRequest& request) -> ReplyPlan {
    return {Send{http_reply(200, chat_reply_json(std::to_string(request.body.size())))}};
  });
  const auto model = open_model(options_for(server));
  const std::string text(3'000'000, 'x');
  EXPECT_GT(std::stoull(get_answer(*model, ask(text)).text), text.size());
}

TEST(OpenAiModel, OptionsThatCannotBeUsedAreRefused) {
  const OpenAiEnvironment environment{.random_unit = [] { return 0.5; },
                                      .wall_clock = [] { return std::chrono::system_clock::now(); }};
  OpenAiOptions good;
  good.model = "m";
  good.api_key = Secret{std::string(test_key)};
  ASSERT_TRUE(OpenAiModel::open(good, environment).has_value());
  const auto refusal_of = [&](const std::function<void(OpenAiOptions&)>& spoil) -> std::string {
    OpenAiOptions options = good;
    spoil(options);
    auto model = OpenAiModel::open(options, environment);
    if (model) return "was taken";
    EXPECT_EQ(model.error().kind, ModelErrorKind::Rejected);
    return model.error().message;
  };
  for (const auto* url : {"", "nonsense", "ftp://host/v1", "file:///etc/passwd", "http://", "https://ho st/"}) {
    EXPECT_THAT(refusal_of([&](OpenAiOptions& options) { options.base_url = url; }), HasSubstr("base URL")) << url;
  }
  EXPECT_THAT(refusal_of([](OpenAiOptions& options) { options.model = ""; }), HasSubstr("no name"));
  EXPECT_THAT(refusal_of([](OpenAiOptions& options) { options.api_key = {}; }),
              HasSubstr("api.openai.com requires an API key"));
  EXPECT_EQ(refusal_of([](OpenAiOptions& options) {
              options.api_key = {};
              options.base_url = "http://localhost:8080/v1";  // a local server needs none
            }),
            "was taken");
  EXPECT_THAT(refusal_of([](OpenAiOptions& options) { options.ca_file = "/nowhere/ca.pem"; }),
              HasSubstr("/nowhere/ca.pem"));
  const std::string message =
      refusal_of([](OpenAiOptions& options) { options.api_key = Secret{std::string(test_key) + "\r\nX-Injected: 1"}; });
  EXPECT_THAT(message, HasSubstr("line break"));
  EXPECT_THAT(message, testing::Not(HasSubstr(std::string(test_key))));
}

TEST(OpenAiModel, AServerThatNeverAnswersTimesOut) {
  const std::vector<ReplyPlan> silences = {{StaySilent{}},
                                           {Send{"HTTP/1.1 200 OK\r\n"}, StaySilent{}},
                                           {Send{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"}, StaySilent{}}};
  for (const ReplyPlan& silence : silences) {
    MockServerThread server(replies({silence}));
    const auto model = open_model(options_for(server));
    GenerationRequest request = ask("hello");
    request.timeout = milliseconds(150);
    const auto begin = Clock::now();
    const ModelError error = get_error(*model, request);
    EXPECT_EQ(error.kind, ModelErrorKind::TimedOut);
    EXPECT_THAT(error.message, HasSubstr("no answer within 0.15 s"));
    EXPECT_GE(since(begin), milliseconds(150));
    EXPECT_LT(since(begin), milliseconds(20'000));  // far below the default timeout, far above a slow machine's pause
  }
}

TEST(OpenAiModel, TheTimeoutCoversAllAttempts) {
  MockServerThread server(replies({refusing(500), refusing(500), {StaySilent{}}}));
  const auto model = open_model(options_for(server));
  GenerationRequest request = ask("hello");
  request.timeout = milliseconds(200);
  const ModelError error = get_error(*model, request);
  EXPECT_EQ(error.kind, ModelErrorKind::TimedOut);
  EXPECT_EQ(error.usage.attempts, 3U);
  EXPECT_THAT(error.message, HasSubstr("the attempt before: HTTP 500"));
}

TEST(OpenAiModel, EachFailedAttemptIsReported) {
  MockServerThread server(replies({refusing(503), refusing(502), answering("ok")}));
  const auto model = open_model(options_for(server));
  GenerationRecorder recorder;
  model->start(1, ask("hello"), recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 1));
  ASSERT_EQ(recorder.failed_attempts[1].size(), 2U);
  EXPECT_EQ(recorder.failed_attempts[1][0].failed, 1U);
  EXPECT_THAT(recorder.failed_attempts[1][0].reason, HasSubstr("HTTP 503"));
  EXPECT_GE(recorder.failed_attempts[1][0].wait, milliseconds(1));
  EXPECT_EQ(recorder.failed_attempts[1][1].failed, 2U);
}

TEST(OpenAiModel, AttemptsOfAnEarlierProcessCount) {
  MockServerThread server(replies({refusing(503)}));
  const auto model = open_model(options_for(server));
  GenerationRequest request = ask("hello");
  request.earlier = {2, milliseconds(120), "HTTP 429"};
  const auto begin = Clock::now();
  const ModelError error = get_error(*model, request);
  EXPECT_GE(since(begin), milliseconds(120));
  EXPECT_EQ(server.counts().requests, 2U);
  EXPECT_EQ(error.usage.attempts, 4U);
  EXPECT_THAT(error.message, HasSubstr("sent 4 times"));
}

TEST(OpenAiModel, AWaitOfAnEarlierProcessHasABound) {
  MockServerThread server(replies({answering("ok")}));
  OpenAiOptions options = options_for(server);
  const auto model = open_model(std::move(options));
  GenerationRequest request = ask("hello");
  request.earlier = {1, std::chrono::hours(24), "HTTP 429"};
  EXPECT_EQ(get_answer(*model, request).text, "ok");
}

TEST(OpenAiModel, TheLongestTimeoutIsNoneThatOverflows) {
  MockServerThread server(replies({answering("ok")}));
  GenerationRequest request = ask("hello");
  request.timeout = milliseconds::max();
  EXPECT_EQ(get_answer(*open_model(options_for(server)), request).text, "ok");
}

// What the transport does when connections, servers and certificates misbehave, seen through the model that uses it.

TEST(OpenAiTransport, CutConnectionsAreTriedAgain) {
  const std::string whole = http_reply(200, chat_reply_json("whole"));
  const ReplyPlan cuts[] = {
      {Reset{}},                                                              // before a byte
      {Close{}},                                                              //
      {Send{whole.substr(0, 20)}, Reset{}},                                   // within the headers
      {Send{whole.substr(0, 20)}, Close{}},                                   //
      {Send{whole.substr(0, whole.size() - 30)}, Reset{}},                    // within the body
      {Send{whole.substr(0, whole.size() - 30)}, Close{}},                    //
      {Send{"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n{}"}, Close{}},  // a length that never comes
      {Send{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"cho"}, Close{}},
  };
  for (const ReplyPlan& cut : cuts) {
    MockServerThread server(replies({cut, cut, answering("whole")}));
    const auto model = open_model(options_for(server));
    const Answer answer = get_answer(*model, ask("hello"));
    EXPECT_EQ(answer.text, "whole");
    // A connection that was kept and died before it carried a byte is replaced by libcurl itself.
    EXPECT_GE(server.counts().requests, 3U);
  }
}

TEST(OpenAiTransport, AConnectionThatIsAlwaysCutIsUnreachable) {
  MockServerThread server(replies({{Send{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"}, Close{}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Unreachable);
  EXPECT_EQ(error.usage.attempts, 4U);
  EXPECT_THAT(error.message, AllOf(StartsWith("the connection was cut"), HasSubstr("sent 4 times")));
}

TEST(OpenAiTransport, ConnectionRefused) {
  OpenAiOptions options;
  {
    const MockServerThread server(replies({answering("ok")}));
    options = options_for(server);
  }
  const auto model = open_model(std::move(options));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Unreachable);
  EXPECT_THAT(error.message, HasSubstr("check the base URL, and that the server runs"));
  // A run's hash names the message: it is the same wherever the server is, and whenever.
  EXPECT_THAT(error.message, Not(HasSubstr("127.0.0.1")));
  EXPECT_THAT(error.message, Not(HasSubstr(" ms")));
  EXPECT_THAT(error.endpoint, StartsWith("127.0.0.1:"));
  EXPECT_THAT(error.detail, HasSubstr("127.0.0.1"));
}

TEST(OpenAiTransport, ASlowDripIsRead) {
  ReplyPlan drip;
  for (const char byte : http_reply(200, chat_reply_json("slow"))) {
    drip.emplace_back(Send{std::string(1, byte)});
    drip.emplace_back(Wait{milliseconds(0)});
  }
  MockServerThread server(replies({drip}));
  const auto model = open_model(options_for(server));
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "slow");
}

TEST(OpenAiTransport, AReplyThatEndsWithItsConnectionMayBeACut) {
  MockServerThread server(replies({{Send{"HTTP/1.1 200 OK\r\n\r\n{\"choi"}, Close{}},
                                   {Send{"HTTP/1.1 200 OK\r\n\r\n" + chat_reply_json("whole")}, Close{}}}));
  const auto model = open_model(options_for(server));
  const Answer answer = get_answer(*model, ask("hello"));
  EXPECT_EQ(answer.text, "whole");
  EXPECT_EQ(answer.usage.attempts, 2U);
}

TEST(OpenAiTransport, AReplyBeyondTheLimitIsBrokenOff) {
  ReplyPlan flood = {Send{"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"}};
  for (int i = 0; i < 64; ++i) flood.emplace_back(Send{std::string(64 * 1024, ' ')});
  MockServerThread server(replies({flood}));
  OpenAiOptions options = options_for(server);
  options.reply_bytes_max = 1'000'000;
  const auto model = open_model(std::move(options));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::BadReply);
  EXPECT_THAT(error.message, HasSubstr("longer than 1000000 bytes (reply_bytes_max)"));
}

TEST(OpenAiTransport, ReplyOfExactlyTheLimitIsRead) {
  const std::string body = chat_reply_json("fits");
  MockServerThread server(replies({{Send{http_reply(200, body)}}}));
  OpenAiOptions options = options_for(server);
  options.reply_bytes_max = body.size();
  EXPECT_EQ(get_answer(*open_model(options), ask("hello")).text, "fits");
  options.reply_bytes_max = body.size() - 1;
  EXPECT_EQ(get_error(*open_model(options), ask("hello")).kind, ModelErrorKind::BadReply);
}

TEST(OpenAiTransport, AReplyThatIsNotHttpIsABadReply) {
  for (const auto* bytes :
       {"SSH-2.0-OpenSSH_9.2\r\n", "\x16\x03\x01\x02", "{\"choices\":[]}", "HTTP/9.9 200\r\n\r\n"}) {
    MockServerThread server(replies({{Send{bytes}, Close{}}}));
    const ModelError error = get_error(*open_model(options_for(server)), ask("hello"));
    EXPECT_EQ(error.kind, ModelErrorKind::BadReply) << bytes << error.message;
    EXPECT_EQ(error.usage.attempts, 1U) << bytes;
  }
}

TEST(OpenAiTransport, EndlessHeadersAreBrokenOff) {
  ReplyPlan flood = {Send{"HTTP/1.1 200 OK\r\n"}};
  for (int i = 0; i < 20'000; ++i) flood.emplace_back(Send{"X-Filler: " + std::string(1'000, 'x') + "\r\n"});
  MockServerThread server(replies({flood}));
  OpenAiOptions options = options_for(server);
  options.retry.attempts_max = 2;
  const ModelError error = get_error(*open_model(std::move(options)), ask("hello"));
  EXPECT_NE(error.kind, ModelErrorKind::TimedOut) << error.message;
}

TEST(OpenAiTransport, RedirectsAreReportedAndNotFollowed) {
  MockServerThread other(replies({answering("the key went elsewhere")}));
  MockServerThread server(
      replies({{Send{http_reply(307, "", "Location: " + other.base_url() + "/chat/completions\r\n")}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Misconfigured);
  EXPECT_EQ(error.message, "HTTP 307 (check OPENAI_BASE_URL; redirects are not followed)");
  EXPECT_THAT(error.detail, HasSubstr("redirects to " + other.base_url()));
  EXPECT_EQ(other.counts().requests, 0U);
}

TEST(OpenAiTransport, AKeptConnectionThatTheServerClosedIsReplaced) {
  MockServerThread server([](const HttpRequest& request) -> ReplyPlan {
    // The reply promises to keep the connection, and does not.
    return {Send{http_reply(200, chat_reply_json(std::to_string(request.ordinal)))}, Close{}};
  });
  OpenAiOptions options = options_for(server);
  options.retry.attempts_max = 1;
  const auto model = open_model(std::move(options));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(get_answer(*model, ask("hello")).text, std::to_string(i));
    std::this_thread::sleep_for(milliseconds(2));  // the close arrives
  }
}

TEST(OpenAiTransport, WithoutFreeSocketsTheRestTakesTurns) {
  // The server has a process of its own here, because the limit on open files is for one process.
  MockServer server([](const HttpRequest&) -> ReplyPlan {
    return {Wait{milliseconds(5)}, Send{http_reply(200, chat_reply_json("ok"))}};
  });
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    server.run(std::chrono::seconds(30));
    _exit(0);
  }
  OpenAiOptions options;
  options.base_url = server.url() + "/v1";
  options.model = "mock-1";
  const auto model = open_model(std::move(options));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit tight{.rlim_cur = 40, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  GenerationRecorder recorder;
  for (GenerationId id = 0; id < 200; ++id) model->start(id, ask("hello"), recorder);
  const bool is_done = recorder.wait_for(*model, 200);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  server.stop();
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(is_done);
  for (const auto& [id, outcome] : recorder.outcomes) {
    ASSERT_TRUE(std::holds_alternative<Answer>(outcome)) << std::get<ModelError>(outcome).message;
    EXPECT_EQ(std::get<Answer>(outcome).usage.attempts, 1U);
  }
}

/// A certificate that signs itself, made for the test by the openssl program.
class OpenAiTransportTls : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "tenon_tls_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void make_certificate(const std::string& host) {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" + host +
        " -addext subjectAltName=DNS:" + host + " -keyout " + key_file() + " -out " + certificate_file() + " 2>" +
        folder_ + "/openssl.log";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string key_file() const { return folder_ + "/key.pem"; }
  [[nodiscard]] std::string certificate_file() const { return folder_ + "/certificate.pem"; }

 private:
  std::string folder_;
};

TEST_F(OpenAiTransportTls, ACertificateOfAGivenAuthorityIsTrusted) {
  make_certificate("localhost");
  MockServerThread server(replies({answering("secret words")}));
  const TlsFront front(certificate_file(), key_file(), server.port());
  OpenAiOptions options = options_for(server);
  options.base_url = "https://localhost:" + std::to_string(front.port()) + "/v1";
  options.ca_file = certificate_file();
  const auto model = open_model(options);
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "secret words");
  EXPECT_EQ(get_answer(*model, ask("again")).text, "secret words");
  EXPECT_EQ(server.counts().connections, 1U);
}

TEST_F(OpenAiTransportTls, AnUnknownCertificateIsRefusedAndTheKeyStaysHere) {
  make_certificate("localhost");
  MockServerThread server(replies({answering("not to be heard")}));
  const TlsFront front(certificate_file(), key_file(), server.port());
  OpenAiOptions options = options_for(server);
  options.base_url = "https://localhost:" + std::to_string(front.port()) + "/v1";
  const ModelError error = get_error(*open_model(options), ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Unreachable);
  EXPECT_THAT(error.message, HasSubstr("the certificate is not trusted"));
  EXPECT_EQ(error.usage.attempts, 1U);
  EXPECT_EQ(server.counts().requests, 0U);
}

TEST_F(OpenAiTransportTls, ACertificateForAnotherHostIsRefused) {
  make_certificate("elsewhere.example");
  MockServerThread server(replies({answering("not to be heard")}));
  const TlsFront front(certificate_file(), key_file(), server.port());
  OpenAiOptions options = options_for(server);
  options.base_url = "https://localhost:" + std::to_string(front.port()) + "/v1";
  options.ca_file = certificate_file();
  options.retry.attempts_max = 1;
  EXPECT_EQ(get_error(*open_model(options), ask("hello")).kind, ModelErrorKind::Unreachable);
  EXPECT_EQ(server.counts().requests, 0U);
}

}  // namespace
}  // namespace tenon::inference
