#include "tools/process/process_supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <condition_variable>
#include <filesystem>
#include <map>

#include "tests/support/patience.h"
#include "tests/support/temporary_folder.h"
#include "tools/process/process_limits.h"

namespace tenon::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using How = ProcessEnd::How;

/// Processes that run a line of shell: descriptor 3 is the socket.
WorkerCommand shell(const std::string& line) {
  return {"/bin/sh", {"sh", "-c", line}, {"PATH=/usr/bin:/bin"}};
}

class Ends {
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
  std::size_t count() {
    const std::scoped_lock lock(mutex_);
    return ends_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::multimap<int, ProcessEnd> ends_;
};

bool wait_until_empty(const ProcessSupervisor& supervisor, milliseconds limit = std::chrono::seconds(30)) {
  const auto end = steady_clock::now() + limit;
  while (supervisor.count() > 0 && steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  return supervisor.count() == 0;
}

TEST(ProcessSupervisor, AReplyRoundTrips) {
  Ends ends;
  ProcessSupervisor supervisor(shell(R"(cat <&3 >/dev/null; printf '\5\0\0\0\0\0\0\0hello' >&3)"), milliseconds(500));
  supervisor.start("a request", "", ends.taker(1));
  const auto end = ends.wait_for(1);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->how, How::Replied);
  EXPECT_EQ(end->reply, "hello");
  EXPECT_TRUE(wait_until_empty(supervisor));
}

TEST(ProcessSupervisor, ARequestMayBeLargerThanAnyBuffer) {
  Ends ends;
  ProcessSupervisor supervisor(shell(R"(count=$(cat <&3 | wc -c); printf '\7\0\0\0\0\0\0\0%s' "$count" >&3)"),
                               milliseconds(500));
  supervisor.start(std::string(5'000'000, 'x'), "", ends.taker(1));
  const auto end = ends.wait_for(1);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->reply, "5000000");
}

TEST(ProcessSupervisor, TheKeyIsInTheEnvironment) {
  Ends ends;
  WorkerCommand command = shell(R"(printf '\4\0\0\0\0\0\0\0%4.4s' "$TENON_EFFECT_KEY" >&3)");
  command.environment.push_back("TENON_EFFECT_KEY=another");
  ProcessSupervisor supervisor(command, milliseconds(500));
  supervisor.start("", "ab/1", ends.taker(1));
  supervisor.start("", "", ends.taker(2));
  EXPECT_EQ(ends.wait_for(1).value().reply, "ab/1");
  EXPECT_EQ(ends.wait_for(2).value().reply, "    ");
}

TEST(ProcessSupervisor, AnExitWithoutAReplyIsReported) {
  Ends ends;
  ProcessSupervisor exits(shell("exit 7"), milliseconds(500));
  exits.start("", "", ends.taker(1));
  EXPECT_EQ(ends.wait_for(1).value().how, How::Exited);
  EXPECT_EQ(ends.wait_for(1).value().code, 7);
  ProcessSupervisor dies(shell("kill -SEGV $$"), milliseconds(500));
  dies.start("", "", ends.taker(2));
  EXPECT_EQ(ends.wait_for(2).value().how, How::Signalled);
  EXPECT_EQ(describe_signal(ends.wait_for(2).value().code), "SIGSEGV (Segmentation fault)");
  ProcessSupervisor breaks_off(shell(R"(printf '\5\0\0\0\0\0\0\0hel' >&3)"), milliseconds(500));
  breaks_off.start("", "", ends.taker(3));
  EXPECT_EQ(ends.wait_for(3).value().how, How::Exited);
  ProcessSupervisor is_none({"/nonexistent/worker", {"worker"}, {}}, milliseconds(500));
  is_none.start("", "", ends.taker(4));
  EXPECT_EQ(ends.wait_for(4).value().how, How::NotStarted);
  EXPECT_EQ(ends.wait_for(4).value().problem, "No such file or directory");
}

TEST(ProcessSupervisor, AReplyThatIsTooLongEndsTheProcess) {
  Ends ends;
  static_assert(process_reply_bytes_max == 0x4000000);
  ProcessSupervisor supervisor(shell(R"(printf '\1\0\0\4\0\0\0\0' >&3; exec sleep 60)"), milliseconds(500));
  supervisor.start("", "", ends.taker(1));
  EXPECT_EQ(ends.wait_for(1).value().how, How::TooLong);
  EXPECT_TRUE(wait_until_empty(supervisor));
}

TEST(ProcessSupervisor, ACancelledProcessEndsWithItsChildren) {
  Ends ends;
  const auto begun = steady_clock::now();
  ProcessSupervisor supervisor(shell("sleep 600 & sleep 600"), milliseconds(500));
  const std::uint64_t number = supervisor.start("", "", ends.taker(1));
  std::this_thread::sleep_for(milliseconds(50));
  supervisor.give_up(number);
  EXPECT_TRUE(wait_until_empty(supervisor));
  EXPECT_LT(steady_clock::now() - begun, process_grace + test::patience);
  EXPECT_EQ(ends.count(), 0U);
}

TEST(ProcessSupervisor, WhatIgnoresSigtermIsKilledAfterItsGrace) {
  Ends ends;
  const test::TemporaryFolder folder;
  const std::string file = folder.file("ignores");
  ProcessSupervisor supervisor(shell("trap '' TERM; : > " + file + "; while :; do sleep 1; done"), milliseconds(500));
  const std::uint64_t number = supervisor.start("", "", ends.taker(1));
  for (int tries = 0; tries < 6'000 && !std::filesystem::exists(file); ++tries) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  const auto begun = steady_clock::now();
  supervisor.give_up(number);
  EXPECT_TRUE(wait_until_empty(supervisor));
  EXPECT_GE(steady_clock::now() - begun, process_grace - milliseconds(1));
}

TEST(ProcessSupervisor, NoProcessOutlivesIt) {
  Ends ends;
  const auto begun = steady_clock::now();
  {
    ProcessSupervisor supervisor(shell("trap '' TERM; while :; do sleep 1; done"), milliseconds(100));
    for (int at = 0; at < 3; ++at) supervisor.start("", "", ends.taker(at));
    std::this_thread::sleep_for(milliseconds(200));
  }
  EXPECT_LT(steady_clock::now() - begun, std::chrono::seconds(30));
  EXPECT_EQ(ends.count(), 0U);
}

TEST(ProcessSupervisor, MoreThanTheLimitWaitInLine) {
  Ends ends;
  ProcessSupervisor supervisor(shell(R"(cat <&3 >/dev/null; printf '\1\0\0\0\0\0\0\0x' >&3)"), milliseconds(500));
  constexpr int calls = static_cast<int>(processes_max) * 2 + 3;
  for (int at = 0; at < calls; ++at) supervisor.start("", "", ends.taker(at));
  for (int at = 0; at < calls; ++at) EXPECT_EQ(ends.wait_for(at).value().reply, "x");
  EXPECT_TRUE(wait_until_empty(supervisor));
}

}  // namespace
}  // namespace tenon::tools
