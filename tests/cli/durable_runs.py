"""Runs with a store, process by process: exit codes, output streams, answers, and files that are not stores."""
import concurrent.futures
import contextlib
import json
import os
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import threading
import time

from steps_program import STEPS, STEPS_SCRIPT
from store_places import new_store
from tenon_process import TENON, find_run, free_port, open_wait, tenon, tenon_at_last

TESTS_AT_ONCE = 4  # they wait, for clocks and for processes that end
SECONDS_MAX = 60
ROUNDS_AT_ONCE = 4  # of commands that meet each other

PROGRAM = '''\
struct Trip { city: String, nights: i32 in 1..=30 }

agent Clerk {
    state { asked: i32 = 0 }

    fn turn(ctx: Context, input: String) -> String {
        state.asked += 1
        let nights = ask<i32>("How many nights in {{ input }}?")
        "{{ input }} {{ nights }} {{ state.asked }}"
    }
}

fn main(ctx: Context) -> String {
    let summary = summarize(ctx)
    let sure = ask<Boolean>("Publish `{{ summary }}`?")
    "{{ summary }} {{ sure }}"
}

fn summarize(ctx: Context) -> String { "Summarize"! }

fn two() -> String {
    let (a, b) = parallel {
        ask<i32>("first?")
        ask<String>("second?")
    }
    "{{ a }} {{ b }}"
}

fn asked_meanwhile(ctx: Context) -> String {
    let (word, sure) = parallel {
        summarize(ctx)
        ask<Boolean>("sure?")
    }
    "{{ word }} {{ sure }}"
}

fn clerks() -> List<String> {
    for city in ["Oslo", "Rome"] parallel(2) { Clerk::run(city) }
}

fn trip() -> i32 { ask<Trip>("Where to?").nights }

fn seen() { ask<Boolean>("Seen?") }

fn world() -> Boolean {
    let start = now()
    let chance = random()
    let before = "{{ start }} {{ chance }}"
    let word = ask<String>(before)
    word == before && now() >= start
}

/// Works until it is cancelled.
fn busy() -> Boolean {
    let (sure, done) = parallel {
        ask<Boolean>("sure?")
        idle()
    }
    sure && done
}

fn idle() -> Boolean {
    for n in 0..100_000 { sleep(50) }
    true
}

fn slow() -> String {
    sleep(3_600_000)
    "awake"
}

fn short_nap() -> String {
    sleep(200)
    "awake"
}

fn longer_nap() -> String {
    sleep(2_500)
    "awake"
}

fn both() -> String {
    let (sure, _) = parallel {
        ask_within<Boolean>("sure?", 7_200_000)
        sleep(3_600_000)
    }
    "{{ sure }}"
}

fn sleeps() -> i32 {
    let (_, first, last, _) = parallel {
        sleep(9_000_000)
        ask_within<i32>("first?", 3_600_000)
        ask_within<i32>("last?", 10_800_000)
        { sleep(5_400_000); sleep(1) }
    }
    first + last
}

fn greets() -> String {
    emit("One moment.")
    let name = ask<String>("Who is it?")
    emit("I greet {{ name }}.")
    "Hello {{ name }}"
}

fn hurried() -> String {
    let sure = ask_within<Boolean>("sure?", 1_500) catch f { return "no one, {{ f.kind == FailureKind::TimedOut }}" }
    "{{ sure }}"
}

fn late() -> String {
    ask_within<String>("quick?", 1) catch f { "{{ f.kind == FailureKind::TimedOut }}" }
}

fn broken() -> i32 {
    ask<i32>("by how much?")
    10 / ask<i32>("by what?")
}

fn rounds() -> i32 {
    let sum = 0
    for n in 0..3 { if ask<Boolean>("add {{ n }}?") { sum += n } }
    while ask<Boolean>("more?") { sum += 100 }
    sum
}
'''


