"""Event loops: the package's own, and others beside threads."""
import asyncio
import concurrent.futures
import sys
import threading
import time

import pytest
import tenon

TEXT = """
extern fn price(item: String) -> i32
fn one(item: String) -> i32 { price(item) }
fn five() -> i32 { 5 }
fn hello(ctx: Context) -> String { "Hello?"! }
"""
WAIT = 30.0


def elsewhere(function, *arguments):
    """The value of a function on a thread of its own, which may hang."""
    future = concurrent.futures.Future()

    def call():
        try:
            future.set_result(function(*arguments))
        except BaseException as exception:
            future.set_exception(exception)

    threading.Thread(target=call, daemon=True).start()
    return future.result(WAIT)


@pytest.fixture
def load(tmp_path):
    opened = []

    def load_program(price=len, text=TEXT, **options):
        opened.append(tenon.load(tmp_path / "loops.tn", text=text, externs={"price": price}, **options))
        return opened[-1]

    yield load_program
    for program in opened:
        program.close()


# --- What ends an event loop ---------------------------------------------------------------------------------------------


def leave(how):
    if how == "exit":
        sys.exit(3)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "stop":
        asyncio.get_running_loop().stop()


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize(("how", "message"), [("exit", "SystemExit: 3"), ("interrupt", "KeyboardInterrupt"), ("stop", None)])
def test_a_coroutine_that_would_end_its_event_loop_leaves_it_to_the_others(load, capfd, how, message, is_late):
    async def price(item: str) -> int:
        if is_late:
            await asyncio.sleep(0.001)
        leave(item)
        return len(item)

    program = load(price)
    if message is None:
        assert elsewhere(program.one, how) == 4
    else:
        with pytest.raises(tenon.RunFailed, match=message) as raised:
            elsewhere(program.one, how)
        assert isinstance(raised.value.__cause__, (SystemExit, KeyboardInterrupt))
    assert elsewhere(program.one, "tea") == 3
    assert capfd.readouterr().err == ""


def test_a_task_of_a_coroutine_that_would_end_its_event_loop_leaves_it_to_the_others(load):
    async def price(item: str) -> int:
        async def leave_later():
            leave(item)

        await asyncio.gather(asyncio.create_task(leave_later()))
        return len(item)

    program = load(price)
    with pytest.raises(tenon.RunFailed, match="SystemExit: 3"):
        elsewhere(program.one, "exit")
    assert elsewhere(program.one, "tea") == 3


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_model_that_would_end_its_event_loop_leaves_it_to_the_others(load, is_streamed):
    answers = ["exit", "tea"]

    async def answer(request):
        leave(answers[0])
        return answers[0]

    async def stream(request):
        yield answers[0]
        leave(answers[0])

    program = load(model=stream if is_streamed else answer)
    with pytest.raises(tenon.RunFailed, match="SystemExit: 3"):
        elsewhere(program.hello)
    del answers[0]
    assert elsewhere(program.hello) == "tea"


def test_a_coroutine_that_exits_ends_the_loop_of_its_program(load):
    async def price(item: str) -> int:
        sys.exit(3)

    with pytest.raises(SystemExit):
        asyncio.run(asyncio.wait_for(load(price).one.aio("tea"), WAIT))


# --- Events of runs, taken by threads beside an event loop ---------------------------------------------------------------


async def stream(request):
    for piece in ("one ", "two ", "three ", "four"):
        await asyncio.sleep(0)
        yield piece


async def call_until(program, done):
    """Calls a program on the running loop, until something else is done."""
    while not done():
        await program.five.aio()


