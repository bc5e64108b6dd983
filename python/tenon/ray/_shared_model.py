"""Models in actors that the hosts of a deployment share."""
from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import ray

from .._errors import Error, Unavailable
from .._models import Request

MODEL_PREFIX = "tenon-model-"


class SharedModel:
    """A model for `deploy`: `per_node` actors on each node, or `actors` in the whole cluster, have it in their memory, and the hosts ask
    them; those of a node ask its own.

    `make` is called once in each actor, and returns the model: a function as for `tenon.load`, which gets a `tenon.Request`; the
    pieces of an async generator are streamed. With `batch`, it gets a list of at most so many requests, and returns their
    answers: those that come while it works are the next batch. `num_cpus`, `num_gpus` and `resources` are those of an actor.
    An actor that ends is started again; meanwhile recorded runs wait for it.
    """

    def __init__(self, make: Callable[[], Callable[..., Any]], *, per_node: int = 1, actors: int | None = None, batch: int | None = None,
                 num_cpus: float = 0, num_gpus: float | None = None, resources: Mapping[str, float] | None = None,
                 requests_max: int = 1_000) -> None:
        if batch is not None and batch < 1:
            raise Error("`batch` is the number of requests that the model gets at once, at least 1", "Usage")
        self.make = make
        self.per_node = per_node
        self.actors = actors
        self.batch = batch
        self.needs: dict[str, Any] = {"num_cpus": num_cpus, "max_concurrency": requests_max}
        if num_gpus is not None:
            self.needs["num_gpus"] = num_gpus
        if resources:
            self.needs["resources"] = dict(resources)

    def names(self, nodes: Mapping[str, str]) -> dict[str, str | None]:
        """The actors that there should be, and the node of each. `nodes`: what the names have of each node's id."""
        if self.actors is not None:
            return {f"{MODEL_PREFIX}{index}": None for index in range(self.actors)}
        return {f"{MODEL_PREFIX}{short}-{index}": node for node, short in nodes.items() for index in range(self.per_node)}

    def client(self, namespace: str, short_node: str) -> Callable[[Request], AsyncIterator[str]]:
        """The model of a host, on the node that the names call so."""
        count = self.per_node if self.actors is None else self.actors
        prefix = f"{MODEL_PREFIX}{short_node}-" if self.actors is None else MODEL_PREFIX
        asked = 0

        async def shared_model(request: Request) -> AsyncIterator[str]:
            nonlocal asked
            asked += 1
            name = f"{prefix}{asked % count}"
            try:
                actor = await asyncio.to_thread(ray.get_actor, name, namespace=namespace)
            except ValueError:
                raise Unavailable(f"the actor `{name}` of the shared model is not there yet") from None
            pieces: Any = actor.answer.options(num_returns="streaming").remote(request)
            is_over = False
            try:
                async for piece in pieces:
                    yield await piece
                is_over = True
            except ray.exceptions.RayTaskError:
                is_over = True
                raise
            except ray.exceptions.RayError as error:
                is_over = True
                raise Unavailable(f"the shared model cannot be reached: {str(error).splitlines()[0]}") from error
            finally:
                if not is_over:
                    ray.cancel(pieces)

        return shared_model


class ModelActor:
    """Answers the requests of hosts."""

    def __init__(self, shared: SharedModel) -> None:
        self._model = shared.make()
        self._batch = shared.batch
        self._waiting: list[tuple[Request, asyncio.Future[str]]] = []
        self._working: asyncio.Task[None] | None = None

    async def answer(self, request: Request) -> AsyncIterator[str]:
        called: Any = self._model if inspect.isroutine(self._model) else getattr(self._model, "__call__")
        if self._batch is not None:
            yield await self._answer_in_batch(request)
        elif inspect.isasyncgenfunction(called):
            async for piece in called(request):
                yield piece
        elif inspect.iscoroutinefunction(called):
            yield await called(request)
        else:
            yield await asyncio.to_thread(called, request)

    async def _answer_in_batch(self, request: Request) -> str:
        answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, answered))
        if self._working is None:
            self._working = asyncio.ensure_future(self._work())
        return await answered

    async def _work(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:self._batch], self._waiting[self._batch:]
                batch = [(request, answered) for request, answered in batch if not answered.cancelled()]
                if batch:
                    await self._answer_all(batch)
        finally:
            self._working = None

    async def _answer_all(self, batch: list[tuple[Request, asyncio.Future[str]]]) -> None:
        requests = [request for request, _ in batch]
        try:
            if inspect.iscoroutinefunction(self._model):
                answers = await self._model(requests)
            else:
                answers = await asyncio.to_thread(self._model, requests)
            if len(answers) != len(requests):
                raise ValueError(f"the model gave {len(answers)} answers to {len(requests)} requests")
        except Exception as error:
            for _, answered in batch:
                if not answered.done():
                    answered.set_exception(error)
            return
        for (_, answered), text in zip(batch, answers):
            if not answered.done():
                answered.set_result(text)
