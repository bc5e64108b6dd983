#include <atomic>
#include <condition_variable>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/shared_engine.h"
#include "tests/support/engine_testing.h"
#include "tests/support/patience.h"
#include "tools/provided_functions.h"

// Calls that a thread makes outside of its engine: see SharedEngine.

namespace tenon::engine {
namespace {

using runtime::RunId;
using std::chrono::milliseconds;

constexpr const char* outside_program = R"(
extern fn price(name: String) -> i32
fn quick(n: i32) -> i32 { n * 2 }
fn dear(name: String) -> i32 { price(name) + 1 }
fn dearest(name: String) -> i32 {
    let sum = 0
    for _ in 0..50 { sum += price(name) }
    sum
}
fn colour() -> String {
    let colour = ask<String>("Which colour?")
    "It is {{ colour }}."
}
)";

/// For what must happen.
class Deadline {
 public:
  [[nodiscard]] bool is_ahead() const { return std::chrono::steady_clock::now() < end_; }

 private:
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + tenon::test::patience;
};

/// The extern `price` is made outside whenever it is lone. The first such call for "slow", on the thread that is wanted
/// (`start_blocking`), blocks until `go_on`.
class OutsideCallsTest : public test::EngineTest {
 protected:
  void open(const std::string& store = "") {
    engine.reset();
    has_begun = may_go_on = has_returned = was_cancelled = false;
    blocking_thread = {};
    is_ended = has_thrown = false;
    EngineOptions options;
    options.model = std::make_unique<test::FixedModel>("Hello!");
    options.store_choice.path = store;
    options.runtime.answers_come_later = true;
    options.functions["price"] = [this](tenon_call* call) {
      if (!tools::perform_outside(call, work)) perform(call, false);
    };
    auto opened = Engine::open(std::move(options), system);
    ASSERT_TRUE(opened.has_value()) << describe(opened.error());
    engine = std::make_unique<SharedEngine>(std::move(*opened));
    engine->call([&](Engine& used) {
      auto loaded = used.load({folder.file("main.tn"), outside_program});
      ASSERT_TRUE(loaded.has_value()) << describe(loaded.error());
      program = std::move(*loaded);
    });
  }
  void TearDown() override {
    go_on();
    if (waiting.joinable()) waiting.join();
    engine.reset();  // its threads use what follows
  }
  void perform(tenon_call* call, bool is_outside) {
    if (is_outside && std::string_view(tenon_argument_text(call, 0).data) == "slow") {
      std::unique_lock lock(mutex);
      const bool is_wanted = blocking_thread == std::thread::id() || blocking_thread == std::this_thread::get_id();
      if (is_wanted && !std::exchange(has_begun, true)) {
        changed.notify_all();
        changed.wait_for(lock, tenon::test::patience, [this] { return may_go_on; });
        was_cancelled = tenon_is_cancelled(call);
        has_returned = true;
        changed.notify_all();
      }
    }
    tenon_put_i64(call, tenon_result(call), 41);
  }
  bool await_begin(milliseconds timeout) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, timeout, [this] { return has_begun; });
  }
  /// The end of the function that has blocked, of which the result may not be needed any more.
  bool await_return() {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, tenon::test::patience, [this] { return has_returned; });
  }
  void go_on() {
    const std::scoped_lock lock(mutex);
    may_go_on = true;
    changed.notify_all();
  }
  RunId start(const char* function, const std::string& arguments) {
    return engine->call([&](Engine& used) {
      const auto run = used.start(*program, function, arguments);
      EXPECT_TRUE(run.has_value()) << describe(run.error());
      return *run;
    });
  }
  bool has_ended(RunId run) {
    return engine->wait([run](Engine& used) { return used.result(run).has_value(); }, tenon::test::patience);
  }
  std::optional<RunResult> result_of(RunId run) {
    return engine->call([run](Engine& used) { return used.result(run); });
  }
  /// The value of a run that no thread waits for.
  std::string await_value(RunId run) {
    const Deadline deadline;
    while (!result_of(run) && deadline.is_ahead()) std::this_thread::sleep_for(milliseconds{1});
    return result_of(run) ? result_of(run)->value : "no end";
  }
  /// Forgets a run that ends: no call is lone while there is another run.
  void release(RunId run) {
    const Deadline deadline;
    while (!engine->call([run](Engine& used) { return used.release(run).has_value(); })) {
      ASSERT_TRUE(deadline.is_ahead()) << "the run is not forgotten";
      std::this_thread::sleep_for(milliseconds{1});
    }
  }
  /// Makes calls until one is made outside, and fails as each such call does: its message.
  std::string await_failure() {
    std::string message;
    for (const Deadline deadline; message.empty() && deadline.is_ahead();) {
      const RunId run = start("dear", R"({"name": "tea"})");
      EXPECT_TRUE(has_ended(run));
      message = result_of(run)->message;
      release(run);
    }
    return message;
  }
  /// Starts runs until the function of one blocks outside: on `waiting`, which starts the run and waits for it, or on
  /// the engine's own thread. Which calls are lone depends on the machine.
  RunId start_blocking(bool has_waiter) {
    const Deadline deadline;
    for (;;) {
      const RunId run = has_waiter ? start_waiting() : start("dear", R"({"name": "slow"})");
      while (!await_begin(milliseconds{1}) && !result_of(run) && deadline.is_ahead()) continue;
      if (await_begin(milliseconds{0})) return run;
      if (!deadline.is_ahead()) throw std::runtime_error("no call was made outside");
      if (waiting.joinable()) waiting.join();
      release(run);
    }
  }
  RunId start_waiting() {
    std::promise<RunId> started;
    std::future<RunId> run = started.get_future();
    waiting = std::thread([this, started = std::move(started)]() mutable {
      {
        const std::scoped_lock lock(mutex);
        blocking_thread = std::this_thread::get_id();
      }
      const RunId number = start("dear", R"({"name": "slow"})");
      started.set_value(number);
      wait_for(number);
    });
    return run.get();
  }
  void wait_for(RunId run) {
    try {
      is_ended = has_ended(run);
    } catch (const BrokenCondition&) {
      has_thrown = true;
    }
  }

  std::unique_ptr<SharedEngine> engine;
  std::optional<Program> program;
  tools::ProvidedFunction work = [this](tenon_call* call) { perform(call, true); };
  std::thread waiting;
  std::atomic<bool> is_ended = false, has_thrown = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread::id blocking_thread;  ///< none: any
  bool has_begun = false, may_go_on = false, has_returned = false, was_cancelled = false;
};

