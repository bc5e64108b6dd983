"""Runs the tests of one build and prints `N passed, N failed` as the last line.

There are three kinds: the unit tests and the replay of fuzzing findings (ctest), the runners `tests/*/run`, and the style test. A runner is
any executable of that name. It is started in the repository's root with the variables below. It prints `N passed, N failed` as its last
line and exits with 0 if nothing failed.
  TENON         the binary under test
  TENON_BUILD   the build's folder
  TENON_UPDATE  1 to rewrite expected outputs instead of comparing them
A line `left out: WHAT` reports tests that could not run because something could not be fetched. These lines are repeated at the end, and so
are the failures, after a line `what failed:`. A runner reports a failure as `NAME: FAILED`, followed by the reason.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = re.compile(r"^left out: .*$", re.MULTILINE)
CLOSING_LINE = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed", re.MULTILINE)
FAILURE = re.compile(r"^.*: FAILED$", re.MULTILINE)
FAILURE_LINES_MAX = 40
RUNNER_SECONDS_MAX = 1200
SANITIZER_STACK_BYTES = 64 * 1024 * 1024


def widen_stack():
    """Under a sanitizer, stack frames are several times larger, so the depth limits need a larger stack."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = SANITIZER_STACK_BYTES if most == resource.RLIM_INFINITY else min(SANITIZER_STACK_BYTES, most)
    resource.setrlimit(resource.RLIMIT_STACK, (wanted, most))


def shortened(text):
    lines = text.rstrip().splitlines()
    left = len(lines) - FAILURE_LINES_MAX
    return "\n".join(lines[:FAILURE_LINES_MAX] + ([f"({left} more lines above)"] if left > 0 else []))


def failures_of_unit_tests(report):
    """Returns the failure messages of each failed test in GoogleTest's report."""
    return [shortened(f"{suite['name']}.{test['name']}: FAILED\n" + "\n".join(one["failure"] for one in test["failures"]))
            for suite in report["testsuites"] for test in suite["testsuite"] if test.get("failures")]


def failures_of_runner(name, output, counts):
    starts = [match.start() for match in FAILURE.finditer(output)]
    found = [shortened(f"{name}: {output[start:end]}") for start, end in zip(starts, [*starts[1:], len(output)])]
    if counts[1] and not found:
        found.append(shortened(f"{name}: FAILED\n" + "\n".join(output.splitlines()[-FAILURE_LINES_MAX:])))
    return found


def run_unit_tests(preset):
    """Returns the counts of GoogleTest's tests, and the failures. A program that exits without a report counts as one failed
    test."""
    build = ROOT / "build" / preset
    reports = build / "test_reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    environment = dict(os.environ, GTEST_OUTPUT=f"json:{reports}/", GTEST_BRIEF="1")
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--timeout", "600", "-j", str(os.cpu_count())]
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False,
                            preexec_fn=None if preset == "release" else widen_stack)
    print(output.stdout)
    passed = failed = 0
    reported_failures = 0
    failures = []
    for report in sorted(reports.glob("*.json")):
        summary = json.loads(report.read_text())
        passed += summary["tests"] - summary["failures"] - summary.get("disabled", 0)
        failed += summary["failures"]
        reported_failures += 1 if summary["failures"] else 0
        failures += failures_of_unit_tests(summary)
    closing = re.search(r"(\d+) tests failed out of (\d+)", output.stdout)
    programs_failed = int(closing.group(1)) if closing else 0
    programs = int(closing.group(2)) if closing else 0
    failed += max(0, programs_failed - reported_failures)
    replays = programs - len(list(reports.glob("*.json")))
    passed += max(0, replays - max(0, programs_failed - reported_failures))
    if output.returncode != 0 and failed == 0:
        failed = 1
    if failed > len(failures):  # programs without a report
        failures += [line.strip() for line in re.findall(r"^\s+\d+ - .*$", output.stdout, re.MULTILINE)]
    return (passed, failed), failures


def run_runner(path, environment):
    """Returns the runner's output with its name above, its counts, and its failures."""
    name = path.relative_to(ROOT)
    started = time.monotonic()
    try:
        process = subprocess.run([str(path)], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                 timeout=RUNNER_SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        output = f"== {name}\ntimed out after {RUNNER_SECONDS_MAX} s\n"
        return output, (0, 1), failures_of_runner(name, output, (0, 1))
    output = f"== {name} ({time.monotonic() - started:.0f} s)\n{process.stdout}"
    counts = CLOSING_LINE.findall(process.stdout)
    if not counts:
        output += "no closing line `N passed, N failed`\n"
        return output, (0, 1), failures_of_runner(name, output, (0, 1))
    passed, failed = (int(number) for number in counts[-1])
    totals = (passed, max(failed, 1 if process.returncode != 0 else 0))
    return output, totals, failures_of_runner(name, process.stdout, totals)


def main():
    preset = sys.argv[1]
    runners_only = "--runners-only" in sys.argv[2:]
    started = time.monotonic()
    totals = [0, 0]
    left_out = []
    failures = []

    def add(counts, what_failed):
        totals[0] += counts[0]
        totals[1] += counts[1]
        failures.extend(what_failed)

    if not runners_only:
        add(*run_unit_tests(preset))
    if preset == "release":
        environment = dict(os.environ, TENON=str(ROOT / "build" / "tenon"), TENON_BUILD=str(ROOT / "build" / preset))
        environment.setdefault("TENON_UPDATE", "0")
        runners = [path for path in sorted(ROOT.glob("tests/*/run")) if os.access(path, os.X_OK)]
        # They mostly wait for processes, servers and clocks, so several run at once.
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for output, counts, what_failed in pool.map(lambda path: run_runner(path, environment), runners):
                print(output, end="", flush=True)
                left_out.extend(LEFT_OUT.findall(output))
                add(counts, what_failed)
        if not runners_only:
            style = subprocess.run([sys.executable, str(ROOT / "tools/dev/tidy.py")], cwd=ROOT, check=False)
            add(*(((1, 0), []) if style.returncode == 0 else ((0, 1), ["tools/dev/tidy.py: FAILED"])))
    for line in left_out:
        print(line)
    if failures:
        print("what failed:", *failures, sep="\n")
    print(f"in {time.monotonic() - started:.0f} s ({preset})")
    print(f"{totals[0]} passed, {totals[1]} failed")
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
