#include "runtime/host/host.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/host_testing.h"
#include "tests/support/patience.h"

namespace tenon::runtime {
namespace {

using journal::RunName;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::HostTest;
using testing::Each;

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
  // One that has left the memory before its time comes, however slow this machine is.
  RunName due;
  milliseconds rest{20};
  for (;; rest *= 4) {
    auto resting = start_of("rest");
    resting.arguments = Json::object({{"ms", rest.count()}});
    const auto begun = ask([&](OnReply reply) { host->start(resting, {}, std::move(reply)); });
    ASSERT_TRUE(begun.has_value());
    due = begun->run;
    ASSERT_TRUE(drive_until([&] { return host->counts().resident == 0; }));
    if (!observer.values.contains(due.text)) break;
  }
  simulated->hold_reads(true);
  std::this_thread::sleep_for(rest + milliseconds(10));  // its time has come
  const RunName quick = start("count");
  EXPECT_TRUE(drive_until([&] { return observer.values.contains(quick.text); }));
  EXPECT_FALSE(observer.values.contains(due.text));
  simulated->hold_reads(false);
  EXPECT_TRUE(drive_until([&] { return observer.values.contains(due.text); }));
  end_host();
}

/// Whether the runs are kept in memory or not, and whether the wall clock is set back or forward.
TEST_F(HostTest, TimersPassByTheMonotonicClock) {
  for (const std::size_t idle_runs_max : {std::size_t{10}, std::size_t{0}}) {
    for (const std::chrono::hours shift : {std::chrono::hours(-1), std::chrono::hours(2)}) {
      clock.shift_wall({});
      make_host(40, idle_runs_max);
      const auto rest = [&](std::int64_t ms) {
        auto resting = start_of("rest");
        resting.arguments = Json::object({{"ms", ms}});
        const auto begun = ask([&](OnReply reply) { host->start(resting, {}, std::move(reply)); });
        return begun ? begun->run : RunName{};
      };
      const RunName shortly = rest(300);
      const RunName long_after = rest(std::chrono::milliseconds(std::chrono::hours(1)).count());
      const RunName hears = start("hear");
      const RunName measures = start("measure");
      ASSERT_TRUE(drive_until([&] { return !observer.waits[hears.text].empty(); }));
      ASSERT_TRUE(drive_until([&] { return idle_runs_max > 0 || host->counts().resident == 0; }));
      clock.shift_wall(shift);
      const RunName new_one = rest(10);  // what begins after that is not affected either
      EXPECT_TRUE(drive_until([&] { return observer.values.contains(shortly.text); }));
      EXPECT_TRUE(drive_until([&] { return observer.values.contains(new_one.text); }));
      EXPECT_TRUE(drive_until([&] { return observer.values.contains(hears.text); }));
      EXPECT_EQ(observer.values[hears.text], "\"no one\"");
      EXPECT_TRUE(drive_until([&] { return observer.values.contains(measures.text); }));
      EXPECT_EQ(observer.values[measures.text], "\"woke in time\"") << "the time of a run passes as it has slept";
      EXPECT_FALSE(observer.values.contains(long_after.text));
      end_host();
      // The next process has only the recorded time.
      make_host(41, idle_runs_max);
      EXPECT_EQ(drive_until([&] { return shift.count() < 0 || observer.values.contains(long_after.text); }), true);
      end_host();
    }
  }
}

/// The times of residents and released runs are over in the store long before their timers fire.
TEST_F(HostTest, AClockThatWasSetForwardMakesTheHostReadSeldom) {
  make_host(42, 0);
  auto resting = start_of("rest");
  resting.arguments = Json::object({{"ms", 3'600'000}});
  ASSERT_TRUE(ask([&](OnReply reply) { host->start(resting, {}, std::move(reply)); }).has_value());
  ASSERT_TRUE(drive_until([&] { return host->counts().resident == 0; }));
  clock.shift_wall(std::chrono::hours(2));
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t before = simulated->reads();
  ASSERT_TRUE(drive_until([&] { return std::chrono::steady_clock::now() - begin > milliseconds(500); }));
  EXPECT_LT(simulated->reads() - before, 12U);
  end_host();
}

/// What is done from time to time does not depend on the wall clock.
TEST_F(HostTest, AfterTheClockWasSetBackFailedReadsAreRepeated) {
  make_host(43, 0);
  const RunName run = start("nap");
  simulated->fail_queries(true);
  ASSERT_TRUE(drive_until([&] { return !observer.problems.empty(); }));
  clock.shift_wall(-std::chrono::hours(1));
  simulated->fail_queries(false);
  EXPECT_TRUE(drive_until([&] { return observer.values.contains(run.text); }));
  end_host();
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
      const bool is_first = *answer == 'a';
      std::shuffle(runs.begin(), runs.end(), random);
      for (const RunName& run : runs) {
        ++expected;
        const std::vector<std::string>& waits = observer.waits[run.text];
        const std::string wait = is_first || waits.empty() ? "" : wait_of(run, 1);
        host->resume(run, wait, Json(answer), {}, [&](const HostReply&) { ++replies; });
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

TEST_F(HostTest, ARunThatWaitsMovesAtOnceToThePoolOfAnAgent) {
  pools = AgentPools("", "", {{"Far", "gpu"}});
  database = std::make_unique<test::SharedDatabase>(15);
  make_host(15, 10);
  start("wait_and_call");
  EXPECT_EQ(host->counts().resident, 1U);
  EXPECT_TRUE(drive_until([&] { return host->counts().resident == 0; }));
  EXPECT_EQ(observer.problems, std::vector<std::string>{});
  end_host();
}

TEST_F(HostTest, WhatAnUnusedHostWasAskedIsRefused) {
  make_host(13, 0);
  std::optional<HostReply> reply;
  host->prompt({"a"}, Json("x"), {}, [&](HostReply given) { reply = std::move(given); });
  end_host();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->error().kind, HostFailure::Kind::Unavailable);
  // One that does not even begin.
  reply.reset();
  make_host(14, 0, HasBegun::No);
  host->prompt({"a"}, Json("x"), {}, [&](HostReply given) { reply = std::move(given); });
  EXPECT_FALSE(reply.has_value());
  end_host();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->error().kind, HostFailure::Kind::Unavailable);
}

TEST_F(HostTest, ABugEndsTheHostAndNotItsProcess) {
  make_host(11, 0);
  const RunName run = start("two");
  std::optional<HostReply> next;
  host->prompt(run, Json("x"), {}, [&](const HostReply&) {
    host->prompt(run, Json("x"), {}, [&](HostReply given) { next = std::move(given); });
    throw BrokenCondition("internal error");
  });
  EXPECT_TRUE(drive_until([&] { return !observer.problems.empty(); }));
  EXPECT_THAT(observer.problems, testing::ElementsAre("internal error"));
  observer.problems.clear();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->error().message, "internal error");
  EXPECT_FALSE(host->run_once(milliseconds(0)));
  const HostReply refused = ask([&](OnReply reply) { host->prompt(run, Json("x"), {}, std::move(reply)); });
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, HostFailure::Kind::Unavailable);
  end_host();
  // What was durable continues with the next host.
  make_host(12, 10);
  EXPECT_TRUE(resume(run, "a").has_value());
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
  make_host(28, 100);
  std::vector<RunName> runs;
  for (int at = 0; at < 60; ++at) runs.push_back(start("two"));
  simulated->fail_commits(journal::StoreError::Kind::Full);
  std::size_t replies = 0;
  for (const RunName& run : runs) host->resume(run, "", Json("a"), {}, [&](const HostReply&) { ++replies; });
  ASSERT_TRUE(drive_until([&] { return replies == runs.size(); }));
  simulated->fail_commits(std::nullopt);
  // One after the other, a try a second, they would take a minute.
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (host->counts().runs_loaded < runs.size() && std::chrono::steady_clock::now() < end) {
    host->run_once(milliseconds(10));
  }
  EXPECT_GE(host->counts().runs_loaded, runs.size());
  end_host();
}

