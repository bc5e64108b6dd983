// What is known of a program's calls that act before it runs, and that the machine agrees: what is proved, it never
// refuses, and what is refused, it never makes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include "flows/flows.h"
#include "runtime/conversation.h"
#include "tests/support/machine_run.h"
#include "tests/support/program_image.h"
#include "tests/trust/random_program.h"
#include "vm/execution/tool_sets.h"

namespace tenon {
namespace {

using flows::Verdict;

// What is known of programs.

constexpr std::string_view proof_externs = R"(
extern fn flag() -> Boolean
extern fn count() -> i32
extern fn word() -> String
extern fn words() -> List<String>
extern fn broken() -> String
extern fn sink(text: trusted String) -> ()
extern(acts) fn act() -> ()
)";

/// `act proved; sink.text tested by extern word`: the findings in order, without those that say that a call with a
/// trusted parameter is made.
std::string verdicts_of(const bytecode::Program& program) {
  std::string text;
  for (const flows::Sink& sink : flows::find_flows(program)) {
    for (const flows::Finding& finding : sink.findings) {
      const bool is_call_of_sink = finding.subject == flows::Subject::Call && sink.findings.size() > 1;
      if (is_call_of_sink && finding.verdict == Verdict::Proved) continue;
      if (!text.empty()) text += "; ";
      text += finding.name + " ";
      text += sink.is_reached ? flows::verdict_name(finding.verdict) : "not reached";
      for (const flows::Source& source : finding.sources) text += " " + flows::describe(program, source);
    }
  }
  return text;
}

struct ProofCase {
  std::string_view name;
  std::string_view text;
  std::string_view expected;
};

class Proofs : public testing::TestWithParam<ProofCase> {};

TEST_P(Proofs, AreFound) {
  const auto image = test::make_image(std::string(proof_externs) + std::string(GetParam().text));
  EXPECT_EQ(verdicts_of(image->program()), GetParam().expected);
}

// clang-format off
constexpr ProofCase proof_cases[] = {
  {"a_constant", R"(fn main() { sink("a") })", "sink.text proved"},
  {"an_argument", R"(fn main(to: String) { sink(to) })", "sink.text proved"},
  {"a_result", R"(fn main() { sink(word()) })", "sink.text refused extern word"},
  {"a_choice", R"(fn main(b: Boolean) { sink(if b { word() } else { "a" }) })", "sink.text tested extern word"},
  {"a_decision", R"(fn main() { sink(if flag() { "a" } else { "b" }) })", "sink.text refused extern flag"},
  {"a_call_in_a_decision", R"(fn main() { if flag() { act() }; act() })", "act refused extern flag; act proved"},
  {"a_person", R"(fn main() { sink(ask<String>("who?")) })", "sink.text refused person"},
  {"a_trusted_person", "trust person\nfn main() { sink(ask<String>(\"who?\")) }", "sink.text proved"},
  {"a_field", R"(
    struct Mail { to: String, body: String }
    fn main(to: String) { let mail = Mail { to: to, body: word() }; sink(mail.to); sink(mail.body) })",
    "sink.text proved; sink.text refused extern word"},
  {"a_field_of_a_parameter", R"(
    struct Mail { to: String, body: String }
    fn send(mail: Mail) { sink(mail.to) }
    fn main(to: String) { send(Mail { to: to, body: word() }) })", "sink.text proved"},
  {"a_key_that_is_removed", R"(
    fn main() { let m = Map::from([("a", 1)]); m.remove(word()); sink("{{ m.len() }}") })",
    "sink.text refused extern word"},
  {"tools_that_are_kept", R"(
    fn f() -> String { "f" }
    fn main() { sink(tools { f as a, f as b }.only(words()).names().join(",")) })", "sink.text refused extern words"},
  {"tools_that_are_named_by_items", R"(
    fn f() -> String { "f" }
    fn main() { sink(tools { f as a, f as b }.without([word()]).names().join(",")) })",
    "sink.text tested extern word"},
  {"a_role_of_an_entry", R"(fn main(ctx: Context) {
      ctx.inject_as(if flag() { "user" } else { "system" }, "text"); sink(ctx.entries()[0].role)
    })", "sink.text refused extern flag"},
  {"an_entry", R"(fn main(ctx: Context) {
      let c = Context::new(); c.inject(word()); sink(c.entries()[0].text)
      let d = c; d.inject("p"); sink(d.entries()[1].text)
      if flag() { ctx.inject("p") }; sink(ctx.entries()[0].text); sink("{{ c.len() }}")
    })",
    "sink.text refused extern word; sink.text tested extern word; sink.text refused extern flag; sink.text proved"},
  {"what_a_model_has_before_its_eyes", R"(fn main(ctx: Context) { word()!; "p"!; sink(_) })",
    "sink.text refused extern word"},
  {"a_key_of_a_vouched_map", R"(
    struct Mail { id: trusted i64, body: String }
    extern fn mails() -> Map<Mail>
    fn main() {
      let m = mails(); sink("{{ m.len() }}"); sink(m.keys()[0]); for (_, mail) in m { sink("{{ mail.id }}") }
    })",
    "sink.text proved; sink.text refused extern mails; sink.text proved"},
  {"a_field_of_an_item", R"(
    struct Mail { to: String, body: String }
    fn main(to: String) { let mails = [Mail { to: to, body: word() }]; for mail in mails { sink(mail.to) } })",
    "sink.text proved"},
  {"an_item_of_a_list", R"(fn main() { for one in words() { sink("a") } })", "sink refused extern words; sink.text proved"},
  {"a_length", R"(fn main() { let all = [word()]; sink(all.len().to_string()) })", "sink.text proved"},
  {"an_option", R"(fn main(m: String?) { sink(m ?? word()) })", "sink.text tested extern word"},
  {"what_is_not_reached", R"(
    agent Desk { fn turn(ctx: Context, input: String) -> String { input } }
    fn pick<T>(x: T) -> T { act(); x }
    fn main() { act() })", "act proved"},
  {"two_callers", R"(
    fn send(to: String) { sink(to) }
    fn main() { send("a"); send(word()) })", "sink.text tested extern word"},
  {"a_result_of_a_function", R"(
    fn pick(b: Boolean) -> String { if b { return "left" }; "right" }
    fn main(b: Boolean) { sink(pick(b)); sink(pick(flag())) })", "sink.text proved; sink.text refused extern flag"},
  {"a_recursion", R"(
    fn down(n: i32) -> i32 { if n == 0 { 0 } else { 1 + down(n - 1) } }
    fn main(n: i32) { sink(down(n).to_string()); sink(down(count()).to_string()) })",
    "sink.text proved; sink.text refused extern count"},
  {"a_model_that_saw_it", R"(fn main(ctx: Context) { word()!; sink(_) })", "sink.text refused extern word"},
  {"a_model_that_did_not", R"(fn main(ctx: Context) { "Say a word"!; sink(_); word()! })", "sink.text proved"},
  {"a_frame_of_its_own", R"(
    fn read(ctx: Context) -> String { word()! }
    fn main() { let text = read(Context::new()); sink("a"); sink(text) })",
    "sink.text proved; sink.text refused extern word"},
  {"a_select", R"(
    fn one() -> i32 { 1 }
    fn two() -> i32 { 2 }
    fn main(ctx: Context) { word()!; select { one() => act()
      two() => act() }; act() })", "act refused extern word; act refused extern word; act proved"},
  {"a_tool_by_name", R"(fn main(to: String) -> i32 {
    tools { sink }.call("sink", Map::from([("text", to)])).unwrap().len() })", "sink.text proved"},
  {"a_tool_by_name_with_a_result", R"(fn main() -> i32 {
    tools { sink }.call("sink", Map::from([("text", word())])).unwrap().len() })", "sink.text tested extern word"},
  {"a_tool_by_name_with_an_argument_of_its_own", R"(
    extern fn mail(to: trusted String, body: String) -> String
    fn main() -> i32 {
      tools { mail(word(), _), sink(_) }.call("mail", Map::from([("body", "a")])).unwrap().len()
    })", "mail.to tested extern word; sink.text proved"},
  {"a_name_of_a_tool", R"(fn main() -> i32 {
    tools { sink }.call(word(), Map::from([("text", "a")])).unwrap().len() })",
    "sink refused extern word; sink.text refused extern word"},
  {"whether_a_value_is_trusted", R"(fn main() { if word().is_trusted() { act() }; sink(word().parts()[0]) })",
    "act proved; sink.text tested extern word"},
  {"a_catch", R"(fn main() { broken() catch _ { act(); "" }; act() })", "act tested extern broken; act proved"},
  {"a_failure_of_a_callee", R"(
    fn check() -> i32 { if flag() { fail("no") }; 1 }
    fn main() { check() catch _ { act(); 0 }; act() })", "act tested extern flag; act proved"},
  {"a_finally", R"(fn main() { { broken(); 1 } finally { act() } catch _ { 0 }; act() })",
    "act tested extern broken; act proved"},
  {"a_budget", R"(
    fn spin(n: i32) -> i32 { let i = 0; while i < n { i += 1 }; i }
    fn main() {
      spin(3) budget(instructions: 10) catch _ { act(); 0 }
      spin(count()) budget(instructions: 10) catch _ { act(); 0 }
      act()
    })", "act proved; act tested extern count; act proved"},
  {"a_budget_that_was_spent_before", R"(
    fn once() { let n = count() catch _ { 0 } }
    fn spin(n: i32) -> i32 { let i = 0; while i < n { i += 1 }; i }
    fn both() -> i32 { once(); spin(3) }
    fn main() { both() budget(instructions: 10) catch _ { act(); 0 } })", "act tested extern count"},
  {"a_key_of_a_map", R"(fn main() { let m = Map::from([("a", 1)]); m[word()] = 2; sink(m.len().to_string()); sink(m["a"].to_string()) })",
    "sink.text refused extern word; sink.text refused extern word"},
  {"branches", R"(fn main() { let (a, b) = parallel {
      word()
      "b"
    }; sink(a); sink(b) })", "sink.text refused extern word; sink.text proved"},
  {"a_parallel_loop", R"(fn main() { for one in words() parallel(2) { act() }; for one in ["a"] parallel(2) { sink(one) }; act() })",
    "act refused extern words; sink.text proved; act proved"},
  {"a_branch_that_fails", R"(fn main() { parallel {
      broken()
      "b"
    } catch _ { act(); ("", "") }; act() })", "act tested extern broken; act proved"},
  {"an_agent", R"(
    agent Desk {
      state { seen: String = "no", other: String = "a" }
      fn turn(ctx: Context, input: String) -> String {
        sink(state.seen)
        sink(state.other)
        state.seen = word()
        sink(input)
        act()
        "done"
      }
    })", "sink.text tested extern word; sink.text proved; sink.text refused person; act proved"},
  {"an_entry_that_is_recorded_between_turns", R"(
    agent Desk {
      state { seen: List<String> = [], count: i32 = 0 }
      fn turn(ctx: Context, input: String) -> String {
        sink(state.seen.len().to_string())
        state.seen.push(word())
        sink(state.seen.len().to_string())
        sink(state.count.to_string())
        state.count += 1
        "done"
      }
    })", "sink.text tested extern word; sink.text tested extern word; sink.text proved"},
  {"a_handoff", R"(
    trust person
    agent Desk {
      state { seen: String = "no" }
      fn turn(ctx: Context, input: String) -> String { state.seen = word(); Other::handoff(input) }
    }
    agent Other {
      state { heard: String = "no" }
      fn turn(ctx: Context, input: String) -> String { sink(input); sink(state.heard); act(); "done" }
    })", "sink.text proved; sink.text tested extern word; act proved"},
  {"a_handoff_that_was_decided", R"(
    agent Desk {
      fn turn(ctx: Context, input: String) -> String { act(); if flag() { Other::handoff(input) }; "stays" }
    }
    agent Other { fn turn(ctx: Context, input: String) -> String { act(); "done" } })",
    "act tested extern flag; act tested extern flag"},
  {"a_handoff_that_is_always_made", R"(
    agent Desk { fn turn(ctx: Context, input: String) -> String { let seen = word(); Other::handoff(input) } }
    agent Other { fn turn(ctx: Context, input: String) -> String { act(); "done" } })", "act proved"},
  // Where a turn asks, the number of its questions depends on what may end it with a failure, too: also the act itself.
  {"how_many_entries_after_a_question_that_was_decided", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String {
        if ctx.len() > 2 { act() }
        for entry in ctx.entries() { act() }
        if ctx.trusted_part().len() > 2 { act() }
        if flag() { let answer = ask<String>("Really?") }
        "done"
      }
    })", "act tested extern flag extern act; act tested extern flag extern act; act proved"},
  {"how_many_entries_after_a_question_that_is_always_asked", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String {
        if ctx.len() > 2 { act() }
        let answer = ask<String>("Is {{ word() }} right?")
        "done"
      }
    })", "act tested extern word extern act"},
  {"how_many_entries_after_a_turn_that_fails", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String {
        if ctx.len() > 2 { act() }
        if flag() { let answer = ask<String>("Really?") }
        fail("always")
      }
    })", "act tested extern flag extern act"},
  {"how_many_entries_after_a_failure_between_questions", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String {
        if ctx.len() > 2 { act() }
        let first = ask<String>("Really?")
        if flag() { fail("x") }
        let second = ask<String>("Really?")
        fail("y")
      }
    })", "act tested extern flag extern act"},
  {"how_many_entries_after_branches_that_ask", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String {
        if ctx.len() > 2 { act() }
        let all = for each in words() parallel(2) { ask<String>("Really?") } catch _ { [] }
        "done"
      }
    })", "act tested extern words extern act"},
  {"how_many_entries_after_a_question_that_a_failure_decided", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String {
        if ctx.len() > 2 { act() }
        { assert word() == "a"; let answer = ask<String>("Really?") } catch _ {}
        "done"
      }
    })", "act tested extern word extern act"},
  {"how_many_entries_after_a_question_of_another_agent", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String {
        if ctx.len() > 2 { act() }
        if flag() { Other::run("a") }
        "done"
      }
    }
    agent Other {
      fn turn(ctx: Context, input: String) -> String { let answer = ask<String>("Really?"); "done" }
    })", "act proved"},
  {"how_many_entries_after_a_question_before_a_handoff", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String {
        if flag() { let answer = ask<String>("Really?") }
        Other::handoff(input)
      }
    }
    agent Other { fn turn(ctx: Context, input: String) -> String { if ctx.len() > 2 { act() }; "done" } })",
    "act tested extern flag extern act"},
  {"instructions_that_are_there_or_not", R"(
    trust person
    agent Desk {
      state { is_set: Boolean = false }
      instructions { if state.is_set { "Be careful."! } }
      fn turn(ctx: Context, input: String) -> String {
        if ctx.len() > 2 { act() }
        state.is_set = flag()
        "done"
      }
    })", "act tested extern flag"},
  {"an_agent_that_a_person_tells", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String { sink(_); input }
    })", "sink.text proved"},
  {"an_agent_that_has_said_what_it_read", R"(
    trust person
    agent Desk {
      fn turn(ctx: Context, input: String) -> String { sink(_); word() }
    })", "sink.text tested extern word"},
  {"an_agent_that_is_called", R"(
    trust person
    agent Desk {
      state { seen: String = "no" }
      fn turn(ctx: Context, input: String) -> String { sink(input); state.seen = word(); "done" }
    }
    fn main() { Desk::run("a"); act(); sink(Desk::run("b")) })", "sink.text proved; act proved; sink.text proved"},
  {"tools", R"(
    fn look(ctx: Context, all: Tools) -> String { let done = select { ..all => 1 }; "looked" }
    fn main(ctx: Context) {
      look(Context::new(), tools { sink(_), act() })
      word()!
      select { ..tools { act() } => 1
        else => 0 }
    })", "sink.text proved; act proved; act refused extern word"},
  {"what_is_vouched_for", R"(
    struct Payment { id: trusted i64, to: trusted String, subject: String }
    extern fn payments() -> List<Payment>
    extern fn name() -> trusted String
    fn main() {
      for one in payments() { sink(one.to); sink(one.subject) }
      sink(name())
    })", "sink.text proved; sink.text refused extern payments; sink.text proved"},
  {"what_is_vouched_for_within", R"(
    enum Found { Nothing, One(Payment), Word(String) }
    struct Payment { to: trusted String, others: List<Payment>, subject: String }
    extern fn found() -> Found
    fn main() {
      match found() {
        Found::Nothing => act()
        Found::One(p) => sink(p.others[0].others[0].to)
        Found::Word(w) => sink(w)
      }
    })", "act proved; sink.text tested extern found; sink.text tested extern found"},
  {"a_narrow_answer", R"(
    fn desk(ctx: Context) -> trusted "a" | "b" { word()! }
    fn main() { sink(desk(Context::new())); if desk(Context::new()) == "a" { act() } })",
    "desk proved; sink.text proved; act proved"},
  {"a_narrow_answer_in_a_decision", R"(
    fn desk(ctx: Context) -> trusted "a" | "b" { word()! }
    fn main() { let to = "a"; if flag() { to = desk(Context::new()) }; sink(to) })",
    "desk proved; sink.text refused extern flag"},
  {"an_endorsed_value", R"(fn main() { sink(endorse(word(), "it is fine")); act() })", "sink.text proved; act proved"},
  {"an_endorsed_value_in_a_decision", R"(fn main() { if flag() { sink(endorse(word(), "it is fine")) } })",
    "sink refused extern flag; sink.text proved"},
  {"an_approved_value", R"(fn main() { sink(approve(word(), "Is it fine?")) catch _ { act() } })",
    "sink.text proved; act tested extern word extern sink person"},
  {"a_call_that_a_person_approves_of", R"(
    extern fn careful(text: trusted String else approve)
    fn main() { careful("a"); careful(word()); if flag() { careful("b") } })",
    "careful.text proved; careful.text asked extern word; careful asked extern flag; careful.text proved"},
  {"a_refusal_by_a_person", R"(
    extern fn careful(text: trusted String else approve)
    fn main() { if flag() { careful("b") catch _ { act() } } })",
    "careful asked extern flag; careful.text proved; act refused extern flag extern careful person"},
  {"a_tested_parameter", R"(
    fn send(to: trusted String) { sink(to) }
    fn main() { send("a"); send(word()) })", "send.to tested extern word; sink.text proved"},
  {"a_tested_result", R"(
    fn first(b: Boolean) -> trusted String { if b { return word() }; "a" }
    fn main(b: Boolean) { sink(first(b)) })", "first tested extern word; sink.text proved"},
  {"a_finally_after_a_read", R"(fn main() { let x = word(); { 1 } finally { act() }; { 1 } finally { act() } })",
    "act tested extern word; act tested extern word extern act"},
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(Programs, Proofs, testing::ValuesIn(proof_cases),
                         [](const testing::TestParamInfo<ProofCase>& one) { return std::string(one.param.name); });

