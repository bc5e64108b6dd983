"""Threads, forks, signals and the end of a process. Each test is a process of its own."""
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

PROGRAM = """
extern fn price(item: String) -> i32
fn add(a: i32, b: i32) -> i32 { a + b }
fn total() -> i32 { price("tea") }
fn spin() -> i32 {
    let n = 0
    while n < 2000000000 { n += 1 }
    n
}
"""
BEGIN = f"""
import asyncio, os, signal, sys, threading, time, tenon
async def price(item): await asyncio.sleep(60); return 1
desk = tenon.load("x.tn", text={PROGRAM!r}, externs=[price])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
"""


def run(text, timeout=30):
    return subprocess.run([sys.executable, "-c", BEGIN + text], capture_output=True, text=True, timeout=timeout, check=False)


def run_often(text, times):
    """Several at once, as they wait."""
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(lambda _: run(text), range(times)))


def test_there_is_no_thread_before_one_is_needed():
    done = run("""
before = len(os.listdir("/proc/self/task"))
desk.add(1, 2)
print(before, len(os.listdir("/proc/self/task")))
""")
    assert done.stdout == "1 1\n", done.stderr


def test_a_fork_gets_an_error_at_once():
    done = run("""
desk.add(1, 2)
if os.fork() == 0:
    try:
        desk.add(1, 2)
    except tenon.Error as error:
        print(error.kind, flush=True)
    again = tenon.load("y.tn", text="fn one() -> i32 { 1 }")
    print(again.one(), flush=True)
    os._exit(0)
os.wait()
print(desk.add(1, 2))
""")
    assert done.stdout == "Forked\n1\n3\n", done.stderr


def test_ctrl_c_ends_a_call():
    process = subprocess.Popen([sys.executable, "-c", BEGIN + """
print("ready", flush=True)
try:
    desk.total()
except KeyboardInterrupt:
    print("interrupted", desk.add(1, 2))
"""], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20) == ("interrupted 3\n", "")


# What the main thread waits in, for what does not come. It hears signals whichever thread continues the runs.
WAITS = ["desk.total()", "desk.start('total').wait()", "list(desk.start('total').events())",
         "threading.Thread(target=desk.total, daemon=True).start(); time.sleep(0.2); desk.total()"]


@pytest.mark.parametrize("how", WAITS)
def test_a_wait_hears_signals(how):
    done = run(f"""
heard = []
def handle(number, frame):
    heard.append(number)
    if len(heard) == 3:
        raise KeyboardInterrupt
def send():
    for at in range(3):
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGUSR1)
        while len(heard) == at:
            time.sleep(0.01)
signal.signal(signal.SIGUSR1, handle)
former = os.pipe2(os.O_NONBLOCK)  # such as that of an event loop
signal.set_wakeup_fd(former[1])
threading.Thread(target=send).start()
try:
    {how}
except KeyboardInterrupt:
    print(len(heard), os.read(former[0], 64) == bytes([signal.SIGUSR1] * 3), signal.set_wakeup_fd(-1) == former[1], desk.add(1, 2))
""")
    assert (done.stdout, done.stderr) == ("3 True True 3\n", "")


def test_a_wait_does_not_wake_up_to_look_for_signals():
    done = run("""
async def nap():
    before = wakeups()  # of the thread that waits
    await asyncio.sleep(3)
    print(wakeups() - before)
    return 1
def wakeups():
    return int(open(f"/proc/self/task/{os.getpid()}/status").read().split("\\nvoluntary_ctxt_switches:")[1].split()[0])
with tenon.load("nap.tn", text="extern fn nap() -> i32\\nfn sleeps() -> i32 { nap() }", externs=[nap]) as program:
    program.sleeps()
""")
    assert int(done.stdout) < 10, (done.stdout, done.stderr)  # a look every 0.1 s would be 30


def test_a_wait_within_an_extern_hears_signals():
    done = run("""
def inner():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        desk.total()
    except KeyboardInterrupt:
        print("inner", flush=True)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    return 1
async def nap(seconds): await asyncio.sleep(seconds); return 1
TEXT = "extern fn inner() -> i32\\nextern fn nap(seconds: i32) -> i32\\nfn all() -> i32 { nap(1) + inner() + nap(60) }"
with tenon.load("outer.tn", text=TEXT, externs=[inner, nap], extern_threads=0) as outer:
    begin = time.monotonic()
    try:
        outer.all()
    except KeyboardInterrupt:
        print("outer", time.monotonic() - begin < 30)
""")
    assert (done.stdout, done.stderr) == ("inner\nouter True\n", "")


def test_ctrl_c_ends_a_call_of_a_plain_function():
    done = run("""
def slow():
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    time.sleep(20)
    return 1
begin = time.monotonic()
with tenon.load("slow.tn", text="extern fn slow() -> i32\\nfn twice() -> i32 { 2 * slow() }", externs=[slow]) as program:
    for call in (program.twice, lambda: program.twice.start().result()):
        try:
            print(call())
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - begin < 15)
""")
    assert (done.stdout, done.stderr) == ("interrupted True\ninterrupted True\n", ""), done.stderr


def test_ctrl_c_is_heard_while_an_event_loop_is_started():
    done = run("""
import tenon._engine
start = tenon._engine.background_loop
def interrupted():
    tenon._engine.background_loop = start
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
    return start()
tenon._engine.background_loop = interrupted
for at in range(2):
    if at == 1:
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        desk.total()
    except KeyboardInterrupt:
        print("interrupted", desk.add(1, 2))
""")
    assert (done.stdout, done.stderr) == ("interrupted 3\ninterrupted 3\n", ""), done.stderr


