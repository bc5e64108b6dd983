"""Deployments, as their users see them."""
from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ray

from .._errors import Error
from .._host import Gateway
from .._models import ModelFunction
from ._cluster import pickled, with_uploaded_folder
from ._controller import CONTROLLER, Controller, cause_of, end_host, end_model, host_names, model_names
from ._shared_model import SharedModel
from ._spec import Spec, keep_externs, paths_of

_STATUS_SECONDS = 5.0
_END_SECONDS = 30.0  # that hosts may take longer than they are given


class Deployment(Gateway):
    """Hosts on a Ray cluster, and requests for their runs, which go by the store. It is a `tenon.Gateway`; closing it does not
    stop the deployment."""

    def __init__(self, spec: Spec, programs: Iterable[str] | None = None) -> None:
        self.spec = spec
        super().__init__(list(programs or spec.programs), store=spec.store, pool=spec.pool or None)

    @property
    def name(self) -> str:
        return self.spec.name

    def hosts(self) -> list[dict[str, Any]]:
        """What each host says of itself; with `error` instead if it does not answer now, or could not be started."""
        names = host_names(self.spec.namespace)
        asked: dict[str, Any] = {}
        for name in names:
            try:
                asked[name] = ray.get_actor(name, namespace=self.spec.namespace).status.remote()
            except ValueError:
                continue  # it has just ended
        answered, _ = ray.wait(list(asked.values()), num_returns=len(asked), timeout=_STATUS_SECONDS) if asked else ([], [])
        found = []
        for name, reference in asked.items():
            try:
                found.append(ray.get(reference) if reference in answered else {"name": name, "error": "it does not answer"})
            except ray.exceptions.RayError as error:
                found.append({"name": name, "error": cause_of(error)})
        return found + [{"name": name, "error": error} for name, error in self._problems().items() if name not in asked]

    def _problems(self) -> dict[str, str]:
        try:
            controller = ray.get_actor(CONTROLLER, namespace=self.spec.namespace)
            return dict(ray.get(controller.problems.remote(), timeout=_STATUS_SECONDS))
        except (ValueError, ray.exceptions.RayError):
            return {}  # it is being started

    def wait_until_ready(self, hosts: int = 1, timeout: float = 60.0) -> None:
        """Waits until this many hosts can continue runs."""
        end = time.monotonic() + timeout
        while True:
            ready = sum(owner["role"] == "host" for owner in self.owners())
            if ready >= hosts:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"{ready} of {hosts} hosts are ready: {self.hosts()}")
            time.sleep(0.05)

    def scale(self, hosts_per_node: int | None = None, *, agents: Mapping[str, int] | None = None) -> None:
        """Changes the number of hosts on each node, None: one for each core; and of placed agents."""
        found = find_spec(self.name)
        self.spec = dataclasses.replace(found, hosts_per_node=hosts_per_node, agents=found.agents if agents is None else dict(agents))
        self.spec.save()

    def shut_down(self, grace: float = 10.0) -> None:
        """Ends all hosts of the deployment. Their runs stay in the store."""
        dataclasses.replace(self.spec, is_stopped=True).save()
        try:
            ray.kill(ray.get_actor(CONTROLLER, namespace=self.spec.namespace))
        except ValueError:
            pass
        end = time.monotonic() + grace + _END_SECONDS
        # Ray may know of one that the controller was making only a moment later, and of one that has ended for a moment.
        while (names := host_names(self.spec.namespace)) and time.monotonic() < end:
            with ThreadPoolExecutor(len(names)) as ending:
                list(ending.map(lambda name: self._end(name, grace), names))
            time.sleep(0.1)
        if names:
            raise Error(f"these hosts have not ended; shut the deployment down again: {', '.join(names)}", "Unavailable")
        for name in model_names(self.spec.namespace):
            end_model(self.spec.namespace, name)
        self.spec.forget()
        self.stop(0.0)

    def _end(self, name: str, grace: float) -> None:
        try:
            end_host(ray.get_actor(name, namespace=self.spec.namespace), grace)
        except ValueError:
            pass  # it has just ended


def _require_same(found: Spec | None, spec: Spec) -> None:
    """Hosts that are there keep the programs and the store that they were started with."""
    if found is None or found.is_stopped:
        return
    for what in ("programs", "store", "pool"):
        if getattr(found, what) != getattr(spec, what):
            raise Error(f"the cluster has a deployment `{spec.name}` whose {what} differs from what is given; shut it down first, "
                        "or give this one another name", "Usage")


def make_spec(programs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, store: str, name: str,
              model: str | ModelFunction | SharedModel | None = None, externs: Any = (), hosts_per_node: int | None = None,
              host_resources: Mapping[str, Any] | None = None, agents: Mapping[str, int] | None = None, pool: str = "", token: str = "",
              runtime_env: Mapping[str, Any] | None = None, **options: Any) -> Spec:
    """What `deploy` is given, as actors get it."""
    if not store.startswith(("postgres://", "postgresql://")):
        raise Error("hosts on several nodes share a store in PostgreSQL, `postgres://…`", "Usage")
    return Spec(name=name, programs=paths_of(programs, runtime_env), store=store, externs=keep_externs(externs), model=pickled(model),
                hosts_per_node=hosts_per_node, host_resources=dict(host_resources or {}), agents=dict(agents or {}), pool=pool, token=token,
                options=options, runtime_env=None if runtime_env is None else with_uploaded_folder(runtime_env))


def deploy(programs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, store: str, name: str = "tenon",
           model: str | ModelFunction | SharedModel | None = None, externs: Any = (), hosts_per_node: int | None = None,
           host_resources: Mapping[str, Any] | None = None, agents: Mapping[str, int] | None = None, pool: str = "", token: str = "",
           runtime_env: Mapping[str, Any] | None = None, **options: Any) -> Deployment:
    """Has the cluster continue the runs of a store, from now on and until `shut_down`. With a `working_dir` in `runtime_env`,
    the programs are relative to it, and this process is in that folder. To change a deployment's programs or externs, shut it
    down first."""
    if not ray.is_initialized():
        ray.init(address="auto", log_to_driver=False)
    spec = make_spec(programs, store=store, name=name, model=model, externs=externs, hosts_per_node=hosts_per_node,
                     host_resources=host_resources, agents=agents, pool=pool, token=token, runtime_env=runtime_env, **options)
    _require_same(Spec.find(name), spec)
    deployment = Deployment(spec)
    spec.save()
    ray.remote(Controller).options(name=CONTROLLER, namespace=spec.namespace, lifetime="detached", get_if_exists=True,
                                   max_restarts=-1, num_cpus=0, runtime_env=spec.runtime_env).remote(spec)
    return deployment


def connect(name: str = "tenon", *, programs: Iterable[str] | None = None) -> Deployment:
    """A deployment of the cluster that Ray is connected with. `programs`: the files, if they are at another place here."""
    return Deployment(find_spec(name), programs)


def find_spec(name: str) -> Spec:
    """What the deployment of this name consists of."""
    if not ray.is_initialized():
        ray.init(address="auto", log_to_driver=False)
    spec = Spec.find(name)
    if spec is None or spec.is_stopped:
        raise Error(f"the cluster has no deployment `{name}`", "NotFound")
    return spec
