#include "runtime/host/host.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <semaphore>
#include <set>
#include <thread>
#include <utility>

#include "runtime/host/requests/inbox_command.h"
#include "tests/support/journal_testing.h"
#include "tests/support/program_image.h"
#include "tests/support/simulated_store.h"

namespace tenon::runtime {
namespace {

using journal::RunName;
using journal::RunState;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* source = R"(
fn two(ctx: Context) -> String {
    let first = ask<String>("First?")
    let second = ask<String>("Second?")
    "{{ first }}, {{ second }}"
}

fn count(ctx: Context) -> String {
    let done = 0
    while done < 50 {
        let t = now()
        done = done + 1
    }
    "counted"
}

fn spin(ctx: Context) -> String {
    let done = 0
    while done < 3000000 {
        done = done + 1
    }
    "spun"
}

fn nap(ctx: Context) -> String {
    sleep(20)
    "woke"
}

agent Counter {
    state { n: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.n = state.n + 1
        return "turn {{ state.n }}: {{ input }}"
    }
}

agent Asker {
    fn turn(ctx: Context, input: String) -> String {
        return ask<String>("Sure?")
    }
}

fn checked(ctx: Context) -> String {
    let answer = ask<String>("Left?")
    assert answer == "go"
    answer
}

fn branches(ctx: Context) -> String {
    let given = parallel {
        checked(ctx)
        ask<String>("Right?")
    } catch failed {
        ("none", "none")
    }
    let last = ask<String>("Last?")
    "{{ given.0 }}, {{ last }}"
}
)";

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

/// Answers of nothing: the programs of these tests do not ask a model.
class NoModel final : public inference::Model {
 public:
  [[nodiscard]] std::string_view name() const override { return "none"; }
  void start(inference::GenerationId, inference::GenerationRequest, inference::GenerationSink&) override {}
  void cancel(inference::GenerationId) override {}
  void poll(std::chrono::milliseconds) override {}
  void wake() override {}
};

class Observer final : public HostObserver {
 public:
  void on_recorded(const RunName& run, std::string_view, std::uint64_t first,
                   std::span<const effects::Record> records) override {
    for (const effects::Record& record : records) {
      EXPECT_EQ(first, ++numbers[run.text]);
      ++first;
      if (const auto* asked = std::get_if<effects::Requested>(&record.body)) {
        if (asked->kind == effects::EffectKind::Ask) waits[run.text].push_back(asked->key);
      }
      if (const auto* ended = std::get_if<effects::Ended>(&record.body)) values[run.text] = ended->value.text;
      if (const auto* ended = std::get_if<effects::TurnEnded>(&record.body)) values[run.text] = ended->value.text;
    }
  }
  void on_text(const RunName&, const TextProgress&) override {}
  void on_changed(const RunName&) override {}
  void on_problem(std::string_view message) override { problems.emplace_back(message); }
  void on_broken(std::string_view message) override { problems.emplace_back(message); }

  std::map<std::string, std::uint64_t> numbers;           ///< of the newest record
  std::map<std::string, std::string> values;              ///< of the run or its newest turn, as JSON
  std::map<std::string, std::vector<std::string>> waits;  ///< what the run has asked
  std::vector<std::string> problems;
};

class HostTest : public test::JournalTest {
 protected:
  void make_host(std::uint64_t seed, std::size_t idle_runs_max) {
    simulated = std::make_unique<test::SimulatedStore>(
        store ? std::move(store) : open(),
        open({.durability = journal::Durability::Process, .access = journal::Access::Reader}), seed);
    HostOptions options;
    options.idle_runs_max = idle_runs_max;
    host = std::make_unique<Host>(
        Host::Parts{.store = *simulated,
                    .model = model,
                    .clock = clock,
                    .random_unit = [] { return 0.5; },
                    .images = [this](const Hash& hash,
                                     std::string_view) -> Result<std::shared_ptr<const ProgramImage>, ImageError> {
                      if (hash == missing_program) return failure(ImageError{"missing"});
                      return image;
                    },
                    .observer = observer},
        options);
    host->begin(Host::DrivenBy::Caller);
  }
  void end_host() {
    host->end();
    host.reset();
    simulated.reset();
  }

