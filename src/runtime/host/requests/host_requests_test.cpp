#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/host/host.h"
#include "runtime/host/requests/inbox_command.h"
#include "tests/support/host_testing.h"

namespace tenon::runtime {
namespace {

using journal::RunName;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

class HostRequestsTest : public test::HostTest {};

constexpr const char* source_with_secrets = R"(
fn keep(ctx: Context, token: secret String) -> String {
    ask<String>("Go on?")
}

agent Keeper {
    fn turn(ctx: Context, input: String) -> String {
        return input
    }
}
)";

/// A cancel waits until all branches wait, because there may be something to clean up.
constexpr const char* source_with_finally = R"(
fn tidy(ctx: Context) -> String {
    let go = ask<String>("Go?") finally { spin(ctx) }
    spin(ctx)
    ask<String>("Rest?")
}

fn spin(ctx: Context) -> String {
    let done = 0
    while done < 2000000 {
        done = done + 1
    }
    "spun"
}

agent Spinner {
    fn turn(ctx: Context, input: String) -> String {
        return spin(ctx)
    }
}
)";

TEST_F(HostRequestsTest, RequestsWaitForTheLoadInTheirOrder) {
  make_host(3, 0);
  const RunName run = start("two");
  const std::string wait = wait_of(run, 0);
  ASSERT_TRUE(drive_until([&] { return host->counts().resident == 0; }));
  simulated->hold_reads(true);
  std::vector<std::string> replies;
  const auto note = [&](const std::string& name) {
    return [&replies, name](const HostReply& reply) { replies.push_back(name + (reply ? "" : " refused")); };
  };
  host->prompt(run, Json("x"), {}, note("prompt"));
  host->resume(run, wait, Json("a"), {}, note("first"));
  host->resume(run, wait, Json("b"), {}, note("second"));
  ASSERT_TRUE(drive_until([&] { return simulated->waiting_reads() > 0; }));
  EXPECT_EQ(host->counts().runs_loaded, 0U);
  simulated->hold_reads(false);
  ASSERT_TRUE(drive_until([&] { return replies.size() == 3; }));
  EXPECT_THAT(replies, ElementsAre("prompt refused", "second refused", "first"));
  EXPECT_EQ(host->counts().runs_loaded, 1U);
  end_host();
}

/// Its sender has seen that question and no other one.
TEST_F(HostRequestsTest, AnAnswerWithoutAWaitAnswersOnlyTheFirstQuestion) {
  for (const std::size_t idle_runs_max : {std::size_t{0}, std::size_t{10}}) {
    make_host(31, idle_runs_max);
    const RunName run = start("two");
    const auto answer = [&](const std::string& wait, const std::string& text) {
      return ask([&](OnReply reply) { host->resume(run, wait, Json(text), {}, std::move(reply)); });
    };
    EXPECT_TRUE(answer("", "a").has_value());
    const std::string second = wait_of(run, 1);
    const auto refused = answer("", "a");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, HostFailure::Kind::Conflict);
    EXPECT_TRUE(answer(second, "b").has_value());
    EXPECT_TRUE(drive_until([&] { return observer.values[run.text] == "\"a, b\""; }));
    end_host();
  }
}

TEST_F(HostRequestsTest, ARepeatedRequestIsPerformedOnce) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    make_host(seed, seed % 3);
    const std::string key = fmt::format("start{}", seed);
    std::vector<HostReply> replies;
    for (int at = 0; at < 3; ++at) {
      host->start(start_of("two"), key_of(key), [&](HostReply reply) { replies.push_back(std::move(reply)); });
      host->run_once(milliseconds(0));
    }
    ASSERT_TRUE(drive_until([&] { return replies.size() == 3; }));
    const auto again = ask([&](OnReply reply) { host->start(start_of("two"), key_of(key), std::move(reply)); });
    ASSERT_TRUE(again.has_value());
    for (const HostReply& reply : replies) {
      if (reply) {
        EXPECT_EQ(reply->run, again->run);
      } else {
        EXPECT_THAT(reply.error().message, HasSubstr("in progress"));
      }
    }
    EXPECT_EQ(host->counts().runs_started, 1U);
    end_host();
  }
}