def test_threads_get_all_events_of_their_runs_in_order_beside_an_event_loop(load):
    program = load()
    seen = []

    def follow():
        for _ in range(60):
            seen.append([event.type for event in program.one.start("tea").events()])

    async def main():
        threads = [threading.Thread(target=follow, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        await call_until(program, lambda: not any(thread.is_alive() for thread in threads))

    asyncio.run(asyncio.wait_for(main(), 2 * WAIT))
    assert seen == [["prompt_started", "tool_call", "tool_result", "turn_end"]] * 120


def test_threads_get_the_whole_text_of_their_runs_beside_an_event_loop(load):
    program = load(model=stream)
    texts = []

    async def follow():
        texts.append("".join(await asyncio.to_thread(list, program.hello.start().texts())))

    async def main():
        for at in range(20):
            await asyncio.gather(call_until(program, lambda until=5 * (at + 1): len(texts) >= until), *(follow() for _ in range(5)))

    asyncio.run(asyncio.wait_for(main(), 2 * WAIT))
    assert texts == ["one two three four"] * 100


def test_a_thread_that_waits_for_events_gets_them_when_an_event_loop_takes_over(load):
    begun, go = threading.Event(), threading.Event()

    @tenon.extern(blocking=True)
    def price(item: str) -> int:
        begun.set()
        go.wait(WAIT)
        return len(item)

    program = load(price)
    seen = []
    thread = threading.Thread(target=lambda: seen.extend(event.type for event in program.one.start("tea").events()), daemon=True)

    async def main():
        await program.five.aio()
        other = program.one.start("milk")
        go.set()
        await call_until(program, lambda: not thread.is_alive())
        assert [event.type async for event in other.events()][-1] == "turn_end"

    thread.start()
    assert begun.wait(WAIT)
    asyncio.run(asyncio.wait_for(main(), WAIT))
    assert seen == ["prompt_started", "tool_call", "tool_result", "turn_end"]


def test_a_thread_gets_events_also_while_the_event_loop_is_blocked(load):
    program = load()

    async def main():
        await program.five.aio()
        return elsewhere(lambda: [event.type for event in program.one.start("tea").events()])  # blocks the loop

    assert asyncio.run(main())[-1] == "turn_end"


def test_a_call_is_cancelled_without_waiting_for_a_function_that_keeps_the_engine(load):
    begun, go = threading.Event(), threading.Event()

    def price(item: str) -> int:
        if item == "slow":
            begun.set()
            go.wait()
        return len(item)

    program = load(price)

    async def main():
        for _ in range(100):
            await program.one.aio("tea")  # it is quick, so that it is called on the engine's thread
        slow = asyncio.create_task(program.one.aio("slow"))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        return go.is_set()

    timer = threading.Timer(WAIT, go.set)
    timer.start()
    try:
        assert not asyncio.run(main())
    finally:
        timer.cancel()
        go.set()


# --- One event loop at a time --------------------------------------------------------------------------------------------


def test_a_thread_that_waits_for_events_beside_an_event_loop_does_not_look_again_and_again(load):
    go = threading.Event()

    @tenon.extern(blocking=True)
    def price(item: str) -> int:
        go.wait(WAIT)
        return len(item)

    program = load(price=price)
    looks = []
    await_events = program.engine.await_events

    def counted(*arguments):
        looks.append(1)
        return await_events(*arguments)

    program.engine.await_events = counted

    async def main():
        await program.five.aio()
        following = asyncio.create_task(asyncio.to_thread(list, program.one.start("tea").events()))
        while not looks:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)  # its first events
        before = len(looks)
        await asyncio.sleep(1)
        during = len(looks) - before
        go.set()
        assert [event.type for event in await following] == ["prompt_started", "tool_call", "tool_result", "turn_end"]
        return during

    assert asyncio.run(asyncio.wait_for(main(), 2 * WAIT)) <= 4


def test_event_loops_take_turns_with_that_of_the_package(load):
    async def price(item: str) -> int:
        run = program.five.start()
        return await program.five.aio() + await run + len([event async for event in program.five.start().events()])

    program = load(price)

    async def cells():  # of a notebook
        for _ in range(3):
            assert program.one("tea") == 12
            assert await program.five.aio() == 5
            assert await program.five.start() == 5

    asyncio.run(asyncio.wait_for(cells(), WAIT))
    assert elsewhere(program.one, "tea") == 12
    asyncio.run(asyncio.wait_for(cells(), WAIT))


def make_held_price():
    """A coroutine function that waits, an event when it has begun, and one that lets it return."""
    begun, go = threading.Event(), threading.Event()

    async def price(item: str) -> int:
        begun.set()
        while not go.is_set():
            await asyncio.sleep(0.001)
        return len(item)

    return price, begun, go


def test_an_event_loop_that_waits_is_not_replaced(load):
    price, begun, go = make_held_price()

    async def nested(item: str) -> int:
        return await inner.one.aio(item)

    inner, outer = load(price), load(nested)

    async def main():
        for use in (inner.five.aio, inner.five.start().aresult):
            with pytest.raises(tenon.Error, match="another event loop uses it"):
                await use()

    with concurrent.futures.ThreadPoolExecutor() as pool:
        called = pool.submit(outer.one, "tea")  # waits for the other program on the package's loop
        assert begun.wait(WAIT)
        try:
            asyncio.run(main())
        finally:
            go.set()
        assert called.result(WAIT) == 3
    assert asyncio.run(inner.five.aio()) == 5


def test_an_event_loop_that_is_refused_leaves_the_waits_of_the_other_alone(load):
    price, begun, go = make_held_price()

    program = load(price)

    async def started():
        return await program.one.start("tea")

    async def refused():
        with pytest.raises(tenon.Error, match="another event loop uses it"):
            await program.five.aio()

    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(lambda: asyncio.run(started()))
        try:
            assert begun.wait(WAIT)
            asyncio.run(refused())
        finally:
            go.set()
        assert waiting.result(WAIT) == 3


# --- Runs that no one waits for ------------------------------------------------------------------------------------------


def wait_until(condition):
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)


