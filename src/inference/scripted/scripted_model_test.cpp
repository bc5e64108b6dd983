#include "inference/scripted/scripted_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/generation_recorder.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using test::GenerationRecorder;
using test::outcome_of;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GenerationRequest ask_script(std::string label, std::string text = "hello") {
  GenerationRequest request;
  request.label = std::move(label);
  request.messages.push_back({Role::User, std::move(text), {}});
  return request;
}

Script of(std::vector<ScriptRule> rules) {
  return Script{std::move(rules)};
}

TEST(ScriptedModel, OneAnswerIsGivenForEver) {
  ScriptedModel model(of({{.label = "classify", .answers = {{.text = "billing"}}}}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(text_of(model, ask_script("classify")), "billing");
  EXPECT_THAT(model.unused(), IsEmpty());
}

TEST(ScriptedModel, WithoutAnswersNoneHaveToBeSkipped) {
  EXPECT_FALSE(ScriptedModel(of({})).follows_a_script());
  EXPECT_TRUE(ScriptedModel(of({{.label = "a", .answers = {{.text = "1"}}}})).follows_a_script());
}

TEST(ScriptedModel, AGenericFunctionsNameFitsAllItsTypes) {
  ScriptedModel model(of({{.label = "ask<i32>", .answers = {{.text = "1"}}},
                          {.label = "ask", .answers = {{.text = "any"}}},
                          {.label = "as", .answers = {{.text = "not asked"}}}}));
  EXPECT_EQ(text_of(model, ask_script("ask<i32>")), "1");
  EXPECT_EQ(text_of(model, ask_script("ask<Map<i32>>")), "any");
  EXPECT_EQ(text_of(model, ask_script("ask")), "any");
  EXPECT_THAT(text_of(model, ask_script("asked<i32>")), HasSubstr("no answer for `asked<i32>`"));
}

TEST(ScriptedModel, SeveralAreGivenInOrderAndEnd) {
  ScriptedModel model(of({{.label = "reply", .answers = {{.text = "1"}, {.text = "2"}}, .line = 4}}));
  EXPECT_EQ(text_of(model, ask_script("reply")), "1");
  EXPECT_THAT(model.unused(), ElementsAre(ScriptedModel::Unused{"reply", {}, 4, 1}));
  EXPECT_EQ(text_of(model, ask_script("reply")), "2");
  EXPECT_THAT(model.unused(), IsEmpty());
  const auto outcome = outcome_of(model, ask_script("reply", "one\ntwo\nthree\nfour\n"));
  const auto& error = std::get<ModelError>(outcome);
  EXPECT_EQ(error.kind, ModelErrorKind::ScriptEnded);
  EXPECT_EQ(error.message,
            "the script has no answer for `reply`: the 2 answers of line 4 are used up. The prompt ends:"
            "\n  | two\n  | three\n  | four");
}

TEST(ScriptedModel, TheFirstRuleThatFitsAnswers) {
  ScriptedModel model(of({{.label = "reply", .prompt_contains = {"refund", "paid"}, .answers = {{.text = "A"}}},
                          {.label = "reply", .answers = {{.text = "B"}}},
                          {.answers = {{.text = "C"}, {.text = "D"}}}}));
  EXPECT_EQ(text_of(model, ask_script("reply", "I paid and want a refund")), "A");
  EXPECT_EQ(text_of(model, ask_script("reply", "a refund")), "B");
  EXPECT_EQ(text_of(model, ask_script("other")), "C");
  EXPECT_EQ(text_of(model, ask_script("another")), "D");
  EXPECT_THAT(text_of(model, ask_script("other")), HasSubstr("its 2 answers are used up"));
}

TEST(ScriptedModel, ARequestThatNoRuleFitsIsNamed) {
  ScriptedModel model(of({{.label = "a", .answers = {{.text = "1"}}}}));
  EXPECT_THAT(
      text_of(model, ask_script("b", std::string(500, 'x'))),
      HasSubstr("no answer for `b`: no rule fits this request. The prompt ends:\n  | " + std::string(120, 'x') + "…"));
  EXPECT_THAT(model.unused(), ElementsAre(ScriptedModel::Unused{"a", {}, 0, 1}));
}

TEST(ScriptedModel, AJudgeWithoutARuleIsShownOne) {
  ScriptedModel model(of({{.label = "a", .answers = {{.text = "1"}}}}));
  GenerationRequest request = ask_script("judge");
  request.is_judgement = true;
  EXPECT_THAT(text_of(model, std::move(request)),
              HasSubstr("no answer for `judge`: no rule fits this request; a verdict for each condition would, such as "
                        "`judge => {\"value\": [{\"holds\": true}]}`. The prompt ends:"));
}

TEST(ScriptedModel, EndsAndErrorsAreScriptedToo) {
  ScriptedModel model(of({{.label = "f",
                           .answers = {{.text = "I cannot.", .end = Finish::Refused},
                                       {.text = "half", .end = Finish::CutOff},
                                       {.text = "no route", .end = ModelErrorKind::Unreachable}}}}));
  EXPECT_EQ(std::get<Answer>(outcome_of(model, ask_script("f"))).finish, Finish::Refused);
  EXPECT_EQ(std::get<Answer>(outcome_of(model, ask_script("f"))).finish, Finish::CutOff);
  const auto outcome = outcome_of(model, ask_script("f"));
  EXPECT_EQ(std::get<ModelError>(outcome).kind, ModelErrorKind::Unreachable);
  EXPECT_EQ(std::get<ModelError>(outcome).message, "no route");
}

TEST(ScriptedModel, UsageCountsFourBytesAsAToken) {
  ScriptedModel model(of({{.answers = {{.text = "12345"}}}}));
  const Answer answer = std::get<Answer>(outcome_of(model, ask_script("f", "123456789")));
  EXPECT_EQ(answer.usage.prompt, 3U);
  EXPECT_EQ(answer.usage.computed, 3U);
  EXPECT_EQ(answer.usage.generated, 2U);
  EXPECT_EQ(answer.model, "script");
}

/// Notes in which order generations end, and may act on it.
struct OrderSink final : GenerationSink {
  void on_text(GenerationId generation, std::uint32_t, std::string_view piece) override {
    if (on_piece) on_piece(generation, piece);
  }
  void on_finished(GenerationId generation, GenerationOutcome outcome) override {
    order.push_back(generation);
    outcomes.push_back(std::move(outcome));
    if (on_end) on_end(generation);
  }
  std::vector<GenerationId> order;
  std::vector<GenerationOutcome> outcomes;
  std::function<void(GenerationId)> on_end;
  std::function<void(GenerationId, std::string_view)> on_piece;
};

TEST(ScriptedModel, DelaysOrderTheAnswersWithoutWaiting) {
  ScriptedModel model(of({{.label = "slow", .answers = {{.text = "s", .delay = std::chrono::seconds(60)}}},
                          {.label = "fast", .answers = {{.text = "f", .delay = std::chrono::seconds(1)}}},
                          {.label = "now", .answers = {{.text = "n"}}}}));
  OrderSink sink;
  sink.on_end = [&](GenerationId ended) {
    if (ended == 2) model.start(4, ask_script("fast"), sink);  // ends at 2 s, before the slow one
  };
  model.start(1, ask_script("slow"), sink);
  model.start(2, ask_script("fast"), sink);
  model.start(3, ask_script("now"), sink);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) model.poll(std::chrono::seconds(10));
  EXPECT_THAT(sink.order, ElementsAre(3, 2, 4, 1));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(ScriptedModel, ADelayBeyondTheTimeoutIsOne) {
  ScriptedModel model(of({{.answers = {{.text = "late", .delay = std::chrono::minutes(5)}}}}));
  EXPECT_EQ(std::get<ModelError>(outcome_of(model, ask_script("f"))).kind, ModelErrorKind::TimedOut);
}

TEST(ScriptedModel, CancelEndsAGenerationOnceAlsoFromItsOwnText) {
  ScriptedModel model(of({{.answers = {{.text = "x"}}}}));
  OrderSink sink;
  model.start(1, ask_script("f"), sink);
  model.cancel(1);
  EXPECT_EQ(std::get<ModelError>(sink.outcomes.at(0)).kind, ModelErrorKind::Cancelled);
  model.poll(milliseconds(0));
  EXPECT_EQ(sink.order.size(), 1U);

  sink.on_piece = [&](GenerationId generation, std::string_view) { model.cancel(generation); };
  model.start(2, ask_script("f"), sink);
  model.start(3, ask_script("f"), sink);
  model.poll(milliseconds(0));
  EXPECT_THAT(sink.order, ElementsAre(1, 2, 3));
  EXPECT_EQ(std::get<ModelError>(sink.outcomes.at(2)).kind, ModelErrorKind::Cancelled);
  model.cancel(99);  // never started: nothing happens
  EXPECT_EQ(sink.order.size(), 3U);
}

}  // namespace
}  // namespace tenon::inference
