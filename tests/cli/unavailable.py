"""A model or a tool that cannot be reached: a run with a store waits and tries again, one without a store fails."""
import json
import subprocess
import time

from openai_endpoint import KEY, Endpoint, answer, error
from tenon_process import build_library, find_run, free_port, tenon

TESTS_AT_ONCE = 4  # they wait, for clocks and for processes that end

PROGRAM = '''
fn say(ctx: Context) -> String { "Say a word"! }
fn caught(ctx: Context) -> String { say(ctx) catch f { "caught {{ f.kind == FailureKind::ModelUnavailable }}" } }
fn twice(ctx: Context) -> String { "{{ say(ctx) }} {{ say(ctx) }}" }

agent Clerk {
    fn turn(ctx: Context, input: String) -> String { say(ctx) }
}
'''


class Project:
    def __init__(self, work, url):
        self.work = work
        self.program, self.store = work / "p.tn", work / "runs.store"
        self.program.write_text(PROGRAM)
        self.environment = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY, "NO_PROXY": "127.0.0.1", "CALLS": str(work / "calls")}
        self.name = None

    def run(self, function, *options, store=True, model="openai:mock"):
        options = (*options, "--store", self.store) if store else options
        process = tenon("run", self.program, "--fn", function, "--model", model, *options, environment=self.environment)
        self.name = find_run(process.stderr)
        return process

    def resume(self, *options):
        return tenon("resume", self.name, "--store", self.store, *options, environment=self.environment)

    def listed(self):
        return json.loads(tenon("runs", "--store", self.store, "--json").stdout)[-1]

    def url(self, url):
        self.environment["OPENAI_BASE_URL"] = url


def nowhere():
    return f"http://127.0.0.1:{free_port()}/v1"


def test_a_recorded_run_waits_for_its_model(work):
    project = Project(work, nowhere())
    trace = work / "trace.jsonl"
    waiting = project.run("say", "--retry", "initial=1h", "--trace", trace)
    assert (waiting.returncode, waiting.stdout) == (3, ""), waiting
    assert "  model unavailable: " in waiting.stderr and "    next attempt 2" in waiting.stderr, waiting.stderr
    assert f"tenon resume {project.name} --store {project.store}\n" in waiting.stderr, waiting.stderr
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    reports = [event for event in events if event["type"] == "service_unavailable"]
    assert len(reports) == 1 and reports[0]["service"] == "model" and reports[0]["attempt"] == 0 and "next_at" in reports[0], reports
    run = project.listed()
    assert run["state"] == "waiting" and run["waits"] == [] and run["wakes_at"] > run["updated_at"], run
    (service,) = run["unavailable"]
    assert service["unavailable"] == "model" and service["attempts"] == 1 and "sent 4 times" in service["reason"], service
    assert service["next_at"] == run["wakes_at"], run
    shown = tenon("runs", "--store", project.store, "--waiting").stdout
    assert "  model unavailable: " in shown and "    next attempt " in shown, shown
    with Endpoint([answer("hello")]).running() as endpoint:
        project.url(endpoint.url)
        resumed = project.resume()
        assert (resumed.returncode, resumed.stdout) == (0, "hello\n"), resumed
        assert len(endpoint.requests) == 1
    assert tenon("replay", project.name, "--store", project.store).returncode == 0
    assert project.resume().stdout == "hello\n"
    disturbed = tenon("trace", "hash", project.name, "--store", project.store)
    with Endpoint([answer("hello")]).running() as endpoint:
        project.url(endpoint.url)
        assert project.run("say").returncode == 0
    assert disturbed.returncode == 0 and disturbed.stdout == tenon("trace", "hash", project.name, "--store", project.store).stdout


def test_the_run_waits_for_the_end_of_a_short_outage(work):
    busy = [error(503, "busy")] * 4
    with Endpoint([*busy, answer("one"), *busy, answer("two")]).running() as endpoint:
        project = Project(work, endpoint.url)
        process = project.run("twice", "--retry", "initial=100ms")
        assert (process.returncode, process.stdout) == (0, "one two\n"), process
        assert len(endpoint.requests) == 10


def test_nothing_is_caught_while_the_run_waits(work):
    with Endpoint([error(503, "busy")] * 4 + [answer("late")]).running() as endpoint:
        project = Project(work, endpoint.url)
        process = project.run("caught", "--retry", "initial=100ms")
        assert process.stdout == "late\n", process


def test_resuming_resets_the_count_of_an_outage(work):
    project = Project(work, nowhere())
    assert project.run("say", "--retry", "initial=1h").returncode == 3
    for _ in range(2):
        assert project.resume().returncode == 3
        assert project.listed()["unavailable"][0]["attempts"] == 1
    with Endpoint([answer("hello")]).running() as endpoint:
        project.url(endpoint.url)
        assert project.resume().stdout == "hello\n"


