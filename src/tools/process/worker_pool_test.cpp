#include "tools/process/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <condition_variable>
#include <fstream>
#include <map>

#include "tests/support/patience.h"
#include "tests/support/temporary_folder.h"
#include "tools/process/process_limits.h"
#include "tools/process/worker_message.h"

namespace tenon::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using How = ProcessEnd::How;

WorkerCommand pool_shell(const std::string& line) {
  return {"/bin/sh", {"sh", "-c", line}, {"PATH=/usr/bin:/bin"}};
}

/// A worker that sends back what it gets.
const char* const echo = "exec cat <&3 >&3";

class PoolEnds {
 public:
  OnProcessEnd taker(int name) {
    return [this, name](ProcessEnd end) {
      const std::scoped_lock lock(mutex_);
      ends_.emplace(name, std::move(end));
      came_.notify_all();
    };
  }
  std::optional<ProcessEnd> wait_for(int name, milliseconds limit = std::chrono::seconds(30)) {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, limit, [&] { return ends_.contains(name); })) return std::nullopt;
    return ends_.find(name)->second;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::multimap<int, ProcessEnd> ends_;
};

/// Whether the pool has so many processes, now or soon.
bool reaches(const WorkerPool& pool, std::size_t count, milliseconds limit = std::chrono::seconds(30)) {
  const auto end = steady_clock::now() + limit;
  while (pool.count() != count && steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  return pool.count() == count;
}

TEST(WorkerPool, AWorkerPerformsOneRequestAfterTheOther) {
  PoolEnds ends;
  WorkerPool pool(pool_shell(echo), "hello", milliseconds(500));
  for (int name = 0; name < 20; ++name) {
    pool.start("request " + std::to_string(name), ends.taker(name));
    const auto end = ends.wait_for(name);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->how, How::Replied);
    EXPECT_EQ(end->reply, "request " + std::to_string(name));
  }
  EXPECT_TRUE(reaches(pool, 1));
}

TEST(WorkerPool, ManyRequestsHaveManyWorkersAndAFewStay) {
  const test::TemporaryFolder folder;
  const std::string begin = folder.file("begin");
  PoolEnds ends;
  WorkerPool pool(pool_shell("while [ ! -e " + begin + " ]; do sleep 0.01; done; exec cat <&3 >&3"), "hello",
                  milliseconds(500));
  for (int name = 0; name < 10; ++name) pool.start(std::string(100'000, 'x'), ends.taker(name));
  EXPECT_TRUE(reaches(pool, 10));
  std::ofstream(begin).put('\n');
  for (int name = 0; name < 10; ++name) {
    const auto end = ends.wait_for(name);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->reply.size(), 100'000U);
  }
  EXPECT_TRUE(reaches(pool, idle_workers_max));
}

TEST(WorkerPool, AWorkerThatCrashesIsReplaced) {
  PoolEnds ends;
  // It answers its greeting, and ends with the first request that contains `die`.
  WorkerPool pool(pool_shell(R"(printf '\2\0\0\0\0\0\0\0ok' >&3; dd bs=1 count=10 <&3 >/dev/null 2>&1
    while :; do dd bs=1 count=11 <&3 >/dev/null 2>&1; kill -SEGV $$; done)"),
                  "hi", milliseconds(500));
  for (int name = 0; name < 2; ++name) {
    pool.start("die", ends.taker(name));
    const auto end = ends.wait_for(name);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->how, How::Signalled);
    EXPECT_EQ(end->code, SIGSEGV);
  }
}

TEST(WorkerPool, ARequestThatIsGivenUpEndsItsWorker) {
  PoolEnds ends;
  WorkerPool pool(pool_shell(R"(printf '\2\0\0\0\0\0\0\0ok' >&3; trap '' TERM; sleep 60 & wait; sleep 60)"), "hi",
                  milliseconds(500));
  const auto number = pool.start("never", ends.taker(1));
  ASSERT_TRUE(reaches(pool, 1));
  const auto begun = steady_clock::now();
  pool.give_up(number);
  EXPECT_TRUE(reaches(pool, 0));
  EXPECT_LT(steady_clock::now() - begun, process_grace + test::patience);
  EXPECT_FALSE(ends.wait_for(1, milliseconds(50)).has_value());
}

TEST(WorkerPool, APoolThatEndsLeavesNoProcess) {
  PoolEnds ends;
  const auto begun = steady_clock::now();
  {
    WorkerPool pool(pool_shell("trap '' TERM; sleep 60 & wait; sleep 60"), "hi", milliseconds(100));
    pool.start("never", ends.taker(1));
    ASSERT_TRUE(reaches(pool, 1));
  }
  EXPECT_LT(steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST(WorkerPool, AProgramThatCannotBeStartedIsReported) {
  PoolEnds ends;
  WorkerPool pool({"/nonexistent", {"x"}, {}}, "hi", milliseconds(100));
  pool.start("request", ends.taker(1));
  const auto end = ends.wait_for(1);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->how, How::NotStarted);
}

TEST(AskWorker, HasTheReplyOrAReason) {
  EXPECT_EQ(ask_worker(pool_shell(echo), "question", std::chrono::seconds(30)).value_or("?"), "question");
  const auto ended = ask_worker(pool_shell("exit 3"), "question", std::chrono::seconds(30));
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error(), "its process exited with code 3");
  const auto late = ask_worker(pool_shell("sleep 60"), "question", milliseconds(100));
  ASSERT_FALSE(late.has_value());
  EXPECT_THAT(late.error(), testing::HasSubstr("did not answer"));
  const auto absent = ask_worker({"/nonexistent", {"x"}, {}}, "question", milliseconds(100));
  ASSERT_FALSE(absent.has_value());
  EXPECT_THAT(absent.error(), testing::HasSubstr("/nonexistent"));
}

}  // namespace
}  // namespace tenon::tools
