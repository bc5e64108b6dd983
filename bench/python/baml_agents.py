"""baml_agents.py URL AGENTS CALLS: as agents.py, with BAML. The client that baml-cli has generated is in the path."""
import asyncio
import json
import os
import resource
import sys
import time

os.environ.setdefault("BAML_LOG", "error")
STATEMENT = "Is the following statement true? Water is wet."


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def agent(client, calls):
    for _ in range(calls):
        assert (await client.Judge(STATEMENT)).ok is True


async def main(url, agents, calls):
    os.environ["BENCH_BASE_URL"] = url
    from baml_client.async_client import b as client
    await agent(client, 1)  # the warm-up
    cpu, begun = cpu_seconds(), time.perf_counter()
    await asyncio.gather(*(agent(client, calls) for _ in range(agents)))
    print(json.dumps({"wall_s": time.perf_counter() - begun, "cpu_s": cpu_seconds() - cpu}))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
