#include "vm/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/assembler.h"
#include "tests/support/machine_run.h"
#include "vm/machine_state.h"
#include "vm/values/context.h"
#include "vm/values/render.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using test::assemble;
using test::Drive;
using test::load;
using test::RunRecord;
using testing::HasSubstr;
using testing::StartsWith;
using types::FailureKind;
using types::TypeTable;

ReturnedValue answer(std::string text) {
  return {Value::string(std::move(text))};
}

/// A program with an extern `fetch(String) -> String`, a completion, a fill of `add(x, y)` with both missing, and a
/// select.
bytecode::Program with_sites() {
  bytecode::Program program;
  program.externs.push_back(
      {types::BuiltinEffect::Native, "fetch", "", {}, {"url"}, {TypeTable::string}, TypeTable::string, {}});
  bytecode::CallShape add{"add",
                          "",
                          "add(a: i64, x: i64, y: i64) -> i64",
                          {"a", "x", "y"},
                          {TypeTable::i64, TypeTable::i64, TypeTable::i64},
                          {1, 2}};
  program.sites.push_back({bytecode::SiteKind::Completion, {0, 1, 1}, 0, TypeTable::string, {}, {}});
  program.sites.push_back({bytecode::SiteKind::Fill, {0, 1, 1}, 0, {}, add, {}});
  program.sites.push_back({bytecode::SiteKind::Select, {0, 1, 1}, 0, {}, {}, {{add, "sum", false}, {{}, "", true}}});
  return program;
}

RunRecord run_text(const std::string& text, const test::Answerer& answerer = {}, bytecode::Program base = {},
                   const bytecode::Bounds& bounds = {}) {
  const auto program = load(assemble(text, std::move(base)));
  std::vector<Argument> arguments;
  for (const types::TypeId type : program->program().functions[0].parameters) {
    arguments.push_back(type == TypeTable::context
                            ? Argument{Value::empty_context(), {}}
                            : Argument{Value::string("given"), Source{SourceKind::Argument, "p"}});
  }
  return test::run(program, arguments, answerer, bounds);
}

TEST(Machine, ComputesFibonacciNumbers) {
  const RunRecord record = run_text(R"(
fn main registers=2 result=i64
  LoadInteger 0 12
  Call 0 fib
  Return 0
fn fib registers=4 params=i64 result=i64
  LessShort 1 0 2
  JumpUnless 1 @more
  Return 0
@more
  AddI64Short 1 0 -1
  Call 1 fib
  AddI64Short 2 0 -2
  Call 2 fib
  AddI64 1 1 2
  Return 1
)");
  EXPECT_EQ(record.end, "value 144");
}

TEST(Machine, ACalleeBeginsWithItsArgumentsAlone) {
  EXPECT_EQ(run_text(R"(
fn main registers=6
  LoadConstant 1 "arg"
  LoadConstant 2 "left over"
  LoadConstant 3 "left over"
  Call 1 callee
  MakeList 0 1 3
  Return 0
fn callee registers=4 params=String
  MakeList 0 0 4
  Return 0
)")
                .end,
            "value [[\"arg\",null,null,null],null,null]");
}

TEST(Machine, AnUnhandledFailureListsItsCalls) {
  const RunRecord record = run_text(R"(
fn main registers=2
  Call 0 middle
  Return 0
fn middle registers=2
  LoadUnit 0
  Call 1 inner
  Return 1
fn inner registers=2
  LoadConstant 0 "broken"
  Fail 0
)");
  EXPECT_EQ(record.end, "failed Raised: broken (test.tn:11:1; )");
  ASSERT_EQ(record.call_stack.entries.size(), 3U);
  EXPECT_EQ(record.call_stack.entries[0].function, 2U);
  EXPECT_EQ(record.call_stack.entries[1].place.line, 7U);
  EXPECT_EQ(record.call_stack.entries[2].place.line, 3U);
  EXPECT_EQ(record.call_stack.entries_left_out, 0U);
}

TEST(Machine, AHandlerContinuesWithTheFailure) {
  EXPECT_EQ(run_text(R"(
fn main registers=4
@try
  Call 0 inner
@tried
  Return 0
@caught
  GetField 0 2 1
  GetField 1 2 2
  MakeList 0 0 2
  Return 0
handler @try @tried @caught 2 0
fn inner registers=2
  LoadConstant 0 "broken"
  Fail 0
)")
                .end,
            "value [\"broken\",\"test.tn:15:1\"]");
}