def test_after_max_elapsed_it_waits_to_be_resumed(work):
    project = Project(work, nowhere())
    waiting = project.run("say", "--retry", "initial=50ms", "--retry", "max_elapsed=120ms", "--retry", "factor=1")
    assert waiting.returncode == 3 and "model unavailable" in waiting.stderr and "next attempt" not in waiting.stderr, waiting
    run = project.listed()
    assert run["state"] == "waiting" and "wakes_at" not in run and "next_at" not in run["unavailable"][0], run
    with Endpoint([answer("hello")]).running() as endpoint:
        project.url(endpoint.url)
        assert project.resume().stdout == "hello\n"


def test_without_a_store_or_retries_the_run_fails(work):
    project = Project(work, nowhere())
    for options, store in (((), False), (("--retry", "max_elapsed=0s"), True)):
        failed = project.run("say", *options, store=store)
        assert failed.returncode == 1 and "sent 4 times" in failed.stderr, failed
        assert project.run("caught", *options, store=store).stdout == "caught true\n"


def choosy_endpoint():
    """An endpoint that only knows the key KEY and the model `right`, and tells which of them is wrong."""
    def reply(body):
        if endpoint.requests[-1][1]["Authorization"] != f"Bearer {KEY}":
            return error(401, "who are you")
        return answer("hello") if body["model"] == "right" else error(404, "no such model")

    endpoint = Endpoint(reply)
    return endpoint


def test_a_run_waits_until_its_model_or_key_is_mended(work):
    with choosy_endpoint().running() as endpoint:
        project = Project(work, endpoint.url)
        waiting = project.run("caught", "--retry", "initial=1h", model="openai:wrong")
        assert (waiting.returncode, waiting.stdout) == (3, ""), waiting
        assert "model unavailable: HTTP 404: no such model (choose another model with `--model`" in waiting.stderr, waiting.stderr
        assert f"tenon resume {project.name} --store {project.store}\n" in waiting.stderr, waiting.stderr
        assert "no such model" in project.listed()["unavailable"][0]["reason"], project.listed()
        resumed = project.resume("--model", "openai:right")
        assert (resumed.returncode, resumed.stdout) == (0, "hello\n"), resumed
        assert tenon("replay", project.name, "--store", project.store).returncode == 0
        project.environment["OPENAI_API_KEY"] = "sk-of-someone-else"
        waiting = project.run("say", "--retry", "initial=1h", model="openai:right")
        assert waiting.returncode == 3 and "HTTP 401: who are you (set OPENAI_API_KEY to " in waiting.stderr, waiting
        assert "sk-of" not in waiting.stderr and project.resume().returncode == 3, waiting
        project.environment["OPENAI_API_KEY"] = KEY
        resumed = project.resume()
        assert (resumed.returncode, resumed.stdout) == (0, "hello\n"), resumed


def test_without_a_store_or_retries_a_wrong_model_fails_at_once(work):
    with choosy_endpoint().running() as endpoint:
        project = Project(work, endpoint.url)
        for options, store in (((), False), (("--retry", "max_elapsed=0s"), True)):
            failed = project.run("say", *options, store=store, model="openai:wrong")
            assert failed.returncode == 1 and "no such model" in failed.stderr, failed
            assert project.run("caught", *options, store=store, model="openai:wrong").stdout == "caught true\n"
        assert len(endpoint.requests) == 4, endpoint.requests


def test_other_errors_are_not_an_outage(work):
    for status in (400, 422):
        with Endpoint([error(status, "no such field")]).running() as endpoint:
            project = Project(work, endpoint.url)
            failed = project.run("say")
            assert failed.returncode == 1 and "no such field" in failed.stderr, failed
    script = work / "model.script"
    script.write_text('say => unreachable "down", "later"\n')
    failed = project.run("say", model=f"script:{script}")
    assert failed.returncode == 1 and "down" in failed.stderr, failed


def test_a_run_that_waits_can_be_cancelled(work):
    project = Project(work, nowhere())
    assert project.run("say", "--retry", "initial=1h").returncode == 3
    assert tenon("cancel", project.name, "--store", project.store).returncode == 0
    assert project.listed()["state"] == "cancelled"


