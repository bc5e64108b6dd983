#include "tools/native/native_caller.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "tests/externs/declared_program.h"
#include "tools/native/extern_table.h"
#include "tools/native/isolate.h"
#include "tools/native/result_slots.h"
#include "vm/values/object.h"

namespace tenon::tools {
namespace {

using std::chrono::milliseconds;
using types::TypeTable;
using vm::Value;

class Collector final : public ExternSink {
 public:
  void on_returned(CallId call, ExternOutcome outcome) override {
    EXPECT_EQ(std::this_thread::get_id(), owner_);
    EXPECT_TRUE(outcomes.emplace(call, std::move(outcome)).second) << "reported twice: " << call;
  }
  std::map<CallId, ExternOutcome> outcomes;

 private:
  std::thread::id owner_ = std::this_thread::get_id();
};

class Calls : public testing::Test {
 protected:
  DeclaredProgram declared;
  std::uint32_t add = 0, echo = 0, until_cancelled = 0, effect_key = 0, copy = 0;
  std::shared_ptr<const ExternTable> table;
  Collector sink;

  void SetUp() override {
    TypeTable& types = declared.program->types;
    add = declared.declare("add", {TypeTable::i32, TypeTable::i32}, TypeTable::i32);
    echo = declared.declare("echo", {types.list(declared.order)}, types.list(declared.order));
    until_cancelled = declared.declare("until_cancelled", {}, TypeTable::i64);
    effect_key = declared.declare("effect_key", {}, TypeTable::string);
    copy = declared.declare("copy", {declared.tree}, declared.tree);
    const std::vector<std::string> names = {test_library("extern_plain"), test_library("extern_structured")};
    auto bound = ExternTable::bind(declared.program, NativeLibraries::open(names).value());
    ASSERT_TRUE(bound.has_value());
    table = std::move(*bound);
  }

  ExternCall sum(std::int64_t x, std::int64_t y) { return {table, add, {Value::integer(x), Value::integer(y)}, ""}; }