class Store:
    """A store, with its own program and script in a folder."""

    def __init__(self, work, script='summarize => "short"\n'):
        self.work = work
        self.path = new_store(work)
        self.program = work / "program.tn"
        self.program.write_text(PROGRAM)
        self.script = work / "model.script"
        self.script.write_text(script)

    def run(self, function="main", *options):
        return tenon("run", self.program, "--fn", function, "--model", f"script:{self.script}", "--store", self.path, *options)

    def start(self, function="main", *options):
        """The name of a waiting run."""
        process = self.run(function, *options)
        expect(process, 3, "")
        return re.match(r"tenon: run (\w+)\n", process.stderr)[1]

    def resume(self, run, *options, **settings):
        return tenon("resume", run, "--store", self.path, *options, **settings)

    def answer(self, run, text):
        """Answers the only question that is open."""
        return self.resume(run, "--wait", open_wait(self.path, run), "--input", text)

    def list(self, *options):
        process = tenon("runs", "--store", self.path, "--json", *options)
        expect(process, 0, None, "")
        return json.loads(process.stdout)

    def list_once_it_exists(self):
        """Empty while the process that makes the store has not done so."""
        process = tenon("runs", "--store", self.path, "--json")
        return json.loads(process.stdout) if process.returncode == 0 else []

    def state(self, run):
        return next(one["state"] for one in self.list() if one["run"] == run)

    def store(self, *words, path=None):
        return tenon("store", *words, "--store", path or self.path)


def expect(process, code, output=None, errors=None):
    shown = f"exit {process.returncode}\nstdout: {process.stdout!r}\nstderr: {process.stderr!r}"
    assert process.returncode == code, f"expected exit {code}: {shown}"
    assert output is None or process.stdout == output, f"expected stdout {output!r}: {shown}"
    assert errors is None or process.stderr == errors, f"expected stderr {errors!r}: {shown}"


def expect_error(process, code, *words):
    expect(process, code, "")
    for word in words:
        assert word in process.stderr, f"expected {word!r} in {process.stderr!r}"


def test_a_waiting_run_prints_how_to_continue(work):
    store = Store(work)
    process = store.run()
    run = re.match(r"tenon: run (\w+)\n", process.stderr)[1]
    expect(process, 3, "", f"tenon: run {run}\ntenon: run {run} waits\n  wait 1 (yes or no): Publish `short`?\n"
                           f"  continue with: tenon resume {run} --store {shlex.quote(str(store.path))} --input ANSWER\n")


def test_a_run_with_a_store_that_does_not_wait(work):
    store = Store(work)
    process = store.run("short_nap")
    expect(process, 0, "awake\n")
    assert re.fullmatch(r"tenon: run \w+\n", process.stderr), process.stderr
    assert [one["state"] for one in store.list()] == ["done"]


def test_resume_needs_neither_source_nor_script_for_recorded_outcomes(work):
    store = Store(work)
    run = store.start()
    store.program.unlink()
    store.script.write_text("")
    expect(store.resume(run, "--input", "true"), 0, "short true\n", "")


def test_resume_of_a_finished_run_shows_its_end_again(work):
    store = Store(work)
    run = store.start()
    expect(store.resume(run, "--input", "true"), 0, "short true\n")
    records = store.list()[0]["records"]
    expect(store.resume(run), 0, "short true\n", "")
    again = store.resume(run, "--input", "false")
    expect(again, 0, "short true\n", f"tenon: run {run} has already ended; the answer was not used\n")
    assert store.list()[0]["records"] == records
    store.script.unlink()
    expect(store.resume(run), 0, "short true\n", "")


def test_a_failed_run_keeps_its_failure(work):
    store = Store(work)
    run = store.start("broken")
    expect(store.resume(run, "--input", "1"), 3, "")
    failed = store.answer(run, "0")
    expect(failed, 1, "")
    assert re.match(re.escape(str(store.program)) + r":\d+:\d+: error: ", failed.stderr), failed.stderr
    assert "in `broken`" in failed.stderr, failed.stderr
    expect(store.resume(run), 1, "", failed.stderr)
    assert store.state(run) == "failed"