  /// Drives the host until the condition holds; false if it does not within a while.
  bool drive_until(const std::function<bool()>& is_done) {
    for (int round = 0; round < 5'000; ++round) {
      if (is_done()) return true;
      host->run_once(milliseconds(1));
    }
    return is_done();
  }
  /// The reply of one request.
  HostReply ask(const std::function<void(OnReply)>& request) {
    std::optional<HostReply> reply;
    request([&](HostReply given) { reply = std::move(given); });
    EXPECT_TRUE(drive_until([&] { return reply.has_value(); }));
    return reply ? std::move(*reply) : failure(HostFailure{HostFailure::Kind::NotFound, "no reply"});
  }
  RunStart start_of(const std::string& function) const {
    RunStart start;
    start.image = image;
    start.function = *find_function(image->program(), function);
    start.arguments = [] {
      std::vector<vm::Argument> arguments;
      arguments.push_back({vm::Value::empty_context(), std::nullopt});
      return Result<std::vector<vm::Argument>, std::string>(std::move(arguments));
    };
    return start;
  }
  RunStart start_of_agent(std::uint32_t agent = 0) const {
    RunStart start;
    start.image = image;
    start.agent = agent;
    return start;
  }
  RunName start(const std::string& function, RequestKey key = {}) {
    const auto reply = ask([&](OnReply on_reply) { host->start(start_of(function), key, std::move(on_reply)); });
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply ? reply->run : RunName{};
  }
  HostReply resume(const RunName& run, const std::string& answer, RequestKey key = {}) {
    return ask([&](OnReply reply) { host->resume(run, "", Json(answer), key, std::move(reply)); });
  }
  [[nodiscard]] static RequestKey key_of(const std::string& name) { return {.key = name, .fingerprint = sha256(name)}; }

