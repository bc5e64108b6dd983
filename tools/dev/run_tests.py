"""Runs the tests of one build and prints `N passed, N failed` as the last line.

There are three kinds: the unit tests and the replay of fuzzing findings (what ctest lists), the runners `tests/*/run`, and the style test.
A runner is any executable of that name. It is started in the repository's root with the variables below. It prints `N passed, N failed` as
its last line and exits with 0 if nothing failed.
  TENON         the binary under test
  TENON_BUILD   the build's folder
  TENON_UPDATE  1 to rewrite expected outputs instead of comparing them
  TENON_TEST_RUN
                a text that no other run of the tests has: what shards of one runner build, they build once
  GTEST_TOTAL_SHARDS, GTEST_SHARD_INDEX
                for what is cut into shards: how many there are, and which of them this is, from 0 on
A line `left out: WHAT` reports tests that could not run because something could not be fetched. These lines are repeated at the end, and so
are the failures, after a line `what failed:`. A runner reports a failure as `NAME: FAILED`, followed by the reason.

Of some runners, tests that take long to prepare begin with `RUNNER --build`, while nothing else runs.

A line is printed when a test ends, and, when none has ended for a while, one that says what is running.

As many tests run at once as there are processors, and one more. Many wait for processes, servers and clocks, so further ones begin while
the processors have little to do. What failed runs once more, alone on the machine. If it passes then, it counts as passed and is listed as
`unstable: NAME`; both outputs are kept in the folder `unstable` of the build. Such a test is a defect, but not one of the change that is
tested.
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
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = re.compile(r"^left out: .*$", re.MULTILINE)
CLOSING_LINE = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed", re.MULTILINE)
FAILURE = re.compile(r"^.*: FAILED$", re.MULTILINE)
FAILURE_LINES_MAX = 40
TEST_SECONDS_MAX = 600
BUILDING_SECONDS_MAX = 1800  # of a runner that compiles, with an empty compiler cache, on a busy machine
BUILDING_RUNNERS = {"tests/python/run"}
STACKS_SECONDS = 2
QUIET_SECONDS_MAX = 30
PROCESSORS = os.cpu_count() or 1
AT_ONCE = PROCESSORS + 1
AT_ONCE_MAX = 3 * PROCESSORS
IDLE_SHARE_MIN = 0.3  # of the processors' time in IDLE_SECONDS, for one more test than AT_ONCE
IDLE_SECONDS = 2
SEPARATE_RUNNERS = {"ray", "studio"}  # `./dev test NAME` calls them
# What takes the longest, in how many shards. It begins first, so that nothing long is left alone at the end.
SHARDS = {"tests/python/run": 4, "tests/cli/run": 7, "journal": 9, "trust": 6, "inference": 3, "syntax": 2, "types": 2,
          "tests/several_servers/run": 3, "tests/server/run": 3, "simulation_part_0": 1, "simulation_part_1": 1, "simulation_part_2": 1,
          "json_schema": 1, "graph": 1, "json": 1}
KNOWN_PROPERTIES = {"WORKING_DIRECTORY"}  # of ctest's tests
SANITIZER_STACK_BYTES = 64 * 1024 * 1024


class Outcome:
    """What a test did."""

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


def run_to_its_end(command, cwd, environment, prepare=None, seconds_max=TEST_SECONDS_MAX):
    """The output and the problem of a process, None if it exits with 0."""
    # A session of its own, so that a test that takes too long ends with all that it started.
    with subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True, preexec_fn=prepare) as process:
        try:
            output, _ = process.communicate(timeout=seconds_max)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGABRT)  # Python prints what each of its threads does
            time.sleep(STACKS_SECONDS)
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return output, f"timed out after {seconds_max} s"
    return output, f"exited with {process.returncode}" if process.returncode else None


class Progress:
    """Runs tests, of which several may run at once, and prints how far they are. `count`: how many there are; without it, they are
    repetitions."""

    def __init__(self, count=None):
        self._count = count
        self._ended = 0
        self._running = {}  # when each began, by name
        self._printed = time.monotonic()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._watch = threading.Thread(target=self._print_what_runs, daemon=True)

    def __enter__(self):
        self._watch.start()
        return self

    def __exit__(self, *_):
        self._closed.set()
        self._watch.join()

    def run(self, name, run):
        """The outcome that `run` returns, with the seconds."""
        started = time.monotonic()
        with self._lock:
            self._running[name] = started
        outcome = run()
        outcome.seconds = time.monotonic() - started
        with self._lock:
            del self._running[name]
            self._ended += 1
            which = "once more" if self._count is None else f"{self._ended} of {self._count}"
            self._print(f"== {which}: {name} ({outcome.seconds:.0f} s): {outcome.passed} passed, {len(outcome.failures)} failed")
        return outcome

    def _print(self, line):
        print(line, flush=True)
        self._printed = time.monotonic()

    def _print_what_runs(self):
        while not self._closed.wait(max(0, self._printed + QUIET_SECONDS_MAX - time.monotonic())):
            with self._lock:
                now = time.monotonic()
                if now >= self._printed + QUIET_SECONDS_MAX:
                    self._print("running: " + ", ".join(f"{name} ({now - began:.0f} s)" for name, began in self._running.items()))


class Test:
    """A program of ctest, a runner, or one of their shards."""

    is_first = False  # it runs before all others, and alone

    def __init__(self, name, index=0, shards=1):
        self.base_name = name
        self.name = name if shards == 1 else f"{name} {index + 1}/{shards}"
        self._shard = {} if shards == 1 else {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(index)}

    def run(self):
        """Its outcome, without the seconds."""
        raise NotImplementedError

    def repeat(self, outcome):
        """The outcome of what failed, once more."""
        raise NotImplementedError


class Program(Test):
    """A program of ctest. One that uses GoogleTest writes a report unless it crashes; any other is one test."""

    def __init__(self, preset, name, command, folder, *shard):
        super().__init__(name, *shard)
        self._preset = preset
        self._command = command
        self._folder = folder

    def run(self):
        return self._run_program(self._shard)

    def _run_program(self, variables):
        report = ROOT / "build" / self._preset / "test_reports" / f"{self.name.replace('/', '_')}.json"
        report.parent.mkdir(parents=True, exist_ok=True)
        report.unlink(missing_ok=True)
        environment = dict(os.environ, GTEST_OUTPUT=f"json:{report}", **variables)
        output, problem = run_to_its_end(self._command, self._folder, environment, None if self._preset == "release" else widen_stack)
        if not report.exists():
            end = "\n".join(output.splitlines()[-FAILURE_LINES_MAX:])
            failures = [f"{self.name}: FAILED\n{problem}, after:\n{end}"] if problem else []
            return Outcome(self.name, 0 if problem else 1, failures, f"{output}{problem}\n" if problem else output, 0)
        summary = json.loads(report.read_text())
        tests = [(f"{suite['name']}.{test['name']}", test) for suite in summary["testsuites"] for test in suite["testsuite"]]
        failures = [shortened(f"{name}: FAILED\n" + "\n".join(one["failure"] for one in test["failures"]))
                    for name, test in tests if test.get("failures")]
        passed = sum(1 for _, test in tests if test["result"] == "COMPLETED") - len(failures)
        if problem and not failures:
            failures = [shortened(f"{self.name}: FAILED\n{problem}, after:\n{output}")]
        return Outcome(self.name, passed, failures, output, 0)

    def repeat(self, outcome):
        names = outcome.names_of_failures()
        if names == [self.name]:
            return self.run()  # it has ended without a report
        # Without the shard: GoogleTest would cut what the filter selects into shards again.
        second = self._run_program({"GTEST_FILTER": ":".join(names)})
        if second.passed + len(second.failures) != len(names):
            second.failures = outcome.failures
        return second


class Runner(Test):
    def __init__(self, path, environment, *shard, arguments=()):
        super().__init__(str(path.relative_to(ROOT)), *shard)
        self.name = " ".join([self.name, *arguments])
        self.is_first = bool(arguments)
        self._command = [str(path), *arguments]
        self._environment = environment

    def run(self):
        seconds_max = BUILDING_SECONDS_MAX if self.base_name in BUILDING_RUNNERS else TEST_SECONDS_MAX
        output, problem = run_to_its_end(self._command, ROOT, {**self._environment, **self._shard}, seconds_max=seconds_max)
        counts = CLOSING_LINE.findall(output)
        passed, failed = (int(number) for number in counts[-1]) if counts else (0, 0)
        if failed and problem == "exited with 1":
            problem = None  # it says which
        if problem is None and not counts:
            problem = "no closing line `N passed, N failed`"
        starts = [match.start() for match in FAILURE.finditer(output)]
        failures = [shortened(f"{self.name}: {output[start:end]}") for start, end in zip(starts, [*starts[1:], len(output)])]
        if problem is not None or (failed and not failures):
            end = "\n".join(output.splitlines()[-FAILURE_LINES_MAX:])
            failures.append(f"{self.name}: FAILED\n{problem or f'{failed} failed'}, after:\n{end}")
        return Outcome(self.name, passed, failures, f"{output}{problem}\n" if problem else output, 0)

    def repeat(self, _):
        return self.run()


class Style(Test):
    def run(self):
        output, problem = run_to_its_end([sys.executable, str(ROOT / "tools/dev/tidy.py")], ROOT, dict(os.environ))
        return Outcome(self.name, 0 if problem else 1, [f"{self.name}: FAILED\n{shortened(output)}"] if problem else [], output, 0)

    def repeat(self, _):
        return self.run()


def find_programs(preset):
    listed = subprocess.run(["ctest", "--test-dir", str(ROOT / "build" / preset), "--show-only=json-v1"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    programs = []
    for test in json.loads(listed)["tests"]:
        properties = {one["name"]: one["value"] for one in test["properties"]}
        unknown = properties.keys() - KNOWN_PROPERTIES
        if unknown:
            raise ValueError(f"the test {test['name']} of ctest has a property that is not followed here: {', '.join(sorted(unknown))}")
        shards = SHARDS.get(test["name"], 1)
        programs += [Program(preset, test["name"], test["command"], properties["WORKING_DIRECTORY"], index, shards)
                     for index in range(shards)]
    return programs


def find_runners(preset, separate=False):
    environment = dict(os.environ, TENON=str(ROOT / "build" / "tenon"), TENON_BUILD=str(ROOT / "build" / preset),
                       PYTHONFAULTHANDLER="1")
    environment.setdefault("TENON_UPDATE", "0")
    environment["TENON_TEST_RUN"] = f"{os.getpid()} {time.time_ns()}"
    runners = []
    for path in sorted(ROOT.glob("tests/*/run")):
        if os.access(path, os.X_OK) and (separate or path.parent.name not in SEPARATE_RUNNERS):
            name = str(path.relative_to(ROOT))
            if name in BUILDING_RUNNERS:
                runners.append(Runner(path, environment, arguments=("--build",)))
            shards = SHARDS.get(name, 1)
            runners += [Runner(path, environment, index, shards) for index in range(shards)]
    return runners


def processor_ticks():
    """How long the machine's processors have been idle, or run what lets everything else go first, and how long there have been any, in
    ticks."""
    with open("/proc/stat", encoding="ascii") as file:
        _, nice, _, idle, waiting, *_ = ticks = [int(word) for word in file.readline().split()[1:9]]
    return nice + idle + waiting, sum(ticks)


class Admission:
    """Lets tests begin: AT_ONCE of them, and further ones while the processors have time left."""

    def __init__(self):
        self._running = 0
        self._changed = threading.Condition()

    def wait(self):
        """Until one more may run, which it then does."""
        with self._changed:
            idle_share = 0
            while self._running >= AT_ONCE and (self._running >= AT_ONCE_MAX or idle_share < IDLE_SHARE_MIN):
                before = processor_ticks()
                has_ended = self._changed.wait(IDLE_SECONDS)
                idle, ticks = (now - then for now, then in zip(processor_ticks(), before))
                idle_share = 0 if has_ended else idle / max(ticks, 1)
            self._running += 1

    def end(self):
        with self._changed:
            self._running -= 1
            self._changed.notify()


def run_all(tests):
    """Pairs of a test and its outcome."""
    order = list(SHARDS)
    first = [test for test in tests if test.is_first]
    others = sorted((test for test in tests if not test.is_first),
                    key=lambda test: order.index(test.base_name) if test.base_name in SHARDS else len(order))
    admission = Admission()
    with Progress(len(tests)) as progress, concurrent.futures.ThreadPoolExecutor(max_workers=AT_ONCE_MAX) as pool:
        outcomes = [progress.run(test.name, test.run) for test in first]
        futures = []
        for test in others:
            admission.wait()
            futures.append(pool.submit(progress.run, test.name, test.run))
            futures[-1].add_done_callback(lambda _: admission.end())
        return list(zip(first + others, outcomes + [future.result() for future in futures]))


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

    def add(self, test, outcome):
        self.passed += outcome.passed
        self.seconds.append((outcome.seconds, outcome.name))
        self.left_out += LEFT_OUT.findall(outcome.output)
        if not outcome.failures:
            return
        print(f"== {outcome.name}\n{outcome.output}", flush=True)
        with Progress() as progress:
            second = progress.run(outcome.name, lambda: test.repeat(outcome))
        if second.failures:
            self.failures += outcome.failures
            return
        self._kept.mkdir(parents=True, exist_ok=True)
        for number, one in enumerate((outcome, second), 1):
            (self._kept / f"{re.sub('[/ ]', '_', outcome.name)}.{number}.txt").write_text(one.output)
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
    tests = [] if runners_only else find_programs(preset)
    if preset == "release":
        tests += find_runners(preset) + ([] if runners_only else [Style("tools/dev/tidy.py")])
    for test, outcome in run_all(tests):
        totals.add(test, outcome)
    return totals.close(time.monotonic() - started, preset)


if __name__ == "__main__":
    sys.exit(main())
