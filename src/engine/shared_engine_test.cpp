#include "engine/shared_engine.h"

#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/engine_testing.h"
#include "tests/support/patience.h"
#include "tools/provided_functions.h"

namespace tenon::engine {
namespace {

using runtime::RunId;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr milliseconds wait_max{10'000};

constexpr const char* program_text = R"(
extern fn price(name: String) -> i32
fn quick(n: i32) -> i32 { n * 2 }
fn long(n: i32) -> i32 {
    let count = 0
    while count < n { count += 1 }
    count
}
fn dear(name: String) -> i32 { price(name) + 1 }
fn greet(ctx: Context) -> String { "Hello?"! }
fn colour() -> String {
    let colour = ask<String>("Which colour?")
    "It is {{ colour }}."
}
)";

class SharedEngineTest : public test::EngineTest {
 protected:
  void open(const std::string& store = "") {
    EngineOptions options;
    auto fixed = std::make_unique<test::FixedModel>("Hello!");
    model = fixed.get();
    options.model = std::move(fixed);
    options.store_choice.path = store;
    options.events = EventUse::Collected;
    options.runtime.answers_come_later = true;
    options.functions["price"] = [this](tenon_call* call) {
      if (price) return price(call);
      tools::defer(call);
      const std::scoped_lock lock(mutex);
      calls.push_back(call);
    };
    auto opened = Engine::open(std::move(options), system);
    ASSERT_TRUE(opened.has_value()) << describe(opened.error());
    engine = std::make_unique<SharedEngine>(std::move(*opened));
    engine->call([&](Engine& used) {
      auto loaded = used.load({folder.file("main.tn"), program_text});
      ASSERT_TRUE(loaded.has_value()) << describe(loaded.error());
      program = std::move(*loaded);
    });
  }
  void TearDown() override {
    for (tenon_call* const call : calls) tools::finish_deferred(call);
  }
  RunId start(const char* function, const std::string& arguments = "{}") {
    return engine->call([&](Engine& used) {
      const auto run = used.start(*program, function, arguments);
      EXPECT_TRUE(run.has_value()) << describe(run.error());
      return *run;
    });
  }
  bool has_ended(RunId run, milliseconds timeout = wait_max) {
    return engine->wait([run](Engine& used) { return used.result(run).has_value(); }, timeout);
  }
  /// Begins a run if the engine is idle. Whether it has ended then; nothing: the engine is not idle.
  std::optional<bool> begin_briefly(const char* function, const std::string& arguments = "{}") {
    std::optional<bool> has_ended_here;
    const bool was_idle = engine->call_if_idle([&](Engine& used) {
      brief = *used.start(*program, function, arguments);
      used.step_briefly();
      has_ended_here = used.result(brief).has_value();
    });
    EXPECT_EQ(was_idle, has_ended_here.has_value());
    return has_ended_here;
  }
  std::string value(RunId run) {
    return engine->call([run](Engine& used) { return used.result(run) ? used.result(run)->value : "no end"; });
  }
  /// What the engine replies to a command that another process leaves in its store.
  runtime::HostReply reply_to(const journal::RunName& run, const runtime::RunAction& action) {
    const auto other = open_store({.path = folder.file("runs.db")}, StoreUse::Read, system);
    EXPECT_TRUE(other.has_value()) << describe(other.error());
    const auto id = (*other)->inbox().send({.run = run, .bytes = encode(runtime::InboxCommand{action})});
    EXPECT_TRUE(id.has_value());
    std::optional<std::string> bytes;
    const auto end = std::chrono::steady_clock::now() + tenon::test::patience;
    while (!bytes && std::chrono::steady_clock::now() < end) bytes = (*other)->inbox().take_reply(*id).value();
    EXPECT_TRUE(bytes.has_value());
    return runtime::decode_reply(bytes.value_or(""));
  }
  /// Starts a run that asks.
  RunId start_asking() {
    const RunId run = start("colour");
    const auto asks = [run](Engine& used) { return used.state(run) == RunState::Asks; };
    EXPECT_TRUE(engine->wait(asks, tenon::test::patience));
    return run;
  }
  journal::RunName name_of(RunId run) {
    return engine->call([run](Engine& used) { return *used.name(run); });
  }
  /// Finishes the calls of `price` as they come, until `count` have.
  std::thread finish_calls(std::size_t count) {
    return std::thread([this, count] {
      for (std::size_t finished = 0; finished < count;) {
        std::vector<tenon_call*> taken;
        {
          const std::scoped_lock lock(mutex);
          taken.swap(calls);
        }
        for (tenon_call* const call : taken) {
          tenon_put_i64(call, tenon_result(call), 41);
          tools::finish_deferred(call);
        }
        finished += taken.size();
        std::this_thread::yield();
      }
    });
  }
  static bool is_readable(int descriptor, milliseconds wait) {
    pollfd waited{descriptor, POLLIN, 0};
    return ::poll(&waited, 1, static_cast<int>(wait.count())) == 1;
  }
  /// The kinds of the events up to the first one of `last`.
  std::vector<protocol::EventKind> read_until(protocol::EventKind last) {
    std::vector<protocol::EventKind> kinds;
    while (const auto event = engine->next_event(wait_max)) {
      kinds.push_back(event->event.kind);
      if (event->event.kind == last) break;
    }
    return kinds;
  }

