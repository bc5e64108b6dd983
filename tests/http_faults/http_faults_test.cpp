// OpenAiModel against the servers of server.mjs; `run` starts both and passes their addresses.
#include <cstdlib>
#include <set>
#include <string>

#include "tests/support/openai_testing.h"

namespace tenon::test {
namespace {

using inference::Answer;
using inference::Finish;
using inference::ModelError;
using inference::ModelErrorKind;
using inference::OpenAiOptions;
using inference::Streaming;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::SizeIs;

std::string address(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) throw std::runtime_error(std::string(variable) + " is not set; start tests/http_faults/run");
  return value;
}

OpenAiOptions aimock_options(Streaming streaming = Streaming::Off) {
  OpenAiOptions options;
  options.base_url = address("AIMOCK_URL");
  options.api_key = inference::Secret{std::string(test_key)};
  options.model = "gpt-mock";
  options.streaming = streaming;
  options.retry.delay_first = milliseconds(5);
  options.retry.delay_max = milliseconds(20);
  return options;
}

Answer answer_to(std::string_view prompt, Streaming streaming = Streaming::Off) {
  return get_answer(*open_model(aimock_options(streaming)), ask(std::string(prompt)));
}

ModelError error_for(std::string_view prompt, Streaming streaming = Streaming::Off) {
  return get_error(*open_model(aimock_options(streaming)), ask(std::string(prompt)));
}

TEST(Aimock, PlainWords) {
  const Answer answer = answer_to("plain words");
  EXPECT_EQ(answer.text, "wörter 🎉 \"quoted\"\n");
  EXPECT_EQ(answer.finish, Finish::Complete);
  EXPECT_EQ(answer.usage.prompt, 11U);
  EXPECT_EQ(answer.usage.generated, 4U);
}

TEST(Aimock, PlainWordsStreamed) {
  const auto model = open_model(aimock_options(Streaming::On));
  GenerationRecorder recorder;
  model->start(1, ask("plain words"), recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 1));
  const Answer& answer = std::get<Answer>(recorder.outcomes.at(1));
  EXPECT_EQ(answer.text, "wörter 🎉 \"quoted\"\n");
  EXPECT_EQ(answer.usage.prompt, 11U);
  std::string pieces;
  for (const auto& piece : recorder.pieces.at(1)) pieces += piece.text;
  EXPECT_EQ(pieces, answer.text);
}

TEST(Aimock, ASchemaIsTakenForOne) {
  inference::GenerationRequest request = ask("typed");
  const std::string schema =
      R"({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false})";
  request.schema = std::make_shared<inference::AnswerSchema>(inference::AnswerSchema{"answer", schema, schema});
  EXPECT_EQ(get_answer(*open_model(aimock_options()), request).text, R"({"ok":true})");
}

