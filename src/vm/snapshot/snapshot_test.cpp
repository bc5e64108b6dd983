#include "vm/snapshot/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/wire.h"
#include "tests/support/assembler.h"
#include "tests/support/machine_run.h"
#include "tests/support/sample_program.h"
#include "tests/support/sanitized.h"
#include "vm/values/context.h"

namespace tenon::vm {
namespace {

using test::load;
using test::sample_program;

Outcome answer_request(Machine&, const Request& request) {
  const Usage usage{.model_calls = 1, .tokens = 3, .cost_millionths = 5, .milliseconds = 7};
  switch (request.kind) {
    case RequestKind::Extern:
      return {ReturnedValue{Value::string("fetched text")}, usage};
    case RequestKind::Complete:
      return {ReturnedValue{Value::string("answer to " + request.key)}, usage};
    case RequestKind::Fill:
      return {FilledArguments{{Value::integer(2)}}, usage};
    case RequestKind::Select:
      return {SelectedClause{0, {Value::integer(9)}}, usage};
  }
  return {EffectFailure{}, {}};
}

std::vector<Argument> arguments() {
  return {{Value::empty_context(), {}}, {Value::string("the input"), Source{SourceKind::Argument, "s"}}};
}

/// Snapshots of the sample program, one after each instruction.
std::vector<std::string> snapshots(const std::shared_ptr<const LoadedProgram>& program) {
  Machine machine(program, 0, arguments());
  std::vector<std::string> bytes{encode(machine)};
  for (;;) {
    const Step step = machine.run(1);
    bytes.push_back(encode(machine));
    if (std::holds_alternative<Finished>(step)) return bytes;
    if (!std::holds_alternative<Paused>(step) && !std::holds_alternative<Waiting>(step)) {
      ADD_FAILURE() << "the sample program fails";
      return bytes;
    }
    if (!std::holds_alternative<Waiting>(step)) continue;
    const Request request = machine.pending_requests().at(0);
    EXPECT_TRUE(machine.resume(request.id, answer_request(machine, request)).has_value());
  }
}

TEST(Snapshot, StatesThatAreKeptAreReadBesideWhatACancelledRunWaitsFor) {
  const auto program = load(sample_program());
  Machine machine(program, 0, arguments());
  machine.set_kept_states({Value::failure(types::FailureKind::Raised, "any record", "", "")}, {});
  machine.state().allowance.instructions = 5;
  auto decoded = decode(program, encode(machine));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->kept_states().size(), 1U);
  EXPECT_EQ(decoded->state().allowance.instructions, 5U);

  while (!std::holds_alternative<Finished>(machine.run())) {
    const Request request = machine.pending_requests().at(0);
    ASSERT_TRUE(machine.resume(request.id, answer_request(machine, request)).has_value());
  }
  auto ended = decode(program, encode(machine));
  ASSERT_TRUE(ended.has_value()) << ended.error().message;
  EXPECT_EQ(ended->kept_states().size(), 1U);
}

TEST(Snapshot, WhatHasDecidedWhichEntriesThereAreIsRead) {
  const auto program = load(sample_program());
  Machine machine(program, 0, arguments());
  LabelTable& labels = machine.labels();
  const LabelId label = labels.intern({SourceKind::Extern, "word"});
  Value context = Value::empty_context();
  ASSERT_TRUE(push_entry(context, Value::string("one"), labels));
  ASSERT_TRUE(push_entry(context, Value::string("two"), labels, 0, label));
  ASSERT_TRUE(push_entry(context, Value::string("three"), labels));
  machine.set_agent_state(context);
  machine.state().questions = label;
  auto decoded = decode(program, encode(machine));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->questions(), label);
  const Value& read = decoded->agent_state();
  EXPECT_EQ(context_count_label(read, decoded->labels()), label);
  EXPECT_EQ(node_of(read).parent->count_label, label);
  EXPECT_EQ(node_of(read).parent->parent->count_label, LabelTable::program_text);
}

/// They are on disks.
TEST(Snapshot, TheNumbersOfBoundsStay) {
  wire::Writer fields;
  for (std::uint32_t number = 4; number <= 9; ++number) fields.present_field(number, number);
  EXPECT_THAT(encode(Machine(load(sample_program()), 0, arguments(), {4, 5, 6, 7, 8, 9})),
              testing::HasSubstr(fields.view()));
}

TEST(Snapshot, TheSampleProgramRunsTheSameWithASnapshotAfterEachInstruction) {
  const test::RunRecord record = test::run(load(sample_program()), arguments(), answer_request);
  EXPECT_THAT(record.end, testing::StartsWith("value [[\"answer to "));
  EXPECT_GT(record.instructions, 80U);
}

