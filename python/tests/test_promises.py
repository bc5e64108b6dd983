"""What is promised of externs: at most once, time limits, cancellation, durability."""
import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import tenon

PROMISES = """
extern(once) fn pay(cents: i32) -> String
extern(within: 100ms) fn slow() -> i32
extern fn price(item: String) -> i32
extern fn ask_person(question: String) -> String
extern fn delegate(text: String) -> String
fn settle() -> String { pay(3) }
fn late() -> i32 { slow() catch f { if f.kind == FailureKind::TimedOut { -1 } else { -2 } } }
fn both() -> i32 {
    let (a, b) = parallel { price("a"), price("b") }
    a + b
}
fn one() -> i32 { price("tea") }
fn asked() -> String { ask_person("Who?") }

agent Critic {
    fn turn(ctx: Context, input: String) -> String { "criticised: {{ input }}" }
}
agent Desk {
    fn turn(ctx: Context, input: String) -> String { delegate(input) }
}
"""
WAIT = 20.0


def load(tmp_path, **externs):
    given = {"pay": lambda cents: "paid", "slow": lambda: 1, "price": lambda item: 1, "ask_person": lambda question: "",
             "delegate": lambda text: text}
    store = externs.pop("store", None)
    return tenon.load(tmp_path / "promises.tn", text=PROMISES, externs={**given, **externs}, store=store)


def wait_until(condition):
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)


class Patient:
    """Coroutine functions that wait until they are cancelled, and note that."""

    def __init__(self):
        self.begun, self.cancelled = threading.Event(), threading.Event()

    async def slow(self) -> int:
        self.begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return 1

    async def price(self, item: str) -> int:
        return await self.slow()


def test_a_late_coroutine_is_cancelled(tmp_path):
    patient = Patient()
    with load(tmp_path, slow=patient.slow) as program:
        begun = time.monotonic()
        assert program.late() == -1
        assert time.monotonic() - begun < WAIT
        assert patient.cancelled.wait(WAIT)


def test_a_late_blocking_function_learns_it(tmp_path):
    learnt = threading.Event()

    @tenon.extern(blocking=True)
    def slow(call: tenon.Call) -> int:
        wait_until(lambda: call.is_cancelled)
        learnt.set()
        return 1

    with load(tmp_path, slow=slow) as program:
        assert program.late() == -1
        assert learnt.wait(WAIT)


def test_the_coroutines_of_a_cancelled_run_are_cancelled(tmp_path):
    patient = Patient()
    with load(tmp_path, price=patient.price) as program:
        run = program.one.start()
        assert run.wait(0.01) == "running"
        assert patient.begun.wait(WAIT)
        run.cancel("enough")
        with pytest.raises(tenon.Cancelled, match="enough"):
            run.result()
        assert patient.cancelled.wait(WAIT)


def test_a_failed_branch_cancels_its_siblings(tmp_path):
    patient = Patient()

    async def price(item: str) -> int:
        if item == "a":
            while not patient.begun.is_set():  # one that has not begun does not notice
                await asyncio.sleep(0.01)
            raise ValueError("no a")
        return await patient.price(item)

    with load(tmp_path, price=price) as program:
        with pytest.raises(tenon.RunFailed, match="no a") as raised:
            program.both()
        assert (raised.value.kind, raised.value.blame) == ("ToolFailed", "price")
        assert patient.cancelled.wait(WAIT)


def test_asyncio_cancels_the_run_of_a_cancelled_call(tmp_path):
    patient = Patient()

    async def cancel_call(program):
        end = time.monotonic() + WAIT
        call = asyncio.create_task(program.one.aio())
        while not patient.begun.is_set() and time.monotonic() < end:  # one that has not begun does not notice
            await asyncio.sleep(0.01)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(call, 0.01)
        while not patient.cancelled.is_set() and time.monotonic() < end:
            await asyncio.sleep(0.01)

    with load(tmp_path, price=patient.price) as program:
        asyncio.run(cancel_call(program))
    assert patient.cancelled.is_set()


def test_a_recorded_run_waits_for_an_unavailable_service(tmp_path):
    keys = []

    def price(call: tenon.Call, item: str) -> int:
        keys.append(call.effect_key)
        if len(keys) < 3:
            raise tenon.Unavailable("the shop is closed")
        return 5

    with load(tmp_path, price=price, store=tmp_path / "runs.db") as program:
        assert program.one() == 5
    assert len(keys) == 3 and len(set(keys)) == 1 and keys[0]


