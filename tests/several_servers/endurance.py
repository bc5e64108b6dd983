"""Two servers under load: as long as both are healthy, no run changes hands."""
import json
import threading
import time

from cluster import Cluster, work_value

HOUR = {"seconds": 3600, "lease_ms": 5_000}  # the default
SHORT = {"seconds": 5, "lease_ms": 10_000}  # a busy machine is not taken for a dead one
CLIENTS = 4  # of each server
STEPS = 100
CHECK_SECONDS = 5.0


class Load(threading.Thread):
    """A client of a server that begins a run, answers what it asks, and begins the next one."""

    def __init__(self, server, at, end):
        super().__init__(daemon=True)
        self.server, self.at, self.end = server, at, end
        self.runs, self.problem = 0, None

    def run(self):
        try:
            while time.monotonic() < self.end:
                if self.at % 4 == 0:
                    self._ask()
                else:
                    self._work()
                self.runs += 1
        except Exception as error:  # pylint: disable=broad-except
            self.problem = repr(error)

    def _work(self):
        run = self.server.begin({"fn": "work", "args": {"count": STEPS}})
        assert self.server.wait_for(run, "done")["end"]["value"] == work_value(STEPS)

    def _ask(self):
        run = self.server.begin({"fn": "approve", "input": "cake"})
        self.server.wait_for(run, "waiting")
        time.sleep(1)
        assert self.server.post(f"/v1/runs/{run}/resume", {"input": True}).status == 202
        assert self.server.wait_for(run, "done")["end"]["value"] == "allowed"


class Owners:
    """The first owner of each run, and how often the store claimed it. `check` fails if another process has it."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.first = {}

    def check(self):
        for run, owner, epoch in self.cluster.query("SELECT name, owner, epoch FROM runs WHERE owner IS NOT NULL"):
            first = self.first.setdefault(run, (owner, epoch))
            assert first == (owner, epoch), f"{run} was at {first} and is at {(owner, epoch)}"

    def count_claimed_again(self):
        """How many runs of the store, those that have ended included, were claimed after their start."""
        return int(self.cluster.query("SELECT count(*) FROM runs WHERE epoch > 1")[0][0])


def test_healthy_servers_keep_their_runs(work, seconds, lease_ms):
    with Cluster(work, lease_ms=lease_ms) as cluster:
        servers = [cluster.server("first"), cluster.server("second")]
        waiting = [(server, server.begin({"fn": "approve", "input": "pie"})) for server in servers for _ in range(20)]
        end = time.monotonic() + seconds
        clients = [Load(server, at, end) for server in servers for at in range(CLIENTS)]
        for client in clients:
            client.start()
        owners = Owners(cluster)
        while any(client.is_alive() for client in clients):
            owners.check()
            time.sleep(min(CHECK_SECONDS, seconds / 2))
        problems = [client.problem for client in clients if client.problem]
        assert not problems, problems
        for server, run in waiting:
            assert server.post(f"/v1/runs/{run}/resume", {"input": False}).status == 202
            assert server.wait_for(run, "done")["end"]["value"] == "denied"
        owners.check()
        assert len({owner for owner, _ in owners.first.values()}) == len(servers)
        cluster.check()
        figures = {"runs": sum(client.runs for client in clients) + len(waiting), "changed_hands": owners.count_claimed_again(),
                   "records": int(cluster.query("SELECT sum(records) FROM runs")[0][0])}
        print(f"figures: {json.dumps(figures)}", flush=True)
        assert figures["changed_hands"] == 0, figures
