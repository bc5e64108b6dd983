"""tools/dev/run_tests.py: copies of it run small suites. Also what runners print that have nothing to run."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import run_tests
from sandbox import ROOT, expect

PASSES = "print('2 passed, 0 failed')"
FAILS = "print('one: FAILED\\nreason'); print('1 passed, 1 failed'); raise SystemExit(1)"
PASSES_THE_SECOND_TIME = f"""
import pathlib
if pathlib.Path('mark').exists():
    {PASSES}
else:
    pathlib.Path('mark').touch()
    {FAILS}
"""
# Its child would keep the pipe of the output open.
HANGS = "import subprocess, time; print('begun', flush=True); subprocess.Popen(['sleep', '60']); time.sleep(60)"
CRASHES = "import os; os.abort()"
# It ends when its suite has said what is running.
WAITS = f"""
import pathlib, time
deadline = time.monotonic() + 60
while 'running: ' not in pathlib.Path('output').read_text() and time.monotonic() < deadline:
    time.sleep(0.05)
{PASSES}
"""
# Prints how many have begun before the first ended; it ends when all have begun, or no other one has for a while.
MEETS = f"""
import os, pathlib, time
def begun():
    return len(list(pathlib.Path('.').glob('begun_*')))
pathlib.Path('begun_' + os.environ['GTEST_SHARD_INDEX']).touch()
count, since = begun(), time.monotonic()
while count < int(os.environ['GTEST_TOTAL_SHARDS']) and time.monotonic() < since + SECONDS and not pathlib.Path('ended').exists():
    if begun() > count:
        count, since = begun(), time.monotonic()
    time.sleep(0.05)
if not pathlib.Path('ended').exists():
    pathlib.Path('ended').write_text(str(count))
{PASSES}
"""


def run_suite(runners, seconds_max=600, shards=1, quiet_seconds_max=30, idle_share_min=None):
    """The output and exit code of the test runner over runners with these texts, of which `a` is cut into shards."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "tools/dev").mkdir(parents=True)
        text = (ROOT / "tools/dev/run_tests.py").read_text().replace("TEST_SECONDS_MAX = 600", f"TEST_SECONDS_MAX = {seconds_max}")
        text = text.replace("QUIET_SECONDS_MAX = 30", f"QUIET_SECONDS_MAX = {quiet_seconds_max}")
        if idle_share_min is not None:
            text = text.replace(f"IDLE_SHARE_MIN = {run_tests.IDLE_SHARE_MIN}", f"IDLE_SHARE_MIN = {idle_share_min}")
        text = text.replace("SHARDS = {", f"SHARDS = {{'tests/a/run': {shards}, ")
        (root / "tools/dev/run_tests.py").write_text(text)
        (root / "tools/dev/tidy.py").write_text("")
        for name, source in runners.items():
            path = root / "tests" / name / "run"
            path.parent.mkdir(parents=True)
            path.write_text(f"#!{sys.executable}\n{source}\n")
            path.chmod(0o755)
        with (root / "output").open("w", encoding="utf-8") as output:
            process = subprocess.run([sys.executable, str(root / "tools/dev/run_tests.py"), "release", "--runners-only"], stdout=output,
                                     stderr=subprocess.STDOUT, timeout=120, check=False)
        kept = sorted(path.name for path in (root / "build/release/unstable").glob("*"))
        return (root / "output").read_text(), process.returncode, kept


def test_all_pass():
    output, code, kept = run_suite({"a": PASSES, "b": PASSES})
    expect(code == 0 and output.endswith("\n4 passed, 0 failed\n") and not kept, output)


def test_a_failure_is_reported():
    output, code, kept = run_suite({"a": PASSES, "b": FAILS})
    expect(code == 1 and output.endswith("\n3 passed, 1 failed\n") and not kept, output)
    expect("what failed:\ntests/b/run: one: FAILED\nreason" in output and "unstable" not in output, output)


def test_what_passes_the_second_time_is_unstable():
    output, code, kept = run_suite({"a": PASSES, "b": PASSES_THE_SECOND_TIME})
    expect(code == 0 and output.endswith("\n4 passed, 0 failed\n"), output)
    expect("\nunstable: tests/b/run: one\n" in output, output)
    expect(kept == ["tests_b_run.1.txt", "tests_b_run.2.txt"], kept)


def test_what_has_crashed_once_says_so():
    crashes = f"import os, pathlib\npath = pathlib.Path('crashed')\nif not path.exists():\n    path.touch()\n    os.abort()\n{PASSES}"
    output, code, kept = run_suite({"a": PASSES, "b": crashes})
    expect(code == 0 and len(kept) == 2 and "\nexited with -6\n" in output, output)


def test_what_prepares_a_runner_runs_before_all_tests():
    prepares = f"""
import os, pathlib, sys
built = pathlib.Path('built')
if sys.argv[1:] == ['--build']:
    built.write_text(os.environ['TENON_TEST_RUN'])
    {PASSES}
elif built.exists() and built.read_text() == os.environ['TENON_TEST_RUN']:
    {PASSES}
else:
    {FAILS}
"""
    needs_it = f"import pathlib\nif pathlib.Path('built').exists(): {PASSES}\nelse:\n    {FAILS}"
    output, code, kept = run_suite({"a": needs_it, "python": prepares})
    shards = run_tests.SHARDS["tests/python/run"]
    expect(code == 0 and output.endswith(f"\n{2 + 2 + 2 * shards} passed, 0 failed\n") and not kept, output)


