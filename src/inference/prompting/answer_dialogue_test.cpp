#include "inference/prompting/answer_dialogue.h"

#include <gtest/gtest.h>

#include "vm/render.h"

namespace tenon::inference::prompting {
namespace {

using answers::AnswerValues;
using bytecode::SiteKind;
using types::TypeId;
using types::TypeTable;

/// A program of one site, and what becomes of an answer at it.
class AnswerTest : public testing::Test {
 protected:
  AnswerTest() {
    bytecode::Function function;
    function.name = "judge";
    function.result = TypeTable::string;
    program_.functions.push_back(function);
    program_.sites.emplace_back();
  }

  bytecode::Site& site() { return program_.sites.front(); }
  void complete(TypeId type) { site().result = type; }
  static bytecode::CallShape call(std::string name, std::vector<std::pair<std::string, TypeId>> holes) {
    bytecode::CallShape shape{.name = name,
                              .documentation = "",
                              .signature = name + "(…)",
                              .parameter_names = {},
                              .parameters = {},
                              .holes = {}};
    for (auto& [parameter, type] : holes) {
      shape.holes.push_back(static_cast<std::uint16_t>(shape.parameters.size()));
      shape.parameter_names.push_back(parameter);
      shape.parameters.push_back(type);
    }
    return shape;
  }

  /// The values as JSON, behind the clause's number for a select; or the problems, a line each.
  std::string read(std::string_view text) {
    const answers::ValueReader reader(program_.types);
    const auto values = answers::read_answer(reader, answers::make_answer_shape(program_, site()), text);
    std::string out;
    if (!values) {
      for (const std::string& problem : values.error()) out += (out.empty() ? "! " : "\n! ") + problem;
      return out;
    }
    if (site().kind == SiteKind::Select) out = std::to_string(values->clause) + ":";
    for (const vm::Value& value : values->values) {
      if (!out.empty() && !out.ends_with(':')) out += ' ';
      EXPECT_TRUE(vm::to_json(value, program_.types, out).has_value());
    }
    return out;
  }

