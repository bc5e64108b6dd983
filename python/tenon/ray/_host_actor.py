"""The actor that continues runs."""
from __future__ import annotations

import logging
import os
import threading
import time
from typing import Any

import ray

from .._errors import Error
from .._host import Host
from ._balance import excess
from ._metrics import HostMetrics
from ._shared_model import SharedModel
from ._spec import NODE_DIGITS, Spec

_WATCH_SECONDS = 2.0
_BALANCE_SECONDS = 6.0

logger = logging.getLogger("tenon.ray")


def _model_of(spec: Spec) -> Any:
    model = spec.load_model()
    if isinstance(model, SharedModel):
        return model.client(spec.namespace, ray.get_runtime_context().get_node_id()[:NODE_DIGITS])
    return model


class HostActor:
    """A host of the store. Ray starts it again whenever its process ends. Who continues which run is decided by the store
    alone, so nothing here asks Ray whether an actor lives."""

    def __init__(self, spec: Spec, name: str, agent: str | None) -> None:
        self._name = name
        self._host = Host(spec.programs, store=spec.store, externs=spec.load_externs(), model=_model_of(spec),
                          pool=spec.pool or None, agent=agent, **spec.options)
        self._metrics = HostMetrics(spec.name, name, self._host)
        self._begun = time.time()
        self._owner = self._host.status()["owner"]
        logger.info("%s is owner %s of the store", name, self._owner)
        if ray.get_runtime_context().was_current_actor_reconstructed:
            self._metrics.note_failover("process")
        threading.Thread(target=self._watch, name="tenon-watch", daemon=True).start()

    def _watch(self) -> None:
        balanced = time.monotonic()
        while True:
            time.sleep(_WATCH_SECONDS)
            try:
                self._look()
                if balanced + _BALANCE_SECONDS <= time.monotonic():
                    balanced = time.monotonic()
                    self._balance()
            except Error as error:  # the store cannot be reached now, or the host was stopped
                logger.info("%s: %s", self._name, error)
            except Exception:
                logger.exception("%s is looked at again in a moment", self._name)

    def _look(self) -> None:
        """A host that cannot continue is replaced by a new process."""
        status = self._host.status()
        self._metrics.report(status)
        if status["owner"] != self._owner:
            logger.warning("%s was owner %s, whose lease has ended, and is owner %s now", self._name, self._owner, status["owner"])
            self._owner = status["owner"]
            self._metrics.note_failover("lease")
        if status["broken"] is not None:
            logger.error("%s: %s; its process is started again", self._name, status["broken"])
            os._exit(1)

    def _balance(self) -> None:
        count = excess(self._owner, self._host.owners())
        if count > 0:
            logger.info("%s gives up %s runs that wait, for other hosts", self._name, self._host.release(count))

    async def status(self) -> dict[str, Any]:
        """What the host says of itself, and where it is."""
        return {**self._host.status(), "name": self._name, "pid": os.getpid(), "node": ray.get_runtime_context().get_node_id(),
                "begun": self._begun}

    async def stop(self, grace: float) -> None:
        """Gives its runs up; other hosts continue them."""
        await self._host.astop(grace)
