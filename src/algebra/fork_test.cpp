#include "algebra/fork.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "runtime/runtime.h"
#include "tests/support/journal_testing.h"
#include "tests/support/no_model.h"
#include "tests/support/recorded_run.h"

namespace tenon::algebra {
namespace {

class ForkTest : public test::JournalTest {};

constexpr std::string_view program = R"tn(
fn number(ctx: Context) -> i32
    ensures result > 0
{
    "A number"!
}

fn main(ctx: Context) -> i32 { number(ctx) }
)tn";

/// The first answer is refused.
TEST_F(ForkTest, ARefusedAnswerNamesItsGenerationInTheForkToo) {
  const auto image = test::make_image(std::string(program));
  std::int64_t answers = -1;
  const auto run = test::record_run(
      store->journals(), image, "main", "[null]", [&](const runtime::OpenRequest& open) -> std::optional<vm::Outcome> {
        if (open.request.kind == vm::RequestKind::Extern) return vm::Outcome{vm::ReturnedValue{vm::Value::unit()}, {}};
        return vm::Outcome{vm::ReturnedValue{vm::Value::integer(std::exchange(answers, 5))}, {}};
      });
  ForkOptions options;
  options.from = run;
  options.at = 99;
  options.name = journal::make_run_name(1);
  const auto forked = prepare_fork(store->journals(), options, image);
  ASSERT_TRUE(forked.has_value()) << forked.error().message;
  ASSERT_TRUE(commit_fork(store->journals(), *forked).has_value());
  const auto records = store->journals().read(options.name, 0, 99);
  ASSERT_TRUE(records.has_value());
  std::string generation, refused;
  for (const journal::Record& raw : *records) {
    const auto record = effects::decode_record(raw.bytes);
    const auto* const requested = record ? std::get_if<effects::Requested>(&record->body) : nullptr;
    if (requested == nullptr) continue;
    if (requested->kind == effects::EffectKind::AnswerRefused) {
      refused = requested->call;
    } else if (generation.empty()) {
      generation = requested->key;
    }
  }
  EXPECT_NE(generation, "");
  EXPECT_EQ(refused, generation);
}

TEST_F(ForkTest, ATurnWhoseValueCannotBeRecordedFailsInTheForkToo) {
  const auto image = test::make_image(R"tn(
struct Node { next: Node? }

agent Nester {
    fn turn(ctx: Context, input: String) -> Node {
        let node = Node { next: None }
        let depth = 0
        while depth < 2000 {
            node = Node { next: Some(node) }
            depth = depth + 1
        }
        return node
    }
}
)tn");
  test::NoModel model;
  RealClock clock;
  runtime::Runtime runtime({.model = model, .clock = clock, .store = &store->journals()}, {});
  const journal::RunName name = journal::make_run_name(1);
  const auto run = runtime.start_conversation(image, 0, {}, name);
  ASSERT_TRUE(runtime.prompt(run, "Nest").has_value());
  runtime.run();
  ASSERT_TRUE(runtime.turn_outcome(run).has_value());
  EXPECT_TRUE(std::holds_alternative<runtime::RunFailed>(*runtime.turn_outcome(run)));
  ForkOptions options;
  options.from = name;
  options.at = 99;
  options.name = journal::make_run_name(2);
  const auto forked = prepare_fork(store->journals(), options, image);
  ASSERT_TRUE(forked.has_value()) << forked.error().message;
  ASSERT_TRUE(commit_fork(store->journals(), *forked).has_value());
  const auto records = store->journals().read(options.name, 0, 99);
  ASSERT_TRUE(records.has_value() && !records->empty());
  const auto last = effects::decode_record(records->back().bytes);
  ASSERT_TRUE(last.has_value());
  const auto* const ended = std::get_if<effects::TurnEnded>(&last->body);
  ASSERT_NE(ended, nullptr);
  EXPECT_EQ(ended->how, effects::Ended::How::Failed);
  EXPECT_TRUE(ended->failure.message.starts_with("the turn's value cannot be recorded")) << ended->failure.message;
}

}  // namespace
}  // namespace tenon::algebra
