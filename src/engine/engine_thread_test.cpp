#include "engine/engine_thread.h"

#include <poll.h>

#include <string>
#include <vector>

#include "tests/support/engine_testing.h"

namespace tenon::engine {
namespace {

using runtime::RunId;
using std::chrono::milliseconds;

constexpr milliseconds event_patience{10'000};

class EngineThreadTest : public test::EngineTest {
 protected:
  std::unique_ptr<EngineThread> open() {
    EngineOptions options;
    options.model = std::make_unique<test::FixedModel>("Hello!");
    options.store_choice.path = folder.file("runs.db");
    options.events = EventUse::Collected;
    auto engine = Engine::open(std::move(options), system);
    EXPECT_TRUE(engine.has_value()) << describe(engine.error());
    return std::make_unique<EngineThread>(std::move(*engine));
  }
  /// Starts `main` of a program on the engine's thread.
  Result<RunId, EngineError> start(EngineThread& thread, const std::string& text) {
    return thread.call([&](Engine& engine) -> Result<RunId, EngineError> {
      auto program = engine.load({folder.file("main.tn"), text});
      if (!program) return failure(std::move(program.error()));
      return engine.start(*program, "main", "{}");
    });
  }
  static bool is_readable(const EngineThread& thread, milliseconds wait) {
    pollfd waited{thread.descriptor(), POLLIN, 0};
    return ::poll(&waited, 1, static_cast<int>(wait.count())) == 1;
  }
  /// The kinds of the events up to the first one of `last`.
  static std::vector<protocol::EventKind> read_until(EngineThread& thread, protocol::EventKind last) {
    std::vector<protocol::EventKind> kinds;
    while (const auto event = thread.next_event(event_patience)) {
      kinds.push_back(event->event.kind);
      if (event->event.kind == last) break;
    }
    return kinds;
  }
};

constexpr const char* colour_question = R"(
fn main() -> String {
    let colour = ask<String>("Which colour?")
    "It is {{ colour }}."
}
)";

TEST_F(EngineThreadTest, RunsContinueWithoutTheirCallers) {
  const auto thread = open();
  EXPECT_FALSE(is_readable(*thread, milliseconds{0}));
  EXPECT_FALSE(thread->next_event(milliseconds{1}).has_value());
  const auto run = start(*thread, colour_question);
  ASSERT_TRUE(run.has_value()) << describe(run.error());
  EXPECT_TRUE(is_readable(*thread, event_patience));
  EXPECT_THAT(read_until(*thread, protocol::EventKind::WaitForInput),
              testing::ElementsAre(protocol::EventKind::PromptStarted, protocol::EventKind::WaitForInput));
  EXPECT_FALSE(is_readable(*thread, milliseconds{0}));
  std::thread other([&] {
    const auto taken = thread->call([&](Engine& engine) { return engine.answer(*run, "", "red"); });
    EXPECT_TRUE(taken.has_value());
  });
  EXPECT_THAT(read_until(*thread, protocol::EventKind::TurnEnd), testing::SizeIs(2));
  other.join();
  const auto result = thread->call([&](Engine& engine) { return engine.result(*run); });
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->value, "\"It is red.\"");
}

TEST_F(EngineThreadTest, EventsAreKeptWhenTheThreadHasEnded) {
  const auto thread = open();
  ASSERT_TRUE(start(*thread, "fn main() -> i32 { 2 }\n").has_value());
  EXPECT_TRUE(is_readable(*thread, event_patience));
  thread->stop(milliseconds{100});
  const auto first = thread->next_event(milliseconds{0});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->event.kind, protocol::EventKind::PromptStarted);
}

TEST_F(EngineThreadTest, ErrorsAreReturnedToTheCaller) {
  const auto thread = open();
  const auto run = start(*thread, "fn main() -> i32 { x }\n");
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().kind, EngineError::Kind::Program);
}

}  // namespace
}  // namespace tenon::engine
