"""`tenon resume --wait-for-store`: processes that find the store in use take over when its owner has ended."""
import os
import re
import signal
import subprocess
import time

from tenon_process import TENON, find_run, tenon

PROGRAM = '''
fn main() -> String {
    let go = ask<String>("Go?")
    sleep(2500)
    let answer = ask_within<String>("Again?", 100) catch late { "no one" }
    "{{ go }}, {{ answer }}"
}
'''
PATIENCE = 30


class Waiting:
    """A store with a run that waits for a person, and processes that use it."""

    def __init__(self, work):
        self.store = work / "runs.store"
        (work / "p.tn").write_text(PROGRAM)
        (work / "model.script").write_text("")
        self.model = f"script:{work / 'model.script'}"
        begun = tenon("run", work / "p.tn", "--store", self.store, "--model", self.model)
        assert begun.returncode == 3, begun.stderr
        self.run = find_run(begun.stderr)
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def resume(self, *options):
        process = subprocess.Popen([str(TENON), "resume", self.run, "--store", str(self.store), *options], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
        self.processes.append(process)
        return process

    def owner(self):
        """A process that continues the run, and uses the store while the run sleeps: it has recorded the answer."""
        process = self.resume("--input", "yes", "--wait")
        deadline = time.monotonic() + PATIENCE
        while '= "yes"' not in tenon("trace", "show", self.run, "--store", self.store).stdout:
            assert process.poll() is None and time.monotonic() < deadline, process.communicate()
            time.sleep(0.01)
        return process

    def waiter(self, owner, *options):
        """A process that has said that it waits for the owner."""
        process = self.resume("--wait", *(options or ("--wait-for-store",)))
        line = process.stderr.readline()
        assert re.fullmatch(rf"tenon: .*runs\.store: the store is in use by process {owner.pid}; waiting until it ends.*\n", line), line
        return process


def finish(process):
    output, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, output, errors


def test_those_that_wait_take_over_when_the_owner_is_killed(work):
    with Waiting(work) as waiting:
        owner = waiting.owner()
        waiters = [waiting.waiter(owner) for _ in range(3)]
        owner.kill()
        owner.wait()
        for process in waiters:
            code, output, errors = finish(process)
            assert (code, output) == (0, "yes, no one\n"), (code, output, errors)


def test_those_that_wait_show_the_value_when_the_owner_has_ended_the_run(work):
    with Waiting(work) as waiting:
        owner = waiting.owner()
        waiter = waiting.waiter(owner)
        assert finish(owner)[:2] == (0, "yes, no one\n")
        assert finish(waiter)[:2] == (0, "yes, no one\n")


def test_after_its_time_the_wait_ends_with_the_error_of_a_store_in_use(work):
    with Waiting(work) as waiting:
        owner = waiting.owner()
        owner.send_signal(signal.SIGSTOP)
        waiter = waiting.resume("--wait-for-store=300ms")
        code, output, errors = finish(waiter)
        assert code == 1 and output == "" and "waiting until it ends, 300 ms at most\n" in errors, (code, errors)
        assert "continues its runs; send it an answer with `--input`" in errors, errors
        without = finish(waiting.resume())
        assert without[0] == 1 and "waiting" not in without[2], without
        assert errors.endswith(without[2]), (errors, without[2])


def test_a_signal_ends_the_wait(work):
    with Waiting(work) as waiting:
        owner = waiting.owner()
        owner.send_signal(signal.SIGSTOP)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            waiter = waiting.waiter(owner, "--wait-for-store=10m")
            waiter.send_signal(number)
            ended = finish(waiter)
            assert ended[0] == code and ended[1] == "", ended


def test_a_wrong_time_is_refused(work):
    with Waiting(work) as waiting:
        for command in (("resume", waiting.run), ("serve", work / "p.tn")):
            refused = tenon(*command, "--store", waiting.store, "--wait-for-store=soon")
            assert refused.returncode == 2, refused.stderr
            assert "invalid value for `--wait-for-store`: expected a time such as 500ms, 30s or 5m, got `soon`" in refused.stderr
        assert finish(waiting.resume("--wait-for-store", "--input", "x", "--wait"))[0] == 0, "a free store is used at once"


def test_the_help_and_the_completion_know_the_option(_):
    for command in ("resume", "serve"):
        assert "--wait-for-store[=TIME]" in tenon("help", command).stdout
        script = tenon("completion", "bash").stdout
        assert re.search(rf'"{command}"\) words="[^"]*--wait-for-store\b', script), script


def test_the_first_signal_ends_a_command_that_runs_nothing(_):
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = subprocess.Popen([str(TENON), "fmt", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)  # it reads what never comes
        process.send_signal(number)
        try:
            assert process.wait(PATIENCE) == code
        finally:
            process.kill()
            process.communicate()
