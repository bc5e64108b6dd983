"""calls.py: what calls between Python and Tenon cost. Prints JSON: microseconds for each, the best of several rounds."""
import asyncio
import json
import statistics
import sys
import threading
import time

import tenon

ROUNDS = 7
CALLS = 10_000
AT_ONCE = 1_000
BATCH = 100
BATCHES = 41


def best(call, count):
    """The least time of a call in microseconds; `call(count)` makes so many."""
    found = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        call(count)
        found = min(found, (time.perf_counter() - begun) / count * 1e6)
    return found


async def later(n: int) -> int:
    return n


async def later_sleeping(n: int) -> int:
    await asyncio.sleep(0)
    return n


def number(n: int) -> int:
    return n


def load(**externs):
    return tenon.load("bench/python/calls.tn", externs={"number": number, "later": later, **externs})


def measure_calls(program):
    order = program.Order("tea", 3, 1.5, True)

    def add(count):
        call = program.add
        for at in range(count):
            call(at, 2)

    def same(count):
        call = program.same
        for _ in range(count):
            call(order)

    return {"add": best(add, CALLS), "same": best(same, CALLS)}


def measure_aio(program):
    """One after the other in an event loop that does nothing else."""
    async def add(count):
        call = program.add.aio
        for at in range(count):
            await call(at, 2)

    return {"aio": best(lambda count: asyncio.run(add(count)), CALLS)}


def measure_externs(program):
    """Called on the thread that waits for the run."""
    loop = best(program.counted, CALLS)
    return {"caller_thread": best(program.numbers, CALLS) - loop}


def measure_engine_thread(program):
    """Called on the engine's thread, while the event loop's thread waits without the interpreter's lock."""
    async def call(function, count):
        await function.aio(count)

    loop = best(lambda count: asyncio.run(call(program.counted, count)), CALLS)
    return {"engine_thread": best(lambda count: asyncio.run(call(program.numbers, count)), CALLS) - loop}


def measure_coroutines():
    def at_once(program):
        return best(lambda count: program.later_at_once(list(range(count))), AT_ONCE)

    with load() as program, load(later=later_sleeping) as sleeping:
        return {"coroutine": at_once(program), "coroutine_that_waits": at_once(sleeping)}


def measure_beside_busy_thread(program):
    """A call of a function whose externs are ready at once, while another thread computes: for how many switch intervals of the
    interpreter it waits beyond the time that it takes alone, `alone_…_us`."""
    stop = threading.Event()

    def compute():
        at = 0
        while not stop.is_set():
            at += 1

    def seconds(function, argument):
        begun = time.perf_counter()
        function(argument)
        return time.perf_counter() - begun

    def medians():
        return {name: statistics.median(seconds(*job) for _ in range(BATCHES)) for name, job in jobs.items()}

    batch = list(range(BATCH))
    jobs = {"sync": (program.numbers_at_once, batch), "async": (program.later_at_once, batch)}
    medians()  # the warm-up
    alone = medians()
    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    try:
        busy = medians()
    finally:
        stop.set()
        thread.join()
    found = {f"alone_{name}_us": seconds * 1e6 for name, seconds in alone.items()}
    return found | {f"busy_{name}_intervals": (busy[name] - alone[name]) / sys.getswitchinterval() for name in jobs}


def main():
    with load() as program:
        found = {**measure_calls(program), **measure_externs(program), **measure_beside_busy_thread(program)}
    with load() as program:
        found |= {**measure_engine_thread(program), **measure_aio(program)}
    found |= measure_coroutines()
    print(json.dumps(found))


main()
