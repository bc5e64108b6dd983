"""Starts the binary under test for the runners, with a time limit, and reads its trace. Also what several runners prepare for it: libraries
of externs, free ports."""
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
TENON = os.environ.get("TENON", str(ROOT / "build" / "tenon"))


class Run:
    """The result of one `tenon run`: exit code, stdout, stderr, and the events of the trace."""

    def __init__(self, process, events):
        self.code = process.returncode
        self.output = process.stdout
        self.errors = process.stderr
        self.events = events

    def requests(self):
        """The requests to the model, in order: events of type `generation_started`."""
        return [event for event in self.events if event["type"] == "generation_started"]


def unique_members(pairs):
    members = dict(pairs)
    assert len(members) == len(pairs), f"a member of an object is there twice: {[name for name, _ in pairs]}"
    return members


def read_json(text):
    """Like json.loads, for what Tenon has written: an object that has a member twice is an error, as it is for strict readers."""
    return json.loads(text, object_pairs_hook=unique_members)


def tenon(*arguments, seconds_max=60, environment=None, binary=TENON, **options):
    settings = {"cwd": ROOT, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                "text": True, "errors": "replace"}
    settings.update(options)
    variables = dict(os.environ)
    variables.update(environment or {})
    return subprocess.run([binary, *map(str, arguments)], timeout=seconds_max, check=False, env=variables, **settings)


def run_traced(file, script, *arguments):
    """Runs a program with a scripted model; `script` is the text of the script."""
    with tempfile.TemporaryDirectory() as work:
        script_file = pathlib.Path(work) / "model.script"
        script_file.write_text(script)
        trace = pathlib.Path(work) / "trace.jsonl"
        process = tenon("run", file, "--model", f"script:{script_file}", "--trace", trace, *arguments)
        events = [read_json(line) for line in trace.read_text().splitlines()] if trace.exists() else []
        return Run(process, events)


def tenon_at_last(*arguments, seconds_max=60, **options):
    """Repeats a command until it succeeds: the process that it asks may be busy, or not have begun."""
    deadline = time.monotonic() + seconds_max
    while True:
        shown = tenon(*arguments, **options)
        if shown.returncode == 0:
            return shown
        assert time.monotonic() < deadline, (shown.returncode, shown.stdout, shown.stderr)
        time.sleep(0.05)


def read_until(process, text, seconds_max=60):
    """Reads a process's stderr up to this text, which may be a prompt without the end of a line. One that does not write it is ended."""
    read = ""
    late = threading.Timer(seconds_max, process.kill)
    late.start()
    try:
        while not read.endswith(text):
            letter = process.stderr.read(1)
            assert letter, f"`{text}` does not come: {read}"
            read += letter
    finally:
        late.cancel()
    return read


def find_run(errors):
    """The run that a command with `--store` has reported on stderr, or None."""
    found = re.search(r"tenon: run (\w+)\n", errors)
    return found[1] if found else None


def build_library(folder, name, source):
    """Compiles C code to the library `folder/name.so`, which `--extern` takes."""
    file, library = folder / f"{name}.c", folder / f"{name}.so"
    file.write_text(source)
    subprocess.run(["cc", "-std=gnu99", "-shared", "-fPIC", "-I", ROOT / "include", "-o", library, file], check=True)
    return library


def count_calls(calls):
    """The lines that externs have appended to the file."""
    return len(calls.read_text().splitlines()) if calls.exists() else 0


def wait_for_calls(calls, count, seconds_max=60):
    deadline = time.monotonic() + seconds_max
    while count_calls(calls) < count:
        assert time.monotonic() < deadline, "the extern is not called"
        time.sleep(0.01)


def open_wait(store, run, **options):
    """The name of the only question of a run that is open."""
    listed = tenon("runs", "--store", store, "--waiting", "--json", **options)
    (wait,) = next(one["waits"] for one in read_json(listed.stdout) if one["run"] == run)
    return wait["wait"]


def free_port():
    """A port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(server):
    """Serves in a thread, which ends a hundredth of a second after the server is shut down: by itself, it looks twice a second."""
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()


def shard_of(tests):
    """Those of the shard that the caller of a runner asks for (tools/dev/run_tests.py)."""
    return tests[int(os.environ.get("GTEST_SHARD_INDEX", 0))::int(os.environ.get("GTEST_TOTAL_SHARDS", 1))]


class Counter:
    """Counts passed and failed tests, and prints the failures. Threads may share it."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self._lock = threading.Lock()

    def note(self, name, problem):
        with self._lock:
            if problem is None:
                self.passed += 1
                return
            self.failed += 1
            print(f"{name}: FAILED\n{str(problem).rstrip()}")

    def run(self, name, test):
        """Runs a test, which takes a folder of its own."""
        with tempfile.TemporaryDirectory() as work:
            try:
                test(pathlib.Path(work))
                problem = None
            except Exception:  # pylint: disable=broad-except
                problem = traceback.format_exc(limit=-3)
        self.note(name, problem)

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
