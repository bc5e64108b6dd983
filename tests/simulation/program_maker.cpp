#include "tests/simulation/program_maker.h"

#include <fmt/format.h>

#include "tests/simulation/random.h"

namespace tenon::simulation {
namespace {

/// The declarations of every program. `same` fails if `note` receives a value that differs, after any number of
/// crashes, from the first one.
constexpr const char* declarations = R"(
extern fn step(name: String, n: i32) -> i32
extern fn note(text: String) -> String
extern fn fragile(n: i32) -> i32
extern fn consult(text: String) -> String
extern fn delegate(text: String) -> String
extern fn pass_on(text: String) -> String
extern(once) fn charge(name: String, n: i32) -> i32
extern(within: 25ms) fn hasty(n: i32) -> i32
extern(once, within: 25ms) fn gamble(n: i32) -> i32
struct Fact { name: String, size: i32 in 0..=9, good: Boolean }
fn word(ctx: Context, thing: String) -> String { thing! }
fn size(ctx: Context, thing: String) -> i32 { thing! }
fn fact(ctx: Context, thing: String) -> Fact { thing! }
fn add(ctx: Context, a: i32, b: i32) -> i32 { step("add", (a % 1000) * 10 + b % 1000) }
fn same(text: String) -> () {
    let noted = note(text)
    if noted != text { fail("{{ text }} came back as {{ noted }}") }
}
fn broken(n: i32) -> i32 { if n >= 0 { fail("branch") } else { n } }
fn sizes(ctx: Context, count: i32) -> String {
    let all = ""
    for i in 0..count { all = "{{ all }}{{ size(ctx, "n{{ i }}") }};" }
    all
}
agent Clerk {
    state { calls: i32 = 0 }
    instructions { "You count."! }
    fn turn(ctx: Context, input: String) -> String {
        state.calls = state.calls + 1
        let first = word(ctx, input)
        let second = ask<String>("Clerk asks about {{ input }}")
        "{{ state.calls }} {{ first }} {{ second }}"
    }
}
agent Night {
    state { shifts: i32 = 0, last: String = "" }
    instructions { "Shift {{ state.shifts }}"! }
    fn turn(ctx: Context, input: String) -> String {
        state.shifts += 1
        state.last = input
        let noted = "{{ delegate(input) }} {{ word(ctx, input) }}"
        if step("night", state.shifts) % 2 == 0 { noted } else { "{{ noted }} {{ pass_on("again " + input) }}" }
    }
}
)";

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  MadeProgram make() {
    if (random_.one_in(3)) program_.agent = "Desk";
    helper_count_ = random_.below(3);
    std::string helpers;
    is_helper_ = true;
    for (std::uint64_t at = 0; at < helper_count_; ++at) {
      can_call_ = at;
      helpers += fmt::format(
          "fn helper{}(ctx: Context, n: i32) -> List<String> {{\n    let out: List<String> = []\n{}    return "
          "out\n}}\n",
          at, statements(1, 1 + random_.below(3)));
    }
    can_call_ = helper_count_;
    is_helper_ = false;
    is_in_turn_ = !program_.agent.empty();
    const std::string body = statements(0, 2 + random_.below(5));
    program_.source = declarations + helpers;
    if (!program_.agent.empty()) {
      program_.source += fmt::format(
          "agent Desk {{\n    state {{ turns: i32 = 0, words: List<String> = [] }}\n"
          "    instructions {{ \"Turn {{{{ state.turns }}}}\"! }}\n"
          "    fn turn(ctx: Context, input: String) -> String {{\n    let n = state.turns\n"
          "    state.turns = n + 1\n    let out: List<String> = []\n{}"
          "    state.words += out\n    \"{{{{ out.len() }}}} {{{{ input }}}}\"\n    }}\n}}\n",
          body);
      const std::uint64_t turns = 1 + random_.below(3);
      for (std::uint64_t at = 0; at < turns; ++at) program_.inputs.push_back(fmt::format("say {}", random_.below(100)));
      if (turns > 1) make_newer();
    } else {
      program_.source += fmt::format(
          "fn main(ctx: Context) -> List<String> {{\n    let n = 0\n    let out: List<String> = []\n{}"
          "    return out\n}}\n",
          body);
    }
    return std::move(program_);
  }

