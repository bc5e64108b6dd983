#include "inference/recorded/recorded_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "inference/recorded/recording_model.h"
#include "inference/scripted/scripted_model.h"
#include "tests/support/generation_recorder.h"

namespace tenon::inference {
namespace {

using std::chrono::milliseconds;
using test::GenerationRecorder;
using test::outcome_of;
using test::text_of;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

GenerationRequest ask(std::string label, std::string text) {
  GenerationRequest request;
  request.label = std::move(label);
  request.messages.push_back({Role::System, "Be brief.", {}});
  request.messages.push_back({Role::User, std::move(text), {}});
  return request;
}

/// Records what a scripted model says to the requests.
std::string record(Script script, const std::vector<GenerationRequest>& requests) {
  std::string file;
  RecordingModel model(std::make_unique<ScriptedModel>(std::move(script)),
                       [&](std::string_view line) { file += line; });
  for (const GenerationRequest& request : requests) outcome_of(model, request);
  return file;
}

RecordedModel play(std::string_view file) {
  auto recording = parse_recording(file);
  EXPECT_TRUE(recording.has_value()) << (recording ? "" : recording.error().message);
  return RecordedModel(std::move(*recording));
}

Script two_answers() {
  return {{{.label = "f", .answers = {{.text = "one"}, {.text = "two \"2\"\n"}}}}};
}

TEST(RecordedModel, ReturnsTheRecordedOutcomes) {
  RecordedModel model = play(record(two_answers(), {ask("f", "first"), ask("f", "second")}));
  EXPECT_THAT(model.unused(), SizeIs(2));
  EXPECT_EQ(text_of(model, ask("f", "second")), "two \"2\"\n");
  EXPECT_EQ(text_of(model, ask("another label", "first")), "one");
  EXPECT_EQ(text_of(model, ask("f", "first")), "one");
  EXPECT_THAT(model.unused(), IsEmpty());
  const Answer answer = std::get<Answer>(outcome_of(model, ask("f", "second")));
  EXPECT_EQ(answer.model, "script");
  EXPECT_EQ(answer.usage.generated, 2U);
}

TEST(RecordedModel, TheSameRequestGetsItsOutcomesInOrderAndThenTheLast) {
  RecordedModel model = play(record(two_answers(), {ask("f", "same"), ask("f", "same")}));
  EXPECT_EQ(text_of(model, ask("f", "same")), "one");
  EXPECT_EQ(text_of(model, ask("f", "same")), "two \"2\"\n");
  EXPECT_EQ(text_of(model, ask("f", "same")), "two \"2\"\n");
}

TEST(RecordedModel, ErrorsAndEndsAreRecordedAndCancellationsAreNot) {
  Script script{{{.label = "f",
                  .answers = {{.text = "cannot", .end = Finish::Refused},
                              {.text = "no route", .end = ModelErrorKind::Unreachable}}}}};
  const std::string file = record(script, {ask("f", "a"), ask("f", "b")});
  RecordedModel model = play(file);
  EXPECT_EQ(std::get<Answer>(outcome_of(model, ask("f", "a"))).finish, Finish::Refused);
  const auto outcome = outcome_of(model, ask("f", "b"));
  EXPECT_EQ(std::get<ModelError>(outcome).kind, ModelErrorKind::Unreachable);
  EXPECT_EQ(std::get<ModelError>(outcome).message, "no route");

  std::string lines;
  RecordingModel recording(std::make_unique<ScriptedModel>(two_answers()),
                           [&](std::string_view line) { lines += line; });
  GenerationRecorder recorder;
  recording.start(1, ask("f", "x"), recorder);
  recording.cancel(1);
  EXPECT_EQ(std::get<ModelError>(recorder.outcomes.at(1)).kind, ModelErrorKind::Cancelled);
  EXPECT_EQ(lines, "");
}

TEST(RecordedModel, PiecesPassThroughTheRecorder) {
  RecordingModel model(std::make_unique<ScriptedModel>(two_answers()), [](std::string_view) {});
  GenerationRecorder recorder;
  model.start(1, ask("f", "x"), recorder);
  model.poll(milliseconds(0));
  EXPECT_EQ(recorder.pieces.at(1).at(0).text, "one");
  EXPECT_EQ(model.name(), "script");
}

TEST(RecordedModel, ARequestThatWasNotRecordedIsComparedWithTheNearest) {
  RecordedModel model = play(record(two_answers(), {ask("f", "unrelated words"), ask("g", "Sum:\n2 and 3\nis what?")}));
  const auto outcome = outcome_of(model, ask("h", "Sum:\n2 and 4\nis what?"));
  EXPECT_EQ(std::get<ModelError>(outcome).kind, ModelErrorKind::ScriptEnded);
  EXPECT_EQ(std::get<ModelError>(outcome).message,
            "no recorded request matches `h`; closest is line 2, of `g`. In line 3 of the prompt\n"
            "  recorded: `2 and 3`\n"
            "  asked:    `2 and 4`");
}

TEST(RecordedModel, SchemaAndSamplingAreComparedToo) {
  GenerationRequest typed = ask("f", "same");
  typed.schema = std::make_shared<AnswerSchema>(AnswerSchema{"n", R"({"type":"integer"})"});
  RecordedModel model = play(record(two_answers(), {typed}));
  EXPECT_EQ(text_of(model, typed), "one");
  GenerationRequest other = typed;
  other.schema = std::make_shared<AnswerSchema>(AnswerSchema{"n", R"({"type":"number"})"});
  EXPECT_THAT(text_of(model, other), HasSubstr("In the answer's schema\n  recorded: `{\"type\":\"integer\"}`"));
  other = typed;
  other.sampling.temperature = 0.7F;
  EXPECT_THAT(text_of(model, other), HasSubstr("asked:    temperature 0.7, seed 0, at most 1024 tokens"));
  RecordedModel empty = play("");
  EXPECT_THAT(text_of(empty, typed), HasSubstr("the recording is empty"));
}

TEST(RecordedModel, LongDifferencesAreCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "é🎉";
  RecordedModel model = play(record(two_answers(), {ask("f", text + "a" + text)}));
  const std::string message = text_of(model, ask("f", text + "b" + text));
  EXPECT_LT(message.size(), 500U);
  EXPECT_NO_THROW((void)nlohmann::json(message).dump());  // it is UTF-8
}

TEST(Recording, InvalidRecordingsAreReportedWithTheirLine) {
  const std::string good = record(two_answers(), {ask("f", "first")});
  const auto message_for = [](std::string_view text) -> std::string {
    const auto recording = parse_recording(text);
    if (recording) return "was read";
    return std::to_string(recording.error().line) + ": " + recording.error().message;
  };
  EXPECT_EQ(message_for(good + good.substr(0, good.size() / 2)), "was read");  // torn by a crash
  EXPECT_EQ(message_for(good + "\n{\n"), "3: the line is not JSON");
  EXPECT_EQ(message_for("[]\n"), "1: `format` is missing");
  EXPECT_EQ(message_for(R"({"format":2})"
                        "\n"),
            "1: the line has another format number");
  std::string changed = good;
  changed.replace(changed.find("first"), 5, "other");
  EXPECT_THAT(message_for(changed), HasSubstr("1: the request is not the one whose hash"));
  // Any field that is missing or of another type is a fault and never a crash.
  const auto json = nlohmann::json::parse(good);
  const auto flat = json.flatten();
  for (const auto& [path, value] : flat.items()) {
    auto broken = json;
    broken[nlohmann::json::json_pointer(path)] = nlohmann::json::array();
    EXPECT_NE(message_for(broken.dump() + "\n"), "was read") << path;
  }
}

TEST(Recording, InvalidUtf8IsRecordedAsReplaced) {
  const GenerationRequest request = ask("f", "a\xFFz");
  RecordedModel model = play(record(two_answers(), {request}));
  EXPECT_EQ(text_of(model, request), "one");
}

}  // namespace
}  // namespace tenon::inference
