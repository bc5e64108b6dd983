#include "protocol/record_events.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/ensure.h"
#include "protocol/event_writer.h"

namespace tenon::protocol {
namespace {

using nlohmann::json;

const Contents nowhere = [](const effects::StoredText&) { return std::nullopt; };

/// By way of the bytes, as a reader of the store gets it.
json event_of(effects::RecordBody body, const Contents& contents = nowhere) {
  const auto record = effects::decode_record(effects::encode({1'000, std::move(body)}));
  EXPECT_TRUE(record.has_value());
  const auto event = make_event({"01run", {"main", 0}, 7}, *record, contents, RunValues());
  return event ? json::parse(event->json) : json();
}

TEST(RecordEventsTest, TheCommonFieldsComeFirst) {
  const auto event =
      make_event({"01run", {"main", 2}, 7}, {1'000, effects::CancelWanted{"\"why\"\n"}}, nowhere, RunValues());
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->json,
            R"({"number":7,"run":"01run","agent":"main","depth":2,"type":"cancel","time":1000,"reason":"\"why\"\n"})");
  EXPECT_EQ(event->number, 7U);
  EXPECT_EQ(event->kind, EventKind::Cancel);
}

TEST(RecordEventsTest, EachKindOfRequestHasItsEvent) {
  effects::Requested requested;
  requested.key = "0.1";
  requested.subject = "search";
  requested.arguments.text = R"(["a",3])";
  requested.place = "a.tn:1:2";
  requested.kind = effects::EffectKind::Extern;
  EXPECT_EQ(event_of(requested)["type"], "tool_call");
  EXPECT_EQ(event_of(requested)["arguments"], json::parse(R"(["a",3])"));
  requested.kind = effects::EffectKind::Ask;
  requested.form.text = R"({"type":"string"})";
  requested.wake_at = 5'000;
  const json wait = event_of(requested);
  EXPECT_EQ(wait["type"], "wait_for_input");
  EXPECT_EQ(wait["question"], "a");
  EXPECT_EQ(wait["schema"]["type"], "string");
  EXPECT_EQ(wait["until"], 5'000);
  EXPECT_FALSE(wait.contains("value"));
  requested.subject = "approve";
  requested.arguments.text = R"([3,"a"])";
  requested.sources = {"extern inbox"};
  EXPECT_EQ(event_of(requested)["value"], 3);
  EXPECT_EQ(event_of(requested)["sources"], json::parse(R"(["extern inbox"])"));
  requested.kind = effects::EffectKind::Extern;
  EXPECT_EQ(event_of(requested)["sources"], json::parse(R"(["extern inbox"])"));
  requested.kind = effects::EffectKind::Complete;
  EXPECT_EQ(event_of(requested)["purpose"], "complete");
  requested.kind = effects::EffectKind::Fill;
  EXPECT_EQ(event_of(requested)["type"], "generation_started");
  EXPECT_EQ(event_of(requested)["purpose"], "fill");
}

TEST(RecordEventsTest, WhatAgentsDoHasEventsOfTheirOwn) {
  const json wait = event_of(effects::Paused{"0.1", "Who?", {"Clerk", 2}, {"Worker", "Boss"}});
  EXPECT_EQ(wait["agent"], "Clerk");
  EXPECT_EQ(wait["depth"], 2);
  EXPECT_EQ(wait["callers"], json::parse(R"(["Worker","Boss"])"));
  const json old_wait = event_of(effects::Paused{"0.1", "Who?", {}, {}});
  EXPECT_EQ(old_wait["agent"], "main");
  EXPECT_FALSE(old_wait.contains("callers"));
  const json answer = event_of(effects::Continued{"0.1", {"Ann", std::nullopt}, {"Clerk", 2}});
  EXPECT_EQ(answer["agent"], "Clerk");
  EXPECT_EQ(answer["input"], "Ann");
  const json text = event_of(effects::Said{"0.1", {"Hello \"you\"", std::nullopt}, {"Clerk", 1}});
  EXPECT_EQ(text["type"], "text");
  EXPECT_EQ(text["text"], "Hello \"you\"");
  EXPECT_EQ(text["generation"], "0.1");
  EXPECT_EQ(text["depth"], 1);
  const json refused = event_of(effects::FlowRefused{
      "send_mail", "`to` of `send_mail`", {"extern read_inbox", "person"}, "/srv/desk.tn:3:5", {"Clerk", 1}, 1});
  EXPECT_EQ(refused["type"], "flow_refused");
  EXPECT_EQ(refused["agent"], "Clerk");
  EXPECT_EQ(refused["function"], "send_mail");
  EXPECT_EQ(refused["what"], "`to` of `send_mail`");
  EXPECT_EQ(refused["sources"], json::parse(R"(["extern read_inbox","person"])"));
  EXPECT_EQ(refused["place"], "desk.tn:3:5");
  EXPECT_FALSE(refused.contains("times"));
  EXPECT_EQ(event_of(effects::FlowRefused{"a", "b", {}, "", {}, 3})["times"], 3);
  const json changed = event_of(effects::StateChanged{"Clerk", {R"({"n":1})", std::nullopt}});
  EXPECT_EQ(changed["type"], "state_changed");
  EXPECT_EQ(changed["entries"], json::parse(R"({"n":1})"));
  effects::Finished prompted;
  prompted.key = "0.1";
  prompted.kind = effects::EffectKind::Extern;
  prompted.value.text = "\"hello\"";
  prompted.prompted = effects::Finished::Prompted{"Clerk", vm::PromptKind::PauseForChild};
  EXPECT_EQ(event_of(prompted)["pause_for_child"], "Clerk");
  EXPECT_TRUE(event_of(prompted)["value"].is_null());
  prompted.prompted->kind = vm::PromptKind::FinishAgent;
  EXPECT_EQ(event_of(prompted)["finish_agent"], "Clerk");
}

TEST(RecordEventsTest, ADecisionAboutAnInterruptedCallIsJson) {
  const effects::Record decided{1'000, effects::Continued{"0.1", {R"({"retry":true})", std::nullopt}, {"Clerk", 2}}};
  const auto input = [&](const RunValues& values) {
    const auto event = make_event({"01run", {"main", 0}, 7}, decided, nowhere, values);
    return event ? json::parse(event->json)["input"] : json();
  };
  RunValues values;
  EXPECT_TRUE(values.misses_request(decided));
  effects::Paused paused{"0.1", "Did it happen?", {"Clerk", 2}, {}};
  values.follow({1'000, paused}, nowhere);
  EXPECT_FALSE(values.misses_request(decided));
  EXPECT_EQ(input(values), R"({"retry":true})") << "a tool has asked for a text";
  paused.why = effects::Paused::Why::CutOff;
  values.follow({1'000, paused}, nowhere);
  EXPECT_EQ(input(values), json({{"retry", true}}));
  values.follow(decided, nowhere);
  EXPECT_TRUE(values.misses_request(decided));
}

TEST(RecordEventsTest, EachKindOfOutcomeHasItsEvent) {
  effects::Finished finished;
  finished.key = "0.1";
  finished.subject = "search";
  finished.value.text = "[1]";
  finished.kind = effects::EffectKind::Extern;
  EXPECT_EQ(event_of(finished)["type"], "tool_result");
  EXPECT_EQ(event_of(finished)["value"], json::parse("[1]"));
  finished.kind = effects::EffectKind::Ask;
  EXPECT_EQ(event_of(finished)["type"], "resume_with_input");
  finished.kind = effects::EffectKind::Select;
  finished.clause = 2;
  finished.cost.generated = 9;
  EXPECT_EQ(event_of(finished)["type"], "generation_finished");
  EXPECT_EQ(event_of(finished)["clause"], 2);
  EXPECT_EQ(event_of(finished)["generated"], 9);
  finished.failure = effects::FailureText{types::FailureKind::ModelRefused, "no", "m", ""};
  EXPECT_EQ(event_of(finished)["kind"], "ModelRefused");
  EXPECT_FALSE(event_of(finished).contains("value"));
  finished.kind = effects::EffectKind::Extern;
  EXPECT_EQ(event_of(finished)["type"], "tool_error");
  EXPECT_EQ(event_of(finished)["message"], "no");
}

TEST(RecordEventsTest, AStartAndThreeEnds) {
  effects::Started started;
  started.function = "main";
  started.arguments.text = R"(["x",null])";
  EXPECT_EQ(event_of(started)["type"], "prompt_started");
  EXPECT_EQ(event_of(started)["input"], json::parse(R"(["x",null])"));
  effects::Ended ended;
  ended.value.text = "42";
  EXPECT_EQ(event_of(ended)["type"], "turn_end");
  EXPECT_EQ(event_of(ended)["value"], 42);
  ended.how = effects::Ended::How::Cancelled;
  EXPECT_EQ(event_of(ended)["type"], "turn_cancelled");
  ended.how = effects::Ended::How::Failed;
  ended.failure = {types::FailureKind::Arithmetic, "by zero", "", "a.tn:1:1"};
  EXPECT_EQ(event_of(ended)["type"], "turn_failed");
  EXPECT_EQ(event_of(ended)["place"], "a.tn:1:1");
}

TEST(RecordEventsTest, AConversationsTurns) {
  effects::Started begun;
  begun.agent = "Desk";
  EXPECT_TRUE(event_of(begun).is_null()) << "a conversation begins with its first prompt";
  effects::TurnStarted started;
  started.turn = 2;
  started.agent = "Billing";
  started.input.text = "{\"not\": read";
  const json prompt = event_of(started);
  EXPECT_EQ(prompt["type"], "prompt_started");
  EXPECT_EQ(prompt["input"], "{\"not\": read") << "as it was said";
  EXPECT_EQ(prompt["agent"], "Billing");
  EXPECT_EQ(prompt["turn"], 2);
  effects::Requested called;
  called.kind = effects::EffectKind::AgentCalled;
  called.subject = "Child";
  called.scope = {"Child", 1};
  called.arguments.text = R"(["Child","go"])";
  EXPECT_EQ(event_of(called)["type"], "agent_call");
  EXPECT_EQ(event_of(called)["input"], "go");
  EXPECT_EQ(event_of(called)["depth"], 1);
  called.kind = effects::EffectKind::HandedOff;
  EXPECT_EQ(event_of(called)["to"], "Child");
  effects::Finished over;
  over.kind = effects::EffectKind::AgentCalled;
  EXPECT_TRUE(event_of(over).is_null()) << "its request has reported everything";
  effects::TurnEnded ended;
  ended.value.text = "\"done\"";
  ended.state.text = R"({"n":1})";
  EXPECT_EQ(event_of(ended)["type"], "turn_end");
  EXPECT_EQ(event_of(ended)["state"]["n"], 1);
  ended.state.text = R"({"n":1,"scratchpad":{},"blocks":{}})";
  ended.added_entries = {"scratchpad", "blocks"};
  EXPECT_EQ(event_of(ended)["state"], json::parse(R"({"n":1})"));
}

TEST(RecordEventsTest, ProgressOfAProgram) {
  effects::Requested notice;
  notice.key = "2/3.1.0";
  notice.kind = effects::EffectKind::BlockEntered;
  notice.subject = "research/find";
  notice.arguments.text = R"(["research/find"])";
  notice.place = "a.tn:1:1";
  const json entered = event_of(notice);
  EXPECT_EQ(entered["type"], "block_entered");
  EXPECT_EQ(entered["block"], "find");
  EXPECT_EQ(entered["path"], "research/find");
  EXPECT_EQ(entered["branch"], "2/3.1");
  notice.kind = effects::EffectKind::BlockLeft;
  notice.key = "2/7";
  EXPECT_FALSE(event_of(notice).contains("ms"));
  notice.used = effects::BlockUse{1'500, 30};
  EXPECT_EQ(event_of(notice)["ms"], 1'500);
  EXPECT_EQ(event_of(notice)["tokens"], 30);
  EXPECT_EQ(event_of(notice)["branch"], "");
  effects::Requested said;
  said.kind = effects::EffectKind::Emitted;
  said.arguments.text = R"(["One moment."])";
  EXPECT_EQ(event_of(said)["type"], "text");
  EXPECT_EQ(event_of(said)["text"], "One moment.");
  EXPECT_FALSE(event_of(said).contains("generation"));
}

TEST(RecordEventsTest, LongValuesComeFromTheStoreUpToALimit) {
  effects::Ended ended;
  ended.value.hash = sha256("long");
  const std::string text = "\"" + std::string(event_value_bytes_max - 2, 'x') + "\"";
  EXPECT_EQ(event_of(ended, [&](const effects::StoredText&) { return text; })["value"], json::parse(text));
  const json cut = event_of(ended, [&](const effects::StoredText&) { return text + " "; });
  EXPECT_EQ(cut["value"]["left_out"]["bytes"], text.size() + 1);
  EXPECT_EQ(event_of(ended)["value"]["left_out"]["hash"], sha256("long").hex());
}

TEST(RecordEventsTest, InputThatIsNotJsonBecomesAString) {
  effects::Ended ended;
  ended.value.text = "{\"a\":";
  EXPECT_EQ(event_of(ended)["value"], "{\"a\":");
}

TEST(RecordEventsTest, AProvisionalPieceHasNoNumber) {
  const Event event = make_text_delta({"01run", {"main", 0}, 0}, 5, {"0.1", 1, 10, "hello"});
  const json parsed = json::parse(event.json);
  EXPECT_FALSE(parsed.contains("number"));
  EXPECT_EQ(parsed["offset"], 10);
  EXPECT_EQ(event.number, 0U);
}

TEST(EventWriterTest, HoldsTheWriterToTheTable) {
  const EventHeader header{1, "r", {"a", 0}, 0};
  EXPECT_THROW(static_cast<void>(EventWriter(EventKind::Cancel, header).take()), BrokenCondition);
  EXPECT_THROW(EventWriter(EventKind::Cancel, header).text("wait", "x"), BrokenCondition);
  EXPECT_THROW(EventWriter(EventKind::Cancel, header).integer("reason", 1), BrokenCondition);
}

}  // namespace
}  // namespace tenon::protocol