def test_answers_that_do_not_fit_are_rejected(work):
    store = Store(work)
    run = store.start("trip")
    before = store.list()[0]["records"]
    for answer, word in [("Oslo", '{"city": string'), ('{"city": "Oslo"}', "nights"), ('{"city": "Oslo", "nights": 31}', "31"),
                         ("", "JSON"), ('{"city": 1, "nights": 2}', "city"), ("null", "null"), ("[" * 5000, "")]:
        process = store.resume(run, "--input", answer)
        expect_error(process, 2, word, f"run {run} waits")
    assert store.list()[0]["records"] == before, "a rejected answer is not recorded"
    expect(store.resume(run, "--input", '{"city": "Oslo", "nights": 30}'), 0, "30\n", "")


def test_answers_without_a_wait(work):
    store = Store(work)
    run = store.start()
    expect_error(store.resume(run, "--wait", "7", "--input", "true"), 2, "nothing waits under `7`")
    expect_error(store.resume(run, "--wait", "1"), 2, "--input")
    run = store.start("slow")
    expect_error(store.resume(run, "--input", "true"), 2, "the run has no open question")
    expect_error(store.resume("nosuchrun"), 1, "no run nosuchrun")


def test_two_questions_in_either_order(work):
    for order in (("0.0.0", "0.1.0"), ("0.1.0", "0.0.0")):
        (work / order[0]).mkdir()
        store = Store(work / order[0])
        run = store.start("two")
        waits = {wait["wait"]: wait for wait in store.list("--waiting")[0]["waits"]}
        assert {name: wait["type"] for name, wait in waits.items()} == {"0.0.0": "i32", "0.1.0": "String"}, waits
        assert waits["0.0.0"]["schema"]["type"] == "integer" and waits["0.0.0"]["question"] == "first?"
        expect_error(store.resume(run, "--input", "4"), 2, "--wait", "first?", "second?")
        answers = {"0.0.0": "4", "0.1.0": "text"}
        expect(store.resume(run, "--wait", order[0], "--input", answers[order[0]]), 3, "")
        expect_error(store.resume(run, "--wait", order[0], "--input", answers[order[0]]), 2, "nothing waits")
        expect_error(store.resume(run, "--input", answers[order[1]]), 2, "name the one that is answered", f"--wait {order[1]} --input")
        expect(store.resume(run, "--wait", order[1], "--input", answers[order[1]]), 0, "4 text\n", "")


def test_agents_in_branches_wait_each(work):
    store = Store(work)
    run = store.start("clerks")
    waits = {wait["question"]: wait["wait"] for wait in store.list()[0]["waits"]}
    assert sorted(waits) == ["How many nights in Oslo?", "How many nights in Rome?"], waits
    expect(store.resume(run, "--wait", waits["How many nights in Rome?"], "--input", "5"), 3, "")
    expect(store.answer(run, "2"), 0, '["Oslo 2 1","Rome 5 1"]\n', "")


def test_questions_in_loops_one_process_each(work):
    store = Store(work)
    run = store.start("rounds")
    for answer in ("false", "true", "true", "true"):
        expect(store.answer(run, answer), 3, "")
    expect_error(store.resume(run, "--input", "false"), 2, "name the one that is answered")
    expect(store.answer(run, "false"), 0, "103\n", "")


def test_time_and_chance_are_the_same_after_a_resume(work):
    store = Store(work)
    run = store.start("world")
    question = store.list()[0]["waits"][0]["question"]
    expect(store.resume(run, "--input", question), 0, "true\n", "")


def test_a_unit_value_prints_nothing(work):
    store = Store(work)
    run = store.start("seen")
    expect(store.resume(run, "--input", "true"), 0, "", "")


def test_waiting_for_time(work):
    store = Store(work)
    process = store.run("slow")
    expect_error(process, 3, "  timer until 20")
    one = store.list("--waiting")[0]
    assert 3_500_000 < one["wakes_at"] - one["updated_at"] <= 3_600_000 and one["waits"] == [], one
    expect_error(store.resume(one["run"]), 3, "  timer until 20")
    expect(store.run("late"), 0, "true\n")