  bytecode::Program program_;
};

TEST_F(AnswerTest, ATextIsTheTextWithoutTheSpaceAroundIt) {
  complete(TypeTable::string);
  EXPECT_EQ(read("\n Division by {zero}. \n"), "\"Division by {zero}.\"");
  EXPECT_EQ(read("\"quoted\""), "\"\\\"quoted\\\"\"");
  EXPECT_EQ(read(" \n"), "! the answer is empty");
  EXPECT_EQ(read("\xff"), "! the answer is no text: byte 0 is not UTF-8");
  types::Refinement shortness;
  shortness.length_high = 3;
  complete(program_.types.refined(program_.types.text("Word"), shortness));
  EXPECT_EQ(read("abc\n"), "\"abc\"");
  EXPECT_EQ(read("abcd"), "! the answer has 4 characters, where string of at most 3 characters is asked for");
}

TEST_F(AnswerTest, ACompletionMayLackItsWrapping) {
  complete(TypeTable::i32);
  EXPECT_EQ(read("{\"value\": 5}"), "5");
  EXPECT_EQ(read("5"), "5");
  EXPECT_EQ(read("Sure:\n```json\n{'value': 5,}\n```"), "5");
  EXPECT_EQ(read("{\"value\": \"five\"}"), "! value is the text \"five\", where integer is asked for");
  EXPECT_EQ(read("{\"answer\": 5}"), "! value is missing; the answer has the form {\"value\": integer}");
  EXPECT_EQ(read("{\"value\": 5, \"why\": \"\"}"),
            "! the answer has other keys than `value`; it has the form {\"value\": integer}");
  EXPECT_EQ(read("five"), "! the answer is no JSON: there is no JSON in the text");
  complete(program_.types.list(TypeTable::i32));
  EXPECT_EQ(read("[1, 2]"), "[1,2]");
}

TEST_F(AnswerTest, ABooleanMayBeAWord) {
  complete(TypeTable::boolean);
  for (const std::string_view text : {"true", "True", "Yes.", "\"yes\"", "{\"value\": true}", "TRUE"})
    EXPECT_EQ(read(text), "true") << text;
  for (const std::string_view text : {"false", "no", "No!", "'False'"}) EXPECT_EQ(read(text), "false") << text;
  for (const std::string_view text : {"Yes, it is.", "not true", "1", "maybe"})
    EXPECT_EQ(read(text).front(), '!') << text;
  complete(program_.types.option(TypeTable::boolean));
  EXPECT_EQ(read("Yes"), "true");
  EXPECT_EQ(read("null"), "null");
}

TEST_F(AnswerTest, ALiteralMayBeAWordWhereItIsOneAlone) {
  complete(program_.types.make_union({"", std::vector<std::string>{"billing", "tech", "a.", "A", "a", "true"}}));
  EXPECT_EQ(read("billing"), "\"billing\"");
  EXPECT_EQ(read("Billing."), "\"billing\"");
  EXPECT_EQ(read("`tech`"), "\"tech\"");
  EXPECT_EQ(read("\"tech\""), "\"tech\"");
  EXPECT_EQ(read("a."), "\"a.\"");
  EXPECT_EQ(read("A"), "\"A\"");
  EXPECT_EQ(read("A!"), "\"A\"");
  EXPECT_EQ(read("true"), "\"true\"");
  EXPECT_EQ(read("billing or tech").front(), '!');
  complete(program_.types.make_union({"", std::vector<std::string>{"yes", "YES"}}));
  EXPECT_EQ(read("Yes").front(), '!');
  complete(program_.types.add_enum({"Mood", "", {{"Good", "", {}}, {"Bad", "", {TypeTable::string}}}}));
  EXPECT_EQ(read("good"), "\"Good\"");
  EXPECT_EQ(read("Bad").front(), '!');
}

TEST_F(AnswerTest, AStructIsTheObjectItself) {
  complete(program_.types.add_struct({"Point", "", {{"value", TypeTable::i32, ""}}}));
  EXPECT_EQ(read("{\"value\": 1}"), "{\"value\":1}");
  EXPECT_EQ(read("{\"value\": 1, \"x\": 2}"), "! x is a key that is not asked for");
}

TEST_F(AnswerTest, AnOptionalStructWithAKeyNamedValueIsReadAsItWasAskedFor) {
  const TypeId box = program_.types.add_struct({"Box", "", {{"value", TypeTable::i32, ""}}});
  complete(program_.types.option(box));
  EXPECT_EQ(read("{\"value\": {\"value\": 1}}"), "{\"value\":1}");
  EXPECT_EQ(read("{\"value\": 1}"), "{\"value\":1}");
  EXPECT_EQ(read("{\"value\": null}"), "null");
}

TEST_F(AnswerTest, AFillGivesTheHolesInTheirOrder) {
  site().kind = SiteKind::Fill;
  site().call =
      call("pay",
           {{"to", TypeTable::string}, {"amount", TypeTable::i32}, {"note", program_.types.option(TypeTable::string)}});
  EXPECT_EQ(read("{\"amount\": 5, \"to\": \"Ada\", \"note\": null}"), "\"Ada\" 5 null");
  EXPECT_EQ(read("{\"to\": \"Ada\", \"amount\": 5}"), "\"Ada\" 5 null");
  EXPECT_EQ(read("{\"to\": 1, \"x\": 2}"),
            "! to is the number 1, where string is asked for\n! amount is missing; integer is asked for\n! x is a key "
            "that is not asked for");
  EXPECT_EQ(read("[1]"), "! the answer is a list of 1, where an object is asked for");
  EXPECT_EQ(read("Ada"), "! the answer is no JSON: there is no JSON in the text");
}

TEST_F(AnswerTest, ASelectNamesItsClause) {
  site().kind = SiteKind::Select;
  site().clauses = {{call("add", {{"x", TypeTable::i32}, {"y", TypeTable::i32}}), "sum", false},
                    {call("wait", {}), "", false},
                    {call("wait", {{"n", TypeTable::i32}}), "", false},
                    {{}, "", true}};
  EXPECT_EQ(read(R"({"call": {"function": "add", "choice": 0, "arguments": {"x": 2, "y": 5}}})"), "0:2 5");
  EXPECT_EQ(read(R"({"choice": 0, "arguments": {"y": 5, "x": 2}})"), "0:2 5");
  EXPECT_EQ(read(R"({"function": "add", "arguments": {"x": 2, "y": 5}})"), "0:2 5");
  EXPECT_EQ(read(R"({"choice": 1})"), "1:");
  EXPECT_EQ(read(R"({"call": {"function": "else", "choice": 3, "arguments": {}}})"), "3:");
  EXPECT_EQ(read(R"({"function": "wait"})"), "! choice is missing: more than one clause calls \"wait\"");
  EXPECT_EQ(read(R"({"function": "add", "choice": 1, "arguments": {}})"),
            "! choice 1 is the function \"wait\", and not \"add\"");
  EXPECT_EQ(read(R"({"choice": 4})"), "! choice is the number 4, where an integer from 0 to 3 is asked for");
  EXPECT_EQ(read(R"({"choice": -1})"), "! choice is the number -1, where an integer from 0 to 3 is asked for");
  EXPECT_EQ(read(R"({"choice": 0.5})"), "! choice is the number 0.5, where an integer from 0 to 3 is asked for");
  EXPECT_EQ(read(R"({"choice": 0, "arguments": {"x": 2}})"), "! arguments.y is missing; integer is asked for");
  EXPECT_EQ(read(R"({"choice": 1, "arguments": {"x": 2}})"), "! arguments.x is a key that is not asked for");
  for (const std::string_view text :
       {"0", "add", "{\"call\": 1}", "{\"call\": {}, \"x\": 1}", "{\"choice\": 0, \"why\": 1}", "{}",
        "{\"function\": 1, \"choice\": 0}", "{\"function\": \"sub\"}"}) {
    EXPECT_EQ(read(text).front(), '!') << text;
  }
}

class AnswerDialogueTest : public AnswerTest {
 protected:
  AnswerDialogue open(std::uint32_t repairs_max = default_repairs_max) {
    prompts_ = std::make_unique<SitePrompts>(program_, PromptTemplates::builtin());
    reader_ = std::make_unique<answers::ValueReader>(program_.types);
    return {*prompts_, *reader_, 0, prompts_->make_request(0, "Is it?", {}, {}), repairs_max};
  }
  static Answer answer(std::string text, Finish finish = Finish::Complete) { return {std::move(text), finish, {}, {}}; }

