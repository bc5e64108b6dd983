"""Externs with the options `once`, `within` and `process`: with real crashes, real signals, real time."""
import json
import os
import pathlib
import signal
import subprocess
import time

from tenon_process import ROOT, TENON, build_library, find_run, open_wait, tenon

TESTS_AT_ONCE = 4  # they wait, for clocks and for processes that end

LIBRARY = r'''
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <tenon/extern.h>
static void note(const char* word, const char* key) {
  FILE* calls = fopen(getenv("CALLS"), "a");
  fprintf(calls, "%s %ld %s\n", word, (long)getpid(), key);
  fclose(calls);
}
static void wait_seconds(int seconds) {
  struct timespec left = {seconds, 0};
  while (nanosleep(&left, &left) != 0) {}
}
TENON_EXTERN_AS(charge, "(String) -> String") {
  note("charge", tenon_effect_key(call));
  if (getenv("HANGS") != NULL) wait_seconds(60);
  tenon_put_string(call, tenon_result(call), "receipt");
}
TENON_EXTERN_AS(slow, "(i32) -> i32") {
  note("slow", tenon_effect_key(call));
  wait_seconds(tenon_argument_i32(call, 0));
  tenon_put_i64(call, tenon_result(call), 1);
}
static int here = 0;
TENON_EXTERN_AS(meet, "() -> Boolean") {
  __atomic_add_fetch(&here, 1, __ATOMIC_SEQ_CST);
  for (int waited = 0; waited < 2000 && __atomic_load_n(&here, __ATOMIC_SEQ_CST) < 2; ++waited) {
    const struct timespec pause = {0, 10000000};
    nanosleep(&pause, NULL);
  }
  tenon_put_boolean(call, tenon_result(call), __atomic_load_n(&here, __ATOMIC_SEQ_CST) >= 2);
}
TENON_EXTERN_AS(stubborn, "() -> ()") {
  signal(SIGTERM, SIG_IGN);
  note("stubborn", tenon_effect_key(call));
  wait_seconds(60);
}
TENON_EXTERN_AS(crash, "(i32) -> ()") {
  const int how = tenon_argument_i32(call, 0);
  if (how == 0) *(volatile int*)(size_t)(how + 8) = 1;
  if (how == 1) abort();
  exit(7);
}
TENON_EXTERN_AS(copy, "(List<Item>) -> List<Item>") {
  tenon_put_value(call, tenon_result(call), tenon_argument(call, 0));
}
TENON_EXTERN_AS(hand_on, "(String) -> String") {
  tenon_put_value(call, tenon_result(call), tenon_argument(call, 0));
}
TENON_EXTERN_AS(length, "(String) -> i32") {
  tenon_put_i64(call, tenon_result(call), (int64_t)tenon_argument_text(call, 0).length);
}
TENON_EXTERN_AS(large, "(i32) -> String") {
  const size_t length = (size_t)tenon_argument_i32(call, 0) << 20;
  char* text = malloc(length);
  memset(text, 'x', length);
  tenon_put_text(call, tenon_result(call), text, length);
  free(text);
}
TENON_EXTERN_AS(approve, "() -> String") {
  const tenon_text who = tenon_input(call);
  note("approve", tenon_effect_key(call));
  if (who.data == NULL) tenon_pause_for_input(call, "Who approves?");
  else tenon_put_text(call, tenon_result(call), who.data, who.length);
}
TENON_EXTERN_AS(descriptors, "() -> i64") {
  int64_t open = 0;
  for (int at = 0; at < 1024; ++at) {
    if (fcntl_is_open(at)) ++open;
  }
  tenon_put_i64(call, tenon_result(call), open);
}
const char* key(void) { return getenv("TENON_EFFECT_KEY") == NULL ? "none" : getenv("TENON_EFFECT_KEY"); }
'''.replace("#include <unistd.h>", "#include <fcntl.h>\n#include <unistd.h>\n"
            "static int fcntl_is_open(int number) { return fcntl(number, F_GETFD) != -1; }")