  /// Polls until `count` calls have ended; gives up after half a minute.
  void poll_for(ExternCaller& caller, std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (sink.outcomes.size() < count && std::chrono::steady_clock::now() < deadline)
      caller.poll(milliseconds(1'000));
    ASSERT_EQ(sink.outcomes.size(), count);
  }

  Value orders(std::int64_t id) {
    Value tags = Value::list({Value::string("shared")});
    const Value order = Value::record(declared.order, {Value::integer(id), Value::floating(1), tags, Value::none()});
    return Value::list({order, order});
  }
};

TEST_F(Calls, InlineTheOutcomeIsReturnedAtOnce) {
  NativeCaller caller;
  const auto outcome = caller.start(1, sum(2, 3), Placement::Inline, sink);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ((*outcome)->as_integer(), 5);
  caller.poll(milliseconds(0));
  EXPECT_TRUE(sink.outcomes.empty());
}

TEST_F(Calls, WithoutThreadsEveryCallIsInline) {
  NativeCaller caller({.threads = 0, .stop_wait = milliseconds(1'000), .notify = {}});
  const auto outcome = caller.start(1, sum(2, 3), Placement::Pool, sink);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ((*outcome)->as_integer(), 5);
}

TEST_F(Calls, OnThePoolPollReportsTheOutcome) {
  std::atomic<int> notified = 0;
  NativeCaller caller({.threads = 2, .stop_wait = milliseconds(1'000), .notify = [&] { ++notified; }});
  EXPECT_FALSE(caller.start(7, sum(2, 3), Placement::Pool, sink).has_value());
  EXPECT_FALSE(caller.start(8, {table, effect_key, {}, "run/1"}, Placement::Pool, sink).has_value());
  EXPECT_TRUE(sink.outcomes.empty());
  poll_for(caller, 2);
  EXPECT_EQ(sink.outcomes.at(7)->as_integer(), 5);
  EXPECT_EQ(sink.outcomes.at(8)->as_text(), "run/1");
  EXPECT_EQ(notified.load(), 2);
}

TEST_F(Calls, ACallWhoseTurnComesTooLateIsNotMade) {
  std::atomic<bool> may_begin = true;
  NativeCaller caller(
      {.threads = 1, .stop_wait = milliseconds(1'000), .notify = {}, .may_begin = [&] { return may_begin.load(); }});
  EXPECT_FALSE(caller.start(1, {table, until_cancelled, {}, ""}, Placement::Pool, sink).has_value());
  EXPECT_FALSE(caller.start(2, sum(2, 3), Placement::Pool, sink).has_value());  // waits for the thread
  may_begin = false;
  caller.cancel(1);
  sink.outcomes.erase(1);
  poll_for(caller, 1);
  ASSERT_FALSE(sink.outcomes.at(2).has_value());
  EXPECT_TRUE(sink.outcomes.at(2).error().is_unavailable);
  may_begin = true;
  EXPECT_FALSE(caller.start(3, sum(2, 3), Placement::Pool, sink).has_value());
  poll_for(caller, 2);
  EXPECT_EQ(sink.outcomes.at(3)->as_integer(), 5);
}

TEST_F(Calls, AThousandAtOnceWithSharedArguments) {
  NativeCaller caller({.threads = 4, .stop_wait = milliseconds(1'000), .notify = {}});
  std::vector<Value> kept;  // what the program still holds, and changes meanwhile
  for (CallId id = 0; id < 1'000; ++id) {
    kept.push_back(orders(static_cast<std::int64_t>(id)));
    EXPECT_FALSE(caller.start(id, {table, echo, {kept.back()}, ""}, Placement::Pool, sink).has_value());
    vm::own_list(kept.back()).items.pop_back();
  }
  poll_for(caller, 1'000);
  for (CallId id = 0; id < 1'000; ++id) {
    const ExternOutcome& outcome = sink.outcomes.at(id);
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_TRUE(vm::equal(*outcome, orders(static_cast<std::int64_t>(id)))) << id;
    EXPECT_EQ(kept[id].items().size(), 1U);
  }
}

TEST_F(Calls, OneThatRunsIsCancelledAndItsResultDiscarded) {
  NativeCaller caller({.threads = 1, .stop_wait = milliseconds(10'000), .notify = {}});
  EXPECT_FALSE(caller.start(1, {table, until_cancelled, {}, ""}, Placement::Pool, sink).has_value());
  caller.poll(milliseconds(20));  // time to begin
  EXPECT_TRUE(sink.outcomes.empty());
  caller.cancel(1);
  ASSERT_EQ(sink.outcomes.size(), 1U);
  ASSERT_FALSE(sink.outcomes.at(1).has_value());
  EXPECT_EQ(sink.outcomes.at(1).error().kind, types::FailureKind::Cancelled);
  sink.outcomes.clear();
  // The same id again, on the same thread: the old result is not taken for the new one's.
  EXPECT_FALSE(caller.start(1, sum(20, 22), Placement::Pool, sink).has_value());
  poll_for(caller, 1);
  EXPECT_EQ(sink.outcomes.at(1)->as_integer(), 42);
  caller.cancel(1);  // ended already
  caller.cancel(99);
}

#ifndef TENON_SANITIZED
TEST_F(Calls, AThreadThatEndsAfterItsCallWasCancelledLeavesNoStack) {
  // A thread that has ended keeps its stack, 8 MB of addresses, until it is joined. The heaps of those alive at once
  // vary, by less than the limit.
  const auto address_space = [] {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  };
  NativeCaller caller({.threads = 1, .stop_wait = milliseconds(10'000), .notify = {}});
  const auto cancel_calls = [&](int count) {
    for (; count > 0; --count) {
      EXPECT_FALSE(caller.start(1, {table, until_cancelled, {}, ""}, Placement::Pool, sink).has_value());
      EXPECT_FALSE(caller.start(2, sum(1, 1), Placement::Pool, sink).has_value());
      caller.poll(milliseconds(1));  // time to begin
      caller.cancel(1);              // often another thread takes its place
      poll_for(caller, 2);
      sink.outcomes.clear();
    }
  };
  cancel_calls(50);
  const std::uint64_t before = address_space();
  cancel_calls(500);
  EXPECT_LT(address_space(), before + (std::uint64_t{2} << 30U));
}
#endif

TEST_F(Calls, WithoutAThreadFromTheSystemACallFails) {
  pthread_attr_t before, huge;
  ASSERT_EQ(::pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(::pthread_attr_init(&huge), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 50U), 0);  // more than there are addresses
  NativeCaller caller({.threads = 1, .stop_wait = milliseconds(10'000), .notify = {}});
  ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
  const auto refused = caller.start(1, sum(1, 1), Placement::Pool, sink);
  ASSERT_EQ(::pthread_setattr_default_np(&before), 0);
  ASSERT_TRUE(refused.has_value() && !refused->has_value());
  EXPECT_EQ(refused->error().message, "the system starts no thread for it");
  sigset_t blocked;
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &blocked), 0);
  EXPECT_EQ(::sigismember(&blocked, SIGINT), 0);
  EXPECT_FALSE(caller.start(1, sum(20, 22), Placement::Pool, sink).has_value());
  poll_for(caller, 1);
  EXPECT_EQ(sink.outcomes.at(1)->as_integer(), 42);
}

TEST_F(Calls, OneThatWaitsIsCancelledBeforeItBegins) {
  NativeCaller caller({.threads = 1, .stop_wait = milliseconds(10'000), .notify = {}});
  EXPECT_FALSE(caller.start(1, {table, until_cancelled, {}, ""}, Placement::Pool, sink).has_value());
  EXPECT_FALSE(caller.start(2, sum(1, 1), Placement::Pool, sink).has_value());
  caller.cancel(2);
  EXPECT_EQ(sink.outcomes.at(2).error().kind, types::FailureKind::Cancelled);
  caller.cancel(1);
  EXPECT_EQ(sink.outcomes.size(), 2U);
}

TEST_F(Calls, TheEndOfTheCallerCancelsWhatRuns) {
  const auto begin = std::chrono::steady_clock::now();
  {
    NativeCaller caller({.threads = 2, .stop_wait = milliseconds(20'000), .notify = {}});
    for (CallId id = 0; id < 4; ++id) {
      EXPECT_FALSE(caller.start(id, {table, until_cancelled, {}, ""}, Placement::Pool, sink).has_value());
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  EXPECT_TRUE(sink.outcomes.empty());
}

TEST_F(Calls, WakeEndsAPollThatWaits) {
  NativeCaller caller;
  std::thread other([&] { caller.wake(); });
  const auto begin = std::chrono::steady_clock::now();
  caller.poll(milliseconds(30'000));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  other.join();
}

TEST_F(Calls, ATooDeeplyNestedValueDoesNotLeaveItsThread) {
  Value deep = Value::record(declared.tree, {Value::list({})});
  for (std::uint32_t i = 0; i < extern_depth_max; ++i)
    deep = Value::record(declared.tree, {Value::list({std::move(deep)})});
  NativeCaller caller;
  const auto outcome = caller.start(1, {table, copy, {std::move(deep)}, ""}, Placement::Pool, sink);
  ASSERT_TRUE(outcome.has_value());
  ASSERT_FALSE(outcome->has_value());
  EXPECT_EQ(outcome->error().message, "an argument is nested more than 1000 levels deep");
}

TEST(Isolate, CopiesWhatIsSharedAndKeepsTheRest) {
  const Value inner = Value::string("inner");
  Value list = Value::list({inner, Value::string("own")});
  const vm::Object* const list_before = list.object();
  const vm::Object* const own_before = list.items()[1].object();
  ASSERT_TRUE(isolate(list));
  EXPECT_EQ(list.object(), list_before);
  EXPECT_EQ(list.items()[1].object(), own_before);
  EXPECT_NE(list.items()[0].object(), inner.object());
  EXPECT_EQ(inner.object()->references, 1U);
  EXPECT_EQ(list.items()[0].as_text(), "inner");

  Value map = Value::map({{inner, list}});
  const Value kept = map;
  ASSERT_TRUE(isolate(map));
  EXPECT_NE(map.object(), kept.object());
  EXPECT_EQ(kept.object()->references, 1U);
  EXPECT_NE(map.find_entry("inner")->object(), kept.find_entry("inner")->object());
  EXPECT_TRUE(vm::equal(map, kept));

  Value context = Value::empty_context();
  EXPECT_FALSE(isolate(context));
}

TEST(Isolate, CopiesWhatOccursInSeveralPlacesOnce) {
  // 2^100 texts that are one in memory.
  Value text = Value::string("shared");
  text.set_label(vm::LabelId{1});
  Value whole = text;
  text.set_label(vm::LabelId{2});
  whole = Value::list({whole, text});
  for (int level = 0; level < 100; ++level) whole = Value::list({whole, whole});
  const Value kept = whole;
  ASSERT_TRUE(isolate(whole));
  EXPECT_TRUE(vm::equal(whole, kept));
  Value left = whole, right = whole, before = kept;
  for (int level = 0; level < 100; ++level) {
    left = Value(left.items()[0]);
    right = Value(right.items()[1]);
    before = Value(before.items()[0]);
    EXPECT_EQ(left.object(), right.object());
    EXPECT_NE(left.object(), before.object());
  }
  EXPECT_EQ(left.items()[0].object(), left.items()[1].object());
  EXPECT_NE(left.items()[0].object(), text.object());
  EXPECT_EQ(left.items()[0].label(), vm::LabelId{1});
  EXPECT_EQ(left.items()[1].label(), vm::LabelId{2});
}

}  // namespace
}  // namespace tenon::tools
