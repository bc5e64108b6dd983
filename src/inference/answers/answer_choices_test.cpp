#include "inference/answers/answer_choices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/reader.h"

namespace tenon::inference::answers {
namespace {

std::string choices(std::string_view schema) {
  return describe_choices(parse_own_json(schema));
}

TEST(AnswerChoices, AreInWords) {
  EXPECT_EQ(choices(R"({"type":"boolean"})"), "yes or no");
  EXPECT_EQ(choices(R"({"type":"string","enum":["Red","Green","Blue"]})"), "Red, Green or Blue");
  EXPECT_EQ(choices(R"({"type":"string","enum":["go"]})"), "go");
  EXPECT_EQ(choices(R"({"type":"integer","enum":[1,2]})"), "1 or 2");
  EXPECT_EQ(choices(R"({"type":"integer","minimum":1,"maximum":30})"), "a whole number from 1 to 30");
  EXPECT_EQ(choices(R"({"type":"integer","minimum":0,"maximum":9223372036854774784})"), "a whole number of at least 0");
  EXPECT_EQ(choices(R"({"type":"number","maximum":1.5})"), "a number of at most 1.5");
  EXPECT_EQ(choices(R"({"anyOf":[{"type":"boolean"},{"type":"null"}]})"), "yes or no, or nothing");
}

TEST(AnswerChoices, OfAStructAreItsFields) {
  EXPECT_EQ(choices(R"({"type":"object","properties":{"city":{"type":"string"},
                        "nights":{"type":"integer","minimum":1,"maximum":30},"late":{"type":"boolean"},
                        "tags":{"type":"array","items":{}},"note":{"anyOf":[{"type":"string"},{"type":"null"}]},
                        "at":{"type":"object","properties":{"x":{"type":"number"}}}}})"),
            R"({"city": text, "nights": a whole number from 1 to 30, "late": yes or no, "tags": a list, )"
            R"("note": text, or nothing, "at": {"x": a number}})");
  std::string many = R"({"type":"object","properties":{)";
  for (int at = 0; at < 100; ++at) many += fmt::format(R"({}"f{}":{{}})", at == 0 ? "" : ",", at);
  EXPECT_TRUE(choices(many + "}}").ends_with("\"f19\": JSON, …}")) << choices(many + "}}");
}

TEST(AnswerChoices, OfListsMapsAndEnumsAreTheirParts) {
  const std::string definitions = R"(,"$defs":{"Stop":{"type":"object","properties":{"city":{"type":"string"}}},)"
                                  R"("Tree":{"type":"array","items":{"$ref":"#/$defs/Tree"}}})";
  const auto of = [&](const std::string& schema) { return choices("{" + schema + definitions + "}"); };
  EXPECT_EQ(of(R"("type":"array","items":{"type":"string"})"), "[text, …]");
  EXPECT_EQ(of(R"("type":"array","items":{"$ref":"#/$defs/Stop"})"), R"([{"city": text}, …])");
  EXPECT_EQ(of(R"("type":"array","prefixItems":[{"type":"number"},{"type":"boolean"}],"items":false)"),
            "[a number, yes or no]");
  EXPECT_EQ(of(R"("type":"object","additionalProperties":{"$ref":"#/$defs/Stop"})"), R"({"…": {"city": text}})");
  EXPECT_EQ(of(R"("anyOf":[{"$ref":"#/$defs/Stop"},{"type":"null"}])"), R"({"city": text}, or nothing)");
  EXPECT_EQ(
      of(R"("anyOf":[{"type":"string","enum":["None"]},{"type":"object","properties":{"At":{"type":"integer"}}}])"),
      R"(None or {"At": a whole number})");
  EXPECT_EQ(of(R"("type":"object","properties":{"retry":{"const":true}})"), R"({"retry": true})");
  EXPECT_EQ(of(R"("$ref":"#/$defs/Tree")"), "[[[[[a list, …], …], …], …], …]");
}

TEST(AnswerChoices, OfOtherAnswersAreLeftToTheQuestion) {
  for (const auto* schema : {R"({"type":"string"})", R"({"type":"object","properties":{}})", R"({"type":"null"})", "{}",
                             R"({"anyOf":[{"type":"string"},{"type":"null"}]})",
                             R"({"type":"integer","minimum":-2147483648,"maximum":2147483647})", R"({"type":"number"})",
                             R"({"type":"integer","minimum":-9223372036854774784,"maximum":9223372036854774784})",
                             R"({"type":"array","items":{}})"}) {
    EXPECT_EQ(choices(schema), "") << schema;
  }
}

TEST(AnswerChoices, AreBounded) {
  std::string schema = R"({"enum":[)";
  for (int at = 0; at < 100; ++at) schema += (at == 0 ? "" : ",") + std::to_string(at);
  const std::string shown = choices(schema + "]}");
  EXPECT_TRUE(shown.ends_with("19, …")) << shown;
}

TEST(AnswerChoices, AQuestionThatNamesThemIsAskedAsItIs) {
  const Json boolean = parse_own_json(R"({"type":"boolean"})");
  EXPECT_EQ(question_with_choices("Publish?", boolean), "Publish? (yes or no)");
  EXPECT_EQ(question_with_choices("Publish? Yes/No", boolean), "Publish? Yes/No");
  EXPECT_EQ(question_with_choices("Who are you?", parse_own_json(R"({"type":"string"})")), "Who are you?");
}

TEST(AnswerChoices, WhatIsToBeApprovedIsShown) {
  const auto shown = [](std::string_view wait) { return shown_question(parse_own_json(std::string(wait))); };
  EXPECT_EQ(shown(R"({"question": "Publish?", "schema": {"type": "boolean"}})"), "Publish? (yes or no)");
  EXPECT_EQ(shown("{\"question\": \"To \u202Eann?\\nSure?\", \"schema\": {}}"), "To \\u{202E}ann?\nSure?");
  EXPECT_EQ(
      shown("{\"question\": \"Pay?\", \"value\": \"DE\u200B89\", \"sources\": [\"extern payments\", \"person\"]}"),
      "Pay?\n  \"DE\\u{200B}89\", which depends on extern payments and person\n(yes, no, or another value)");
  EXPECT_EQ(shown(R"({"question": "Pay?", "value": {"to": "ann"}, "sources": []})"),
            "Pay?\n  {\"to\":\"ann\"}, which depends on the program\n(yes, no, or another value)");
}

}  // namespace
}  // namespace tenon::inference::answers