PROGRAM = '''\
struct Item { name: String, price: f64, tags: List<String>, note: String? }

extern(once) fn charge(who: String) -> String
extern(process, within: 60s) fn slow(seconds: i32) -> i32
extern(process) fn crash(how: i32)
extern(process) fn copy(items: List<Item>) -> List<Item>
extern(process) fn large(megabytes: i32) -> String
extern(process) fn key() -> String
extern(process) fn approve() -> String
extern(process) fn descriptors() -> i64
extern(process, within: 100ms) fn stubborn()

fn pay() -> String { charge("ann") catch f { "{{ f.kind == FailureKind::ToolFailed }} {{ f.message }}" } }
fn crashed(how: i32) -> String {
    crash(how) catch f { return f.message }
    "alive"
}
fn same() -> Boolean {
    let items = [Item { name: "tea\\n\\u{1F375}", price: 0.1, tags: ["a", ""], note: None },
                 Item { name: "", price: -0.0, tags: [], note: Some("x") }]
    copy(items) == items
}
fn size(megabytes: i32) -> String {
    let text = large(megabytes) catch f { return f.message }
    "{{ text.len() }}"
}
fn many() -> i32 {
    let calls: List<i32> = []
    for n in 0..100 { calls.push(n) }
    let given = for call in calls parallel(100) { slow(call - call) }
    given.sum()
}
fn slowly(seconds: i32) -> i32 { slow(seconds) }
fn keyed() -> String { key() }
fn approved() -> String { approve() }
fn opened() -> i64 { descriptors() }
fn unfinished() -> String {
    stubborn() catch f { return "{{ f.kind == FailureKind::TimedOut }} {{ f.message }}" }
    "done"
}
'''
IN_PROCESS = '''\
extern(within: 200ms) fn slow(seconds: i32) -> i32
extern fn meet() -> Boolean
fn together() -> Boolean {
    let (a, b) = parallel { meet(), meet() }
    a && b
}
fn late() -> String {
    let n = slow(30) catch f { return "{{ f.kind == FailureKind::TimedOut }} {{ f.message }}" }
    "{{ n }}"
}
'''
SECRETS = '''\
extern(once) fn charge(who: String) -> secret String
extern(process) fn hand_on(secret text: String) -> secret String
extern(process) fn length(secret text: String) -> i32
fn pay() -> i32 { length(hand_on(charge("ann"))) }
'''


