"""Starts the binary under test for the runners, with a time limit, and reads its trace."""
import json
import os
import pathlib
import subprocess
import tempfile

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


def tenon(*arguments, seconds_max=60, environment=None, **options):
    settings = {"cwd": ROOT, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                "text": True, "errors": "replace"}
    settings.update(options)
    variables = dict(os.environ)
    variables.update(environment or {})
    return subprocess.run([TENON, *map(str, arguments)], timeout=seconds_max, check=False, env=variables, **settings)


def run_traced(file, script, *arguments):
    """Runs a program with a scripted model; `script` is the text of the script."""
    with tempfile.TemporaryDirectory() as work:
        script_file = pathlib.Path(work) / "model.script"
        script_file.write_text(script)
        trace = pathlib.Path(work) / "trace.jsonl"
        process = tenon("run", file, "--model", f"script:{script_file}", "--trace", trace, *arguments)
        events = [json.loads(line) for line in trace.read_text().splitlines()] if trace.exists() else []
        return Run(process, events)


class Counter:
    """Counts passed and failed tests, and prints the failures."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def note(self, name, problem):
        if problem is None:
            self.passed += 1
            return
        self.failed += 1
        print(f"{name}: FAILED\n{str(problem).rstrip()}")

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