TEST(Machine, TheInnermostHandlerComesFirstAndARaiseGoesToTheNext) {
  const std::string text = R"(
fn main registers=4
@outer
  LoadInteger 0 1
@inner
  DivideI64 0 0 1
@innerend
  Return 0
@innercaught
  Raise 2
@outerend
  Return 0
@outercaught
  GetField 0 3 2
  Return 0
handler @inner @innerend @innercaught 2 0
handler @outer @outerend @outercaught 3 0
)";
  // The place is that of the division, not of the raise.
  EXPECT_EQ(run_text(text).end, "value \"test.tn:6:1\"");
}

TEST(Machine, AnEndlessLoopEndsByBudget) {
  const bytecode::Bounds bounds{.instructions = 1000};
  const RunRecord record = run_text("fn main registers=1\n@loop\n Jump @loop\n", {}, {}, bounds);
  EXPECT_THAT(record.end,
              StartsWith("failed BudgetSpent: the budget of 1000 instructions of the run is spent; raise it with"));
  EXPECT_THAT(record.end, HasSubstr("`--budget instructions=…`"));
  EXPECT_THAT(record.end, HasSubstr("(test.tn:3:1; budget instructions)"));
  EXPECT_EQ(record.instructions, 1000U);
}

TEST(Machine, AnEndlessRecursionEndsByBudget) {
  const RunRecord record = run_text("fn main registers=2\n Call 0 main\n Return 0\n", {}, {}, {.depth = 50});
  EXPECT_THAT(record.end,
              StartsWith("failed BudgetSpent: the budget of 50 calls inside one another of the run is spent"));
  EXPECT_EQ(record.instructions, 50U);
  EXPECT_EQ(record.call_stack.entries.size(), 50U);
}

TEST(Machine, ADeepStackIsReportedInPart) {
  const auto program = load(assemble("fn main registers=2\n Call 0 main\n Return 0\n"));
  const RunRecord record = test::run_once(program, {}, Drive::Straight);
  EXPECT_THAT(record.end, HasSubstr("the budget of 10000 calls inside one another"));
  EXPECT_EQ(record.call_stack.entries.size(), call_stack_entries_max);
  EXPECT_EQ(record.call_stack.entries_left_out, 10'000U - call_stack_entries_max);
}

bytecode::Program with_budgets() {
  bytecode::Program program = with_sites();
  program.budgets.push_back({{0, 77, 1}, {.instructions = 40}});
  program.budgets.push_back({{0, 88, 1}, {.model_calls = 1, .tokens = 100}});
  program.budgets.push_back({{0, 99, 1}, {.depth = 3}});
  return program;
}

TEST(Machine, ABudgetIsCaughtOutsideOfItsScopeOnly) {
  const std::string text = R"(
fn main registers=4
@outer
  EnterBudget 0
@inner
@loop
  Jump @loop
@innerend
  LeaveBudget
@outerend
  Return 0
@innercaught
  LoadConstant 0 "inside"
  Return 0
@outercaught
  GetField 0 2 1
  Return 0
handler @inner @innerend @innercaught 2 1
handler @outer @outerend @outercaught 2 0
)";
  const RunRecord record = run_text(text, {}, with_budgets());
  EXPECT_EQ(record.end,
            "value \"the budget of 40 instructions set at test.tn:77:1 is spent; raise its `instructions`\"");
  EXPECT_EQ(record.instructions, 43U);
}

TEST(Machine, AFailureLeavesTheBudgetsItUnwinds) {
  // After the handler, the first scope is left and its bound binds no more.
  const std::string text = R"(
fn main registers=4
@try
  EnterBudget 0
  Call 0 inner
  LeaveBudget
@tried
  Return 0
@caught
  LoadInteger 0 0
@loop
  AddI64Short 0 0 1
  LessShort 1 0 100
  JumpIf 1 @loop
  Return 0
handler @try @tried @caught 2 0
fn inner registers=2
  EnterBudget 0
  LoadConstant 0 "broken"
  Fail 0
)";
  EXPECT_EQ(run_text(text, {}, with_budgets()).end, "value 100");
}