TEST_F(HostRequestsTest, KeysThatComeTogetherAreLookedUpTogether) {
  make_host(5, 100);
  const auto old = ask([&](OnReply reply) { host->start(start_of("two"), key_of("old"), std::move(reply)); });
  ASSERT_TRUE(old.has_value());
  const std::size_t reads = simulated->reads();
  simulated->hold_reads(true);
  std::vector<std::pair<std::string, HostReply>> replies;
  const auto begin = [&](const std::string& name, RequestKey key) {
    host->start(start_of("two"), std::move(key),
                [&replies, name](HostReply reply) { replies.emplace_back(name, std::move(reply)); });
  };
  begin("first", key_of("first"));
  ASSERT_TRUE(drive_until([&] { return simulated->waiting_reads() == 1; }));
  begin("second", key_of("second"));
  begin("repeated", key_of("old"));
  begin("without a key", {});
  begin("third", key_of("third"));
  ASSERT_TRUE(drive_until([&] { return host->counts().runs_started == 2; }));
  EXPECT_EQ(simulated->waiting_reads(), 1U);
  simulated->hold_reads(false);
  ASSERT_TRUE(drive_until([&] { return replies.size() == 5; }));
  EXPECT_EQ(simulated->reads() - reads, 2U);
  EXPECT_EQ(host->counts().runs_started, 5U);
  for (const auto& [name, reply] : replies) {
    ASSERT_TRUE(reply.has_value()) << name;
    EXPECT_EQ(reply->run == old->run, name == "repeated") << name;
  }
  const auto other = ask([&](OnReply reply) {
    host->start(start_of("two"), {.key = "old", .fingerprint = sha256("another request")}, std::move(reply));
  });
  EXPECT_EQ(other.error().kind, HostFailure::Kind::KeyReused);
  end_host();
}

TEST_F(HostRequestsTest, AConversationOfOneNameBeginsOnce) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    make_host(seed, seed % 2);
    const std::string name = fmt::format("talk{}", seed);
    std::size_t replies = 0, accepted = 0;
    for (int at = 0; at < 4; ++at) {
      RunStart start = start_of_agent();
      start.input = Json("hello");
      host->say(name, std::move(start), "hello", SeveralQuestions::Oldest, {}, [&](const HostReply& reply) {
        ++replies;
        if (reply) ++accepted;
      });
      for (std::uint64_t rounds = seed % 7; rounds > 0; --rounds) host->run_once(milliseconds(0));
    }
    ASSERT_TRUE(drive_until([&] { return replies == 4; }));
    EXPECT_GE(accepted, 1U);
    EXPECT_EQ(host->counts().runs_started, 1U);
    end_host();
  }
}

TEST_F(HostRequestsTest, OnlyOneRequestContinuesAConversation) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    make_host(seed, seed % 2);
    RunStart begin = start_of_agent();
    begin.input = Json("hello");
    const auto begun = ask([&](OnReply reply) { host->start(begin, {}, std::move(reply)); });
    ASSERT_TRUE(begun.has_value());
    ASSERT_TRUE(drive_until([&] { return observer.values.contains(begun->run.text); }));
    const std::uint64_t newest = observer.numbers[begun->run.text];
    std::size_t replies = 0, accepted = 0;
    for (int at = 0; at < 4; ++at) {
      RequestKey key;
      key.find_refusal = [run = begun->run, newest](journal::Store& read) -> std::optional<HostFailure> {
        if (read.head(run)->records == newest) return std::nullopt;
        return HostFailure{HostFailure::Kind::Conflict, "not the newest"};
      };
      host->say(begun->run, "next", SeveralQuestions::Oldest, key, [&](const HostReply& reply) {
        ++replies;
        if (reply) ++accepted;
      });
      for (std::uint64_t rounds = seed % 9; rounds > 0; --rounds) host->run_once(milliseconds(0));
    }
    ASSERT_TRUE(drive_until([&] { return replies == 4; }));
    EXPECT_EQ(accepted, 1U) << "seed " << seed;
    end_host();
  }
}

