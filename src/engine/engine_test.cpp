#include "engine/engine.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/support/engine_testing.h"
#include "tests/support/sanitized.h"
#include "tests/support/slow_store.h"

namespace tenon::engine {
namespace {

using runtime::RunId;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr milliseconds patience{10'000};

constexpr const char* greeting = R"(
fn main(ctx: Context, name: String) -> String { greet(ctx, name) }
fn greet(ctx: Context, name: String) -> String { "Greet {{ name }}."! }
fn sum(a: i32, b: i32?) -> i32 { a + b.unwrap_or(1) }
)";

constexpr const char* question = R"(
fn main() -> String {
    let colour = ask<String>("Which colour?")
    "It is {{ colour }}."
}
)";

constexpr const char* echo = R"(
agent Echo {
    state { count: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.count += 1
        "{{ state.count }}: {{ input }}"
    }
}
)";

class EngineTests : public test::EngineTest {
 protected:
  std::unique_ptr<Engine> open(EngineOptions options) {
    options.events = EventUse::Collected;
    auto engine = Engine::open(std::move(options), system);
    EXPECT_TRUE(engine.has_value()) << describe(engine.error());
    return std::move(*engine);
  }
  /// With a model that gives one answer; it is `model` then.
  std::unique_ptr<Engine> open_fixed(const std::string& store = "") {
    EngineOptions options;
    auto fixed = std::make_unique<test::FixedModel>("Hello!");
    model = fixed.get();
    options.model = std::move(fixed);
    options.store_choice.path = store;
    return open(std::move(options));
  }
  /// Whose commits take long enough to continue meanwhile.
  std::unique_ptr<journal::StoreConnection> open_slow_store() {
    auto store = open_store({folder.file("runs.db")}, StoreUse::Change, system);
    EXPECT_TRUE(store.has_value()) << describe(store.error());
    return std::make_unique<tenon::test::SlowStore>(std::move(*store), milliseconds{50});
  }
  Program load(const Engine& engine, const char* text) {
    auto program = engine.load({folder.file("main.tn"), text});
    EXPECT_TRUE(program.has_value()) << describe(program.error());
    return std::move(*program);
  }
  /// The kinds of all events until no run can continue.
  static std::vector<std::string_view> drive(Engine& engine) {
    std::vector<std::string_view> kinds;
    while (const auto event = engine.next_event(patience))
      kinds.push_back(protocol::event_type(event->event.kind).name);
    EXPECT_FALSE(engine.can_continue());
    return kinds;
  }

  test::FixedModel* model = nullptr;
};

TEST_F(EngineTests, AModelOfTheCallersOwnAnswers) {
  const auto engine = open_fixed();
  const Program program = load(*engine, greeting);
  EXPECT_EQ(program.options.model, "own:fixed");
  const auto run = engine->start(program, "main", R"({"name": "Ada"})");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  EXPECT_FALSE(engine->result(*run).has_value());
  // A run without a store has the same events.
  EXPECT_THAT(drive(*engine), ElementsAre("prompt_started", "generation_started", "text_delta", "generation_finished",
                                          "text", "turn_end"));
  ASSERT_TRUE(engine->result(*run).has_value());
  EXPECT_EQ(engine->result(*run)->how, RunResult::How::Returned);
  EXPECT_EQ(engine->result(*run)->value, "\"Hello!\"");
  EXPECT_EQ(engine->name(*run), nullptr);
  ASSERT_THAT(model->prompts, SizeIs(1));
  EXPECT_THAT(model->prompts[0], HasSubstr("Greet Ada."));
}

TEST_F(EngineTests, ARecordedRunHasEventsInTheOrderOfItsRecords) {
  const auto engine = open_fixed(folder.file("runs.db"));
  const auto run = engine->start(load(*engine, greeting), "main", R"({"name": "Ada"})");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  ASSERT_NE(engine->name(*run), nullptr);
  std::vector<std::string> types;
  std::uint64_t newest = 0;
  while (const auto event = engine->next_event(patience)) {
    EXPECT_EQ(event->run, *run);
    EXPECT_THAT(event->event.json, HasSubstr(engine->name(*run)->text));
    types.emplace_back(protocol::event_type(event->event.kind).name);
    if (event->event.number == 0) continue;
    EXPECT_GT(event->event.number, newest);
    newest = event->event.number;
  }
  EXPECT_THAT(types, ElementsAre("prompt_started", "generation_started", "text_delta", "generation_finished", "text",
                                 "turn_end"));
}