def test_a_timer_is_listed_beside_the_questions(work):
    store = Store(work)
    process = store.run("both")
    expect(process, 3, "")
    assert re.search(r"  wait \S+ \(yes or no\): sure\?\n    until 20\S+\n  timer until 20", process.stderr), process.stderr
    listed = tenon("runs", "--store", store.path).stdout
    assert re.search(r"  wait \S+ \(yes or no\): sure\?\n    until 20.*Z\n  timer until 20.*Z\n", listed), listed
    (work / "asked").mkdir()
    asked = Store(work / "asked")
    asked.start("trip")
    listed = tenon("runs", "--store", asked.path).stdout
    assert '({"city": text, "nights": a whole number from 1 to 30}): Where to?\n' in listed and "timer" not in listed, listed


def test_each_time_that_a_run_waits_for_is_listed(work):
    store = Store(work)
    process = store.run("sleeps")
    expect(process, 3, "")
    listed = tenon("runs", "--store", store.path).stdout
    for text in (process.stderr, listed):
        assert len(re.findall(r"^    until 20\S+Z$", text, re.MULTILINE)) == 2, text
        assert len(re.findall(r"^  timer until 20\S+Z$", text, re.MULTILINE)) == 2, text
    (one,) = store.list("--waiting")
    begun = one["timers"][0] - 5_400_000
    assert abs(one["timers"][1] - begun - 9_000_000) < 60_000 and len(one["timers"]) == 2, one
    assert [wait["question"] for wait in one["waits"]] == ["first?", "last?"] and "unavailable" not in one, one
    assert one["wakes_at"] == one["waits"][0]["until"], one
    run = store.start("slow")
    one = next(one for one in store.list() if one["run"] == run)
    assert one["timers"] == [one["wakes_at"]], one


def test_a_process_can_wait_for_the_timers(work):
    store = Store(work)
    process = store.run("longer_nap", "--wait")
    assert (process.returncode, process.stdout) == (0, "awake\n"), process
    process = store.run("longer_nap")
    expect(process, 3, "")
    run = store.list("--waiting")[0]["run"]
    expect(store.resume(run, "--wait"), 0, "awake\n")
    asks = store.start("two")
    expect(store.resume(asks, "--wait"), 3, "")


def test_emitted_texts_go_to_stderr(work):
    store = Store(work)
    process = store.run("greets")
    expect(process, 3, "")
    assert process.stderr.splitlines()[1] == "One moment.", process.stderr
    run = store.list("--waiting")[0]["run"]
    expect(store.resume(run, "--input", "Ann"), 0, "Hello Ann\n", "I greet Ann.\n")
    plain = tenon("run", store.program, "--fn", "greets", "--model", f"script:{store.script}", stdin=None, input="Bob\n")
    expect(plain, 0, "Hello Bob\n")
    assert plain.stderr.startswith("One moment.\nWho is it? (String): I greet Bob.\n"), plain.stderr


def test_cancel(work):
    store = Store(work)
    run = store.start()
    expect(tenon("cancel", run, "--store", store.path, "--reason", "not today"), 0, "", "")
    expect(store.resume(run), 1, "", "error: the run was cancelled: not today\n")
    assert store.list("--waiting") == [] and store.state(run) == "cancelled"
    expect_error(tenon("cancel", run, "--store", store.path), 1, "has already ended (cancelled)")
    expect_error(tenon("cancel", "nosuchrun", "--store", store.path), 1, "no run nosuchrun")


def test_runs_are_listed_oldest_first(work):
    store = Store(work)
    runs = [store.start(), store.start("two")]
    assert [one["run"] for one in store.list()] == runs
    process = tenon("runs", "--store", store.path)
    expect(process, 0, None, "")
    lines = process.stdout.splitlines()
    assert [line.split()[:2] for line in lines if not line.startswith(" ")] == [[runs[0], "waiting"], [runs[1], "waiting"]]
    assert "  wait 0.1.0 (String): second?" in lines, lines


def test_forget_removes_the_contents(work):
    store = Store(work, 'summarize => "a-secret-to-forget"\n')
    run = store.start()
    kept = store.start("two")
    assert b"a-secret-to-forget" in b"".join(file.read_bytes() for file in work.glob("runs.store*"))
    expect(store.store("forget", run), 0, "", "")
    assert b"a-secret-to-forget" not in b"".join(file.read_bytes() for file in work.glob("runs.store*"))
    expect_error(store.resume(run, "--input", "true"), 1, "was forgotten")
    expect_error(store.store("forget", "nosuchrun"), 1, "no run nosuchrun")
    assert store.state(run) == "forgotten" and store.state(kept) == "waiting"
    expect(store.store("check"), 0, None, "")


