"""Calls beside a thread that computes, which keeps the lock of the interpreter for a switch interval each time."""
import asyncio
import socket
import sys
import threading

import pytest
import tenon

INTERVAL = 0.02
ROUNDS = 15
TEXT = """
extern fn number(n: i32) -> i32
extern fn later(n: i32) -> i32
fn numbers(all: List<i32>) -> i32 { (for n in all parallel(100) { number(n) }).sum() }
fn laters(all: List<i32>) -> i32 { (for n in all parallel(100) { later(n) }).sum() }
"""


async def later(n: int) -> int:
    return n


@pytest.fixture
def compute():
    """Starts a thread that computes, with a long switch interval."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            pass

    thread = threading.Thread(target=work, daemon=True)
    before = sys.getswitchinterval()
    sys.setswitchinterval(INTERVAL)
    yield thread.start
    stop.set()
    if thread.is_alive():
        thread.join()
    sys.setswitchinterval(before)


@pytest.mark.parametrize("name", ["numbers", "laters"])
def test_batches_of_calls_are_made_beside_a_thread_that_computes(tmp_path, compute, name):
    with tenon.load(tmp_path / "batch.tn", text=TEXT, externs={"number": lambda n: n, "later": later}) as program:
        call = getattr(program, name)
        assert call([1]) == 1  # starts the threads
        compute()
        for count in range(ROUNDS):  # also with more threads that wait
            others = [call.start(list(range(20 + at)), events=False) for at in range(count % 3)]
            assert call(list(range(20))) == 190
            assert [run.result() for run in others] == [190 + sum(range(20, 20 + at)) for at in range(count % 3)]


def test_functions_that_block_are_called_at_once_beside_a_thread_that_computes(tmp_path, compute):
    met = threading.Barrier(8)

    def number(n: int) -> int:
        met.wait(30)  # returns when all of them are called
        return n

    with tenon.load(tmp_path / "batch.tn", text=TEXT, externs={"number": number, "later": later}) as program:
        compute()
        assert [program.numbers(list(range(8))) for _ in range(3)] == [28, 28, 28]


@pytest.mark.parametrize("computes", [False, True])
def test_coroutines_read_write_and_sleep_without_a_loop_of_their_program(tmp_path, compute, computes):
    async def later(n: int) -> int:
        here, there = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=here)
        others_reader, others_writer = await asyncio.open_connection(sock=there)
        data = bytes(range(256)) * 4_000  # more than a socket's buffer: the writer waits, too
        writer.write(data)
        received = asyncio.create_task(others_reader.readexactly(len(data)))
        await writer.drain()
        await asyncio.sleep(0.01)
        assert await received == data
        for one in (writer, others_writer):
            one.close()
        return n

    with tenon.load(tmp_path / "batch.tn", text=TEXT, externs={"number": lambda n: n, "later": later}) as program:
        if computes:
            compute()
        assert program.laters([1, 2, 3]) == 6
        assert program.laters([4]) == 4
