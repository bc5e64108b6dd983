// What an endpoint's refusals and failures become, seen through the model.
#include "inference/openai_http/reply_outcome.h"

#include <nlohmann/json.hpp>

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
  for (const int code : {408, 409, 429, 500, 502, 503, 529}) {
    MockServerThread server(replies({refusing(code), refusing(code), answering("at last")}));
    const auto model = open_model(options_for(server));
    const Answer answer = get_answer(*model, ask("hello"));
    EXPECT_EQ(answer.text, "at last") << code;
    EXPECT_EQ(answer.usage.attempts, 3U) << code;
    EXPECT_EQ(server.bodies().at(0), server.bodies().at(2)) << code;
  }
}

TEST(ReplyOutcome, OtherRefusalsAreNot) {
  for (const int code : {400, 401, 402, 403, 404, 405, 407, 410, 418, 422}) {
    const bool is_of_settings = (code > 400 && code < 408) || code == 410;
    MockServerThread server(replies({refusing(code), answering("never asked for")}));
    const auto model = open_model(options_for(server));
    const ModelError error = get_error(*model, ask("hello"));
    EXPECT_EQ(error.kind, is_of_settings ? ModelErrorKind::Misconfigured : ModelErrorKind::Rejected) << code;
    EXPECT_THAT(error.message, HasSubstr("HTTP " + std::to_string(code) + ": not now"));
    EXPECT_EQ(error.message.find('(') != std::string::npos, is_of_settings) << "advice: " << error.message;
    EXPECT_EQ(server.counts().requests, 1U) << code;
  }
}

TEST(ReplyOutcome, WhatIsWrongWithTheSettingsIsRecognizedByItsName) {
  for (const auto& [body, advice] : std::vector<std::pair<std::string, std::string>>{
           {R"({"error":{"message":"no","code":"invalid_api_key"}})", "OPENAI_API_KEY"},
           {R"({"error":{"message":"no","type":"authentication_error"}})", "OPENAI_API_KEY"},
           {R"({"error":{"message":"no","code":"model_not_found"}})", "`--model`"},
           {R"({"error":{"message":"no","type":"invalid_request_error","param":"model"}})", "`--model`"}}) {
    for (const int status : {200, 400}) {
      MockServerThread server(replies({{Send{http_reply(status, body)}}, answering("never asked for")}));
      const ModelError error = get_error(*open_model(options_for(server)), ask("hello"));
      EXPECT_EQ(error.kind, ModelErrorKind::Misconfigured) << status << body;
      EXPECT_THAT(error.message, HasSubstr(advice)) << status << body;
      EXPECT_EQ(server.counts().requests, 1U) << status << body;
    }
  }
}