TEST_F(OutsideCallsTest, OtherThreadsUseAnEngineWhoseFunctionBlocks) {
  for (const bool has_waiter : {true, false}) {
    for (const bool has_thread : {true, false}) {
      if (!has_waiter && !has_thread) continue;  // no one would continue the runs
      open();
      if (has_thread) engine->start_thread();
      const RunId blocked = start_blocking(has_waiter);
      const RunId asking = start("colour", "{}");
      EXPECT_TRUE(
          engine->wait([&](Engine& used) { return used.state(asking) == RunState::Asks; }, tenon::test::patience));
      EXPECT_FALSE(result_of(blocked).has_value());
      const RunId dear = start("dear", R"({"name": "slow"})");  // it is not lone
      EXPECT_TRUE(has_ended(dear));
      if (has_thread) {
        EXPECT_EQ(await_value(start("quick", R"({"n": 2})")), "4");
      }
      EXPECT_FALSE(result_of(blocked).has_value());
      go_on();
      if (waiting.joinable()) waiting.join();
      EXPECT_EQ(await_value(blocked), "42");
      EXPECT_EQ(is_ended, has_waiter);
    }
  }
}

TEST_F(OutsideCallsTest, WhatIsPostedMeanwhileIsContinuedBesideTheCall) {
  open();
  engine->start_thread();
  std::atomic<bool> is_posted = false;
  std::optional<RunId> posted;
  const RunId blocked = start_blocking(false);
  engine->post([&](Engine& used) {
    posted = *used.start(*program, "quick", R"({"n": 3})");
    is_posted = true;
  });
  const Deadline deadline;
  while (!is_posted && deadline.is_ahead()) std::this_thread::sleep_for(milliseconds{1});
  ASSERT_TRUE(is_posted);
  EXPECT_EQ(await_value(*posted), "6");
  EXPECT_FALSE(result_of(blocked).has_value());
  go_on();
  EXPECT_EQ(await_value(blocked), "42");
}

TEST_F(OutsideCallsTest, ARunIsCancelledWhileItsFunctionBlocks) {
  for (const bool has_waiter : {true, false}) {
    open();
    engine->start_thread();
    const RunId blocked = start_blocking(has_waiter);
    engine->call([&](Engine& used) { used.cancel(blocked, "not needed"); });
    EXPECT_TRUE(has_ended(blocked));
    EXPECT_EQ(result_of(blocked)->how, RunResult::How::Cancelled);
    release(blocked);
    // The function has kept a thread for long, so that the next call is not lone, and does not block another thread.
    const RunId next = start("dear", R"({"name": "slow"})");
    EXPECT_EQ(await_value(next), "42");
    release(next);
    go_on();
    ASSERT_TRUE(await_return());
    EXPECT_TRUE(was_cancelled);
    if (waiting.joinable()) waiting.join();
    EXPECT_EQ(is_ended, has_waiter);
    EXPECT_EQ(await_value(start("dear", R"({"name": "tea"})")), "42");
  }
}