TEST(Machine, AReturnLeavesTheBudgetsOfItsFrame) {
  const std::string text = R"(
fn main registers=4
  LoadInteger 1 0
@loop
  Call 2 inner
  AddI64Short 1 1 1
  LessShort 0 1 30
  JumpIf 0 @loop
  Return 1
fn inner registers=1
  EnterBudget 0
  LoadUnit 0
  Return 0
)";
  EXPECT_EQ(run_text(text, {}, with_budgets()).end, "value 30");
}

TEST(Machine, ADepthBudgetCountsFromWhereItWasEntered) {
  const std::string text = R"(
fn main registers=4
  EnterBudget 2
  Call 0 down
  Return 0
fn down registers=2
  Call 0 down
  Return 0
)";
  const RunRecord record = run_text(text, {}, with_budgets());
  EXPECT_THAT(record.end, HasSubstr("the budget of 3 calls inside one another set at test.tn:99:1 is spent"));
  EXPECT_EQ(record.call_stack.entries.size(), 4U);
}

TEST(Machine, ModelCallsAndTokensAreCharged) {
  const std::string text = R"(
fn main registers=4 params=Context context=0
  Complete 1 0
  EnterBudget 1
  Complete 1 0
  Complete 1 0
  Return 1
)";
  const auto cheap = [](Machine&, const Request&) { return Outcome{answer("ok"), {.model_calls = 1, .tokens = 100}}; };
  EXPECT_THAT(run_text(text, cheap, with_budgets()).end,
              StartsWith("failed BudgetSpent: the budget of 1 model call set at test.tn:88:1 is spent; raise its "
                         "`calls` (test.tn:6:1"));
  bytecode::Program older = with_budgets();
  older.messages = MessageVersion::Third;
  EXPECT_THAT(run_text(text, cheap, std::move(older)).end,
              StartsWith("failed BudgetSpent: the budget of 1 model calls set at test.tn:88:1 is spent"));
  const auto dear = [](Machine&, const Request&) { return Outcome{answer("ok"), {.tokens = 101}}; };
  EXPECT_THAT(run_text(text, dear, with_budgets()).end,
              HasSubstr("the budget of 100 tokens set at test.tn:88:1 is spent; raise its `tokens` (test.tn:5:1"));
  // Repairs are calls too.
  const auto repaired = [](Machine&, const Request&) { return Outcome{answer("ok"), {.model_calls = 3}}; };
  EXPECT_THAT(run_text(text, repaired, with_budgets()).end,
              HasSubstr("1 model call set at test.tn:88:1 is spent; raise its `calls` (test.tn:5:1"));
}

TEST(Machine, RequestsShowWhatIsVisibleAndOutcomesLand) {
  const std::string text = R"(
fn main registers=10 params=Context,String context=0
  LoadConstant 2 "Be brief"
  Inject 0 2
  Inject 0 1
  Complete 2 0
  Inject 0 2
  LoadInteger 3 40
  Fill 3 1
  Select 6 2
  Move 1 6
  MakeList 2 2 6
  Return 2
)";
  const RunRecord record = run_text(
      text,
      [](Machine&, const Request& request) -> Outcome {
        switch (request.kind) {
          case RequestKind::Complete:
            return {answer("done"), {}};
          case RequestKind::Fill:
            return {FilledArguments{{Value::integer(1), Value::integer(2)}}, {}};
          case RequestKind::Select:
            return {SelectedClause{1, {}}, {}};
          case RequestKind::Extern:
            break;
        }
        return {EffectFailure{}, {}};
      },
      with_sites());
  EXPECT_EQ(record.end, "value [\"done\",40,1,2,1,null]");
  EXPECT_EQ(record.requests,
            "0 complete 0 \"Be brief\\ngiven\" [argument p]\n"
            "1 fill 1 40 null null \"Be brief\\ngiven\\ndone\" [argument p, model]\n"
            "2 select 2 \"Be brief\\ngiven\\ndone\" [argument p, model]\n");
  EXPECT_EQ(record.label, "argument p, model");
}

