#include "effects/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "base/wire.h"

namespace tenon::effects {
namespace {

Record read_back(const RecordBody& body) {
  const Record record{1'700'000'000'000, body};
  auto read = decode_record(encode(record));
  EXPECT_TRUE(read.has_value());
  EXPECT_EQ(read ? *read : Record{}, record);
  return read ? *read : Record{};
}

TEST(Record, WhatAgentsDoIsReadBack) {
  Requested asked;
  asked.key = "2/0.1";
  asked.kind = EffectKind::Ask;
  asked.scope = {"Clerk", 2};
  asked.callers = {"Worker", "Boss"};
  read_back(asked);
  Finished prompted;
  prompted.key = "0";
  prompted.kind = EffectKind::Extern;
  prompted.value = {"\"hello\"", std::nullopt};
  prompted.prompted = Finished::Prompted{"Clerk", vm::PromptKind::FinishAgent};
  read_back(prompted);
  Finished chosen;
  chosen.key = "1";
  chosen.kind = EffectKind::Select;
  chosen.clause = 2;
  chosen.tool = "search";
  read_back(chosen);
  read_back(Paused{"0", "Who?", {"Clerk", 2}, {"Worker", "Boss"}});
  read_back(Continued{"0", {"Ann", std::nullopt}, {"Clerk", 2}});
  read_back(Paused{"0", "What has become of it?", {"Clerk", 2}, {"Boss"}, Paused::Why::CutOff, {"{}", std::nullopt}});
  read_back(Continued{"0", {R"({"retry":true})", std::nullopt}, {"Clerk", 2}, 1'700'000'000'000});
  read_back(Said{"1", {"hello", std::nullopt}, {"Clerk", 1}});
  read_back(StateChanged{"Clerk", {R"({"n":1})", std::nullopt}});
  Requested left;
  left.key = "2/1.0";
  left.kind = EffectKind::BlockLeft;
  left.subject = "research/find";
  left.used = BlockUse{1'500, 42};
  left.call = "2/0";
  read_back(left);
  TurnEnded ended;
  ended.turn = 3;
  ended.agent = "Clerk";
  ended.added_entries = {"scratchpad", "blocks"};
  read_back(ended);
}

TEST(Record, WhatIsSaidOfTrustIsReadBack) {
  Requested call;
  call.key = "3";
  call.kind = EffectKind::Extern;
  call.sources = {"extern read_inbox", "narrow answer of desk"};
  call.allowed = {"endorsed", "narrow"};
  read_back(call);
  read_back(
      FlowRefused{"send_mail", "`to` of `send_mail`", {"extern read_inbox", "person"}, "a.tn:3:5", {"Clerk", 1}, 7});
  read_back(FlowRefused{.subject = "clear", .what = {}, .sources = {}, .place = {}, .scope = {}, .times = 0});
}

TEST(Record, OutagesAreReadBack) {
  Attempted away;
  away.key = "2/0";
  away.what = Attempted::What::Unavailable;
  away.attempt = 3;
  away.reason = "the connection was refused";
  away.next_at = 1'700'000'060'000;
  away.since = 1'700'000'000'000;
  away.service = "charge";
  away.is_tool = true;
  read_back(away);
  Attempted again;
  again.key = "2/0";
  again.what = Attempted::What::Retried;
  read_back(again);
  Started started;
  started.program = sha256("program");
  started.settings.retry = {
      .initial_ms = 1, .factor_thousandths = 1'500, .interval_max_ms = 60'000, .elapsed_max_ms = 0};
  read_back(started);
}

/// Recorded before pauses said whose they are.
TEST(Record, PausesOfOlderJournalsAreRead) {
  const std::string_view paused("\x04\x01\x08\x05\x4a\x09\x06\x01\x30\x0a\x04Who?", 15);
  const auto read = decode_record(paused);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->body, RecordBody(Paused{"0", "Who?", {}, {}}));
}

/// They are on disks.
TEST(Record, TheNumbersOfBoundsStay) {
  wire::Writer fields;
  for (const std::uint32_t number : {8U, 9U, 10U, 11U, 12U, 13U}) fields.present_field(number, number);
  Started started;
  started.settings.bounds = {
      .model_calls = 8, .tokens = 11, .instructions = 9, .depth = 10, .cost_millionths = 12, .milliseconds = 13};
  EXPECT_THAT(encode({0, started}), testing::HasSubstr(fields.view()));
  read_back(started);
}

TEST(Record, TheNumbersOfScopesStay) {
  const auto expect_at = [](std::uint32_t number, auto body) {
    body.scope = {"Clerk", 2};
    wire::Writer fields;
    fields.present_field(number, "Clerk");
    fields.present_field(number + 1, 2);
    EXPECT_THAT(encode({0, body}), testing::HasSubstr(fields.view())) << number;
    read_back(body);
  };
  expect_at(10, Requested{});
  expect_at(8, Attempted{});
  expect_at(8, Finished{});
  expect_at(50, Paused{});
  expect_at(50, Continued{});
  expect_at(3, Said{});
  expect_at(5, FlowRefused{});
}

TEST(Record, AKindOfAnotherTenonIsRefused) {
  EXPECT_FALSE(decode_record(std::string_view("\x04\x01\x8e\x03\x00", 5)).has_value());
  EXPECT_FALSE(decode_record("").has_value());
}

}  // namespace
}  // namespace tenon::effects