  test::FixedModel* model = nullptr;
  std::function<void(tenon_call*)> price;
  std::mutex mutex;
  std::vector<tenon_call*> calls;
  std::optional<Program> program;
  std::unique_ptr<SharedEngine> engine;
  RunId brief;  ///< of begin_briefly
};

TEST_F(SharedEngineTest, ACallerContinuesItsRunOnItsOwnThread) {
  open();
  std::thread::id caller;
  price = [&](tenon_call* call) {
    caller = std::this_thread::get_id();
    EXPECT_TRUE(engine->is_used_here());
    tenon_put_i64(call, tenon_result(call), 5);
  };
  const RunId run = start("dear", R"({"name": "tea"})");
  EXPECT_TRUE(has_ended(run));
  EXPECT_EQ(caller, std::this_thread::get_id());
  EXPECT_EQ(value(run), "6");
  EXPECT_FALSE(engine->is_used_here());
}

TEST_F(SharedEngineTest, ManyThreadsWaitForTheirRuns) {
  open();
  for (const bool has_thread : {false, true}) {
    if (has_thread) engine->start_thread();
    constexpr std::size_t threads = 8, rounds = 100;
    std::atomic<std::size_t> right = 0;
    std::thread finisher = finish_calls(threads * rounds);
    std::vector<std::thread> callers;
    for (std::size_t at = 0; at < threads; ++at) {
      callers.emplace_back([&] {
        for (std::size_t round = 0; round < rounds; ++round) {
          const RunId run = start("dear", R"({"name": "tea"})");
          if (has_ended(run) && value(run) == "42") ++right;
          engine->call([run](Engine& used) { EXPECT_TRUE(used.release(run).has_value()); });
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    finisher.join();
    EXPECT_EQ(right, threads * rounds);
  }
}

TEST_F(SharedEngineTest, AWaitEndsInTime) {
  open();
  const RunId run = start("dear", R"({"name": "tea"})");
  EXPECT_FALSE(has_ended(run, milliseconds{10}));
  EXPECT_FALSE(has_ended(run, milliseconds{0}));
  std::thread finisher = finish_calls(1);
  EXPECT_TRUE(has_ended(run, milliseconds::max()));
  finisher.join();
}

/// While another thread waits for what does not happen, so that its steps are long.
TEST_F(SharedEngineTest, AWaitIsAskedAtOnceWhileAnotherThreadWaits) {
  for (const bool has_thread : {false, true}) {
    open();
    const RunId quick = start("quick", R"({"n": 2})");
    EXPECT_TRUE(has_ended(quick));
    const RunId slow = start("dear", R"({"name": "tea"})");
    std::thread waiter;
    if (has_thread) {
      engine->start_thread();
    } else {
      waiter = std::thread([&] { EXPECT_TRUE(has_ended(slow)); });
    }
    while (engine->next_event(milliseconds{0})) {
    }
    const auto started_at = std::chrono::steady_clock::now();
    for (int round = 0; round < 20; ++round) {
      EXPECT_TRUE(has_ended(quick, milliseconds{0})) << "round " << round;
      std::optional<RunId> begun;  // is met by what it starts
      EXPECT_TRUE(engine->wait(
          [&](Engine& used) {
            if (!begun) begun = *used.start(*program, "quick", R"({"n": 3})");
            return used.result(*begun).has_value();
          },
          wait_max));
      EXPECT_TRUE(engine->next_event(milliseconds{0}, begun).has_value());
    }
    EXPECT_LT(std::chrono::steady_clock::now() - started_at, milliseconds{900}) << "it has waited for long steps";
    std::thread finisher = finish_calls(1);
    finisher.join();
    if (waiter.joinable()) waiter.join();
    EXPECT_TRUE(has_ended(slow));
  }
}

/// The one that continues the runs, those beside it, and one of an engine that has nothing to do.
TEST_F(SharedEngineTest, WaitsAreInterrupted) {
  for (const bool is_idle : {false, true}) {
    open();
    const RunId run = is_idle ? start("colour") : start("dear", R"({"name": "tea"})");
    constexpr std::size_t threads = 3;
    std::atomic<std::size_t> ended = 0;
    std::vector<std::thread> callers;
    for (std::size_t at = 0; at < threads; ++at) {
      callers.emplace_back([&] {
        EXPECT_FALSE(has_ended(run, milliseconds::max()));
        ++ended;
      });
    }
    while (ended < threads) engine->interrupt();  // again, since a wait may begin after it
    for (std::thread& caller : callers) caller.join();
    EXPECT_FALSE(has_ended(run, milliseconds{1}));
    if (is_idle) continue;
    std::thread finisher = finish_calls(1);
    EXPECT_TRUE(has_ended(run)) << "an earlier interruption does not end a wait";
    finisher.join();
  }
}

TEST_F(SharedEngineTest, AnIdleEngineCanBeGivenUpOrWaitedFor) {
  open();
  const RunId run = start("colour");
  const auto has_result = [run](Engine& used) { return used.result(run).has_value(); };
  EXPECT_FALSE(engine->wait(has_result, wait_max, SharedEngine::IdleEngine::GiveUp));
  std::thread answerer([&] {
    std::this_thread::sleep_for(milliseconds{20});
    EXPECT_TRUE(engine->call([run](Engine& used) { return used.answer(run, "", "red").has_value(); }));
  });
  EXPECT_TRUE(engine->wait(has_result, wait_max));
  answerer.join();
  EXPECT_EQ(value(run), "\"It is red.\"");
}

TEST_F(SharedEngineTest, TheThreadOfAnEngineContinuesItsRuns) {
  open(folder.file("runs.db"));
  const int descriptor = engine->descriptor();
  EXPECT_FALSE(is_readable(descriptor, milliseconds{0}));
  EXPECT_FALSE(engine->next_event(milliseconds{1}).has_value());
  const RunId run = start("colour");
  EXPECT_TRUE(is_readable(descriptor, wait_max));
  EXPECT_THAT(read_until(protocol::EventKind::WaitForInput),
              testing::ElementsAre(protocol::EventKind::PromptStarted, protocol::EventKind::WaitForInput));
  EXPECT_FALSE(is_readable(descriptor, milliseconds{0}));
  EXPECT_TRUE(engine->call([run](Engine& used) { return used.answer(run, "", "red").has_value(); }));
  EXPECT_TRUE(is_readable(descriptor, wait_max));
  EXPECT_THAT(read_until(protocol::EventKind::TurnEnd), testing::SizeIs(2));
  EXPECT_EQ(value(run), "\"It is red.\"");
}

TEST_F(SharedEngineTest, AShortRunEndsOnTheThreadThatBeginsIt) {
  open();
  static_cast<void>(engine->descriptor());
  EXPECT_TRUE(has_ended(start("quick", R"({"n": 1})")));
  const auto becomes_idle = [this](const char* function, const std::string& arguments) {
    std::optional<bool> begun;
    const auto end = std::chrono::steady_clock::now() + tenon::test::patience;
    while (!begun && std::chrono::steady_clock::now() < end) begun = begin_briefly(function, arguments);
    return begun;
  };
  EXPECT_EQ(becomes_idle("quick", R"({"n": 2})"), true);
  EXPECT_EQ(begin_briefly("quick", R"({"n": 3})"), true) << "nothing has to be continued";
  EXPECT_EQ(value(brief), "6");

  // The engine's own thread continues what takes longer, or waits.
  EXPECT_EQ(becomes_idle("long", R"({"n": 300000})"), false);
  const RunId slow = brief;
  EXPECT_TRUE(has_ended(slow));
  EXPECT_EQ(value(slow), "300000");
  EXPECT_EQ(becomes_idle("dear", R"({"name": "tea"})"), false);
  EXPECT_EQ(begin_briefly("quick", R"({"n": 4})"), std::nullopt) << "a call is in progress";
  const RunId dear = brief;
  finish_calls(1).join();
  EXPECT_TRUE(has_ended(dear));
  EXPECT_EQ(value(dear), "42");
}

TEST_F(SharedEngineTest, AThreadThatBeginsARunCallsNoExtern) {
  open();
  std::size_t count = 0;
  price = [&](tenon_call* call) {
    ++count;
    tenon_put_i64(call, tenon_result(call), 5);
  };
  // It is quick, so that a thread which waits for a run may call it at once.
  for (int round = 0; round < 2; ++round) {
    const RunId run = start("dear", R"({"name": "tea"})");
    EXPECT_TRUE(has_ended(run));
    engine->call([run](Engine& used) { EXPECT_TRUE(used.release(run).has_value()); });
  }
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(begin_briefly("dear", R"({"name": "tea"})"), false);
  EXPECT_EQ(count, 2U);
  EXPECT_TRUE(has_ended(brief));
  EXPECT_EQ(count, 3U);
}

TEST_F(SharedEngineTest, AThreadThatWaitsBeginsTheRuns) {
  open();
  const RunId run = start("colour");
  EXPECT_FALSE(has_ended(run, milliseconds{10}));
  EXPECT_EQ(begin_briefly("quick", R"({"n": 2})"), true);
  std::thread waiter([&] { EXPECT_TRUE(has_ended(run)); });
  const auto end = std::chrono::steady_clock::now() + tenon::test::patience;
  while (begin_briefly("quick", R"({"n": 2})") && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(begin_briefly("quick", R"({"n": 2})"), std::nullopt);
  EXPECT_TRUE(engine->call([run](Engine& used) { return used.answer(run, "", "red").has_value(); }));
  waiter.join();
}

TEST_F(SharedEngineTest, ACommandOfAnotherProcessIsTakenWhileNoOneWaits) {
  open(folder.file("runs.db"));
  const RunId run = start_asking();
  const journal::RunName name = name_of(run);
  using runtime::Input;
  const auto refused = reply_to(name, runtime::PromptAgent{Json("hello")});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("a run of a function has one turn"));
  EXPECT_TRUE(reply_to(name, runtime::AnswerQuestion{"", {Input::Form::Typed, Json("red")}}).has_value());
  EXPECT_TRUE(has_ended(run));
  EXPECT_EQ(value(run), "\"It is red.\"");
  const auto late = reply_to(name, runtime::CancelRun{});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().message, "the run has ended");
}

TEST_F(SharedEngineTest, ACommandForARunThatHasEndedIsRefused) {
  const std::string path = folder.file("runs.db");
  open(path);
  const RunId run = start("greet");
  EXPECT_TRUE(has_ended(run));
  const journal::RunName name = name_of(run);
  engine.reset();
  open(path);
  const auto refused = reply_to(name, runtime::CancelRun{});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "the run has ended (done)");
}

TEST_F(SharedEngineTest, EventsOfARunAreTakenApart) {
  open();
  const RunId first = start("greet"), second = start("greet");
  std::vector<RunId> runs;
  while (const auto event = engine->next_event(milliseconds{50}, second)) runs.push_back(event->run);
  EXPECT_THAT(runs, testing::AllOf(testing::Each(second), testing::SizeIs(6)));
  runs.clear();
  while (const auto event = engine->next_event(milliseconds{50})) runs.push_back(event->run);
  EXPECT_THAT(runs, testing::AllOf(testing::Each(first), testing::SizeIs(6)));
}

TEST_F(SharedEngineTest, EventsAreKeptWhenTheEngineIsStopped) {
  open();
  engine->start_thread();
  const RunId run = start("quick", R"({"n": 2})");
  EXPECT_TRUE(has_ended(run));
  engine->stop(milliseconds{100});
  EXPECT_TRUE(engine->next_event(milliseconds{0}).has_value());
  while (engine->next_event(wait_max)) {
  }
  EXPECT_EQ(value(run), "4");
}

TEST_F(SharedEngineTest, ABugGivesTheEngineUp) {
  for (const bool has_thread : {false, true}) {
    open();
    if (has_thread) engine->start_thread();
    price = [](tenon_call*) { throw BrokenCondition("internal error"); };
    const RunId run = start("dear", R"({"name": "tea"})");
    EXPECT_THROW(static_cast<void>(has_ended(run)), BrokenCondition);
    EXPECT_THROW(static_cast<void>(value(run)), BrokenCondition);
    EXPECT_THROW(static_cast<void>(engine->next_event(milliseconds{0})), BrokenCondition);
    engine->stop(milliseconds{0});
  }
}

TEST_F(SharedEngineTest, ABugEndsTheWaitsOfOtherThreads) {
  open();
  const RunId run = start("dear", R"({"name": "tea"})");
  std::atomic<int> thrown = 0;
  std::vector<std::thread> waiting;
  for (int at = 0; at < 3; ++at) {
    waiting.emplace_back([&] {
      try {
        static_cast<void>(has_ended(run));
      } catch (const BrokenCondition&) {
        ++thrown;
      }
    });
  }
  std::this_thread::sleep_for(milliseconds{20});
  EXPECT_THROW(engine->call([](Engine&) { throw BrokenCondition("internal error"); }), BrokenCondition);
  for (std::thread& waiter : waiting) waiter.join();
  EXPECT_EQ(thrown, 3);
}

TEST_F(SharedEngineTest, AWaitWithoutTimeTakesATurn) {
  open();
  price = [](tenon_call* call) { tenon_put_i64(call, tenon_result(call), 7); };
  constexpr int turns_max = 20;
  const RunId waited = start("dear", R"({"name": "tea"})");
  int turns = 0;
  while (!has_ended(waited, milliseconds{0}) && turns < turns_max) ++turns;
  EXPECT_EQ(value(waited), "8");
  const RunId other = start("dear", R"({"name": "tea"})");
  for (int i = 0; i < turns_max; ++i) engine->take_turn();
  EXPECT_EQ(value(other), "8");
  // One slice at most.
  const RunId long_one = start("long", R"({"n": 2000000000})");
  engine->take_turn();
  EXPECT_FALSE(has_ended(long_one, milliseconds{0}));
}

TEST_F(SharedEngineTest, AnEngineWithAThreadNeedsNoTurns) {
  open();
  std::atomic<bool> was_here = false;
  const auto here = std::this_thread::get_id();
  price = [&](tenon_call* call) {
    if (std::this_thread::get_id() == here) was_here = true;
    tenon_put_i64(call, tenon_result(call), 7);
  };
  engine->start_thread();
  for (int i = 0; i < 50; ++i) {
    const RunId run = start("dear", R"({"name": "tea"})");
    engine->take_turn();
    static_cast<void>(has_ended(run, milliseconds{0}));
    const auto end = std::chrono::steady_clock::now() + tenon::test::patience;
    while (value(run) == "no end" && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_EQ(value(run), "8");
  }
  EXPECT_FALSE(was_here);
}

TEST_F(SharedEngineTest, AnExceptionWithinAStepGivesTheEngineUp) {
  open();
  engine->start_thread();
  const RunId run = start("dear", R"({"name": "tea"})");
  engine->post([](Engine&) { throw std::bad_alloc(); });
  try {
    static_cast<void>(has_ended(run, tenon::test::patience));
    FAIL() << "it does not throw";
  } catch (const BrokenCondition& broken) {
    EXPECT_THAT(broken.what(), HasSubstr("out of memory"));
  }
  EXPECT_FALSE(engine->is_used_here());
  std::thread([&] { EXPECT_THROW(engine->call([](Engine&) {}), BrokenCondition); }).join();
  EXPECT_NO_THROW(engine->stop(milliseconds{0}));
}

TEST_F(SharedEngineTest, AnExceptionOfAQuestionIsThatOfItsWait) {
  open();
  const RunId run = start("dear", R"({"name": "tea"})");
  std::atomic<bool> has_thrown = false;
  std::thread other([&] { EXPECT_FALSE(has_ended(run, milliseconds{200})); });
  for (int i = 0; i < 20; ++i) {
    try {
      static_cast<void>(engine->wait([](Engine&) -> bool { throw std::runtime_error("no"); }, wait_max));
    } catch (const std::runtime_error&) {
      has_thrown = true;
    }
  }
  other.join();
  EXPECT_TRUE(has_thrown);
  EXPECT_FALSE(engine->is_used_here());
  EXPECT_TRUE(has_ended(start("quick", R"({"n": 2})")));
}

TEST_F(SharedEngineTest, AValueLeavesTheEngine) {
  open();
  const RunId run = start("greet");
  EXPECT_FALSE(engine->call([run](Engine& used) { return used.take_value(run).has_value(); }));
  EXPECT_TRUE(has_ended(run));
  const auto taken = engine->call([run](Engine& used) { return used.take_value(run); });
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->as_text(), "Hello!");
}

TEST_F(SharedEngineTest, ARunThatWasLetGoLeavesTheEngineWhenItWaits) {
  for (const std::string& store : {std::string(), folder.file("runs.db")}) {
    open(store);
    const RunId run = start("colour");
    engine->call([run](Engine& used) { used.let_go(run); });
    EXPECT_FALSE(engine->wait([](Engine&) { return false; }, wait_max, SharedEngine::IdleEngine::GiveUp));
    EXPECT_EQ(start("quick", R"({"n": 2})"), run);  // its place is free
  }
}

TEST_F(SharedEngineTest, ARunIsReleasedAtItsEnd) {
  open();
  const RunId run = start("quick", R"({"n": 2})");
  engine->call([run](Engine& used) { used.let_go(run); });
  EXPECT_FALSE(engine->wait([](Engine&) { return false; }, wait_max, SharedEngine::IdleEngine::GiveUp));
  EXPECT_EQ(start("quick", R"({"n": 2})"), run);  // its place is free
}

}  // namespace
}  // namespace tenon::engine