TEST(ProofsOf, TheWayIsInOrder) {
  const auto image = test::make_image(std::string(proof_externs) + R"(
fn name(ctx: Context) -> String { "Who?"! }
fn main(ctx: Context) {
  word()!
  sink(name(ctx))
})");
  const auto sinks = flows::find_flows(image->program());
  ASSERT_EQ(sinks.size(), 1U);
  std::string way;
  for (const flows::Step& step : sinks[0].findings[1].way) {
    const bytecode::Place place = flows::place_of(image->program(), step.function, step.pc);
    way += std::string(flows::step_name(step.kind)) + " " + std::to_string(place.line) + "; ";
  }
  EXPECT_EQ(way, "read 12; injected 12; passed 13; answered 10; returned 13; ");
}

/// As many sources pass through one function: each comes back to the place that has read it alone, and on its own way.
class ProofsOfManySources : public testing::TestWithParam<std::size_t> {};

TEST_P(ProofsOfManySources, KnowEachAlone) {
  std::string text = "extern fn sink(text: trusted String) -> ()\nfn same(text: String) -> String { text }\n";
  for (std::size_t number = 0; number < GetParam(); ++number) {
    const std::string id = std::to_string(number);
    text += "extern fn read" + id + "() -> String\nfn f" + id + "() { sink(same(read" + id + "())) }\n";
  }
  const auto image = test::make_image(text);
  const auto sinks = flows::find_flows(image->program());
  ASSERT_EQ(sinks.size(), GetParam());
  for (const flows::Sink& sink : sinks) {
    const flows::Finding& finding = sink.findings.at(1);
    ASSERT_EQ(finding.sources.size(), 1U);
    EXPECT_EQ("extern read" + image->program().functions[sink.function].name.substr(1),
              flows::describe(image->program(), finding.sources[0]));
    ASSERT_FALSE(finding.way.empty());
    EXPECT_EQ(finding.way[0].function, sink.function);
  }
}

