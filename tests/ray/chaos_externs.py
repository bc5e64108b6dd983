"""The functions of chaos.tn. Each call is noted before it takes effect, in a file that is only appended to, if TENON_TEST_LOG names one."""
import asyncio
import os
import time

import tenon

SECONDS = float(os.environ.get("TENON_TEST_SECONDS", "0.05"))


def note(name, run, call):
    if "TENON_TEST_LOG" not in os.environ:
        return
    line = f"{time.time():.4f} {os.getpid()} {name} {run} {call.effect_key}\n"
    log = os.open(os.environ["TENON_TEST_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(log, line.encode())
    finally:
        os.close(log)


@tenon.extern
async def work(call: tenon.Call, run: str, step: int) -> int:
    note("work", run, call)
    await asyncio.sleep(SECONDS)
    return result_of_work(run, step)


@tenon.extern
async def pay(call: tenon.Call, run: str) -> str:
    note("pay", run, call)
    await asyncio.sleep(SECONDS)
    return result_of_pay(run)


def result_of_work(run, step):
    return (len(run) * 31 + step * 17) % 101


def result_of_pay(run):
    return f"paid {run}"
