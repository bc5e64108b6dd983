"""Runs the tests of one build and prints `N passed, N failed` as the last line.

There are three kinds: the unit tests and the replay of fuzzing findings (ctest), the runners `tests/*/run`, and the style test. A runner is
any executable of that name. It is started in the repository's root with the variables below. It prints `N passed, N failed` as its last
line and exits with 0 if nothing failed.
  TENON         the binary under test
  TENON_BUILD   the build's folder
  TENON_UPDATE  1 to rewrite expected outputs instead of comparing them
A line `left out: WHAT` reports tests that could not run because something could not be fetched. These lines are repeated at the end, and so
are the failures, after a line `what failed:`. A runner reports a failure as `NAME: FAILED`, followed by the reason.

What failed runs once more, alone on the machine. If it passes then, it counts as passed and is listed as `unstable: NAME`; both outputs are
kept in the folder `unstable` of the build. Such a test is a defect, but not one of the change that is tested.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = re.compile(r"^left out: .*$", re.MULTILINE)
CLOSING_LINE = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed", re.MULTILINE)
FAILURE = re.compile(r"^.*: FAILED$", re.MULTILINE)
FAILURE_LINES_MAX = 40
PROGRAM_SECONDS_MAX = 600
RUNNER_SECONDS_MAX = 600
STACKS_SECONDS = 2
SEPARATE_RUNNERS = {"ray"}  # `./dev test NAME` calls them
SANITIZER_STACK_BYTES = 64 * 1024 * 1024


class Outcome:
    """What one test program or one runner did."""

    def __init__(self, name, passed, failures, output, seconds):
        self.name = name
        self.passed = passed
        self.failures = failures  # a text each, whose first line is `NAME: FAILED`
        self.output = output
        self.seconds = seconds

    def names_of_failures(self):
        return [failure.split("\n", 1)[0].removesuffix(": FAILED") for failure in self.failures]


def widen_stack():
    """Under a sanitizer, stack frames are several times larger, so the depth limits need a larger stack."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = SANITIZER_STACK_BYTES if most == resource.RLIM_INFINITY else min(SANITIZER_STACK_BYTES, most)
    resource.setrlimit(resource.RLIMIT_STACK, (wanted, most))


def shortened(text):
    lines = text.rstrip().splitlines()
    left = len(lines) - FAILURE_LINES_MAX
    return "\n".join(lines[:FAILURE_LINES_MAX] + ([f"({left} more lines above)"] if left > 0 else []))


def outcome_of_program(name, has_passed, output, seconds, report):
    """The outcome of a program of ctest. One that uses GoogleTest writes a report unless it crashes; any other is one test."""
    if not report.exists():
        failures = [] if has_passed else [shortened(f"{name}: FAILED\n" + "\n".join(output.splitlines()[-FAILURE_LINES_MAX:]))]
        return Outcome(name, 1 if has_passed else 0, failures, output, seconds)
    summary = json.loads(report.read_text())
    failures = [
        shortened(f"{suite['name']}.{test['name']}: FAILED\n" + "\n".join(one["failure"] for one in test["failures"]))
        for suite in summary["testsuites"] for test in suite["testsuite"] if test.get("failures")]
    passed = summary["tests"] - summary["failures"] - summary.get("disabled", 0)
    if not has_passed and not failures:
        failures = [shortened(f"{name}: FAILED\n{output}")]
    return Outcome(name, passed, failures, output, seconds)


def run_programs(preset, selection="", gtest_filter="", jobs=None):
    """Runs the programs of ctest whose names match; one outcome each."""
    build = ROOT / "build" / preset
    reports = build / "test_reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    environment = dict(os.environ, GTEST_OUTPUT=f"json:{reports}/", GTEST_BRIEF="1")
    if gtest_filter:
        environment["GTEST_FILTER"] = gtest_filter
    junit = build / "ctest.xml"
    junit.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(build), "--timeout", str(PROGRAM_SECONDS_MAX), "-j", str(jobs or os.cpu_count()),
               "--output-junit", str(junit)]
    if selection:
        command += ["-R", selection]
    process = subprocess.run(command, env=environment, check=False, preexec_fn=None if preset == "release" else widen_stack)
    if not junit.exists():
        return [Outcome("ctest", 0, [f"ctest: FAILED\nexited with {process.returncode}"], "", 0.0)]
    outcomes = []
    for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        name = case.get("name")
        outcomes.append(outcome_of_program(name, case.get("status") == "run", case.findtext("system-out") or "",
                                           float(case.get("time")), reports / f"tests_{name}.json"))
    return outcomes


def repeat_program(preset, outcome):
    """The outcome of a program's failed tests, alone on the machine; of all of them if it ended without a report."""
    names = outcome.names_of_failures()
    has_report = names != [outcome.name]
    return run_programs(preset, f"^{re.escape(outcome.name)}$", ":".join(names) if has_report else "", jobs=1)[0]


