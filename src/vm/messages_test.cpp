#include "vm/messages.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace tenon::vm {
namespace {

std::string all_texts(MessageVersion version) {
  bytecode::Program program;
  program.messages = version;
  const Messages& messages = messages_of(program);
  std::string texts;
  for (const std::string_view text :
       {messages.wrong_value, messages.wrong_pattern, messages.prompted_agent_returns, messages.declared_to_return,
        messages.hands_off, messages.hands_off_where, messages.next_agent_returns, messages.turn_returns,
        messages.finally_between, messages.finally_budget}) {
    texts.append(text).append("\n");
  }
  return texts;
}

/// Programs compute the texts of their version when their runs are replayed. A new text is a new version.
TEST(Messages, TheTextsOfAVersionDoNotChange) {
  EXPECT_EQ(sha256(all_texts(MessageVersion::First)).hex(),
            "539fc093950d8dbea7546e99bbf6761ea95a49a702b22e8d8fdfb6fa835ff4c3")
      << all_texts(MessageVersion::First);
  EXPECT_EQ(sha256(all_texts(MessageVersion::Second)).hex(),
            "c9505f9cba72157475837511c4c0a56474af7c97782381fc7bb9c2ba8f162d8c")
      << all_texts(MessageVersion::Second);
}

TEST(Messages, ALengthOfOneIsSingular) {
  bytecode::Program program;
  EXPECT_EQ(text_length(program, 1), "1 code point");
  EXPECT_EQ(text_length(program, 0), "0 code points");
  program.messages = MessageVersion::Fourth;
  EXPECT_EQ(text_length(program, 1), "1 code points");
}

TEST(Messages, AnAmountOfOneIsSingular) {
  bytecode::Program program;
  const auto depth = [&] { return budget_amount(program, 1, "call inside another", "calls inside one another"); };
  EXPECT_EQ(budget_amount(program, 1, "token", {}), "1 token");
  EXPECT_EQ(budget_amount(program, 2, "token", {}), "2 tokens");
  EXPECT_EQ(depth(), "1 call inside another");
  // Replayed runs of older programs compute the text that is recorded.
  program.messages = MessageVersion::Third;
  EXPECT_EQ(budget_amount(program, 1, "token", {}), "1 tokens");
  EXPECT_EQ(budget_amount(program, 2, "token", {}), "2 tokens");
  EXPECT_EQ(depth(), "1 calls inside one another");
}

}  // namespace
}  // namespace tenon::vm
