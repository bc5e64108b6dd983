#include "inference/judged/judged_model.h"

#include <gtest/gtest.h>

#include <map>

#include "inference/scripted/scripted_model.h"

namespace tenon::inference {
namespace {

class Answers final : public GenerationSink {
 public:
  void on_text(GenerationId, std::uint32_t, std::string_view) override {}
  void on_finished(GenerationId generation, GenerationOutcome outcome) override {
    const auto* const answer = std::get_if<Answer>(&outcome);
    all[generation] = answer != nullptr ? answer->model + ": " + answer->text : std::get<ModelError>(outcome).message;
  }
  std::map<GenerationId, std::string> all;
};

std::unique_ptr<ScriptedModel> scripted(const std::string& name, const std::string& answers) {
  return std::make_unique<ScriptedModel>(parse_script("f => " + answers + "\n").value(), name);
}

GenerationRequest request(bool is_judgement) {
  GenerationRequest made;
  made.label = "f";
  made.is_judgement = is_judgement;
  return made;
}

TEST(JudgedModel, EachIsAskedForItsOwn) {
  JudgedModel model(scripted("writer", R"("a", "b")"), scripted("judge", R"("x", "y")"));
  Answers answers;
  EXPECT_EQ(model.name(), "writer");
  EXPECT_TRUE(model.follows_a_script());
  model.start(1, request(false), answers);
  model.start(2, request(true), answers);
  model.start(3, request(false), answers);
  for (int at = 0; at < 8; ++at) model.poll(std::chrono::milliseconds(10));
  EXPECT_EQ(answers.all, (std::map<GenerationId, std::string>{{1, "writer: a"}, {2, "judge: x"}, {3, "writer: b"}}));
}

TEST(JudgedModel, SkipsAndCancelsWhereItAsks) {
  JudgedModel model(scripted("writer", R"("a", "b")"), scripted("judge", R"("x", "y")"));
  Answers answers;
  model.skip(request(true));
  model.start(1, request(true), answers);
  model.start(2, request(false), answers);
  model.cancel(2);
  model.cancel(7);
  for (int at = 0; at < 8; ++at) model.poll(std::chrono::milliseconds(10));
  EXPECT_EQ(answers.all.at(1), "judge: y");
  EXPECT_EQ(answers.all.size(), 2U);
  EXPECT_EQ(answers.all.at(2).find("writer"), std::string::npos) << answers.all.at(2);
}

}  // namespace
}  // namespace tenon::inference
