#include "inference/openai_http/chat_reply.h"

#include <gtest/gtest.h>

#include <random>

#include "inference/openai_http/reply_outcome.h"

namespace tenon::inference {
namespace {

ChatReply read(std::string_view json) {
  ChatReply reply;
  EXPECT_EQ(read_chat_json(json, reply), ReplySyntax::Json) << json;
  return reply;
}

Answer answer_in(std::string_view json) {
  auto outcome = answer_of(read(json));
  if (const auto* fault = std::get_if<ReplyFault>(&outcome)) {
    ADD_FAILURE() << fault->message;
    return {};
  }
  return std::get<Answer>(outcome);
}

ReplyFault fault_in(std::string_view json) {
  auto outcome = answer_of(read(json));
  if (const auto* answer = std::get_if<Answer>(&outcome)) {
    ADD_FAILURE() << "answered " << answer->text;
    return {};
  }
  return std::get<ReplyFault>(outcome);
}

TEST(ChatReply, ReadsContentUsageAndModel) {
  const ChatReply reply = read(R"({"id":"x","model":"m","choices":[{"index":0,
    "message":{"role":"assistant","content":"h\u00e9\n","annotations":[{"content":"no"}]},"finish_reason":"stop"},
    {"index":1,"message":{"content":"second"}}],
    "usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},
    "completion_tokens_details":{"cached_tokens":99}},"extra":{"choices":[{"message":{"content":"no"}}]}})");
  EXPECT_EQ(reply.content, "hé\n");
  EXPECT_EQ(reply.model, "m");
  EXPECT_EQ(reply.finish_reason, "stop");
  EXPECT_EQ(reply.choices, 1U);
  ASSERT_TRUE(reply.usage.has_value());
  EXPECT_EQ(reply.usage->prompt, 10U);
  EXPECT_EQ(reply.usage->generated, 3U);
  EXPECT_EQ(reply.usage->cached, 4U);
}

TEST(ChatReply, ChunksAddUp) {
  ChatReply reply;
  for (const auto* chunk : {
           R"({"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})",
           R"({"choices":[{"index":0,"delta":{"content":"wa"},"finish_reason":null}],"usage":null})",
           R"({"choices":[{"index":0,"delta":{"content":"ter"}}]})",
           R"({"choices":[{"index":0,"delta":{},"finish_reason":"length"}]})",
           R"({"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":1}})",
       }) {
    EXPECT_EQ(read_chat_json(chunk, reply), ReplySyntax::Json);
  }
  EXPECT_EQ(reply.content, "water");
  EXPECT_EQ(reply.finish_reason, "length");
  EXPECT_EQ(reply.usage->prompt, 2U);
}

TEST(ChatReply, EveryEndHasItsMeaning) {
  EXPECT_EQ(answer_in(R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]})").finish, Finish::Complete);
  EXPECT_EQ(answer_in(R"({"choices":[{"message":{"content":"a"},"finish_reason":"length"}]})").finish, Finish::CutOff);
  EXPECT_EQ(answer_in(R"({"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]})").finish,
            Finish::Refused);
  const Answer refused =
      answer_in(R"({"choices":[{"message":{"content":null,"refusal":"I cannot."},"finish_reason":"stop"}]})");
  EXPECT_EQ(refused.finish, Finish::Refused);
  EXPECT_EQ(refused.text, "I cannot.");
  const Answer empty = answer_in(R"({"choices":[{"message":{"content":null},"finish_reason":"stop"}]})");
  EXPECT_EQ(empty.finish, Finish::Complete);
  EXPECT_EQ(empty.text, "");
}

TEST(ChatReply, ContentMayComeInParts) {
  EXPECT_EQ(
      answer_in(R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]})")
          .text,
      "ab");
}

TEST(ChatReply, RejectsAReplyThatIsNotAnAnswer) {
  EXPECT_EQ(fault_in("{}").kind, ModelErrorKind::BadReply);
  EXPECT_EQ(fault_in("[]").kind, ModelErrorKind::BadReply);
  EXPECT_EQ(fault_in("3").kind, ModelErrorKind::BadReply);
  EXPECT_EQ(fault_in(R"({"choices":[]})").kind, ModelErrorKind::BadReply);
  EXPECT_EQ(fault_in(R"({"choices":{"message":{"content":"x"}}})").kind, ModelErrorKind::BadReply);
  EXPECT_EQ(fault_in(R"({"choices":[{"message":{"content":null,"tool_calls":[{"id":"c"}]}}]})").kind,
            ModelErrorKind::BadReply);
}