TEST(Machine, OutcomesOfAnotherShapeAreRefused) {
  const auto program =
      load(assemble("fn main registers=4 params=Context context=0\n Fill 1 1\n Return 1\n", with_sites()));
  Machine machine(program, 0, {{Value::empty_context(), {}}});
  ASSERT_TRUE(std::holds_alternative<Waiting>(machine.run()));
  const RequestId id = machine.take_requests().at(0).id;
  EXPECT_EQ(machine.resume({id.number + 1}, {FilledArguments{}, {}}).error(), ResumeError::UnknownRequest);
  EXPECT_EQ(machine.resume(id, {answer("x"), {}}).error(), ResumeError::WrongShape);
  EXPECT_EQ(machine.resume(id, {FilledArguments{{Value::integer(1)}}, {}}).error(), ResumeError::WrongShape);
  EXPECT_EQ(machine.resume(id, {SelectedClause{0, {}}, {}}).error(), ResumeError::WrongShape);
  EXPECT_EQ(machine.pending_requests().size(), 1U);
  EXPECT_TRUE(machine.resume(id, {FilledArguments{{Value::integer(1), Value::integer(2)}}, {}}).has_value());
  EXPECT_EQ(machine.resume(id, {FilledArguments{{Value::integer(1), Value::integer(2)}}, {}}).error(),
            ResumeError::UnknownRequest);
  EXPECT_TRUE(std::holds_alternative<Finished>(machine.run()));
}

TEST(Machine, ADeclinedRequestIsAFailureAtItsPlace) {
  const std::string text = R"(
fn main registers=4 params=Context,String context=0
  CallExtern 1 fetch
  Return 1
)";
  const RunRecord record = run_text(
      text,
      [](Machine&, const Request&) {
        return Outcome{EffectFailure{FailureKind::ToolFailed, "host \xFF unknown", "fetch"}, {}};
      },
      with_sites());
  EXPECT_EQ(record.end, "failed ToolFailed: host \xEF\xBF\xBD unknown (test.tn:3:1; fetch)");
  EXPECT_EQ(record.label, "argument p, extern fetch");
}

TEST(Machine, TheResultOfAnExternCarriesItsLabelAndTheArguments) {
  const RunRecord record = run_text(R"(
fn main registers=4 params=Context,String context=0
  LoadConstant 1 "http://x"
  CallExtern 1 fetch
  LoadConstant 2 "got: "
  Concatenate 2 2 1
  Return 2
)",
                                    [](Machine&, const Request&) {
                                      return Outcome{answer("data"), {}};
                                    },
                                    with_sites());
  EXPECT_EQ(record.end, "value \"got: data\"");
  EXPECT_EQ(record.label, "extern fetch");
  EXPECT_EQ(record.requests, "0 extern 0 \"http://x\" [program]\n");
}

constexpr const char* parallel_text = R"(
fn main registers=8 params=Context context=0
  LoadConstant 1 "base"
  Inject 0 1
  Parallel 2 [@a @b @c]
  CallBuiltin 5 ContextText 0
  MakeList 2 2 4
  Return 2
@a
  LoadConstant 1 "a"
  Inject 0 1
  Complete 1 0
  EndBranch 1
@b
  LoadConstant 1 "b"
  Inject 0 1
  Complete 1 0
  Inject 0 1
  Complete 1 0
  EndBranch 1
@c
  LoadConstant 1 "c"
  EndBranch 1
)";

TEST(Machine, BranchesSeeTheContextAsItWasAndEndWithTheirs) {
  const RunRecord record = run_text(
      parallel_text,
      [](Machine&, const Request& request) {
        return Outcome{answer("answer to " + request.key), {}};
      },
      with_sites());
  EXPECT_EQ(record.requests,
            "0.0.0 complete 0 \"base\\na\" [program]\n"
            "0.1.0 complete 0 \"base\\nb\" [program]\n"
            "0.1.1 complete 0 \"base\\nb\\nanswer to 0.1.0\" [model]\n");
  EXPECT_THAT(record.end, StartsWith("value [\"answer to 0.0.0\",\"answer to 0.1.1\",\"c\",\"base\"]"));
}

