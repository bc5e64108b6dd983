"""endings.py HOW: what ends before its time, and what is left of it.

  exit N   ends Python with runs in progress, in one of four ways; prints `end`
  fork     forks FORKS times with runs in progress; prints how many were not clean
  cancel   cancels CANCELLATIONS calls that wait for a coroutine; prints how many were not clean
  memory   prints by how many bytes the process has grown for each of CALLS calls of each kind
"""
import asyncio
import json
import os
import sys
import threading
import time

import tenon

FORKS = 25
FORK_SECONDS_MAX = 20
CANCELLATIONS = 1_000
AT_ONCE = 100
CALLS = 100_000
WARM_UP = 10_000


async def later(n: int) -> int:
    await asyncio.sleep(60)
    return n


def load(function=later):
    return tenon.load("bench/python/calls.tn", externs={"number": lambda n: n, "later": function})


def exit_with_runs(how):
    desk = load()
    if how == 0:
        threading.Thread(target=lambda: desk.later_at_once([1, 2]), daemon=True).start()
        time.sleep(0.02)
    elif how == 1:
        desk.later_at_once.start([1, 2]).wait(0.02)
    elif how == 2:
        try:
            asyncio.run(asyncio.wait_for(desk.later_at_once.aio([1, 2]), 0.02))
        except (TimeoutError, asyncio.TimeoutError):
            pass
    else:
        threading.Thread(target=lambda: desk.numbers(100_000_000), daemon=True).start()
        time.sleep(0.02)
    print("end")


def child_is_clean(desk, run):
    """What the parent has loaded is refused at once, and the child loads its own."""
    for call in (lambda: desk.add(1, 2), lambda: desk.add.start(1, 2), run.wait, lambda: asyncio.run(desk.add.aio(1, 2))):
        try:
            call()
            return False
        except tenon.Error as error:
            if error.kind != "Forked":
                return False
    return load().add(1, 2) == 3


def has_ended_well(child):
    end = time.monotonic() + FORK_SECONDS_MAX
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status == 0
        time.sleep(0.005)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


def count_unclean_forks():
    desk = load()
    run = desk.later_at_once.start([1, 2])
    run.wait(0.02)  # the thread of the coroutines' loop has begun
    unclean = 0
    for _ in range(FORKS):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if child_is_clean(desk, run) else 1
            finally:
                os._exit(code)
        unclean += not has_ended_well(child) or desk.add(1, 2) != 3
    run.cancel()
    return unclean


async def count_unclean_cancellations():
    begun = ended = unclean = 0

    async def counted(n: int) -> int:
        nonlocal begun, ended
        begun += 1
        try:
            return await later(n)
        finally:
            ended += 1

    desk = load(counted)
    for _ in range(CANCELLATIONS // AT_ONCE):
        tasks = [asyncio.ensure_future(desk.later_at_once.aio([1, 2])) for _ in range(AT_ONCE)]
        wanted = begun + 2 * AT_ONCE
        end = time.monotonic() + FORK_SECONDS_MAX
        while begun < wanted and time.monotonic() < end:
            await asyncio.sleep(0.001)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        unclean += sum(not isinstance(result, asyncio.CancelledError) for result in results)
        while ended < begun and time.monotonic() < end:
            await asyncio.sleep(0.001)
    return unclean + (2 * CANCELLATIONS - ended) + (await desk.add.aio(1, 2) != 3)


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure_memory():
    async def quick(n: int) -> int:
        return n

    desk = load(quick)
    order = desk.Order("tea", 3, 1.5, True)

    async def awaited(count):
        for _ in range(count):
            await desk.same.aio(order)

    kinds = {
        "call": lambda count: [desk.same(order) for _ in range(count)] and None,
        "start": lambda count: [desk.same.start(order).result() for _ in range(count)] and None,
        "aio": lambda count: asyncio.run(awaited(count)),
        "coroutine": lambda count: [desk.later_at_once([1]) for _ in range(count)] and None,
    }
    grown = {}
    for name, make in kinds.items():
        make(WARM_UP)
        before = resident_bytes()
        for _ in range(CALLS // WARM_UP):
            make(WARM_UP)
        grown[name] = (resident_bytes() - before) / CALLS
    return grown


def main():
    how = sys.argv[1]
    if how == "exit":
        exit_with_runs(int(sys.argv[2]) % 4)
    elif how == "fork":
        print(json.dumps(count_unclean_forks()))
    elif how == "cancel":
        print(json.dumps(asyncio.run(count_unclean_cancellations())))
    elif how == "memory":
        print(json.dumps(measure_memory()))


main()