TEST(Aimock, ARateLimitIsWaitedFor) {
  const auto begin = std::chrono::steady_clock::now();
  const Answer answer = answer_to("rate limited once");
  EXPECT_EQ(answer.text, "the whole answer");
  EXPECT_EQ(answer.usage.attempts, 2U);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(1'000));
}

TEST(Aimock, ARateLimitThatStaysIsOverload) {
  const ModelError error = error_for("rate limited for ever");
  EXPECT_EQ(error.kind, ModelErrorKind::Overloaded);
  EXPECT_EQ(error.usage.attempts, 4U);
  EXPECT_THAT(error.message, HasSubstr("HTTP 429: slow down"));
}

TEST(Aimock, WhatFailsForAWhileIsAskedAgain) {
  for (const Streaming streaming : {Streaming::Off, Streaming::On}) {
    const std::string way = streaming == Streaming::On ? "streamed: " : "whole: ";
    for (const auto* story : {"failing twice", "dropped twice", "disconnected twice"}) {
      const Answer answer = answer_to(way + story, streaming);
      EXPECT_EQ(answer.text, "the whole answer") << way << story;
      EXPECT_EQ(answer.usage.attempts, 3U) << way << story;
    }
  }
}

TEST(Aimock, MalformedRepliesAreBad) {
  EXPECT_EQ(error_for("malformed").kind, ModelErrorKind::BadReply);
  EXPECT_EQ(error_for("malformed", Streaming::On).kind, ModelErrorKind::BadReply);
}

TEST(Aimock, RefusalsAreNotAskedAgain) {
  const ModelError bad_request = error_for("bad request");
  EXPECT_EQ(bad_request.kind, ModelErrorKind::Rejected);
  EXPECT_EQ(bad_request.usage.attempts, 1U);
  EXPECT_THAT(bad_request.message, HasSubstr("HTTP 400: no such field"));
  EXPECT_THAT(bad_request.message, HasSubstr("does not accept sampling parameters"));
  EXPECT_EQ(error_for("forbidden").kind, ModelErrorKind::Misconfigured);
  EXPECT_EQ(error_for("too long").kind, ModelErrorKind::ContextFull);
  EXPECT_EQ(error_for("a prompt that the server knows no answer to").kind, ModelErrorKind::Misconfigured);
}

TEST(Aimock, EndsOfAnswers) {
  for (const Streaming streaming : {Streaming::Off, Streaming::On}) {
    const Answer cut = answer_to("cut off", streaming);
    EXPECT_EQ(cut.finish, Finish::CutOff);
    EXPECT_EQ(cut.text, "half of");
    EXPECT_EQ(answer_to("filtered", streaming).finish, Finish::Refused);
    EXPECT_EQ(error_for("calls a tool", streaming).kind, ModelErrorKind::BadReply);
  }
}

TEST(Aimock, AStreamThatEndsEarlyIsAskedForAgain) {
  for (const auto* story : {"truncated once", "disconnected in time"}) {
    const auto model = open_model(aimock_options(Streaming::On));
    GenerationRecorder recorder;
    model->start(1, ask(story), recorder);
    ASSERT_TRUE(recorder.wait_for(*model, 1));
    const Answer& answer = std::get<Answer>(recorder.outcomes.at(1));
    EXPECT_EQ(answer.text, "the whole answer") << story;
    EXPECT_EQ(answer.usage.attempts, 2U) << story;
    EXPECT_EQ(recorder.pieces.at(1).back().attempt, 2U) << story;
    // In the second scenario, timing decides how much of the first attempt arrives.
    if (story == std::string_view("truncated once")) {
      EXPECT_EQ(recorder.pieces.at(1).front().attempt, 1U);
    }
  }
}

TEST(Aimock, ASlowStreamIsReadToItsEnd) {
  EXPECT_EQ(answer_to("slowly", Streaming::On).text, "the whole answer");
}

TEST(Aimock, EveryRequestEndsOnceInChaos) {
  for (const Streaming streaming : {Streaming::Off, Streaming::On}) {
    OpenAiOptions options = aimock_options(streaming);
    options.retry.attempts_max = 40;  // 40 % of them fail: it is practically impossible that all 40 do
    options.requests_in_flight_max = 50;
    const auto model = open_model(std::move(options));
    GenerationRecorder recorder;
    constexpr std::size_t count = 300;
    for (std::size_t id = 0; id < count; ++id) model->start(id, ask("chaos " + std::to_string(id)), recorder);
    ASSERT_TRUE(recorder.wait_for(*model, count));
    std::uint32_t attempts = 0;
    for (const auto& [id, outcome] : recorder.outcomes) {
      ASSERT_TRUE(std::holds_alternative<Answer>(outcome)) << std::get<ModelError>(outcome).message;
      EXPECT_EQ(std::get<Answer>(outcome).text, "the whole answer");
      EXPECT_EQ(recorder.finished_count.at(id), 1U);
      attempts += std::get<Answer>(outcome).usage.attempts;
    }
    EXPECT_GT(attempts, count + count / 5);
  }
}

OpenAiOptions http2_options() {
  OpenAiOptions options = aimock_options();
  options.base_url = address("HTTP2_URL");
  options.ca_file = address("HTTP2_CA");
  return options;
}

TEST(Http2, ManyRequestsShareAConnection) {
  const auto model = open_model(http2_options());
  GenerationRecorder recorder;
  for (std::size_t id = 0; id < 80; ++id) model->start(id, ask("hello"), recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 80));
  std::set<std::string> connections;
  for (const auto& [id, outcome] : recorder.outcomes) {
    ASSERT_TRUE(std::holds_alternative<Answer>(outcome)) << std::get<ModelError>(outcome).message;
    connections.insert(std::get<Answer>(outcome).text);
  }
  ASSERT_EQ(connections.size(), 1U) << testing::PrintToString(connections);
  EXPECT_EQ(connections.begin()->substr(0, 5), "POST ");
}

TEST(Http2, AStreamThatIsResetIsAskedForAgain) {
  OpenAiOptions options = http2_options();
  options.retry.attempts_max = 40;
  const auto model = open_model(std::move(options));
  GenerationRecorder recorder;
  for (std::size_t id = 0; id < 40; ++id) model->start(id, ask("reset"), recorder);
  ASSERT_TRUE(recorder.wait_for(*model, 40));
  std::uint32_t attempts = 0;
  for (const auto& [id, outcome] : recorder.outcomes) {
    ASSERT_TRUE(std::holds_alternative<Answer>(outcome)) << std::get<ModelError>(outcome).message;
    attempts += std::get<Answer>(outcome).usage.attempts;
  }
  EXPECT_GT(attempts, 40U);
}

}  // namespace
}  // namespace tenon::test
