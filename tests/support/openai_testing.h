#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inference/openai_http/openai_model.h"
#include "tests/support/generation_recorder.h"
#include "tests/support/mock_server.h"

namespace tenon::test {

inline constexpr std::string_view test_key = "sk-test-0123456789abcdef";

inline inference::OpenAiOptions options_for(const MockServerThread& server) {
  inference::OpenAiOptions options;
  options.base_url = server.base_url();
  options.api_key = inference::Secret{std::string(test_key)};
  options.model = "mock-1";
  options.retry.delay_first = std::chrono::milliseconds(2);
  options.retry.delay_max = std::chrono::milliseconds(8);
  return options;
}

/// An error reply with this status. `headers`: lines that end in CRLF.
inline ReplyPlan refusing(int status, std::string_view headers = {}) {
  return {Send{http_reply(status, R"({"error":{"message":"not now"}})", headers)}};
}

inline std::chrono::milliseconds since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
}

inline std::unique_ptr<inference::OpenAiModel> open_model(inference::OpenAiOptions options) {
  auto model = inference::OpenAiModel::open(
      std::move(options),
      {.random_unit = [] { return 0.5; }, .wall_clock = [] { return std::chrono::system_clock::now(); }});
  EXPECT_TRUE(model.has_value()) << (model ? "" : model.error().message);
  return std::move(*model);
}

inline inference::GenerationRequest ask(std::string text) {
  inference::GenerationRequest request;
  request.messages.push_back({inference::Role::User, std::move(text), {}});
  request.timeout = std::chrono::seconds(60);  // for slow machines
  return request;
}

inline inference::GenerationOutcome get_outcome(inference::Model& model, inference::GenerationRequest request) {
  GenerationRecorder recorder;
  model.start(1, std::move(request), recorder);
  if (!recorder.wait_for(model, 1))
    return inference::ModelError{inference::ModelErrorKind::TimedOut, "the test gave up", {}};
  EXPECT_EQ(recorder.finished_count.at(1), 1U);
  return recorder.outcomes.at(1);
}

inline inference::Answer get_answer(inference::Model& model, inference::GenerationRequest request) {
  auto outcome = get_outcome(model, std::move(request));
  if (const auto* error = std::get_if<inference::ModelError>(&outcome)) {
    ADD_FAILURE() << error->message;
    return {};
  }
  return std::get<inference::Answer>(outcome);
}

inline inference::ModelError get_error(inference::Model& model, inference::GenerationRequest request) {
  auto outcome = get_outcome(model, std::move(request));
  if (const auto* answer = std::get_if<inference::Answer>(&outcome)) {
    ADD_FAILURE() << "answered: " << answer->text;
    return {};
  }
  inference::ModelError error = std::get<inference::ModelError>(outcome);
  EXPECT_THAT(error.message, testing::Not(testing::HasSubstr(std::string(test_key))));
  return error;
}

/// A handler that sends its replies in order, then repeats the last one.
inline RequestHandler replies(std::vector<ReplyPlan> plans) {
  return [plans = std::move(plans)](const HttpRequest& request) {
    return plans[std::min<std::size_t>(request.ordinal, plans.size() - 1)];
  };
}

inline ReplyPlan answering(std::string_view content) {
  return {Send{http_reply(200, chat_reply_json(content))}};
}

}  // namespace tenon::test
