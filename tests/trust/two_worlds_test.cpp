// The theorem of docs/language/23-trust.md: what a program does does not depend on what is not trusted. Programs are
// run twice, with other results of the externs that are not, and make the same calls that act, with the same arguments.
//
// Neither what becomes trusted in the program is part of it nor what is charged in bits: there are no endorsements and
// approvals here, and a run ends where it would have to pay the first bit. How long a run takes is not part of it
// either, and so not where it ends: the calls of one run begin with those of the other.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/machine_run.h"
#include "tests/support/program_image.h"
#include "tests/trust/random_program.h"
#include "vm/values/context.h"

namespace tenon {
namespace {

constexpr std::size_t acts_max = 2'000;

/// One result of each extern for all calls of a run: how often one was called must not matter.
class RandomWorld {
 public:
  RandomWorld(std::uint64_t seed, std::uint64_t variant) : seed_(seed), variant_(variant) {}

  vm::Outcome operator()(const vm::Machine& machine, const vm::Request& request) const {
    const bytecode::Program& program = machine.program().program();
    switch (request.kind) {
      case vm::RequestKind::Complete:
        return {vm::ReturnedValue{value_of(program, program.sites[request.subject].result, said(request))}, {}};
      case vm::RequestKind::Fill:
        return {vm::FilledArguments{values_of(program, program.sites[request.subject].call, said(request))}, {}};
      case vm::RequestKind::Select: {
        const std::vector<vm::SelectOption> options = vm::options_of(request, program);
        const auto option = static_cast<std::uint32_t>(said(request) % options.size());
        return {vm::SelectedClause{option, values_of(program, *options[option].call, said(request))}, {}};
      }
      case vm::RequestKind::Extern:
        break;
    }
    const bytecode::Extern& callee = program.externs[request.subject];
    std::mt19937_64 random(seed_ * 31 + request.subject + (callee.is_vouched ? 0 : variant_ * 7));
    return {vm::ReturnedValue{value_of(program, callee.result, random())}, {}};
  }

 private:
  /// What the model makes of what it sees.
  std::uint64_t said(const vm::Request& request) const {
    return std::hash<std::string>()(vm::context_hash(request.context).hex()) * 31 + seed_;
  }

  static vm::Value value_of(const bytecode::Program& program, types::TypeId type, std::uint64_t number) {
    const types::TypeId base = program.types.base(type);
    if (base == types::TypeTable::boolean) return vm::Value::boolean(number % 2 == 0);
    if (base == types::TypeTable::i32) return vm::Value::integer(static_cast<std::int64_t>(number % 4));
    if (base == types::TypeTable::unit) return vm::Value::unit();
    const vm::Value text = vm::Value::string("w" + std::to_string(number % 4));
    // The first field is one for which the program vouches.
    if (program.types.kind(base) == types::TypeKind::Struct) {
      return vm::Value::record(base, {vm::Value::string("w1"), text});
    }
    return text;
  }

  static std::vector<vm::Value> values_of(const bytecode::Program& program, const bytecode::CallShape& call,
                                          std::uint64_t number) {
    std::vector<vm::Value> values;
    for (const std::uint16_t hole : call.holes) values.push_back(value_of(program, call.parameters[hole], number));
    return values;
  }

