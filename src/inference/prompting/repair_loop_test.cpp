#include "inference/prompting/repair_loop.h"

#include <gtest/gtest.h>

namespace tenon::inference::prompting {
namespace {

using answers::AnswerValues;
using types::TypeId;
using types::TypeTable;

class RepairLoopTest : public testing::Test {
 protected:
  RepairLoopTest() {
    bytecode::Function function;
    function.name = "judge";
    function.result = TypeTable::string;
    program_.functions.push_back(function);
    program_.sites.emplace_back();
  }

  void complete(TypeId type) { program_.sites.front().result = type; }
  RepairLoop open(std::uint32_t repairs_max = default_repairs_max) {
    prompts_ = std::make_unique<SitePrompts>(program_, PromptTemplates::builtin());
    refinements_ = std::make_unique<vm::Refinements>(program_.types);
    reader_ = std::make_unique<answers::ValueReader>(*refinements_);
    return {*prompts_, *reader_, 0, prompts_->make_request(0, "Is it?", {}, {}), repairs_max};
  }
  static Answer answer(std::string text, Finish finish = Finish::Complete) { return {std::move(text), finish, {}, {}}; }

  bytecode::Program program_;
  std::unique_ptr<SitePrompts> prompts_;
  std::unique_ptr<vm::Refinements> refinements_;
  std::unique_ptr<answers::ValueReader> reader_;
};

TEST_F(RepairLoopTest, AUsableAnswerEndsIt) {
  complete(TypeTable::boolean);
  RepairLoop repair_loop = open();
  const RepairLoop::Step step = repair_loop.on_answer(answer("{\"value\": true}"));
  ASSERT_TRUE(std::holds_alternative<AnswerValues>(step));
  EXPECT_TRUE(std::get<AnswerValues>(step).values.at(0).as_boolean());
  EXPECT_EQ(repair_loop.repairs(), 0U);
}

TEST_F(RepairLoopTest, SendsTheReasonsToTheModel) {
  complete(TypeTable::boolean);
  RepairLoop repair_loop = open();
  ASSERT_TRUE(std::holds_alternative<RepairLoop::AskAgain>(repair_loop.on_answer(answer("{\"value\": 1}"))));
  const std::vector<Message>& messages = repair_loop.request().messages;
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[0].text, "Is it?");
  EXPECT_EQ(messages[2].role, Role::Assistant);
  EXPECT_EQ(messages[2].text, "{\"value\": 1}");
  EXPECT_EQ(messages[3].role, Role::User);
  EXPECT_NE(messages[3].text.find("- value: expected true or false, found the number 1\n"), std::string::npos);
  EXPECT_NE(repair_loop.request().schema, nullptr);
  EXPECT_TRUE(std::holds_alternative<AnswerValues>(repair_loop.on_answer(answer("{\"value\": true}"))));
}

/// A resumed run sends again what it has sent before, though its reasons are not recorded.
TEST_F(RepairLoopTest, SendsTheModelOfAnOlderProgramTheReasonsOfItsVersion) {
  complete(TypeTable::boolean);
  program_.messages = MessageVersion::First;
  RepairLoop repair_loop = open();
  ASSERT_TRUE(std::holds_alternative<RepairLoop::AskAgain>(repair_loop.on_answer(answer("{\"value\": 1}"))));
  ASSERT_TRUE(std::holds_alternative<RepairLoop::AskAgain>(repair_loop.on_answer(answer("perhaps"))));
  const std::vector<Message>& messages = repair_loop.request().messages;
  ASSERT_EQ(messages.size(), 6U);
  EXPECT_NE(messages[3].text.find("- value is the number 1, where true or false is asked for\n"), std::string::npos);
  EXPECT_NE(messages[5].text.find("- the answer is no JSON: there is no JSON in the text\n"), std::string::npos);
}

TEST_F(RepairLoopTest, EndsWithAllAnswersWhenNoneCanBeUsed) {
  complete(TypeTable::boolean);
  RepairLoop repair_loop = open(1);
  ASSERT_TRUE(std::holds_alternative<RepairLoop::AskAgain>(repair_loop.on_answer(answer(""))));
  EXPECT_EQ(repair_loop.request().messages.size(), 3U);  // nothing was said that could be sent back
  const RepairLoop::Step step = repair_loop.on_answer(answer(std::string(600, 'x')));
  ASSERT_TRUE(std::holds_alternative<AnswerFailure>(step));
  EXPECT_EQ(std::get<AnswerFailure>(step).kind, types::FailureKind::ModelUnusable);
  EXPECT_EQ(std::get<AnswerFailure>(step).message,
            "the answer for `judge` cannot be used, even after 1 repair\n"
            "  \"\"\n"
            "    invalid JSON: the answer is empty\n"
            "  \"" +
                std::string(500, 'x') +
                "\"… (600 bytes)\n"
                "    invalid JSON: the text contains no JSON");
}

TEST_F(RepairLoopTest, WithoutRepairsTheFirstAnswerIsTheLast) {
  complete(TypeTable::boolean);
  EXPECT_TRUE(std::holds_alternative<AnswerFailure>(open(0).on_answer(answer("perhaps"))));
}

TEST_F(RepairLoopTest, ACutOffAnswerIsNeverUsedEvenWhenItReadsWell) {
  complete(TypeTable::string);
  const RepairLoop::Step step = open().on_answer(answer("Division by", Finish::CutOff));
  ASSERT_TRUE(std::holds_alternative<AnswerFailure>(step));
  EXPECT_EQ(std::get<AnswerFailure>(step).kind, types::FailureKind::ModelCutOff);
  EXPECT_EQ(std::get<AnswerFailure>(step).message,
            "the answer for `judge` was cut off\n  \"Division by\"\n    cut off after 1024 tokens");
}

TEST_F(RepairLoopTest, ARefusalIsAFailureOfItsOwn) {
  complete(TypeTable::string);
  const RepairLoop::Step step = open().on_answer(answer("I won't.", Finish::Refused));
  ASSERT_TRUE(std::holds_alternative<AnswerFailure>(step));
  EXPECT_EQ(std::get<AnswerFailure>(step).kind, types::FailureKind::ModelRefused);
}

TEST_F(RepairLoopTest, DoesNotSendBackBytesThatAreNotUtf8) {
  complete(TypeTable::boolean);
  RepairLoop repair_loop = open();
  ASSERT_TRUE(std::holds_alternative<RepairLoop::AskAgain>(repair_loop.on_answer(answer("so\xff{"))));
  EXPECT_EQ(repair_loop.request().messages.at(2).text, "so");
}

}  // namespace
}  // namespace tenon::inference::prompting
