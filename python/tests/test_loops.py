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