TEST_F(EngineTests, TheArgumentsAreChecked) {
  const auto engine = open_fixed();
  const Program program = load(*engine, greeting);
  const auto unknown = engine->start(program, "mian", "{}");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().kind, EngineError::Kind::Usage);
  EXPECT_EQ(unknown.error().message, "cannot find function `mian` in the program; did you mean `main`?");
  const auto wrong = engine->start(program, "sum", R"({"a": "x", "c": 1})");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().kind, EngineError::Kind::WrongInput);
  EXPECT_THAT(wrong.error().message, HasSubstr("`sum` has no parameter `c`"));
  EXPECT_EQ(engine->start(program, "sum", "{").error().kind, EngineError::Kind::WrongInput);
  const auto run = engine->start(program, "sum", R"({"a": 2})");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  drive(*engine);
  EXPECT_EQ(engine->result(*run)->value, "3");
}

TEST_F(EngineTests, AQuestionIsAnswered) {
  const auto engine = open_fixed(folder.file("runs.db"));
  const auto run = engine->start(load(*engine, question), "main", "{}");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  EXPECT_THAT(drive(*engine), ElementsAre("prompt_started", "wait_for_input"));
  ASSERT_THAT(engine->questions(*run), SizeIs(1));
  EXPECT_EQ(engine->questions(*run)[0].text, "Which colour?");
  const auto unknown = engine->answer(*run, "nothing", "red");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().kind, EngineError::Kind::NotFound);
  ASSERT_TRUE(engine->answer(*run, "", "red").has_value());
  EXPECT_THAT(drive(*engine), ElementsAre("resume_with_input", "turn_end"));
  EXPECT_EQ(engine->result(*run)->value, "\"It is red.\"");
  EXPECT_EQ(engine->answer(*run, "", "red").error().kind, EngineError::Kind::NotFound);
}

TEST_F(EngineTests, AnotherEngineResumesARun) {
  journal::RunName name;
  {
    const auto engine = open_fixed(folder.file("runs.db"));
    const auto run = engine->start(load(*engine, question), "main", "{}");
    ASSERT_TRUE(run.has_value()) << describe(run.error());
    drive(*engine);
    name = *engine->name(*run);
    const auto second = Engine::open(
        {.model = std::make_unique<test::FixedModel>(""), .store_choice = {.path = folder.file("runs.db")}}, system);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().kind, EngineError::Kind::InUse);
  }
  const auto engine = open_fixed(folder.file("runs.db"));
  const auto run = engine->resume(name);
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  ASSERT_TRUE(engine->answer(*run, "", "blue").has_value());
  EXPECT_THAT(drive(*engine), ElementsAre("resume_with_input", "turn_end"));
  EXPECT_EQ(engine->result(*run)->value, "\"It is blue.\"");
  name.text.back() = name.text.back() == 'a' ? 'b' : 'a';
  EXPECT_EQ(engine->resume(name).error().kind, EngineError::Kind::NotFound);
}

TEST_F(EngineTests, AConversationAcceptsOnePromptPerTurn) {
  const auto engine = open_fixed(folder.file("runs.db"));
  const Program program = load(*engine, echo);
  EXPECT_EQ(engine->start_conversation(program, "Eco").error().kind, EngineError::Kind::Usage);
  const auto run = engine->start_conversation(program, "Echo");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  ASSERT_TRUE(engine->prompt(*run, "one").has_value());
  EXPECT_EQ(engine->prompt(*run, "two").error().kind, EngineError::Kind::Conflict);
  EXPECT_THAT(drive(*engine), testing::Contains("turn_end"));
  EXPECT_EQ(engine->turn_result(*run)->value, "\"1: one\"");
  ASSERT_TRUE(engine->prompt(*run, "two").has_value());
  drive(*engine);
  EXPECT_EQ(engine->turn_result(*run)->value, "\"2: two\"");
  engine->cancel(*run, "enough");
  drive(*engine);
  EXPECT_EQ(engine->result(*run)->how, RunResult::How::Cancelled);
  EXPECT_EQ(engine->result(*run)->message, "enough");
}

