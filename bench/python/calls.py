"""calls.py: what calls between Python and Tenon cost. Prints JSON: microseconds for each, the best of several rounds."""
import asyncio
import json
import statistics
import subprocess
import sys
import threading
import time

import tenon

ROUNDS = 7
CALLS = 10_000
AT_ONCE = 1_000
BATCH = 100
BATCHES = 11
BUSY_ROUNDS = 7


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


class BusyProcess:
    """Keeps a processor busy, which then does less for its neighbours; ends with this process, too."""

    def __enter__(self):
        code = "import os\np = os.getppid()\nwhile os.getppid() == p:\n    sum(range(100_000))\n"
        self.process = subprocess.Popen([sys.executable, "-c", code])

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()


class BusyThread:
    """Computes in Python, and so has the interpreter's lock whenever no one else does."""

    def __enter__(self):
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.compute, daemon=True)
        self.thread.start()

    def __exit__(self, *unused):
        self.stop.set()
        self.thread.join()

    def compute(self):
        at = 0
        while not self.stop.is_set():
            at += 1


def measure_beside_busy_thread(program):
    """A call of a function whose externs are ready at once, while another thread computes: for how many switch intervals of the
    interpreter it waits beyond the time that it takes beside a process that computes, `beside_process_…_us`. `busy_lock_intervals`: the
    same of a thread that gives the lock back and takes it again, and does nothing else."""

    def seconds(function, argument):
        begun = time.perf_counter()
        function(argument)
        return time.perf_counter() - begun

    def medians():
        return {name: statistics.median(seconds(*job) for _ in range(BATCHES)) for name, job in jobs.items()}

    batch = list(range(BATCH))
    jobs = {"sync": (program.numbers_at_once, batch), "async": (program.later_at_once, batch), "lock": (time.sleep, 0)}
    medians()  # the warm-up
    beside_process, busy = [], []
    for _ in range(BUSY_ROUNDS):
        with BusyProcess():
            beside_process.append(medians())
        with BusyThread():
            busy.append(medians())

    def median_of(rounds, name):
        return statistics.median(found[name] for found in rounds)

    found = {f"beside_process_{name}_us": median_of(beside_process, name) * 1e6 for name in jobs}
    return found | {f"busy_{name}_intervals": (median_of(busy, name) - median_of(beside_process, name)) / sys.getswitchinterval()
                    for name in jobs}


def main():
    with load() as program:
        found = {**measure_calls(program), **measure_externs(program), **measure_beside_busy_thread(program)}
    with load() as program:
        found |= {**measure_engine_thread(program), **measure_aio(program)}
    found |= measure_coroutines()
    print(json.dumps(found))


main()
