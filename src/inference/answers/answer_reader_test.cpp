#include "inference/answers/answer_reader.h"

#include <gtest/gtest.h>

#include "vm/values/render.h"

namespace tenon::inference::answers {
namespace {

using bytecode::SiteKind;
using types::TypeId;
using types::TypeTable;

/// A program of one site, and what becomes of an answer at it.
class AnswerReaderTest : public testing::Test {
 protected:
  AnswerReaderTest() {
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

  /// The values as JSON, after the clause's number for a select; or the problems, a line each.
  std::string read(std::string_view text) {
    const vm::Refinements refinements(program_.types);
    const ValueReader reader(refinements);
    const auto values = read_answer(reader, make_answer_shape(program_, site()), text);
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

TEST_F(AnswerReaderTest, ATextIsTheTextWithoutTheSpaceAroundIt) {
  complete(TypeTable::string);
  EXPECT_EQ(read("\n Division by {zero}. \n"), "\"Division by {zero}.\"");
  EXPECT_EQ(read("\"quoted\""), "\"\\\"quoted\\\"\"");
  EXPECT_EQ(read(" \n"), "! the answer is empty");
  EXPECT_EQ(read("\xff"), "! the answer is not valid UTF-8 at byte 0");
  types::Refinement shortness;
  shortness.length_high = 3;
  complete(program_.types.refined(program_.types.text("Word"), shortness));
  EXPECT_EQ(read("abc\n"), "\"abc\"");
  EXPECT_EQ(read("abcd"), "! the answer: expected string of at most 3 characters, found 4 characters");
}

TEST_F(AnswerReaderTest, ACompletionMayLackItsWrapping) {
  complete(TypeTable::i32);
  EXPECT_EQ(read("{\"value\": 5}"), "5");
  EXPECT_EQ(read("5"), "5");
  EXPECT_EQ(read("Sure:\n```json\n{'value': 5,}\n```"), "5");
  EXPECT_EQ(read("{\"value\": \"five\"}"), "! value: expected integer, found the string \"five\"");
  EXPECT_EQ(read("{\"answer\": 5}"), "! missing key `value`; expected {\"value\": integer}");
  EXPECT_EQ(read("{\"value\": 5, \"why\": \"\"}"), "! unexpected keys besides `value`; expected {\"value\": integer}");
  EXPECT_EQ(read("five"), "! invalid JSON: the text contains no JSON");
  complete(program_.types.list(TypeTable::i32));
  EXPECT_EQ(read("[1, 2]"), "[1,2]");
}

TEST_F(AnswerReaderTest, ThoughtsAreNotTheAnswer) {
  complete(TypeTable::i32);
  EXPECT_EQ(read("<think>perhaps {\"value\": 2}?</think>\n{\"value\": 1}"), "1");
  EXPECT_EQ(read("perhaps {\"value\": 2}?\n</think>\n{\"value\": 1}"), "1");
  EXPECT_EQ(read("<think>{\"value\": 2}").front(), '!');
  complete(TypeTable::boolean);
  EXPECT_EQ(read("<think>no</think>Yes."), "true");
}

TEST_F(AnswerReaderTest, ABooleanMayBeAWord) {
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

TEST_F(AnswerReaderTest, ALiteralMayBeAWordWhereItIsOneAlone) {
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

TEST_F(AnswerReaderTest, AStructIsTheObjectItself) {
  complete(program_.types.add_struct({"Point", "", {{"value", TypeTable::i32, ""}}}));
  EXPECT_EQ(read("{\"value\": 1}"), "{\"value\":1}");
  EXPECT_EQ(read("{\"value\": 1, \"x\": 2}"), "! x: unexpected key");
}

TEST_F(AnswerReaderTest, AnOptionalStructWithAKeyNamedValueIsReadAsItWasAskedFor) {
  const TypeId box = program_.types.add_struct({"Box", "", {{"value", TypeTable::i32, ""}}});
  complete(program_.types.option(box));
  EXPECT_EQ(read("{\"value\": {\"value\": 1}}"), "{\"value\":1}");
  EXPECT_EQ(read("{\"value\": 1}"), "{\"value\":1}");
  EXPECT_EQ(read("{\"value\": null}"), "null");
}

TEST_F(AnswerReaderTest, AFillReturnsTheHolesInTheirOrder) {
  site().kind = SiteKind::Fill;
  site().call =
      call("pay",
           {{"to", TypeTable::string}, {"amount", TypeTable::i32}, {"note", program_.types.option(TypeTable::string)}});
  EXPECT_EQ(read("{\"amount\": 5, \"to\": \"Ada\", \"note\": null}"), "\"Ada\" 5 null");
  EXPECT_EQ(read("{\"to\": \"Ada\", \"amount\": 5}"), "\"Ada\" 5 null");
  EXPECT_EQ(read("{\"to\": 1, \"x\": 2}"),
            "! to: expected string, found the number 1\n! amount: missing; expected integer\n! x: unexpected key");
  EXPECT_EQ(read("[1]"), "! the answer: expected an object, found a list of 1 item");
  EXPECT_EQ(read("Ada"), "! invalid JSON: the text contains no JSON");
}

TEST_F(AnswerReaderTest, ASelectNamesItsClause) {
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
  EXPECT_EQ(read(R"({"function": "wait"})"), "! missing key `choice`: several clauses call \"wait\"");
  EXPECT_EQ(read(R"({"function": "add", "choice": 1, "arguments": {}})"),
            "! choice 1 is the function \"wait\", not \"add\"");
  EXPECT_EQ(read(R"({"choice": 4})"), "! choice: expected integer from 0 to 3, found the number 4");
  EXPECT_EQ(read(R"({"choice": -1})"), "! choice: expected integer from 0 to 3, found the number -1");
  EXPECT_EQ(read(R"({"choice": 0.5})"), "! choice: expected integer from 0 to 3, found the number 0.5");
  EXPECT_EQ(read(R"({"choice": 0, "arguments": {"x": 2}})"), "! arguments.y: missing; expected integer");
  EXPECT_EQ(read(R"({"choice": 1, "arguments": {"x": 2}})"), "! arguments.x: unexpected key");
  for (const std::string_view text :
       {"0", "add", "{\"call\": 1}", "{\"call\": {}, \"x\": 1}", "{\"choice\": 0, \"why\": 1}", "{}",
        "{\"function\": 1, \"choice\": 0}", "{\"function\": \"sub\"}"}) {
    EXPECT_EQ(read(text).front(), '!') << text;
  }
}

}  // namespace
}  // namespace tenon::inference::answers
