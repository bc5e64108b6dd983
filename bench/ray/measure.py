"""What bench/ray/run measures, with the package's Python. Prints one JSON object."""
import asyncio
import collections
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import tenon
import tenon.ray
from tenon.ray._balance import excess
from tenon.ray._local_postgres import LocalPostgres

FOLDER = pathlib.Path(__file__).resolve().parent
PROGRAM = str(FOLDER / "runs.tn")
PLACED = str(FOLDER / "placed" / "calls.tn")
BUSY, WAITING = 200, 1_000
LEASE_MS = 3_000
HEALTHY_SECONDS = float(os.environ.get("TENON_BENCH_HEALTHY_SECONDS", "60"))
CONVERSATIONS, TURNS = 10_000, 2
MANY_WAITING = int(os.environ.get("TENON_BENCH_WAITING", "100000"))
STEP_ROUNDS, STEP_RUNS, STEPS = 7, 100, 40
LONE_STEPS = 400
CALL_ROUNDS, CALLS = 7, 100
PARALLEL = 400  # requests at once
SECONDS_MAX = 300.0


def note(text):
    print(text, file=sys.stderr, flush=True)


def wait_until(condition, seconds=SECONDS_MAX):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit("it did not happen in time")
        time.sleep(0.01)


async def at_once(makers, parallel=PARALLEL):
    """Awaits many coroutines, some at a time."""
    gate = asyncio.Semaphore(parallel)

    async def one(make):
        async with gate:
            return await make()

    return await asyncio.gather(*(one(make) for make in makers))


class Database(LocalPostgres):
    """Durable, with a schema for each store."""

    def __init__(self):
        super().__init__(["shared_buffers=256MB"])
        self._count = 0

    def new_store(self):
        self._count += 1
        self.schema = f"bench_{self._count}"
        return f"{self.url}&tenon.schema={self.schema}&tenon.lease={LEASE_MS}"

    def query(self, statement):
        done = subprocess.run([str(self.programs / "psql"), "-h", str(self.folder), "-U", "tenon", "-d", "postgres", "-At", "-c",
                               f"SET search_path = {self.schema}", "-c", statement], capture_output=True, text=True, check=True)
        return [line.split("|") for line in done.stdout.splitlines()[1:]]

    def owners(self):
        """Owner and epoch of each run."""
        return {run: (owner, epoch) for run, owner, epoch in self.query("SELECT name, owner, epoch FROM runs")}


class Scene:
    """A deployment on two nodes with its busy and its waiting runs."""

    def __init__(self, database, cluster, name, busy=BUSY, waiting=WAITING, steps=100_000):
        self.database = database
        self.log = cluster.folder / f"{name}.log"
        self.store = database.new_store()
        path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.deployment = tenon.ray.deploy(PROGRAM, store=self.store, externs="bench_externs", name=name, hosts_per_node=1,
                                           runtime_env={"env_vars": {"PYTHONPATH": path, "TENON_BENCH_LOG": str(self.log)}})
        self.deployment.wait_until_ready(2)
        self.waiting = self.start([("waits", f"w{number}", None) for number in range(waiting)])
        wait_until(lambda: self.deployment.counts()["runs"].get("waiting", 0) == waiting)
        self.busy = self.start([("busy", f"b{number}", steps) for number in range(busy)], 2)  # so that both hosts take some
        wait_until(lambda: len({line[2] for line in self.calls()}) >= busy)

    def start(self, wanted, parallel=PARALLEL):
        """Starts runs. Their names by what they call themselves."""
        async def main():
            return await at_once([lambda function=function, key=key, steps=steps: self.deployment.astart(
                function, {"run": key, **({} if steps is None else {"steps": steps})}) for function, key, steps in wanted], parallel)

        return {key: run.name for (_, key, _), run in zip(wanted, asyncio.run(main()))}

    def calls(self):
        """Time, process, run and step of each call so far."""
        if not self.log.exists():
            return []
        found = []
        for line in self.log.read_text().splitlines():
            moment, pid, run, step = line.split(" ")
            found.append((float(moment), int(pid), run, int(step)))
        return found

    def hosts(self):
        return [host for host in self.deployment.hosts() if "pid" in host]

    def close(self):
        for name in self.busy.values():
            self.deployment.cancel(name)
        self.deployment.shut_down(0.0)


