"""The actor that keeps a deployment as it is wanted."""
from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .._host import Gateway
from ._cluster import alive_nodes, draining_nodes, is_placed
from ._host_actor import HostActor
from ._metrics import StoreMetrics
from ._shared_model import MODEL_PREFIX, ModelActor, SharedModel
from ._spec import NODE_DIGITS, Spec

CONTROLLER = "tenon-controller"
_PERIOD_SECONDS = 1.0
_REPORT_SECONDS = 10.0
_GRACE_SECONDS = 10.0
_PAUSE_SECONDS_MAX = 30.0  # between attempts to make a host that does not stay
_STABLE_SECONDS = 60.0  # a host that was there for so long is made again at once

logger = logging.getLogger("tenon.ray")


class Wanted(NamedTuple):
    """A host actor that there should be."""

    name: str
    node: str | None
    """The only node where it can be; None: wherever Ray finds what it needs."""
    agent: str | None
    """The placed agent of which it is a host."""
    needs: Mapping[str, Any]
    """Options of the actor, as Ray has them."""


def short_node(node: str) -> str:
    """What the names of actors have of a node's id."""
    return node[:NODE_DIGITS]


def host_name(node: str, index: int) -> str:
    return f"tenon-host-{short_node(node)}-{index}"


def agent_host_name(agent: str, index: int) -> str:
    return f"tenon-host-agent-{agent}-{index}"


def wanted_hosts(spec: Spec, cores: Mapping[str, int], placements: list[dict[str, Any]], starved: set[str]) -> dict[str, Wanted]:
    """The hosts that there should be. `cores` are those of each node. `starved` are pools that have work and no host: an agent
    that has no hosts as long as nothing is to be done gets one."""
    wanted = []
    for node, count in cores.items():
        for index in range(count if spec.hosts_per_node is None else spec.hosts_per_node):
            wanted.append(Wanted(host_name(node, index), node, None, {"num_cpus": 0, **spec.host_resources}))
    for placed in placements:
        agent = placed["agent"]
        needs = {name: placed[name] for name in ("num_cpus", "num_gpus") if placed[name] is not None}
        if placed["resources"]:
            needs["resources"] = placed["resources"]
        count = spec.agents.get(agent, 1)
        if count == 0 and placed["pool"] in starved:
            count = 1
        wanted += [Wanted(agent_host_name(agent, index), None, agent, {"num_cpus": 0, **needs}) for index in range(count)]
    return {one.name: one for one in wanted}


def host_names(namespace: str) -> list[str]:
    """The host actors that Ray has, also those that it is starting."""
    return _actor_names(namespace, "tenon-host-")


def model_names(namespace: str) -> list[str]:
    """The same of the actors of a shared model."""
    return _actor_names(namespace, MODEL_PREFIX)


def _actor_names(namespace: str, prefix: str) -> list[str]:
    return sorted(one["name"] for one in ray.util.list_named_actors(all_namespaces=True)
                  if one["namespace"] == namespace and one["name"].startswith(prefix))


class _Store:
    """What a controller sees of the store."""

    def __init__(self, spec: Spec) -> None:
        self.gateway = Gateway(spec.programs, store=spec.store, pool=spec.pool or None)
        self.metrics = StoreMetrics(spec.name, self.gateway)
        self.placements = self.gateway.placements()


