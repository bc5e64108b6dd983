"""The memory of a server with few and with many runs that wait for a person."""
import json
import pathlib
import random
import re
import subprocess
import tempfile
import time

from server_process import Server

# Its conversations are put into the store by bench_server.
PROGRAM = """\
agent Desk {
    state { note: String = "" }
    fn turn(ctx: Context, input: String) -> String {
        state.note = input
        if input == "ask" {
            let said = ask<String>("What about it?")
            return "Done: {{ said }}"
        }
        "Noted: {{ input }}"
    }
}
"""
FEW = 2_000  # more than the runs that only wait and stay in memory all the same (HostOptions::idle_runs_max)
ANSWERS = 2_000
SECONDS_TO_SETTLE = 5


def memory_mb(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) / 1024


def clients(build, *arguments, lines=None):
    done = subprocess.run([build / "bench_server", *map(str, arguments)], text=True, check=True,
                          input=None if lines is None else "\n".join(lines) + "\n", stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def measure_one(postgres, build, count):
    """The memory of a server on a store with so many waiting conversations: when it has started, and after answers to some."""
    name = f"waiting{count}"
    url = postgres.create_database(name)
    with tempfile.TemporaryDirectory() as work, Server(pathlib.Path(work), program=PROGRAM, store=url) as server:
        seeded = {"seconds": 0.0}
        run = server.begin({"agent": "Desk"})
        server.wait_for(run, "idle")
        server.stop()
        if count > 0:
            seeded = clients(build, "seed", url, run, count)
        began = time.monotonic()
        server.start()
        server.run(run)
        ready = time.monotonic() - began
        time.sleep(SECONDS_TO_SETTLE)
        result = {"waiting": count, "seconds_to_seed": seeded["seconds"], "seconds_until_ready": ready,
                  "memory_mb_after_start": memory_mb(server)}
        if count > 0:
            rows = postgres.query("SET search_path = tenon; SELECT name FROM runs WHERE state = 1", name)[1:]
            assert len(rows) == count, f"{len(rows)} runs wait"
            runs = [row[0] for row in rows]
            random.Random(1).shuffle(runs)
            lines = [f'/v1/runs/{run}/resume {{"input":"fine"}}' for run in runs[:ANSWERS]]
            result["answers"] = clients(build, "post", server.port, 4, lines=lines)
            time.sleep(SECONDS_TO_SETTLE)
            result["memory_mb_after_answers"] = memory_mb(server)
    return result


def measure_waiting(postgres, build, many):
    none, few, all_ = (measure_one(postgres, build, count) for count in (0, FEW, many))
    for name in ("start", "answers"):
        more = all_[f"memory_mb_after_{name}"] - few[f"memory_mb_after_{name}"]
        all_[f"mb_more_than_with_few_after_{name}"] = more
    print(f"memory of a server: {none['memory_mb_after_start']:.1f} MB without runs; with {many:,} waiting runs "
          f"{all_['memory_mb_after_start']:.1f} MB (with {FEW:,}: {few['memory_mb_after_start']:.1f}), after {ANSWERS:,} answers "
          f"{all_['memory_mb_after_answers']:.1f} MB ({few['memory_mb_after_answers']:.1f})", flush=True)
    return {"none": none, "few": few, "many": all_}

