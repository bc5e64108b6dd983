"""Values that share their parts in memory, and are too large to be written: each is refused by name, at once and with a way out."""
import time

from tenon_process import build_library, find_run, tenon

PROGRAM = '''\
struct N { l: List<N> }

/// 2^doublings parts when it is written, and as many as the doublings in memory.
fn grow(doublings: i32) -> N {
    let tree = N { l: [] }
    for _ in 0..doublings { tree = N { l: [tree, tree] } }
    tree
}

fn main() -> N { grow(40) }

fn label(ctx: Context, tree: N, name: String) -> String { name }
fn asks(ctx: Context) -> String { label(ctx, grow(40), _) }

agent Child {
    fn turn(ctx: Context, input: N) -> String { "child" }
}
fn calls() -> String { Child::run(grow(40)) }

fn shows() -> String { "{{ grow(40) }}" }

fn compares() -> Boolean { grow(40) == grow(40) }

fn describes() -> Boolean {
    assert grow(40) == grow(39)
    true
}

/// Each of the branches passes on less than the limit, all of them more.
fn waits(ctx: Context) -> i32 {
    let text = "x".repeat(100_000_000)
    let all = parallel {
        a = ask<i32>(text),
        b = ask<i32>(text),
        c = ask<i32>(text) catch f { 7 },
    }
    all.c
}

agent Keeper {
    state { tree: N = N { l: [] } }
    fn turn(ctx: Context, input: String) -> String {
        if input == "grow" { state.tree = grow(40) }
        "{{ state.tree.l.len() }}"
    }
}
'''

EXTERNS = '''\
extern fn take(tree: N) -> i64
extern(process) fn take_apart(tree: N) -> i64

fn passes() -> i64 { take(grow(40)) }
fn passes_apart() -> i64 { take_apart(grow(40)) }

fn catches() -> String {
    let taken = take(grow(40)) catch f { return "{{ f.kind }}: {{ f.message }}" }
    "{{ taken }}"
}
'''

LIBRARY = '''\
#include "tenon/extern.h"

TENON_EXTERN(take) { tenon_put_i64(call, tenon_result(call), 1); }
TENON_EXTERN(take_apart) { tenon_put_i64(call, tenon_result(call), 1); }
'''
TOO_LONG = "longer than 268435456 bytes (recorded_bytes_max); what occurs in several places counts in each: pass on only what is needed"


def run(work, function, *options):
    file = work / "large.tn"
    file.write_text(PROGRAM + (EXTERNS if "--extern" in options else ""))
    began = time.monotonic()
    process = tenon("run", file, "--fn", function, "--model", "script:" + str(work / "model.script"), *options, seconds_max=300)
    # Writing it all takes years, and writing as much as is allowed a minute on a very busy machine.
    assert time.monotonic() - began < 240, process
    return process


def prepare(work):
    (work / "model.script").write_text('label => {"name": "a"}\n')
    return ("--extern", build_library(work, "take", LIBRARY))


def test_a_result(work):
    prepare(work)
    recorded = run(work, "main", "--store", work / "runs.store")
    assert recorded.returncode == 1 and not recorded.stdout, recorded
    assert "large.tn:10:4" in recorded.stderr and "the run's value cannot be recorded" in recorded.stderr, recorded
    assert TOO_LONG in recorded.stderr and "out of memory" not in recorded.stderr, recorded
    # The failure is recorded: the run has ended, and says the same again.
    again = tenon("resume", find_run(recorded.stderr), "--store", work / "runs.store")
    assert again.returncode == 1 and TOO_LONG in again.stderr, again
    checked = tenon("store", "check", "--store", work / "runs.store")
    assert checked.returncode == 0, checked
    printed = run(work, "main")
    assert printed.returncode == 1 and not printed.stdout, printed
    assert "the result cannot be printed: the text would be longer than 268435456 bytes" in printed.stderr, printed


def test_an_argument_of_an_extern(work):
    library = prepare(work)
    for function in ("passes", "passes_apart"):
        recorded = run(work, function, *library, "--store", work / "runs.store")
        assert recorded.returncode == 1 and "the request cannot be recorded" in recorded.stderr, recorded
        assert TOO_LONG in recorded.stderr and "large.tn:5" in recorded.stderr, recorded
    caught = run(work, "catches", *library, "--store", work / "runs.store")
    assert caught.returncode == 0 and caught.stdout.startswith('"Conversion": the request cannot be recorded'), caught
    # A function in the process reads the value as it is in memory; another process gets its text.
    here = run(work, "passes", *library)
    assert here.returncode == 0 and here.stdout == "1\n", here
    apart = run(work, "passes_apart", *library)
    assert apart.returncode == 1 and "an argument cannot be passed to a process" in apart.stderr and TOO_LONG in apart.stderr, apart


def test_an_argument_of_a_model_or_an_agent(work):
    prepare(work)
    recorded = run(work, "asks", "--store", work / "runs.store")
    assert recorded.returncode == 1 and TOO_LONG in recorded.stderr and "large.tn:13:35" in recorded.stderr, recorded
    # The model does not see the argument, and nothing is recorded.
    assert run(work, "asks").stdout == "a\n"
    for options in ((), ("--store", work / "runs.store")):
        called = run(work, "calls", *options)  # what an agent is prompted with is a message
        assert called.returncode == 1 and "the text would be longer than 268435456 bytes" in called.stderr, called


def test_a_text(work):
    prepare(work)
    shown = run(work, "shows")
    assert shown.returncode == 1 and "the text would be longer than 268435456 bytes" in shown.stderr, shown
    assert run(work, "compares").stdout == "true\n"
    described = run(work, "describes")
    assert described.returncode == 1 and "left:" in described.stderr and len(described.stderr) < 5000, described


def test_a_state(work):
    prepare(work)
    file, store = work / "large.tn", work / "runs.store"
    file.write_text(PROGRAM)
    for options in ((), ("--store", store)):
        process = tenon("chat", file, "--agent", "Keeper", "--model", "script:" + str(work / "model.script"), *options,
                        stdin=None, input="hello\ngrow\nhello\n", seconds_max=300)
        assert process.stdout == "0\n0\n", process
        assert "the agent's state cannot be recorded" in process.stderr and TOO_LONG in process.stderr, process


def test_requests_that_wait_at_once(work):
    prepare(work)
    process = run(work, "waits", "--store", work / "runs.store")
    assert process.returncode == 3, (process.returncode, process.stderr[-2000:])
    listed = tenon("runs", "--store", work / "runs.store")
    assert "waiting" in listed.stdout, listed.stdout[-2000:]


def test_records_of_a_long_step(work):
    """A step whose records are larger than a commit may be, 256 MiB, ends in between."""
    prepare(work)
    file = work / "emits.tn"
    file.write_text('''\
fn main() -> i32 {
    let text = "x".repeat(20_000_000)
    for at in 0..15 { emit("{{ at }}{{ text }}") }
    15
}
''')
    process = tenon("run", file, "--store", work / "runs.store", seconds_max=300)
    assert process.returncode == 0 and process.stdout.endswith("15\n"), process.stderr[-2000:]
    replayed = tenon("replay", find_run(process.stderr), "--store", work / "runs.store", seconds_max=300)
    assert replayed.returncode == 0, replayed.stderr[-2000:]