def test_export_and_import_into_another_store(work):
    store = Store(work)
    run = store.start()
    file, other = work / "run.tenon", new_store(work, "other.store")
    expect(store.store("export", run, "--output", file), 0, "", "")
    assert file.stat().st_mode & 0o077 == 0, oct(file.stat().st_mode)
    expect(store.store("import", file, path=other), 0, "", f"tenon: run {run}\n")
    expect(store.store("import", file, path=other), 0, "", f"tenon: run {run} is already in the store\n")
    store.program.unlink()
    expect(tenon("resume", run, "--store", other, "--input", "false"), 0, "short false\n", "")
    assert store.state(run) == "waiting", "the original is another run from now on"
    whole = file.read_bytes()
    for broken in (whole[:-1], whole[:100], b"", b"hello\n", whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]):
        file.write_bytes(broken)
        expect(store.store("import", file, path=new_store(work, "third.store")), 1, "")
    expect_error(store.store("import", work / "nowhere", path=other), 1, "nowhere")
    expect_error(store.store("export", run, "--output", work / "nowhere" / "file"), 1, "nowhere")
    expect_error(store.store("export", "nosuchrun", "--output", file), 1, "no run nosuchrun")


def test_compact_changes_no_run(work):
    store = Store(work)
    run = store.start()
    expect(store.store("compact"), 0, "", "")
    expect(store.resume(run, "--input", "true"), 0, "short true\n", "")


def test_check_finds_a_flipped_byte_of_a_record(work):
    store = Store(work, 'summarize => "the-needle-in-the-store"\n')
    run = store.start()
    expect(store.store("compact"), 0)
    process = store.store("check")
    expect(process, 0, None, "")
    assert re.fullmatch(r"1 run, \d+ records, \d+ contents?, 0 problems\n", process.stdout), process.stdout
    whole = bytearray(store.path.read_bytes())
    # The first time it is in the list of runs, then in the records of the model's answer and of the question.
    whole[whole.rfind(b"the-needle-in-the-store")] ^= 1
    store.path.write_bytes(whole)
    process = store.store("check")
    assert process.returncode == 1 and process.stderr, process
    assert " 0 problems" not in process.stdout, process.stdout
    resumed = store.resume(run, "--input", "true")
    assert resumed.returncode == 1 and "short" not in resumed.stdout, resumed


def test_an_answer_that_comes_too_late(work):
    store = Store(work)
    run = store.start("hurried")
    time.sleep(1.6)
    process = store.resume(run, "--input", "true")
    assert process.returncode == 0 and process.stdout == "no one, true\n" and "too late" in process.stderr, process
    again = store.resume(run, "--input", "true")
    assert again.stdout == "no one, true\n" and "not used" in again.stderr, again


def at_once(*commands):
    """What the commands did, which run at the same time."""
    with concurrent.futures.ThreadPoolExecutor(len(commands)) as pool:
        return [one.result() for one in [pool.submit(command) for command in commands]]


def test_several_people_answer_at_once(work):
    store = Store(work)
    for _ in range(ROUNDS_AT_ONCE):
        run = store.start("two")
        both = at_once(*(lambda wait=wait, answer=answer: store.resume(run, "--wait", wait, "--input", answer)
                         for wait, answer in (("0.0.0", "4"), ("0.1.0", "text"))))
        assert all(one.returncode in (0, 3) for one in both), both
        await_end(store, run)
        expect(store.resume(run), 0, "4 text\n", "")
        run = store.start("two")
        same = at_once(*[lambda: store.resume(run, "--wait", "0.0.0", "--input", "4")] * 3)
        assert [one.returncode for one in same].count(2) == 2 and all("nothing waits" in one.stderr for one in same if one.returncode == 2), same