TEST(Machine, TheFirstFailureOfABranchEndsItsSiblings) {
  const std::string text = R"(
fn main registers=8 params=Context context=0
@try
  Parallel 2 [@a @b]
@tried
  MakeList 2 2 2
  Return 2
@caught
  GetField 2 7 1
  Return 2
@a
  Complete 1 0
  EndBranch 1
@b
  Complete 1 0
  EndBranch 1
handler @try @caught @caught 7 0
)";
  const RunRecord record = run_text(
      text,
      [](Machine&, const Request& request) {
        EXPECT_EQ(request.key, "0.1.0");
        return Outcome{EffectFailure{FailureKind::ModelRefused, "no", "model"}, {}};
      },
      with_sites());
  EXPECT_EQ(record.end, "value \"no\"");
  EXPECT_EQ(record.cancelled, "0 ");
}

TEST(Machine, AHandlerInsideABranchIsItsOwn) {
  const std::string text = R"(
fn main registers=8 params=Context context=0
@outer
  Parallel 2 [@a @b]
@outerend
  MakeList 2 2 2
  Return 2
@a
  LoadConstant 1 "first"
@try
  Fail 1
@tried
@caught
  GetField 1 5 1
  EndBranch 1
@b
  LoadConstant 1 "second"
  EndBranch 1
@outercaught
  LoadConstant 2 "outer"
  Return 2
handler @try @tried @caught 5 0
handler @outer @outercaught @outercaught 7 0
)";
  EXPECT_EQ(run_text(text).end, "value [\"first\",\"second\"]");
}

TEST(Machine, AFailureInABranchListsTheCallsAroundTheBlock) {
  const std::string text = R"(
fn main registers=3
  Call 0 work
  Return 0
fn work registers=4
  Parallel 0 [@a]
  Return 0
@a
  Call 1 deep
  EndBranch 1
fn deep registers=1
  LoadConstant 0 "deep down"
  Fail 0
)";
  const RunRecord record = run_text(text);
  EXPECT_EQ(record.end, "failed Raised: deep down (test.tn:13:1; )");
  std::vector<std::uint32_t> lines;
  for (const CallStackEntry& entry : record.call_stack.entries) lines.push_back(entry.place.line);
  EXPECT_EQ(lines, (std::vector<std::uint32_t>{13, 9, 3}));
}

constexpr const char* parallel_for_text = R"(
fn main registers=8 params=Context context=0
  LoadInteger 4 10
  LoadInteger 5 20
  LoadInteger 6 30
  MakeList 1 4 3
  LoadInteger 2 2
  ParallelFor 1 @body
  Return 1
@body
  Inject 0 3
  Complete 4 0
  MakeList 4 3 2
  EndBranch 4
)";

TEST(Machine, ParallelForRunsAtMostTheLimitAtOnceAndKeepsTheOrder) {
  std::vector<std::string> keys;
  const auto program = load(assemble(parallel_for_text, with_sites()));
  Machine machine(program, 0, {{Value::empty_context(), {}}});
  ASSERT_TRUE(std::holds_alternative<Waiting>(machine.run()));
  std::vector<Request> requests = machine.take_requests();
  ASSERT_EQ(requests.size(), 2U);
  ASSERT_TRUE(machine.resume(requests[1].id, {answer("second"), {}}).has_value());
  ASSERT_TRUE(std::holds_alternative<Waiting>(machine.run()));
  std::vector<Request> more = machine.take_requests();
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more[0].key, "0.2.0");
  EXPECT_EQ(context_text(more[0].context), "30");

  const RunRecord record = run_text(
      parallel_for_text,
      [](Machine&, const Request& request) {
        return Outcome{answer(request.key), {}};
      },
      with_sites());
  EXPECT_EQ(record.end, "value [[10,\"0.0.0\"],[20,\"0.1.0\"],[30,\"0.2.0\"]]");
}

TEST(Machine, ParallelForOfAnEmptyListAndWithLimitZero) {
  EXPECT_EQ(
      run_text(
          "fn main registers=4\n MakeList 0 0 0\n LoadInteger 1 1\n ParallelFor 0 @b\n Return 0\n@b\n EndBranch 2\n")
          .end,
      "value []");
  EXPECT_THAT(
      run_text(
          "fn main registers=4\n MakeList 0 0 1\n LoadInteger 1 0\n ParallelFor 0 @b\n Return 0\n@b\n EndBranch 2\n")
          .end,
      StartsWith("failed Conversion: parallel(0) runs nothing"));
}

