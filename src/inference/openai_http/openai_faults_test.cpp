// What an endpoint can do wrong, and what becomes of the generation then.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "tests/support/openai_testing.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using namespace tenon::tests;
using Clock = std::chrono::steady_clock;

milliseconds since(Clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
}

ReplyPlan status(int code, std::string_view headers = {}) {
  return {Send{http_reply(code, R"({"error":{"message":"not now"}})", headers)}};
}

TEST(OpenAiFaults, TooManyRequestsAndServerErrorsAreSentAgain) {
  for (const int code : {429, 500, 502, 503, 529}) {
    MockServerThread server(replies({status(code), status(code), answering("at last")}));
    const auto model = open_model(options_for(server));
    const Answer answer = answer_of(*model, ask("hello"));
    EXPECT_EQ(answer.text, "at last") << code;
    EXPECT_EQ(answer.usage.attempts, 3U) << code;
    EXPECT_EQ(server.bodies().at(0), server.bodies().at(2)) << code;
  }
}

TEST(OpenAiFaults, OtherRefusalsAreNot) {
  for (const int code : {400, 401, 403, 404, 405, 408, 409, 413, 418, 422}) {
    MockServerThread server(replies({status(code), answering("never asked for")}));
    const auto model = open_model(options_for(server));
    const ModelError error = error_of(*model, ask("hello"));
    EXPECT_EQ(error.kind, ModelErrorKind::Rejected) << code;
    EXPECT_THAT(error.message, HasSubstr("HTTP " + std::to_string(code) + ": not now"));
    EXPECT_EQ(server.counts().requests, 1U) << code;
  }
}

TEST(OpenAiFaults, RetriesEnd) {
  MockServerThread server(replies({status(503)}));
  OpenAiOptions options = options_for(server);
  options.retry.attempts_max = 3;
  const auto model = open_model(std::move(options));
  const ModelError error = error_of(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Overloaded);
  EXPECT_EQ(error.usage.attempts, 3U);
  EXPECT_THAT(error.message, AllOf(HasSubstr("HTTP 503: not now"), HasSubstr("sent 3 times")));
  EXPECT_EQ(server.counts().requests, 3U);
}

