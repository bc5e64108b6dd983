"""What a deployment reports to Ray's metrics."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ray.util import metrics

if TYPE_CHECKING:
    from .._host import Gateway, Host

_GAUGES = {"runs": "runs in the host's memory", "effects": "effects in progress"}
_COUNTERS = {"started": "runs that were started", "loaded": "runs that were loaded from the store",
             "ended": "runs that have ended", "released": "runs that have left the memory", "records": "durable records",
             "answers": "answers of models", "commands": "commands from other processes"}


def failovers() -> metrics.Counter:
    """Hosts whose runs others had to continue. Its causes: `process`, `lease`, `node`."""
    return metrics.Counter("tenon_failovers_total", "hosts that have ended, or lost their lease, without leaving", ("deployment", "cause"))


class HostMetrics:
    """The figures of a host, labelled with its deployment and its name."""

    def __init__(self, deployment: str, name: str, host: Host) -> None:
        self._tags = {"deployment": deployment, "host": name}
        keys = tuple(self._tags)
        self._gauges = {key: metrics.Gauge(f"tenon_host_{key}", text, keys) for key, text in _GAUGES.items()}
        self._counters = {key: metrics.Counter(f"tenon_host_{key}_total", text, keys) for key, text in _COUNTERS.items()}
        self._lease = metrics.Gauge("tenon_host_lease_held", "whether the host may begin effects", keys)
        self._seen = dict.fromkeys(_COUNTERS, 0)
        self._failovers = failovers()

    def note_failover(self, cause: str) -> None:
        self._failovers.inc(1, {"deployment": self._tags["deployment"], "cause": cause})

    def report(self, status: dict[str, Any]) -> None:
        for key, gauge in self._gauges.items():
            gauge.set(status[key], self._tags)
        self._lease.set(1 if status["lease"] == "held" else 0, self._tags)
        for key, counter in self._counters.items():
            more = status[key] - self._seen[key]
            self._seen[key] = status[key]
            if more > 0:
                counter.inc(more, self._tags)


class StoreMetrics:
    """The figures of a deployment as a whole."""

    def __init__(self, deployment: str, gateway: Gateway) -> None:
        self._gateway = gateway
        self._tags = {"deployment": deployment}
        keys = tuple(self._tags)
        self._wanted = metrics.Gauge("tenon_hosts_wanted", "hosts that there should be", keys)
        self._hosts = metrics.Gauge("tenon_hosts", "hosts that hold a lease of the store", (*keys, "pool"))
        self._starved = metrics.Gauge("tenon_pools_without_hosts", "pools that have work and no host", keys)
        self._runs = metrics.Gauge("tenon_runs", "runs of the store", (*keys, "state"))
        self._commands = metrics.Gauge("tenon_commands_waiting", "requests that no host has taken", keys)
        self._failovers = failovers()
        self._states: set[str] = set()
        self._pools: set[str] = set()

    def note_lost_host(self) -> None:
        """A host is gone with its node."""
        self._failovers.inc(1, {**self._tags, "cause": "node"})

    def report(self, wanted: int, starved: set[str]) -> None:
        self._wanted.set(wanted, self._tags)
        self._starved.set(len(starved), self._tags)
        hosts: dict[str, int] = {}
        for owner in self._gateway.owners():
            if owner["role"] == "host":
                hosts[owner["pool"]] = hosts.get(owner["pool"], 0) + 1
        self._pools |= set(hosts)
        for pool in self._pools:
            self._hosts.set(hosts.get(pool, 0), {**self._tags, "pool": pool})
        counts = self._gateway.counts()
        self._states |= set(counts["runs"])
        for state in self._states:
            self._runs.set(counts["runs"].get(state, 0), {**self._tags, "state": state})
        self._commands.set(counts["commands"], self._tags)
