// What an endpoint's refusals and failures become, seen through the model.
#include "inference/openai_http/reply_outcome.h"

#include "tests/support/openai_testing.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using namespace tenon::test;
using Clock = std::chrono::steady_clock;

TEST(ReplyOutcome, TooManyRequestsAndServerErrorsAreSentAgain) {
  for (const int code : {429, 500, 502, 503, 529}) {
    MockServerThread server(replies({refusing(code), refusing(code), answering("at last")}));
    const auto model = open_model(options_for(server));
    const Answer answer = get_answer(*model, ask("hello"));
    EXPECT_EQ(answer.text, "at last") << code;
    EXPECT_EQ(answer.usage.attempts, 3U) << code;
    EXPECT_EQ(server.bodies().at(0), server.bodies().at(2)) << code;
  }
}

TEST(ReplyOutcome, OtherRefusalsAreNot) {
  for (const int code : {400, 401, 403, 404, 405, 408, 409, 413, 418, 422}) {
    MockServerThread server(replies({refusing(code), answering("never asked for")}));
    const auto model = open_model(options_for(server));
    const ModelError error = get_error(*model, ask("hello"));
    EXPECT_EQ(error.kind, ModelErrorKind::Rejected) << code;
    EXPECT_THAT(error.message, HasSubstr("HTTP " + std::to_string(code) + ": not now"));
    EXPECT_EQ(server.counts().requests, 1U) << code;
  }
}

TEST(ReplyOutcome, RetriesEnd) {
  MockServerThread server(replies({refusing(503)}));
  OpenAiOptions options = options_for(server);
  options.retry.attempts_max = 3;
  const auto model = open_model(std::move(options));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Overloaded);
  EXPECT_EQ(error.usage.attempts, 3U);
  EXPECT_THAT(error.message, AllOf(HasSubstr("HTTP 503: not now"), HasSubstr("sent 3 times")));
  EXPECT_EQ(server.counts().requests, 3U);
}

TEST(ReplyOutcome, RetryAfterInSecondsIsHonoured) {
  MockServerThread server(replies({refusing(429, "Retry-After: 1\r\n"), answering("ok")}));
  const auto model = open_model(options_for(server));
  const auto begin = Clock::now();
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(1'000));
  EXPECT_LT(since(begin), milliseconds(3'000));
}

TEST(ReplyOutcome, RetryAfterAsADateIsCountedFromTheServersClock) {
  MockServerThread server(replies({refusing(503,
                                            "Date: Sun, 06 Nov 1994 08:49:36 GMT\r\n"
                                            "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
                                   answering("ok")}));
  const auto model = open_model(options_for(server));
  const auto begin = Clock::now();
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(1'000));
}

TEST(ReplyOutcome, RetryAfterAsADateWithoutTheServersClockIsCountedFromOurs) {
  MockServerThread server(replies({refusing(503, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), answering("ok")}));
  auto model = OpenAiModel::open(options_for(server),
                                 {.random_unit = [] { return 0.0; },
                                  .wall_clock = [] { return std::chrono::system_clock::from_time_t(784'111'776); }});
  const auto begin = Clock::now();
  EXPECT_EQ(get_answer(**model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(1'000));
}

TEST(ReplyOutcome, RetryAfterIsCappedByItsLimit) {
  MockServerThread server(replies({refusing(429, "Retry-After: 86400\r\n"), answering("ok")}));
  OpenAiOptions options = options_for(server);
  options.retry.retry_after_max = milliseconds(50);
  const auto model = open_model(std::move(options));
  const auto begin = Clock::now();
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(50));
}

TEST(ReplyOutcome, AWaitThatEndsAfterTheDeadlineIsNotBegun) {
  MockServerThread server(replies({refusing(429, "Retry-After: 50\r\n"), answering("never asked for")}));
  const auto model = open_model(options_for(server));
  const auto begin = Clock::now();
  GenerationRequest request = ask("hello");
  request.timeout = milliseconds(40'000);
  const ModelError error = get_error(*model, request);
  EXPECT_LT(since(begin), milliseconds(30'000));
  EXPECT_EQ(error.kind, ModelErrorKind::Overloaded);
  EXPECT_THAT(error.message, HasSubstr("the timeout of 40 s leaves no time for another attempt"));
}

TEST(ReplyOutcome, AnExhaustedQuotaIsNotAskedAgain) {
  MockServerThread server(replies(
      {{Send{http_reply(429, R"({"error":{"message":"You exceeded your quota","code":"insufficient_quota"}})")}}}));
  const auto model = open_model(options_for(server));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Rejected);
  EXPECT_THAT(error.message, HasSubstr("You exceeded your quota"));
  EXPECT_EQ(server.counts().requests, 1U);
}

TEST(ReplyOutcome, APromptThatDoesNotFitIsNamedSo) {
  for (const auto* body : {R"({"error":{"message":"too long","code":"context_length_exceeded"}})",
                           R"({"error":{"message":"This model's maximum context length is 4096 tokens."}})",
                           R"({"error":{"message":"x","type":"exceed_context_size_error"}})"}) {
    MockServerThread server(replies({{Send{http_reply(400, body)}}}));
    const auto model = open_model(options_for(server));
    EXPECT_EQ(get_error(*model, ask("hello")).kind, ModelErrorKind::ContextFull) << body;
  }
}

TEST(ReplyOutcome, RepliesThatAreNotTheProtocolAreBad) {
  const std::pair<std::string, std::string> cases[] = {
      {http_reply(200, "{\"choices\": [gar\x1b[31mbage"), "the reply is not JSON: {\"choices\": [gar [31mbage"},
      {http_reply(200, ""), "the reply is empty"},
      {http_reply(200, "<html>It works!</html>"), "the reply is not JSON: <html>It works!</html>"},
      {http_reply(200, "{}"), "the reply has no choices"},
  };
  for (const auto& [bytes, message] : cases) {
    MockServerThread server(replies({{Send{bytes}}}));
    const auto model = open_model(options_for(server));
    const ModelError error = get_error(*model, ask("hello"));
    EXPECT_EQ(error.kind, ModelErrorKind::BadReply);
    EXPECT_THAT(error.message, HasSubstr(message));
    EXPECT_EQ(server.counts().requests, 1U);
  }
}

TEST(ReplyOutcome, ALengthThatIsTooShortCutsTheJson) {
  const std::string body = chat_reply_json("too long for its length");
  MockServerThread server(replies({{Send{"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n" + body}, Close{}}}));
  const auto model = open_model(options_for(server));
  EXPECT_EQ(get_error(*model, ask("hello")).kind, ModelErrorKind::BadReply);
}

TEST(Excerpt, IsOneLineThatATerminalDoesNotActOn) {
  EXPECT_EQ(excerpt("  a\r\n\tb \x1b[31mred\x07 "), "a b [31mred");
  EXPECT_EQ(excerpt("abcdef", 3), "abc…");
  EXPECT_EQ(excerpt("aé", 2), "a…");
  EXPECT_EQ(excerpt("aé🎉b", 7), "aé🎉…");
  EXPECT_EQ(excerpt("a\xFF\xC3z\u009Bq"), "a\uFFFD\uFFFDz q");
}

}  // namespace
}  // namespace tenon::inference
