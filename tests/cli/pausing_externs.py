"""Externs that ask a person before they return, and agents that hand off a turn: across processes, through the store."""
import json
import os
import subprocess

from tenon_process import ROOT, TENON, tenon

LIBRARY = r'''
#include <stdio.h>
#include <stdlib.h>
#include <tenon/extern.h>
TENON_EXTERN_AS(approve, "(String) -> String") {
  FILE* keys = fopen(getenv("KEYS"), "a");
  fprintf(keys, "%s\n", tenon_effect_key(call));
  fclose(keys);
  const tenon_text who = tenon_input(call);
  if (who.data == NULL) {
    tenon_pause_for_input(call, "Who approves?");
  } else if (who.length == 0) {
    tenon_pause_for_input(call, "Really, who?");
  } else {
    tenon_put_text(call, tenon_result(call), who.data, who.length);
  }
}
'''
PROGRAM = '''extern fn approve(what: String) -> String
fn main() -> String {
    let (first, second) = parallel { approve("x"), approve("y") }
    "{{ first }} and {{ second }}"
}
'''
PROMPTING = r'''
#include <string.h>
#include <tenon/extern.h>
TENON_EXTERN_AS(delegate, "(String) -> String") {
  const tenon_text to = tenon_argument_text(call, 0);
  char agent[64] = "";
  if (to.length < sizeof agent) memcpy(agent, to.data, to.length);
  tenon_pause_for_child(call, agent, "the matter");
}
TENON_EXTERN_AS(leave, "(String, String) -> String") {
  const tenon_text to = tenon_argument_text(call, 0);
  const tenon_text input = tenon_argument_text(call, 1);
  char agent[64] = "";
  if (to.length < sizeof agent) memcpy(agent, to.data, to.length);
  tenon_finish_agent_text(call, agent, input.data, input.length);
}
'''
CLERKS = '''extern fn delegate(to: String) -> String
extern fn leave(to: String, input: String) -> String
type Note = String
agent Clerk {
    state { asked: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.asked += 1
        "{{ input }} is {{ ask<String>("How is it?") }} ({{ state.asked }})"
    }
}
agent Manager {
    state { seen: i32 = 7 }
    fn turn(ctx: Context, input: String) -> String {
        state.seen += 1
        "{{ delegate("Clerk") }}, said {{ input }} ({{ state.seen }})"
    }
}
agent Counter { fn turn(ctx: Context, input: i32) -> i32 { input } }
fn nested() -> String { Manager::run("Zoe") }
fn both() -> List<String> {
    for name in ["Ann", "Bob", "Cid"] parallel(3) { Manager::run(name) }
}
fn wrong() -> List<String> {
    let a = delegate("Unknown") catch f { f.message }
    let b = delegate("Counter") catch f { f.message }
    let c = leave("Clerk", "x") catch f { f.message }
    [a, b, c]
}
'''
LEAVING = '''extern fn leave(to: String, input: String) -> String
agent Night {
    state { shifts: i32 = 0 }
    instructions { "You have the night shift."! }
    fn turn(ctx: Context, input: String) -> String {
        state.shifts += 1
        let key = ask<i32>("Which key?")
        "night {{ state.shifts }}, key {{ key }}: {{ write(ctx) }}"
    }
    fn write(ctx: Context) -> String { "Write."! }
}
agent Day {
    state { turns: i32 = 0 }
    instructions { "You have the day shift."! }
    fn turn(ctx: Context, input: String) -> String {
        state.turns += 1
        if input.contains("dark") { helped(input) catch f { "caught {{ f.message }}" } } else { "day {{ state.turns }}" }
    }
    fn helped(input: String) -> String { "never seen {{ leave("Night", input) }}" }
}
agent Careless {
    fn turn(ctx: Context, input: String) -> String {
        let (a, b) = parallel { leave("Night", input) catch f { f.message }, "b" }
        a + b
    }
}
agent Counter { fn turn(ctx: Context, input: String) -> i32 { input.len() } }
agent Wrong {
    fn turn(ctx: Context, input: String) -> String { leave("Counter", input) catch f { f.message } }
}
'''
HANDOFF = '''agent Billing {
    state { bills: i32 = 0 }
    instructions { "You write bills."! }
    fn turn(ctx: Context, input: String) -> String {
        state.bills += 1
        let amount = ask<i32>("Which amount?")
        "bill {{ state.bills }} over {{ amount }}: {{ write(ctx) }}"
    }
    fn write(ctx: Context) -> String { "Write it."! }
}
agent Support {
    state { turns: i32 = 0 }
    instructions { "You help."! }
    fn turn(ctx: Context, input: String) -> String {
        state.turns += 1
        if input.contains("bill") { Billing::handoff("a bill: {{ input }}") }
        "hello {{ state.turns }}"
    }
}
'''


