"""How soon a server continues the runs of another one that was killed, or that cannot reach the database any more."""
import pathlib
import tempfile
import time

from cluster import Cluster, retry
from cutting_proxy import CuttingProxy

RUNS = 8  # that are busy in the server that is lost
STEPS = 100_000  # more than a run makes before it is cancelled
LEASE_MS = 2_000
SECONDS_MAX = 60


def milliseconds_now():
    return time.time_ns() // 1_000_000  # the clock of calls.c


class Calls:
    """The calls of externs that were written down since this was made."""

    def __init__(self, cluster):
        self.file = cluster.calls.open(encoding="utf-8")
        self.file.seek(0, 2)
        self.rest = ""

    def first_of(self, server, runs):
        """Waits until this server has made a call for each of the runs. Returns the milliseconds of each run's first one."""
        found = {}
        deadline = time.monotonic() + SECONDS_MAX
        while len(found) < len(runs):
            assert time.monotonic() < deadline, f"continued: {len(found)} of {len(runs)} runs"
            *lines, self.rest = (self.rest + self.file.read()).split("\n")
            for line in lines:
                _, key, who, when = line.split(" ")
                run = key.split("/")[0]
                if who == server and run in runs:
                    found.setdefault(run, int(when))
            time.sleep(0.005)
        self.file.close()
        return list(found.values())


def expect(reply, *statuses):
    assert reply.status in statuses, (reply.status, reply.body)


def begin_runs(cluster, server, name):
    """Runs that this server has, each after its first call."""
    retry(lambda: expect(server.get("/readyz"), 200))
    runs = [retry(lambda: server.begin({"fn": "walk", "args": {"count": STEPS}})) for _ in range(RUNS)]
    calls = Calls(cluster)
    calls.first_of(name, set(runs))
    return set(runs)


def end_runs(server, runs):
    for run in runs:
        retry(lambda run=run: expect(server.post(f"/v1/runs/{run}/cancel", {}), 202, 409))


def summary(what, seconds, goal):
    """`seconds`: of each round, until the first and until the last of the runs has continued."""
    last = sorted(last for _, last in seconds)
    result = {"rounds": len(seconds), "runs": RUNS, "median_seconds": last[len(last) // 2], "max_seconds": last[-1],
              "median_seconds_to_the_first": sorted(first for first, _ in seconds)[len(seconds) // 2], "goal_seconds": goal}
    print(f"{what}: all {RUNS} runs continue after {result['median_seconds']:.3f} s (median of {len(seconds)}, max "
          f"{result['max_seconds']:.3f}); at most {goal} is the goal", flush=True)
    return result


def measure_kills(postgres, rounds):
    """From `kill -9` of a server to the first call of the other one for each of its runs."""
    seconds = []
    with tempfile.TemporaryDirectory() as work, Cluster(pathlib.Path(work), postgres, lease_ms=LEASE_MS) as cluster:
        names = ["first", "second"]
        servers = {name: cluster.server(name) for name in names}
        for round_ in range(rounds):
            lost, other = names[round_ % 2], names[1 - round_ % 2]
            runs = begin_runs(cluster, servers[lost], lost)
            calls = Calls(cluster)
            killed = milliseconds_now()
            servers[lost].kill()
            times = calls.first_of(other, runs)
            seconds.append(((min(times) - killed) / 1_000, (max(times) - killed) / 1_000))
            end_runs(servers[other], runs)
            servers[lost].start()
        cluster.check()
    return summary("a server that is killed", seconds, 0.5)


def measure_partitions(postgres, rounds):
    """From the end of the lease of a server whose connections pass nothing on any more to the first call of the other one for each of its
    runs. The server itself lives, and its connections stay open at both ends."""
    seconds = []
    with (tempfile.TemporaryDirectory() as work, Cluster(pathlib.Path(work), postgres, lease_ms=LEASE_MS) as cluster,
          CuttingProxy(postgres.folder) as proxy):
        cut_off = cluster.server("cut-off", url=cluster.url_through(proxy.folder))
        other = cluster.server("other")
        for _ in range(rounds):
            runs = begin_runs(cluster, cut_off, "cut-off")
            calls = Calls(cluster)
            proxy.freeze()
            time.sleep(0.1)  # a renewal that has passed is in the table by then
            owner = "(SELECT DISTINCT owner FROM runs WHERE name IN (" + ", ".join(f"'{run}'" for run in runs) + "))"
            ((lease_end,),) = cluster.query(f"SELECT (extract(epoch FROM lease_until) * 1000)::bigint FROM owners WHERE id = {owner}")
            times = calls.first_of("other", runs)
            seconds.append(((min(times) - int(lease_end)) / 1_000, (max(times) - int(lease_end)) / 1_000))
            proxy.continue_()
            end_runs(other, runs)
        cluster.check()
    return summary("a server without a network, after its lease", seconds, 0.5)