def test_the_manifest_sets_the_retry_policy(work):
    project = Project(work, nowhere())
    (work / "tenon.toml").write_text('[retry]\ninitial = "90m"\nfactor = 1.5\nmax_interval = "2h"\nmax_elapsed = "1d"\n')
    assert project.run("say").returncode == 3
    run = project.listed()
    assert 70 * 60_000 < run["wakes_at"] - run["updated_at"] <= 90 * 60_000, run
    (work / "tenon.toml").write_text('[retry]\ninitial = "0s"\nfactor = 0.5\nmax_elapsed = 5\ntries = 3\n')
    wrong = project.run("say")
    assert wrong.returncode == 1, wrong
    for text in ("`initial` must be a string with a number and a unit", "`factor` must be a number from 1 to 1000",
                 "`max_elapsed` must be a string with a number and a unit", "`[retry]` has no key `tries`"):
        assert text in wrong.stderr, wrong.stderr
    for wrong in ("initial=0s", "factor=0.9", "max_interval=3", "tries=3", "factor"):
        assert tenon("run", project.program, "--retry", wrong).returncode == 2, wrong


def test_a_chat_waits_for_its_model(work):
    project = Project(work, nowhere())
    chat = ["chat", project.program, "--model", "openai:mock", "--store", project.store]
    waiting = tenon(*chat, "--retry", "initial=2h", "--retry", "max_interval=2h", environment=project.environment, stdin=None, input="hi\n")
    assert waiting.returncode == 3 and "model unavailable" in waiting.stderr, waiting
    project.name = find_run(waiting.stderr)
    with Endpoint([answer("hello")]).running() as endpoint:
        project.url(endpoint.url)
        going_on = tenon("chat", "--run", project.name, "--store", project.store, environment=project.environment, stdin=None, input="")
        assert going_on.stdout == "hello\n", going_on


LIBRARY = r'''
#include <stdio.h>
#include <stdlib.h>
#include <tenon/extern.h>
static int reached(tenon_call* call) {
  FILE* calls = fopen(getenv("CALLS"), "a");
  fprintf(calls, "%s\n", tenon_effect_key(call));
  fclose(calls);
  FILE* up = fopen(getenv("UP"), "r");
  if (up != NULL) fclose(up);
  if (up == NULL) tenon_fail_unavailable(call, "the bank is closed");
  return up != NULL;
}
TENON_EXTERN_AS(look, "() -> i32") { if (reached(call)) tenon_put_i64(call, tenon_result(call), 7); }
TENON_EXTERN_AS(pay, "() -> i32") { if (reached(call)) tenon_put_i64(call, tenon_result(call), 8); }
TENON_EXTERN_AS(work, "() -> i32") { if (reached(call)) tenon_put_i64(call, tenon_result(call), 9); }
'''
BANK = '''
extern fn look() -> i32
extern(once, within: 20s) fn pay() -> i32
extern(process) fn work() -> i32
fn looks() -> i32 { look() }
fn pays() -> i32 { pay() }
fn works() -> i32 { work() }
fn caught() -> String { "{{ pay() }}" catch f { f.message } }
'''


class Bank(Project):
    """A project whose externs succeed as soon as the file `up` exists; they add their keys to the file `calls`."""

    def __init__(self, work):
        super().__init__(work, nowhere())
        self.up, self.calls = work / "up", work / "calls"
        self.library = build_library(work, "bank", LIBRARY)
        self.script = work / "model.script"
        self.script.write_text("")
        self.program.write_text(BANK)
        self.environment["UP"] = str(self.up)

    def call(self, function, *options, store=True):
        return self.run(function, "--extern", self.library, *options, store=store, model=f"script:{self.script}")


def test_a_tool_says_that_it_cannot_reach_its_service(work):
    bank = Bank(work)
    for function, value in (("looks", 7), ("pays", 8), ("works", 9)):
        bank.up.unlink(missing_ok=True)
        bank.calls.unlink(missing_ok=True)
        waiting = bank.call(function, "--retry", "initial=1h")
        assert waiting.returncode == 3 and "unavailable: the bank is closed" in waiting.stderr, waiting
        assert bank.listed()["unavailable"][0]["unavailable"] == "tool", bank.listed()
        again = bank.resume()
        assert again.returncode == 3 and "the bank is closed" in again.stderr, again
        bank.up.write_text("")
        resumed = bank.resume()
        assert (resumed.returncode, resumed.stdout) == (0, f"{value}\n"), resumed
        keys = bank.calls.read_text().splitlines()
        assert len(keys) == 3 and len(set(keys)) == 1 and keys[0], keys
    bank.up.unlink()
    failed = bank.call("caught", store=False)
    assert failed.stdout == "`pay` failed: the bank is closed\n", failed


def test_the_run_waits_for_the_end_of_a_tools_short_outage(work):
    bank = Bank(work)
    started = time.monotonic()
    with subprocess.Popen(["sh", "-c", f"sleep 1; touch {bank.up}"]):
        process = bank.call("pays", "--retry", "initial=300ms", "--retry", "factor=1")
    assert (process.returncode, process.stdout) == (0, "8\n"), process
    assert time.monotonic() - started < 15
