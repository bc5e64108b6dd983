#include "types/plan/conditions.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/one_file.h"
#include "types/check.h"
#include "types/plan/plan.h"

namespace tenon::types {
namespace {

/// What `ensures` of one function says of `requires` of another: both speak of the type `type`, `r` standing for the
/// value, and of `other`, for which the calls give `first` and `second`.
Relation relation(const std::string& type, const std::string& ensured, const std::string& required,
                  const std::string& declarations = "", const std::string& first = "given",
                  const std::string& second = "given") {
  test::OneFile file(declarations + "\nfn first(x: i32, other: i32) -> " + type + "\n    ensures " + ensured +
                     "\n{ fail(\"\") }\nfn second(r: " + type + ", other: i32) -> i32\n    requires " + required +
                     "\n{ 1 }\nfn main(ctx: Context, given: i32) -> i32 { pursue |n| n == 1 from 0 { first(_, " +
                     first + "), second(_, " + second + ") } }");
  Checked checked = check("program.tn", file, Strictness::Relaxed);
  for (const auto& diagnostic : checked.diagnostics.all()) {
    EXPECT_NE(diagnostic.code.severity, diagnostics::Severity::Error) << diagnostic.message;
  }
  if (checked.diagnostics.has_errors()) return Relation::Open;
  const std::vector<PursuitPlan> plans = make_plans(checked.program, {});
  for (const PlanEdge& edge : plans.at(0).edges) {
    if (edge.from == 1 && edge.to == 1) return edge.requirements.at(0).relation;
  }
  ADD_FAILURE() << "no edge";
  return Relation::Open;
}

struct Row {
  const char* type;
  const char* ensured;
  const char* required;
  Relation relation;
};

void expect_all(std::initializer_list<Row> rows, const std::string& declarations = "") {
  for (const Row& row : rows) {
    EXPECT_EQ(relation(row.type, row.ensured, row.required, declarations), row.relation)
        << row.ensured << " / " << row.required;
  }
}

constexpr Relation entails = Relation::Entails;
constexpr Relation contradicts = Relation::Contradicts;
constexpr Relation open = Relation::Open;

TEST(Conditions, ComparisonsWithConstants) {
  expect_all({{"String", "result.len() > 40", "r.len() >= 10", entails},
              {"String", "result.len() > 40", "r.len() >= 41", entails},
              {"String", "result.len() > 40", "r.len() >= 42", open},
              {"String", "result.len() <= 40", "r.len() > 40", contradicts},
              {"String", "40 < result.len()", "10 <= (r.len())", entails},
              {"String", "result.len() == 4", "r.len() != 5", entails},
              {"String", "result.len() != 5", "r.len() == 5", contradicts},
              {"String", "!result.is_empty()", "r.len() >= 1", entails},
              {"String", "result.len() > 0", "!r.is_empty()", entails},
              {"String", "result.len() > 0", "r.is_empty()", contradicts},
              {"String", "true", "r.len() >= 0", entails},
              {"i32", "result > -5", "r >= -4", entails},
              {"i32", "result >= 2147483647", "r == 2147483647", entails},
              {"f64", "result > 1.5", "r > 1.0", entails},
              {"f64", "result >= 1.0", "r > 1.0", open},
              {"f64", "result < 1.0", "r >= 1.0", contradicts},
              // A number that is none is neither.
              {"f64", "!(result > 1.0)", "r <= 1.0", open}});
}

TEST(Conditions, Logic) {
  expect_all({{"i32", "result > 4 && result < 8", "r > 3 && r < 9", entails},
              {"i32", "result > 4 && result < 6", "r == 5", entails},
              {"i32", "result == 1 || result == 2", "r <= 2", entails},
              {"i32", "result == 1 || result == 9", "r <= 2", open},
              {"i32", "result == 1 || result == 9", "r == 4", contradicts},
              {"i32", "!(result < 3 || result > 5)", "r >= 3 && r <= 5", entails},
              {"i32", "result < 3 && result > 5", "r == 1", open},
              {"String", "result.contains(\"a\")", "r.contains(\"a\") || r.len() > 900", entails},
              {"String", "result.contains(\"a\")", "r.contains(\"b\")", open},
              {"String", "!result.contains(\"a\")", "r.contains(\"a\")", contradicts},
              {"String", "result == \"yes\"", "r != \"no\"", entails},
              {"String", "result == \"yes\"", "r == \"no\"", contradicts}});
}

TEST(Conditions, Terms) {
  const std::string order =
      "enum State { Open, Done }\nstruct Order { items: List<i32>, total: i64, state: State, name: String }";
  expect_all(
      {{"Order", "result.items.len() >= 2", "r.items.len() >= 1", entails},
       {"Order", "result.items.len() >= 2", "r.total >= 1", open},
       {"Order", "result.state == State::Done", "r.state == State::Done", entails},
       {"Order", "result.state == State::Done", "r.state == State::Open", contradicts},
       {"Order", "result.items.all(|x| x > 2)", "r.items.all(|y| y > 2)", entails},
       {"Order", "result.items.all(|x| x > 2)", "r.items.all(|y| y > 3)", open},
       {"Order", "result.total < result.total + 1", "r.total >= r.total + 1", contradicts},
       {"Order", "result.name == \"a{{ result.total }}\"", "r.name == \"b{{ r.total }}\"", open},
       {"Order", "match result.total { ..5 => true, _ => false }", "match r.total { 5.. => true, _ => false }", open},
       // Another parameter of the same name is another value.
       {"Order", "result.total > (other as i64)", "r.total > (other as i64)", open}},
      order);
}

TEST(Conditions, WhatCannotBeComputedDoesNotHold) {
  const std::string order = "struct Order { items: List<i32>, total: i32 }\nfn small(n: i32) -> Boolean { 10 / n > 1 }";
  expect_all(
      {{"Order", "result.items.len() <= 3", "r.items[0] > 5 || r.items[0] <= 5", open},
       {"Order", "result.items[0] > 5", "r.items[0] > 5", entails},
       {"Order", "result.items[0] > 5", "r.items[0] > 3", entails},
       {"Order", "result.items[0] > 5", "r.items[0] < 3", contradicts},
       {"Order", "result.items[0] > 5 && result.total > 1", "r.total > 0 && r.items[0] > 1", entails},
       {"Order", "result.total > 1 || result.items[0] > 5", "r.items[0] > 5 || r.total > 1", open},
       {"Order", "result.total == 0 || 10 / result.total > 1", "10 / r.total > 1 || r.total == 0", open},
       {"Order", "result.items[0] > 5 || result.total > 1", "r.items[0] > 5 || r.total > 1", entails},
       {"Order", "!(result.items[0] > 5 || result.items[1] > 5)", "r.items[1] <= 5", entails},
       {"Order", "!(result.items[0] > 5 && result.items[1] > 5)", "r.items[1] <= 5 || r.items[0] <= 5", open},
       {"Order", "result.total >= 2_000_000_000", "r.total * 2 >= -2_147_483_648", open},
       {"Order", "small(result.total)", "small(r.total)", entails},
       {"Order", "result.items.is_empty() || small(result.total)", "small(r.total) || r.items.is_empty()", open}},
      order);
}

TEST(Conditions, Options) {
  expect_all({{"i32?", "result.is_some()", "r != None", entails},
              {"i32?", "result != None", "r.is_some()", entails},
              {"i32?", "result.is_some()", "r.is_none()", contradicts},
              {"i32?", "!result.is_none()", "r == None", contradicts},
              {"i32?", "result == None", "r.is_none()", entails},
              {"i32?", "result == Some(5)", "r.is_some()", entails},
              {"i32?", "result == Some(5)", "r != Some(4)", entails},
              {"i32?", "result == Some(5)", "None == r", contradicts},
              {"i32?", "result.is_some()", "r == Some(5)", open},
              {"f64?", "result == Some(1.5)", "r.is_some()", entails},
              {"Result<i32>", "result.is_ok()", "!r.is_err()", entails},
              {"Result<i32>", "result.is_err()", "r.is_ok()", contradicts}});
}

TEST(Conditions, Emptiness) {
  expect_all({{"String", "result != \"\"", "r.len() > 0", entails},
              {"String", "result.len() >= 1", "r != \"\"", entails},
              {"String", "!result.is_empty()", "\"\" != r", entails},
              {"String", "result == \"\"", "r.is_empty()", entails},
              {"String", "result == \"abc\"", "r.len() == 3", entails},
              {"String", "result == \"abc\"", "r.len() > 3", contradicts},
              {"String", "result.len() == 2", "r == \"abc\"", contradicts},
              {"Story", "result != \"\"", "!r.is_empty()", entails},
              {"List<i32>", "result != []", "r.len() > 0", entails},
              {"List<i32>", "result.len() > 1", "r == []", contradicts},
              {"List<i32>", "result == []", "r.is_empty()", entails},
              {"Map<i32>", "!result.is_empty()", "r.len() >= 1", entails}});
}

TEST(Conditions, PossibleValues) {
  const std::string state = "enum State { Open, Done, Lost }\nenum Shape { Dot, Box(i32) }";
  expect_all({{"State", "result == State::Open", "r != State::Done", entails},
              {"State", "result != State::Open && result != State::Done", "r == State::Lost", entails},
              {"State", "result != State::Open", "r == State::Done", open},
              {"State", "result == State::Open || result == State::Done", "r == State::Lost", contradicts},
              {"State", "result != State::Open", "r == State::Done || r == State::Lost", entails},
              {"Shape", "result != Shape::Dot", "r == Shape::Box(1)", open},
              {"Shape", "result == Shape::Box(2)", "r == Shape::Box(1)", contradicts},
              {"Shape", "result == Shape::Box(2)", "r != Shape::Dot", entails},
              {"\"a\" | \"b\"", "result != \"a\"", "r == \"b\"", entails},
              {"\"a\" | \"b\"", "result == \"a\"", "r == \"b\"", contradicts},
              {"1 | 2 | 5", "result != 1 && result != 2", "r == 5", entails},
              {"1 | 5 | 9", "result != 1 && result != 9", "r == 5", entails},
              {"Boolean", "result != true", "r == false", entails},
              {"Boolean", "result", "!r", contradicts},
              {"State?", "result == Some(State::Open)", "r != Some(State::Done)", entails},
              {"State?", "result != Some(State::Open) && result != Some(State::Done)", "r == Some(State::Lost)", open}},
             state);
}

TEST(Conditions, Variables) {
  const std::string box =
      "struct Box { a: i32, b: i32, c: i32, x: f64, y: f64, s: String, t: String, u: List<i32>, v: List<i32> }";
  expect_all({{"Box", "result.a > result.c && result.c > 5", "r.a > 5", entails},
              {"Box", "result.a > result.c && result.c > 5", "r.a > 6", entails},
              {"Box", "result.a > result.c && result.c > 5", "r.a > 7", open},
              {"Box", "result.a >= result.b && result.b >= result.c", "r.c <= r.a", entails},
              {"Box", "result.a == result.b && result.b == 3", "r.a == 3", entails},
              {"Box", "result.a == result.b && result.b == result.c", "r.a == r.c", entails},
              {"Box", "result.a < result.b && result.b < result.c", "r.c < r.a", contradicts},
              {"Box", "result.a < result.b", "r.b != r.a", entails},
              // Integers do not lie between neighbors.
              {"Box", "result.a < result.b && result.b < result.c", "r.a < r.c - 1", open},
              {"Box", "result.a < result.b && result.b < result.c && result.c - 1 > 0", "r.a < r.c - 1", entails},
              {"Box", "result.a + 2 <= result.b && result.b <= 7", "r.a <= 5", entails},
              {"Box", "result.a - result.b > 3", "r.a > r.b", entails},
              {"Box", "result.a > result.b", "r.a - r.b > 0", open},
              {"Box", "(result.a as i64) > (result.b as i64)", "r.a > r.b", entails},
              {"Box", "result.x > result.y && result.y >= 5.0", "r.x > 5.0", entails},
              {"Box", "result.x > result.y", "!(r.x <= r.y)", entails},
              {"Box", "!(result.x > result.y)", "r.x <= r.y", open},
              {"Box", "result.x == result.y", "r.x >= r.y && r.y >= r.x", entails},
              {"Box", "result.x == result.x", "r.y == r.y", open},
              {"Box", "result.s < result.t && result.t < \"b\"", "r.s < \"c\"", entails},
              {"Box", "!(result.s < result.t)", "r.t <= r.s", entails},
              {"Box", "result.s == result.t && result.t == \"ab\"", "r.s.len() == 2", entails},
              {"Box", "result.u == result.v && result.v.len() > 2", "r.u.len() > 1", entails},
              {"Box", "result.u == result.v", "r.u.contains(1) == r.v.contains(1)", entails}},
             box);
}

/// What is known of the state in which a `pursue` starts about a requirement.
Relation at_start(const std::string& start, const std::string& type, const std::string& required,
                  const std::string& declarations) {
  test::OneFile file(declarations + "\nfn act(r: " + type + ") -> " + type + "\n    requires " + required +
                     "\n{ r }\nfn main(ctx: Context, given: i32) -> " + type + " {\n    pursue |n| true from " + start +
                     " { act(_) }\n}");
  Checked checked = check("program.tn", file, Strictness::Relaxed);
  for (const auto& diagnostic : checked.diagnostics.all()) {
    EXPECT_NE(diagnostic.code.severity, diagnostics::Severity::Error) << diagnostic.message;
  }
  if (checked.diagnostics.has_errors()) return Relation::Open;
  return make_plans(checked.program, {}).at(0).edges.at(0).requirements.at(0).relation;
}

TEST(Conditions, StartsOfLiterals) {
  const std::string draft =
      "enum Phase { New, Sent }\nstruct Author { name: String }\n"
      "struct Draft { text: String, rounds: i32, phase: Phase, note: String?, tags: List<String>, author: Author }";
  const std::string start =
      "Draft { text: \"\", rounds: given, phase: Phase::New, note: None, tags: [\"a\", \"b\"], "
      "author: Author { name: \"Ann\" } }";
  for (const auto& [required, expected] : std::map<std::string, Relation>{{"r.text.is_empty()", entails},
                                                                          {"r.text.len() > 0", contradicts},
                                                                          {"r.rounds < 3", open},
                                                                          {"r.phase == Phase::Sent", contradicts},
                                                                          {"r.phase != Phase::Sent", entails},
                                                                          {"r.note.is_some()", contradicts},
                                                                          {"r.tags.len() == 2", entails},
                                                                          {"r.tags[1] == \"b\"", entails},
                                                                          {"r.tags[2] == \"b\"", open},
                                                                          {"r.author.name != \"\"", entails}}) {
    EXPECT_EQ(at_start(start, "Draft", required, draft), expected) << required;
  }
  EXPECT_EQ(at_start("Box { items: [] }", "Box", "r.items.is_empty()", "struct Box { items: List<i32> }"), entails);
  EXPECT_EQ(at_start("Some(4)", "i32?", "r == Some(4)", ""), entails);
  EXPECT_EQ(at_start("Story(\"x\")", "Story", "r.len() == 1", ""), entails);
  EXPECT_EQ(at_start("(1, true)", "(i32, Boolean)", "r.1 && r.0 < 2", ""), entails);
  EXPECT_EQ(at_start("4 as i64", "i64", "r > 4", ""), contradicts);
  EXPECT_EQ(at_start("true", "Boolean", "!r", ""), contradicts);
}

TEST(Conditions, NoneIsTheSameOfEveryType) {
  EXPECT_EQ(relation("Small?", "result == None", "r == None", "type Small = i32 in 0..=5"), entails);
}

TEST(Conditions, LiteralArguments) {
  EXPECT_EQ(relation("i32", "result >= other", "r < other", "", "5", "10"), open);
  EXPECT_EQ(relation("i32", "result >= other", "r < other", "", "10", "5"), contradicts);
  EXPECT_EQ(relation("i32", "result < other", "r < other", "", "5", "50"), entails);
  EXPECT_EQ(relation("i32", "result < other", "r < other", "", "50", "5"), open);
  EXPECT_EQ(relation("i32", "result < other", "r < other"), open);
  EXPECT_EQ(relation("i32", "result > 3 || other > 7", "r > 3", "", "5", "5"), entails);
  EXPECT_EQ(relation("i32", "result > 3 || other > 7", "r > 3", "", "8", "5"), open);
  EXPECT_EQ(relation("i32", "result > 3", "r > 3 && 5 == other", "", "5", "6"), contradicts);
}

TEST(Conditions, Refinements) {
  EXPECT_EQ(relation("String len 10..=80", "true", "r.len() >= 10 && r.len() <= 80"), entails);
  EXPECT_EQ(relation("String len 10..=80", "true", "r.len() > 80"), contradicts);
  EXPECT_EQ(relation("i32 in 1..=9", "result != 9", "r < 9"), entails);
  EXPECT_EQ(relation("Box", "true", "r.size < 10", "struct Box { size: i32 in 1..=9 }"), entails);
}

TEST(Conditions, TooManyCasesAreOpen) {
  std::string many = "result == 0";
  for (int n = 2; n < 600; n += 2) many += " || result == " + std::to_string(n);
  EXPECT_EQ(relation("i32", many, "r < 600"), open);
}

TEST(Conditions, AreComparedInStepsLinearInTheirSize) {
  TypeTable types;
  const auto within = [&](std::int64_t low, std::int64_t high) {
    Refinement range;
    range.low = low;
    range.high = high;
    return Condition(types, types.refined(TypeTable::i32, range));
  };
  constexpr std::size_t steps_per_comparison_max = 50;
  for (const std::int64_t count : {1, 10, 100, 1'000}) {
    Condition given;
    for (std::int64_t number = 0; number < count; ++number) given = given && within(1'000 + number, 5'000);
    EXPECT_EQ(size_of(given), static_cast<std::size_t>(count));
    ComparisonSteps steps{1'000'000};
    EXPECT_TRUE(may_hold(given, steps));
    EXPECT_FALSE(may_hold(given, within(0, 10), steps));
    EXPECT_LT(1'000'000 - steps.left, 2 * steps_per_comparison_max * static_cast<std::size_t>(count + 1));
    ComparisonSteps none{1};
    EXPECT_TRUE(may_hold(given, within(0, 10), none)) << "as far as known";
    EXPECT_EQ(none.left, 0U);
  }
}

TEST(Plans, EachActionOfAPursueIsComparedWithWhatPrecedesIt) {
  // Every second action requires more than any action gives.
  std::string text = "struct State { n: i32, m: i32 }\n";
  std::string actions;
  constexpr int count = 64;
  for (int number = 0; number < count; ++number) {
    text += "fn act" + std::to_string(number) + "(s: State) -> State\n    requires s.n " +
            (number % 2 == 0 ? "<= 5" : "> 5") +
            "\n    ensures result.n <= 5 && result.m == " + std::to_string(number) + "\n{ s }\n";
    actions += "act" + std::to_string(number) + "(_)\n";
  }
  test::OneFile file(text + "fn main(ctx: Context) -> State { pursue |s| s.n == 3 from State { n: 0, m: 0 } {\n" +
                     actions + "} }");
  const Checked checked = check("program.tn", file, Strictness::Relaxed);
  EXPECT_FALSE(checked.diagnostics.has_errors());
  EXPECT_EQ(checked.diagnostics.all().size(), static_cast<std::size_t>(count / 2));
  const std::vector<PursuitPlan> plans = make_plans(checked.program, {});
  for (int number = 0; number < count; ++number) {
    EXPECT_EQ(plans.at(0).actions.at(static_cast<std::size_t>(number)).is_reachable, number % 2 == 0) << number;
  }
}

TEST(PlanVerdicts, TheFileIsReadAsItIsWritten) {
  PlanVerdicts verdicts;
  for (const char* const wanted : {"b \"quoted\"\n", "a"}) {
    PlanVerdict verdict{{"Draft", {"x", "y"}, wanted, {"struct Draft {\n}"}}, Relation::Entails, "because", "script:a"};
    verdicts.emplace(verdict.question.key(), verdict);
  }
  const std::string text = write_plan(verdicts);
  EXPECT_EQ(read_plan(text).value(), verdicts);
  EXPECT_LT(text.find("\"a\""), text.find("quoted"));
  EXPECT_NE((EntailmentQuestion{"String", {"x", "y"}, "z"}.key()), (EntailmentQuestion{"String", {"xy"}, "z"}.key()));
  EXPECT_NE((EntailmentQuestion{"T", {"x", "y"}, "z"}.key()), (EntailmentQuestion{"T", {"x"}, "z", {"y"}}.key()));
}

TEST(PlanVerdicts, RejectsOtherFiles) {
  for (const auto& [text, message] : std::map<std::string, std::string>{
           {"", "it is not a JSON file written by `tenon plan`"},
           {"[]", "it is not a JSON file written by `tenon plan`"},
           {"{}", "the number \"format\" is missing"},
           {R"({"format":3,"entailments":[]})", "it has format 3, but this version of Tenon reads format 2"},
           {R"({"format":1})", "the list \"entailments\" is missing"},
           {R"({"format":1,"entailments":[1]})", "entry 1 is not an object"},
           {R"({"format":1,"entailments":[{"wanted":"a","type":"T"}]})", "entry 1 has no list of strings \"given\""},
           {R"({"format":2,"entailments":[{"wanted":"a","type":"T","given":["b"],"definitions":"c"}]})",
            "entry 1 has no list of strings \"definitions\""},
           {R"({"format":1,"entailments":[{"wanted":5,"type":"T","given":["b"],"relation":"open"}]})",
            R"(entry 1 has a "wanted" that is not a string: 5)"},
           {R"({"format":1,"entailments":[{"wanted":"a","type":"T","given":["b"],"relation":"open","reason":[]}]})",
            R"(entry 1 has a "reason" that is not a string: [])"},
           {R"({"format":1,"entailments":[{"wanted":"a","type":"T","given":["b"],"relation":"maybe"}]})",
            R"(entry 1 needs a "relation": "entails", "contradicts" or "open")"}}) {
    const auto read = read_plan(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().message, message);
  }
}

}  // namespace
}  // namespace tenon::types