TEST(OpenAiFaults, RetryAfterInSecondsIsHonoured) {
  MockServerThread server(replies({status(429, "Retry-After: 1\r\n"), answering("ok")}));
  const auto model = open_model(options_for(server));
  const auto begin = Clock::now();
  EXPECT_EQ(answer_of(*model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(1'000));
  EXPECT_LT(since(begin), milliseconds(3'000));
}

TEST(OpenAiFaults, RetryAfterAsADateIsCountedFromTheServersClock) {
  MockServerThread server(replies({status(503,
                                          "Date: Sun, 06 Nov 1994 08:49:36 GMT\r\n"
                                          "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
                                   answering("ok")}));
  const auto model = open_model(options_for(server));
  const auto begin = Clock::now();
  EXPECT_EQ(answer_of(*model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(1'000));
}

TEST(OpenAiFaults, RetryAfterAsADateWithoutTheServersClockIsCountedFromOurs) {
  MockServerThread server(replies({status(503, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), answering("ok")}));
  auto model = OpenAiModel::open(options_for(server),
                                 {.random_unit = [] { return 0.0; },
                                  .wall_clock = [] { return std::chrono::system_clock::from_time_t(784'111'776); }});
  const auto begin = Clock::now();
  EXPECT_EQ(answer_of(**model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(1'000));
}

TEST(OpenAiFaults, RetryAfterIsCappedByItsLimit) {
  MockServerThread server(replies({status(429, "Retry-After: 86400\r\n"), answering("ok")}));
  OpenAiOptions options = options_for(server);
  options.retry.retry_after_max = milliseconds(50);
  const auto model = open_model(std::move(options));
  const auto begin = Clock::now();
  EXPECT_EQ(answer_of(*model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(50));
}

TEST(OpenAiFaults, AWaitThatEndsAfterTheDeadlineIsNotBegun) {
  MockServerThread server(replies({status(429, "Retry-After: 30\r\n"), answering("never asked for")}));
  const auto model = open_model(options_for(server));
  const auto begin = Clock::now();
  const ModelError error = error_of(*model, ask("hello"));
  EXPECT_LT(since(begin), milliseconds(5'000));
  EXPECT_EQ(error.kind, ModelErrorKind::Overloaded);
  EXPECT_THAT(error.message, HasSubstr("the next attempt in 30 s would be past the timeout of 10 s"));
}

TEST(OpenAiFaults, AnExhaustedQuotaIsNotAskedAgain) {
  MockServerThread server(replies(
      {{Send{http_reply(429, R"({"error":{"message":"You exceeded your quota","code":"insufficient_quota"}})")}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = error_of(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Rejected);
  EXPECT_THAT(error.message, HasSubstr("You exceeded your quota"));
  EXPECT_EQ(server.counts().requests, 1U);
}

TEST(OpenAiFaults, APromptThatDoesNotFitIsNamedSo) {
  for (const auto* body : {R"({"error":{"message":"too long","code":"context_length_exceeded"}})",
                           R"({"error":{"message":"This model's maximum context length is 4096 tokens."}})",
                           R"({"error":{"message":"x","type":"exceed_context_size_error"}})"}) {
    MockServerThread server(replies({{Send{http_reply(400, body)}}}));
    const auto model = open_model(options_for(server));
    EXPECT_EQ(error_of(*model, ask("hello")).kind, ModelErrorKind::ContextFull) << body;
  }
}

TEST(OpenAiFaults, CutConnectionsAreTriedAgain) {
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
    const Answer answer = answer_of(*model, ask("hello"));
    EXPECT_EQ(answer.text, "whole");
    // A connection that was kept and died before it carried a byte is replaced by libcurl itself.
    EXPECT_GE(server.counts().requests, 3U);
  }
}

TEST(OpenAiFaults, AConnectionThatIsAlwaysCutIsUnreachable) {
  MockServerThread server(replies({{Send{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"}, Close{}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = error_of(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Unreachable);
  EXPECT_EQ(error.usage.attempts, 4U);
  EXPECT_THAT(error.message,
              AllOf(StartsWith("127.0.0.1:"), HasSubstr("the connection was cut"), HasSubstr("sent 4 times")));
}

TEST(OpenAiFaults, NobodyListens) {
  OpenAiOptions options;
  {
    const MockServerThread server(replies({answering("ok")}));
    options = options_for(server);
  }
  const auto model = open_model(std::move(options));
  const ModelError error = error_of(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Unreachable);
  EXPECT_THAT(error.message, HasSubstr("check the base URL, and that the server runs"));
}

TEST(OpenAiFaults, ASlowDripIsRead) {
  ReplyPlan drip;
  for (const char byte : http_reply(200, chat_reply_json("slow"))) {
    drip.emplace_back(Send{std::string(1, byte)});
    drip.emplace_back(Wait{milliseconds(0)});
  }
  MockServerThread server(replies({drip}));
  const auto model = open_model(options_for(server));
  EXPECT_EQ(answer_of(*model, ask("hello")).text, "slow");
}

TEST(OpenAiFaults, AServerThatNeverAnswersTimesOut) {
  const std::vector<ReplyPlan> silences = {{StaySilent{}},
                                           {Send{"HTTP/1.1 200 OK\r\n"}, StaySilent{}},
                                           {Send{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"}, StaySilent{}}};
  for (const ReplyPlan& silence : silences) {
    MockServerThread server(replies({silence}));
    const auto model = open_model(options_for(server));
    GenerationRequest request = ask("hello");
    request.timeout = milliseconds(150);
    const auto begin = Clock::now();
    const ModelError error = error_of(*model, request);
    EXPECT_EQ(error.kind, ModelErrorKind::TimedOut);
    EXPECT_THAT(error.message, HasSubstr("no answer within 0.15 s"));
    EXPECT_GE(since(begin), milliseconds(150));
    EXPECT_LT(since(begin), milliseconds(2'000));
  }
}

TEST(OpenAiFaults, TheTimeoutCoversAllAttempts) {
  MockServerThread server(replies({status(500), status(500), {StaySilent{}}}));
  const auto model = open_model(options_for(server));
  GenerationRequest request = ask("hello");
  request.timeout = milliseconds(200);
  const ModelError error = error_of(*model, request);
  EXPECT_EQ(error.kind, ModelErrorKind::TimedOut);
  EXPECT_EQ(error.usage.attempts, 3U);
  EXPECT_THAT(error.message, HasSubstr("the attempt before: HTTP 500"));
}

TEST(OpenAiFaults, RepliesThatAreNotTheProtocolAreBad) {
  const std::pair<std::string, std::string> cases[] = {
      {http_reply(200, "{\"choices\": [gar\x1b[31mbage"), "the reply is not JSON: {\"choices\": [gar [31mbage"},
      {http_reply(200, ""), "the reply is empty"},
      {http_reply(200, "<html>It works!</html>"), "the reply is not JSON: <html>It works!</html>"},
      {http_reply(200, "{}"), "the reply has no choices"},
  };
  for (const auto& [bytes, message] : cases) {
    MockServerThread server(replies({{Send{bytes}}}));
    const auto model = open_model(options_for(server));
    const ModelError error = error_of(*model, ask("hello"));
    EXPECT_EQ(error.kind, ModelErrorKind::BadReply);
    EXPECT_THAT(error.message, HasSubstr(message));
    EXPECT_EQ(server.counts().requests, 1U);
  }
}

TEST(OpenAiFaults, AReplyThatEndsWithItsConnectionMayBeACut) {
  MockServerThread server(replies({{Send{"HTTP/1.1 200 OK\r\n\r\n{\"choi"}, Close{}},
                                   {Send{"HTTP/1.1 200 OK\r\n\r\n" + chat_reply_json("whole")}, Close{}}}));
  const auto model = open_model(options_for(server));
  const Answer answer = answer_of(*model, ask("hello"));
  EXPECT_EQ(answer.text, "whole");
  EXPECT_EQ(answer.usage.attempts, 2U);
}

TEST(OpenAiFaults, ALengthThatIsTooShortCutsTheJson) {
  const std::string body = chat_reply_json("too long for its length");
  MockServerThread server(replies({{Send{"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n" + body}, Close{}}}));
  const auto model = open_model(options_for(server));
  EXPECT_EQ(error_of(*model, ask("hello")).kind, ModelErrorKind::BadReply);
}

TEST(OpenAiFaults, AReplyBeyondTheLimitIsBrokenOff) {
  ReplyPlan flood = {Send{"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"}};
  for (int i = 0; i < 64; ++i) flood.emplace_back(Send{std::string(64 * 1024, ' ')});
  MockServerThread server(replies({flood}));
  OpenAiOptions options = options_for(server);
  options.reply_bytes_max = 1'000'000;
  const auto model = open_model(std::move(options));
  const ModelError error = error_of(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::BadReply);
  EXPECT_THAT(error.message, HasSubstr("longer than 1000000 bytes (reply_bytes_max)"));
}

TEST(OpenAiFaults, ReplyOfExactlyTheLimitIsRead) {
  const std::string body = chat_reply_json("fits");
  MockServerThread server(replies({{Send{http_reply(200, body)}}}));
  OpenAiOptions options = options_for(server);
  options.reply_bytes_max = body.size();
  EXPECT_EQ(answer_of(*open_model(options), ask("hello")).text, "fits");
  options.reply_bytes_max = body.size() - 1;
  EXPECT_EQ(error_of(*open_model(options), ask("hello")).kind, ModelErrorKind::BadReply);
}

TEST(OpenAiFaults, RedirectsAreToldAndNotFollowed) {
  MockServerThread other(replies({answering("the key went elsewhere")}));
  MockServerThread server(
      replies({{Send{http_reply(307, "", "Location: " + other.base_url() + "/chat/completions\r\n")}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = error_of(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Rejected);
  EXPECT_THAT(error.message, HasSubstr("HTTP 307: redirects to " + other.base_url()));
  EXPECT_EQ(other.counts().requests, 0U);
}

TEST(OpenAiFaults, AKeptConnectionThatTheServerClosedIsReplaced) {
  MockServerThread server([](const HttpRequest& request) -> ReplyPlan {
    // The reply promises to keep the connection, and does not.
    return {Send{http_reply(200, chat_reply_json(std::to_string(request.ordinal)))}, Close{}};
  });
  OpenAiOptions options = options_for(server);
  options.retry.attempts_max = 1;
  const auto model = open_model(std::move(options));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(answer_of(*model, ask("hello")).text, std::to_string(i));
    std::this_thread::sleep_for(milliseconds(2));  // the close arrives
  }
}

TEST(OpenAiFaults, WhenSocketsRunOutTheRestTakesTurns) {
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

TEST(OpenAiFaults, OptionsThatCannotBeUsedAreRefused) {
  const OpenAiEnvironment environment{.random_unit = [] { return 0.5; },
                                      .wall_clock = [] { return std::chrono::system_clock::now(); }};
  OpenAiOptions good;
  good.model = "m";
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
  EXPECT_THAT(refusal_of([](OpenAiOptions& options) { options.ca_file = "/nowhere/ca.pem"; }),
              HasSubstr("/nowhere/ca.pem"));
  const std::string message =
      refusal_of([](OpenAiOptions& options) { options.api_key = Secret{std::string(test_key) + "\r\nX-Injected: 1"}; });
  EXPECT_THAT(message, HasSubstr("line break"));
  EXPECT_THAT(message, testing::Not(HasSubstr(std::string(test_key))));
}

}  // namespace
}  // namespace tenon::inference