// A function's calls are distinguished up to a limit; beyond it, each source is followed alone.
INSTANTIATE_TEST_SUITE_P(Numbers, ProofsOfManySources, testing::Values(1, 20, 70));

TEST(ProofsOf, ArgumentsThatAPersonGives) {
  const auto image = test::make_image(std::string(proof_externs) + "fn main(to: String) { sink(to) }");
  const auto sinks = flows::find_flows(image->program(), {.persons_arguments = true});
  EXPECT_EQ(sinks.at(0).findings.at(1).verdict, Verdict::Refused);
}

// Whether the machine agrees.

constexpr std::size_t looked_at_max = 2'000;

using SinkPlace = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

SinkPlace key_of(const bytecode::Place& place) {
  return {place.file, place.line, place.column};
}

/// How often the machine was asked what is known.
struct Agreement {
  std::size_t proved = 0, tested = 0, refused = 0;  ///< calls, by what is known of them
  std::size_t refusals = 0;                         ///< by the machine
};

class ComparedRuns {
 public:
  ComparedRuns(std::uint64_t seed, test::Constructs constructs)
      : seed_(seed), text_(test::make_random_program(seed, constructs)) {
    const auto acting = test::make_image(declare("trusted String"));
    for (const flows::Sink& sink : flows::find_flows(acting->program())) {
      sinks_[key_of(flows::place_of(acting->program(), sink.function, sink.pc))].push_back(sink);
    }
    acting_ = acting->loaded();
    // The same calls, of a function that does not act: the labels of all of them are seen.
    plain_ = test::make_image(declare("String"));
  }

