#include "base/waker.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <thread>

namespace tenon {
namespace {

using std::chrono::milliseconds;

bool is_readable(const Waker& waker) {
  pollfd looked_at{waker.descriptor(), POLLIN, 0};
  return ::poll(&looked_at, 1, 0) == 1;
}

TEST(Waker, EndsTheWaitOfAnotherThread) {
  const Waker waker;
  ASSERT_TRUE(waker.is_open());
  std::thread other([&] { waker.wake(); });
  waker.wait(milliseconds(60'000));  // the test's time limit is shorter
  other.join();
}

TEST(Waker, EndsTheNextWaitOnceHoweverOftenItIsCalled) {
  const Waker waker;
  waker.wake();
  waker.wake();
  EXPECT_TRUE(is_readable(waker));
  waker.wait(milliseconds(60'000));
  EXPECT_FALSE(is_readable(waker));
  const auto begin = std::chrono::steady_clock::now();
  waker.wait(milliseconds(5));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(5));
}

TEST(Waker, ForgetsCallsWhenItIsCleared) {
  const Waker waker;
  waker.wake();
  waker.clear();
  EXPECT_FALSE(is_readable(waker));
}

}  // namespace
}  // namespace tenon