  std::unique_ptr<SitePrompts> prompts_;
  std::unique_ptr<answers::ValueReader> reader_;
};

TEST_F(AnswerDialogueTest, AUsableAnswerEndsIt) {
  complete(TypeTable::boolean);
  AnswerDialogue dialogue = open();
  const AnswerDialogue::Step step = dialogue.take(answer("{\"value\": true}"));
  ASSERT_TRUE(std::holds_alternative<AnswerValues>(step));
  EXPECT_TRUE(std::get<AnswerValues>(step).values.at(0).as_boolean());
  EXPECT_EQ(dialogue.repairs(), 0U);
}

TEST_F(AnswerDialogueTest, TellsTheModelWhatWasWrong) {
  complete(TypeTable::boolean);
  AnswerDialogue dialogue = open();
  ASSERT_TRUE(std::holds_alternative<AnswerDialogue::AskAgain>(dialogue.take(answer("{\"value\": 1}"))));
  const std::vector<Message>& messages = dialogue.request().messages;
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[0].text, "Is it?");
  EXPECT_EQ(messages[2].role, Role::Assistant);
  EXPECT_EQ(messages[2].text, "{\"value\": 1}");
  EXPECT_EQ(messages[3].role, Role::User);
  EXPECT_NE(messages[3].text.find("- value is the number 1, where true or false is asked for\n"), std::string::npos);
  EXPECT_NE(dialogue.request().schema, nullptr);
  EXPECT_TRUE(std::holds_alternative<AnswerValues>(dialogue.take(answer("{\"value\": true}"))));
}

TEST_F(AnswerDialogueTest, EndsWithAllAnswersWhenNoneCanBeUsed) {
  complete(TypeTable::boolean);
  AnswerDialogue dialogue = open(1);
  ASSERT_TRUE(std::holds_alternative<AnswerDialogue::AskAgain>(dialogue.take(answer(""))));
  EXPECT_EQ(dialogue.request().messages.size(), 3U);  // nothing was said that could be sent back
  const AnswerDialogue::Step step = dialogue.take(answer(std::string(600, 'x')));
  ASSERT_TRUE(std::holds_alternative<AnswerFailure>(step));
  EXPECT_EQ(std::get<AnswerFailure>(step).kind, types::FailureKind::ModelUnusable);
  EXPECT_EQ(std::get<AnswerFailure>(step).message,
            "the answer for `judge` cannot be used, also after 1 repair\n"
            "  \"\"\n"
            "    the answer is no JSON: the answer is empty\n"
            "  \"" +
                std::string(500, 'x') +
                "\"… (600 bytes)\n"
                "    the answer is no JSON: there is no JSON in the text");
}

TEST_F(AnswerDialogueTest, WithoutRepairsTheFirstAnswerIsTheLast) {
  complete(TypeTable::boolean);
  EXPECT_TRUE(std::holds_alternative<AnswerFailure>(open(0).take(answer("perhaps"))));
}

TEST_F(AnswerDialogueTest, ACutOffAnswerIsNeverUsedEvenWhenItReadsWell) {
  complete(TypeTable::string);
  const AnswerDialogue::Step step = open().take(answer("Division by", Finish::CutOff));
  ASSERT_TRUE(std::holds_alternative<AnswerFailure>(step));
  EXPECT_EQ(std::get<AnswerFailure>(step).kind, types::FailureKind::ModelCutOff);
  EXPECT_EQ(std::get<AnswerFailure>(step).message,
            "the answer for `judge` was cut off\n  \"Division by\"\n    cut off after 1024 tokens");
}

TEST_F(AnswerDialogueTest, ARefusalIsAFailureOfItsOwn) {
  complete(TypeTable::string);
  const AnswerDialogue::Step step = open().take(answer("I won't.", Finish::Refused));
  ASSERT_TRUE(std::holds_alternative<AnswerFailure>(step));
  EXPECT_EQ(std::get<AnswerFailure>(step).kind, types::FailureKind::ModelRefused);
}

TEST_F(AnswerDialogueTest, BytesThatAreNoTextAreNotSentBack) {
  complete(TypeTable::boolean);
  AnswerDialogue dialogue = open();
  ASSERT_TRUE(std::holds_alternative<AnswerDialogue::AskAgain>(dialogue.take(answer("so\xff{"))));
  EXPECT_EQ(dialogue.request().messages.at(2).text, "so");
}

}  // namespace
}  // namespace tenon::inference::prompting