TEST(Machine, NestedBlocksHaveNestedKeys) {
  const std::string text = R"(
fn main registers=8 params=Context context=0
  Complete 1 0
  Parallel 2 [@a @b]
  MakeList 2 2 2
  Return 2
@a
  Parallel 4 [@c @c]
  MakeList 4 4 2
  EndBranch 4
@b
  Complete 1 0
  EndBranch 1
@c
  Complete 1 0
  EndBranch 1
)";
  const RunRecord record = run_text(
      text,
      [](Machine&, const Request& request) {
        return Outcome{answer(request.key), {}};
      },
      with_sites());
  EXPECT_EQ(record.end, "value [[\"1.0.0.0.0\",\"1.0.0.1.0\"],\"1.1.0\"]");
}

TEST(Machine, BranchesShareTheBudgetAroundTheirBlock) {
  const std::string text = R"(
fn main registers=8 params=Context context=0
@try
  EnterBudget 1
  Parallel 2 [@a @a]
@tried
  LeaveBudget
  Return 2
@caught
  GetField 2 7 1
  Return 2
@a
  Complete 1 0
  EndBranch 1
handler @try @caught @caught 7 0
)";
  const RunRecord record = run_text(
      text,
      [](Machine&, const Request&) {
        return Outcome{answer("x"), {}};
      },
      with_budgets());
  EXPECT_THAT(record.end, HasSubstr("the budget of 1 model call set at test.tn:88:1 is spent"));
}

TEST(Machine, ALabelFollowsEveryOperation) {
  const std::string text = R"(
fn main registers=10 params=Context,String context=0
  Length 2 1
  LoadInteger 3 4
  AddI64 4 2 3
  LessShort 5 4 100
  MakeList 6 4 1
  LoadInteger 7 0
  GetItem 8 6 7
  Render 9 8
  MakeList 2 2 1
  Push 2 4
  Push 2 5
  Push 2 8
  Push 2 9
  Push 2 3
  Return 2
)";
  const auto program = load(assemble(text));
  Machine machine(program, 0,
                  {{Value::empty_context(), {}}, {Value::string("abc"), Source{SourceKind::Person, "Ann"}}});
  const Step end = machine.run();
  const Value& list = std::get<Finished>(end).value;
  EXPECT_EQ(list.label(), LabelTable::program_text);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(machine.labels().describe(list.items()[i].label()), "person Ann") << i;
  EXPECT_EQ(list.items()[5].label(), LabelTable::program_text);
}

TEST(Machine, ATemplateKeepsProgramTextApartFromData) {
  const auto program = load(assemble(R"(
fn main registers=6 params=Context,String context=0
  LoadConstant 2 "Say "
  Move 3 1
  LoadConstant 4 "!"
  Template 2 2 3
  Return 2
)"));
  Machine machine(program, 0, {{Value::empty_context(), {}}, {Value::string("hello"), Source{SourceKind::Person, ""}}});
  const Value text = std::get<Finished>(machine.run()).value;
  const auto pieces = pieces_of(text);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].label, LabelTable::program_text);
  EXPECT_EQ(pieces[1].text, "hello");
  EXPECT_EQ(machine.labels().describe(pieces[1].label), "person");
  EXPECT_EQ(pieces[2].label, LabelTable::program_text);
  EXPECT_EQ(machine.labels().describe(text.label()), "person");
}

class Listener final : public Observer {
 public:
  void on_call(std::string_view branch, std::uint32_t function, std::span<const Value> arguments) override {
    log +=
        "call " + std::string(branch) + ":" + std::to_string(function) + "/" + std::to_string(arguments.size()) + " ";
  }
  void on_return(std::string_view branch, std::uint32_t function, const Value& value) override {
    std::string json;
    static_cast<void>(to_json(value, TypeTable(), json));
    log += "return " + std::string(branch) + ":" + std::to_string(function) + "=" + json + " ";
  }
  void on_unwind(std::string_view branch, std::uint32_t function, const Value& failure) override {
    log += "unwind " + std::string(branch) + ":" + std::to_string(function) + "=" +
           std::string(failure.fields()[1].as_text()) + " ";
  }
  void on_abandon(std::string_view branch, std::uint32_t function) override {
    log += "abandon " + std::string(branch) + ":" + std::to_string(function) + " ";
  }
  std::string log;
};