TEST_F(EngineTests, AConversationIsRecordedBeforeItsFirstPrompt) {
  const auto engine = open_fixed(folder.file("runs.db"));
  const Program program = load(*engine, echo);
  drive(*engine);
  const auto run = engine->start_conversation(program, "Echo");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  EXPECT_TRUE(engine->can_continue());
  drive(*engine);
  EXPECT_TRUE(engine->runtime().is_stored(*run));
}

TEST_F(EngineTests, AWakeDoesNotKeepRunsFromContinuing) {
  const auto engine = open_fixed(folder.file("runs.db"));
  const auto run = engine->start_conversation(load(*engine, echo), "Echo");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  engine->wake();
  EXPECT_FALSE(engine->next_event(patience).has_value());
  EXPECT_TRUE(engine->runtime().is_stored(*run));
}

TEST_F(EngineTests, ARunThatHasEndedIsReleased) {
  const auto engine = open_fixed(folder.file("runs.db"));
  const Program program = load(*engine, question);
  const auto run = engine->start(program, "main", "{}");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  drive(*engine);
  EXPECT_EQ(engine->release(*run).error().kind, EngineError::Kind::Conflict);
  ASSERT_TRUE(engine->answer(*run, "", "red").has_value());
  ASSERT_TRUE(engine->next_event(patience).has_value());
  while (!engine->result(*run)) static_cast<void>(engine->runtime().poll(milliseconds{1}));
  const journal::RunName name = *engine->name(*run);
  ASSERT_TRUE(engine->release(*run).has_value());
  EXPECT_FALSE(engine->result(*run).has_value());
  EXPECT_EQ(engine->release(*run).error().kind, EngineError::Kind::Conflict);
  // The next run has the id, and none of the events.
  const auto next = engine->start(program, "main", "{}");
  ASSERT_TRUE(next.has_value()) << describe(next.error());
  EXPECT_EQ(*next, *run);
  EXPECT_THAT(drive(*engine), ElementsAre("prompt_started", "wait_for_input"));
  const auto again = engine->resume(name);
  ASSERT_TRUE(again.has_value()) << describe(again.error());
  EXPECT_EQ(engine->result(*again)->value, "\"It is red.\"");
}

TEST_F(EngineTests, ARunThatWasLetGoOfLeavesItsPlaceToTheNext) {
  EngineOptions options;
  options.model = std::make_unique<test::FixedModel>("Hello!");
  options.runtime.answers_come_later = true;
  const auto engine = open(std::move(options));
  const Program program = load(*engine, question);
  for (const bool is_released : {true, false}) {
    const auto run = engine->start(program, "main", "{}");
    ASSERT_TRUE(run.has_value()) << describe(run.error());
    drive(*engine);
    ASSERT_EQ(engine->state(*run), RunState::Asks);
    // It is cancelled, and ends while the engine does not look.
    engine->let_go(*run);
    static_cast<void>(engine->runtime().poll(milliseconds{1}));
    if (is_released) {
      ASSERT_TRUE(engine->release(*run).has_value());
    } else {
      engine->let_go(*run);
    }
    const auto next = engine->start(program, "main", "{}");
    ASSERT_TRUE(next.has_value()) << describe(next.error());
    EXPECT_EQ(*next, *run);
    drive(*engine);
    EXPECT_EQ(engine->state(*next), RunState::Asks);
  }
}

TEST_F(EngineTests, TwoEnginesWorkInOneProcess) {
  const auto first = open_fixed(folder.file("first.db"));
  const auto second = open_fixed(folder.file("second.db"));
  const auto one = first->start(load(*first, greeting), "main", R"({"name": "one"})");
  const auto two = second->start(load(*second, greeting), "sum", R"({"a": 5, "b": 6})");
  ASSERT_TRUE(one.has_value() && two.has_value());
  bool is_first_done = false;
  bool is_second_done = false;
  while (!is_first_done || !is_second_done) {
    is_first_done = !first->next_event(milliseconds{0}) && !first->can_continue();
    is_second_done = !second->next_event(milliseconds{0}) && !second->can_continue();
  }
  EXPECT_EQ(first->result(*one)->value, "\"Hello!\"");
  EXPECT_EQ(second->result(*two)->value, "11");
}

