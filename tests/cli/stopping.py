"""SIGTERM and SIGINT: nothing new is started, what finishes within the grace time is recorded, and a second signal ends the process at once."""
import contextlib
import http.server
import json
import os
import signal
import subprocess
import threading
import time

from tenon_process import TENON, build_library, count_calls, find_run, serve, tenon, wait_for_calls

SECONDS_WITHOUT_GRACE = 8  # a process that ends within them has not waited the default grace period, 10 s
TESTS_AT_ONCE = 4  # they wait, for clocks and for processes that end

LIBRARY = r'''
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void nap(int64_t ms) {
  struct timespec left = {ms / 1000, (ms % 1000) * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

static int64_t work(int64_t ms) {
  FILE* calls = fopen(getenv("CALLS"), "a");
  fputs("called\n", calls);
  fclose(calls);
  nap(ms);
  return ms;
}

int64_t slow(int64_t ms) { return work(ms); }
int64_t slow_once(int64_t ms) { return work(ms); }
int64_t slow_process(int64_t ms) { return work(ms); }
int64_t hang(int64_t x) {
  work(0);
  for (;;) nap(1000);
  return x;
}
int64_t hang_process(int64_t x) { return hang(x); }
int64_t sometimes_slow(int64_t ms) { return ms > 0 ? work(ms) : 0; }
int64_t quick(int64_t x) { return x + 1; }
int64_t sleeps(int64_t ms) {
  work(0);
  return usleep(ms * 1000) == 0 ? ms : -errno;
}
'''

PROGRAM = '''
extern fn slow(ms: i64) -> i64
extern(once) fn slow_once(ms: i64) -> i64
extern(process) fn slow_process(ms: i64) -> i64
extern fn hang(x: i64) -> i64
extern(process) fn hang_process(x: i64) -> i64
extern fn quick(x: i64) -> i64
extern(once) fn sleeps(ms: i64) -> i64
extern fn sometimes_slow(ms: i64) -> i64

fn in_process(ms: i64) -> i64 { slow(ms) + 1 }
fn at_most_once(ms: i64) -> i64 { slow_once(ms) + 1 }
fn own_process(ms: i64) -> i64 { slow_process(ms) + 1 }
fn three(ms: i64) -> i64 { slow_once(ms) + slow_once(ms) + slow_once(ms) }
fn side_by_side(ms: i64) -> i64 {
    let (a, b, c) = parallel {
        slow_once(ms)
        slow_process(ms + 1)
        slow(ms + 2)
    }
    a + b + c
}
fn asks_after(ms: i64) -> String {
    let took = slow_once(ms)
    ask<String>("What of {{ took }}?")
}

agent Worker {
    fn turn(ctx: Context, input: i64) -> i64 {
        emit("works")
        slow(input)
    }
}
fn calls_agent() -> i64 {
    let took = slow(900)
    took + Worker::run(901)
}
fn emits_after() -> i64 {
    let took = slow(900)
    emit("took {{ took }}")
    emit("and ends")
    took
}
fn agents_side_by_side() -> i64 {
    let (a, b) = parallel {
        slow(900)
        { slow(900) + Worker::run(901) } finally { emit("cleans up"); slow(1); }
    }
    a + b
}

fn sleeping(ms: i64) -> i64 { sleeps(ms) }
fn sleeps_later(ms: i64) -> i64 {
    let go = ask<String>("Go?")
    sleeps(ms)
}

agent Clerk {
    fn turn(ctx: Context, input: String) -> String { "{{ input }} {{ slow_once(900) }} {{ slow_process(901) }}" }
}
agent Reporter {
    fn turn(ctx: Context, input: String) -> String {
        let took = slow(900)
        emit("took {{ took }}")
        "{{ Worker::run(901) }}"
    }
}
agent Sleeper {
    fn turn(ctx: Context, input: String) -> String { "{{ sleeps(900) }}" }
}

agent Hanging {
    fn turn(ctx: Context, input: String) -> String { "{{ input }} {{ hang(1) }}" }
}

fn hangs() -> i64 { hang(1) }
fn cleans_up() -> i64 { hang(1) finally { slow(0); } }
fn quick_then_slow() -> i64 {
    for n in 0..1000 { sometimes_slow(0) }
    sometimes_slow(20000)
}
fn bounded() -> i64 { hang(1) budget(time: 200ms) catch f {
    assert f.kind == FailureKind::BudgetSpent
    7
} }
fn bounded_process() -> i64 { hang_process(1) budget(time: 200ms) catch f { 7 } }
fn many_bounded() -> i64 {
    for n in 0..7 { hang(n as i64) budget(time: 50ms) catch f { 0 } }
    quick(1)
}
fn bounded_side_by_side() -> i64 {
    let both = parallel {
        a = hang(1) budget(time: 100ms) catch f { 3 },
        b = quick(1),
    }
    both.a + both.b
}
fn failing() -> i64 { hang(1) budget(time: 100ms) }
fn say(ctx: Context) -> String { "Say something"! }
fn bounded_answer(ctx: Context) -> String { say(ctx) budget(time: 200ms) catch f {
    assert f.kind == FailureKind::BudgetSpent
    "no answer"
} }
'''