def run_runner(path, environment):
    name = str(path.relative_to(ROOT))
    started = time.monotonic()
    # A session of its own, so that a runner that takes too long ends with all that it started.
    with subprocess.Popen([str(path)], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=RUNNER_SECONDS_MAX)
            problem = None
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGABRT)  # Python prints what each of its threads does
            time.sleep(STACKS_SECONDS)
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            problem = f"timed out after {RUNNER_SECONDS_MAX} s"
    counts = CLOSING_LINE.findall(output)
    passed, failed = (int(number) for number in counts[-1]) if counts else (0, 0)
    if problem is None and not counts:
        problem = "no closing line `N passed, N failed`"
    elif problem is None and process.returncode != 0 and not failed:
        problem = f"exited with {process.returncode}"
    starts = [match.start() for match in FAILURE.finditer(output)]
    failures = [shortened(f"{name}: {output[start:end]}") for start, end in zip(starts, [*starts[1:], len(output)])]
    if problem is not None or (failed and not failures):
        end = "\n".join(output.splitlines()[-FAILURE_LINES_MAX:])
        failures.append(f"{name}: FAILED\n{problem or f'{failed} failed'}, after:\n{end}")
    seconds = time.monotonic() - started
    print(f"== {name} ({seconds:.0f} s): {passed} passed, {len(failures)} failed", flush=True)
    return Outcome(name, passed, failures, output, seconds)


def run_style():
    started = time.monotonic()
    process = subprocess.run([sys.executable, str(ROOT / "tools/dev/tidy.py")], cwd=ROOT, check=False, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    has_passed = process.returncode == 0
    return Outcome("tools/dev/tidy.py", 1 if has_passed else 0,
                   [] if has_passed else [f"tools/dev/tidy.py: FAILED\n{shortened(process.stdout)}"], process.stdout,
                   time.monotonic() - started)


def find_runners(separate=False):
    return [path for path in sorted(ROOT.glob("tests/*/run"))
            if os.access(path, os.X_OK) and (separate or path.parent.name not in SEPARATE_RUNNERS)]


def runner_environment(preset):
    environment = dict(os.environ, TENON=str(ROOT / "build" / "tenon"), TENON_BUILD=str(ROOT / "build" / preset),
                       PYTHONFAULTHANDLER="1")
    environment.setdefault("TENON_UPDATE", "0")
    return environment


class Totals:
    """Counts outcomes, and runs what failed once more."""

    def __init__(self, kept):
        self.passed = 0
        self.failures = []
        self.unstable = []
        self.left_out = []
        self.seconds = []
        self._kept = kept
        shutil.rmtree(kept, ignore_errors=True)

    def add(self, outcome, repeat=None):
        self.passed += outcome.passed
        self.seconds.append((outcome.seconds, outcome.name))
        self.left_out += LEFT_OUT.findall(outcome.output)
        if not outcome.failures:
            return
        print(f"== {outcome.name}\n{outcome.output}", flush=True)
        second = repeat(outcome) if repeat else outcome
        if second.failures:
            self.failures += outcome.failures
            return
        self._kept.mkdir(parents=True, exist_ok=True)
        for number, one in enumerate((outcome, second), 1):
            (self._kept / f"{outcome.name.replace('/', '_')}.{number}.txt").write_text(one.output)
        self.unstable += [f"unstable: {name}" for name in outcome.names_of_failures()]
        # Of a runner, all tests ran again; of a program, those that had failed.
        self.passed = self.passed - outcome.passed + max(outcome.passed + len(outcome.failures), second.passed)

    def close(self, seconds, preset):
        print("seconds:", ", ".join(f"{name} {taken:.0f}" for taken, name in sorted(self.seconds, reverse=True) if taken >= 5))
        for line in (*self.left_out, *self.unstable):
            print(line)
        if self.failures:
            print("what failed:", *self.failures, sep="\n")
        print(f"in {seconds:.0f} s ({preset})")
        print(f"{self.passed} passed, {len(self.failures)} failed")
        return 1 if self.failures else 0


def main():
    preset = sys.argv[1]
    runners_only = "--runners-only" in sys.argv[2:]
    started = time.monotonic()
    totals = Totals(ROOT / "build" / preset / "unstable")
    if not runners_only:
        for outcome in run_programs(preset):
            totals.add(outcome, lambda first: repeat_program(preset, first))
    if preset == "release":
        environment = runner_environment(preset)
        # They mostly wait for processes, servers and clocks, so several run at once.
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            outcomes = list(pool.map(lambda path: run_runner(path, environment), find_runners()))
        for outcome in outcomes:
            totals.add(outcome, lambda first: run_runner(ROOT / first.name, environment))
        if not runners_only:
            totals.add(run_style())
    return totals.close(time.monotonic() - started, preset)


if __name__ == "__main__":
    sys.exit(main())