constexpr const char* prices = R"(
struct Price { name: String, cents: i32 }
extern fn price(name: String) -> Price
extern fn rounded(cents: i32) -> i32
fn main() -> i32 {
    let both = parallel {
        left = price("tea")
        right = price("cake")
    }
    rounded(both.left.cents + both.right.cents)
}
)";

/// A function that leaves its calls to the test.
tools::ProvidedFunction deferring(std::vector<tenon_call*>& calls) {
  return [&calls](tenon_call* call) {
    EXPECT_TRUE(tools::defer(call));
    calls.push_back(call);
  };
}
/// A function that returns the value at once.
tools::ProvidedFunction returning(const char* json) {
  return [json](tenon_call* call) { tenon_put_json(call, tenon_result(call), json); };
}
void finish(tenon_call* call, const char* json) {
  tenon_put_json(call, tenon_result(call), json);
  tools::finish_deferred(call);
}
std::string_view argument_json(tenon_call* call) {
  const tenon_text text = tenon_as_json(call, tenon_argument(call, 0));
  return {text.data, text.length};
}

TEST_F(EngineTests, FunctionsOfTheCallersOwnEndOnAnyThread) {
  EngineOptions options;
  std::vector<tenon_call*> calls;
  options.model = std::make_unique<test::FixedModel>("");
  options.functions["price"] = deferring(calls);
  options.functions["rounded"] = [](tenon_call* call) {
    EXPECT_EQ(tenon_as_i32(call, tenon_argument(call, 0)), 333);
    tenon_put_i64(call, tenon_result(call), 330);
  };
  options.store_choice.path = folder.file("runs.db");
  const auto engine = open(std::move(options));
  const auto run = engine->start(load(*engine, prices), "main", "{}");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  while (calls.size() < 2) static_cast<void>(engine->next_event(milliseconds{1}));
  EXPECT_EQ(argument_json(calls[0]), "\"tea\"");
  EXPECT_THAT(tenon_effect_key(calls[0]), testing::StartsWith(engine->name(*run)->text + "/"));
  EXPECT_TRUE(engine->can_continue());
  std::thread other([&] {
    finish(calls[1], R"({"name": "cake", "cents": 300})");
    finish(calls[0], R"({"name": "tea", "cents": 33})");
  });
  drive(*engine);
  other.join();
  ASSERT_TRUE(engine->result(*run).has_value());
  EXPECT_EQ(engine->result(*run)->value, "330") << engine->result(*run)->message;
}

/// What is durable, and what is reported, in order.
class EndListener final : public runtime::Listener {
 public:
  void on_recorded(const runtime::RecordBatch& batch) override {
    for (const effects::Record& record : batch.records) {
      if (std::holds_alternative<effects::Ended>(record.body)) seen.emplace_back("durable");
    }
  }
  void on_run_ended(RunId, const runtime::EndedRun&) override { seen.emplace_back("reported"); }

  std::vector<std::string> seen;
};

/// A run of `prices` on a slow store: the outcome of its first call is being committed, and its second is in progress.
class DuringACommit : public EngineTests {
 protected:
  void begin(runtime::Listener* listener = nullptr) {
    EngineOptions options;
    options.model = std::make_unique<test::FixedModel>("");
    options.functions["price"] = deferring(calls);
    options.functions["rounded"] = returning("330");
    options.store = open_slow_store();
    options.listener = listener;
    // Without events, each of which would lead to another poll.
    auto opened = Engine::open(std::move(options), system);
    ASSERT_TRUE(opened.has_value()) << describe(opened.error());
    engine = std::move(*opened);
    const auto started = engine->start(load(*engine, prices), "main", "{}");
    ASSERT_TRUE(started.has_value()) << describe(started.error());
    run = *started;
    while (calls.size() < 2) static_cast<void>(engine->next_event(milliseconds{1}));
    finish(calls[0], R"({"name": "tea", "cents": 33})");
    // Takes the outcome, then begins its commit.
    for (int count = 0; count < 2; ++count) EXPECT_TRUE(engine->runtime().poll(milliseconds{1}));
  }

