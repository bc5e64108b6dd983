"""Externs that functions of a Python file perform (`--extern FILE.py`), in worker processes: values, failures, limits, crashes."""
import json
import os
import signal
import subprocess
import time

from tenon_process import TENON, count_calls, find_run, tenon, wait_for_calls

TESTS_AT_ONCE = 2  # they wait, for clocks and for processes that end

PROGRAM = '''
struct Item { name: String, count: i64, note: String?, parts: List<Item> }
enum Shape { Point, Circle(f64), Box(f64, f64) }
type Level = "low" | "high"
extern fn copy(items: List<Item>) -> List<Item>
extern fn grow(shapes: List<Shape>, by: Map<f64>) -> (Shape, Level)
extern fn fails(how: i32) -> i32
extern(once) fn charge(cents: i32) -> String
extern(within: 300ms) fn slow() -> i32
extern fn crash(how: i32) -> ()
extern fn large(megabytes: i32) -> String
extern fn approve() -> String
extern fn closed() -> i32
extern fn where() -> String
extern fn meet(n: i32) -> Boolean
fn copied(items: List<Item>) -> List<Item> { copy(items) }
fn grown() -> (Shape, Level) { grow([Shape::Point, Shape::Circle(2.0), Shape::Box(1.0, 0.5)], Map::from([("by", 1.5)])) }
fn failed(how: i32) -> i32 { fails(how) }
fn pay() -> String { charge(250) }
fn late() -> i32 {
    grow([Shape::Point, Shape::Point, Shape::Box(1.0, 0.5)], Map::from([("by", 1.5)]))  // the worker has started
    slow() catch f { if f.kind == FailureKind::TimedOut { -1 } else { -2 } }
}
fn crashed(how: i32) -> String { crash(how) catch f { return f.message }
    "" }
fn sized(megabytes: i32) -> i32 { large(megabytes).len() }
fn approved() -> String { "by {{ approve() }}" }
fn open() -> i32 { closed() }
fn same_process() -> Boolean {
    let first = where()
    first == where() && first == where()
}
fn together(ns: List<i32>) -> Boolean {
    let met = for n in ns parallel(8) { meet(n) }
    met.all(|m| m)
}
'''
TOOLS = '''
import asyncio, os, pathlib, time
from tenon import Call, PauseForInput, Unavailable, extern

CALLS = pathlib.Path(os.environ["CALLS"])

def note(word, key=""):
    with CALLS.open("a") as file:
        file.write(f"{word} {os.getpid()} {key}\\n")

def copy(items):
    assert all(item.note is None or isinstance(item.note, str) for item in items)
    return items
def grow(shapes, by: dict):
    box = shapes[2]
    return (type(box)(box.value_1 * by["by"], box.value_2), "high")
def fails(how: int) -> int:
    if how == 0: raise ValueError("zero is not a number of things")
    return {1: "one", 2: 2**40, 3: 1.5}[how]
@extern(name="charge")
async def charge_card(call: Call, cents: int) -> str:
    note("charge", call.effect_key)
    assert os.environ["TENON_EFFECT_KEY"] == call.effect_key
    if "HANGS" in os.environ:
        await asyncio.sleep(60)
    return f"receipt for {cents}"
def slow() -> int:
    note("slow")
    time.sleep(60)
    return 1
def crash(how: int) -> None:
    if how == 0: os.abort()
    if how == 1: os._exit(7)
    raise SystemExit(9)
def large(megabytes: int) -> str:
    return "x" * (megabytes << 20)
def approve(call: Call):
    return PauseForInput("Who approves?") if call.input is None else call.input
def closed() -> int:
    note("closed")
    if len(CALLS.read_text().splitlines()) < 3: raise Unavailable("the shop is closed")
    return 8
def where() -> str:
    print("printed by a worker")
    return str(os.getpid())
def meet(n: int) -> bool:
    note("meet")
    end = time.monotonic() + 20
    while len(CALLS.read_text().splitlines()) < 4 and time.monotonic() < end: time.sleep(0.01)
    return len(CALLS.read_text().splitlines()) >= 4
def _hidden(): pass
'''


def prepare(work, tools=TOOLS):
    (work / "shop.tn").write_text(PROGRAM)
    (work / "tools.py").write_text(tools)
    return dict(os.environ, CALLS=str(work / "calls"))


def run(work, function, *arguments, tools=TOOLS, **options):
    environment = prepare(work, tools)
    return tenon("run", work / "shop.tn", "--fn", function, "--extern", work / "tools.py", *arguments, environment=environment, **options)


def test_values_keep_their_types(work):
    items = [{"name": "größe \"x\"", "count": 2**60, "note": "n", "parts": [{"name": "", "count": -1, "note": None, "parts": []}]}]
    process = run(work, "copied", "--arg", f"items={json.dumps(items)}")
    assert process.returncode == 0, process
    assert json.loads(process.stdout)[0]["count"] == 2**60 and json.loads(process.stdout)[0]["name"] == items[0]["name"], process
    process = run(work, "grown")
    assert json.loads(process.stdout) == [{"Box": [1.5, 0.5]}, "high"], process


def test_failures_have_a_reason(work):
    for how, reason in ((0, "`fails` failed: ValueError: zero is not a number of things"), (1, "the result: expected integer, found the string \"one\""),
                        (2, "the result"), (3, "the result"), (4, "KeyError: 4")):
        process = run(work, "failed", "--arg", f"how={how}")
        assert process.returncode == 1 and reason in process.stderr, process


