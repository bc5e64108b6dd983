"""Models that Python functions are."""
from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Union

from ._background import Scheduler
from ._errors import Unavailable


@dataclass(frozen=True)
class Message:
    role: str
    text: str


@dataclass(frozen=True)
class Request:
    """What a model is asked. `schema` is the JSON schema of a typed answer."""

    label: str
    messages: tuple[Message, ...]
    schema: dict[str, Any] | None
    schema_name: str | None
    temperature: float
    seed: int
    max_tokens: int
    timeout: float
    is_judgement: bool


ModelFunction = Callable[[Request], Union[str, Awaitable[str], AsyncIterator[str]]]


def _read(text: str) -> Request:
    data = json.loads(text)
    schema = data.get("schema")
    return Request(
        label=data["label"], messages=tuple(Message(one["role"], one["text"]) for one in data["messages"]),
        schema=json.loads(schema["json_schema"]) if schema and isinstance(schema["json_schema"], str)
        else (schema["json_schema"] if schema else None),
        schema_name=schema["name"] if schema else None, temperature=data["temperature"], seed=data["seed"],
        max_tokens=data["tokens_max"], timeout=data["timeout_ms"] / 1000, is_judgement=data["is_judgement"])


def _fail(generation: Any, exception: BaseException) -> None:
    text = str(exception)
    generation.fail(f"{type(exception).__name__}: {text}" if text else type(exception).__name__,
                    isinstance(exception, (Unavailable, ConnectionError)))


def start_of(function: ModelFunction, scheduler: Scheduler) -> Callable[[Any, str], None]:
    """What the engine calls for each answer. Plain functions are called on threads of a pool."""
    async def stream(generation: Any, request: Request) -> None:
        pieces: list[str] = []
        try:
            async for piece in function(request):  # type: ignore[union-attr]
                pieces.append(piece)
                generation.add(piece)
        except BaseException as exception:
            _fail(generation, exception)
            if not isinstance(exception, Exception):
                raise
        else:
            generation.finish("".join(pieces))

    async def wait_for(generation: Any, answer: Awaitable[str]) -> None:
        try:
            text = await answer
        except BaseException as exception:
            _fail(generation, exception)
            if not isinstance(exception, Exception):
                raise
        else:
            generation.finish(text)

    def answer(generation: Any, request: Request) -> None:
        try:
            found = function(request)
        except BaseException as exception:
            _fail(generation, exception)
            return
        if isinstance(found, str):
            generation.finish(found)
        elif inspect.isawaitable(found):
            scheduler.schedule(wait_for(generation, found), generation.is_cancelled)
        else:
            generation.fail(f"the model function returned a `{type(found).__name__}`, expected a `str`", False)

    called = function if inspect.isroutine(function) else type(function).__call__  # type: ignore[operator]

    def start(generation: Any, text: str) -> None:
        request = _read(text)
        if inspect.isasyncgenfunction(called):
            scheduler.schedule(stream(generation, request), generation.is_cancelled)
        elif inspect.iscoroutinefunction(called):
            answer(generation, request)
        else:
            scheduler.run_in_thread(lambda: answer(generation, request))

    return start