TEST_F(HostRequestsTest, CommandsOfOtherProcessesAreTakenWhenTheyAreAnnounced) {
  make_host(11, 0);
  const RunName run = start("two");
  const auto sender = open({.durability = journal::Durability::Process, .access = journal::Access::Reader});
  const InboxCommand command{.action = AnswerQuestion{"", {Input::Form::Typed, Json("a")}}};
  const auto id = sender->inbox().send({run, encode(command)});
  ASSERT_TRUE(id.has_value());
  std::optional<std::string> reply;
  ASSERT_TRUE(drive_until([&] {
    reply = sender->inbox().take_reply(*id).value_or(std::nullopt);
    return reply.has_value();
  }));
  EXPECT_TRUE(decode_reply(*reply).has_value()) << *reply;
  EXPECT_TRUE(drive_until([&] { return host->counts().commands_taken == 1; }));
  end_host();
}

TEST_F(HostRequestsTest, AnAnswerOfACancelledBranchIsRefused) {
  make_host(13, 10);
  const RunName run = start("branches");
  ASSERT_TRUE(drive_until([&] { return observer.waits[run.text].size() == 2; }));
  const std::vector<std::string> waits = observer.waits[run.text];
  std::vector<HostReply> replies;
  const auto note = [&](HostReply reply) { replies.push_back(std::move(reply)); };
  host->resume(run, waits[0], Json("stop"), {}, note);  // its branch fails, which cancels the other one
  host->resume(run, waits[1], Json("b"), {}, note);
  ASSERT_TRUE(drive_until([&] { return replies.size() == 2; }));
  std::ranges::sort(replies, {}, [](const HostReply& reply) { return !reply; });
  EXPECT_TRUE(replies[0].has_value());
  ASSERT_FALSE(replies[1].has_value());
  EXPECT_EQ(replies[1].error().kind, HostFailure::Kind::Conflict);
  const std::string last = wait_of(run, 2);
  const auto answered = ask([&](OnReply reply) { host->resume(run, last, Json("c"), {}, std::move(reply)); });
  EXPECT_TRUE(answered.has_value());
  EXPECT_TRUE(drive_until([&] { return observer.values[run.text] == "\"none, c\""; }));
  end_host();
}

TEST_F(HostRequestsTest, RejectsAnAnswerInATurnThatIsCancelledAtOnce) {
  make_host(14, 10);
  RunStart begin = start_of_agent(1);
  begin.input = Json("hello");
  const auto begun = ask([&](OnReply reply) { host->start(begin, {}, std::move(reply)); });
  ASSERT_TRUE(begun.has_value());
  const RunName& run = begun->run;
  ASSERT_TRUE(drive_until([&] { return observer.waits[run.text].size() == 1; }));
  std::vector<std::string> replies;
  const auto note = [&](const std::string& name) {
    return [&replies, name](const HostReply& reply) { replies.push_back(name + (reply ? "" : " refused")); };
  };
  host->resume(run, "", Json("a"), {}, note("answer"));
  host->cancel(run, CancelScope::Turn, "enough", {}, note("cancel"));
  ASSERT_TRUE(drive_until([&] { return replies.size() == 2; }));
  EXPECT_THAT(replies, testing::UnorderedElementsAre("answer refused", "cancel"));
  end_host();
}

TEST_F(HostRequestsTest, EveryRequestIsAnsweredWhenTheStoreBreaks) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    make_host(seed, 10);
    const RunName first = start("two");
    const RunName second = start("two");
    simulated->fail_commits(journal::StoreError::Kind::Broken);
    std::vector<HostReply> replies;
    const auto note = [&](HostReply reply) { replies.push_back(std::move(reply)); };
    host->resume(first, "", Json("a"), {}, note);
    host->run_once(milliseconds(0));
    host->resume(second, "", Json("a"), {}, note);
    ASSERT_TRUE(drive_until([&] { return replies.size() == 2; })) << "seed " << seed;
    for (const HostReply& reply : replies) {
      ASSERT_FALSE(reply.has_value());
      EXPECT_EQ(reply.error().kind, HostFailure::Kind::Unavailable);
    }
    end_host();
  }
}