TEST_F(HostTest, QueriesForRunsThatFailAreRepeated) {
  // Those that are due, and those that were interrupted: a run of one kind would have the other ones looked for again.
  for (const char* function : {"nap", "spin"}) {
    make_host(17, 10);
    const RunName run = start(function);
    end_host();
    make_host(18, 10);
    simulated->fail_queries(true);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(drive_until([&] { return !observer.problems.empty(); }));
    for (int round = 0; round < 20; ++round) host->run_once(milliseconds(1));
    // Once a second.
    const auto repeats = (std::chrono::steady_clock::now() - begin) / seconds(1);
    const std::vector<std::string> problems = std::exchange(observer.problems, {});
    EXPECT_THAT(problems, Each("the query fails"));
    EXPECT_LE(problems.size(), static_cast<std::size_t>(1 + repeats));
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

/// As many as are loaded at once: no further ones follow, which would end the pass over them.
TEST_F(HostTest, DueRunsThatCannotBeReadAreReadAgain) {
  image = test::make_image("fn later(ctx: Context) -> String {\n    sleep(800)\n    \"woke\"\n}\n");
  make_host(25, 0);
  std::set<std::string> runs;
  for (int at = 0; at < 32; ++at) {
    host->start(start_of("later"), {}, [&](const HostReply& reply) { runs.insert(reply->run.text); });
  }
  ASSERT_TRUE(drive_until([&] { return runs.size() == 32; }));
  end_host();
  ASSERT_TRUE(observer.values.empty());
  std::this_thread::sleep_for(milliseconds(800));  // now all are due
  make_host(26, 0);
  simulated->fail_runs([&](const RunName& run) { return runs.contains(run.text); });
  ASSERT_TRUE(drive_until([&] { return !observer.problems.empty(); }));
  simulated->fail_runs([](const RunName&) { return false; });
  EXPECT_TRUE(drive_until([&] { return observer.values.size() == runs.size(); }));
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

/// Nothing but its slow look at the inbox, for which a notice may have been lost.
TEST_F(HostTest, AnIdleHostSleeps) {
  make_host(44, 0);
  const RunName run = start("two");
  const auto sleeps = [this] { return host->time_to_next() > seconds(3); };
  ASSERT_TRUE(drive_until([&] { return host->counts().resident == 0 && sleeps(); }));
  ASSERT_TRUE(resume(run, "a").has_value());
  EXPECT_TRUE(drive_until(sleeps));
  // A run that rests is continued by its own time.
  auto resting = start_of("rest");
  resting.arguments = Json::object({{"ms", 3'600'000}});
  ASSERT_TRUE(ask([&](OnReply reply) { host->start(resting, {}, std::move(reply)); }).has_value());
  EXPECT_TRUE(drive_until(sleeps));
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
    ASSERT_TRUE(replied.try_acquire_for(test::patience));
    for (const auto& [wait, answer] : {std::pair{"0", "a"}, {"1", "b"}}) {
      own.resume(run, wait, Json(answer), {}, [&](const HostReply&) { replied.release(); });
      ASSERT_TRUE(replied.try_acquire_for(test::patience));
    }
    own.end(seconds(1));
  }
  EXPECT_EQ(observer.values[run.text], "\"a, b\"");
}

}  // namespace
}  // namespace tenon::runtime