def test_what_fails_to_prepare_a_runner_is_reported():
    fails = f"import sys\nif sys.argv[1:] == ['--build']:\n    {FAILS}\nelse:\n    {PASSES}"
    output, code, kept = run_suite({"python": fails})
    expect(code == 1 and "what failed:\ntests/python/run --build: one: FAILED\nreason" in output and not kept, output)


def test_shards():
    shown = "import os; print(os.environ['GTEST_SHARD_INDEX'] + '.of.' + os.environ['GTEST_TOTAL_SHARDS'] + ': FAILED')"
    output, _, kept = run_suite({"a": f"{shown}; print('1 passed, 1 failed')", "b": PASSES}, shards=2)
    expect(output.endswith("\n4 passed, 2 failed\n") and not kept, output)
    expect("\ntests/a/run 1/2: 0.of.2: FAILED\n" in output and "\ntests/a/run 2/2: 1.of.2: FAILED\n" in output, output)


def test_progress():
    output, _, _ = run_suite({"a": PASSES, "b": PASSES_THE_SECOND_TIME}, shards=2)
    for number in range(1, 4):
        expect(output.count(f"\n== {number} of 3: tests/") == 1 or output.startswith(f"== {number} of 3: tests/"), output)
    expect("== once more: tests/b/run (" in output, output)


def test_more_begin_while_processors_are_idle():
    meets = MEETS.replace("SECONDS", "30") + "print('left out: nothing of', pathlib.Path('ended').read_text())"
    output, code, _ = run_suite({"a": meets}, shards=run_tests.AT_ONCE + 1, idle_share_min=0)
    expect(code == 0 and f"left out: nothing of {run_tests.AT_ONCE + 1}\n" in output, output)


def test_no_more_begin_while_processors_are_busy():
    meets = MEETS.replace("SECONDS", "10") + "print('left out: nothing of', pathlib.Path('ended').read_text())"
    output, code, _ = run_suite({"a": meets}, shards=run_tests.AT_ONCE + 1, idle_share_min=2)
    expect(code == 0 and f"left out: nothing of {run_tests.AT_ONCE}\n" in output, output)


def test_what_runs_is_shown_when_nothing_ends():
    output, code, _ = run_suite({"a": WAITS}, quiet_seconds_max=1)
    expect(code == 0 and output.startswith("running: tests/a/run ("), output)


def test_a_runner_without_a_closing_line_fails():
    output, code, _ = run_suite({"a": "print('done')"})
    expect(code == 1 and output.endswith("\n0 passed, 1 failed\n") and "no closing line" in output, output)


def test_a_runner_that_hangs_is_ended_and_shown():
    output, code, _ = run_suite({"a": HANGS}, seconds_max=1)
    expect(code == 1 and output.endswith("\n0 passed, 1 failed\n"), output)
    expect("timed out after 1 s, after:\nbegun\n" in output and "most recent call first" in output, output)


def test_a_runner_that_crashes_fails():
    output, code, _ = run_suite({"a": CRASHES})
    expect(code == 1 and output.endswith("\n0 passed, 1 failed\n") and "exited with -6, after:" in output, output)


def test_a_runner_that_is_left_out():
    output, code, _ = run_suite({"a": PASSES, "b": "print('left out: all of it: why\\n0 passed, 0 failed')"})
    expect(code == 0 and "\nleft out: all of it: why\n" in output and output.endswith("\n2 passed, 0 failed\n"), output)


def test_slides_that_are_not_there_are_left_out():
    with tempfile.TemporaryDirectory() as folder:
        tests = pathlib.Path(folder) / "project/tests"
        for name in ("slides", "support"):
            shutil.copytree(ROOT / "tests" / name, tests / name)
        process = subprocess.run([tests / "slides/run"], env={**os.environ, "TENON_SLIDES": ""}, stdout=subprocess.PIPE, text=True,
                                 timeout=60, check=False)
        expect(process.returncode == 0 and run_tests.LEFT_OUT.match(process.stdout), process.stdout)
        expect(process.stdout.endswith("\n0 passed, 0 failed\n"), process.stdout)


def test_a_failed_test_of_a_shard_is_repeated():
    build = pathlib.Path(os.environ.get("TENON_BUILD", str(ROOT / "build/release")))
    listed = subprocess.run([build / "tests_json", "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    suite = next(line for line in listed if line.endswith("."))
    names = [suite + line.strip() for line in listed[listed.index(suite) + 1:] if line.startswith("  ")][:2]
    for index in range(3):
        program = run_tests.Program("release", "json", [str(build / "tests_json")], str(build), index, 3)
        for some in ([names[0]], names):
            first = run_tests.Outcome(program.name, 0, [f"{name}: FAILED\nreason" for name in some], "", 0)
            second = program.repeat(first)
            expect((second.passed, second.failures) == (len(some), []), second.output)
        first = run_tests.Outcome(program.name, 0, ["No.Such: FAILED\nreason"], "", 0)
        expect(program.repeat(first).failures == first.failures, "what was not run again has not passed")