 private:
  /// The same program with another state.
  void make_newer() {
    const std::string state = "state { turns: i32 = 0, words: List<String> = [] }";
    const std::size_t at = program_.source.find(state);
    program_.newer_source =
        "struct DeskBefore { turns: i32, words: List<String> }\n" + program_.source.substr(0, at) +
        "state { words: List<String> = [], turns: i64 = 0, migrated: i32 = 0 }\n"
        "    fn migrate(old: DeskBefore) -> Desk {\n"
        "        Desk { words: old.words, turns: old.turns as i64, migrated: old.words.len() }\n    }\n" +
        program_.source.substr(at + state.size());
    program_.upgraded_at = 1;
    // `n` remains an i32, as the body requires.
    const std::string number = "let n = state.turns\n    state.turns = n + 1\n";
    const std::size_t counted = program_.newer_source.rfind(number);
    program_.newer_source.replace(counted, number.size(),
                                  "let n = state.turns as i32\n    state.turns = state.turns + 1\n");
  }

  std::uint64_t fresh() { return next_name_++; }

  std::string statements(int depth, std::uint64_t count) {
    std::string text;
    for (std::uint64_t at = 0; at < count; ++at) text += statement(depth);
    return text;
  }

  /// A block that has its own list `out` and returns it.
  std::string block(int depth) {
    return fmt::format("{{\n    let out: List<String> = []\n{}    out }}", statements(depth, 1 + random_.below(2)));
  }