  std::shared_ptr<const ProgramImage> image = test::make_image(source);
  Hash missing_program = {};  ///< that no host finds
  NoModel model;
  RealClock clock;
  Observer observer;
  std::unique_ptr<test::SimulatedStore> simulated;
  std::unique_ptr<Host> host;
};

TEST_F(HostTest, ASlowLoadDelaysNoOtherRun) {
  make_host(1, 0);
  const RunName slow = start("two");
  ASSERT_TRUE(drive_until([&] { return host->counts().resident == 0; }));  // it waits, and has left the memory
  simulated->hold_reads(true);
  std::optional<HostReply> answered;
  host->resume(slow, "", Json("a"), {}, [&](HostReply reply) { answered = std::move(reply); });
  ASSERT_TRUE(drive_until([&] { return simulated->waiting_reads() > 0; }));
  // Meanwhile another run begins, records its steps and ends.
  const RunName quick = start("count");
  EXPECT_TRUE(drive_until([&] { return observer.values.contains(quick.text); }));
  EXPECT_FALSE(answered.has_value());
  simulated->hold_reads(false);
  ASSERT_TRUE(drive_until([&] { return answered.has_value(); }));
  EXPECT_TRUE(answered->has_value());
  end_host();
}

TEST_F(HostTest, ASlowLoadOfADueRunDelaysNoOtherRun) {
  make_host(2, 0);
  const RunName due = start("nap");
  ASSERT_TRUE(drive_until([&] { return host->counts().resident == 0; }));
  simulated->hold_reads(true);
  std::this_thread::sleep_for(milliseconds(30));  // its time has come
  const RunName quick = start("count");
  EXPECT_TRUE(drive_until([&] { return observer.values.contains(quick.text); }));
  EXPECT_FALSE(observer.values.contains(due.text));
  simulated->hold_reads(false);
  EXPECT_TRUE(drive_until([&] { return observer.values.contains(due.text); }));
  end_host();
}

TEST_F(HostTest, RequestsWaitForTheLoadInTheirOrder) {
  make_host(3, 0);
  const RunName run = start("two");
  ASSERT_TRUE(drive_until([&] { return host->counts().resident == 0; }));
  simulated->hold_reads(true);
  std::vector<std::string> replies;
  const auto note = [&](const std::string& name) {
    return [&replies, name](const HostReply& reply) { replies.push_back(name + (reply ? "" : " refused")); };
  };
  host->prompt(run, Json("x"), {}, note("prompt"));
  host->resume(run, "", Json("a"), {}, note("first"));
  host->resume(run, "", Json("b"), {}, note("second"));
  ASSERT_TRUE(drive_until([&] { return simulated->waiting_reads() > 0; }));
  EXPECT_EQ(host->counts().runs_loaded, 0U);
  simulated->hold_reads(false);
  ASSERT_TRUE(drive_until([&] { return replies.size() == 3; }));
  EXPECT_THAT(replies, ElementsAre("prompt refused", "second refused", "first"));
  EXPECT_EQ(host->counts().runs_loaded, 1U);
  end_host();
}

TEST_F(HostTest, ARepeatedRequestIsPerformedOnce) {
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

TEST_F(HostTest, AConversationOfOneNameBeginsOnce) {
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

TEST_F(HostTest, OnlyOneRequestContinuesAConversation) {
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

/// Many runs, of which only a few fit into the memory, with reads and writes that complete in any order.
TEST_F(HostTest, EveryRunComesToItsEndInAnyOrderOfCompletion) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    make_host(seed, seed % 4);
    std::vector<RunName> runs;
    for (int at = 0; at < 8; ++at) runs.push_back(start(at % 4 == 3 ? "nap" : "two"));
    std::size_t replies = 0, expected = 0;
    std::mt19937_64 random(seed);
    for (const char* answer : {"a", "b"}) {
      std::shuffle(runs.begin(), runs.end(), random);
      for (const RunName& run : runs) {
        ++expected;
        host->resume(run, "", Json(answer), {}, [&](const HostReply&) { ++replies; });
        if (random() % 2 == 0) host->run_once(milliseconds(0));
      }
      ASSERT_TRUE(drive_until([&] { return replies == expected; }));
    }
    ASSERT_TRUE(drive_until([&] {
      return std::ranges::all_of(runs, [&](const RunName& run) { return observer.values.contains(run.text); });
    })) << "seed "
        << seed;
    for (const RunName& run : runs) {
      EXPECT_THAT(observer.values[run.text], testing::AnyOf("\"a, b\"", "\"woke\"")) << "seed " << seed;
    }
    EXPECT_EQ(observer.problems, std::vector<std::string>{});
    end_host();
  }
}

TEST_F(HostTest, WhatWasInterruptedContinuesWithTheNextHost) {
  make_host(7, 10);
  const RunName run = start("nap");
  end_host();
  make_host(8, 10);
  EXPECT_TRUE(drive_until([&] { return observer.values.contains(run.text); }));
  end_host();
}

TEST_F(HostTest, ALoadThatIsCutOffByTheEndIsRefused) {
  make_host(9, 0);
  const RunName run = start("two");
  ASSERT_TRUE(drive_until([&] { return host->counts().resident == 0; }));
  simulated->hold_reads(true);
  std::optional<HostReply> reply;
  host->resume(run, "", Json("a"), key_of("k"), [&](HostReply given) { reply = std::move(given); });
  host->run_once(milliseconds(0));
  end_host();
  ASSERT_TRUE(reply.has_value());
  ASSERT_FALSE(reply->has_value());
  EXPECT_EQ(reply->error().kind, HostFailure::Kind::Unavailable);
  make_host(10, 0);
  EXPECT_TRUE(resume(run, "a", key_of("k")).has_value());
  end_host();
}

TEST_F(HostTest, CommandsOfOtherProcessesAreTakenWhenTheyAreAnnounced) {
  make_host(11, 0);
  const RunName run = start("two");
  const auto sender = open({.durability = journal::Durability::Process, .access = journal::Access::Reader});
  InboxCommand command;
  command.input = "a";
  const auto id = sender->inbox().send(run, encode(command));
  ASSERT_TRUE(id.has_value());
  std::optional<std::string> reply;
  ASSERT_TRUE(drive_until([&] {
    reply = sender->inbox().take_reply(*id).value_or(std::nullopt);
    return reply.has_value();
  }));
  EXPECT_EQ(decode_reply(*reply)->error, std::nullopt);
  EXPECT_TRUE(drive_until([&] { return host->counts().commands_taken == 1; }));
  end_host();
}

TEST_F(HostTest, AnAnswerOfACancelledBranchIsRefused) {
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
  EXPECT_TRUE(resume(run, "c").has_value());
  EXPECT_TRUE(drive_until([&] { return observer.values[run.text] == "\"none, c\""; }));
  end_host();
}

TEST_F(HostTest, RejectsAnAnswerInATurnThatIsCancelledAtOnce) {
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

TEST_F(HostTest, ARunThatIsLoadedAfterTheDiskWasFullKeepsItsClaim) {
  make_host(16, 10);
  const RunName run = start("two");
  simulated->fail_commits(journal::StoreError::Kind::Full);
  const auto refused = resume(run, "a");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, HostFailure::Kind::Unavailable);
  simulated->fail_commits(std::nullopt);
  // Comes into memory, and records nothing that would show that there is room again.
  EXPECT_FALSE(ask([&](OnReply reply) { host->prompt(run, Json("x"), {}, std::move(reply)); }).has_value());
  const auto end = std::chrono::steady_clock::now() + milliseconds(1'200);  // the next try is over by then
  while (std::chrono::steady_clock::now() < end) host->run_once(milliseconds(10));
  EXPECT_TRUE(resume(run, "a").has_value());
  EXPECT_TRUE(resume(run, "b").has_value());
  EXPECT_TRUE(drive_until([&] { return observer.values[run.text] == "\"a, b\""; }));
  end_host();
}

TEST_F(HostTest, RunsThatFindTheDiskFullTogetherContinueSoon) {
  make_host(28, 10);
  std::vector<RunName> runs;
  for (int at = 0; at < 10; ++at) runs.push_back(start("two"));
  simulated->fail_commits(journal::StoreError::Kind::Full);
  std::size_t replies = 0;
  for (const RunName& run : runs) host->resume(run, "", Json("a"), {}, [&](const HostReply&) { ++replies; });
  ASSERT_TRUE(drive_until([&] { return replies == runs.size(); }));
  simulated->fail_commits(std::nullopt);
  const auto end = std::chrono::steady_clock::now() + seconds(4);
  while (host->counts().runs_loaded < runs.size() && std::chrono::steady_clock::now() < end) {
    host->run_once(milliseconds(10));
  }
  EXPECT_EQ(host->counts().runs_loaded, runs.size());
  end_host();
}

TEST_F(HostTest, EveryRequestIsAnsweredWhenTheStoreBreaks) {
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

TEST_F(HostTest, QueriesForRunsThatFailAreRepeated) {
  // Those that are due, and those that were interrupted: a run of one kind would have the other ones looked for again.
  for (const char* function : {"nap", "spin"}) {
    make_host(17, 10);
    const RunName run = start(function);
    end_host();
    make_host(18, 10);
    simulated->fail_queries(true);
    ASSERT_TRUE(drive_until([&] { return !observer.problems.empty(); }));
    for (int round = 0; round < 20; ++round) host->run_once(milliseconds(1));
    EXPECT_THAT(std::exchange(observer.problems, {}), ElementsAre("the query fails"));
    simulated->fail_queries(false);
    EXPECT_TRUE(drive_until([&] { return observer.values.contains(run.text); })) << function;
    end_host();
  }
}

TEST_F(HostTest, TheEndWaitsForTheThreadsOfTheStore) {
  make_host(15, 10);
  ASSERT_TRUE(resume(start("two"), "a").has_value());
  // No more work has a `done` that the end would wait for, but a commit's thread may still be about to call the host.
  ASSERT_TRUE(drive_until([&] { return simulated->in_progress() == 0; }));
  host->end();
  EXPECT_FALSE(simulated->has_raced());
  end_host();
}

TEST_F(HostTest, DueRunsThatCannotBeLoadedDelayNoOtherOne) {
  const auto first = test::make_image("fn later(ctx: Context) -> String {\n    sleep(800)\n    \"first\"\n}\n");
  const auto second = test::make_image("fn later(ctx: Context) -> String {\n    sleep(800)\n    \"second\"\n}\n");
  make_host(19, 0);
  image = first;
  for (int at = 0; at < 40; ++at) static_cast<void>(start("later"));
  image = second;
  const RunName run = start("later");
  end_host();
  ASSERT_TRUE(observer.values.empty());
  missing_program = first->hash();
  make_host(20, 0);
  EXPECT_TRUE(drive_until([&] { return observer.values.contains(run.text); }));
  end_host();
}

TEST_F(HostTest, RunsThatCannotBeReadDelayNoOtherOne) {
  for (const char* function : {"later", "spin"}) {
    image = test::make_image(R"(
fn later(ctx: Context) -> String {
    sleep(500)
    "woke"
}

fn spin(ctx: Context) -> String {
    let done = 0
    while done < 1000000 {
        done = done + 1
    }
    "spun"
}
)");
    make_host(23, 0);
    std::set<std::string> unreadable;
    for (int at = 0; at < 70; ++at) {
      host->start(start_of(function), {}, [&](const HostReply& reply) { unreadable.insert(reply->run.text); });
    }
    ASSERT_TRUE(drive_until([&] { return unreadable.size() == 70; }));
    const RunName run = start(function);
    end_host();
    ASSERT_FALSE(observer.values.contains(run.text));
    make_host(24, 0);
    simulated->fail_runs([&](const RunName& other) { return unreadable.contains(other.text); });
    EXPECT_TRUE(drive_until([&] { return observer.values.contains(run.text); })) << function;
    simulated->fail_runs([](const RunName&) { return false; });
    EXPECT_TRUE(drive_until([&] {
      return std::ranges::all_of(unreadable, [&](const auto& name) { return observer.values.contains(name); });
    })) << function;
    end_host();
  }
}

TEST_F(HostTest, ACancelIsKnownAsDoneOnlyTogetherWithItsRecord) {
  image = test::make_image(source_with_finally);
  make_host(25, 10);
  const RunName run = start("tidy");
  ASSERT_TRUE(drive_until([&] { return observer.waits[run.text].size() == 1; }));
  bool is_answered = false;
  std::optional<HostReply> cancelled;
  simulated->hold_reads(true);
  host->cancel(run, CancelScope::Run, "enough", key_of("k"), [&](HostReply reply) { cancelled = std::move(reply); });
  host->run_once(milliseconds(0));
  host->resume(run, "", Json("go"), {}, [&](const HostReply&) { is_answered = true; });
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

TEST_F(HostTest, ACancelOfATurnDoesNotUndoTheCancelOfItsRun) {
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

TEST_F(HostTest, ARequestIsAcceptedWhenItsOwnRecordIsDurable) {
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

TEST_F(HostTest, ARunThatIsDetachedIsLoadedAgain) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    make_host(seed, 10);
    const auto begun = ask([&](OnReply reply) { host->start(start_of_agent(), {}, std::move(reply)); });
    ASSERT_TRUE(begun.has_value());
    simulated->fail_commits(journal::StoreError::Kind::Full);
    std::size_t replies = 0;
    for (int at = 0; at < 6; ++at) {
      host->prompt(begun->run, Json("x"), {}, [&](const HostReply& reply) {
        EXPECT_FALSE(reply.has_value());
        ++replies;
      });
      host->run_once(milliseconds(0));
    }
    ASSERT_TRUE(drive_until([&] { return replies == 6; })) << "seed " << seed;
    simulated->fail_commits(std::nullopt);
    const auto prompted = ask([&](OnReply reply) { host->prompt(begun->run, Json("y"), {}, std::move(reply)); });
    EXPECT_TRUE(prompted.has_value()) << "seed " << seed << ": " << (prompted ? "" : prompted.error().message);
    EXPECT_TRUE(drive_until([&] { return observer.values[begun->run.text] == "\"turn 1: y\""; })) << "seed " << seed;
    end_host();
  }
}

TEST_F(HostTest, WithoutAKeyForItsSecretsNoRunBegins) {
  image = test::make_image(source_with_secrets);
  make_host(12, 0);
  RunStart of_function = start_of("keep");
  of_function.arguments = [] {
    std::vector<vm::Argument> arguments;
    arguments.push_back({vm::Value::empty_context(), std::nullopt});
    arguments.push_back({vm::Value::string("hush"), std::nullopt});
    return Result<std::vector<vm::Argument>, std::string>(std::move(arguments));
  };
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

TEST_F(HostTest, AThreadOfItsOwnDrivesIt) {
  journal::ThreadedStore threaded(
      std::move(store), open({.durability = journal::Durability::Process, .access = journal::Access::Reader}));
  std::counting_semaphore<> replied{0};
  RunName run;
  {
    Host own(Host::Parts{.store = threaded,
                         .model = model,
                         .clock = clock,
                         .random_unit = [] { return 0.5; },
                         .images = [this](const Hash&, std::string_view) { return image; },
                         .observer = observer},
             {});
    own.begin();
    own.start(start_of("two"), {}, [&](const HostReply& reply) {
      run = reply->run;
      replied.release();
    });
    ASSERT_TRUE(replied.try_acquire_for(seconds(10)));
    for (const char* answer : {"a", "b"}) {
      own.resume(run, "", Json(answer), {}, [&](const HostReply&) { replied.release(); });
      ASSERT_TRUE(replied.try_acquire_for(seconds(10)));
    }
    own.end(seconds(1));
  }
  EXPECT_EQ(observer.values[run.text], "\"a, b\"");
}

}  // namespace
}  // namespace tenon::runtime
