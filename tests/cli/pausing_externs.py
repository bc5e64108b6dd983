"""Externs that ask a person before they give a result, and agents that hand a turn on: through the store and back."""
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
    assert resume("--wait", second, "--input", "Ann").returncode == 3
    done = resume("--input", "Bob")
    assert (done.returncode, done.stdout) == (0, "Bob and Ann\n"), done
    keys = (work / "keys").read_text().split()
    assert len(keys) == len(set(keys)), "each call has a key of its own, and none was made twice"
    assert sorted(keys) == sorted(f"{name}/{key}" for key in (first, first + "#1", second, second + "#1", second + "#2"))
    assert resume().stdout == "Bob and Ann\n", "the value of a run that has ended is printed again"


def test_an_extern_that_asks_without_a_store_asks_the_terminal(work):
    source, library, program = (work / name for name in ("approve.c", "libapprove.so", "p.tn"))
    source.write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT / "include", "-o", library, source], check=True)
    program.write_text(PROGRAM)
    process = subprocess.run([TENON, "run", program, "--extern", library], input="Zoe\nAnn\n",
                             text=True, capture_output=True, check=False, timeout=60,
                             env={**os.environ, "KEYS": str(work / "keys")})
    assert (process.returncode, process.stdout) == (0, "Zoe and Ann\n"), process


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
    # Killed or not, the second agent's turn goes on where it asked, with the state of its first turn.
    second = chat("9\n", "--run", only_run(store)["run"])
    assert second.returncode == 0 and second.stdout.endswith("bill 2 over 9: written\n"), second