def only_run(store):
    runs = json.loads(tenon("runs", "--store", store, "--json").stdout)
    assert len(runs) == 1, runs
    return runs[0]


def test_an_extern_asks_and_is_called_again_with_the_answer(work):
    source, library, program, store = (work / name for name in ("approve.c", "libapprove.so", "p.tn", "s.db"))
    source.write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT / "include", "-o", library, source], check=True)
    program.write_text(PROGRAM)
    environment = {"KEYS": str(work / "keys")}
    waits = tenon("run", program, "--extern", library, "--store", store, environment=environment)
    assert waits.returncode == 3 and waits.stderr.count("Who approves?") == 2, waits
    run = only_run(store)
    name = run["run"]
    first, second = (wait["wait"] for wait in run["waits"])

    def resume(*arguments):
        return tenon("resume", name, "--store", store, *arguments, environment=environment)

    assert resume("--input", "Ann").returncode == 2, "two wait: one has to be named"
    again = resume("--wait", second, "--input", "")
    assert again.returncode == 3 and "Really, who?" in again.stderr, again
    stale = resume("--wait", second, "--input", "Ann")
    assert stale.returncode == 2 and f"nothing waits under `{second}`" in stale.stderr, "an answer to the first question"
    assert f"wait {second}#1 (String): Really, who?" in stale.stderr, stale
    assert resume("--wait", f"{second}#1", "--input", "Ann").returncode == 3
    unnamed = resume("--input", "Bob")
    assert unnamed.returncode == 2 and "name the one that is answered" in unnamed.stderr, unnamed
    done = resume("--wait", first, "--input", "Bob")
    assert (done.returncode, done.stdout) == (0, "Bob and Ann\n"), done
    keys = (work / "keys").read_text().split()
    assert len(keys) == len(set(keys)), "each call has a key of its own, and none was made twice"
    assert sorted(keys) == sorted(f"{name}/{key}" for key in (first, first + "#1", second, second + "#1", second + "#2"))
    assert resume().stdout == "Bob and Ann\n", "the value of a run that has ended is printed again"
    library.unlink()
    ended = resume()
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "Bob and Ann\n", ""), "nothing is called any more"


def test_an_extern_that_asks_without_a_store_asks_the_terminal(work):
    source, library, program = (work / name for name in ("approve.c", "libapprove.so", "p.tn"))
    source.write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT / "include", "-o", library, source], check=True)
    program.write_text(PROGRAM)
    process = subprocess.run([TENON, "run", program, "--extern", library], input="Zoe\nAnn\n",
                             text=True, capture_output=True, check=False, timeout=60,
                             env={**os.environ, "KEYS": str(work / "keys")})
    # Both calls are in progress at the same time, and either may ask first.
    assert process.returncode == 0 and process.stdout in ("Zoe and Ann\n", "Ann and Zoe\n"), process


def build(work, source):
    written, library = work / "externs.c", work / "libexterns.so"
    written.write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT / "include", "-o", library, written], check=True)
    return library


def test_an_extern_prompts_an_agent_and_has_its_value(work):
    library, program, store = build(work, PROMPTING), work / "p.tn", work / "s.db"
    program.write_text(CLERKS)
    waits = tenon("run", program, "--fn", "nested", "--extern", library, "--store", store)
    assert waits.returncode == 3 and waits.stderr.count("How is it?") == 1, waits
    run = only_run(store)["run"]
    done = tenon("resume", run, "--store", store, "--input", "fine")
    assert (done.returncode, done.stdout) == (0, "the matter is fine (1), said Zoe (8)\n"), done
    again = tenon("resume", run, "--store", store)
    assert again.stdout == done.stdout, again
    rebuilt = tenon("trace", "artifacts", run, "--store", store)
    assert rebuilt.returncode == 0 and '"child":{"agent":"Clerk","input":"the matter"}' in rebuilt.stdout, rebuilt
    shown = tenon("trace", "show", run, "--store", store)
    assert shown.returncode == 0 and "prompt of Clerk" in shown.stdout, shown
    replayed = tenon("replay", run, "--store", store)
    assert replayed.returncode == 0, replayed


