"""agents.py WHERE URL AGENTS CALLS: so many agents at once, each of which makes so many typed calls of a model, one after the other.
WHERE is where the agent's loop is: `tenon`, in a function that a coroutine awaits; or `python`, in the coroutine, which awaits a function
for each call. Prints JSON: seconds of wall and CPU time."""
import asyncio
import json
import os
import resource
import sys
import time

import tenon


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def agent_in_python(program, calls):
    for _ in range(calls):
        assert await program.once.aio() is True


async def agent_in_tenon(program, calls):
    assert await program.sequence.aio(calls) is True


async def main(where, url, agents, calls):
    agent = agent_in_tenon if where == "tenon" else agent_in_python
    os.environ["OPENAI_BASE_URL"] = url
    os.environ["OPENAI_API_KEY"] = "bench"
    program = tenon.load("bench/http/calls.tn", model="openai:mock")
    await agent(program, 1)  # the warm-up
    cpu, begun = cpu_seconds(), time.perf_counter()
    await asyncio.gather(*(agent(program, calls) for _ in range(agents)))
    print(json.dumps({"wall_s": time.perf_counter() - begun, "cpu_s": cpu_seconds() - cpu}))


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
