#include "library/awaited.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "library/host_state.h"

namespace tenon::library {
namespace {

using std::chrono::milliseconds;

/// Longer than a test may take.
constexpr std::chrono::hours forever{24 * 365 * 100};

TEST(Awaited, WhatIsGivenEndsTheWait) {
  AwaitedValue<std::string> awaited;
  std::thread giving([&] { awaited.give("reply"); });
  EXPECT_EQ(awaited.wait(forever), "reply");
  giving.join();
}

TEST(Awaited, NothingIsGivenInTime) {
  AwaitedValue<std::string> awaited;
  EXPECT_EQ(awaited.wait(milliseconds{0}), std::nullopt);
  awaited.give("late");
  EXPECT_EQ(awaited.wait(milliseconds{0}), "late");
}

TEST(Awaited, TheEndOfAHostEndsTheWait) {
  HostState host{Options{}};
  runtime::HostObserver& observer = host.hub();
  AwaitedValue<std::string> awaited, forgotten, late;
  host.expect(awaited);
  host.expect(forgotten);
  host.forget(forgotten);
  std::thread breaking([&] { observer.on_broken("a bug"); });
  EXPECT_EQ(awaited.wait(forever), std::nullopt);
  breaking.join();
  EXPECT_EQ(host.broken(), "a bug");
  EXPECT_EQ(forgotten.wait(milliseconds{0}), std::nullopt);
  host.expect(late);
  EXPECT_EQ(late.wait(forever), std::nullopt);
  // A reply is taken all the same.
  late.give("reply");
  EXPECT_EQ(late.wait(forever), "reply");
}

}  // namespace
}  // namespace tenon::library