  std::vector<tenon_call*> calls;
  std::unique_ptr<Engine> engine;
  RunId run;
};

TEST_F(DuringACommit, AnEffectThatEndsIsCommittedToo) {
  begin();
  finish(calls[1], R"({"name": "cake", "cents": 300})");
  EXPECT_FALSE(engine->next_event(patience).has_value());
  EXPECT_FALSE(engine->can_continue());
  ASSERT_TRUE(engine->result(run).has_value());
  EXPECT_EQ(engine->result(run)->value, "330");
}

TEST_F(DuringACommit, ARunThatIsCancelledIsReportedOnceItsEndIsDurable) {
  EndListener listener;
  begin(&listener);
  std::this_thread::sleep_for(milliseconds{150});  // the commit has ended, and was not taken yet
  engine->cancel(run, "enough");
  while (engine->can_continue()) static_cast<void>(engine->next_event(milliseconds{1}));
  EXPECT_THAT(listener.seen, ElementsAre("durable", "reported"));
  tools::finish_deferred(calls[1]);
  engine.reset();
}

TEST_F(EngineTests, ACommitOnAnotherThreadIsWaitedFor) {
  EngineOptions options;
  options.model = std::make_unique<test::FixedModel>("");
  options.store = open_slow_store();
  options.runtime.commits_inline_when_alone = false;
  const auto engine = open(std::move(options));
  const auto run = engine->start(load(*engine, question), "main", "{}");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  EXPECT_FALSE(engine->next_event(milliseconds{0}).has_value());
  EXPECT_TRUE(engine->can_continue());
  EXPECT_THAT(drive(*engine), ElementsAre("prompt_started", "wait_for_input"));
}

/// Keeps the waits, and waits only if `really`.
class CountingClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::nanoseconds monotonic() override { return real_.monotonic(); }
  [[nodiscard]] std::chrono::system_clock::time_point wall() override { return real_.wall(); }
  void wait(milliseconds time) override { waits.push_back(time); }
  void wait(milliseconds time, const Waker& waker) override {
    waits.push_back(time);
    if (really) real_.wait(time, waker);
  }

  std::vector<milliseconds> waits;
  bool really = false;

 private:
  RealClock real_;
};

TEST_F(EngineTests, ATimerIsWaitedForAtOnceUntilTheEngineIsWoken) {
  CountingClock counting;
  EngineOptions options;
  options.model = std::make_unique<test::FixedModel>("");
  System timed{system.files, counting, system.variable, system.variables, system.random_unit};
  auto engine = Engine::open(std::move(options), timed);
  ASSERT_TRUE(engine.has_value()) << describe(engine.error());
  const Program program = load(**engine, "fn main() -> i32 { sleep(3600000)\n 1 }");
  ASSERT_TRUE((*engine)->start(program, "main", "{}").has_value());
  for (int step = 0; step < 3; ++step) static_cast<void>((*engine)->step(milliseconds{0}));
  ASSERT_THAT(counting.waits, IsEmpty());
  EXPECT_FALSE((*engine)->step(patience));
  EXPECT_THAT(counting.waits, ElementsAre(patience));
  // A wake before the wait ends it, too.
  counting.really = true;
  (*engine)->wake();
  EXPECT_TRUE((*engine)->step(std::chrono::hours{1}));
  std::thread waking([&] { (*engine)->wake(); });
  while (!(*engine)->step(std::chrono::hours{1})) {
  }
  waking.join();
}