TEST_F(OutsideCallsTest, AnEngineIsStoppedWhileAFunctionBlocks) {
  open();
  const RunId blocked = start_blocking(true);
  engine->stop(milliseconds{0});
  EXPECT_FALSE(result_of(blocked).has_value());
  go_on();
  waiting.join();
  EXPECT_FALSE(is_ended);
  EXPECT_FALSE(has_thrown);
}

TEST_F(OutsideCallsTest, AStopWithAGraceTimeTakesTheResult) {
  open(folder.file("runs.db"));
  const RunId blocked = start_blocking(true);
  std::thread going([this] {
    std::this_thread::sleep_for(milliseconds{20});
    go_on();
  });
  engine->stop(tenon::test::patience);
  going.join();
  waiting.join();
  EXPECT_TRUE(result_of(blocked).has_value());
}

TEST_F(OutsideCallsTest, AnEngineIsGivenUpWhileAFunctionBlocks) {
  for (const bool has_waiter : {true, false}) {
    open();
    if (!has_waiter) engine->start_thread();
    static_cast<void>(start_blocking(has_waiter));
    EXPECT_THROW(engine->call([](Engine&) { throw BrokenCondition("internal error"); }), BrokenCondition);
    go_on();
    if (waiting.joinable()) waiting.join();
    EXPECT_EQ(has_thrown.exchange(false), has_waiter);
    engine->stop(milliseconds{0});
  }
}

TEST_F(OutsideCallsTest, ABugOfAFunctionGivesTheEngineUp) {
  open();
  const RunId blocked = start_blocking(true);
  go_on();
  waiting.join();
  release(blocked);
  work = [](tenon_call*) { throw BrokenCondition("internal error"); };
  const auto call_until_broken = [&] {
    for (const Deadline deadline; deadline.is_ahead();) {
      const RunId run = start("dear", R"({"name": "tea"})");
      static_cast<void>(has_ended(run));
      release(run);
    }
  };
  EXPECT_THROW(call_until_broken(), BrokenCondition);
}

TEST_F(OutsideCallsTest, WhatAFunctionThrowsFailsItsCall) {
  open();
  work = [](tenon_call*) { throw std::runtime_error("it is closed"); };
  EXPECT_THAT(await_failure(), testing::HasSubstr("it is closed"));
}

TEST_F(OutsideCallsTest, ACallOutsideCannotBeDeferred) {
  open();
  work = [](tenon_call* call) { EXPECT_FALSE(tools::defer(call)); };
  EXPECT_THAT(await_failure(), testing::HasSubstr("cannot be completed later"));
}

TEST_F(OutsideCallsTest, AThreadThatTakesATurnMakesNoCall) {
  open();
  go_on();
  const std::function<void()> turns[] = {
      [this] { engine->take_turn(); },
      [this] { static_cast<void>(engine->wait([](Engine&) { return false; }, milliseconds{0})); },
  };
  for (const auto& take_turn : turns) {
    for (int round = 0; round < 100; ++round) {
      const RunId run = start("dear", R"({"name": "slow"})");
      for (const Deadline deadline; !result_of(run) && deadline.is_ahead();) take_turn();
      EXPECT_EQ(await_value(run), "42");
      release(run);
    }
  }
  EXPECT_FALSE(has_begun);
}

/// For ThreadSanitizer, too: threads that wait, own threads, cancellations, and calls that take long now and then.
TEST_F(OutsideCallsTest, ManyThreadsUseAnEngine) {
  open();
  engine->start_thread();
  std::atomic<int> made_outside = 0;
  work = [&](tenon_call* call) {
    if (++made_outside % 64 == 0) std::this_thread::sleep_for(milliseconds{3});
    tenon_put_i64(call, tenon_result(call), 41);
  };
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned at = 0; at < 4; ++at) {
    threads.emplace_back([&, at] {
      std::minstd_rand random(at + 1);
      for (int round = 0; round < 60; ++round) {
        const RunId run = start("dearest", R"({"name": "tea"})");
        const bool is_cancelled = random() % 4 == 0;
        if (is_cancelled) engine->call([run](Engine& used) { used.cancel(run, "not needed"); });
        if (random() % 2 == 0) static_cast<void>(await_value(run));
        if (!has_ended(run)) ++wrong;
        const auto result = result_of(run);
        if (!result || (!is_cancelled && result->value != "2050")) ++wrong;
        release(run);
        if (random() % 4 == 0) std::this_thread::sleep_for(milliseconds{random() % 5});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tenon::engine