def test_children_of_externs_wait_at_once_and_get_their_own_answers(work):
    library, program, store = build(work, PROMPTING), work / "p.tn", work / "s.db"
    program.write_text(CLERKS)
    waits = tenon("run", program, "--fn", "both", "--extern", library, "--store", store)
    assert waits.returncode == 3 and waits.stderr.count("How is it?") == 3, waits
    assert waits.stderr.count("asked by Clerk, called by Manager, both\n") == 3, waits
    run = only_run(store)
    assert {(wait["agent"], *wait["callers"]) for wait in run["waits"]} == {("Clerk", "Manager", "both")}, run
    first, second, third = sorted(wait["wait"] for wait in run["waits"])
    for wait, answer in ((third, "so-so"), (first, "well")):
        assert tenon("resume", run["run"], "--store", store, "--wait", wait, "--input", answer).returncode == 3
    done = tenon("resume", run["run"], "--store", store, "--wait", second, "--input", "bad")
    said = ["the matter is well (1), said Ann (8)", "the matter is bad (1), said Bob (8)",
            "the matter is so-so (1), said Cid (8)"]
    assert json.loads(done.stdout) == said, done


def test_a_prompt_for_an_unknown_agent_is_a_failure(work):
    library, program = build(work, PROMPTING), work / "p.tn"
    program.write_text(CLERKS)
    process = tenon("run", program, "--fn", "wrong", "--extern", library)
    assert process.returncode == 0, process
    unknown, counter, outside = json.loads(process.stdout)
    assert "the program has no such agent" in unknown, unknown
    assert "with an invalid input: invalid JSON" in counter, counter
    assert "no agent has a turn" in outside, outside


def test_an_extern_hands_off_the_turn(work):
    library, program, store, script = build(work, PROMPTING), work / "p.tn", work / "s.db", work / "model.script"
    program.write_text(LEAVING)
    script.write_text('Night::write => "written"\n')

    def chat(lines, *arguments):
        return subprocess.run([TENON, "chat", *arguments, "--model", f"script:{script}", "--store", store, "--extern",
                               library, "--show-prompts"], input=lines, text=True, capture_output=True, check=False,
                              timeout=60)

    first = chat("hi\nit is dark\n7\nanother\n", program, "--agent", "Day")
    assert first.returncode == 3 and first.stdout == "day 1\nnight 1, key 7: written\n", first
    prompt = first.stderr[first.stderr.index("── Night::write"):]
    assert prompt.count("it is dark") == 1, "what the person has said is sent once: " + prompt
    assert "You have the night shift." in prompt and "You have the day shift." not in prompt, prompt
    second = chat("9\n", "--run", only_run(store)["run"])
    assert second.returncode == 0 and second.stdout.endswith("night 2, key 9: written\n"), second
    events = tenon("trace", "artifacts", only_run(store)["run"], "--store", store)
    assert events.returncode == 0 and '"successor":{"agent":"Night","input":"it is dark"}' in events.stdout, events


def test_no_handoff_from_a_branch_or_to_an_agent_of_another_type(work):
    library, program = build(work, PROMPTING), work / "p.tn"
    program.write_text(LEAVING)
    for agent, reason in (("Careless", "no parallel branch can leave the turn around it"), ("Wrong", "returns i32")):
        process = subprocess.run([TENON, "chat", program, "--agent", agent, "--extern", library], input="x\n", text=True,
                              capture_output=True, check=False, timeout=60)
        assert reason in process.stdout, process


def test_a_handoff_keeps_the_conversation_and_lasts(work):
    program, script, store = work / "p.tn", work / "model.script", work / "s.db"
    program.write_text(HANDOFF)
    script.write_text('Billing::write => "written"\n')

    def chat(lines, *arguments):
        return subprocess.run([TENON, "chat", *arguments, "--model", f"script:{script}", "--store", store, "--show-prompts"],
                              input=lines, text=True, capture_output=True, check=False, timeout=60)

    first = chat("hi\na bill please\n7\nanother\n", program, "--agent", "Support")
    assert first.returncode == 3 and first.stdout == "hello 1\nbill 1 over 7: written\n", first
    prompt = first.stderr[first.stderr.index("── Billing::write"):]
    assert "[system]\nYou write bills.\n[user]\nhi\n[assistant]\nhello 1\n[user]\na bill please\n" in prompt, prompt
    assert "You help." not in prompt, "the instructions of the agent that has left are not sent"
    # Killed or not, the second agent's turn continues where it asked, with the state of its first turn.
    second = chat("9\n", "--run", only_run(store)["run"])
    assert second.returncode == 0 and second.stdout.endswith("bill 2 over 9: written\n"), second