TEST_F(EngineTests, AFunctionOfTheCallersOwnThatFailsIsBlamed) {
  for (const auto& [function, reason] : std::vector<std::pair<tools::ProvidedFunction, std::string>>{
           {[](tenon_call* call) { tenon_fail(call, "sold out"); }, "sold out"},
           {[](tenon_call*) { throw std::runtime_error("thrown"); }, "thrown"},
           {[](tenon_call*) {}, "nothing was stored"},
           {returning(R"({"name": "tea"})"), "cents"},
           {returning("tea"), "not JSON"}}) {
    EngineOptions options;
    options.model = std::make_unique<test::FixedModel>("");
    options.functions["price"] = function;
    options.functions["rounded"] = returning("0");
    const auto engine = open(std::move(options));
    const auto run = engine->start(load(*engine, prices), "main", "{}");
    ASSERT_TRUE(run.has_value()) << describe(run.error());
    drive(*engine);
    EXPECT_EQ(engine->result(*run)->how, RunResult::How::Failed);
    EXPECT_THAT(engine->result(*run)->message, HasSubstr(reason));
    EXPECT_EQ(engine->result(*run)->blame, "price");
    EXPECT_EQ(engine->result(*run)->kind, "ToolFailed");
  }
}

TEST_F(EngineTests, ACallThatIsNotFinishedEndsWithItsRun) {
  EngineOptions options;
  std::vector<tenon_call*> calls;
  options.model = std::make_unique<test::FixedModel>("");
  options.functions["price"] = deferring(calls);
  options.functions["rounded"] = returning("0");
  auto engine = open(std::move(options));
  const auto run = engine->start(load(*engine, prices), "main", "{}");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  while (calls.size() < 2) static_cast<void>(engine->next_event(milliseconds{1}));
  EXPECT_FALSE(tenon_is_cancelled(calls[0]));
  engine->cancel(*run, "enough");
  drive(*engine);
  EXPECT_TRUE(tenon_is_cancelled(calls[0]));
  EXPECT_EQ(engine->result(*run)->how, RunResult::How::Cancelled);
  tools::finish_deferred(calls[0]);  // without effect, as is the next one
  engine.reset();
  tools::finish_deferred(calls[1]);
}

/// A run is stopped in a call of its clean-up and then cancelled, as Ctrl-C does it: the clean-up continues.
TEST_F(EngineTests, AStoppedCallThatIsMadeOnceIsNotMadeAgain) {
  constexpr const char* pay_in_the_end = R"(
extern(once) fn pay() -> i32
fn main() -> i32 {
    { now() } finally { pay() }
    1
}
)";
  for (const bool is_stored : {true, false}) {
    EngineOptions options;
    std::vector<tenon_call*> calls;
    options.model = std::make_unique<test::FixedModel>("");
    options.functions["pay"] = deferring(calls);
    if (is_stored) options.store_choice.path = folder.file("runs.db");
    const auto engine = open(std::move(options));
    const auto run = engine->start(load(*engine, pay_in_the_end), "main", "{}");
    ASSERT_TRUE(run.has_value()) << describe(run.error());
    while (calls.empty()) static_cast<void>(engine->next_event(milliseconds{1}));
    const std::atomic<bool> stopped{true};
    engine->runtime().run(&stopped);
    engine->cancel(*run, "enough");
    drive(*engine);
    EXPECT_EQ(calls.size(), 1U);
    EXPECT_EQ(engine->runtime().questions(*run).size(), is_stored ? 1U : 0U);
    tools::finish_deferred(calls[0]);
    if (is_stored) continue;
    ASSERT_TRUE(engine->result(*run).has_value());
    EXPECT_EQ(engine->result(*run)->how, RunResult::How::Cancelled);
  }
}

/// What a host or an extern keeps is not a run's.
TEST_F(EngineTests, OnlyTheValuesOfRunsCountAsTheirMemory) {
  constexpr const char* hungry = R"(
extern fn keep() -> i32
fn work(n: i32) -> i32 {
    let kept = keep()
    let words: List<String> = []
    let sum = 0
    for i in 0..n {
        sum += i % 7
        words.push("word number {{ i }} of a list that grows")
    }
    kept + words.len() - n + sum - sum
}
fn main() -> i32 { work(20000) }
fn greedy() -> i32 { work(400000) }
)";
  constexpr std::uint64_t bytes_max = std::uint64_t{16} << 20U;
  std::vector<char> kept;
  EngineOptions options;
  options.model = std::make_unique<test::FixedModel>("");
  options.runtime.memory_bytes_max = bytes_max;
  options.runtime.slice_instructions = 1'000;
  options.functions["keep"] = [&](tenon_call* call) {
    kept.assign(4 * bytes_max, 'x');
    tenon_put_i64(call, tenon_result(call), 1);
  };
  const auto engine = open(std::move(options));
  const Program program = load(*engine, hungry);
  const auto modest = engine->start(program, "main", "{}");
  drive(*engine);
  ASSERT_TRUE(engine->result(*modest).has_value());
  EXPECT_EQ(engine->result(*modest)->value, "1") << engine->result(*modest)->message;
  if (tenon::test::is_sanitized) return;  // the sanitizer's heap does not say how large it is
  const auto greedy = engine->start(program, "greedy", "{}");
  drive(*engine);
  ASSERT_TRUE(engine->result(*greedy).has_value());
  EXPECT_EQ(engine->result(*greedy)->kind, "BudgetSpent");
  EXPECT_THAT(engine->result(*greedy)->message, HasSubstr("the values of the run take more than 16 MB"));
}

