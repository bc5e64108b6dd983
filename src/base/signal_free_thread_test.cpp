#include "base/signal_free_thread.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace tenon {
namespace {

bool is_blocked(int signal) {
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

TEST(SignalFreeThread, BlocksSignalsOnlyInTheNewThread) {
  ASSERT_FALSE(is_blocked(SIGTERM));
  bool was_blocked = false;
  std::thread thread = start_signal_free_thread([&] { was_blocked = is_blocked(SIGTERM) && is_blocked(SIGINT); });
  thread.join();
  EXPECT_TRUE(was_blocked);
  EXPECT_FALSE(is_blocked(SIGTERM));
}

}  // namespace
}  // namespace tenon