def spread(values):
    return {"median": round(statistics.median(values), 3), "max": round(max(values), 3)} if values else None


def busy_scene(database, cluster, how):
    """A scene, the host that is to end, and its busy runs; hosts take what they get first, which may be nothing."""
    for attempt in range(5):
        scene = Scene(database, cluster, f"end-{how}-{attempt}")
        owners = database.owners()
        busy_of = {host["pid"]: {key for key, name in scene.busy.items() if owners[name][0] == str(host["owner"])} for host in scene.hosts()}
        last_node = {pid for pid, _ in cluster.nodes[-1].processes()}
        hosts = [host for host in scene.hosts() if how != "node" or host["pid"] in last_node]  # the first one has Ray's own services
        victim = max(hosts, key=lambda host: len(busy_of[host["pid"]]))
        if busy_of[victim["pid"]]:
            return scene, victim, busy_of
        scene.close()
    sys.exit("the host that is to end never gets a busy run")


def measure_end(database, cluster, how):
    """Seconds from the end of one of two hosts, or of its lease, until each of its runs continues elsewhere; and from when the
    others know of it."""
    scene, victim, busy_of = busy_scene(database, cluster, how)
    busy = busy_of[victim["pid"]]
    answered = random.sample(sorted(scene.waiting), 100)
    ended = time.time()
    if how == "process":
        os.kill(victim["pid"], signal.SIGKILL)
    elif how == "node":
        cluster.nodes[-1].kill()
    elif how == "stop":
        os.kill(victim["pid"], signal.SIGSTOP)
    lease_ends = ended + (LEASE_MS / 1000 if how == "stop" else 0.0)
    detected = []

    def detect():
        """Notes when the store has marked the host as dead."""
        wait_until(lambda: str(victim["owner"]) not in {str(owner["owner"]) for owner in scene.deployment.owners()})
        detected.append(time.time())

    detecting = threading.Thread(target=detect)
    detecting.start()

    async def answer():
        await at_once([lambda key=key: scene.deployment.aanswer(scene.waiting[key], None, "yes", key=f"yes {key}") for key in answered])

    answering = threading.Thread(target=lambda: asyncio.run(answer()))
    answering.start()

    def continued():
        first = {}
        for moment, pid, run, _ in scene.calls():
            if moment > ended and pid != victim["pid"]:
                first.setdefault(run, moment)
        return first

    wait_until(lambda: busy | set(answered) <= set(continued()), 60.0)
    answering.join()
    detecting.join()
    first = continued()
    found = {"busy_runs_of_hosts": sorted(map(len, busy_of.values())), "busy_runs": len(busy), "detected": round(detected[0] - ended, 3),
             "busy": spread([first[run] - lease_ends for run in busy]),
             "waiting_answered": spread([first[run] - lease_ends for run in answered]),
             "busy_since_detection": spread([first[run] - detected[0] for run in busy]),
             "waiting_answered_since_detection": spread([first[run] - detected[0] for run in answered])}
    if how == "stop":
        os.kill(victim["pid"], signal.SIGCONT)
        late = [call for call in scene.calls() if call[1] == victim["pid"] and ended + 0.05 < call[0] < time.time() - 1.0]
        found["calls_of_the_stopped"] = len(late)
    if how == "node":
        cluster.nodes.pop()
        cluster.add_node()
        cluster.wait_for_nodes(2)
    scene.close()
    return found


def measure_healthy(database, cluster):
    """Runs that change hands between two owners that live, while both work; not counting those that a host gives up once,
    because it has taken many more at the start than the other."""
    scene = Scene(database, cluster, "healthy")

    def is_balanced():
        owners = scene.deployment.owners()
        return all(excess(owner["owner"], owners) == 0 for owner in owners if owner["role"] == "host")

    time.sleep(LEASE_MS / 1000)  # hosts say how many runs they have as often as they renew their leases
    wait_until(is_balanced)
    before = database.owners()
    begun = len(scene.calls())
    time.sleep(HEALTHY_SECONDS)
    after = database.owners()
    found = {"seconds": HEALTHY_SECONDS, "runs": len(before), "steps": len(scene.calls()) - begun,
             "changed_hands": sum(before[run] != after[run] for run in before if run in after)}
    scene.close()
    return found


