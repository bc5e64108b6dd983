#include "runtime/host/requests/inbox_command.h"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(InboxCommandTest, RoundTrips) {
  const Hash program = sha256("program");
  const std::vector<RunAction> actions{
      AnswerQuestion{"0.1", {Input::Form::Typed, Json("\"yes\"\n")}},
      AnswerQuestion{"0.1", {Input::Form::Json, Json::object({{"a", 1}})}},
      AnswerQuestions{{{"0.1", Json(true)}, {"0.2", std::nullopt}}},
      RetryServices{},
      CancelRun{CancelScope::Run, "why"},
      CancelRun{CancelScope::Turn, ""},
      PromptAgent{Json("hello")},
      SayInConversation{"hello", SeveralQuestions::Oldest, "0.3"},
      StartRun{.program = program, .function = "main", .arguments = Json::object({{"n", 1}})},
      StartRun{.program = program,
               .agent = "Desk",
               .arguments = Json::object(),
               .input = Json("hi"),
               .shown_name = "desk.Desk",
               .conversation = "conversation/x"}};
  for (const RunAction& action : actions) {
    for (const bool has_key : {false, true}) {
      InboxCommand command{.action = action};
      if (has_key) {
        command.key = {"key", sha256("request"), {{"response/resp_", "{}"}}};
        command.if_records = 7;
      }
      const std::string bytes = encode(command);
      const auto decoded = decode_command(bytes);
      ASSERT_TRUE(decoded.has_value()) << bytes << ": " << decoded.error();
      EXPECT_EQ(encode(*decoded), bytes);
      EXPECT_EQ(decoded->action.index(), action.index());
      EXPECT_EQ(decoded->key.key, has_key ? "key" : "");
      EXPECT_EQ(decoded->if_records.has_value(), has_key);
    }
  }
}

TEST(InboxCommandTest, OtherBytesAreRejectedWithTheReason) {
  for (const std::string_view bytes :
       {"", "[]", "{", "{\"do\":\"fly\"}", "{\"do\":3}", "\xff", "{\"do\":\"answer\"}",
        "{\"do\":\"answers\",\"answers\":[]}", "{\"do\":\"prompt\"}", "{\"do\":\"start\",\"function\":\"main\"}",
        "{\"do\":\"retry\",\"key\":\"k\"}"}) {
    const auto command = decode_command(bytes);
    ASSERT_FALSE(command.has_value()) << bytes;
    EXPECT_FALSE(command.error().empty());
  }
}

TEST(InboxCommandTest, RepliesRoundTrip) {
  const auto accepted = decode_reply(encode_reply(Accepted{{"run"}, "0.1", 12}, {3}));
  ASSERT_TRUE(accepted.has_value());
  EXPECT_EQ(accepted->run.text, "run");
  EXPECT_EQ(accepted->wait, "0.1");
  EXPECT_EQ(accepted->after, 12U);
  const auto refused = decode_reply(encode_reply(failure(HostFailure{HostFailure::Kind::Conflict, "no", "0.2"}), {3}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, HostFailure::Kind::Conflict);
  EXPECT_EQ(refused.error().message, "no");
  EXPECT_EQ(refused.error().wait, "0.2");
  EXPECT_EQ(refused.error().refuser, 0U);
  const auto lacking = decode_reply(encode_reply(failure(HostFailure{HostFailure::Kind::Unequipped, "no key"}), {3}));
  EXPECT_EQ(lacking.error().kind, HostFailure::Kind::Unequipped);
  EXPECT_EQ(lacking.error().refuser, 3U);
  EXPECT_EQ(decode_reply("[]").error().kind, HostFailure::Kind::Unavailable);
}

}  // namespace
}  // namespace tenon::runtime