def test_an_unavailable_service_fails_a_run_that_is_not_recorded(tmp_path):
    def price(item: str) -> int:
        raise tenon.Unavailable("the shop is closed")

    with load(tmp_path, price=price) as program, pytest.raises(tenon.RunFailed, match="the shop is closed"):
        program.one()


@pytest.mark.parametrize("is_async", [False, True])
def test_an_extern_asks_a_person(tmp_path, is_async):
    def ask_now(call: tenon.Call, question: str) -> object:
        return tenon.PauseForInput(question) if call.input is None else f"It is {call.input}."

    async def ask_later(call: tenon.Call, question: str) -> object:
        return ask_now(call, question)

    with load(tmp_path, ask_person=ask_later if is_async else ask_now) as program:
        run = program.asked.start()
        assert run.wait() == "asks"
        (wait,) = run.waits()
        assert wait.question == "Who?"
        run.answer(wait, "Ada")
        assert run.result() == "It is Ada."


def test_an_extern_prompts_an_agent(tmp_path):
    with load(tmp_path, delegate=lambda text: tenon.PauseForChild("Critic", text)) as program:
        assert program.Desk.start().say("a draft") == "criticised: a draft"


def test_an_extern_hands_a_turn_off(tmp_path):
    with load(tmp_path, delegate=lambda text: tenon.FinishAgent("Critic", "instead: " + text)) as program:
        assert program.Desk.start().say("a draft") == "criticised: instead: a draft"


HOST = """
import sys, time, pathlib
import tenon
folder = pathlib.Path(sys.argv[1])
def record(call, what):
    with open(folder / "calls", "a") as file:
        file.write(f"{what} {call.effect_key}\\n")
def pay(call: tenon.Call, cents: int) -> str:
    record(call, "pay")
    if sys.argv[2] == "hang":
        time.sleep(60)
    return "paid"
def price(call: tenon.Call, item: str) -> int:
    record(call, "price")
    if sys.argv[2] == "hang":
        time.sleep(60)
    return 5
others = {"slow": lambda: 1, "ask_person": lambda question: "", "delegate": lambda text: text}
program = tenon.load(folder / "promises.tn", externs={"pay": pay, "price": price, **others}, store=folder / "runs.db")
run = program.start(sys.argv[3]) if sys.argv[2] == "hang" else program.resume(sys.argv[3])
(folder / "name").write_text(run.name)
if sys.argv[2] == "answer":
    assert run.wait() == "asks", run.state
    print(run.waits()[0].question)
    run.answer(None, {"retry": True})
print(run.result())
"""


def kill_in_a_call(tmp_path, function):
    """The name of a run whose process was killed while it performed an extern."""
    (tmp_path / "promises.tn").write_text(PROMISES)
    (tmp_path / "host.py").write_text(textwrap.dedent(HOST))
    process = subprocess.Popen([sys.executable, tmp_path / "host.py", tmp_path, "hang", function])
    wait_until(lambda: (tmp_path / "calls").exists() and (tmp_path / "calls").read_text())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return (tmp_path / "name").read_text()


def run_again(tmp_path, how, name):
    done = subprocess.run([sys.executable, tmp_path / "host.py", tmp_path, how, name], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), (tmp_path / "calls").read_text().splitlines()


def test_a_call_that_was_cut_off_is_repeated_with_its_key(tmp_path):
    name = kill_in_a_call(tmp_path, "one")
    lines, calls = run_again(tmp_path, "go", name)
    assert lines == ["5"]
    assert len(calls) == 2 and calls[0] == calls[1]


def test_a_call_at_most_once_asks_after_a_crash(tmp_path):
    name = kill_in_a_call(tmp_path, "settle")
    lines, calls = run_again(tmp_path, "answer", name)
    assert "pay" in lines[0] and lines[1] == "paid"
    assert len(calls) == 2 and calls[0] == calls[1]  # repeated because the answer says so


def test_a_recorded_effect_is_not_performed_again(tmp_path):
    calls = []

    def price(item: str) -> int:
        calls.append(item)
        return 5

    store = tmp_path / "runs.db"
    with load(tmp_path, price=price, store=store) as program:
        run = program.one.start()
        assert run.result() == 5
        name = run.name
    del run, program
    assert tenon.resume(store, name, externs={"pay": lambda cents: "", "slow": lambda: 1, "price": price,
                                              "ask_person": lambda question: "", "delegate": lambda text: text}).result() == 5
    assert calls == ["tea"]


# --- Event loops that end ------------------------------------------------------------------------------------------------