def test_a_late_call_ends_its_worker(work):
    begun = time.monotonic()
    process = run(work, "late")
    assert process.stdout == "-1\n" and time.monotonic() - begun < 20, process
    _, worker, *_ = (work / "calls").read_text().split()
    wait_for_end(int(worker))


def wait_for_end(process):
    end = time.monotonic() + 20
    while os.path.exists(f"/proc/{process}") and time.monotonic() < end:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{process}")


def test_a_crash_fails_the_call(work):
    for how, reason in ((0, "its process was killed by SIGABRT (Aborted)"), (1, "its process exited with code 7 without a result"),
                        (2, "its process exited with code 9 without a result")):
        process = run(work, "crashed", "--arg", f"how={how}")
        assert reason in process.stdout, process


def test_a_result_has_a_maximum_size(work):
    assert run(work, "sized", "--arg", "megabytes=8").stdout == f"{8 << 20}\n"
    process = run(work, "sized", "--arg", "megabytes=65")
    assert "its result is larger than 64 MB" in process.stderr, process


def test_one_worker_performs_one_call_after_the_other(work):
    process = run(work, "same_process")
    assert process.stdout.endswith("true\n") and process.stdout.count("printed by a worker") in (0, 3), process


def test_calls_at_once_have_workers_of_their_own(work):
    process = run(work, "together", "--arg", "ns=[1, 2, 3, 4]")
    assert process.stdout == "true\n", process


def test_a_call_at_most_once_is_not_repeated_after_a_crash(work):
    environment = prepare(work)
    command = [TENON, "run", work / "shop.tn", "--fn", "pay", "--extern", work / "tools.py", "--store", work / "runs.store"]
    process = subprocess.Popen(command, env=dict(environment, HANGS="1"), stderr=subprocess.PIPE, text=True)
    wait_for_calls(work / "calls", 1)
    worker = int((work / "calls").read_text().split()[1])
    os.kill(process.pid, signal.SIGKILL)
    name = find_run(process.communicate()[1])
    wait_for_end(worker)  # it ends with its parent
    process = tenon("resume", name, "--store", work / "runs.store", environment=environment)
    assert process.returncode == 3 and "charge" in process.stderr and count_calls(work / "calls") == 1, process
    # The file's path is in the record.
    process = tenon("resume", name, "--store", work / "runs.store", "--input", '{"retry": true}', environment=environment)
    assert process.stdout == "receipt for 250\n", process
    first, second = (line.split()[2] for line in (work / "calls").read_text().splitlines())
    assert first == second != ""


def test_a_person_is_asked(work):
    process = run(work, "approved", "--store", work / "runs.store")
    assert process.returncode == 3 and "Who approves?" in process.stderr, process
    process = tenon("resume", find_run(process.stderr), "--store", work / "runs.store", "--input", "Ann", environment=prepare(work))
    assert process.stdout == "by Ann\n", process


def test_a_recorded_run_waits_for_an_unavailable_service(work):
    process = run(work, "open", "--store", work / "runs.store")
    name = find_run(process.stderr)
    end = time.monotonic() + 60
    while process.returncode == 3 and time.monotonic() < end:
        assert "tool `closed` unavailable: the shop is closed" in process.stderr, process
        process = tenon("resume", name, "--store", work / "runs.store", environment=prepare(work))
    assert process.stdout == "8\n" and count_calls(work / "calls") == 3, process


def test_files_are_checked_before_the_start(work):
    for tools, reasons in (
            ("def copy(items, more): pass\n", ["error[E4009]: `copy` from ", "missing a required argument: 'more'", "error[E4003]: unresolved extern `grow`"]),
            (TOOLS.replace("how: int", "how: str"), ["error[E4009]: `fails` from ", "the parameter `how` of `fails` is `str`, expected `i32`"]),
            (TOOLS.replace("def where", "def wher"), ["error[E4003]: unresolved extern `where`", "did you mean `wher`?", "must define a function `where`"]),
            (TOOLS + "\nimport nothing_here\n", ["error[E4002]: cannot load library ", "ModuleNotFoundError: No module named 'nothing_here'"]),
            (TOOLS + "\ndef f(:\n", ["error[E4002]: cannot load library ", "SyntaxError"])):
        process = run(work, "open", tools=tools)
        assert process.returncode == 1 and all(reason in process.stderr for reason in reasons), process
    environment = prepare(work)
    process = tenon("check", work / "shop.tn", "--extern", work / "tools.py", environment=environment)
    assert process.returncode == 0 and process.stderr == "", process
    (work / "more.py").write_text("def copy(items): return items\n")
    process = tenon("check", work / "shop.tn", "--extern", work / "tools.py", "--extern", work / "more.py", environment=environment)
    assert "error[E4004]: ambiguous extern `copy`" in process.stderr, process
    process = tenon("check", work / "shop.tn", "--extern", work / "absent.py", environment=environment)
    assert "error[E4001]: cannot find library" in process.stderr, process
    process = tenon("check", work / "shop.tn", "--extern", work / "tools.py", environment=dict(environment, TENON_PYTHON="/nonexistent"))
    assert "cannot start `/nonexistent`" in process.stderr, process


def test_the_manifest_names_python_files(work):
    environment = prepare(work)
    (work / "tenon.toml").write_text('[externs]\nlibraries = ["tools.py"]\n')
    process = tenon("run", work / "shop.tn", "--fn", "grown", environment=environment)
    assert process.returncode == 0, process
