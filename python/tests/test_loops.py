"""Event loops: the package's own, and others beside threads."""
import asyncio
import concurrent.futures
import sys
import threading

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

    def load_program(price=len, **options):
        opened.append(tenon.load(tmp_path / "loops.tn", text=TEXT, externs={"price": price}, **options))
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


# --- One event loop at a time --------------------------------------------------------------------------------------------


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


def test_an_event_loop_that_waits_is_not_replaced(load):
    begun, go = threading.Event(), threading.Event()

    async def price(item: str) -> int:
        begun.set()
        while not go.is_set():
            await asyncio.sleep(0.001)
        return len(item)

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
    begun, go = threading.Event(), threading.Event()

    async def price(item: str) -> int:
        begun.set()
        while not go.is_set():
            await asyncio.sleep(0.001)
        return len(item)

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
