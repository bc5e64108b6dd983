"""A cancelled branch waits for its call that is made at most once: what cleans up never runs beside it."""
import os
import re
import signal
import subprocess
import time

from tenon_process import TENON, build_library, find_run, tenon, wait_for_calls

TESTS_AT_ONCE = 4  # they wait, for clocks and for processes that end

LIBRARY = r'''
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int64_t note(const char* what, int64_t ms) {
  usleep(ms * 1000);
  FILE* ledger = fopen(getenv("CALLS"), "a");
  fprintf(ledger, "%s\n", what);
  fclose(ledger);
  return ms;
}

int64_t reserve(int64_t ms) { return note("reserve", ms); }
static int64_t pay(int64_t ms) {
  if (ms > 0) note("begin", 0);
  return note("charge", ms);
}
int64_t charge(int64_t ms) { return getenv("SHOWS_BEGIN") ? pay(ms) : note("charge", ms); }
int64_t charge_within(int64_t ms) { return charge(ms); }
int64_t look_up(int64_t ms) { return note("look up", ms); }
int64_t refund(int64_t ms) { return note("refund", ms); }
int64_t release(int64_t ms) { return note("release", ms); }
'''

PROGRAM = '''
extern fn reserve(ms: i64) -> i64
extern(once) fn charge(ms: i64) -> i64
extern(once, within: 1500ms) fn charge_within(ms: i64) -> i64
extern fn look_up(ms: i64) -> i64
extern fn refund(ms: i64) -> i64
extern fn release(ms: i64) -> i64

fn decline() -> i64 {
    sleep(300)
    fail("declined")
}

fn order(ms: i64) -> i64 {
    reserve(0);
    {
        let (paid, other) = parallel {
            charge(ms)
            decline()
        }
        paid + other
    } finally {
        refund(0);
        release(0);
    }
}

fn within(ms: i64) -> i64 {
    reserve(0);
    {
        let (paid, other) = parallel {
            charge_within(ms)
            decline()
        }
        paid + other
    } finally {
        refund(0);
    }
}

fn nested(ms: i64) -> i64 {
    let (paid, other) = parallel {
        {
            let (first, second) = parallel {
                charge(ms)
                charge(ms + 200) finally { release(0); }
            }
            first + second
        } finally {
            refund(0);
        }
        decline()
    }
    paid + other
}

fn caught(ms: i64) -> i64 {
    {
        let (paid, other) = parallel {
            charge(ms)
            decline()
        }
        paid + other
    } catch failed {
        refund(0)
    }
}

fn looks_up(ms: i64) -> i64 {
    {
        let (seen, other) = parallel {
            look_up(ms)
            decline()
        }
        seen + other
    } finally {
        release(0);
    }
}

fn fails_at_once() -> i64 {
    let at = now()
    fail("at once")
}

fn never_made(ms: i64) -> i64 {
    {
        let (paid, other) = parallel {
            charge(ms)
            fails_at_once()
        }
        paid + other
    } finally {
        refund(0);
    }
}

fn pays(ms: i64) -> i64 { charge(ms) finally { refund(0); } }
fn bounded(ms: i64) -> i64 { pays(ms) budget(time: 200ms) }

fn pays_within(ms: i64) -> i64 {
    {
        let paid = charge_within(ms)
        sleep(60000)
        paid
    } finally {
        refund(0);
    }
}
fn pays_quickly(ms: i64) -> i64 {
    {
        for n in 0..20 { charge(0) }
        charge(ms)
    } finally {
        refund(0);
    }
}
fn pays_alone(ms: i64) -> i64 { charge(ms) }

agent Seller {
    fn turn(ctx: Context, input: i64) -> i64 { pays(input) }
}
agent Lone {
    fn turn(ctx: Context, input: i64) -> i64 { pays_alone(input) }
}
'''
SECONDS_MAX = 60


IS_WAITED_FOR = re.compile(r"tenon: waiting up to \d+ s for 1 call in progress: `charge(_within)?`; "
                           r"(press Ctrl-C again to end|a second SIGTERM ends) the (turn|process) at once, without its outcome\n")
IS_NOT_KNOWN = re.compile(r"tenon: it is not known whether this call happened, which was in progress: `charge`\n")