class Controller:
    """Compares what there is with what is wanted, and makes what is missing. What it needs for that is known to Ray and to the
    store, so it can be ended at any time, and starts again from nothing."""

    def __init__(self, spec: Spec) -> None:
        self._name = spec.name
        self._lock = threading.Lock()
        # Opened by the thread, which tries again: Ray does not start an actor again whose constructor raises.
        self._store: _Store | None = None
        self._attempts: dict[str, tuple[int, float]] = {}
        self._seen: set[str] = set()
        self._stopping: set[str] = set()
        self._starting: dict[str, Any] = {}  # hosts that were made -> their first answer, which comes when they are ready
        self._problems: dict[str, str] = {}
        self._reported = 0.0
        threading.Thread(target=self._run, name="tenon-controller", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                self.reconcile()
            except Exception:  # Ray or the store cannot be reached now
                logger.exception("the deployment `%s` is looked at again in a moment", self._name)
            time.sleep(_PERIOD_SECONDS)

    def reconcile(self) -> None:
        """Makes the hosts that are missing, and stops those that are too many."""
        with self._lock:
            spec = Spec.find(self._name)
            if spec is None or spec.is_stopped:
                return
            store = self._store = self._store or _Store(spec)
            draining = draining_nodes()
            cores = {node.id: node.cores for node in alive_nodes() if node.id not in draining}
            starved = set(store.gateway.pools_without_hosts())
            wanted = wanted_hosts(spec, cores, store.placements, starved)
            present = set(host_names(spec.namespace))
            for _ in self._seen - present - self._stopping:
                store.metrics.note_lost_host()
            self._seen = present
            self._note_problems(wanted)
            self._stopping &= present
            self._attempts = {name: tried for name, tried in self._attempts.items() if name in wanted}
            for one in wanted.values():
                if one.name not in present and self._is_time_for(one.name):
                    self._make(spec, one)
            for name in present - set(wanted) - self._stopping:
                if _is_idle_on_demand(spec, store.placements, name):
                    continue
                self._remove(spec, name)
            self._keep_models(spec, list(cores))
            self._report(store, len(wanted), starved)

    def _note_problems(self, wanted: Mapping[str, Wanted]) -> None:
        """Why hosts that were made did not become ready."""
        ended, _ = ray.wait(list(self._starting.values()), num_returns=len(self._starting), timeout=0) if self._starting else ([], [])
        for name, answer in list(self._starting.items()):
            if answer in ended:
                del self._starting[name]
                self._problems.pop(name, None)
                try:
                    ray.get(answer)
                except ray.exceptions.RayError as error:
                    self._problems[name] = cause_of(error)
        self._problems = {name: problem for name, problem in self._problems.items() if name in wanted}

    def _keep_models(self, spec: Spec, nodes: list[str]) -> None:
        shared = spec.load_model()
        wanted = shared.names({node: short_node(node) for node in nodes}) if isinstance(shared, SharedModel) else {}
        present = set(model_names(spec.namespace))
        for name in wanted.keys() - present:
            options = _placement(spec, wanted[name], shared.needs)
            ray.remote(ModelActor).options(name=name, namespace=spec.namespace, lifetime="detached", get_if_exists=True,
                                           max_restarts=-1, **options).remote(shared)
        for name in present - wanted.keys():
            end_model(spec.namespace, name)

    def _is_time_for(self, name: str) -> bool:
        """Whether a host that is missing is made now; one that never stays is tried more and more rarely."""
        now = time.monotonic()
        attempts, tried = self._attempts.get(name, (0, now))
        if now > tried + _STABLE_SECONDS:
            attempts = 0
        if attempts > 0 and now < tried + min(_PERIOD_SECONDS * 2.0 ** attempts, _PAUSE_SECONDS_MAX):
            return False
        self._attempts[name] = (attempts + 1, now)
        return True

    def _make(self, spec: Spec, wanted: Wanted) -> None:
        logger.info("%s is started%s", wanted.name, f" on the node {wanted.node}" if wanted.node else "")
        options = _placement(spec, wanted.node, wanted.needs)
        host: Any = ray.remote(HostActor).options(name=wanted.name, namespace=spec.namespace, lifetime="detached", get_if_exists=True,
                                                  max_restarts=-1, **options).remote(spec, wanted.name, wanted.agent)
        self._starting[wanted.name] = host.status.remote()

    def _remove(self, spec: Spec, name: str) -> None:
        try:
            host = ray.get_actor(name, namespace=spec.namespace)
        except ValueError:
            return  # it has just ended
        logger.info("%s is stopped", name)
        self._stopping.add(name)
        threading.Thread(target=end_host, args=(host, _GRACE_SECONDS), daemon=True).start()

    def _report(self, store: _Store, wanted: int, starved: set[str]) -> None:
        now = time.monotonic()
        if self._reported + _REPORT_SECONDS > now:
            return
        self._reported = now
        store.metrics.report(wanted, starved)
        for pool in starved:
            logger.warning("the pool `%s` has work and no host; does the cluster have what its hosts need?", pool)

    async def ping(self) -> str:
        return self._name

    async def problems(self) -> dict[str, str]:
        """Why hosts that there should be do not become ready, by their names."""
        return dict(self._problems)


def cause_of(error: ray.exceptions.RayError) -> str:
    """What an actor's constructor has raised: Ray puts it below the traceback."""
    lines = str(error).splitlines()
    begin = max((at + 1 for at, line in enumerate(lines) if line.startswith('  File "')), default=0)
    while begin < len(lines) and lines[begin].startswith("    "):  # of the source
        begin += 1
    raised = lines[begin:] or lines
    return "\n".join(raised).strip() or type(error).__name__


def _is_idle_on_demand(spec: Spec, placements: list[dict[str, Any]], name: str) -> bool:
    """Whether it is the host of an agent that has no hosts while nothing is to be done: it stays, once it is there."""
    return any(spec.agents.get(placed["agent"], 1) == 0 and name == agent_host_name(placed["agent"], 0) for placed in placements)


def _placement(spec: Spec, node: str | None, needs: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an actor that needs something, on a node or anywhere."""
    options = dict(needs)
    if spec.runtime_env is not None:
        options["runtime_env"] = dict(spec.runtime_env)
    if node is not None:
        options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=False)
    return options


def end_model(namespace: str, name: str) -> None:
    try:
        ray.kill(ray.get_actor(name, namespace=namespace))
    except ValueError:
        pass  # it has just ended


def end_host(host: Any, grace: float) -> None:
    """Stops a host actor, and ends its process. One that waits for a node has no runs, and would not answer."""
    try:
        if is_placed(host):
            ray.get(host.stop.remote(grace), timeout=grace + 10.0)
    except ray.exceptions.RayActorError:
        pass  # it has ended by itself
    except Exception as error:
        logger.warning("a host was not stopped: %s", error)
    ray.kill(host)