def measure_raylet(database, cluster):
    """What becomes of runs whose raylet alone is killed."""
    scene = Scene(database, cluster, "raylet")
    before = database.owners()
    hosts = {str(host["owner"]): host["pid"] for host in scene.hosts()}
    raylet = [pid for pid, line in cluster.nodes[-1].processes() if "/raylet/raylet " in line]
    pids = set(hosts.values())
    ended = time.time()
    os.kill(raylet[0], signal.SIGKILL)
    time.sleep(10.0)
    after = database.owners()
    gaps = collections.defaultdict(float)
    last = {}
    for moment, pid, run, _ in scene.calls():
        if run in last:
            gaps[run] = max(gaps[run], moment - last[run]) if moment > ended else gaps[run]
        last[run] = moment
    live = {owner for owner, pid in hosts.items() if os.path.exists(f"/proc/{pid}")}  # Ray may end the other one after its raylet
    found = {"hosts_that_live": len(live), "moved": sum(before[run] != after.get(run) for run in before if before[run][0] in live),
             "longest_pause": round(max(gaps.values()), 3),
             "stopped": BUSY - sum(moment > ended + 8.0 for moment in last.values())}
    cluster.nodes.pop().kill()
    cluster.add_node()
    cluster.wait_for_nodes(2)
    scene.close()
    return found


