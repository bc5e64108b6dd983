"""Runs the tests of browser.mjs, and those that fail once more, alone. If they pass then, they count as passed and are listed as `unstable:
NAME`; both outputs are kept. Such a test is a defect, but not one of the change that is tested."""
import os
import shutil
import signal
import subprocess
import time

OUTPUT_MAX = 4000
CLOSING_SECONDS_MAX = 10


class Attempt:
    """What browser.mjs did. It prints `chosen NAME` for each test at the start, and `ok NAME` or `not ok NAME: WHY` when one ends."""

    def __init__(self, output, problem):
        self.output = output
        self.passed = []
        self.failed = {}  # why, by name
        chosen = []
        for line in output.splitlines():
            if line.startswith("chosen "):
                chosen.append(line.removeprefix("chosen "))
            elif line.startswith("ok "):
                self.passed.append(line.removeprefix("ok "))
            elif line.startswith("not ok "):
                name, _, why = line.removeprefix("not ok ").partition(": ")
                self.failed[name] = why.replace(" | ", "\n")
        end = "\n".join(line for line in output.splitlines() if not line.startswith(("chosen ", "ok ", "not ok ")))[-OUTPUT_MAX:]
        for name in chosen:
            if name not in self.passed and name not in self.failed:
                self.failed[name] = f"{problem or 'it was not reported'}, after:\n{end}"
        if problem and not self.failed:
            self.failed["browser.mjs"] = f"{problem}, after:\n{end}"


def wait_for_end(pid, seconds_max):
    """The process remains as a zombie, so that its number stays that of its group."""
    deadline = time.monotonic() + seconds_max
    while time.monotonic() < deadline and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(0.05)


def attempt(command, environment, seconds_max):
    # A session of its own, so that a test that takes too long ends with all that it started.
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=environment, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=seconds_max)
        except subprocess.TimeoutExpired:
            process.terminate()  # Playwright closes the browser, whose session is another one
            wait_for_end(process.pid, CLOSING_SECONDS_MAX)
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return Attempt(output, f"timed out after {seconds_max} s")
    return Attempt(output, f"exited with {process.returncode}" if process.returncode else None)


def run_twice(run, names, counter, kept):
    """`run`: makes an Attempt at the tests with these names. `counter` notes what passed, and what failed both times. The names of what
    passed only the second time; both outputs are in the folder `kept` then."""
    shutil.rmtree(kept, ignore_errors=True)
    first = run(names)
    for name in first.passed:
        counter.note(name, None)
    if not first.failed:
        if not first.passed and not names:
            counter.note("browser.mjs", f"there is no test:\n{first.output[-OUTPUT_MAX:]}")
        return []
    second = run([name for name in first.failed if name != "browser.mjs"] or names)
    unstable = [name for name in first.failed if name not in second.failed and (name in second.passed or name == "browser.mjs")]
    for name, why in first.failed.items():
        counter.note(name, None if name in unstable else why)
    if unstable:
        kept.mkdir(parents=True)
        for number, one in enumerate((first, second), 1):
            (kept / f"browser.{number}.txt").write_text(one.output)
    return unstable