KINDS = ["plain", "blocking", "async"]


def counting(kind, called):
    def price(item: str) -> int:
        called.append(threading.current_thread())
        return len(item)

    async def coroutine(item: str) -> int:
        await asyncio.sleep(0.001)
        return price(item)

    return {"plain": price, "blocking": tenon.extern(blocking=True)(price), "async": coroutine}[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_no_one_waits_for_continues(load, kind):
    called = []
    program = load(counting(kind, called))
    run = program.one.start("tea")
    wait_until(lambda: run.state == "returned")
    program.one.start("milk")  # its run is forgotten at once
    wait_until(lambda: len(called) == 2)
    assert threading.main_thread() not in called


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_no_one_awaits_continues_beside_an_event_loop(load, kind):
    called = []
    program = load(counting(kind, called))

    async def main():
        run = program.one.start("tea")
        while run.state != "returned":
            await asyncio.sleep(0.002)
        program.one.start("milk")
        while len(called) < 2:
            await asyncio.sleep(0.002)

    asyncio.run(asyncio.wait_for(main(), WAIT))
    assert (threading.main_thread() in called) == (kind == "async")  # on the running loop


def test_a_run_that_is_answered_continues_by_itself(load):
    program = load(text=TEXT + 'fn colour() -> String { ask<String>("Which colour?") }')
    with pytest.raises(tenon.NeedsAnswer) as raised:
        program.colour()
    raised.value.run.answer(None, "red")
    wait_until(lambda: raised.value.run.state == "returned")


def test_a_conversation_continues_by_itself(load):
    agent = "agent Echo { fn turn(ctx: Context, input: String) -> String { emit(input)\n input } }"
    program = load(text=TEXT + agent)
    chat = program.Echo.start()
    chat.prompt("one")
    wait_until(lambda: chat.state == "ready")
    assert chat.result() == "one"


def test_a_recorded_run_that_is_resumed_continues_by_itself(load, tmp_path):
    called, store = [], tmp_path / "runs.db"

    def closed(item: str) -> int:
        called.append(item)
        raise tenon.Unavailable("closed")

    program = load(closed, store=store)
    name = program.one.start("tea").name
    wait_until(lambda: called)
    program.close()
    program = load(lambda item: called.append("again") or 1, store=store)
    program.resume(name)
    wait_until(lambda: "again" in called)


def test_a_function_for_one_thread_is_called_where_the_run_is_waited_for(load):
    called = []

    @tenon.extern(blocking=False)
    def price(item: str) -> int:
        called.append(threading.current_thread())
        return len(item)

    run = load(price).one.start("tea")
    assert run.wait(0) == "running"
    assert run.result() == 3
    assert called == [threading.current_thread()]


@pytest.mark.parametrize("how", ["result", "events"])
def test_a_wait_that_keeps_its_own_event_loop_from_continuing_is_refused(load, how):
    async def price(item: str) -> int:
        await asyncio.sleep(0.01)
        return len(item)

    program = load(price)
    waits = {"result": lambda run: run.result(), "events": lambda run: [event.type for event in run.events()]}

    async def main():
        run = program.one.start("tea")
        await asyncio.sleep(0)
        while len(asyncio.all_tasks()) == 1:  # the coroutine has not begun
            await asyncio.sleep(0)
        with pytest.raises(tenon.Error, match="use `await run`"):
            waits[how](run)
        assert program.five.start().result() == 5
        assert await run == 3
        assert waits[how](program.one.start("milk")) in (4, ["prompt_started", "tool_call", "tool_result", "turn_end"])  # not begun here

    asyncio.run(main())


@pytest.mark.parametrize("use", ["start", "events"])
def test_a_function_that_uses_its_engine_is_refused_while_another_thread_waits_for_that(load, use):
    begun, go = threading.Event(), threading.Event()

    @tenon.extern(blocking=False)
    def price(item: str) -> int:
        begun.set()
        go.wait(WAIT)
        time.sleep(0.1)  # until the other thread waits
        return program.five.start().number if use == "start" else len(list(other.events()))

    program = load(price)
    other = program.five.start()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        called = pool.submit(program.one, "tea")
        assert begun.wait(WAIT)
        started = pool.submit(program.five.start)
        go.set()
        with pytest.raises(tenon.RunFailed, match="cannot use the engine"):
            called.result(WAIT)
        assert started.result(WAIT).result() == 5
