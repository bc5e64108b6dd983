"""Plain functions that were quick, and then block: nothing but their run waits for them."""
import asyncio
import contextvars
import threading
import time

import pytest
import tenon

PATIENCE_SECONDS = 30
PROGRAM = """
extern fn price(item: String) -> i32
extern(within: 60s) fn price_soon(item: String) -> i32
extern(once) fn pay(cents: i32) -> i32
fn one(item: String) -> i32 { price(item) }
fn later(item: String) -> i32 {
    for _ in 0..20 { price("tea") }
    price(item)
}
fn soon(item: String) -> i32 { price_soon(item) }
fn settle(cents: i32) -> i32 { pay(cents) }
fn two() -> i32 {
    let (a, b) = parallel { price("a"), price("b") }
    a + b
}
fn add(a: i32, b: i32) -> i32 { a + b }
fn asks() -> Boolean { ask<Boolean>("Is it?") }
agent Counter {
    state { count: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.count += 1
        "{{ state.count }}: {{ input }}"
    }
}
"""
identity = contextvars.ContextVar("identity", default="none")


class Blocked:
    """A program that is called in another thread until a function blocks that was quick before: on the thread that waits
    for the run ("caller"), or on the engine's own, beside an event loop ("engine")."""

    def __init__(self, folder, where, store=None):
        self.begun, self.go = threading.Event(), threading.Event()
        self.problem = self.call = None
        self.identities = []
        self.results = []
        self.where = where
        self.latest = time.monotonic() + PATIENCE_SECONDS
        externs = {"price": self.price, "price_soon": len, "pay": lambda cents: cents}
        self.program = tenon.load(folder / "blocking.tn", text=PROGRAM, externs=externs, store=store)
        self.thread = threading.Thread(target=self.call_on if where == "caller" else lambda: asyncio.run(self.acall_on()))
        self.thread.start()
        assert self.begun.wait(PATIENCE_SECONDS)

    def price(self, call: tenon.Call, item: str) -> int:
        thread = threading.current_thread()
        is_wanted = thread is self.thread if self.where == "caller" else thread not in (self.thread, threading.main_thread())
        if item == "slow" and is_wanted and thread.name != "tenon-extern" and not self.begun.is_set():
            self.call = call
            self.identities.append(identity.get())
            self.begun.set()
            has_gone_on = self.go.wait(PATIENCE_SECONDS)
            self.identities.append(identity.get())
            if self.problem is not None:
                raise self.problem
            return len(item) if has_gone_on else -1
        return len(item)

    def call_on(self):
        identity.set("caller's")
        while self.is_awaited():
            self.keep(lambda: self.program.one("slow"))

    async def acall_on(self):
        identity.set("caller's")
        while self.is_awaited():
            try:
                self.results.append(await self.program.one.aio("slow"))
            except Exception as problem:
                self.results.append(problem)

    def is_awaited(self):
        """Whether no function has blocked yet: the call before has to be quick, which depends on the machine."""
        return not self.begun.is_set() and time.monotonic() < self.latest

    def keep(self, call):
        try:
            self.results.append(call())
        except Exception as problem:
            self.results.append(problem)

    def end(self):
        """What the call that has blocked comes to."""
        self.go.set()
        self.thread.join()
        return self.results[-1]


@pytest.fixture(params=["caller", "engine"])
def blocked(request, tmp_path):
    made = Blocked(tmp_path, request.param)
    try:
        yield made
        assert made.end() == 4 or made.problem is not None
    finally:
        made.end()
        made.program.close()


def test_other_runs_start_and_end(blocked):
    program = blocked.program
    assert program.add.start(1, 2).result() == 3
    assert program.add(1, 2) == 3
    assert program.one("tea") == 3
    assert program.two() == 2
    assert program.soon("tea") == 3
    assert program.settle(7) == 7
    assert [run.result() for run in [program.one.start("tea") for _ in range(20)]] == [3] * 20


def test_runs_continue_that_no_one_waits_for(blocked):
    run = blocked.program.one.start("tea")
    end = time.monotonic() + PATIENCE_SECONDS
    while run.state == "running" and time.monotonic() < end:
        time.sleep(0.001)
    assert run.state == "returned"
    assert run.result() == 3


def test_people_are_asked(blocked):
    run = blocked.program.asks.start()
    assert run.wait(PATIENCE_SECONDS) == "asks"
    assert [wait.question for wait in run.waits()] == ["Is it?"]
    run.answer(None, True)
    assert run.result() is True