class Bench:
    """A program with its library, in a folder."""

    def __init__(self, work, program=PROGRAM):
        self.work = work
        self.store = work / "s.db"
        self.calls_file = work / "calls"
        self.program = work / "p.tn"
        self.program.write_text(program)
        source, self.library = work / "lib.c", work / "lib.so"
        source.write_text(LIBRARY)
        subprocess.run(["cc", "-std=gnu99", "-shared", "-fPIC", "-I", ROOT / "include", "-o", self.library, source], check=True)

    def environment(self, **more):
        return {"CALLS": str(self.calls_file), **more}

    def run(self, function, *arguments, **more):
        return tenon("run", self.program, "--fn", function, "--extern", self.library, *arguments,
                     environment=self.environment(**more))

    def value(self, function, *arguments):
        process = self.run(function, *arguments)
        assert process.returncode == 0, process
        return process.stdout.rstrip("\n")

    def begin(self, function, *arguments, **more):
        return subprocess.Popen([TENON, "run", self.program, "--fn", function, "--extern", self.library, "--store", self.store,
                                 *arguments], env={**os.environ, **self.environment(**more)}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def calls(self):
        return [line.split(" ") for line in self.calls_file.read_text().splitlines()] if self.calls_file.exists() else []

    def wait_for_call(self, count=1):
        end = time.monotonic() + 30
        while len(self.calls()) < count:
            assert time.monotonic() < end, "the extern was not called"
            time.sleep(0.01)
        return self.calls()[count - 1]

    def resume(self, *arguments, **more):
        return tenon("resume", self.only_run()["run"], "--store", self.store, *arguments, environment=self.environment(**more))

    def only_run(self):
        runs = json.loads(tenon("runs", "--store", self.store, "--json").stdout)
        assert len(runs) == 1, runs
        return runs[0]

    def cut_off(self, function, *arguments, **more):
        """Kills the process in the middle of the call."""
        process = self.begin(function, *arguments, **more)
        called = self.wait_for_call(len(self.calls()) + 1)
        process.kill()
        process.communicate()
        return called


def is_running(process_id):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{process_id}/status").read_text()
    except OSError:
        return False


def wait_until_gone(process_id, seconds=60):
    end = time.monotonic() + seconds
    while is_running(process_id):
        assert time.monotonic() < end, f"process {process_id} is still there"
        time.sleep(0.01)


def test_a_call_that_was_cut_off_waits_for_a_person(work):
    bench = Bench(work)
    bench.cut_off("pay", HANGS="1")
    assert bench.only_run()["state"] == "running"
    for _ in range(2):
        waits = bench.resume()
        assert waits.returncode == 3 and "Did `charge(\"ann\")` happen?" in waits.stderr, waits
    run = bench.only_run()
    assert run["state"] == "waiting" and len(run["waits"]) == 1, run
    wait = run["waits"][0]
    assert wait["type"] == '{"value": String} | {"retry": true} | {"fail": String}', wait
    assert [list(one["properties"]) for one in wait["schema"]["anyOf"]] == [["value"], ["retry"], ["fail"]], wait
    listed = tenon("runs", "--store", bench.store, "--waiting")
    assert "was interrupted before its outcome was recorded" in listed.stdout, listed
    for wrong, reason in [("receipt", "invalid JSON"), ("{}", "expected one of"), ('{"value": 3}', "value"), ('{"retry": false}', "`true`"),
                          ('{"fail": null}', "expected a string"), ('{"retry": true, "value": "x"}', "expected one of"), ('["retry"]', "expected one of")]:
        refused = bench.resume("--wait", wait["wait"], "--input", wrong)
        assert refused.returncode == 2 and reason in refused.stderr, (wrong, refused)
    assert len(bench.calls()) == 1, "a person has not asked for another call"
    done = bench.resume("--wait", wait["wait"], "--input", '{"value": "seen in the books"}')
    assert (done.returncode, done.stdout) == (0, "seen in the books\n"), done
    assert len(bench.calls()) == 1
    assert tenon("store", "check", "--store", bench.store).returncode == 0


VALUES = """
enum Mood { Good, Bad(String) }
struct All { big: i64, m: Map<i32>, e: Mood, r: Result<i64>, t: (i64, String), o: Option<Option<i64>> }
extern(once) fn move_all(all: All, n: i64, key: secret String) -> String
extern fn copied(all: All, n: i64) -> All

fn all() -> All {
    All { big: 9007199254740993, m: Map::from([("a", 1), ("b", 2)]), e: Mood::Bad("x"), r: Ok(7), t: (1, "q"), o: None }
}
fn moves(key: secret String) -> String { move_all(all(), 250, key) }
fn tells(ctx: Context, first: i64) -> All {
    let given = copied(all(), first)
    made(ctx, given)
    given
}
fn made(ctx: Context, given: All) -> i64 { "Make it"! }
"""
VALUES_LIBRARY = r"""
#include <signal.h>
#include <unistd.h>
#include <tenon/extern.h>
TENON_EXTERN(move_all) { kill(getpid(), SIGKILL); }
TENON_EXTERN(copied) { tenon_put_value(call, tenon_result(call), tenon_argument(call, 0)); }
"""
SHOWN = '{"big":9007199254740993,"m":{"a":1,"b":2},"e":{"Bad":"x"},"r":{"Ok":7},"t":[1,"q"],"o":null}'


def test_the_values_of_a_call_are_shown_as_they_are_given(work):
    """In the question about a call, and in the trace: so that they can be copied into an answer."""
    program, store, script = work / "values.tn", work / "values.store", work / "model.script"
    program.write_text(VALUES)
    script.write_text('made => {"value": 9007199254740993}\n')
    options = ["--extern", build_library(work, "values", VALUES_LIBRARY), "--model", f"script:{script}", "--store", store]
    run = find_run(tenon("run", program, "--fn", "moves", "--arg", "key=s3cret", *options).stderr)
    listed = json.loads(tenon("runs", "--store", store, "--json").stdout)
    assert [one["state"] for one in listed] == ["running"], listed
    asked = tenon("resume", run, "--store", store).stderr
    question = f'Did `move_all({SHOWN}, 250, "[secret]")` happen? It was interrupted'
    assert question in asked and "s3cret" not in asked, asked
    assert question in tenon("runs", "--store", store).stdout
    assert json.loads(tenon("runs", "--store", store, "--json").stdout)[0]["waits"][0]["question"].startswith(question)
    copied = tenon("run", program, "--fn", "tells", "--arg", "first=250", *options)
    assert (copied.returncode, copied.stdout) == (0, SHOWN + "\n"), copied
    lines = tenon("trace", "show", find_run(copied.stderr), "--store", store).stdout.splitlines()
    assert lines[0] == "tells[null,250]", lines
    assert any(f"copied({SHOWN}, 250) {{argument first}} = {SHOWN} " in line for line in lines), lines
    assert any(f"made(ctx, {SHOWN}) {{argument first, extern copied}} = 9007199254740993 " in line for line in lines), lines
    assert lines[-1].startswith(f"= {SHOWN}  ["), lines
    other = tenon("run", program, "--fn", "tells", "--arg", "first=251", *options)
    compared = tenon("trace", "diff", find_run(copied.stderr), find_run(other.stderr), "--store", store)
    assert "argument 2 of `copied`" in compared.stdout and "\n  a: 250\n  b: 251\n" in compared.stdout, compared
    assert '  a: {"arguments":[null,250],"function":"tells"}\n' in compared.stdout, compared


def test_a_person_chooses_between_retry_and_failure(work):
    bench = Bench(work)
    first = bench.cut_off("pay", HANGS="1")
    # Killed again in the middle of the second call, which was allowed; a third is not.
    process = subprocess.Popen([TENON, "resume", bench.only_run()["run"], "--store", bench.store, "--input", '{"retry": true}'],
                               env={**os.environ, **bench.environment(HANGS="1")})
    second = bench.wait_for_call(2)
    process.kill()
    process.wait()
    assert first[2] == second[2], "the key names the effect, not the attempt"
    again = bench.resume()
    assert again.returncode == 3 and len(bench.calls()) == 2, again
    wait = open_wait(bench.store, bench.only_run()["run"])
    assert wait.endswith("#1"), "the second question about the call has a name of its own"
    stale = bench.resume("--wait", wait.removesuffix("#1"), "--input", '{"retry": true}')
    assert stale.returncode == 2 and len(bench.calls()) == 2, stale
    third = bench.resume("--wait", wait, "--input", '{"retry": true}')
    assert (third.returncode, third.stdout, len(bench.calls())) == (0, "receipt\n", 3), third


def test_a_person_chooses_failure(work):
    bench = Bench(work)
    bench.cut_off("pay", HANGS="1")
    failed = bench.resume("--input", '{"fail": "the card was stolen"}')
    assert (failed.returncode, failed.stdout) == (0, "true `charge` failed: the card was stolen\n"), failed
    assert len(bench.calls()) == 1


def test_a_call_that_was_cut_off_is_answered_through_the_owner_of_the_store(work):
    bench = Bench(work)
    bench.cut_off("pay", HANGS="1")
    with subprocess.Popen([TENON, "serve", bench.program, "--extern", bench.library, "--store", bench.store, "--port", "0"],
                          env={**os.environ, **bench.environment()}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as server:
        try:
            end = time.monotonic() + 30
            while bench.only_run()["state"] != "waiting":
                assert time.monotonic() < end, "the server does not go on with the run"
                time.sleep(0.02)
            refused = bench.resume("--input", '{"value": 1}')
            assert refused.returncode != 0 and "value" in refused.stderr, refused
            assert bench.resume("--input", '{"value": "by the server"}').returncode == 0
            while bench.only_run()["state"] != "done":
                assert time.monotonic() < end, "the answer is not taken"
                time.sleep(0.02)
        finally:
            server.terminate()
            server.communicate()
    done = bench.resume()
    assert (done.stdout, len(bench.calls())) == ("by the server\n", 1), done


def test_a_process_carries_values_failures_and_the_key(work):
    bench = Bench(work)
    assert bench.value("same") == "true"
    assert bench.value("size", "--arg", "megabytes=8") == str(8 << 20)
    assert bench.value("size", "--arg", "megabytes=70") == \
        "`large` failed: its result is larger than 64 MB, the maximum for a process"
    assert bench.value("crashed", "--arg", "how=0") == \
        "`crash` failed: its process was killed by SIGSEGV (Segmentation fault)"
    assert bench.value("crashed", "--arg", "how=1") == "`crash` failed: its process was killed by SIGABRT (Aborted)"
    assert bench.value("crashed", "--arg", "how=2") == "`crash` failed: its process exited with code 7 without a result"
    assert bench.value("keyed") == "none"
    recorded = bench.run("keyed", "--store", bench.store, TENON_EFFECT_KEY="another run's")
    assert recorded.stdout == bench.only_run()["run"] + "/0\n", recorded
    assert bench.value("opened") == "4", "stdin, stdout, stderr and the one to the parent"
    assert bench.value("many") == "100"


def test_a_process_asks_a_person(work):
    bench = Bench(work)
    waits = bench.run("approved", "--store", bench.store)
    assert waits.returncode == 3 and "Who approves?" in waits.stderr, waits
    done = bench.resume("--input", "Ann")
    assert (done.returncode, done.stdout) == (0, "Ann\n"), done
    (_, first, asked), (_, second, answered) = bench.calls()
    assert first != second and answered == asked + "#1", bench.calls()


def test_a_process_ends_with_its_time(work):
    bench = Bench(work)
    begun = time.monotonic()
    assert bench.value("unfinished") == "true `stubborn` has given nothing within 100 ms"
    assert time.monotonic() - begun < 20, "what ignores SIGTERM is killed"
    if bench.calls():  # the process may not have reached its first line
        wait_until_gone(bench.calls()[0][1], 0.1)


def test_a_process_ends_when_the_run_is_cancelled_or_its_parent_is_killed(work):
    bench = Bench(work)
    for end in (signal.SIGINT, signal.SIGKILL):
        process = bench.begin("slowly", "--arg", "seconds=60")
        called = bench.wait_for_call(len(bench.calls()) + 1)
        process.send_signal(end)
        process.communicate(timeout=60)
        wait_until_gone(called[1])


def test_calls_of_parallel_branches_are_concurrent(work):
    bench = Bench(work, IN_PROCESS)
    assert bench.value("together") == "true"
    stored = bench.run("together", "--store", bench.store)
    assert stored.stdout == "true\n", stored


def test_a_deadline_outlives_the_process(work):
    bench = Bench(work, PROGRAM.replace("within: 60s", "within: 1500ms"))
    begun = time.monotonic()
    bench.cut_off("slowly", "--arg", "seconds=60")
    again = bench.resume()
    assert again.returncode == 1 and "`slow` has given nothing within 1500 ms" in again.stderr, again
    assert time.monotonic() - begun < 15, "the time has not begun anew"
    keys = {call[2] for call in bench.calls()}
    assert len(keys) == 1, "called again while there was time, under the same key"


def test_an_inline_function_continues_without_its_program(work):
    bench = Bench(work, IN_PROCESS)
    begun = time.monotonic()
    assert bench.value("late") == "true `slow` has given nothing within 200 ms"
    assert time.monotonic() - begun < 15


def test_secrets_pass_through_resolutions_and_processes_without_a_trace(work):
    bench = Bench(work, SECRETS)
    bench.cut_off("pay", HANGS="1")
    done = bench.resume("--input", '{"value": "hunter2-is-the-receipt"}')
    assert (done.returncode, done.stdout) == (0, "22\n"), done
    for path in work.iterdir():
        assert b"hunter2" not in path.read_bytes(), f"the secret is in {path}"


def test_what_functions_print_is_not_the_result(work):
    library = build_library(work, "loud", "#include <stdint.h>\n#include <stdio.h>\n"
                            'int64_t say(int64_t n) { printf("printed %d\\n", (int)n); fflush(stdout); return n; }\n')
    for options in ("", "(process)"):
        program = work / "loud.tn"
        program.write_text(f"extern{options} fn say(n: i64) -> i64\n\nfn main() -> i64 {{ say(7) + 1 }}\n")
        process = tenon("run", program, "--extern", library)
        assert (process.returncode, process.stdout) == (0, "8\n"), process
        assert "printed 7\n" in process.stderr, process
