#include "algebra/reconstruct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "algebra/compare.h"
#include "algebra/extract.h"
#include "algebra/form.h"
#include "base/clock.h"
#include "runtime/runtime.h"
#include "tests/support/journal_testing.h"
#include "tests/support/no_model.h"
#include "tests/support/prompting_agents.h"
#include "tests/support/random_interactions.h"
#include "tests/support/recorded_run.h"
#include "tests/support/sanitized.h"

namespace tenon::algebra {
namespace {

using test::RecordedAnswerer;
using test::RecordOptions;

class Reconstruct : public test::JournalTest {
 protected:
  Interaction interaction_of(const journal::RunName& run, const std::shared_ptr<const runtime::ProgramImage>& image) {
    auto extracted = extract(store->journals(), run, test::images_of(image));
    EXPECT_TRUE(extracted.has_value()) << extracted.error().message;
    return extracted ? std::move(*extracted) : Interaction{};
  }

  /// The form and the program alone give the same events.
  static void expect_rebuilt(const Interaction& recorded, const std::shared_ptr<const runtime::ProgramImage>& image) {
    const auto read = read_form(write_form(recorded.artifacts));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(*read, recorded.artifacts);
    const auto rebuilt = reconstruct(image, *read);
    ASSERT_TRUE(rebuilt.has_value()) << rebuilt.error().message;
    EXPECT_EQ(rebuilt->events, recorded.events);
  }
};

TEST_F(Reconstruct, RandomRunsAreRebuiltFromTheirArtifacts) {
  std::size_t calls = 0, ordered = 0, discarded = 0;
  for (std::uint32_t seed = 1; seed <= test::cases(450); ++seed) {
    const std::string text = test::InteractionGenerator(seed).generate();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const auto image = test::make_image(text);
    const RecordedAnswerer answerer = test::answer_by_hash(image, seed, seed % 3 * 6, seed % 5 == 0 ? 4 : 0);
    const RecordOptions options{{.tokens = seed % 4 == 0 ? std::optional<std::uint64_t>(90) : std::nullopt},
                                seed,
                                seed % 2 == 0 ? "enough" : ""};
    const auto run = test::record_run(store->journals(), image, "main", "[null,5]", answerer, options);
    const Interaction recorded = interaction_of(run, image);
    expect_rebuilt(recorded, image);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    calls += recorded.artifacts.q.size();
    if (!recorded.artifacts.h.front().control.order.empty()) ++ordered;
    for (const CallResult& result : recorded.artifacts.r)
      discarded += std::holds_alternative<Discarded>(result) ? 1U : 0U;
  }
  // The test sees what it is about.
  EXPECT_GT(calls, test::cases(2'000));
  EXPECT_GT(ordered, test::cases(5));
  EXPECT_GT(discarded, test::cases(20));
}

TEST_F(Reconstruct, TheOrderOfFinishingIsInNoHash) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const std::string text = test::InteractionGenerator(seed).generate();
    SCOPED_TRACE(text);
    const auto image = test::make_image(text);
    const RecordedAnswerer answerer = test::answer_by_hash(image, seed, 0, 0);
    const auto hash = [&](std::uint32_t order) {
      const auto run = test::record_run(store->journals(), image, "main", "[null,5]", answerer, {{}, order, ""});
      return hash_of(interaction_of(run, image).artifacts);
    };
    const auto first =
        interaction_of(test::record_run(store->journals(), image, "main", "[null,5]", answerer, {{}, 1, ""}), image);
    // A budget that branches share may be spent by another branch when that is faster.
    if (!first.artifacts.h.front().control.is_empty()) continue;
    EXPECT_EQ(hash(2), hash_of(first.artifacts));
    EXPECT_EQ(hash(3), hash_of(first.artifacts));
    if (HasNonfatalFailure()) return;
  }
}

constexpr const char* four_arrays = R"(
extern fn fetch(x: i32) -> i32
fn twice(ctx: Context, x: i32) -> i32 { x * 2 }
fn thrice(ctx: Context, x: i32) -> i32 { x * 3 }
fn main(ctx: Context, n: i32) -> i32 {
    let used = fetch(_)
    let picked = select {
        twice(ctx, _) as a => 0
        thrice(ctx, _) as a => 0
    }
    return 7
}
)";

/// What is answered to `fetch(_)`, by fetch, and to the select.
struct Answers {
  std::int64_t argument = 1, fetched = 2;
  std::uint32_t clause = 0;
  std::int64_t chosen_argument = 0;
};

RecordedAnswerer answer_with(const Answers& answers) {
  return [=](const runtime::OpenRequest& open) -> std::optional<vm::Outcome> {
    switch (open.request.kind) {
      case vm::RequestKind::Extern:
        return vm::Outcome{vm::ReturnedValue{vm::Value::integer(answers.fetched)}, {}};
      case vm::RequestKind::Fill:
        return vm::Outcome{vm::FilledArguments{{vm::Value::integer(answers.argument)}}, {}};
      case vm::RequestKind::Select:
        return vm::Outcome{vm::SelectedClause{answers.clause, {vm::Value::integer(answers.chosen_argument)}}, {}};
      case vm::RequestKind::Complete:
        break;
    }
    return std::nullopt;
  };
}

/// Which of the four arrays differ.
std::string differing(const Artifacts& a, const Artifacts& b) {
  std::string names;
  if (a.h != b.h) names += "h";
  if (a.q != b.q) names += "q";
  if (a.sigma != b.sigma) names += "sigma";
  if (a.r != b.r) names += "r";
  return names;
}

TEST_F(Reconstruct, EachOfTheFourIsNeeded) {
  const auto image = test::make_image(four_arrays);
  const auto record = [&](const std::string& arguments, const Answers& answers) {
    const auto run = test::record_run(store->journals(), image, "main", arguments, answer_with(answers));
    Interaction recorded = interaction_of(run, image);
    expect_rebuilt(recorded, image);
    return recorded.artifacts;
  };
  // 0 doubled and tripled is 0.
  const Artifacts base = record("[null,1]", {});
  EXPECT_EQ(differing(base, record("[null,1]", {})), "");
  EXPECT_EQ(differing(base, record("[null,2]", {})), "h");
  EXPECT_EQ(differing(base, record("[null,1]", {.argument = 5})), "q");
  EXPECT_EQ(differing(base, record("[null,1]", {.clause = 1})), "sigma");
  EXPECT_EQ(differing(base, record("[null,1]", {.fetched = 9})), "r");
  EXPECT_NE(hash_of(base), hash_of(record("[null,1]", {.clause = 1})));
}

TEST_F(Reconstruct, TheFormOfAnAnswerIsPartOfTheHash) {
  const auto record = [&](const std::string& type) {
    const auto image = test::make_image("fn main(ctx: Context) -> " + type + " {\n    \"How many?\"!\n}\n");
    const auto run = test::record_run(store->journals(), image, "main", "[null]", [](const runtime::OpenRequest&) {
      return std::optional(vm::Outcome{vm::ReturnedValue{vm::Value::integer(3)}, {}});
    });
    Interaction recorded = interaction_of(run, image);
    expect_rebuilt(recorded, image);
    return recorded.artifacts;
  };
  const Artifacts any = record("i32");
  const Artifacts bounded = record("i32 in 1..=5");
  EXPECT_EQ(any.q.front().contexts, bounded.q.front().contexts);
  EXPECT_NE(any.q.front().requests, bounded.q.front().requests);
  EXPECT_NE(hash_of(any), hash_of(bounded));
  const std::vector<Difference> found = compare(any, bounded);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().kind, DifferenceKind::Request);
}