TEST(Machine, AnObserverHearsCallsReturnsAndUnwinding) {
  const auto program = load(assemble(R"(
fn main registers=4
  LoadInteger 1 7
  Call 1 same
@try
  Call 2 bad
@caught
  Return 1
handler @try @caught @caught 3 0
fn same registers=1 params=i64
  Return 0
fn bad registers=1
  LoadConstant 0 "x"
  Fail 0
)"));
  Machine machine(program, 0, {});
  Listener listener;
  machine.set_observer(&listener);
  ASSERT_TRUE(std::holds_alternative<Finished>(machine.run()));
  EXPECT_EQ(listener.log, "call :1/1 return :1=7 call :2/0 unwind :2=x return :0=7 ");
}

TEST(Machine, SlicesGiveTheSameRun) {
  const auto program = load(assemble(parallel_text, with_sites()));
  Machine machine(program, 0, {{Value::empty_context(), {}}});
  std::size_t slices = 0;
  while (std::holds_alternative<Paused>(machine.run(2))) ++slices;
  EXPECT_GT(slices, 3U);
  EXPECT_EQ(machine.take_requests().size(), 2U);
  EXPECT_EQ(machine.call_stack(machine.pending_requests().at(0).id).entries.size(), 1U);
}

TEST(Machine, TenThousandInjectionsStayLinear) {
  const auto program = load(assemble(R"(
fn main registers=6 params=Context context=0
  LoadInteger 1 0
  LoadInteger 2 10000
  LoadConstant 4 "a line of some words"
@next
  ForRange 1 @end
  Inject 0 4
  Complete 5 0
  Jump @next
@end
  CallBuiltin 1 ContextLength 0
  Return 1
)",
                                     with_sites()));
  Machine machine(program, 0, {{Value::empty_context(), {}}},
                  bytecode::complete({.model_calls = 20'000}, bytecode::default_bounds));
  std::size_t asked = 0;
  Step step = machine.run();
  for (; std::holds_alternative<Waiting>(step); step = machine.run()) {
    for (const Request& request : machine.take_requests()) {
      ++asked;
      ASSERT_EQ(context_text(request.context).size(), asked * 21 - 1);
      ASSERT_TRUE(machine.resume(request.id, {answer("ok"), {}}).has_value());
    }
  }
  EXPECT_EQ(asked, 10'000U);
  EXPECT_EQ(std::get<Finished>(step).value.as_integer(), 10'000);
}

constexpr std::string_view repeating = R"(
fn main registers=4
@loop
  LoadConstant 1 "xxxxxxxx"
  LoadConstant 2 1000000
  CallBuiltin 0 StringRepeat 1
  Jump @loop
)";

TEST(Machine, WorkOfBuiltinsSpendsInstructions) {
  const RunRecord record = run_text(std::string(repeating), {}, {}, {.instructions = 1'000'000});
  EXPECT_THAT(record.end, StartsWith("failed BudgetSpent: the budget of 1000000 instructions of the run is spent"));
  // A `repeat` is 500,000, and the last one is charged as a whole.
  EXPECT_GE(record.instructions, 1'000'000U);
  EXPECT_LT(record.instructions, 1'500'000U);
}

TEST(Machine, ASliceEndsAfterMuchWork) {
  const auto program = load(assemble(std::string(repeating)));
  Machine machine(program, 0, {}, {});
  EXPECT_TRUE(std::holds_alternative<Paused>(machine.run(100)));
  EXPECT_LT(machine.instructions(), 600'000U);
}

TEST(Machine, TimeIsSpentByComputing) {
  // Straight alone: to the end there are too many instructions to stop at each.
  const RunRecord record = test::run_once(load(assemble("fn main registers=1\n@loop\n Jump @loop\n")), {},
                                          Drive::Straight, {}, {.milliseconds = 3});
  EXPECT_THAT(record.end, StartsWith("failed BudgetSpent: the budget of 3 milliseconds of the run is spent"));
  EXPECT_EQ(record.instructions, 4 * instructions_per_millisecond);
}

}  // namespace
}  // namespace tenon::vm