def begin_in_a_loop_that_ends(program, function, begun):
    """Starts a run, and ends the event loop on which its coroutine extern waits."""
    async def main():
        run = function.start()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run.aresult(), 0.2)
        assert begun.is_set()
        return run.name

    name = asyncio.run(main())
    program.close()
    return name


def test_a_recorded_run_does_not_see_that_its_event_loop_has_ended(tmp_path):
    begun = threading.Event()

    async def price(item: str) -> int:
        begun.set()
        await asyncio.sleep(60)
        return 1

    store = tmp_path / "runs.db"
    program = load(tmp_path, price=price, store=store)
    name = begin_in_a_loop_that_ends(program, program.one, begun)
    with load(tmp_path, price=lambda item: 5, store=store) as program:
        assert program.resume(name).result(WAIT) == 5


def test_a_call_that_is_made_at_most_once_is_in_doubt_when_its_event_loop_has_ended(tmp_path):
    begun = threading.Event()

    async def pay(cents: int) -> str:
        begun.set()
        await asyncio.sleep(60)
        return "paid"

    store = tmp_path / "runs.db"
    program = load(tmp_path, pay=pay, store=store)
    name = begin_in_a_loop_that_ends(program, program.settle, begun)
    with load(tmp_path, pay=lambda cents: "paid twice", store=store) as program:
        run = program.resume(name)
        assert run.wait(WAIT) == "asks"
        run.answer(None, {"value": "paid before"})
        assert run.result(WAIT) == "paid before"