@pytest.mark.parametrize("how", [
    "threading.Thread(target=desk.total, daemon=True).start(); time.sleep(0.05)",
    "run = desk.start('total'); run.wait(0.05)",
    "asyncio.run(asyncio.wait_for(desk.total.aio(), 0.05))",
    "threading.Thread(target=desk.spin, daemon=True).start(); time.sleep(0.05)",
    "desk.start('total'); time.sleep(0.05)",
    "desk.start('spin')",
])
def test_a_process_ends_with_runs_in_progress(how):
    for done in run_often(f"""
try:
    {how}
except TimeoutError:
    pass
print("end", flush=True)
""", 9):  # six ways: 54 exits
        assert (done.stdout, done.stderr, done.returncode) == ("end\n", "", 0)


def test_a_process_that_ends_cancels_coroutines_in_progress():
    done = run("""
began = threading.Event()
async def price(item):
    began.set()
    try:
        await asyncio.sleep(60)
    finally:
        print("cancelled", flush=True)
desk = tenon.load("y.tn", text="extern fn price(item: String) -> i32\\nfn total() -> i32 { price(\\"tea\\") }", externs=[price])
run = desk.start("total")
while not began.is_set():
    try:
        run.wait(0.01)
    except TimeoutError:
        pass
print("end", flush=True)
""")
    assert (done.stdout, done.stderr, done.returncode) == ("end\ncancelled\n", "", 0)


@pytest.mark.parametrize(("kind", "reason"), [
    ("async def", "no event loop could be started"),
    ("@tenon.extern(blocking=True)\ndef", "no thread could be started for the function"),
])
def test_where_no_thread_can_be_started_calls_fail(kind, reason):
    done = run(f"""
{kind} price(item): return 1
desk = tenon.load("y.tn", text={PROGRAM!r}, externs=[price])
def refuse(thread): raise RuntimeError("can't start new thread")
start, threading.Thread.start = threading.Thread.start, refuse
try:
    print(desk.total())
except tenon.Error as error:
    print(error.message.splitlines()[0])
threading.Thread.start = start
print(desk.total())
""")
    assert (done.stdout, done.stderr, done.returncode) == (
        f"y.tn:4:21: error: `price` failed: {reason}: can't start new thread\n1\n", "", 0)


def test_a_call_while_the_interpreter_ends_is_made_or_fails():
    done = run("""
import atexit
def late():
    try:
        print("late", desk.total())
    except tenon.Error as error:
        print("late", "no event loop could be started" in error.message)
async def price(item): return 1
desk = tenon.load("y.tn", text="extern fn price(item: String) -> i32\\nfn total() -> i32 { price(\\"tea\\") }", externs=[price])
atexit.register(late)
""")
    started = sys.version_info < (3, 12)  # newer ones start no thread then
    assert (done.stdout, done.stderr, done.returncode) == ("late 1\n" if started else "late True\n", "", 0)


def test_a_thread_that_is_cut_off_by_the_end_says_nothing():
    for done in run_often("""
import tenon._background
def slow():  # until the interpreter is about to end
    threading.main_thread().join()
    return begin()
begin = tenon._engine.background_loop
tenon._engine.background_loop = slow
threading.Thread(target=desk.total, daemon=True).start()
time.sleep(0.05)
print("end", flush=True)
""", 10):  # at another moment each time
        assert (done.stdout, done.stderr, done.returncode) == ("end\n", "", 0)


def test_a_forked_child_that_ends_leaves_the_loop_of_its_parent_alone():
    done = run("""
async def quick(item): await asyncio.sleep(0.01); return 2
desk = tenon.load("z.tn", text="extern fn quick(item: String) -> i32\\nfn total() -> i32 { quick(\\"a\\") }", externs=[quick])
loop = asyncio.new_event_loop()
print(loop.run_until_complete(desk.total.aio()), flush=True)
if os.fork() == 0:
    sys.exit(0)
os.wait()
print(loop.run_until_complete(asyncio.wait_for(desk.total.aio(), 10)))
desk.close()
loop.close()
""")
    assert done.stdout == "2\n2\n", done.stderr


def test_a_fork_gets_an_error_at_once_while_a_thread_of_its_parent_starts_a_run():
    done = run("""
locked, go = threading.Event(), threading.Event()
def start():
    with desk.engine.taking:
        locked.set()
        go.wait(20)
threading.Thread(target=start).start()
locked.wait(20)
if os.fork() == 0:
    try:
        desk.add.start(1, 2)
    except tenon.Error as error:
        print(error.kind, flush=True)
    os._exit(0)
os.wait()
go.set()
print(desk.add.start(1, 2).result())
""")
    assert done.stdout == "Forked\n3\n", done.stderr


def test_a_started_run_continues_beside_a_fork():
    done = run("""
def price(item): called.wait(20); return 7
called = threading.Event()
desk = tenon.load("y.tn", text="extern fn price(item: String) -> i32\\nfn total() -> i32 { price(\\"tea\\") }", externs=[price])
started = desk.start("total")
if os.fork() == 0:
    try:
        print(started.state)
    except tenon.Error as error:
        print(error.kind, flush=True)
    again = tenon.load("z.tn", text="extern fn price(item: String) -> i32\\nfn total() -> i32 { price(\\"tea\\") }", externs={"price": len})
    other = again.start("total")
    while other.state == "running":
        time.sleep(0.01)
    print(other.state, flush=True)
    sys.exit(0)
os.wait()
called.set()
while started.state == "running":
    time.sleep(0.01)
print(started.result())
""")
    assert (done.stdout, done.returncode) == ("Forked\nreturned\n7\n", 0), done.stderr