class Project:
    def __init__(self, work):
        self.ledger, self.store = work / "ledger", work / "runs.store"
        self.program = work / "p.tn"
        self.program.write_text(PROGRAM)
        (work / "model.script").write_text("")
        library = build_library(work, "shop", LIBRARY)
        self.options = ["--extern", library, "--model", f"script:{work / 'model.script'}"]
        self.environment = {"CALLS": str(self.ledger)}

    def run(self, function, ms, *options):
        self.ledger.unlink(missing_ok=True)
        return tenon("run", self.program, "--fn", function, "--arg", f"ms={ms}", *self.options, *options, environment=self.environment)

    def start(self, function, ms):
        command = [str(TENON), "run", str(self.program), "--fn", function, "--arg", f"ms={ms}", *map(str, self.options),
                   "--store", str(self.store)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=dict(os.environ, **self.environment))

    def begin(self, *command):
        """A process that is in a call of `charge`."""
        self.ledger.unlink(missing_ok=True)
        process = subprocess.Popen([str(TENON), *map(str, command), *map(str, self.options)], stdin=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=dict(os.environ, SHOWS_BEGIN="1", **self.environment))
        if command[0] == "chat":
            process.stdin.write("900\n")
            process.stdin.flush()
        self.wait_for("begin")
        return process

    def begin_run(self, function, ms):
        return self.begin("run", self.program, "--fn", function, "--arg", f"ms={ms}")

    def begin_chat(self, agent, *options):
        return self.begin("chat", self.program, "--agent", agent, *options)

    def wait_for(self, entry):
        deadline = time.monotonic() + SECONDS_MAX
        while entry not in self.entries():
            assert time.monotonic() < deadline, self.entries()
            time.sleep(0.01)

    def resume(self, run, *options):
        return tenon("resume", run, "--store", self.store, *self.options, *options, environment=self.environment)

    def entries(self):
        return self.ledger.read_text().split("\n")[:-1] if self.ledger.exists() else []


def expect_replayed(project, run, failure):
    """The replay comes to the failure that the run has recorded."""
    replayed = tenon("replay", run, "--store", project.store, environment=project.environment)
    assert replayed.returncode == 1 and f"error: {failure}" in replayed.stderr, replayed


def test_what_cleans_up_begins_after_the_call(work):
    project = Project(work)
    for options in ((), ("--store", project.store)):
        ended = project.run("order", 1200, *options)
        assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
        assert project.entries() == ["reserve", "charge", "refund", "release"], project.entries()
    run = find_run(ended.stderr)
    shown = tenon("trace", "show", run, "--store", project.store).stdout
    assert "1200" in shown, "the outcome is recorded"
    expect_replayed(project, run, "declined")
    assert tenon("trace", "artifacts", run, "--store", project.store).returncode == 0, "the run is rebuilt from its artifacts"


def test_calls_of_inner_branches_are_waited_for_too(work):
    project = Project(work)
    ended = project.run("nested", 900, "--store", project.store)
    assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
    assert project.entries() == ["charge", "charge", "release", "refund"], project.entries()


def test_a_handler_begins_after_the_call(work):
    project = Project(work)
    ended = project.run("caught", 900, "--store", project.store)
    assert (ended.returncode, ended.stdout) == (0, "0\n"), ended.stderr
    assert project.entries() == ["charge", "refund"], project.entries()


def test_other_calls_are_discarded(work):
    project = Project(work)
    started = time.monotonic()
    ended = project.run("looks_up", 20_000, "--store", project.store)
    assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
    assert project.entries() == ["release"] and time.monotonic() - started < 15, project.entries()


def test_a_call_that_was_not_made_is_not_made(work):
    project = Project(work)
    for options in ((), ("--store", project.store)):
        ended = project.run("never_made", 1, *options)
        assert ended.returncode == 1 and "error: at once" in ended.stderr, ended.stderr
        assert project.entries() == ["refund"], project.entries()
    run = find_run(ended.stderr)
    expect_replayed(project, run, "at once")


def test_a_budget_of_time_waits_for_the_call(work):
    project = Project(work)
    for options in ((), ("--store", project.store)):
        ended = project.run("bounded", 900, *options)
        assert ended.returncode == 1 and "budget" in ended.stderr, ended.stderr
        assert project.entries() == ["charge", "refund"], project.entries()


def test_after_a_crash_a_person_is_asked_before_what_cleans_up(work):
    project = Project(work)
    process = project.start("order", 30_000)
    wait_for_calls(project.ledger, 1)
    run = find_run(process.stderr.readline())
    time.sleep(1)  # the other branch has failed
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=SECONDS_MAX)
    asked = project.resume(run)
    assert asked.returncode == 3 and "Did `charge(" in asked.stderr, asked.stderr
    assert project.entries() == ["reserve"], project.entries()
    ended = project.resume(run, "--input", '{"value": 5}')
    assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
    assert project.entries() == ["reserve", "refund", "release"], project.entries()
    expect_replayed(project, run, "declined")