  /// Turns of the program's agent, in one conversation.
  void compare_turns(std::uint64_t variant, Agreement& agreement) {
    runtime::Conversation conversation(plain_, 0);
    for (const char* const input : {"w1", "w2", "w1"}) {
      runtime::RunOptions options;
      options.budgets = {.model_calls = 20, .instructions = 50'000};
      auto core = conversation.begin(input, options, runtime::RunCore::Recording::Off);
      ASSERT_TRUE(core.has_value()) << core.error().message << describe();
      vm::Machine& machine = (*core)->machine();
      std::vector<vm::Request> open;
      std::size_t calls = 0;
      vm::Step end = machine.run();
      for (; std::holds_alternative<vm::Waiting>(end); end = machine.run()) {
        for (vm::Request& request : machine.take_requests()) open.push_back(std::move(request));
        for (const vm::RequestId id : machine.take_cancelled()) {
          std::erase_if(open, [&](const vm::Request& request) { return request.id == id; });
        }
        ASSERT_FALSE(open.empty());
        const vm::Request request = std::move(open.back());
        open.pop_back();
        if (is_call_of("sink", machine, request) && ++calls < looked_at_max) check_label(machine, request, agreement);
        vm::Outcome outcome = answer(machine, request, variant);
        if (asks_person(machine, request) && request.depth == 0) {
          conversation.add_answer(request, runtime::sources_of(machine.labels(), request.label),
                                  std::get<vm::ReturnedValue>(outcome.what).value);
        }
        ASSERT_TRUE(machine.resume(request.id, std::move(outcome)).has_value());
      }
      ASSERT_FALSE(std::holds_alternative<vm::Damaged>(end)) << describe();
      const auto* const finished = std::get_if<vm::Finished>(&end);
      conversation.end(**core, finished == nullptr ? nullptr : &finished->value);
    }
  }

  void compare(std::uint64_t variant, Agreement& agreement) {
    std::size_t calls = 0;
    const auto look = [&](vm::Machine& machine, const vm::Request& request) {
      if (is_call_of("sink", machine, request) && ++calls < looked_at_max) check_label(machine, request, agreement);
      return answer(machine, request, variant);
    };
    const test::RunRecord seen = run(plain_->loaded(), look, variant);
    ASSERT_THAT(seen.end, testing::Not(testing::StartsWith("damaged"))) << describe();
    const auto act = [&](vm::Machine& machine, const vm::Request& request) {
      if (is_call_of("sink", machine, request)) check_made(place_of(machine, request));
      if (is_call_of("report", machine, request)) {
        check_failure(std::string(request.arguments[0].as_text()), agreement);
      }
      return answer(machine, request, variant);
    };
    const test::RunRecord acted = run(acting_, act, variant);
    ASSERT_THAT(acted.end, testing::Not(testing::StartsWith("damaged"))) << describe();
    if (!acted.call_stack.entries.empty()) {
      const bytecode::Place place = acted.call_stack.entries.front().place;
      check_failure("program.tn:" + std::to_string(place.line) + ":" + std::to_string(place.column) + " " + acted.end,
                    agreement);
    }
  }

 private:
  [[nodiscard]] std::string declare(const std::string& type) const {
    return test::declarations_of_random_programs(type) + text_;
  }
  [[nodiscard]] std::string describe() const { return " seed " + std::to_string(seed_) + declare("trusted String"); }

  test::RunRecord run(const std::shared_ptr<const vm::LoadedProgram>& program, const test::Answerer& answerer,
                      std::uint64_t variant) const {
    const auto& functions = program->program().functions;
    const auto main = std::ranges::find(functions, "main", &bytecode::Function::name);
    std::vector<vm::Argument> arguments;
    for (std::size_t at = 0; at < main->parameters.size(); ++at) arguments.push_back({vm::Value::empty_context(), {}});
    const bytecode::Bounds bounds{.model_calls = 20 + variant * 10, .instructions = 50'000};
    return test::run_once(program, std::move(arguments), test::Drive::Straight, answerer, bounds,
                          static_cast<std::uint32_t>(main - functions.begin()));
  }

  static bool is_call_of(std::string_view name, const vm::Machine& machine, const vm::Request& request) {
    return request.kind == vm::RequestKind::Extern && machine.program().program().externs[request.subject].name == name;
  }

  static bool asks_person(const vm::Machine& machine, const vm::Request& request) {
    return request.kind == vm::RequestKind::Extern &&
           types::asks_person(machine.program().program().externs[request.subject].builtin_effect);
  }

  static vm::Value value_of(const bytecode::Program& program, types::TypeId type, std::uint64_t number) {
    const types::TypeId base = program.types.base(type);
    if (base == types::TypeTable::boolean) return vm::Value::boolean(number % 2 == 0);
    if (base == types::TypeTable::i32) return vm::Value::integer(static_cast<std::int64_t>(number % 4));
    if (base == types::TypeTable::unit) return vm::Value::unit();
    if (program.types.kind(base) == types::TypeKind::Struct) {
      return vm::Value::record(base, {vm::Value::string("n"), vm::Value::string("b")});
    }
    return vm::Value::string("w" + std::to_string(number % 2 + 1));
  }

  /// The same for each call of one extern.
  vm::Outcome answer(vm::Machine& machine, const vm::Request& request, std::uint64_t variant) const {
    const bytecode::Program& program = machine.program().program();
    std::mt19937_64 random(seed_ * 31 + variant * 7 + request.subject);
    const std::uint64_t number = random();
    switch (request.kind) {
      case vm::RequestKind::Complete:
        return {vm::ReturnedValue{value_of(program, program.sites[request.subject].result, number)}, {}};
      case vm::RequestKind::Fill:
        return {vm::FilledArguments{values_of(program, program.sites[request.subject].call, number)}, {}};
      case vm::RequestKind::Select: {
        const std::vector<vm::SelectOption> options = vm::options_of(request, program);
        const auto option = static_cast<std::uint32_t>(number % options.size());
        return {vm::SelectedClause{option, values_of(program, *options[option].call, number)}, {}};
      }
      case vm::RequestKind::Extern:
        break;
    }
    if (program.externs[request.subject].builtin_effect == types::BuiltinEffect::Approve) {
      return {vm::ReturnedValue{number % 4 == 0 ? vm::Value::none() : vm::Value::some(request.arguments[0])}, {}};
    }
    return {vm::ReturnedValue{value_of(program, program.externs[request.subject].result, number)}, {}};
  }

  static std::vector<vm::Value> values_of(const bytecode::Program& program, const bytecode::CallShape& call,
                                          std::uint64_t number) {
    std::vector<vm::Value> values;
    for (const std::uint16_t hole : call.holes) values.push_back(value_of(program, call.parameters[hole], number));
    return values;
  }

  [[nodiscard]] const flows::Sink& sink_at(const bytecode::Place& place) const {
    const auto found = sinks_.find(key_of(place));
    if (found != sinks_.end()) {
      for (const flows::Sink& sink : found->second) {
        if (sink.findings.front().subject == flows::Subject::Call) return sink;
      }
    }
    throw std::runtime_error("no sink at line " + std::to_string(place.line) + describe());
  }

  static bytecode::Place place_of(const vm::Machine& machine, const vm::Request& request) {
    return machine.call_stack(request.id).entries.at(0).place;
  }

  /// The labels of a call that nothing has refused.
  void check_label(const vm::Machine& machine, const vm::Request& request, Agreement& agreement) const {
    std::set<std::string> sources;
    for (const std::uint32_t index : machine.labels().sources_of(request.label)) {
      const vm::Source& source = machine.labels().sources()[index];
      if (source.kind == vm::SourceKind::Extern || source.kind == vm::SourceKind::Person) {
        sources.insert(vm::describe(source));
      }
    }
    const bytecode::Place place = place_of(machine, request);
    const flows::Sink& sink = sink_at(place);
    EXPECT_TRUE(sink.is_reached) << "line " << place.line << describe();
    bool is_proved = true;
    bool is_refused = false;
    std::set<std::string> known;
    for (const flows::Finding& finding : sink.findings) {
      is_proved = is_proved && finding.verdict == Verdict::Proved;
      is_refused = is_refused || finding.verdict == Verdict::Refused;
      for (const flows::Source& source : finding.sources) {
        known.insert(flows::describe(machine.program().program(), source));
      }
    }
    for (const std::string& source : sources) {
      EXPECT_TRUE(known.contains(source)) << source << " at line " << place.line << describe();
    }
    EXPECT_FALSE(is_refused && sources.empty()) << "line " << place.line << describe();
    ++(is_proved ? agreement.proved : is_refused ? agreement.refused : agreement.tested);
  }

  /// The call is made.
  void check_made(const bytecode::Place& place) const {
    for (const flows::Finding& finding : sink_at(place).findings) {
      EXPECT_NE(finding.verdict, Verdict::Refused) << "line " << place.line << describe();
    }
  }

  /// `program.tn:3:5 …`: what has failed there.
  void check_failure(const std::string& failure, Agreement& agreement) const {
    if (failure.find("must only depend on what is trusted") == std::string::npos) return;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    ASSERT_EQ(std::sscanf(failure.c_str(), "program.tn:%u:%u ", &line, &column), 2) << failure;
    const auto found = sinks_.find({0, line, column});
    ASSERT_NE(found, sinks_.end()) << failure << describe();
    ++agreement.refusals;
    bool is_known = false;
    for (const flows::Sink& sink : found->second) {
      for (const flows::Finding& finding : sink.findings) {
        if (failure.find(finding.what) == std::string::npos) continue;
        is_known = true;
        EXPECT_NE(finding.verdict, Verdict::Proved) << failure << describe();
      }
    }
    EXPECT_TRUE(is_known) << failure << describe();
  }

  std::uint64_t seed_;
  std::string text_;
  std::map<SinkPlace, std::vector<flows::Sink>> sinks_;
  std::shared_ptr<const vm::LoadedProgram> acting_;
  std::shared_ptr<const runtime::ProgramImage> plain_;
};

void compare_runs(test::Constructs constructs) {
  Agreement agreement;
  for (std::uint64_t seed = 1; seed <= test::random_program_count() && !testing::Test::HasFailure(); ++seed) {
    ComparedRuns runs(seed, constructs);
    for (std::uint64_t variant = 1; variant < 4; ++variant) runs.compare(variant, agreement);
    runs.compare_turns(seed % 4, agreement);
  }
  for (const std::size_t count : {agreement.proved, agreement.tested, agreement.refused, agreement.refusals}) {
    EXPECT_GT(count, test::random_program_count() / 4) << "the programs say too little";
  }
}

TEST(ProofsOf, ProgramsThatDecideHoldInTheMachine) {
  compare_runs(test::Constructs::ThatNeverFail);
}

TEST(ProofsOf, AllProgramsHoldInTheMachine) {
  compare_runs(test::Constructs::All);
}

}  // namespace
}  // namespace tenon