  std::string statement(int depth) {
    const std::uint64_t id = fresh();
    const bool is_flat = depth >= 3;
    switch (random_.below(is_flat ? 14 : 25)) {
      case 0:
        if (random_.one_in(2)) return fmt::format("    out.push(\"{{{{ charge(\"s{}\", n) }}}}\")\n", id);
        [[fallthrough]];
      case 1:
        return fmt::format("    out.push(\"{{{{ step(\"s{}\", n) }}}}\")\n", id);
      case 2:
        return fmt::format("    out.push(word(ctx, \"w{}\"))\n", id);
      case 3:
        return fmt::format("    out.push(\"{{{{ size(ctx, \"z{}\") }}}}\")\n", id);
      case 4:
        return fmt::format("    let f{0} = fact(ctx, \"f{0}\")\n    out.push(\"{{{{ f{0} }}}}\")\n", id);
      case 5:
        return fmt::format("    \"fact {}\"!\n", id);
      case 6:
        return fmt::format("    out.push(\"{{{{ add(ctx, _, {}) }}}}\")\n", id);
      case 7:
        if (random_.one_in(2)) {
          return fmt::format(
              "    let c{0} = select {{\n        ..tools {{ step(_, {0}) as act, word as say, add(_, n) as more }} as "
              "t => "
              "t.outcome.unwrap()\n        word(ctx, _) as w => w\n    }}\n    out.push(c{0})\n",
              id);
        }
        return fmt::format(
            "    let c{0} = select {{\n        add(ctx, _, _) as sum => \"{{{{ sum }}}}\"\n"
            "        word(ctx, _) as w => w\n        step(_, {0}) as s => \"{{{{ s }}}}\"\n    }}\n"
            "    out.push(c{0})\n",
            id);
      case 8:
        return fmt::format(
            "    let r{0} = random()\n    let t{0} = now()\n    same(\"{{{{ r{0} }}}} {{{{ t{0} }}}}\")\n"
            "    same(\"{{{{ r{0} }}}}\")\n",
            id);
      case 9:
        return fmt::format(
            "    let t{0} = now()\n    sleep({1})\n    if now() < t{0} + {1} {{ fail(\"woken early\") }}\n", id,
            random_.one_in(4) ? 5'000 : random_.below(60));
      case 10:
        note_question();
        return fmt::format("    out.push(ask<String>(\"q{}?\"))\n", id);
      case 11:
        note_question();
        return random_.one_in(2)
                   ? fmt::format("    out.push(\"{{{{ ask<Fact>(\"q{}?\") }}}}\")\n", id)
                   : fmt::format("    out.push(ask_within<String>(\"late {}?\", {}) catch _ {{ \"late\" }})\n", id,
                                 random_.below(3'000));
      case 12:
        note_question();
        if (random_.one_in(3)) return fmt::format("    out.push(consult(\"c{}\"))\n", id);
        if (random_.one_in(3)) return fmt::format("    out.push(delegate(\"d{}\"))\n", id);
        // Hands off the turn now and then, which is not allowed in a branch.
        if (random_.one_in(2) && is_in_turn_ && parallel_depth_ == 0) {
          return fmt::format("    out.push(pass_on(\"p{}\"))\n", id);
        }
        if (random_.one_in(4)) {
          // The duration of a call, and therefore whether it times out, depends on crashes.
          program_.is_confluent = false;
          return fmt::format(
              "    let h{0} = {1}(n) catch f {{ if f.kind == FailureKind::TimedOut {{ -2 }} else {{ -1 }} }}\n"
              "    out.push(\"{{{{ h{0} }}}}\")\n",
              id, random_.one_in(2) ? "hasty" : "gamble");
        }
        return fmt::format("    out.push(\"{{{{ fragile({}) catch _ {{ -1 }} }}}}\")\n", random_.below(100));
      case 13:
        if (random_.one_in(6)) {
          program_.is_confluent = program_.is_confluent && !may_be_in_branch();
          return fmt::format("    out.push(\"{{{{ fragile({}) }}}}\")\n", random_.below(100));
        }
        return fmt::format("    out.push((word(ctx, \"v{}\")) catch f {{ f.message }})\n", id);
      case 14:
        return fmt::format("    for i{0} in 0..{1} {{\n    let n = n * 10 + i{0}\n{2}    }}\n", id,
                           1 + random_.below(3), statements(depth + 1, 1 + random_.below(2)));
      case 15:
        return fmt::format("    if step(\"if{}\", n) % 2 == 0 {{\n{}    }} else {{\n{}    }}\n", id,
                           statements(depth + 1, 1), statements(depth + 1, 1));
      case 16:
        return parallel(depth, id);
      case 17:
        return parallel_for(depth, id);
      case 18:
        note_question();
        return can_call_ == 0 ? std::string("    \"nothing\"!\n")
                              : fmt::format("    out += helper{}(ctx, n)\n", random_.below(can_call_));
      case 20:
        return finally(depth, id);
      case 21:
        return fmt::format("    block_entered(\"b{0}\")\n{1}    emit(\"e{0} {{{{ n }}}}\")\n    block_left(\"b{0}\")\n",
                           id, statements(depth + 1, 1));
      case 22:
        return random_.one_in(2) ? undone(depth, id) : parallel(depth, id);
      case 23:
        return shielded(id);
      case 19:
        return fmt::format("    out.push(Clerk::run(\"task {}\"))\n", id);
      default:
        note_question();
        return risky(id);
    }
  }

  /// Whether what is generated may be performed beside other branches: helpers are called in branches, too.
  [[nodiscard]] bool may_be_in_branch() const { return parallel_depth_ > 0 || is_helper_; }

  /// Questions are part of an agent's conversation, in the order of the answers.
  void note_question() {
    if (may_be_in_branch() && !program_.agent.empty()) program_.is_confluent = false;
  }

  std::string parallel_for(int depth, std::uint64_t id) {
    program_.has_branches = true;
    ++parallel_depth_;
    const std::string body = statements(depth + 2, 1 + random_.below(2));
    --parallel_depth_;
    return fmt::format(
        "    let rows{0} = for x{0} in [1, 2, 3] parallel({1}) {{\n    let n = n * 10 + x{0}\n"
        "    let out: List<String> = []\n{2}    out\n    }}\n    for row in rows{0} {{ out += row }}\n",
        id, 1 + random_.below(4), body);
  }

  /// A `finally` block: runs in any case, also when the run is cancelled or another branch fails.
  std::string finally(int depth, std::uint64_t id) {
    const std::string ended = statements(depth + 1, 1 + random_.below(2));
    const std::string cleaned_up = statements(depth + 1, 1);
    // Whether a branch has come this far when another one fails depends on the order.
    if (may_be_in_branch()) program_.is_confluent = false;
    return fmt::format("    {{\n{1}    }} finally {{\n{2}    same(\"end of {0}\")\n    }}\n", id, ended, cleaned_up);
  }

  /// Steps of which a cancellation leaves all or none. Nothing between them fails.
  std::string shielded(std::uint64_t id) {
    const std::string inside =
        random_.one_in(2) ? fmt::format("sleep({})", random_.below(60))
                          : fmt::format("let (l{0}, m{0}) = parallel {{ step(\"l{0}\", n), {{ sleep({1})\n    n }} }}",
                                        id, random_.below(40));
    return fmt::format(
        "    let k{0} = shield {{\n    let k{0} = step(\"{2} {0}\", n)\n    {1}\n    step(\"{3} {0}\", n) + k{0} % 2\n"
        "    }}\n    out.push(\"{{{{ k{0} }}}}\")\n",
        id, inside, shield_begins, shield_ends);
  }

  /// Calls that are made at most once and are cancelled in the middle, by another branch or a budget of time, and what
  /// undoes them.
  std::string undone(int depth, std::uint64_t id) {
    program_.is_confluent = false;
    program_.has_branches = true;
    ++parallel_depth_;
    const char* const callee = random_.one_in(4) ? "gamble(n)" : "charge(\"u{0}\", n)";
    std::string first = fmt::format(fmt::runtime(callee), id);
    if (random_.one_in(3)) first += fmt::format(" budget(time: {}ms)", 1 + random_.below(40));
    std::string second = fmt::format("charge(\"v{}\", n)", id);
    if (random_.one_in(3)) {
      second = fmt::format(
          "shield {{\n    let k{0} = step(\"{1} {0}\", n)\n    let m{0} = {2} catch _ {{ 0 }}\n    step(\"{3} {0}\", "
          "n) + m{0} "
          "% 2 + k{0} % 2\n    }}",
          id, shield_begins, second, shield_ends);
    }
    if (random_.one_in(2)) second += fmt::format(" finally {{ step(\"undo v{}\", n); }}", id);
    const std::string third = block(depth + 2);
    --parallel_depth_;
    std::string undo = random_.one_in(2) ? "charge" : "step";
    std::string text = fmt::format(
        "{{\n    let (a{0}, b{0}, c{0}, d{0}) = parallel {{\n    {{ {1} }}\n    {{ {2} }}\n    {3}\n"
        "    {{ sleep({4})\n    {5} }}\n    }}\n    a{0} + b{0} + c{0}.len() + d{0}\n"
        "    }} finally {{\n    {6}(\"undo u{0}\", n);\n    same(\"undone {0}\")\n    }}",
        id, first, second, third, random_.below(50),
        random_.one_in(3) ? "broken(1)" : fmt::format("fragile({})", random_.below(100)), undo);
    if (!random_.one_in(4)) text = fmt::format("({}) catch f {{ f.message.len() }}", text);
    return fmt::format("    let u{0} = {1}\n    out.push(\"{{{{ u{0} }}}}\")\n", id, text);
  }

  std::string parallel(int depth, std::uint64_t id) {
    program_.has_branches = true;
    ++parallel_depth_;
    const std::uint64_t branches = 2 + random_.below(3);
    std::string names;
    std::string bodies;
    std::string joins;
    for (std::uint64_t at = 0; at < branches; ++at) {
      names += fmt::format("{}p{}_{}", at == 0 ? "" : ", ", id, at);
      bodies += "    " + block(depth + 2) + "\n";
      joins += fmt::format("    out += p{}_{}\n", id, at);
    }
    --parallel_depth_;
    return fmt::format("    let ({}) = parallel {{\n{}    }}\n{}", names, bodies, joins);
  }

  /// Statements that depend on the order in which outcomes arrive.
  std::string risky(std::uint64_t id) {
    switch (random_.below(3)) {
      case 0:
        return fmt::format("    out.push((sizes(ctx, 4) budget(calls: {})) catch f {{ f.message }})\n",
                           1 + random_.below(5));
      case 1:
        return fmt::format("    out.push((sizes(ctx, 3) budget(tokens: {})) catch f {{ f.message }})\n",
                           5 + random_.below(120));
      default:
        program_.is_confluent = false;
        return fmt::format(
            "    let (a{0}, b{0}, c{0}) = (parallel {{\n    {{ {1} }}\n    {{ sleep({2})\n    ask<String>(\"in "
            "time {0}?\") }}\n    {{ word(ctx, \"x{0}\") }}\n    }}) catch f {{ (0, f.message, \"\") }}\n"
            "    out.push(\"{{{{ a{0} }}}} {{{{ b{0} }}}} {{{{ c{0} }}}}\")\n",
            id, random_.one_in(2) ? fmt::format("fragile({})", random_.below(100)) : "broken(1)", random_.below(40));
    }
  }

  Random random_;
  MadeProgram program_;
  std::uint64_t next_name_ = 0;
  int parallel_depth_ = 0;
  bool is_in_turn_ = false;
  bool is_helper_ = false;  ///< the function that is generated is called by others
  std::uint64_t helper_count_ = 0;
  std::uint64_t can_call_ = 0;  ///< functions declared before the generated one
};

}  // namespace

MadeProgram make_program(std::uint64_t seed) {
  return Maker(seed).make();
}

}  // namespace tenon::simulation