TEST_F(Reconstruct, ArtifactsOfAnotherProgramAreReportedWithBothSides) {
  const auto image = test::make_image(four_arrays);
  const Artifacts base =
      interaction_of(test::record_run(store->journals(), image, "main", "[null,1]", answer_with({})), image).artifacts;
  const auto message = [&](const Artifacts& artifacts) {
    const auto rebuilt = reconstruct(image, artifacts);
    return rebuilt ? std::string("rebuilt") : rebuilt.error().message;
  };
  EXPECT_EQ(message(base), "rebuilt");
  Artifacts other = base;
  other.r[1] = std::string("4");
  EXPECT_THAT(message(other), testing::HasSubstr("the artifacts: call 2 at 1: `twice` of"));
  EXPECT_THAT(message(other), testing::HasSubstr("the program: call 2 at 1: `twice` of"));
  other = base;
  other.h.front().result = std::string("8");
  EXPECT_THAT(message(other), testing::HasSubstr("the artifacts: {\"value\":8}\n  the program: {\"value\":7}"));
  other = base;
  other.sigma.front()[0].at = "9";
  EXPECT_THAT(message(other), testing::HasSubstr("a call that the artifacts do not have"));
  other = base;
  other.q[1].requests.push_back(sha256("another request"));
  const std::string asked = "; asked with " + base.q[1].requests.front().hex();
  EXPECT_THAT(message(other), testing::HasSubstr(asked + ", " + sha256("another request").hex() + "\n"));
  EXPECT_THAT(message(other), testing::EndsWith(asked));
  other = base;
  other.tools.pop_back();
  EXPECT_THAT(message(other), testing::HasSubstr("the program has other tools"));
  other = base;
  other.q.pop_back();
  EXPECT_THAT(message(other), testing::HasSubstr("sigma has 2 calls, q 1 and r 2"));
}