TEST(Snapshot, AnEndedRunKeepsItsEnd) {
  for (const char* text :
       {"fn main registers=1\n LoadConstant 0 \"done\"\n Return 0\n",
        "fn main registers=1\n LoadConstant 0 \"no\"\n Fail 0\n", "fn main registers=1\n EndBranch 0\n"}) {
    const auto program = load(test::assemble(text));
    Machine machine(program, 0, {});
    const Step end = machine.run();
    auto again = decode(program, encode(machine));
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->run().index(), end.index());
    EXPECT_EQ(encode(*again), encode(machine));
  }
}

TEST(Snapshot, SharingIsKeptAndTheSizeIsLinear) {
  const auto program = load(test::assemble(R"(
fn main registers=6 params=Context context=0
  LoadInteger 1 0
  LoadInteger 2 2000
  LoadConstant 4 "a line"
  MakeList 5 4 0
@next
  ForRange 1 @end
  Inject 0 4
  Push 5 0
  Jump @next
@end
  Return 5
)"));
  Machine machine(program, 0, {{Value::empty_context(), {}}});
  ASSERT_TRUE(std::holds_alternative<Paused>(machine.run(4 + 2000 * 4)));
  const std::string bytes = encode(machine);
  // 2000 contexts, each one node more than the one before.
  EXPECT_LT(bytes.size(), 2000U * 30U);
  auto decoded = decode(program, bytes);
  ASSERT_TRUE(decoded.has_value());
  const Step end = decoded->run();
  const auto contexts = std::get<Finished>(end).value.items();
  EXPECT_EQ(node_of(contexts[1]).parent, &node_of(contexts[0]));
  EXPECT_EQ(context_text(contexts[2]), "a line\na line\na line");
}

TEST(Snapshot, DeepValuesAreEncodedWithoutRecursion) {
  const auto program = load(test::assemble(R"(
fn main registers=4
  MakeList 0 0 0
  LoadInteger 1 0
  LoadInteger 2 300000
@next
  ForRange 1 @end
  MakeList 0 0 1
  Jump @next
@end
  Return 0
)"));
  Machine machine(program, 0, {});
  ASSERT_TRUE(std::holds_alternative<Paused>(machine.run(900'000)));
  auto decoded = decode(program, encode(machine));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(encode(*decoded), encode(machine));
}

TEST(Snapshot, AnotherFormatIsNamed) {
  wire::Writer out;
  out.present_field(1, snapshot_format + 1);
  EXPECT_THAT(decode(load(sample_program()), out.view()).error().message,
              testing::HasSubstr("this version of Tenon reads format 1"));
}

TEST(Snapshot, ASnapshotOfAnotherProgramIsRefused) {
  const auto program = load(test::assemble("fn main registers=1\n@a\n Jump @a\n"));
  Machine machine(program, 0, {});
  static_cast<void>(machine.run(3));
  EXPECT_FALSE(decode(load(test::assemble("fn main registers=5\n ReturnUnit\n")), encode(machine)).has_value());
}

/// A machine made of damaged bytes runs to some end, or waits, without harm.
void drive(Machine& machine) {
  for (int round = 0; round < 50; ++round) {
    const Step step = machine.run(2'000);
    static_cast<void>(machine.take_cancelled());
    static_cast<void>(encode(machine));
    if (!std::holds_alternative<Waiting>(step) && !std::holds_alternative<Paused>(step)) return;
    for (const Request& request : machine.pending_requests()) {
      static_cast<void>(machine.call_stack(request.id));
      static_cast<void>(machine.resume(request.id, answer_request(machine, request)));
      break;
    }
  }
}

TEST(Snapshot, DamagedBytesGiveAnErrorOrAMachineThatRuns) {
  const auto program = load(sample_program());
  const std::vector<std::string> good = snapshots(program);
  std::mt19937 random(7);
  std::size_t accepted = 0;
  for (unsigned round = 0; round < test::cases(20'000); ++round) {
    std::string damaged = good[random() % good.size()];
    const std::size_t changes = 1 + random() % 3;
    for (std::size_t i = 0; i < changes; ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 3 == 0 ? random() : random() % 24);
    if (random() % 8 == 0) damaged.erase(random() % damaged.size(), random() % 6);
    auto decoded = decode(program, damaged);
    if (!decoded) continue;
    ++accepted;
    drive(*decoded);
  }
  EXPECT_GT(accepted, 100U);
}

TEST(Snapshot, NoPrefixIsASnapshot) {
  const auto program = load(sample_program());
  const std::vector<std::string> good = snapshots(program);
  const std::string& bytes = good[good.size() / 2];
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    auto decoded = decode(program, std::string_view(bytes).substr(0, size));
    if (decoded) drive(*decoded);
  }
}

}  // namespace
}  // namespace tenon::vm