TEST_F(HostRequestsTest, ACancelIsKnownAsDoneOnlyTogetherWithItsRecord) {
  image = test::make_image(source_with_finally);
  make_host(25, 10);
  const RunName run = start("tidy");
  ASSERT_TRUE(drive_until([&] { return observer.waits[run.text].size() == 1; }));
  bool is_answered = false;
  std::optional<HostReply> cancelled;
  simulated->hold_reads(true);
  host->cancel(run, CancelScope::Run, "enough", key_of("k"), [&](HostReply reply) { cancelled = std::move(reply); });
  host->run_once(milliseconds(0));
  host->resume(run, observer.waits[run.text][0], Json("go"), {}, [&](const HostReply&) { is_answered = true; });
  simulated->finish();  // the cancel comes first, and then the answer: it becomes durable while the cancel waits
  ASSERT_TRUE(drive_until([&] { return is_answered; }));
  ASSERT_FALSE(cancelled.has_value());
  end_host();
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_FALSE(cancelled->has_value());
  make_host(26, 10);
  const auto again =
      ask([&](OnReply reply) { host->cancel(run, CancelScope::Run, "enough", key_of("k"), std::move(reply)); });
  EXPECT_TRUE(again.has_value());
  EXPECT_TRUE(drive_until([&] { return host->counts().runs_ended == 1; }));
  end_host();
}

TEST_F(HostRequestsTest, ACancelOfATurnDoesNotUndoTheCancelOfItsRun) {
  image = test::make_image(source_with_finally);
  make_host(27, 10);
  const auto begun = ask([&](OnReply reply) { host->start(start_of_agent(), {}, std::move(reply)); });
  ASSERT_TRUE(begun.has_value());
  std::size_t replies = 0;
  const auto count = [&](const HostReply& reply) {
    EXPECT_TRUE(reply.has_value());
    ++replies;
  };
  host->prompt(begun->run, Json("x"), {}, count);
  host->cancel(begun->run, CancelScope::Run, "enough", {}, count);
  host->cancel(begun->run, CancelScope::Turn, "enough", {}, count);
  ASSERT_TRUE(drive_until([&] { return replies == 3; }));
  EXPECT_TRUE(drive_until([&] { return host->counts().runs_ended == 1; }));
  end_host();
}

TEST_F(HostRequestsTest, ARequestIsAcceptedWhenItsOwnRecordIsDurable) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    make_host(seed, 10);
    const auto begun = ask([&](OnReply reply) { host->start(start_of_agent(), {}, std::move(reply)); });
    ASSERT_TRUE(begun.has_value());
    std::size_t replies = 0;
    const auto check = [&](const HostReply& reply) {
      ++replies;
      EXPECT_TRUE(!reply || observer.numbers[begun->run.text] > reply->after) << "seed " << seed;
    };
    for (int at = 0; at < 8; ++at) {
      host->prompt(begun->run, Json("x"), {}, check);
      host->run_once(milliseconds(0));
    }
    host->cancel(begun->run, CancelScope::Run, "enough", {}, check);
    ASSERT_TRUE(drive_until([&] { return replies == 9; }));
    end_host();
  }
}

TEST_F(HostRequestsTest, WithoutAKeyForItsSecretsNoRunBegins) {
  image = test::make_image(source_with_secrets);
  make_host(12, 0);
  RunStart of_function = start_of("keep");
  of_function.arguments.set("token", Json("hush"));
  RunStart of_agent = start_of_agent();
  of_agent.input = Json("hello");
  for (const RunStart& start : {of_function, start_of_agent(), of_agent}) {
    for (const RequestKey& key : {RequestKey{}, key_of("k")}) {
      const auto reply = ask([&](OnReply on_reply) { host->start(start, key, std::move(on_reply)); });
      ASSERT_FALSE(reply.has_value());
      EXPECT_EQ(reply.error().kind, HostFailure::Kind::Unavailable);
      EXPECT_THAT(reply.error().message, HasSubstr("no key"));
    }
  }
  EXPECT_EQ(host->counts().runs_started, 0U);
  EXPECT_EQ(host->counts().resident, 0U);
  end_host();
}

}  // namespace
}  // namespace tenon::runtime