TEST_F(Reconstruct, RepairsAndCostsAreInNoHash) {
  const auto image = test::make_image(four_arrays);
  const auto hash = [&](const vm::Usage& usage) {
    const RecordedAnswerer answers = answer_with({});
    const RecordedAnswerer costly = [&](const runtime::OpenRequest& open) {
      auto outcome = answers(open);
      if (outcome) outcome->usage = usage;
      return outcome;
    };
    return hash_of(
        interaction_of(test::record_run(store->journals(), image, "main", "[null,1]", costly), image).artifacts);
  };
  EXPECT_EQ(hash({}), hash({3, 1'000, 20, 900}));
}

TEST_F(Reconstruct, ARunThatWaitsHasItsCallsSoFar) {
  const auto image = test::make_image("fn main() -> i32 { ask<i32>(\"one?\") + ask<i32>(\"two?\") }\n");
  std::size_t asked = 0;
  const RecordedAnswerer once = [&](const runtime::OpenRequest&) -> std::optional<vm::Outcome> {
    if (asked++ > 0) return std::nullopt;
    return vm::Outcome{vm::ReturnedValue{vm::Value::integer(1)}, {}};
  };
  const auto recorded = interaction_of(test::record_run(store->journals(), image, "main", "[]", once), image);
  expect_rebuilt(recorded, image);
  ASSERT_EQ(recorded.artifacts.r.size(), 2U);
  EXPECT_EQ(recorded.artifacts.r[1], CallResult(Pending{}));
  EXPECT_EQ(recorded.artifacts.h.front().result, CallResult(Pending{}));
}

constexpr const char* reporting_text = R"tn(
agent Clerk {
    state { served: i32 = 0 }
    fn turn(ctx: Context, request: String) -> String {
        state.served += 1
        emit("serving")
        let name = ask<String>("Your name?")
        emit("served")
        name
    }
}
agent Desk {
    fn turn(ctx: Context, request: String) -> String {
        let first = ask<String>("First?")
        let second = Clerk::run("{{ first }}")
        emit("passing on")
        Clerk::handoff("over")
    }
}
fn main() -> String {
    let first = ask<String>("before?")
    let (a, b) = parallel {
        Clerk::run("a")
        { emit("b begins"); ask<String>("b?") }
    }
    emit("end")
    "{{ a }} {{ b }}"
}
)tn";

const RecordedAnswerer says_yes = [](const runtime::OpenRequest&) -> std::optional<vm::Outcome> {
  return vm::Outcome{vm::ReturnedValue{vm::Value::string("yes")}, {}};
};

/// A process may end between any two records, also between a notification and its outcome.
TEST_F(Reconstruct, AJournalThatEndsAnywhereIsRebuilt) {
  const auto image = test::make_image(reporting_text);
  const auto record = [&](bool is_conversation, std::size_t records_max) {
    RecordOptions options;
    options.records_max = records_max;
    if (!is_conversation) return test::record_run(store->journals(), image, "main", "[]", says_yes, options);
    return test::record_conversation(store->journals(), image, "Desk", {"hello", "again"}, says_yes, options);
  };
  for (const bool is_conversation : {false, true}) {
    const std::uint64_t all = store->journals().head(record(is_conversation, SIZE_MAX))->records;
    ASSERT_GE(all, 20U);
    // Nothing was said to an agent before the second record.
    for (std::size_t count = is_conversation ? 2 : 1; count <= all; ++count) {
      SCOPED_TRACE(testing::Message() << "the first " << count << " records of " << all);
      expect_rebuilt(interaction_of(record(is_conversation, count), image), image);
      const auto ended = record(is_conversation, count);
      ASSERT_TRUE(runtime::cancel_stored(store->journals(), ended, "closed", 1).has_value());
      expect_rebuilt(interaction_of(ended, image), image);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

/// A branch that fails cancels the others. How far these have come also depends on when their notifications end.
TEST_F(Reconstruct, BranchesThatEmitAreRebuiltInAnyOrderOfTheirAnswers) {
  std::string branches;
  for (int at = 1; at <= 12; ++at) branches += "        branch(" + std::to_string(at) + ")\n";
  const auto image = test::make_image(R"tn(
fn branch(x: i32) -> i32 {
    emit("begin {{ x }}")
    let a = ask<i32>("First {{ x }}?")
    emit("got {{ a }}")
    emit("from {{ x }}")
    assert a < 10
    let b = ask<i32>("Second {{ x }}?")
    emit("end {{ b }}")
    ask<i32>("Third {{ x }}?")
}

fn main() -> i32 {
    parallel {
)tn" + branches + R"tn(
    } catch failed {
        ask<i32>("Failed?")
        return 0
    }
    1
}
)tn");
  test::NoModel model;
  RealClock clock;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const journal::RunName name = journal::make_run_name(seed);
    runtime::Runtime runtime({.model = model, .clock = clock, .store = &store->journals()}, {});
    const auto run = runtime.start(image, *runtime::find_function(image->program(), "main"), {}, {}, name);
    for (;;) {
      while (runtime.poll(std::chrono::milliseconds{0})) {
      }
      if (runtime.end(run)) break;
      std::vector<runtime::PendingInput> questions = runtime.questions(run);
      ASSERT_FALSE(questions.empty());
      std::shuffle(questions.begin(), questions.end(), random);
      questions.resize(1 + random() % questions.size());
      for (const runtime::PendingInput& question : questions) {
        ASSERT_TRUE(runtime.answer(run, question.wait, std::to_string(random() % 11)).has_value());
      }
    }
    expect_rebuilt(interaction_of(name, image), image);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST_F(Reconstruct, WhatIsEmittedIsPartOfTheHash) {
  const auto saying = [](const std::string& word, int width) {
    return test::make_image("fn main() -> i32 {\n    emit(\"" + word +
                            " begins\")\n    let all = for x in [1, 2, 3] parallel(" + std::to_string(width) + R"tn() {
        emit("before {{ x }}")
        let y = ask<i32>("{{ x }}?")
        emit("after {{ y }}")
        y
    }
    emit("end")
    all.sum()
}
)tn");
  };
  const RecordedAnswerer answers = [](const runtime::OpenRequest&) -> std::optional<vm::Outcome> {
    return vm::Outcome{vm::ReturnedValue{vm::Value::integer(7)}, {}};
  };
  const RecordedAnswerer fails = [&](const runtime::OpenRequest& open) -> std::optional<vm::Outcome> {
    if (open.request.arguments[0].as_text() != "2?") return answers(open);
    return vm::Outcome{vm::EffectFailure{types::FailureKind::Raised, "no answer", "ask"}, {}};
  };
  const auto record = [&](const std::shared_ptr<const runtime::ProgramImage>& image, std::uint32_t order,
                          const RecordedAnswerer& answerer) {
    const auto run = test::record_run(store->journals(), image, "main", "[]", answerer, {{}, order, ""});
    Interaction recorded = interaction_of(run, image);
    expect_rebuilt(recorded, image);
    return recorded.artifacts;
  };
  using Said = std::vector<std::string>;
  const auto together = saying("one", 3);
  for (std::uint32_t order = 0; order < 6; ++order) {
    EXPECT_EQ(record(together, order, answers).h.front().said,
              (Said{"\"one begins\"", "\"before 1\"", "\"after 7\"", "\"before 2\"", "\"after 7\"", "\"before 3\"",
                    "\"after 7\"", "\"end\""}));
  }
  EXPECT_EQ(record(saying("one", 1), 1, fails).h.front().said,
            (Said{"\"one begins\"", "\"before 1\"", "\"after 7\"", "\"before 2\""}));
  EXPECT_NE(hash_of(record(together, 1, answers)), hash_of(record(saying("two", 3), 1, answers)));
}

constexpr const char* agent_text = R"tn(
agent Clerk {
    state { served: i32 = 0 }
    instructions { "You are a clerk." }
    fn turn(ctx: Context, request: String) -> String {
        state.served += 1
        let name = ask<String>("Your name?")
        let note = judge(ctx, request)
        "{{ name }}, {{ note }} ({{ state.served }})"
    }
    fn judge(ctx: Context, request: String) -> String { "Judge it"! }
}
)tn";

TEST_F(Reconstruct, AConversationHasACycleForEachTurn) {
  const auto image = test::make_image(agent_text);
  const RecordedAnswerer answers = [](const runtime::OpenRequest& open) -> std::optional<vm::Outcome> {
    return vm::Outcome{
        vm::ReturnedValue{vm::Value::string(open.request.kind == vm::RequestKind::Complete ? "fine" : "Ann")}, {}};
  };
  const auto run = test::record_conversation(store->journals(), image, "Clerk", {"a stamp", "a coin"}, answers);
  const Interaction recorded = interaction_of(run, image);
  expect_rebuilt(recorded, image);
  ASSERT_EQ(recorded.artifacts.h.size(), 2U);
  EXPECT_EQ(recorded.artifacts.h[1].input, "a coin");
  EXPECT_EQ(recorded.artifacts.h[1].result, CallResult(std::string("\"Ann, fine (2)\"")));
  ASSERT_EQ(recorded.artifacts.sigma[1].size(), 2U);
  EXPECT_EQ(recorded.artifacts.tools[recorded.artifacts.sigma[1][0].tool].name, "ask");
  EXPECT_THAT(recorded.events, testing::Contains(R"({"event":"state","state":{"served":2}})"));
}

TEST_F(Reconstruct, AHandoffIsACallOfTheNextAgent) {
  const auto image = test::make_image(R"tn(
agent Billing {
    state { bills: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.bills += 1
        "bill {{ state.bills }} for {{ input }}"
    }
}
agent Support {
    fn turn(ctx: Context, input: String) -> String {
        let answer = Billing::run("by the way")
        if input.contains("invoice") { Billing::handoff(input + ", " + answer) }
        "hello"
    }
}
)tn");
  const RecordedAnswerer no_answer = [](const runtime::OpenRequest&) { return std::nullopt; };
  const auto run =
      test::record_conversation(store->journals(), image, "Support", {"hi", "an invoice", "another"}, no_answer);
  const Interaction recorded = interaction_of(run, image);
  expect_rebuilt(recorded, image);
  const Artifacts& artifacts = recorded.artifacts;
  ASSERT_EQ(artifacts.h.size(), 3U);
  EXPECT_EQ(artifacts.h[0].result, CallResult(std::string("\"hello\"")));
  EXPECT_EQ(artifacts.h[1].result, CallResult(std::string("\"bill 1 for an invoice, bill 1 for by the way\"")));
  EXPECT_EQ(artifacts.h[2].agent, "Billing");
  EXPECT_EQ(artifacts.h[2].result, CallResult(std::string("\"bill 2 for another\"")));
  EXPECT_THAT(recorded.events, testing::Contains(testing::HasSubstr(R"("event":"handoff","tool":"Billing")")));
  ASSERT_EQ(artifacts.sigma[1].size(), 2U);
  EXPECT_EQ(artifacts.tools[artifacts.sigma[1][1].tool], (Tool{ToolKind::Agent, "Billing"}));
}

TEST_F(Reconstruct, AnAgentThatAnExternPromptsIsACallOfItsOwn) {
  const auto image = test::make_image(test::prompting_agents);
  const test::RecordedAnswerer answers = [&](const runtime::OpenRequest& open) -> std::optional<vm::Outcome> {
    return test::answer_prompting(open.request, image->program());
  };
  const auto expect = [&](const journal::RunName& run, std::string_view part) {
    const Interaction recorded = interaction_of(run, image);
    EXPECT_THAT(write_form(recorded.artifacts), testing::HasSubstr(part));
    expect_rebuilt(recorded, image);
  };
  expect(test::record_run(store->journals(), image, "main", "[]", answers),
         R"({"child":{"agent":"Number","input":"2"}})");
  // The clerk who takes the second turn over has the third one too.
  expect(test::record_conversation(store->journals(), image, "Boss", {"hi", "leave", "fail", "then"}, answers),
         R"({"successor":{"agent":"Clerk","input":"over"}})");
}

TEST_F(Reconstruct, ACancelledRunHasCleanedUp) {
  const auto image = test::make_image(R"tn(
fn main() -> String {
    let first = ask<String>("before?")
    {
        let rows = for wing in ["north", "south"] parallel(2) {
            { ask<String>("{{ wing }}?") } finally {
                emit("{{ wing }} closes")
                ask<String>("clean {{ wing }}?") catch _ { "no answer" }
                ask<String>("clean {{ wing }} again?")
            }
        }
        rows.join(", ")
    } finally {
        ask<String>("clean up?")
    }
}
)tn");
  const RecordedAnswerer cleans = [](const runtime::OpenRequest& open) -> std::optional<vm::Outcome> {
    const std::string_view question = open.request.arguments[0].as_text();
    if (question != "before?" && !question.starts_with("clean")) return std::nullopt;
    return vm::Outcome{vm::ReturnedValue{vm::Value::string("yes")}, {}};
  };
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const auto run = test::record_run(store->journals(), image, "main", "[]", cleans, {{}, seed, "out of season"});
    const Interaction recorded = interaction_of(run, image);
    expect_rebuilt(recorded, image);
    const Artifacts& artifacts = recorded.artifacts;
    ASSERT_EQ(artifacts.q.size(), 8U);
    const Control& control = artifacts.h.front().control;
    EXPECT_EQ(control.cancel, (Control::Cancel{1, "out of season"}));
    EXPECT_EQ(control.order.size(), 6U);
    EXPECT_FALSE(control.is_stopped);
    EXPECT_EQ(std::get<Failed>(artifacts.h.front().result).kind, types::FailureKind::Cancelled);
  }
}

}  // namespace
}  // namespace tenon::algebra