  std::uint64_t seed_, variant_;
};

struct Acted {
  std::vector<std::string> calls;
  std::string end;
  bool has_paid = false;  ///< would have to pay more bits than there are, and has ended
};

using World = std::function<vm::Outcome(const vm::Machine& machine, const vm::Request& request)>;

Acted act(const runtime::ProgramImage& image, const World& world, std::uint64_t bits, test::Drive drive) {
  const std::vector<bytecode::Function>& functions = image.program().functions;
  const auto main = std::ranges::find(functions, "main", &bytecode::Function::name);
  std::vector<vm::Argument> arguments;
  for (std::size_t at = 0; at < main->parameters.size(); ++at) arguments.push_back({vm::Value::empty_context(), {}});
  Acted acted;
  const auto answer = [&](vm::Machine& machine, const vm::Request& request) {
    const bool is_call = request.kind == vm::RequestKind::Extern;
    if (is_call && image.program().externs[request.subject].name == "sink" && acted.calls.size() < acts_max) {
      acted.calls.emplace_back(request.arguments[0].as_text());
    }
    return world(machine, request);
  };
  const bytecode::Bounds bounds{.model_calls = 40, .instructions = 50'000, .bits = bits};
  const test::RunRecord record = test::run_once(image.loaded(), std::move(arguments), drive, answer, bounds,
                                                static_cast<std::uint32_t>(main - functions.begin()));
  EXPECT_THAT(record.end, testing::Not(testing::StartsWith("damaged")));
  acted.end = record.end;
  acted.has_paid = record.end.find("budget bits") != std::string::npos;
  return acted;
}

/// Branches that run at the same time take turns in an order that depends on how long they take.
bool begins_alike(Acted one, Acted other, bool has_branches) {
  if (one.calls.size() > other.calls.size()) std::swap(one, other);
  if (!has_branches) return std::equal(one.calls.begin(), one.calls.end(), other.calls.begin());
  std::ranges::sort(one.calls);
  std::ranges::sort(other.calls);
  return std::ranges::includes(other.calls, one.calls);
}

TEST(TwoWorlds, WhatIsNotTrustedDecidesNoCallThatActs) {
  std::size_t compared = 0;
  std::size_t paid = 0;
  for (std::uint64_t seed = 1; seed <= test::random_program_count(); ++seed) {
    const std::string text = test::declarations_of_random_programs("trusted String") +
                             test::make_random_program(seed, test::Constructs::NoWaysUp);
    const auto image = test::make_image(text);
    const bool has_branches = text.find("parallel") != std::string::npos;
    const test::Drive drive = seed % 20 == 0 ? test::Drive::SnapshotEachInstruction : test::Drive::Straight;
    const Acted first = act(*image, RandomWorld(seed, 1), 0, drive);
    for (std::uint64_t variant = 2; variant < 6; ++variant) {
      const Acted other = act(*image, RandomWorld(seed, variant), 0, drive);
      ASSERT_TRUE(begins_alike(first, other, has_branches))
          << "seed " << seed << ", world " << variant << ": " << testing::PrintToString(first.calls) << " and "
          << testing::PrintToString(other.calls) << "\n"
          << text;
      compared += std::min(first.calls.size(), other.calls.size());
      if (other.has_paid) ++paid;
    }
  }
  EXPECT_GT(compared, test::random_program_count()) << "the programs do too little";
  EXPECT_GT(paid, test::random_program_count() / 10) << "the programs trial too little";
}

// What programs do to learn from failures what labels do not let them see. With enough bits, the calls of the two
// worlds differ; without bits they do not.

struct Oracle {
  const char* name;
  const char* text;
};

class Trials : public testing::TestWithParam<Oracle> {};

/// In the first world `word` is "a", in the second "bcd".
vm::Outcome answer_in(std::size_t world, const vm::Machine& machine, const vm::Request& request) {
  const auto returns = [](vm::Value value) { return vm::Outcome{vm::ReturnedValue{std::move(value)}, {}}; };
  if (request.kind != vm::RequestKind::Extern) return returns(vm::Value::string("said"));
  const std::string& name = machine.program().program().externs[request.subject].name;
  if (name == "word") return returns(vm::Value::string(world == 0 ? "a" : "bcd"));
  if (name == "count") return returns(vm::Value::integer(world == 0 ? 1 : 3));
  if (name == "find" && request.arguments[0].as_text() != "a") {
    return {vm::EffectFailure{types::FailureKind::ToolFailed, "there is no such thing", ""}, {}};
  }
  return returns(vm::Value::unit());
}

constexpr std::string_view oracle_declarations = R"(
extern fn word() -> String
extern fn count() -> i32
extern fn find(what: String)
extern fn sink(text: trusted String)
fn same(w: String, c: String) { if w != c { fail("no") } }
)";

TEST_P(Trials, CostBits) {
  const auto image = test::make_image(std::string(oracle_declarations) + GetParam().text);
  for (const test::Drive drive : {test::Drive::Straight, test::Drive::SnapshotEachInstruction}) {
    const auto act_in = [&](std::size_t world, std::uint64_t bits) {
      const auto answer = [&](const vm::Machine& machine, const vm::Request& request) {
        return answer_in(world, machine, request);
      };
      return act(*image, answer, bits, drive);
    };
    const Acted a = act_in(0, 1'000);
    const Acted bcd = act_in(1, 1'000);
    EXPECT_NE(a.calls, bcd.calls) << "this program learns nothing: it ends with " << a.end << " and " << bcd.end;
    EXPECT_FALSE(a.has_paid || bcd.has_paid);
    const Acted unpaid_a = act_in(0, 0);
    const Acted unpaid_bcd = act_in(1, 0);
    EXPECT_TRUE(begins_alike(unpaid_a, unpaid_bcd, false))
        << testing::PrintToString(unpaid_a.calls) << " and " << testing::PrintToString(unpaid_bcd.calls);
    EXPECT_TRUE(unpaid_a.has_paid || unpaid_bcd.has_paid);
  }
}

/// What a program looks at after the block, where both ways have met: labels do not depend on which it was.
TEST(TrialsThatEnd, SayNothing) {
  for (const std::string_view look :
       {"sink(t) catch _ { }", "if t.is_trusted() { sink(c) }", "sink(t + c) catch _ { }"}) {
    const auto image = test::make_image(fmt::format(R"({}
      fn main() {{
        let w = word()
        for c in ["x", "a", "bcd"] {{ let t = {{ same(w, c); c }} catch _ {{ "" }}
          {} }}
      }})",
                                                    oracle_declarations, look));
    const auto act_in = [&](std::size_t world) {
      const auto answer = [&](const vm::Machine& machine, const vm::Request& request) {
        return answer_in(world, machine, request);
      };
      return act(*image, answer, 1'000, test::Drive::SnapshotEachInstruction).calls;
    };
    EXPECT_EQ(act_in(0), act_in(1)) << look;
  }
}

/// Else any number of trials would say for one bit which of them was the first to succeed.
TEST(TrialsThatFail, CostAsMuchAsThoseThatDoNot) {
  for (const std::string_view body :
       {"sink(c)", "parallel { sink(c), find(c) }; ()", "for one in [c] parallel(2) { sink(one) }",
        "for one in [c] parallel(2) { { sink(one) } finally { 1 } }"}) {
    const auto image = test::make_image(fmt::format(R"({}
      fn main() {{ let w = word(); for c in ["x", "y", "z"] {{ {{ same(w, c); {} }} catch _ {{ }} }} }})",
                                                    oracle_declarations, body));
    const auto answer = [](const vm::Machine& machine, const vm::Request& request) {
      return answer_in(0, machine, request);
    };
    EXPECT_FALSE(act(*image, answer, 3, test::Drive::Straight).has_paid) << body;
    EXPECT_TRUE(act(*image, answer, 2, test::Drive::Straight).has_paid) << body;
  }
}

// clang-format off
constexpr Oracle oracles[] = {
  {"a_comparison_that_fails", R"(
    fn trial(w: String, c: String) { same(w, c); sink(c) }
    fn one(w: String, c: String) { trial(w, c) catch _ { } }
    fn main() { let w = word(); for c in ["x", "a", "bcd", "z"] { one(w, c) } })"},
  {"in_one_frame", R"(fn main() { let w = word(); for c in ["x", "a", "bcd"] { { same(w, c); sink(c) } catch _ { } } })"},
  {"a_call_after_the_block", R"(
    fn one(w: String, c: String) { same(w, c) catch _ { return }; sink(c) }
    fn main() { let w = word(); for c in ["x", "a", "bcd"] { one(w, c) } })"},
  {"a_loop_that_continues", R"(
    fn main() { let w = word(); for c in ["x", "a", "bcd"] { same(w, c) catch _ { continue }; sink(c) } })"},
  {"one_trial_for_all", R"(
    fn main() { let w = word(); { for c in ["a", "b"] { same(w, "a"); sink(c) } } catch _ { } })"},
  {"a_requires", R"(
    fn must(w: String, c: String) requires w == c { sink(c) }
    fn main() { let w = word(); for c in ["x", "a", "bcd"] { must(w, c) catch _ { } } })"},
  {"a_missing_key", R"(
    fn one(w: String, c: String) { { let m = Map::from([(c, 1)]); let x = m[w]; sink(c) } catch _ { } }
    fn main() { let w = word(); for c in ["x", "a", "bcd"] { one(w, c) } })"},
  {"a_place_in_a_list", R"(
    fn main() {
      let n = count()
      for k in 0..4 {
        { let l = ["a", "b", "c"].slice(0, k); let x = l[n]; sink("{{ k }}") } catch _ { }
      }
    })"},
  {"an_option_without_value", R"(
    fn main() {
      let w = word()
      for c in ["x", "a", "bcd"] {
        { let at = (if w == c { Some(1) } else { None }).unwrap(); sink("{{ c }}") } catch _ { }
      }
    })"},
  {"an_overflow", R"(
    fn main() {
      let n = count()
      for k in 0..4 {
        { let i: i32 = 2147483647 - k; let x = i + n; sink("{{ k }}") } catch _ { }
      }
    })"},
  {"a_division", R"(
    fn main() { let n = count(); for k in 2..5 { { let x = 10 / (n - k); sink("{{ k }}") } catch _ { } } })"},
  {"a_number_in_a_text", R"(
    fn main() {
      let w = word()
      for c in ["1", "x"] {
        { w.replace("a", c).replace("bcd", "2").parse<i32>(); sink(c) } catch _ { }
      }
    })"},
  {"an_extern_that_fails", R"(fn main() { let w = word(); { find(w); sink("found") } catch _ { } })"},
  {"a_handler_that_fails_at_times", R"(
    fn one(w: String, c: String) { { same(w, c) catch f { if c == "a" { fail("again") } }; sink(c) } catch _ { } }
    fn main() { let w = word(); one(w, "a"); one(w, "a") })"},
  {"a_handler_that_fails_again", R"(
    fn main() {
      let w = word()
      for c in ["a", "bcd"] {
        { same(w, c) catch f { fail("again") }; sink(c) } catch _ { }
      }
    })"},
  {"a_finally", R"(
    fn main() {
      let w = word()
      for c in ["a", "bcd"] {
        { { same(w, c); sink(c) } finally { "done" } } catch _ { }
      }
    })"},
  {"a_branch_that_ends_another", R"(
    fn wait(c: String) { for _ in 0..20 { find("a") }; sink(c) }
    fn both(w: String, c: String) { parallel { same(w, c), wait(c) } }
    fn main() { let w = word(); for c in ["a", "bcd"] { both(w, c) catch _ { } } })"},
  {"a_budget_that_work_spends", R"(
    fn work(n: i32) { "xxxxxxxxxxxxxxxxxxxxxxxxxxxx".repeat(n * n * n * n * n * 1000); sink("done") }
    fn main() { work(count()) budget(instructions: 20000) catch _ { } })"},
  {"a_child_agent", R"(
    agent Pay { fn turn(ctx: Context, input: String) -> String { same(word(), input); sink(input); "paid" } }
    fn main() { for c in ["x", "a", "bcd"] { match try Pay::run(c) { Ok(_) => (), Err(_) => () } } })"},
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(Oracles, Trials, testing::ValuesIn(oracles),
                         [](const testing::TestParamInfo<Oracle>& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tenon
