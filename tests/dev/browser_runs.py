"""tests/studio/browser_tests.py: what fails in the browser runs once more, alone. A script takes the place of the browser."""
import pathlib
import sys
import tempfile

from sandbox import ROOT, expect

sys.path.insert(0, str(ROOT / "tests/studio"))
from browser_tests import attempt, run_twice  # noqa: E402  pylint: disable=wrong-import-position

# Its tests are `a`, which passes, and what an argument of the command names: `b fails once`, `b fails`, `b hangs`, `b crashes`.
SCRIPT = """
import pathlib, sys, time
kind, *names = sys.argv[1:]
chosen = [name for name in ("a", kind) if not names or name in names]
for name in chosen:
    print("chosen", name)
for name in chosen:
    first = not pathlib.Path(name).exists()
    pathlib.Path(name).touch()
    print("running", name, flush=True)
    if "hangs" in name:
        time.sleep(600)
    if "crashes" in name and first:
        raise SystemExit(3)
    print(f"not ok {name}: why | where" if "fails" in name and (first or "once" not in name) else f"ok {name}")
"""


class Notes:
    def __init__(self):
        self.problems = {}

    def note(self, name, problem):
        expect(name not in self.problems, f"{name} is counted twice")
        self.problems[name] = problem


def run(kind, seconds_max=60, names=()):
    """What was noted, what is unstable, the kept files, and the names with which the tests were run."""
    notes = Notes()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "script.py").write_text(f"import os\nos.chdir({folder!r})\n{SCRIPT}")

        def one(chosen):
            runs.append(chosen)
            return attempt([sys.executable, str(root / "script.py"), kind, *chosen], None, seconds_max)

        unstable = run_twice(one, list(names), notes, root / "kept")
        return notes.problems, unstable, sorted(path.name for path in (root / "kept").glob("*")), runs


def test_what_passes_runs_once():
    expect(run("b") == ({"a": None, "b": None}, [], [], [[]]), run("b"))


def test_what_fails_once_is_unstable():
    found = run("b fails once")
    expect(found == ({"a": None, "b fails once": None}, ["b fails once"], ["browser.1.txt", "browser.2.txt"], [[], ["b fails once"]]), found)


def test_what_fails_twice_has_failed():
    found = run("b fails")
    expect(found == ({"a": None, "b fails": "why\nwhere"}, [], [], [[], ["b fails"]]), found)


def test_a_test_in_which_the_process_ends():
    problems, unstable, _, runs = run("b crashes")
    expect(problems == {"a": None, "b crashes": None} and unstable == ["b crashes"] and runs == [[], ["b crashes"]], problems)


def test_a_test_that_takes_too_long():
    problems, unstable, kept, _ = run("b hangs", seconds_max=5)
    expect(problems["a"] is None and "timed out after 5 s, after:\nrunning a\nrunning b hangs" in problems["b hangs"], problems)
    expect(not unstable and not kept, unstable)


def test_no_test_is_a_failure():
    notes = Notes()
    with tempfile.TemporaryDirectory() as folder:
        run_twice(lambda _: attempt([sys.executable, "-c", ""], None, 60), [], notes, pathlib.Path(folder) / "kept")
    expect("there is no test" in notes.problems["browser.mjs"], notes.problems)