def test_several_people_cancel_at_once(work):
    store = Store(work)
    for _ in range(ROUNDS_AT_ONCE):
        run = store.start()
        ends = at_once(*[lambda: tenon("cancel", run, "--store", store.path)] * 3)
        assert any(one.returncode == 0 for one in ends), ends
        assert all("has already ended (cancelled)" in one.stderr for one in ends if one.returncode != 0), ends
        assert store.state(run) == "cancelled"


def await_end(store, run):
    """Until the process that has the run has ended it."""
    deadline = time.monotonic() + SECONDS_MAX
    while store.state(run) != "done":
        assert time.monotonic() < deadline, store.list()
        time.sleep(0.02)


@contextlib.contextmanager
def owner_of(store):
    """A chat that waits for input, whose process therefore owns the store."""
    owner = subprocess.Popen([TENON, "chat", str(store.program), "--model", f"script:{store.script}", "--store", str(store.path)],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert owner.stderr.readline().startswith("tenon: run ")
        yield owner
    finally:
        owner.kill()
        owner.communicate()


def test_a_command_that_the_owner_does_not_accept_is_withdrawn(work):
    store = Store(work)
    run = store.start("rounds")
    assert store.path.stat().st_mode & 0o777 == 0o600, "a store is its owner's alone"
    with owner_of(store):
        expect_error(store.resume(run, "--input", "true"), 1, "withdrawn")
        expect_error(tenon("cancel", run, "--store", store.path), 1, "withdrawn")
        with sqlite3.connect(f"file:{store.path}?mode=ro", uri=True) as database:
            assert database.execute("SELECT count(*) FROM inbox").fetchone() == (0,)


def test_a_store_in_use_by_another_process(work):
    store = Store(work)
    run = store.start()
    with owner_of(store) as owner:
        busy = f"in use by process {owner.pid}"
        expect_error(store.resume(run, "--input", "true"), 1, busy)
        expect_error(store.run(), 1, busy)
        expect_error(store.store("compact"), 1, busy)
        expect_error(tenon("cancel", run, "--store", store.path), 1, busy)
        assert store.state(run) == "waiting"
        expect(store.store("check"), 0, None, "")
        owner.send_signal(signal.SIGKILL)
        owner.wait(timeout=60)
        expect(store.resume(run, "--input", "true"), 0, "short true\n", "")


def test_killed_while_the_model_answers(work):
    """The store is released immediately, and the model is asked again."""
    store = Store(work)
    (work / "slow.tn").write_text('fn main(ctx: Context) -> String {\n    let start = now()\n    sleep(900)\n'
                                  '    let word = say(ctx)\n    "{{ word }}"\n}\n\nfn say(ctx: Context) -> String { "say"! }\n')
    store.script.write_text('say => "once"\n')
    process = subprocess.Popen([TENON, "run", str(work / "slow.tn"), "--model", f"script:{store.script}", "--store", str(store.path)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    run = re.match(r"tenon: run (\w+)\n", process.stderr.readline())[1]
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not any(one["records"] >= 4 for one in store.list_once_it_exists()):
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert store.list()[0]["records"] >= 4, "the wait was not recorded"
    time.sleep(1)
    expect(store.resume(run), 0, "once\n", "")


def test_questions_are_listed_while_another_effect_is_pending(work):
    store = Store(work)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        process = subprocess.Popen(
            [TENON, "run", str(store.program), "--fn", "asked_meanwhile", "--model", "openai:mock", "--store", str(store.path)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"})
        run = re.match(r"tenon: run (\w+)\n", process.stderr.readline())[1]
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not any(one.get("waits") for one in store.list_once_it_exists()):
            time.sleep(0.02)
        listed = store.list()
        process.kill()
        process.communicate()
    assert [(one["state"], [wait["question"] for wait in one["waits"]]) for one in listed] == [("running", ["sure?"])], listed
    expect(store.resume(run, "--input", "true", "--model", f"script:{store.script}"), 0, "short true\n")


def test_files_that_are_not_stores(work):
    store = Store(work)
    text = work / "notes.txt"
    text.write_text("hello\n" * 1000)
    foreign = work / "foreign.db"
    with sqlite3.connect(foreign) as database:
        database.execute("create table a(b)")
    before = foreign.read_bytes()
    for path, word in [(text, "not a store"), (foreign, "another program"), (work, "it is a folder"),
                       (work / "nowhere" / "x.store", "does not exist")]:
        for arguments in (["run", store.program, "--model", f"script:{store.script}"], ["resume", "x"], ["runs"],
                          ["store", "check"], ["store", "compact"], ["cancel", "x"]):
            expect_error(tenon(*arguments, "--store", path), 1, str(path), word)
    assert text.read_text() == "hello\n" * 1000 and foreign.read_bytes() == before
    assert not (work / "nowhere").exists()


def test_a_store_has_a_url(work):
    store = Store(work)
    store.run("two")
    listed = tenon("runs", "--store", store.path).stdout
    assert listed and tenon("runs", "--store", f"sqlite:{store.path}").stdout == listed
    commands = (["run", store.program, "--model", f"script:{store.script}"], ["runs"], ["store", "check"])
    for url in ("mysql://host/runs", "redis:runs"):
        for arguments in commands:
            expect_error(tenon(*arguments, "--store", url), 1, f"no store has the scheme `{url.partition(':')[0]}`",
                         "available: `sqlite:PATH`", f"`./{url}`")
    port = free_port()
    for scheme in ("postgres", "postgresql"):
        for arguments in commands:
            process = tenon(*arguments, "--store", f"{scheme}://tenon:sesame@127.0.0.1:{port}/runs")
            expect_error(process, 1, f"error: {scheme}://tenon@127.0.0.1:{port}/runs: the server cannot be reached", "Connection refused")
            assert "sesame" not in process.stdout + process.stderr, process


def test_only_commands_that_start_a_run_create_a_store(work):
    path = work / "missing.store"
    for arguments in (["resume", "x"], ["runs"], ["cancel", "x"], ["store", "check"], ["store", "compact"],
                      ["store", "forget", "x"], ["store", "export", "x", "--output", work / "file"]):
        expect_error(tenon(*arguments, "--store", path), 1, "the store does not exist")
    assert list(work.iterdir()) == []


def test_a_program_with_errors_makes_no_store(work):
    (work / "wrong.tn").write_text('fn main() -> i32 { "text" }\n')
    expect(tenon("run", work / "wrong.tn", "--store", work / "runs.store"), 1, "")
    assert not (work / "runs.store").exists()


def test_paths_that_cannot_be_written(work):
    store = Store(work)
    run = store.start()
    if os.geteuid() == 0:
        # Root can do everything that the kernel itself does not forbid.
        expect(tenon("run", store.program, "--model", f"script:{store.script}", "--store", "/proc/runs.store"), 1, "")
        return
    store.path.chmod(0o400)
    expect(store.resume(run, "--input", "true"), 1, "")
    store.path.chmod(0o600)
    expect(store.resume(run, "--input", "true"), 0, "short true\n")


def test_a_run_whose_budget_is_spent_continues_with_a_larger_one(work):
    store = Store(work, script=STEPS_SCRIPT)
    store.program.write_text(STEPS)
    spent = tenon("run", store.program, "--model", f"script:{store.script}", "--store", store.path, "--budget", "calls=4")
    assert spent.returncode == 1, spent
    run = re.search(r"tenon: run (\w+)\n", spent.stderr)[1]
    assert f"tenon resume {run} --store {store.path} --budget calls=N" in spent.stderr, spent.stderr
    refused = store.resume(run, "--budget", "calls=0x")
    assert refused.returncode == 2, refused
    again = store.resume(run)
    assert again.returncode == 1 and "--budget calls=N" in again.stderr, again
    trace = work / "trace.jsonl"
    larger = store.resume(run, "--budget", "calls=6", "--trace", trace)
    assert larger.returncode == 0 and larger.stdout == "6\n", larger
    assert "4 outcomes were taken from run" in larger.stderr, larger.stderr
    sent = [event for event in map(json.loads, trace.read_text().splitlines()) if event["type"] == "generation_started"]
    assert len(sent) == 2, "nothing is paid twice"
    records = next(one["records"] for one in store.list() if one["run"] == run)
    still = tenon("fork", run, "--at", records, "--store", store.path, "--budget", "calls=5")
    assert still.returncode == 1 and "the budget of 5 model calls" in still.stderr, still
    (work / "program.tn").write_text("fn main() -> i32 { 1 / (1 - 1) }\n")
    broken = re.search(r"tenon: run (\w+)\n", store.run("main").stderr)[1]
    refused = store.resume(broken, "--budget", "calls=9")
    assert refused.returncode == 2 and "is failed: only a run that has failed because its budget was spent" in refused.stderr, refused
    done = next(one["run"] for one in store.list() if one["state"] == "done")
    refused = store.resume(done, "--budget", "calls=9")
    assert refused.returncode == 2 and "is done" in refused.stderr, refused


def test_invalid_options(work):
    store = Store(work)
    for arguments in (["resume"], ["resume", "x"], ["cancel", "x"], ["runs"], ["store"], ["store", "check"],
                      ["store", "export", "x", "--store", store.path], ["store", "burn", "--store", store.path],
                      ["run", store.program, "--store", store.path, "--durability", "half"]):
        process = tenon(*arguments)
        assert process.returncode == 2 and process.stdout == "" and process.stderr, (arguments, process)


def test_both_durabilities_record(work):
    store = Store(work)
    run = store.start("main", "--durability", "process")
    expect(store.resume(run, "--input", "true", "--durability", "process"), 0, "short true\n", "")


def test_without_a_store_questions_go_to_the_terminal(work):
    store = Store(work)
    arguments = ["run", store.program, "--model", f"script:{store.script}"]
    expect(tenon(*arguments, stdin=None, input="maybe\ntrue\n"), 0, "short true\n",
           "Publish `short`? (yes or no): error: the answer: expected yes or no, found \"maybe\"\n"
           "Publish `short`? (yes or no): ")
    process = tenon(*arguments)
    expect(process, 1, "")
    assert "cannot ask a person: stdin is closed; use `--store FILE`" in process.stderr, process.stderr


def test_a_cancelled_branch_is_not_waited_for(work):
    store = Store(work)
    (work / "branches.tn").write_text('fn main() -> String { both() catch f { f.message } }\n\nfn both() -> String {\n'
                                      '    let (a, b) = parallel {\n        nap()\n        fail("no")\n    }\n    a\n}\n\n'
                                      'fn nap() -> String {\n    sleep(3_600_000)\n    "awake"\n}\n')
    expect(tenon("run", work / "branches.tn", "--model", f"script:{store.script}", seconds_max=30), 0, "no\n",
           "warning: the scripted model was not asked for the answer for `summarize` (line 1)\n")


def test_interrupted_a_recorded_run_is_only_left(work):
    store = Store(work)
    (work / "napping.tn").write_text('fn main() -> String {\n    sleep(700)\n    sleep(700)\n    sleep(700)\n    "done"\n}\n')
    process = subprocess.Popen([TENON, "run", str(work / "napping.tn"), "--model", f"script:{store.script}", "--store",
                                str(store.path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    run = re.match(r"tenon: run (\w+)\n", process.stderr.readline())[1]
    threading.Timer(0.3, lambda: process.send_signal(signal.SIGINT)).start()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and output == "" and f"tenon resume {run} --store" in errors, (process.returncode, errors)
    expect(store.resume(run), 0, "done\n", "")


def test_a_run_that_works_takes_answers_and_its_end_from_others(work):
    store = Store(work)
    process = subprocess.Popen([TENON, "run", store.program, "--fn", "busy", "--model", f"script:{store.script}", "--store", store.path],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        run = find_run(process.stderr.readline())
        tenon_at_last("resume", run, "--store", store.path, "--input", "true")
        expect_error(tenon("resume", run, "--store", store.path, "--input", "true"), 2, "the run has no open question")
        tenon_at_last("cancel", run, "--store", store.path, "--reason", "enough")
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 1 and "the run was cancelled: enough" in errors, (process.returncode, errors)
    finally:
        process.kill()
        process.communicate()