TEST(ChatReply, ErrorsComeInSeveralShapes) {
  EXPECT_EQ(read(R"({"error":{"message":"m","type":"t","code":"c","param":"p"}})").error->param, "p");
  EXPECT_EQ(read(R"({"error":{"message":"m","code":429}})").error->code, "429");
  EXPECT_EQ(read(R"({"error":"just text"})").error->message, "just text");
  EXPECT_EQ(read(R"({"object":"error","message":"m"})").error->message, "m");
  EXPECT_EQ(read(R"({"detail":"not found"})").error->message, "not found");
  EXPECT_FALSE(read(R"({"error":null,"choices":[]})").error.has_value());
}

TEST(ChatReply, NumbersOutOfRangeAreClamped) {
  const ChatReply reply = read(
      R"({"usage":{"prompt_tokens":1e300,"completion_tokens":-5,"prompt_tokens_details":{"cached_tokens":18446744073709551615}}})");
  EXPECT_EQ(reply.usage->prompt, UINT32_MAX);
  EXPECT_EQ(reply.usage->generated, 0U);
  EXPECT_EQ(reply.usage->cached, UINT32_MAX);
}

TEST(ChatReply, NothingThatAServerSendsCrashes) {
  ChatReply reply;
  EXPECT_EQ(read_chat_json(std::string(1'000'000, '['), reply), ReplySyntax::NotJson);
  EXPECT_EQ(read_chat_json("", reply), ReplySyntax::NotJson);
  std::string deep = R"({"choices":[{"message":{"content":)";
  for (int i = 0; i < 100'000; ++i) deep += R"([{"text":)";
  EXPECT_EQ(read_chat_json(deep, reply), ReplySyntax::NotJson);

  constexpr std::string_view pieces[] = {"{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         ":",
                                         "null",
                                         "true",
                                         "1",
                                         "-1.5e9",
                                         "\"x\"",
                                         "\"choices\"",
                                         "\"message\"",
                                         "\"content\"",
                                         "\"usage\"",
                                         "\"prompt_tokens\"",
                                         "\"cached_tokens\"",
                                         "\"prompt_tokens_details\"",
                                         "\"error\"",
                                         "\"code\"",
                                         "\"tool_calls\"",
                                         "\"refusal\"",
                                         "\"delta\"",
                                         "\"text\""};
  std::mt19937 random(5);
  for (int round = 0; round < 50'000; ++round) {
    std::string text = round % 3 == 0 ? R"({"choices":[{"message":{)" : round % 3 == 1 ? R"({"usage":{)" : "";
    for (auto length = random() % 12; length > 0; --length) text += pieces[random() % std::size(pieces)];
    ChatReply read;
    if (read_chat_json(text, read) == ReplySyntax::Json) {
      [[maybe_unused]] const auto outcome = answer_of(std::move(read));
    }
  }
}

std::string reply_with(std::string_view reason, std::string_view content = "part") {
  return R"({"choices":[{"message":{"content":")" + std::string(content) + R"("},"finish_reason":)" +
         std::string(reason) + "}]}";
}

TEST(ChatReply, AnAnswerIsWholeOnlyIfTheReplySaysSo) {
  for (const auto* reason : {"\"stop\"", "\"tool_calls\"", "\"STOP\"", "\"function_call\""})
    EXPECT_EQ(answer_in(reply_with(reason)).finish, Finish::Complete) << reason;
  for (const auto* reason : {"\"length\"", "\"max_tokens\"", "\"model_length\"", "\"never_seen\"", "null", "\"\""}) {
    const Answer answer = answer_in(reply_with(reason));
    EXPECT_EQ(answer.finish, Finish::CutOff) << reason;
    EXPECT_EQ(answer.text, "part");
  }
  EXPECT_EQ(answer_in(reply_with("\"length\"")).cut_reason, "");
  EXPECT_EQ(answer_in(reply_with("\"never_seen\"")).cut_reason,
            "the endpoint does not say that the answer is whole: its finish_reason is \"never_seen\"");
  for (const auto* reason : {"\"content_filter\"", "\"SAFETY\"", "\"refusal\""})
    EXPECT_EQ(answer_in(reply_with(reason)).finish, Finish::Refused) << reason;
  for (const auto* reason : {"\"error\"", "\"abort\"", "\"network_error\""}) {
    const ReplyFault fault = fault_in(reply_with(reason));
    EXPECT_EQ(fault.kind, ModelErrorKind::Overloaded) << reason;
    EXPECT_EQ(fault.retry, Retry::Worthwhile) << reason;
  }
}

TEST(ChatReply, AnErrorWithinAChoiceVoidsIt) {
  const ReplyFault fault = fault_in(
      R"({"choices":[{"message":{"content":"part"},"finish_reason":"stop","error":{"code":502,"message":"gone"}}]})");
  EXPECT_EQ(fault.kind, ModelErrorKind::Overloaded);
  EXPECT_EQ(fault.message, "the server reports: gone");
  EXPECT_EQ(
      answer_in(R"({"error":null,"choices":[{"error":null,"message":{"content":"all"},"finish_reason":"stop"}]})").text,
      "all");
  EXPECT_EQ(answer_in(R"({"error":{},"choices":[{"message":{"content":"all"},"finish_reason":"stop"}]})").text, "all");
}

TEST(ChatReply, HalfASurrogatePairIsReplaced) {
  EXPECT_EQ(answer_in(reply_with("\"stop\"", R"(a\ud83d b)")).text, "a\uFFFD b");
  EXPECT_EQ(answer_in(reply_with("\"stop\"", R"(a\ude00)")).text, "a\uFFFD");
  EXPECT_EQ(answer_in(reply_with("\"stop\"", R"(\ud83d\ud83d\ude00\ud83d)")).text, "\uFFFD😀\uFFFD");
  EXPECT_EQ(answer_in(reply_with("\"stop\"", R"(\ud83dx\u0041)")).text, "\uFFFDxA");
  EXPECT_EQ(read(R"({"model":"m\ud83d","error":{"message":"\ude00"}})").error->message, "\uFFFD");
}

TEST(ChatReply, HalvesInNeighbouringChunksAreJoined) {
  ChatReply reply;
  for (const auto* content : {"Hi ", "\\ud83d", "", "\\ude00!", "\\ud83d", "x", "\\ude00"}) {
    EXPECT_EQ(read_chat_json(R"({"choices":[{"delta":{"content":")" + std::string(content) + "\"}}]}", reply),
              ReplySyntax::Json);
  }
  EXPECT_EQ(reply.content, "Hi 😀!\uFFFDx\uFFFD");
}

