#include "inference/scripted/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace tenon::inference {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Script read_script(std::string_view text) {
  auto script = parse_script(text);
  if (!script) {
    ADD_FAILURE() << script.error().line << ":" << script.error().column << ": " << script.error().message;
    return {};
  }
  return std::move(*script);
}

ScriptSyntaxError script_fault(std::string_view text) {
  auto script = parse_script(text);
  if (script) {
    ADD_FAILURE() << "was read: " << text;
    return {};
  }
  return script.error();
}

std::vector<std::string> texts(const ScriptRule& rule) {
  std::vector<std::string> result;
  for (const auto& answer : rule.answers) result.push_back(answer.text);
  return result;
}

TEST(Script, ReadsTextsAndJson) {
  const Script script = read_script(R"(# a triage
classify => "billing"
count    => {"n": 3,
             "why": "a } in a text"}
list     => [1, 2]
number   => -2.5e3
yes      => true   # said at once
)");
  ASSERT_EQ(script.rules.size(), 5U);
  EXPECT_EQ(script.rules[0].label, "classify");
  EXPECT_EQ(script.rules[0].line, 2U);
  EXPECT_THAT(texts(script.rules[0]), ElementsAre("billing"));
  EXPECT_THAT(texts(script.rules[1]), ElementsAre("{\"n\": 3,\n             \"why\": \"a } in a text\"}"));
  EXPECT_EQ(script.rules[2].line, 5U);
  EXPECT_THAT(texts(script.rules[2]), ElementsAre("[1, 2]"));
  EXPECT_THAT(texts(script.rules[3]), ElementsAre("-2.5e3"));
  EXPECT_THAT(texts(script.rules[4]), ElementsAre("true"));
}

TEST(Script, AnswersOfOneLabelAreOneRule) {
  const Script script = read_script("a => \"1\", \"2\"\nb => \"x\"\na => \"3\"\na when \"y\" => \"4\"\n");
  ASSERT_EQ(script.rules.size(), 3U);
  EXPECT_THAT(texts(script.rules[0]), ElementsAre("1", "2", "3"));
  EXPECT_EQ(script.rules[2].label, "a");
  EXPECT_THAT(script.rules[2].prompt_contains, ElementsAre("y"));
}

TEST(Script, LabelsAndConditions) {
  const Script script = read_script(R"(* => "any"
"a label" => "1"
module::f=>"2"
f when "re\"fund" and "invoice" => "3")");
  ASSERT_EQ(script.rules.size(), 4U);
  EXPECT_EQ(script.rules[0].label, "");
  EXPECT_EQ(script.rules[1].label, "a label");
  EXPECT_EQ(script.rules[2].label, "module::f");
  EXPECT_THAT(script.rules[3].prompt_contains, ElementsAre("re\"fund", "invoice"));
}

TEST(Script, TripleQuotesLoseTheirIndentation) {
  const Script script = read_script(
      "plan => \"\"\"\n    First this.\n      Then \"that\".\n\n    \\n stays.\n    \"\"\"\nnext => "
      "\"\"\"one\"\"\"\r\n");
  ASSERT_EQ(script.rules.size(), 2U);
  EXPECT_THAT(texts(script.rules[0]), ElementsAre("First this.\n  Then \"that\".\n\n\\n stays."));
  EXPECT_THAT(texts(script.rules[1]), ElementsAre("one"));
}

TEST(Script, EndsAndDelays) {
  const Script script = read_script(
      "f => refused \"I cannot.\", cut_off \"half an\", after 200ms \"slow\", after 2s unreachable, overloaded "
      "\"busy\"");
  ASSERT_EQ(script.rules.size(), 1U);
  const auto& answers = script.rules[0].answers;
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(std::get<Finish>(answers[0].end), Finish::Refused);
  EXPECT_EQ(answers[0].text, "I cannot.");
  EXPECT_EQ(std::get<Finish>(answers[1].end), Finish::CutOff);
  EXPECT_EQ(answers[2].delay, std::chrono::milliseconds(200));
  EXPECT_EQ(std::get<ModelErrorKind>(answers[3].end), ModelErrorKind::Unreachable);
  EXPECT_EQ(answers[3].delay, std::chrono::seconds(2));
  EXPECT_EQ(answers[4].text, "busy");
}

TEST(Script, ErrorsAreReportedWithTheirLocation) {
  struct Case {
    std::string_view text;
    std::uint32_t line;
    std::uint32_t column;
    std::string_view message;
  };
  const Case cases[] = {
      {"f \"x\"", 1, 3, "`=>` is missing"},
      {"\n\n  => \"x\"", 3, 3, "missing label before `=>`"},
      {"f => ", 1, 6, "an answer is missing"},
      {"f => billing", 1, 6, "an answer is missing"},
      {"f => \"x", 1, 6, "unterminated string"},
      {"f => \"x\\\n\"", 1, 6, "unterminated string"},
      {"f => \"\\q\"", 1, 6, "escape"},
      {"f => \"\"\"x", 1, 6, "no closing"},
      {"f => {\"a\": [1}", 1, 6, "no closing bracket"},
      {"f => {\"a\" 1}", 1, 6, "not JSON"},
      {"f => 01", 1, 6, "not JSON"},
      {"f => \"x\" \"y\"", 1, 10, "separate several answers with `,`"},
      {"f => \"x\",", 1, 10, "an answer is missing"},
      {"f when => \"x\"", 1, 8, "the prompt has to contain"},
      {"f => after \"x\"", 1, 12, "the delay"},
      {"f => after 5 \"x\"", 1, 13, "unit"},
      {"\"\" => \"x\"", 1, 3, "empty"},
  };
  for (const Case& c : cases) {
    const ScriptSyntaxError fault = script_fault(c.text);
    EXPECT_EQ(fault.line, c.line) << c.text;
    EXPECT_EQ(fault.column, c.column) << c.text;
    EXPECT_THAT(fault.message, HasSubstr(std::string(c.message))) << c.text;
  }
}

TEST(Script, AnyBytesAreReadOrRefused) {
  constexpr std::string_view pieces[] = {"f",   " ",    "=>",      "\"", "\"\"\"", "{",    "}",
                                         "[",   "]",    "\\",      "\n", "#",      ",",    "after",
                                         "5ms", "when", "refused", "1",  "*",      "\xFF", std::string_view("\0", 1)};
  std::mt19937 random(11);
  std::size_t read_count = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = round % 2 == 0 ? "f => " : "";
    for (auto length = random() % 12; length > 0; --length) text += pieces[random() % std::size(pieces)];
    const auto script = parse_script(text);
    if (script) ++read_count;
    if (!script) {
      EXPECT_FALSE(script.error().message.empty());
    }
  }
  EXPECT_GT(read_count, 100U);
  EXPECT_FALSE(parse_script("f => " + std::string(200'000, '[')).has_value());
}

}  // namespace
}  // namespace tenon::inference