TEST_F(EngineTests, AValueThatIsTooLargeForATextIsNotGivenOut) {
  const auto engine = open_fixed();
  // 2^40 parts that are 80 in memory.
  const Program program = load(*engine, R"(
struct Tree { parts: List<Tree> }
fn main() -> Tree {
    let tree = Tree { parts: [] }
    for _ in 0..40 { tree = Tree { parts: [tree, tree] } }
    tree
}
)");
  const auto run = engine->start(program, "main", "{}");
  drive(*engine);
  EXPECT_FALSE(engine->copy_value(*run).has_value());
  ASSERT_TRUE(engine->result(*run).has_value());
  EXPECT_THAT(engine->result(*run)->message, HasSubstr("the text would be longer than 268435456 bytes"));
}

TEST_F(EngineTests, AFailureHasItsPlace) {
  const auto engine = open_fixed();
  const auto run = engine->start(load(*engine, "fn main(n: i32) -> i32 { 6 / n }\n"), "main", R"({"n": 0})");
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  drive(*engine);
  EXPECT_EQ(engine->result(*run)->how, RunResult::How::Failed);
  EXPECT_THAT(engine->result(*run)->message, HasSubstr("main.tn:1"));
}

TEST_F(EngineTests, WaitingForAnEventEndsInTimeAndWhenWoken) {
  const auto engine = open_fixed();
  const auto run = engine->start(load(*engine, greeting), "main", R"({"name": "Ada"})");
  ASSERT_TRUE(run.has_value());
  model->answers = false;
  while (engine->next_event(milliseconds{0})) {
  }
  EXPECT_TRUE(engine->can_continue());
  EXPECT_FALSE(engine->next_event(milliseconds{20}).has_value());
  const auto start = clock.monotonic();
  std::thread other([&] { engine->wake(); });
  EXPECT_FALSE(engine->next_event(patience).has_value());
  other.join();
  EXPECT_LT(clock.monotonic() - start, patience);
  model->answers = true;
  drive(*engine);
  EXPECT_EQ(engine->result(*run)->value, "\"Hello!\"");
}

TEST_F(EngineTests, AnInvalidModelNamesTheSetting) {
  EngineOptions options;
  options.model_choice.spec = "abacus";
  const auto engine = Engine::open(std::move(options), system);
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().kind, EngineError::Kind::Usage);
  EXPECT_EQ(engine.error().setting, "model");
  EXPECT_THAT(describe(engine.error()), HasSubstr("invalid value for `model`: expected builtin"));
}

TEST_F(EngineTests, AScriptIsOpenedByItsName) {
  EngineOptions options;
  options.model_choice.spec = "script:" + file("answers", "greet => \"Hi\"\n");
  const auto engine = open(std::move(options));
  const auto run = engine->start(load(*engine, greeting), "main", R"({"name": "Ada"})");
  ASSERT_TRUE(run.has_value());
  drive(*engine);
  EXPECT_EQ(engine->result(*run)->value, "\"Hi\"");
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(EngineTests, AnInvalidVariableOfTelemetryIsAnError) {
  variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = "no address";
  const auto engine = Engine::open({.model = std::make_unique<test::FixedModel>("")}, system);
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().kind, EngineError::Kind::Usage);
}

}  // namespace
}  // namespace tenon::engine