def launch(*arguments, environment):
    """A process of tenon that is not waited for."""
    return subprocess.Popen([str(TENON), *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=dict(os.environ, **environment))


class Project:
    def __init__(self, work):
        self.program, self.calls, self.store = (work / name for name in ("p.tn", "calls", "runs.store"))
        self.library = build_library(work, "slow", LIBRARY)
        self.program.write_text(PROGRAM)
        (work / "model.script").write_text("")
        self.model = f"script:{work / 'model.script'}"
        self.environment = {"CALLS": str(self.calls), "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
        self.name = None

    def options(self, function, *options):
        return [*options, "--fn", function, "--extern", self.library, "--model", self.model]

    def run(self, function, *options):
        return tenon("run", self.program, *self.options(function, *options), environment=self.environment)

    def start(self, function, *options):
        process = launch("run", self.program, *self.options(function, *options), environment=self.environment)
        process.stdin.close()
        process.stdin = None
        return process

    def chat(self, agent, *options):
        """A chat whose first message, "hello", has been sent and whose agent has called a function."""
        process = launch("chat", self.program, "--agent", agent, "--extern", self.library, "--model", self.model, *options,
                         environment=self.environment)
        process.stdin.write("hello\n")
        process.stdin.flush()
        self.wait_for_calls(1)
        return process

    def called(self):
        return count_calls(self.calls)

    def wait_for_calls(self, count):
        wait_for_calls(self.calls, count)

    def stop(self, process, number=signal.SIGTERM):
        """Exit code, stdout, stderr, and the seconds from the signal on."""
        started = time.monotonic()
        process.send_signal(number)
        output, errors = process.communicate(timeout=30)
        self.name = find_run(errors)
        return process.returncode, output, errors, time.monotonic() - started

    def resume(self, *options):
        return tenon("resume", self.name, "--store", self.store, *options, environment=self.environment)


def test_effects_that_finish_in_time_are_recorded(work):
    project = Project(work)
    for function, number, code in (("in_process", signal.SIGTERM, 143), ("at_most_once", signal.SIGTERM, 143),
                                   ("own_process", signal.SIGINT, 130)):
        project.calls.unlink(missing_ok=True)
        process = project.start(function, "--arg", "ms=1200", "--store", project.store)
        project.wait_for_calls(1)
        outcome = project.stop(process, number)
        assert outcome[0] == code or (outcome[0], outcome[1]) == (0, "1201\n"), (function, outcome)
        resumed = project.resume()
        assert (resumed.returncode, resumed.stdout) == (0, "1201\n"), (function, outcome, resumed)
        assert project.called() == 1, function


def test_a_signal_does_not_interrupt_the_system_calls_of_an_extern(work):
    project = Project(work)

    def stop(process, number, name=None):
        project.wait_for_calls(1)
        time.sleep(0.2)
        outcome = project.stop(process, number)
        project.name = name or project.name
        resumed = project.resume()
        assert (resumed.returncode, resumed.stdout) == (0, "900\n"), (outcome, resumed)
        assert project.called() == 1
        project.calls.unlink()

    for number in (signal.SIGTERM, signal.SIGINT):
        stop(project.start("sleeping", "--arg", "ms=900", "--store", project.store), number)
    waiting = project.run("sleeps_later", "--arg", "ms=900", "--store", project.store)
    assert waiting.returncode == 3, waiting
    name = find_run(waiting.stderr)
    stop(launch("resume", name, "--store", project.store, "--input", "yes", environment=project.environment), signal.SIGTERM, name)


def test_a_signal_does_not_interrupt_an_extern_in_a_chat(work):
    project = Project(work)
    process = project.chat("Sleeper", "--store", project.store)
    outcome = project.stop(process)
    assert outcome[0] == 143, outcome
    going_on = tenon("chat", "--run", project.name, "--store", project.store, environment=project.environment, stdin=None, input="")
    assert (outcome[1] + going_on.stdout, project.called()) == ("900\n", 1), (outcome, going_on)


def test_nothing_new_is_started(work):
    project = Project(work)
    process = project.start("three", "--arg", "ms=900", "--store", project.store)
    project.wait_for_calls(1)
    code, output, errors, _ = project.stop(process)
    assert (code, output) == (143, "") and "interrupted" in errors, (code, output, errors)
    assert project.called() == 1
    resumed = project.resume()
    assert (resumed.returncode, resumed.stdout) == (0, "2700\n"), resumed
    assert project.called() == 3


def test_a_chat_is_left_and_continued(work):
    project = Project(work)
    process = project.chat("Clerk", "--store", project.store)
    code, output, errors, seconds = project.stop(process)
    assert (code, output) == (143, "") and f"tenon chat --run {project.name} --store" in errors, (code, output, errors)
    assert seconds < SECONDS_WITHOUT_GRACE, seconds
    assert project.called() == 1
    going_on = tenon("chat", "--run", project.name, "--store", project.store, environment=project.environment, stdin=None, input="")
    assert (going_on.returncode, going_on.stdout) == (0, "hello 900 901\n"), going_on
    assert project.called() == 2


def test_branches_finish_together(work):
    project = Project(work)
    process = project.start("side_by_side", "--arg", "ms=900", "--store", project.store)
    project.wait_for_calls(3)
    outcome = project.stop(process)
    resumed = project.resume()
    assert (resumed.returncode, resumed.stdout) == (0, "2703\n"), (outcome, resumed)
    assert project.called() == 3


def test_a_stopped_run_has_a_trace(work):
    project = Project(work)

    def trace(*arguments):
        shown = tenon("trace", *arguments, "--store", project.store)
        assert shown.returncode == 0 and not shown.stderr, (arguments, shown)
        return shown.stdout

    def check(name):
        assert "slow" in trace("show", name)
        (work / "run.artifacts").write_text(trace("artifacts", name))
        rebuilt = tenon("trace", "reconstruct", work / "run.artifacts", project.program, "--hash")
        assert (rebuilt.returncode, rebuilt.stdout) == (0, trace("hash", name)), rebuilt
        trace("diff", name, name)

    for function, number, calls, value in (("calls_agent", signal.SIGTERM, 1, 1801), ("emits_after", signal.SIGINT, 1, 900),
                                           ("agents_side_by_side", signal.SIGTERM, 2, 2701)):
        for way in ("resume", "cancel"):
            project.calls.unlink(missing_ok=True)
            process = project.start(function, "--store", project.store)
            project.wait_for_calls(calls)
            outcome = project.stop(process, number)
            assert outcome[0] in (128 + number, 0), outcome
            check(project.name)
            if way == "cancel":
                tenon("cancel", project.name, "--store", project.store)
                check(project.name)
            resumed = project.resume()
            assert way == "cancel" or resumed.stdout == f"{value}\n", resumed
            check(project.name)


def test_a_stopped_chat_has_a_trace(work):
    project = Project(work)
    process = project.chat("Reporter", "--store", project.store)
    outcome = project.stop(process)
    shown = tenon("trace", "show", project.name, "--store", project.store)
    assert shown.returncode == 0 and "slow" in shown.stdout, (outcome, shown)


def test_a_later_question_is_asked_by_the_resuming_process(work):
    project = Project(work)
    process = project.start("asks_after", "--arg", "ms=900", "--store", project.store)
    project.wait_for_calls(1)
    code, _, errors, _ = project.stop(process)
    assert code == 143, (code, errors)
    listed = json.loads(tenon("runs", "--store", project.store, "--json").stdout)
    assert [run["state"] for run in listed] == ["running"] and "waits" not in listed[0], listed
    resumed = project.resume()
    assert resumed.returncode == 3 and "What of 900?" in resumed.stderr, resumed
    answered = project.resume("--input", "nothing")
    assert answered.stdout == "nothing\n" and project.called() == 1, answered


ASKING_LIBRARY = r'''
#include <stdio.h>
#include <stdlib.h>
#include <tenon/extern.h>
#include <time.h>

TENON_EXTERN_AS(approve, "(String) -> String") {
  const tenon_text who = tenon_input(call);
  FILE* calls = fopen(getenv("CALLS"), "a");
  fputs("called\n", calls);
  fclose(calls);
  if (who.data != NULL) {
    tenon_put_text(call, tenon_result(call), who.data, who.length);
    return;
  }
  const struct timespec left = {1, 200000000};
  nanosleep(&left, NULL);
  tenon_pause_for_input(call, "Who approves?");
}
'''


def test_a_question_of_a_call_in_progress_is_recorded(work):
    """The call has come to its question: what it did is known, and no person is asked whether it was made."""
    calls, store, program = work / "calls", work / "runs.store", work / "p.tn"
    library = build_library(work, "asking", ASKING_LIBRARY)
    program.write_text('extern(once) fn approve(what: String) -> String\nfn main() -> String { approve("it") }\n')
    (work / "model.script").write_text("")
    environment = {"CALLS": str(calls)}
    process = launch("run", program, "--extern", library, "--model", f"script:{work / 'model.script'}", "--store", store,
                     environment=environment)
    process.stdin.close()
    process.stdin = None
    wait_for_calls(calls, 1)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    run = json.loads(tenon("runs", "--store", store, "--json").stdout)[0]
    assert [wait["question"] for wait in run["waits"]] == ["Who approves?"], (run, errors)
    answered = tenon("resume", run["run"], "--store", store, "--input", "Ann", environment=environment)
    assert (answered.stdout, count_calls(calls)) == ("Ann\n", 2), answered


def test_effects_that_exceed_the_grace_period_are_cut_off(work):
    project = Project(work)
    process = project.start("own_process", "--arg", "ms=20000", "--store", project.store, "--grace", "1")
    project.wait_for_calls(1)
    code, _, errors, seconds = project.stop(process)
    assert code == 143 and 0.9 < seconds < SECONDS_WITHOUT_GRACE, (code, errors, seconds)
    process = project.start("at_most_once", "--arg", "ms=20000", "--store", project.store, "--grace", "0")
    project.wait_for_calls(2)
    code, _, errors, seconds = project.stop(process)
    assert code == 143 and seconds < SECONDS_WITHOUT_GRACE, (code, errors, seconds)
    resumed = project.resume()
    assert resumed.returncode == 3 and "slow_once" in resumed.stderr, resumed


def test_a_second_signal_ends_it_at_once(work):
    project = Project(work)
    for function, first, second, code in (("own_process", signal.SIGTERM, signal.SIGTERM, 143),
                                          ("in_process", signal.SIGTERM, signal.SIGINT, 130)):
        project.calls.unlink(missing_ok=True)
        process = project.start(function, "--arg", "ms=20000", "--store", project.store)
        project.wait_for_calls(1)
        process.send_signal(first)
        time.sleep(0.3)
        assert process.poll() is None, process.communicate()
        outcome = project.stop(process, second)
        assert outcome[0] == code and outcome[3] < SECONDS_WITHOUT_GRACE, outcome


def test_a_function_that_hangs_does_not_keep_the_process(work):
    project = Project(work)
    for options in ((), ("--store", project.store)):
        project.calls.unlink(missing_ok=True)
        process = project.start("hangs", "--grace", "1", *options)
        project.wait_for_calls(1)
        code, _, errors, seconds = project.stop(process)
        assert code == 143, (code, errors)
        if options:
            assert 0.9 < seconds < SECONDS_WITHOUT_GRACE, seconds
            assert "tenon: waiting up to 1 s for 1 call in progress: `hang`; a second SIGTERM ends the process at once, " \
                "without its outcome\n" in errors, errors
        else:
            assert seconds < SECONDS_WITHOUT_GRACE and "waiting" not in errors, (seconds, errors)


def test_finally_runs_while_a_function_hangs(work):
    project = Project(work)
    process = project.start("cleans_up")
    project.wait_for_calls(1)
    code, _, errors, seconds = project.stop(process, signal.SIGINT)
    assert code == 130 and seconds < SECONDS_WITHOUT_GRACE and "cancelled: interrupted" in errors, (code, errors, seconds)
    assert project.called() == 2, errors


def test_a_function_that_was_quick_before_does_not_keep_the_process(work):
    project = Project(work)
    for options in ((), ("--store", project.store, "--grace", "1")):
        project.calls.unlink(missing_ok=True)
        process = project.start("quick_then_slow", *options)
        project.wait_for_calls(1)
        code, _, errors, seconds = project.stop(process)
        assert code == 143 and seconds < SECONDS_WITHOUT_GRACE, (code, errors, seconds)


def test_a_chat_is_left_while_a_function_hangs(work):
    project = Project(work)
    for options in ((), ("--store", project.store, "--grace", "1")):
        project.calls.unlink(missing_ok=True)
        code, _, errors, seconds = project.stop(project.chat("Hanging", *options))
        assert code == 143 and seconds < SECONDS_WITHOUT_GRACE, (code, errors, seconds)
        assert ("1 call in progress: `hang`" in errors) == bool(options), errors


def test_a_budget_of_time_ends_a_function_that_hangs(work):
    project = Project(work)
    for store in ((), ("--store", project.store)):
        for function, value in (("bounded", "7"), ("bounded_process", "7"), ("many_bounded", "2"), ("bounded_side_by_side", "5")):
            started = time.monotonic()
            process = project.run(function, *store)
            assert (process.returncode, process.stdout) == (0, value + "\n"), (function, process)
            assert time.monotonic() - started < 30, function
            if store:
                project.name = find_run(process.stderr)
                replayed = tenon("replay", project.name, "--store", project.store)
                assert replayed.returncode == 0, replayed
                assert project.resume().stdout == value + "\n"
        process = project.run("failing", *store)
        assert process.returncode == 1 and "the budget of 100 milliseconds" in process.stderr, process


@contextlib.contextmanager
def endpoint(seconds):
    """Answers after a while."""
    asked = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # noqa: N802
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.set()
            time.sleep(seconds)
            choice = {"index": 0, "message": {"role": "assistant", "content": "Late words"}, "finish_reason": "stop"}
            body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "mock", "choices": [choice]}).encode()
            with contextlib.suppress(OSError):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    serve(server)
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def test_an_answer_that_comes_in_time_is_recorded(work):
    project = Project(work)
    project.model = "openai:mock"
    with endpoint(1.2) as (url, asked):
        project.environment["OPENAI_BASE_URL"] = url
        process = project.start("say", "--store", project.store)
        assert asked.wait(20)
        outcome = project.stop(process)
    resumed = project.resume()  # the endpoint is gone
    assert (resumed.returncode, resumed.stdout) == (0, "Late words\n"), (outcome, resumed)


def test_a_budget_of_time_ends_a_model_that_is_silent(work):
    project = Project(work)
    project.model = "openai:mock"
    with endpoint(15) as (url, _):
        project.environment["OPENAI_BASE_URL"] = url
        for store in ((), ("--store", project.store)):
            started = time.monotonic()
            process = project.run("bounded_answer", *store)
            assert (process.returncode, process.stdout) == (0, "no answer\n"), process
            assert time.monotonic() - started < 14
