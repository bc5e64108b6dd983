"""A Ray cluster of several nodes on one machine, in one temporary folder: to try things out, and for tests."""
from __future__ import annotations

import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from .._errors import Error

_START_SECONDS = 90.0
_OBJECT_BYTES = 80_000_000
# A node that does not answer is given up after seconds, not after half a minute. The runs do not wait for that.
_QUICK_HEALTH_CHECKS = {"RAY_health_check_period_ms": "1000", "RAY_health_check_timeout_ms": "1000",
                        "RAY_health_check_failure_threshold": "5", "RAY_health_check_initial_delay_ms": "1000"}


class LocalNode:
    """One raylet with its workers, which are one session of processes: workers outlive a raylet that was killed alone, and are not
    its descendants then."""

    def __init__(self, command: list[str], log: pathlib.Path, environment: Mapping[str, str]) -> None:
        self.log = log
        with open(log, "wb") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                                            env=environment)

    def processes(self) -> list[tuple[int, str]]:
        """Process ids and command lines of what it has started, directly or not."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != self.process.pid and _session_of(int(entry)) == self.process.pid:
                found.append((int(entry), _command_line(int(entry))))
        return found

    def kill(self) -> None:
        """As when a machine loses power: nothing of it does anything more."""
        for pid in [self.process.pid, *(pid for pid, _ in self.processes())]:
            _signal(pid, signal.SIGSTOP)  # so that none sees another end
        while started := self.processes():
            for pid, _ in started:
                _signal(pid, signal.SIGKILL)
            time.sleep(0.01)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class LocalCluster:
    """`nodes` raylets, of which the first has the cluster's own services. Only this cluster is ended by `close`, never another
    one of the machine. Programs reach it with `environment`, which has its token. With `redis`, as `127.0.0.1:6379`, Ray
    survives the end of the head."""

    def __init__(self, nodes: int = 1, *, cpus: int = 1, environment: Mapping[str, str] | None = None,
                 object_bytes: int = _OBJECT_BYTES, dashboard: bool = False, redis: str | None = None) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-ray-"))
        self._cpus = cpus
        self._object_bytes = object_bytes
        self._count = 0
        self._is_dashboard = dashboard
        self._is_connected = False
        self.nodes: list[LocalNode] = []
        self.environment = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32),
                            **_QUICK_HEALTH_CHECKS, **(environment or {})}
        if redis is not None:  # the head can be started again then
            self.environment["RAY_REDIS_ADDRESS"] = redis
        try:
            self.start_head()
            for _ in range(nodes - 1):
                self.add_node()
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        return (self.folder / "ray_current_cluster").read_text().strip()

    def start_head(self) -> None:
        """Starts the head, or starts it again, at the same address: with Redis, the others come back to it."""
        known = self.folder / "ray_current_cluster"
        port = known.read_text().strip().rpartition(":")[2] if known.exists() else "0"
        known.unlink(missing_ok=True)
        self.head = self.add_node(is_head=True, more=[f"--port={port}", f"--include-dashboard={'true' if self._is_dashboard else 'false'}",
                                                       "--no-monitor"])

    def add_node(self, *, is_head: bool = False, cpus: int | None = None, resources: str = "", more: list[str] | None = None) -> LocalNode:
        """Starts a node. It becomes a part of the cluster a moment later."""
        self._count += 1
        log = self.folder / f"node{self._count}.log"
        where = ["--head", f"--temp-dir={self.folder}"] if is_head else [f"--address={self.address}"]
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *where, "--block", f"--num-cpus={cpus or self._cpus}",
                   f"--object-store-memory={self._object_bytes}", "--disable-usage-stats", "--include-log-monitor=false", *(more or [])]
        if resources:
            command.append(f"--resources={resources}")
        node = LocalNode(command, log, {**os.environ, **self.environment})
        self.nodes.append(node)
        if is_head:
            self._wait_for_head(node)
        return node

    def _wait_for_head(self, node: LocalNode) -> None:
        end = time.monotonic() + _START_SECONDS
        while not (self.folder / "ray_current_cluster").exists():
            if node.process.poll() is not None or time.monotonic() > end:
                raise Error(f"Ray does not start: {node.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.05)

    def connect(self, **options: Any) -> None:
        """Connects this process with the cluster."""
        if "ray" in sys.modules and any(os.environ.get(name) != value for name, value in self.environment.items()):
            raise Error("Ray was imported before the local cluster was made, and has read its environment then; import it after "
                        "`LocalCluster.connect`", "Usage")
        os.environ.update(self.environment)
        import ray

        ray.init(address=self.address, **{"log_to_driver": False, **options})
        self._is_connected = True

    def wait_for_nodes(self, count: int, timeout: float = _START_SECONDS) -> None:
        """Waits until the cluster, with which this process is connected, has this many nodes."""
        from ._cluster import alive_nodes

        end = time.monotonic() + timeout
        while len(alive_nodes()) != count:
            if time.monotonic() > end:
                raise TimeoutError(f"the cluster does not have {count} nodes: {alive_nodes()}")
            time.sleep(0.05)

    def close(self) -> None:
        """Disconnects this process, ends what was started, at once, and removes the folder. Hosts leave in order before, by
        `Deployment.shut_down`."""
        if self._is_connected:  # Ray ends a process whose cluster has been gone for a minute
            import ray

            self._is_connected = False
            ray.shutdown()
        for node in reversed(self.nodes):
            node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> LocalCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _command_line(pid: int) -> str:
    try:
        return pathlib.Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def _session_of(pid: int) -> int | None:
    """None: it has ended."""
    try:
        state, _, _, session = pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return None
    return None if state in "ZX" else int(session)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass
