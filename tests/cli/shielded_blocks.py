"""`shield { … }`: a cancelled branch or run continues to the end of the block, and is cancelled there."""
import os
import signal
import subprocess
import time

from tenon_process import TENON, build_library, find_run, tenon

TESTS_AT_ONCE = 4  # they wait, for clocks and for processes that end

LIBRARY = r'''
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int64_t step(int64_t number, int64_t ms) {
  usleep(ms * 1000);
  FILE* ledger = fopen(getenv("CALLS"), "a");
  fprintf(ledger, "%ld\n", (long)number);
  fclose(ledger);
  return number;
}
'''

PROGRAM = '''
extern fn step(number: i64, ms: i64) -> i64

fn decline() -> i64 {
    sleep(200)
    fail("declined")
}

fn move(ms: i64) -> i64 {
    shield {
        step(1, ms);
        step(2, 0);
    }
    step(3, 0)
}

fn order(ms: i64) -> i64 {
    {
        let (moved, other) = parallel {
            move(ms)
            decline()
        }
        moved + other
    } finally {
        step(9, 0);
    }
}

fn fails_inside(ms: i64) -> i64 {
    let (moved, other) = parallel {
        {
            shield {
                step(1, ms);
                { fail("inside") } catch _ { step(2, 0); }
                fail("inside too")
            } catch _ { step(3, 0); }
            0 as i64
        }
        decline()
    } catch _ {
        return step(8, 0)
    }
    moved + other
}

fn branches_inside(ms: i64) -> i64 {
    {
        let (moved, other) = parallel {
            shield {
                let (one, two) = parallel {
                    move(ms)
                    step(4, ms)
                }
                step(5, 0)
                one + two
            }
            decline()
        }
        moved + other
    } finally {
        step(9, 0);
    }
}

fn too_late(ms: i64) -> i64 {
    let (moved, other) = parallel {
        {
            step(1, ms);
            shield { step(2, 0) }
        }
        decline()
    }
    moved + other
}

fn spent(ms: i64) -> i64 {
    move(ms) budget(time: 100ms) finally { step(9, 0); }
}

fn asks(ms: i64) -> i64 {
    {
        shield {
            step(1, ms);
            if ask<Boolean>("Both?") { step(2, 0); }
        }
        step(3, 0)
    } finally {
        step(9, 0);
    }
}
'''
SECONDS_MAX = 60


class Project:
    def __init__(self, work):
        self.ledger, self.store = work / "ledger", work / "runs.store"
        self.program = work / "p.tn"
        self.program.write_text(PROGRAM)
        (work / "model.script").write_text("")
        self.options = ["--extern", build_library(work, "steps", LIBRARY), "--model", f"script:{work / 'model.script'}"]
        self.environment = {"CALLS": str(self.ledger)}

    def run(self, function, ms, *options):
        self.ledger.unlink(missing_ok=True)
        return tenon("run", self.program, "--fn", function, "--arg", f"ms={ms}", *self.options, *options, environment=self.environment)

    def start(self, function, ms):
        command = [str(TENON), "run", str(self.program), "--fn", function, "--arg", f"ms={ms}", *map(str, self.options),
                   "--store", str(self.store)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=dict(os.environ, **self.environment))

    def resume(self, run, *options):
        return tenon("resume", run, "--store", self.store, *self.options, *options, environment=self.environment)

    def steps(self):
        return [int(line) for line in self.ledger.read_text().split()] if self.ledger.exists() else []


def expect_replayed(project, run, failure):
    replayed = tenon("replay", run, "--store", project.store, environment=project.environment)
    assert replayed.returncode == 1 and f"error: {failure}" in replayed.stderr, replayed
    assert tenon("trace", "artifacts", run, "--store", project.store).returncode == 0, "the run is rebuilt from its artifacts"


def test_a_cancelled_branch_continues_to_the_end_of_the_block(work):
    project = Project(work)
    for options in ((), ("--store", project.store)):
        ended = project.run("order", 900, *options)
        assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
        assert project.steps() == [1, 2, 9], project.steps()
    expect_replayed(project, find_run(ended.stderr), "declined")


def test_a_failure_inside_ends_the_block(work):
    """The cancellation continues at its end, and enters no `catch`."""
    project = Project(work)
    ended = project.run("fails_inside", 900, "--store", project.store)
    assert (ended.returncode, ended.stdout) == (0, "8\n"), ended.stderr
    assert project.steps() == [1, 2, 8], project.steps()


def test_branches_inside_continue(work):
    """The outermost block counts: the branch does not end with the inner one."""
    project = Project(work)
    ended = project.run("branches_inside", 600, "--store", project.store)
    assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
    steps = project.steps()
    assert [step for step in steps if step != 4] == [1, 2, 3, 5, 9], steps
    assert 4 in steps[:-2], f"the other branch inside ends before the block does: {steps}"
    expect_replayed(project, find_run(ended.stderr), "declined")


def test_a_cancelled_branch_does_not_enter_the_block(work):
    project = Project(work)
    ended = project.run("too_late", 900, "--store", project.store)
    assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
    time.sleep(1)  # the call continues in the library
    assert 2 not in project.steps(), project.steps()


def test_a_budget_ends_the_block(work):
    project = Project(work)
    ended = project.run("spent", 600, "--store", project.store)
    assert ended.returncode == 1 and "budget" in ended.stderr, ended.stderr
    assert 2 not in project.steps() and 9 in project.steps(), project.steps()


def test_after_a_crash_the_block_continues(work):
    project = Project(work)
    process = project.start("order", 2_000)
    run = find_run(process.stderr.readline())
    time.sleep(1)  # the other branch has failed
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=SECONDS_MAX)
    assert project.steps() == [], project.steps()
    ended = project.resume(run)
    assert ended.returncode == 1 and "error: declined" in ended.stderr, ended.stderr
    assert project.steps() == [1, 2, 9], project.steps()
    expect_replayed(project, run, "declined")


def test_a_cancelled_run_continues_to_the_end_of_the_block(work):
    project = Project(work)
    run = find_run(project.run("asks", 0, "--store", project.store).stderr)
    cancelled = tenon("cancel", run, "--store", project.store)
    assert cancelled.returncode == 3 and "have not ended yet" in cancelled.stderr, cancelled
    assert project.resume(run).returncode == 3, "it still waits for the answer"
    ended = project.resume(run, "--input", "true")
    assert ended.returncode == 1 and "was cancelled" in ended.stderr, ended
    assert project.steps() == [1, 2, 9], project.steps()


def test_a_second_cancel_ends_the_block(work):
    project = Project(work)
    run = find_run(project.run("asks", 0, "--store", project.store).stderr)
    assert tenon("cancel", run, "--store", project.store).returncode == 3
    assert tenon("cancel", run, "--store", project.store).returncode == 0
    assert project.resume(run).returncode == 1 and project.steps() == [1], project.steps()
