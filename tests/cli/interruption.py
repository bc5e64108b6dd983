"""Ctrl-C ends a run cleanly and quickly, with exit code 130, whatever it is doing."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

from tenon_process import TENON, tenon

SECONDS_TO_END = 30.0  # far more than necessary, for a loaded machine


def interrupt(arguments, seconds_before, environment=None):
    """The exit code and stderr of the process, and how long it took to end after SIGINT."""
    variables = dict(os.environ, **(environment or {}))
    process = subprocess.Popen([TENON, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=variables)
    try:
        time.sleep(seconds_before)
        assert process.poll() is None, f"it ended by itself: {process.communicate()}"
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors, time.monotonic() - started
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def ends_cleanly(outcome):
    code, output, errors, seconds = outcome
    assert code == 130, f"exit {code}: {errors}"
    assert output == "", output
    assert "interrupted" in errors, errors
    assert seconds < SECONDS_TO_END, f"it took {seconds:.1f} s"


def test_in_a_loop(work: pathlib.Path):
    file = work / "loop.tn"
    file.write_text("fn main() -> () {\n    let n = 0\n    while true { n = (n + 1) % 10 }\n}\n")
    ends_cleanly(interrupt(["run", file, "--budget", "instructions=1000000000000"], 1.5))


def test_while_waiting_for_an_answer(work: pathlib.Path):
    file = work / "ask.tn"
    file.write_text('fn main(ctx: Context) -> String { "say something"! }\n')
    with socket.socket() as listener:  # accepts connections and never answers
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        ends_cleanly(interrupt(["run", file, "--model", "openai:silent"], 1.5,
                               {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k"}))


def test_finally_blocks_run(work: pathlib.Path):
    source, library, file, note, trace = (work / name for name in ("note.c", "libnote.so", "p.tn", "note", "trace.jsonl"))
    source.write_text('#include <stdio.h>\n#include <stdlib.h>\n'
                      'int release(int x) { FILE* f = fopen(getenv("NOTE"), "a"); fputs("released\\n", f); return fclose(f) + x; }\n')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    file.write_text('extern fn release(x: i32) -> i32\n'
                    'fn say(ctx: Context) -> String { "say something"! }\n'
                    'fn waits(ctx: Context) -> String { say(ctx) finally { release(1) } }\n')
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        environment = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k", "NO_PROXY": "127.0.0.1", "NOTE": str(note)}
        ends_cleanly(interrupt(["run", file, "--fn", "waits", "--extern", library, "--model", "openai:silent", "--trace", trace],
                               1.5, environment))
    assert note.read_text() == "released\n"
    assert json.loads(trace.read_text().splitlines()[-1])["type"] == "run_ended", trace.read_text()


def test_in_a_test_block(work: pathlib.Path):
    file = work / "loop.tn"
    file.write_text('test "endless" {\n    let n = 0\n    while true { n = (n + 1) % 10 }\n}\n')
    code, _, _, seconds = interrupt(["test", "--verify", file], 1.5)
    assert code == 1 and seconds < SECONDS_TO_END, (code, seconds)


def test_in_long_work(work: pathlib.Path):
    file = work / "work.tn"
    file.write_text('fn main() -> () {\n    while true { "x".repeat(100000000).len() }\n}\n')
    ends_cleanly(interrupt(["run", file, "--budget", "instructions=1000000000000"], 1.5))


def test_budgets_bound_long_work(work: pathlib.Path):
    file = work / "work.tn"
    file.write_text('fn main() -> () {\n    while true { "x".repeat(100000000).to_uppercase().len() }\n}\n'
                    "fn spin() -> i32 {\n    while true {}\n}\n"
                    "fn bounded() -> i32 { spin() budget(time: 50ms) catch f { 7 } }\n")
    for budget in (["--budget", "time=100"], []):
        process = tenon("run", file, *budget, seconds_max=120)
        assert process.returncode == 1 and "budget of 100" in process.stderr, process.stderr
    endless = ["--budget", "instructions=1000000000000"]
    process = tenon("run", file, "--fn", "spin", "--budget", "time=100", *endless, seconds_max=120)
    assert "the budget of 100 milliseconds of the run is spent" in process.stderr, process.stderr
    assert tenon("run", file, "--fn", "bounded", *endless, seconds_max=120).stdout == "7\n"
