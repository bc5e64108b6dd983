#include "journal/committer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <semaphore>

#include "tests/support/faulty_disk.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal {
namespace {

using test::make_append;
using testing::ElementsAre;

class CommitterTest : public test::JournalTest {
 protected:
  /// Until there are so many.
  std::vector<Completion> wait_for(Committer& committer, std::size_t count) {
    std::vector<Completion> all;
    while (all.size() < count) {
      told.acquire();
      for (Completion& one : committer.poll()) all.push_back(std::move(one));
    }
    return all;
  }
  std::unique_ptr<Committer> make(std::size_t bytes_max = committer_bytes_max) {
    return std::make_unique<Committer>(std::move(store), Committer::Options{bytes_max, [this] { told.release(); }});
  }
  std::unique_ptr<SqliteStore> open_on(const std::string& vfs) {
    auto opened = SqliteStore::open(folder.file("faulty.db"), {.vfs = vfs});
    EXPECT_TRUE(opened.has_value());
    return std::move(*opened);
  }
  std::counting_semaphore<> told{0};
  RunName run = make_run_name(1);
};

TEST_F(CommitterTest, CommitsInTheOrderOfSubmission) {
  {
    const auto committer = make();
    constexpr std::uint64_t count = 2'000;
    for (std::uint64_t number = 1; number <= count; ++number) {
      Append append = make_append(run, number, {std::to_string(number)});
      ASSERT_TRUE(committer->submit(append, number + 7));
    }
    const auto completions = wait_for(*committer, count);
    for (std::uint64_t at = 0; at < count; ++at) {
      EXPECT_EQ(completions[at].token, at + 8);
      ASSERT_TRUE(completions[at].outcome.has_value());
      EXPECT_EQ(*completions[at].outcome, std::nullopt);
    }
    EXPECT_EQ(committer->with_store([&](Store& one) { return one.head(run)->records; }), count);
  }
  store = open();
  EXPECT_EQ(read_all(run).size(), 2'000U);
}

TEST_F(CommitterTest, ARefusalIsTold) {
  const auto committer = make();
  Append append = make_append(run, 3, {"a"});
  ASSERT_TRUE(committer->submit(append, 1));
  EXPECT_EQ(*wait_for(*committer, 1).front().outcome, AppendRefusal::UnknownRun);
}

TEST_F(CommitterTest, AnErrorOfTheDiskReachesEachAppend) {
  test::FaultyDisk disk;
  store = open_on(disk.name());
  {
    const auto committer = make();
    disk.fail_at(0, test::FaultyDisk::Fault::InputOutput);
    for (std::uint64_t number = 1; number <= 20; ++number) {
      Append append = make_append(run, number, {"x"});
      ASSERT_TRUE(committer->submit(append, number));
    }
    for (const Completion& one : wait_for(*committer, 20)) {
      ASSERT_FALSE(one.outcome.has_value());
      EXPECT_EQ(one.outcome.error().kind, StoreError::Kind::Broken);
    }
    const auto outcome = committer->commit_now(make_append(run, 1, {"x"}));
    EXPECT_TRUE(!outcome || !outcome->has_value());
  }
}

TEST_F(CommitterTest, ManyThreadsSubmit) {
  const auto committer = make();
  constexpr int thread_count = 4;
  constexpr std::uint64_t each = 500;
  std::vector<RunName> names;
  for (int at = 0; at < thread_count; ++at) names.push_back(make_run_name(2));
  std::vector<std::jthread> threads;
  for (int at = 0; at < thread_count; ++at)
    threads.emplace_back([&, at] {
      for (std::uint64_t number = 1; number <= each; ++number) {
        Append append = make_append(names[static_cast<std::size_t>(at)], number, {"x"});
        while (!committer->submit(append, 0)) std::this_thread::yield();
      }
    });
  threads.clear();
  for (const Completion& one : wait_for(*committer, each * thread_count)) EXPECT_EQ(*one.outcome, std::nullopt);
  for (const RunName& name : names)
    EXPECT_EQ(committer->with_store([&](Store& one) { return one.head(name)->records; }), each);
}

TEST_F(CommitterTest, TheStoreCanBeHadHoweverManyAppendsAreQueued) {
  std::atomic<int> commits = 0;
  constexpr std::size_t small_queue = 20'000;  // so that a commit is short
  Committer committer(std::move(store), {small_queue, [&] { ++commits; }});
  std::jthread flood([&](const std::stop_token& stop) {
    for (std::uint64_t number = 1; !stop.stop_requested(); ++number) {
      Append append = make_append(run, number, {"x"});
      while (!committer.submit(append, number) && !stop.stop_requested()) std::this_thread::yield();
    }
  });
  std::vector<int> waits;
  for (int round = 0; round < 51; ++round) {
    while (commits < 3 * round) std::this_thread::yield();
    const int before = commits;
    waits.push_back(committer.with_store([&](Store&) { return commits - before; }));
  }
  flood.request_stop();
  flood.join();
  // Not the longest one: this thread may have been paused before it asked.
  std::nth_element(waits.begin(), waits.begin() + 25, waits.end());
  EXPECT_LE(waits[25], 2);
}

TEST_F(CommitterTest, TheQueueIsBounded) {
  const auto committer = make(100'000);
  Append large = make_append(run, 1, {std::string(200'000, 'x')});
  committer->with_store([&](Store&) {  // no commit begins as long as this stands
    EXPECT_TRUE(committer->submit(large, 1));
    Append next = make_append(run, 2, {std::string(1'000, 'y')});
    EXPECT_FALSE(committer->submit(next, 2));
    EXPECT_EQ(next.records.front().size(), 1'000U);  // still the caller's
    return 0;
  });
  static_cast<void>(wait_for(*committer, 1));
  std::uint64_t taken = 0;
  committer->with_store([&](Store&) {
    for (std::uint64_t number = 2; number < 1'000; ++number) {
      Append next = make_append(run, number, {std::string(1'000, 'y')});
      if (!committer->submit(next, number)) break;
      ++taken;
    }
    return 0;
  });
  EXPECT_GT(taken, 50U);
  EXPECT_LT(taken, 100U);
  EXPECT_EQ(wait_for(*committer, taken).size(), taken);
}

TEST_F(CommitterTest, CommitsAtOnceWhenNothingWaits) {
  const auto committer = make();
  const auto outcome = committer->commit_now(make_append(run, 1, {"a"}));
  ASSERT_TRUE(outcome.has_value() && outcome->has_value());
  EXPECT_EQ(**outcome, std::nullopt);
  committer->with_store([&](Store&) {
    Append next = make_append(run, 2, {"b"});
    EXPECT_TRUE(committer->submit(next, 1));
    return 0;
  });
  // The other is queued, under way or done: this one never comes before it.
  while (true) {
    const auto third = committer->commit_now(make_append(run, 3, {"c"}));
    if (!third) continue;
    EXPECT_EQ(**third, std::nullopt);
    break;
  }
  EXPECT_THAT(committer->with_store([&](Store& one) { return read_all(one, run); }), ElementsAre("a", "b", "c"));
}

TEST_F(CommitterTest, WhatIsQueuedIsCommittedBeforeTheEnd) {
  {
    const auto committer = make();
    for (std::uint64_t number = 1; number <= 500; ++number) {
      Append append = make_append(run, number, {"x"});
      ASSERT_TRUE(committer->submit(append, number));
    }
  }
  store = open();
  EXPECT_EQ(read_all(run).size(), 500U);
}

}  // namespace
}  // namespace tenon::journal
