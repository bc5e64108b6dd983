"""Python functions as externs."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from . import _core
from ._background import Scheduler
from ._errors import Error, ProgramError, Unavailable
from ._types import Types

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Call:
    """The current call of an extern: its first parameter, if that has this class as its annotation."""

    effect_key: str
    """The same for each attempt of this call, even after a crash; different for all others. Empty in a run that is not
    recorded. For services that accept an idempotency key."""


@dataclass(frozen=True)
class Marked:
    """What `extern` has noted on a function."""

    name: str
    blocking: bool


@overload
def extern(function: F) -> F: ...
@overload
def extern(*, name: str | None = None, blocking: bool = False) -> Callable[[F], F]: ...


def extern(function: Any = None, *, name: str | None = None, blocking: bool = False) -> Any:
    """Marks a function as an extern: its name in the program if it is another one, and whether it blocks.

    A function is called on a thread that continues the runs, which wait meanwhile. One that blocks, as for a request to a
    service, is called on a thread of a pool. A coroutine function needs neither.
    """
    def mark(marked: Any) -> Any:
        marked.tenon_extern = Marked(name or marked.__name__, blocking)
        return marked

    return mark if function is None else mark(function)


def named(externs: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Functions by the names of their externs."""
    if isinstance(externs, Mapping):
        return dict(externs)
    found: dict[str, Callable[..., Any]] = {}
    for function in externs:
        marked = getattr(function, "tenon_extern", None)
        name = marked.name if marked else getattr(function, "__name__", None)
        if name is None:
            raise Error(f"an extern has no name: {function!r}; give it as {{name: function}}", "Usage")
        if name in found:
            raise Error(f"there are two functions for the extern `{name}`", "Usage")
        found[name] = function
    return found


def _message(exception: BaseException) -> str:
    name, text = type(exception).__name__, str(exception)
    return f"{name}: {text}" if text else name


def _finish_with(deferred: Any, exception: BaseException) -> None:
    is_unavailable = isinstance(exception, Unavailable)
    deferred.fail(str(exception) if is_unavailable else _message(exception), is_unavailable)


def _takes_call(function: Callable[..., Any]) -> bool:
    try:
        first = next(iter(inspect.signature(function, eval_str=True).parameters.values()), None)
    except (ValueError, TypeError, NameError):
        return False
    return first is not None and first.annotation is Call


def make(function: Callable[..., Any], scheduler: Scheduler) -> Any:
    """The extern of an engine for a function."""
    marked = getattr(function, "tenon_extern", None)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):
        async def perform(deferred: Any, arguments: tuple[Any, ...]) -> None:
            try:
                value = await function(*arguments)
            except BaseException as exception:
                _finish_with(deferred, exception)
                if not isinstance(exception, Exception):
                    raise
            else:
                deferred.finish(value)

        def schedule(deferred: Any, _: Any, arguments: tuple[Any, ...]) -> None:
            scheduler.schedule(perform(deferred, arguments), deferred.is_cancelled)
    elif marked is not None and marked.blocking:
        def schedule(deferred: Any, _: Any, arguments: tuple[Any, ...]) -> None:
            def perform_here() -> None:
                try:
                    value = function(*arguments)
                except BaseException as exception:
                    _finish_with(deferred, exception)
                else:
                    deferred.finish(value)

            scheduler.run_in_thread(perform_here)
    else:
        schedule = None  # type: ignore[assignment]
    return _core.Extern(function, schedule, _takes_call(function))


def check(declared: Mapping[str, Any], function: Callable[..., Any], types: Types) -> None:
    """Compares a function with its declaration in the program, as far as it has annotations."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except (ValueError, TypeError, NameError):
        return  # a builtin function, or annotations that are not available now
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].annotation is Call:
        parameters = parameters[1:]
    expected = declared["parameters"]
    shown = ", ".join(f"{one['name']}: {types.described[one['type']]['text']}" for one in expected)
    what = f"the extern `{declared['name']}({shown}) -> {types.described[declared['result']]['text']}`"
    try:
        inspect.Signature([p.replace(annotation=p.empty) for p in parameters]).bind(*expected)
    except TypeError as error:
        raise ProgramError(f"{what} cannot be performed by `{getattr(function, '__qualname__', function)}{signature}`: {error}",
                           "Program") from None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    pairs = [(f"the parameter `{p.name}`", p.annotation, one["type"]) for p, one in zip(positional, expected)]
    pairs.append(("the result", signature.return_annotation, declared["result"]))
    for place, annotation, index in pairs:
        described = types.described[index]
        while described["kind"] == "refined":
            described = types.described[described["base"]]
        simple = {"boolean": bool, "i32": int, "i64": int, "f64": float, "string": str, "text": str, "list": list, "map": dict,
                  "unit": type(None)}.get(described["kind"])
        found = type(None) if annotation is None else getattr(annotation, "__origin__", annotation)
        if simple is None or not isinstance(found, type) or found is inspect.Signature.empty:
            continue
        known = (bool, int, float, str, bytes, list, dict, tuple, set, type(None))
        if found in known and found is not simple and not (simple is float and found is int):
            raise ProgramError(f"{what} cannot be performed by `{getattr(function, '__qualname__', function)}`: {place} is `{found.__name__}`, "
                               f"expected `{described['text']}`", "Program")