def test_a_call_is_not_made_again_after_the_cancellation(work):
    """The person says that it did not happen; what it would return is not wanted any more."""
    project = Project(work)
    waits = project.run("within", 20_000, "--store", project.store)
    assert waits.returncode == 3 and project.entries() == ["reserve"], (waits.stderr, project.entries())
    run = find_run(waits.stderr)
    ended = project.resume(run, "--input", '{"retry": true}')
    assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
    assert project.entries() == ["reserve", "refund"], project.entries()
    shown = tenon("trace", "show", run, "--store", project.store).stdout
    assert "`charge_within` is not called: its branch was cancelled" in shown, shown
    expect_replayed(project, run, "declined")


def test_after_its_own_time_a_person_is_asked(work):
    project = Project(work)
    waits = project.run("within", 20_000, "--store", project.store)
    assert waits.returncode == 3 and "Did `charge_within(" in waits.stderr, waits.stderr
    assert project.entries() == ["reserve"], project.entries()
    ended = project.resume(find_run(waits.stderr), "--input", '{"fail": "not charged"}')
    assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
    assert project.entries() == ["reserve", "refund"], project.entries()
    without_store = project.run("within", 20_000)
    assert without_store.returncode == 1 and "error: declined" in without_store.stderr, without_store.stderr
    assert project.entries() == ["reserve", "refund"], project.entries()


def end(process, *signals):
    """Exit code and stderr of a process that gets these signals, each after the answer to the one before."""
    errors = ""
    for at, number in enumerate(signals):
        process.send_signal(number)
        if at + 1 < len(signals):
            errors += process.stderr.readline()
    output, rest = process.communicate(timeout=SECONDS_MAX)
    return process.returncode, errors + rest, output


def test_a_signal_waits_for_the_call_of_a_run(work):
    project = Project(work)
    for function, number in (("pays", signal.SIGINT), ("pays", signal.SIGTERM), ("pays_within", signal.SIGINT),
                             ("pays_quickly", signal.SIGINT)):
        code, errors, _ = end(project.begin_run(function, 1200), number)
        assert code == 128 + number and IS_WAITED_FOR.search(errors) and "was cancelled: interrupted" in errors, (code, errors)
        assert project.entries()[-3:] == ["begin", "charge", "refund"], project.entries()
        assert not IS_NOT_KNOWN.search(errors), errors


def test_a_signal_waits_for_the_call_of_a_run_as_long_as_it_may_take(work):
    project = Project(work)
    code, errors, _ = end(project.begin_run("pays_within", 20_000), signal.SIGINT)
    assert code == 130 and IS_WAITED_FOR.search(errors), (code, errors)
    assert project.entries() == ["begin", "refund"], project.entries()


def test_ctrl_c_waits_for_the_call_of_a_turn(work):
    project = Project(work)
    for options in ((), ("--store", project.store)):
        process = project.begin_chat("Seller", *options)
        process.send_signal(signal.SIGINT)
        project.wait_for("refund")
        code, errors, output = end(process)
        assert code == 0 and IS_WAITED_FOR.search(errors) and "the turn was cancelled: interrupted" in errors, (code, errors)
        assert "Did `" not in errors and not IS_NOT_KNOWN.search(errors) and not output, (errors, output)
        assert project.entries() == ["begin", "charge", "refund"], project.entries()
    shown = tenon("trace", "show", find_run(errors), "--store", project.store).stdout
    assert "900" in shown, "the outcome is recorded"


def test_sigterm_waits_for_the_call_of_a_turn_without_a_store(work):
    project = Project(work)
    code, errors, _ = end(project.begin_chat("Seller"), signal.SIGTERM)
    assert code == 143 and IS_WAITED_FOR.search(errors), (code, errors)
    assert project.entries() == ["begin", "charge", "refund"], project.entries()


def test_a_second_signal_ends_it_and_says_what_is_not_known(work):
    project = Project(work)
    code, errors, _ = end(project.begin_run("pays", 20_000), signal.SIGINT, signal.SIGINT)
    assert code == 130 and IS_WAITED_FOR.search(errors) and IS_NOT_KNOWN.search(errors), (code, errors)
    assert project.entries() == ["begin"], project.entries()
    process = project.begin_chat("Seller")
    code, errors, _ = end(process, signal.SIGINT, signal.SIGINT)
    assert code == 0 and IS_WAITED_FOR.search(errors) and IS_NOT_KNOWN.search(errors), (code, errors)
    assert "the turn was cancelled: interrupted" in errors, errors
    assert "refund" not in project.entries(), project.entries()


def test_without_a_clean_up_nothing_is_waited_for(work):
    project = Project(work)
    code, errors, _ = end(project.begin_run("pays_alone", 20_000), signal.SIGINT)
    assert code == 130 and IS_NOT_KNOWN.search(errors) and not IS_WAITED_FOR.search(errors), (code, errors)
    code, errors, _ = end(project.begin_chat("Lone"), signal.SIGTERM)
    assert code == 143 and IS_NOT_KNOWN.search(errors) and not IS_WAITED_FOR.search(errors), (code, errors)