def test_conversations_go_on(blocked):
    chat = blocked.program.Counter.start()
    assert [chat.say("a"), chat.say("b")] == ["1: a", "2: b"]


def test_events_are_read(blocked):
    assert [event.type for event in blocked.program.one.start("tea").events()][-1] == "turn_end"


def test_runs_are_cancelled(blocked):
    run = blocked.program.asks.start()
    run.cancel("not needed")
    assert run.wait(PATIENCE_SECONDS) == "cancelled"


def test_many_threads_use_the_program(blocked):
    found = []
    threads = [threading.Thread(target=lambda: found.append(blocked.program.one("tea"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [3] * 8


def test_the_function_has_its_context_variables(blocked):
    assert blocked.program.add(1, 2) == 3
    assert blocked.end() == 4
    assert blocked.identities == ["caller's", "caller's"]


def test_an_exception_after_the_wait_is_the_cause_of_the_failure(blocked):
    blocked.problem = KeyError("gold")
    assert blocked.program.add(1, 2) == 3
    failed = blocked.end()
    assert isinstance(failed, tenon.RunFailed) and failed.kind == "ToolFailed"
    assert failed.__cause__ is blocked.problem


def test_an_event_loop_continues(tmp_path):
    blocked = Blocked(tmp_path, "caller")

    async def main():
        assert await asyncio.gather(*(blocked.program.one.aio("tea") for _ in range(20))) == [3] * 20
        run = blocked.program.asks.start()
        assert [event.type async for event in blocked.program.add.start(1, 2).events()][-1] == "turn_end"
        run.cancel("not needed")
        with pytest.raises(tenon.Cancelled):
            await run

    try:
        asyncio.run(asyncio.wait_for(main(), PATIENCE_SECONDS))
        assert blocked.end() == 4
    finally:
        blocked.end()
        blocked.program.close()


def test_a_run_is_cancelled_whose_function_blocks(tmp_path):
    begun, go, seen = threading.Event(), threading.Event(), []

    def price(call: tenon.Call, item: str) -> int:
        if item == "slow" and threading.current_thread().name != "tenon-extern":
            begun.set()
            go.wait(2 * PATIENCE_SECONDS)
            seen.append(call.is_cancelled)
        return len(item)

    externs = {"price": price, "price_soon": len, "pay": lambda cents: cents}
    with tenon.load(tmp_path / "blocking.tn", text=PROGRAM, externs=externs) as program:
        runs, end = 0, time.monotonic() + PATIENCE_SECONDS
        while not begun.is_set() and time.monotonic() < end:
            run = program.later.start("slow")  # the first calls are on the pool
            runs += 1
            waiting = threading.Thread(target=run.wait)
            waiting.start()
            while waiting.is_alive() and not begun.is_set():
                time.sleep(0.0005)
        assert begun.is_set(), f"no call of {runs} runs was made beside the pool"
        try:
            run.cancel("not needed")
            assert run.wait(PATIENCE_SECONDS) == "cancelled"
            assert seen == []
            assert program.one("slow") == 4  # on a thread of the pool, as it has kept a thread for long
        finally:
            go.set()
            waiting.join()
        end = time.monotonic() + PATIENCE_SECONDS
        while not seen and time.monotonic() < end:  # it may be the engine's own thread
            time.sleep(0.001)
        assert seen == [True]
        assert program.one("tea") == 3


def test_a_recorded_run_has_the_result(tmp_path):
    blocked = Blocked(tmp_path, "caller", store=tmp_path / "runs.db")
    try:
        assert blocked.program.one.start("tea").result() == 3
        assert blocked.end() == 4
    finally:
        blocked.end()
        blocked.program.close()
    assert {run.state for run in tenon.runs(tmp_path / "runs.db")} == {"returned"}


def test_a_function_that_blocks_cannot_use_its_program(tmp_path):
    refused = []

    def price(item):
        try:
            refused.append((threading.current_thread().name, program.add(1, 2)))
        except tenon.Error as error:
            refused.append((threading.current_thread().name, error.kind))
        return 1

    externs = {"price": price, "price_soon": len, "pay": lambda cents: cents}
    with tenon.load(tmp_path / "blocking.tn", text=PROGRAM, externs=externs) as program:
        end = time.monotonic() + PATIENCE_SECONDS
        while not any(name == threading.current_thread().name for name, _ in refused) and time.monotonic() < end:
            assert program.one("tea") == 1
    assert len({what for _, what in refused}) == 1 and refused[-1][1] != 3