TEST(ReplyOutcome, AWrongKeyOrModelIsRecognizedByTheWordsOfServersThatGiveItNoName) {
  for (
      const auto& [body, advice] : std::vector<std::pair<std::string, std::string>>{
          {R"({"error":{"message":"API key not valid. Please pass a valid API key.","code":400,"status":"INVALID_ARGUMENT"}})",
           "OPENAI_API_KEY"},
          {R"({"error":{"message":"gpt-0 is not a valid model ID","code":400}})", "`--model`"}}) {
    MockServerThread server(replies({{Send{http_reply(400, body)}}, answering("never asked for")}));
    const ModelError error = get_error(*open_model(options_for(server)), ask("hello"));
    EXPECT_EQ(error.kind, ModelErrorKind::Misconfigured) << body;
    EXPECT_THAT(error.message, HasSubstr(advice)) << body;
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

TEST(ReplyOutcome, RetryAfterInMillisecondsIsHonoured) {
  MockServerThread server(replies({refusing(429, "Retry-After: 0\r\nretry-after-ms: 300\r\n"), answering("ok")}));
  const auto model = open_model(options_for(server));
  const auto begin = Clock::now();
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(300));
}

TEST(ReplyOutcome, RetryAfterOfAnErrorWithinAReplyIsHonoured) {
  MockServerThread server(
      replies({{Send{http_reply(200, R"({"error":{"message":"slow down","code":429}})", "Retry-After: 1\r\n")}},
               answering("ok")}));
  const auto model = open_model(options_for(server));
  const auto begin = Clock::now();
  EXPECT_EQ(get_answer(*model, ask("hello")).text, "ok");
  EXPECT_GE(since(begin), milliseconds(1'000));
}

TEST(ReplyOutcome, NothingIsSentBeforeTheTimeThatTheServerNames) {
  MockServerThread server(replies({refusing(429, "Retry-After: 86400\r\n"), answering("never asked for")}));
  const auto model = open_model(options_for(server));
  const ModelError error = get_error(*model, ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Overloaded);
  EXPECT_EQ(error.retry_after, std::chrono::hours(24));
  EXPECT_THAT(error.message, HasSubstr("the server asks to wait 86400 s"));
  EXPECT_EQ(server.counts().requests, 1U);
}

TEST(ReplyOutcome, AFilteredPromptIsARefusalWithAnyStatus) {
  for (const auto* body :
       {R"({"error":{"message":"filtered","code":"content_filter"}})",
        R"({"error":{"message":"filtered","type":"content_policy_violation"}})",
        R"({"error":{"message":"filtered","code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"}}})"}) {
    for (const int status : {200, 400, 403, 429, 500, 503}) {
      MockServerThread server(replies({{Send{http_reply(status, body)}}, answering("never asked for")}));
      const Answer answer = get_answer(*open_model(options_for(server)), ask("hello"));
      EXPECT_EQ(answer.finish, Finish::Refused) << status << body;
      EXPECT_THAT(answer.text, HasSubstr("filtered"));
      EXPECT_EQ(server.counts().requests, 1U) << status << body;
    }
  }
}

TEST(ReplyOutcome, MessagesAreJoinedOnceTheServerSaysThatRolesAlternate) {
  for (const auto* words :
       {"conversation roles must alternate user/assistant", "Roles must alternate between user and assistant",
        "consecutive messages of one role are not allowed"}) {
    MockServerThread server(replies({{Send{http_reply(400, R"({"message":")" + std::string(words) + R"("})")}},
                                     answering("ok"),
                                     answering("again")}));
    const auto model = open_model(options_for(server));
    GenerationRequest request = ask("first");
    request.messages.push_back({Role::User, "second", {}});
    EXPECT_EQ(get_answer(*model, request).text, "ok") << words;
    EXPECT_EQ(get_answer(*model, request).text, "again") << words;
    EXPECT_THAT(server.bodies().at(0), HasSubstr(R"("first"},{"role":"user","content":"second"})"));
    for (const std::size_t at : {1U, 2U})
      EXPECT_THAT(server.bodies().at(at), HasSubstr(R"("content":"first\n\nsecond"})"));
    EXPECT_EQ(server.counts().requests, 3U);
    EXPECT_EQ(model->sent_form(request).value().messages.size(), 1U);
  }
}

TEST(ReplyOutcome, ARequestThatIsSentAgainJoinedMayTakeLongerThanASilenceInAReply) {
  MockServerThread server(replies({{Send{http_reply(400, R"({"message":"roles must alternate"})")}},
                                   {Wait{milliseconds(300)}, Send{http_reply(200, chat_reply_json("ok"))}}}));
  OpenAiOptions options = options_for(server);
  options.streaming = Streaming::On;
  options.idle_timeout = milliseconds(50);
  EXPECT_EQ(get_answer(*open_model(options), ask("hello")).text, "ok");
}

TEST(ReplyOutcome, MessagesThatMustNotBeJoinedAreRejectedWithAdvice) {
  MockServerThread server(replies({{Send{http_reply(400, R"({"message":"roles must alternate"})")}}}));
  OpenAiOptions options = options_for(server);
  options.fields.adjacent = AdjacentMessages::Keep;
  const ModelError error = get_error(*open_model(options), ask("hello"));
  EXPECT_EQ(error.kind, ModelErrorKind::Rejected);
  EXPECT_THAT(error.message, HasSubstr("adjacent_messages = \"join\""));
  EXPECT_EQ(server.counts().requests, 1U);
}

TEST(ReplyOutcome, MessagesWithoutTextAreNotSent) {
  MockServerThread server(replies({answering("ok")}));
  const auto model = open_model(options_for(server));
  GenerationRequest request = ask("hello");
  request.messages.push_back({Role::Assistant, "", {}});
  request.messages.push_back({Role::User, " \n", {}});
  EXPECT_EQ(get_answer(*model, request).text, "ok");
  EXPECT_THAT(server.bodies().at(0), HasSubstr(R"("messages":[{"role":"user","content":"hello"}])"));
  EXPECT_EQ(get_answer(*model, ask("")).text, "ok");
  EXPECT_THAT(server.bodies().at(1), HasSubstr(R"("messages":[{"role":"user","content":""}])"));
}

TEST(ReplyOutcome, AFieldThatTheServerDoesNotKnowIsNamed) {
  for (const auto& [body, key] : std::vector<std::pair<std::string, std::string>>{
           {R"({"error":{"message":"Unrecognized argument: stream_options"}})", R"(omit_fields = ["stream_options"])"},
           {R"({"detail":[{"loc":["body","seed"],"msg":"Extra inputs are not permitted"}]})",
            R"(omit_fields = ["seed"])"},
           {R"({"error":{"message":"no","param":"seed"}})", R"(omit_fields = ["seed"])"},
           {R"({"error":{"message":"no","param":"temperature"}})", R"(sampling_fields = "omit")"}}) {
    MockServerThread server(replies({{Send{http_reply(422, body)}}}));
    EXPECT_THAT(get_error(*open_model(options_for(server)), ask("hello")).message, HasSubstr(key)) << body;
  }
}

TEST(ReplyOutcome, EachOptionalFieldCanBeLeftOutAlone) {
  const std::pair<bool OmittedFields::*, std::string> cases[] = {
      {&OmittedFields::temperature, "\"temperature\""},
      {&OmittedFields::seed, "\"seed\""},
      {&OmittedFields::token_limit, "\"max_tokens\""},
      {&OmittedFields::stream_options, "\"stream_options\""}};
  for (const auto& [omitted, name] : cases) {
    MockServerThread server(replies({answering("ok")}));
    OpenAiOptions options = options_for(server);
    options.streaming = Streaming::On;
    options.fields.omitted.*omitted = true;
    EXPECT_EQ(get_answer(*open_model(options), ask("hello")).text, "ok");
    EXPECT_EQ(nlohmann::json::parse(server.bodies().at(0)).size(), 6U);
    for (const auto& [other, other_name] : cases) {
      const bool is_sent = server.bodies().at(0).find(other_name) != std::string::npos;
      EXPECT_EQ(is_sent, other_name != name) << name << " " << other_name;
    }
  }
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
  EXPECT_EQ(error.kind, ModelErrorKind::Misconfigured);
  EXPECT_THAT(error.message, AllOf(HasSubstr("You exceeded your quota"), HasSubstr("raise it")));
  EXPECT_EQ(server.counts().requests, 1U);
}

TEST(ReplyOutcome, APromptThatDoesNotFitIsNamedSo) {
  const std::pair<int, const char*> cases[] = {
      {400, R"({"error":{"message":"too long","code":"context_length_exceeded"}})"},
      {400, R"({"error":{"message":"This model's maximum context length is 4096 tokens."}})"},
      {400, R"({"error":{"message":"x","type":"exceed_context_size_error"}})"},
      {500, R"({"error":{"message":"the request exceeds the available context size"}})"},
      {400,
       R"({"error":{"type":"invalid_request_error","message":"prompt is too long: 210001 tokens > 200000 maximum"}})"},
      {400, R"({"message":"Input is too long for requested model."})"},
      {400,
       R"({"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens."}})"},
      {400,
       R"({"error":{"message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192."}})"},
      {413, R"({"error":{"code":"tokens_limit_reached","message":"Max size: 8000 tokens."}})"},
      {413, "<html>413 Request Entity Too Large</html>"},
      {200, R"({"error":{"message":"Your input exceeds the context window of this model."}})"},
  };
  for (const auto& [status, body] : cases) {
    MockServerThread server(replies({{Send{http_reply(status, body)}}}));
    const auto model = open_model(options_for(server));
    EXPECT_EQ(get_error(*model, ask("hello")).kind, ModelErrorKind::ContextFull) << body;
    EXPECT_EQ(server.counts().requests, 1U) << body;
  }
}

TEST(ReplyOutcome, TooManyTokensInAMinuteAreNoPromptThatDoesNotFit) {
  for (const auto* body :
       {R"({"error":{"code":"rate_limit_exceeded","message":"Request too large: context window per minute"}})",
        R"({"message":"Too many input tokens, please wait before trying again."})"}) {
    MockServerThread server(replies({{Send{http_reply(429, body)}}, {Send{http_reply(200, chat_reply_json("ok"))}}}));
    const auto model = open_model(options_for(server));
    EXPECT_EQ(get_answer(*model, ask("hello")).text, "ok") << body;
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