def resident_kb(pid):
    for line in pathlib.Path("/proc", str(pid), "status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def actors():
    import ray

    return sorted(one["name"] for one in ray.util.list_named_actors(all_namespaces=True) if one["namespace"].startswith("tenon-"))


def measure_conversations(database, cluster):
    scene = Scene(database, cluster, "talk", busy=0, waiting=0)
    deployment = scene.deployment

    async def talk(number):
        chat = await deployment.astart("Talker", "0")
        values = [await chat]
        for turn in range(1, TURNS):
            values.append(await chat.asay(str(turn)))
        return values

    begun = time.monotonic()

    async def main():
        return await at_once([lambda number=number: talk(number) for number in range(CONVERSATIONS)])

    values = asyncio.run(main())
    took = time.monotonic() - begun
    expected = [f"{turn + 1}: {turn}" for turn in range(TURNS)]
    hosts = scene.hosts()
    found = {"conversations": CONVERSATIONS, "wrong": sum(one != expected for one in values), "turns_per_s": round(CONVERSATIONS * TURNS / took, 1),
             "seconds": round(took, 1), "hosts": len(hosts), "actors": len(actors()),
             "host_mb": [round(resident_kb(host["pid"]) / 1024) for host in hosts], "runs_in_memory": [host["runs"] for host in hosts]}
    scene.close()
    return found


def measure_many_waiting(database, cluster):
    scene = Scene(database, cluster, "many", busy=0, waiting=1)
    before = {"actors": len(actors()), "host_mb": [round(resident_kb(host["pid"]) / 1024) for host in scene.hosts()]}
    begun = time.monotonic()
    scene.start([("waits", f"m{number}", None) for number in range(MANY_WAITING)])
    took = time.monotonic() - begun
    wait_until(lambda: scene.deployment.counts()["runs"].get("waiting", 0) == MANY_WAITING + 1)
    hosts = scene.hosts()
    found = {"runs": MANY_WAITING, "starts_per_s": round(MANY_WAITING / took, 1), "more_actors": len(actors()) - before["actors"],
             "host_mb_before": before["host_mb"], "host_mb_after": [round(resident_kb(host["pid"]) / 1024) for host in hosts],
             "runs_in_memory": [host["runs"] for host in hosts]}
    scene.close()
    return found


HOST = """
import sys, tenon
sys.path[:0] = [sys.argv[3]]
import bench_externs
with tenon.Host([sys.argv[1]], store=sys.argv[2], externs=bench_externs):
    print("ready", flush=True)
    sys.stdin.read()
"""


class Alone:
    """A host in a process of its own, without Ray."""

    def __init__(self, store):
        self.process = subprocess.Popen([sys.executable, "-c", HOST, PROGRAM, store, str(FOLDER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        assert self.process.stdout.readline() == "ready\n"

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


class InActor:
    """The same in an actor."""

    def __init__(self, store):
        import ray
        from tenon.ray._host_actor import HostActor
        from tenon.ray._deployment import make_spec

        spec = make_spec(PROGRAM, store=store, externs="bench_externs", name="step")
        path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.actor = ray.remote(HostActor).options(num_cpus=0, runtime_env={"env_vars": {"PYTHONPATH": path}}).remote(spec, "step", None)
        ray.get(self.actor.status.remote())

    def close(self):
        import ray

        ray.get(self.actor.stop.remote(0.0))
        ray.kill(self.actor)


def measure_steps(database):
    """Microseconds a step, in a process and in an actor, in turns."""
    sides, opened = {}, []
    for name, side in (("process", Alone), ("actor", InActor)):
        store = database.new_store()
        opened.append(side(store))
        sides[name] = tenon.Gateway(PROGRAM, store=store)
    samples = collections.defaultdict(list)

    def many(gateway):
        async def main():
            runs = await asyncio.gather(*(gateway.astart("steps", {"count": STEPS}) for _ in range(STEP_RUNS)))
            await asyncio.gather(*runs)

        begun = time.perf_counter()
        asyncio.run(main())
        return (time.perf_counter() - begun) / (STEP_RUNS * STEPS) * 1e6

    def lone(gateway):
        begun = time.perf_counter()
        gateway.start("steps", {"count": LONE_STEPS}).result(SECONDS_MAX)
        return (time.perf_counter() - begun) / LONE_STEPS * 1e6

    for _ in range(STEP_ROUNDS + 1):
        for name in random.sample(sorted(sides), len(sides)):
            samples[f"{name} lone"].append(lone(sides[name]))
            samples[f"{name} many"].append(many(sides[name]))
    for gateway in sides.values():
        gateway.stop(0.0)
    for one in opened:
        one.close()
    found = {name: {"best": round(min(values[1:]), 1), "median": round(statistics.median(values[1:]), 1)} for name, values in samples.items()}
    for kind in ("lone", "many"):
        found[f"ratio {kind}"] = {which: round(found[f"actor {kind}"][which] / found[f"process {kind}"][which], 3) for which in ("best", "median")}
    return found


def measure_calls(database):
    """Milliseconds of a call of an agent in another actor, with its answer: the run moves there and back."""
    path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    deployment = tenon.ray.deploy(PLACED, store=database.new_store(), externs="placed_externs", name="calls", hosts_per_node=1,
                                  runtime_env={"env_vars": {"PYTHONPATH": path}})
    deployment.wait_until_ready(2)
    samples = []
    for _ in range(CALL_ROUNDS + 1):  # the first one starts the actor
        begun = time.perf_counter()
        apart = deployment.start("calls", {"count": CALLS}).result(SECONDS_MAX)
        samples.append((time.perf_counter() - begun) / CALLS * 1e3)
        if apart != CALLS:
            sys.exit(f"{CALLS - apart} of {CALLS} calls were made in the same process")
    deployment.shut_down(0.0)
    return {"best": round(min(samples[1:]), 2), "median": round(statistics.median(samples[1:]), 2)}


def main():
    chosen = sys.argv[1:]
    found = {}
    with Database() as database, tenon.ray.LocalCluster(2) as cluster:
        cluster.connect(logging_level="ERROR")
        import ray

        cluster.wait_for_nodes(2)
        measures = {"steps": lambda: measure_steps(database), "calls": lambda: measure_calls(database),
                    "healthy": lambda: measure_healthy(database, cluster),
                    **{how: lambda how=how: measure_end(database, cluster, how) for how in ("process", "stop", "node")},
                    "raylet": lambda: measure_raylet(database, cluster), "conversations": lambda: measure_conversations(database, cluster),
                    "many waiting": lambda: measure_many_waiting(database, cluster)}
        try:
            for name, measure in measures.items():
                if not chosen or name in chosen:
                    begun = time.monotonic()
                    found[name] = measure()
                    note(f"{name}: {time.monotonic() - begun:.0f} s: {json.dumps(found[name])}")
        finally:
            ray.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
