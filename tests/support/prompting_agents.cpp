#include "tests/support/prompting_agents.h"

#include "bytecode/agents.h"

namespace tenon::test {

const char* const prompting_agents = R"tn(
extern fn delegate(what: String) -> String
extern fn count(what: String) -> i64
extern fn leave(what: String) -> String
agent Clerk {
    state { calls: i32 = 0 }
    instructions { "You are a clerk."! }
    fn turn(ctx: Context, input: String) -> String {
        state.calls += 1
        if input == "fail" { fail("no clerk") }
        "{{ say(ctx) }} {{ input }} {{ state.calls }}"
    }
    fn say(ctx: Context) -> String { "Say something."! }
}
agent Number { fn turn(ctx: Context, input: 1 | 2) -> 1 | 2 { input } }
agent Boss {
    state { n: i32 = 40 }
    fn turn(ctx: Context, input: String) -> String {
        state.n += 1
        let reply = delegate(input) catch f { "caught {{ f.message }}" }
        if input == "leave" { helper(ctx) }
        "{{ reply }}, boss {{ state.n }}"
    }
    fn helper(ctx: Context) -> String {
        "Helping"!
        let never = (leave("over") budget(calls: 5)) catch f { f.message }
        never
    }
}
fn main() -> String {
    let (a, b) = parallel { Boss::run("x"), Boss::run("fail") }
    "{{ a }}; {{ b }}; {{ count("n") }}; {{ leave("z") catch f { f.message } }}"
}
fn deep() -> String { Boss::run("deep") }
)tn";

vm::Outcome answer_prompting(const vm::Request& request, const bytecode::Program& program) {
  if (request.kind != vm::RequestKind::Extern) return {vm::ReturnedValue{vm::Value::string("hm")}, {}};
  const bytecode::Extern& callee = program.externs[request.subject];
  if (callee.builtin_effect != types::BuiltinEffect::Native) return {vm::ReturnedValue{vm::Value::unit()}, {}};
  const bool is_count = callee.name == "count";
  const bool leaves = callee.name == "leave";
  return {vm::SpawnedTurn{bytecode::find_agent(program, is_count ? "Number" : "Clerk").value(),
                          is_count ? vm::Value::integer(2) : request.arguments[0],
                          leaves ? vm::PromptKind::FinishAgent : vm::PromptKind::PauseForChild},
          {}};
}

}  // namespace tenon::test
