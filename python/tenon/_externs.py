"""Python functions as externs of an engine."""
from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from . import _core
from ._errors import ProgramError, Unavailable, note_cause
from ._marks import ends_from_outside, find_problem, message_of, takes_call, text_of
from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import contextvars

    from ._setup import Background
    from ._types import Types


def _fail(deferred: Any, exception: BaseException) -> None:
    is_unavailable = isinstance(exception, Unavailable)
    text = text_of(exception) if is_unavailable else message_of(exception)
    note_cause(text, exception, deferred.run())
    deferred.fail(text, is_unavailable)


async def _complete(deferred: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        value = await function(*arguments)
    except Exception as exception:
        _fail(deferred, exception)
    except BaseException as exception:
        if ends_from_outside(exception):
            deferred.interrupt()
            raise
        _fail(deferred, exception)
    else:
        deferred.finish(value)


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    import inspect

    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def is_for_one_thread(function: Callable[..., Any]) -> bool:
    """Whether a function is marked as one that is called on the thread that continues the runs."""
    marked = getattr(function, "tenon_extern", None)
    return marked is not None and marked.blocking is False and not _is_coroutine_function(function)


def make(function: Callable[..., Any], background: Background) -> Any:
    """The extern of an engine for a function."""
    marked = getattr(function, "tenon_extern", None)
    schedule = None
    if _is_coroutine_function(function):
        def schedule(deferred: Any, called: Any, arguments: tuple[Any, ...], context: contextvars.Context) -> Any:
            return background.create_task(_complete(deferred, called, arguments), deferred.interrupt, context)
    blocking = None if marked is None else marked.blocking
    thread = _core.SUITABLE_THREAD
    if blocking is not None:
        thread = _core.OWN_THREAD if blocking else _core.ENGINE_THREAD
    return _core.Extern(function, schedule, thread, takes_call(function))


class CallThreads:
    """The threads that call plain functions. They do not keep the interpreter from ending. Kept by what owns the engine."""

    def __init__(self) -> None:
        self.core: Any = None

    def start(self) -> None:
        threading.Thread(target=_make_calls, args=(self.core.take_call,), name="tenon-extern", daemon=True).start()


def _make_calls(take_call: Callable[[bool], Any]) -> None:
    is_first = True
    while (taken := take_call(is_first)) is not None:
        is_first = False
        deferred, function, arguments, context = taken
        try:
            value = context.copy().run(function, *arguments)
        except BaseException as exception:  # the thread has other calls to make
            _fail(deferred, exception)
        else:
            deferred.finish(value)
            del value
        del taken, deferred, function, arguments, context


def signature_of(declared: Mapping[str, Any], types: Types) -> list[str]:
    """The types of an extern's parameters and of its result, as the program writes them."""
    return [types.described[index]["text"] for index in (*(one["type"] for one in declared["parameters"]), declared["result"])]


def bind(performed: Any, declared: Mapping[str, Any], type_list: Any) -> None:
    """Gives the extern of an engine the types of its declaration."""
    performed.bind(type_list, [one["type"] for one in declared["parameters"]], declared["result"])


def check(declared: Mapping[str, Any], function: Callable[..., Any], types: Types) -> None:
    """Compares a function with its declaration in the program, as far as it has annotations."""
    problem = find_problem(declared, function, types.described)
    if problem is not None:
        *parameters, result = signature_of(declared, types)
        shown = ", ".join(f"{one['name']}: {text}" for one, text in zip(declared["parameters"], parameters))
        signature = f"{declared['name']}({shown}) -> {result}"
        raise ProgramError(f"the function for the extern `{signature}` does not fit: {problem}", "Program")


_UNRESOLVED_EXTERN = "E4003"
_LIBRARY_HINTS = ("  = hint: pass a library with `--extern", "  = hint: the library must define")


def in_terms_of_python(error: ProgramError, functions: Mapping[str, Any]) -> ProgramError:
    """The same error, with hints for Python instead of those for the command line."""
    if not any(problem.code == _UNRESOLVED_EXTERN for problem in error.problems):
        return error
    lines = [line for line in error.message.splitlines() if not line.startswith(_LIBRARY_HINTS)]
    given = ", ".join(f"`{name}`" for name in functions) or "none"
    lines.append("  = hint: give a function with the name of the extern: `externs=[function]` or `externs={\"name\": function}`; "
                 f"functions that were given: {given}")
    return ProgramError("\n".join(lines), error.kind, place=error.place, blame=error.blame, problems=error.problems)