TEST(ChatReply, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(answer_in("\xEF\xBB\xBF " + reply_with("\"stop\"", "all")).text, "all");
}

TEST(ChatReply, ThoughtsAreNotTheAnswer) {
  const Answer answer = answer_in(reply_with("\"stop\"", R"(<think>hm</think>\n\nDear)"));
  EXPECT_EQ(answer.text, "Dear");
  EXPECT_EQ(answer.thoughts, "hm");
  EXPECT_EQ(answer_in(reply_with("\"stop\"", R"(hm</think>Dear)")).text, "Dear");
  const Answer apart =
      answer_in(R"({"choices":[{"message":{"reasoning_content":"hm","content":"Dear"},"finish_reason":"stop"}]})");
  EXPECT_EQ(apart.text, "Dear");
  EXPECT_EQ(apart.thoughts, "hm");
  const Answer endless = answer_in(reply_with("\"stop\"", R"(<think>hm)"));
  EXPECT_EQ(endless.finish, Finish::CutOff);
  EXPECT_EQ(endless.cut_reason, "the model's thoughts are not followed by an answer");
  auto kept = answer_of(read(reply_with("\"stop\"", R"(<think>hm</think>Dear)")), Thoughts::Keep);
  EXPECT_EQ(std::get<Answer>(kept).text, "<think>hm</think>Dear");
}

}  // namespace
}  // namespace tenon::inference