def test_a_recorded_run_does_not_see_that_python_has_ended(tmp_path):
    text = f"""
import asyncio, tenon
async def price(item: str) -> int:
    await asyncio.sleep(60)
def price_of(text): return text
async def warm() -> None:
    await program.late.aio()
program = tenon.load({str(tmp_path / "promises.tn")!r}, text={PROMISES!r}, store={str(tmp_path / "runs.db")!r},
                     externs={{"price": price, "pay": lambda cents: "", "slow": lambda: 1, "ask_person": price_of, "delegate": price_of}})
asyncio.run(warm())
run = program.one.start()
run.wait(0.3)
print(run.name)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    with load(tmp_path, price=lambda item: 5, store=tmp_path / "runs.db") as program:
        assert program.resume(done.stdout.strip()).result(WAIT) == 5


def test_a_recorded_run_asks_the_model_again_when_its_event_loop_has_ended(tmp_path):
    async def silent(request: tenon.Request) -> str:
        await asyncio.sleep(60)
        return ""

    def load_greeter(model):
        return tenon.load(tmp_path / "greet.tn", text='fn greet(ctx: Context) -> String { "Hello?"! }', model=model,
                          store=tmp_path / "runs.db")

    async def main(program):
        run = program.greet.start()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run.aresult(), 0.2)
        return run.name

    program = load_greeter(silent)
    name = asyncio.run(main(program))
    program.close()
    with load_greeter(lambda request: "Hello!") as program:
        assert program.resume(name).result(WAIT) == "Hello!"


def test_coroutines_are_performed_after_the_loop_that_was_used_has_ended(tmp_path):
    async def price(item: str) -> int:
        await asyncio.sleep(0.01)
        return 3

    with load(tmp_path, price=price) as program:
        async def main():
            assert await program.one.aio() == 3

        asyncio.run(main())
        assert program.one() == 3
        run = program.one.start()
        assert run.result(WAIT) == 3
        asyncio.run(main())
        assert asyncio.run(main()) is None


# --- Errors that are hard to tell -----------------------------------------------------------------------------------------


class Untold(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize("exception", [ValueError("bad \ud83d"), Untold()])
@pytest.mark.parametrize("kind", ["plain", "blocking", "async"])
def test_an_exception_whose_text_cannot_be_read_is_a_failure(tmp_path, kind, exception):
    def fails(item: str) -> int:
        raise exception

    async def fails_later(item: str) -> int:
        raise exception

    price = {"plain": fails, "blocking": tenon.extern(name="price", blocking=True)(fails), "async": fails_later}[kind]
    with load(tmp_path, price=price) as program:
        for _ in range(3):
            with pytest.raises(tenon.Error, match=type(exception).__name__):
                program.one.start().result(WAIT)


def test_a_model_whose_error_cannot_be_read_fails(tmp_path):
    def fails(request: tenon.Request) -> str:
        raise Untold()

    async def streams(request: tenon.Request):
        yield "bad \ud83d"

    for model in (fails, streams):
        with tenon.load(tmp_path / "greet.tn", text='fn greet(ctx: Context) -> String { "Hello?"! }', model=model) as program:
            with pytest.raises(tenon.Error):
                program.greet.start().result(WAIT)


# --- Waiting ---------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def while_another_thread_waits(tmp_path):
    """A program of which another thread has called a function that does not return meanwhile."""
    released = threading.Event()

    async def price(item: str) -> int:
        while not released.is_set():
            await asyncio.sleep(0.01)
        return 1

    with load(tmp_path, price=price, slow=lambda: 7) as program:
        waiting = threading.Thread(target=program.one)
        waiting.start()
        yield program
        released.set()
        waiting.join()


def test_calls_of_other_threads_do_not_wait_for_each_other(tmp_path):
    with while_another_thread_waits(tmp_path) as program:
        begun = time.monotonic()
        for _ in range(10):
            assert program.late() == 7
            run = program.late.start()
            assert run.result(WAIT) == 7
            assert run.state == "returned"
        assert time.monotonic() - begun < WAIT


def test_a_run_that_has_ended_is_awaited_while_another_thread_waits(tmp_path):
    with while_another_thread_waits(tmp_path) as program:
        async def main():
            run = program.late.start()
            return await asyncio.wait_for(run, WAIT), await asyncio.wait_for(run, WAIT)

        assert asyncio.run(main()) == (7, 7)


@pytest.mark.parametrize("when", ["before the tasks are cancelled", "while the tasks are cancelled"])
def test_a_call_that_begins_while_its_event_loop_ends_is_given_up(tmp_path, when):
    """`asyncio.run` cancels it before its first step, or not at all."""
    async def price(item: str) -> int:
        await asyncio.sleep(60)
        return 1

    failures = []

    def call():
        try:
            program.one()
        except tenon.Error as error:
            failures.append(str(error))

    def begin():
        calling.start()
        time.sleep(0.3)  # the loop does nothing until the call waits for it

    async def straggle():
        try:
            await asyncio.sleep(60)
        finally:
            begin()

    async def main():
        assert await program.late.start() == 7
        if when == "before the tasks are cancelled":
            return begin()
        straggler = asyncio.create_task(straggle())
        await asyncio.sleep(0)
        return straggler

    with load(tmp_path, price=price, slow=lambda: 7) as program:
        calling = threading.Thread(target=call, daemon=True)
        asyncio.run(main())
        calling.join(WAIT)
        assert not calling.is_alive()
    assert len(failures) == 1 and "given up" in failures[0]


def test_a_call_is_cancelled_on_the_loop_that_performs_it(tmp_path):
    """Another event loop starts coroutines by then."""
    patient = Patient()

    def wait_for_run():
        with contextlib.suppress(tenon.Cancelled):
            run.result(WAIT)

    async def main():
        assert await program.late.start() == 7
        run.cancel("enough")
        assert await asyncio.get_running_loop().run_in_executor(None, patient.cancelled.wait, 5.0)

    with load(tmp_path, price=patient.price, slow=lambda: 7) as program:
        run = program.one.start()
        waiting = threading.Thread(target=wait_for_run)
        waiting.start()
        assert patient.begun.wait(WAIT)
        asyncio.run(main())
        waiting.join(WAIT)
        assert not waiting.is_alive()


def test_pieces_of_text_come_one_after_the_other(tmp_path):
    async def model(request: tenon.Request):
        for piece in ("a", "b", "c", "d"):
            yield piece
            await asyncio.sleep(0.15)

    with tenon.load(tmp_path / "greet.tn", text='fn greet(ctx: Context) -> String { "Hello?"! }', model=model) as program:
        async def main():
            times = []
            async for _ in program.greet.start().texts():
                times.append(time.monotonic())
            return times

        times = asyncio.run(main())
        assert len(times) == 4 and times[-1] - times[0] > 0.3, "they have come together"


def test_closing_a_program_ends_what_is_awaited(tmp_path):
    async def price(item: str) -> int:
        await asyncio.sleep(60)
        return 1

    async def main():
        program = load(tmp_path, price=price)
        call = asyncio.create_task(program.one.aio())
        run = program.one.start()
        waiting = asyncio.ensure_future(run.aresult())
        await asyncio.sleep(0.05)
        threading.Thread(target=program.close).start()
        for task in (call, waiting):
            with pytest.raises(tenon.Error, match="stopped"):
                await asyncio.wait_for(task, WAIT)

    asyncio.run(main())
