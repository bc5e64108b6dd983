"""What functions that perform externs see of Tenon. Without the extension module: worker processes of `tenon` use it, too
(src/tools/python)."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ._background import is_background
from ._checks import flag_of, optional_text_of
from ._errors import Error
from ._typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    import inspect

F = TypeVar("F", bound=Callable[..., Any])


class Call:
    """The current call of an extern: the first parameter of its function, if that has this class as its annotation."""

    __slots__ = ("effect_key", "input", "_deferred")
    tenon_role = "call"

    effect_key: str
    """The same for each attempt of this call, even after a crash; different for all others. Empty in a run that is not
    recorded. For services that accept an idempotency key."""
    input: str | None
    """A person's answer, if the previous call returned `PauseForInput`."""

    def __init__(self, effect_key: str, input: str | None = None, deferred: Any = None) -> None:
        self.effect_key = effect_key
        self.input = input
        self._deferred = deferred

    @property
    def is_cancelled(self) -> bool:
        """Whether the result is not needed any more. For functions that block; coroutines are cancelled."""
        return self._deferred is not None and bool(self._deferred.is_cancelled())


class PauseForInput:
    """Returned by an extern: a person is asked, and then the function is called again, with `Call.input`."""

    __slots__ = ("question",)
    tenon_role = "pause_for_input"

    def __init__(self, question: str) -> None:
        self.question = question


class PauseForChild:
    """Returned by an extern: an agent takes a turn, whose value is the result of the call."""

    __slots__ = ("agent", "input")
    tenon_role = "pause_for_child"

    def __init__(self, agent: str, input: Any) -> None:
        self.agent = agent
        self.input = _input_of(input)


class FinishAgent:
    """Returned by an extern: an agent continues the current turn, which ends."""

    __slots__ = ("agent", "input")
    tenon_role = "finish_agent"

    def __init__(self, agent: str, input: Any) -> None:
        self.agent = agent
        self.input = _input_of(input)


def _input_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    import json

    from ._types import to_json

    return json.dumps(to_json(value))


class Marked:
    """What `extern` has noted on a function."""

    __slots__ = ("name", "blocking")

    def __init__(self, name: str, blocking: bool | None) -> None:
        self.name = name
        self.blocking = blocking


@overload
def extern(function: F) -> F: ...
@overload
def extern(*, name: str | None = None, blocking: bool | None = None) -> Callable[[F], F]: ...


def extern(function: Any = None, *, name: str | None = None, blocking: bool | None = None) -> Any:
    """Marks a function as an extern: its name in the program if it is another one, and whether it blocks.

    A plain function is called on a thread of a pool, or, if it takes no time and nothing else could continue meanwhile, on
    the thread that waits for its run. With `blocking=True` it is always called on the pool. With `blocking=False` it is
    called on the thread that continues the runs, which all wait meanwhile: for objects that only one thread may use.
    """
    blocking = flag_of(blocking, "blocking")
    name = optional_text_of(name, "name")

    def mark(marked: Any) -> Any:
        found = name or getattr(marked, "__name__", None)
        if not callable(marked):
            raise Error(f"`tenon.extern` marks functions, got {marked!r}; a name is given as `name=`", "Usage")
        if found is None:
            raise Error(f"an extern has no name: {marked!r}; give it as `name=`", "Usage")
        try:
            marked.tenon_extern = Marked(found, blocking)
        except AttributeError:  # a method, or a function in C
            import functools

            marked = functools.partial(marked)
            marked.tenon_extern = Marked(found, blocking)
            marked.__name__ = marked.__qualname__ = found
        return marked

    return mark if function is None else mark(function)


def named(externs: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] | Any) -> dict[str, Callable[..., Any]]:
    """Functions by the names of their externs. A module gives the functions that it marks with `extern`."""
    if isinstance(externs, Mapping):
        return {name: _callable(function, name) for name, function in externs.items()}
    if type(externs).__name__ == "module":
        name_of_module = vars(externs).get("__name__")
        externs = [one for one in vars(externs).values() if isinstance(getattr(one, "tenon_extern", None), Marked)]
        if not externs:
            raise Error(f"the module `{name_of_module}` marks no function with `@tenon.extern`", "Usage")
    if not hasattr(externs, "__iter__") or isinstance(externs, str):
        raise Error(f"expected functions, `{{name: function}}` or a module as `externs`, got {externs!r}", "Usage")
    found: dict[str, Callable[..., Any]] = {}
    for function in externs:
        marked = getattr(function, "tenon_extern", None)
        name = marked.name if marked else getattr(function, "__name__", None)
        if name is None or name == "<lambda>":
            raise Error(f"an extern has no name: {function!r}; give it as {{name: function}}", "Usage")
        if name in found:
            raise Error(f"there are two functions for the extern `{name}`", "Usage")
        found[name] = _callable(function, name)
    return found


def _callable(function: Any, name: str) -> Callable[..., Any]:
    if callable(function):
        called: Callable[..., Any] = function
        return called
    raise Error(f"what performs the extern `{name}` is not a function: {function!r}", "Usage")


def text_of(exception: BaseException) -> str:
    """The message of an exception, as far as UTF-8 has it."""
    try:
        text = str(exception)
    except Exception:
        return "its message cannot be read"
    return text.encode("utf-8", "replace").decode("utf-8")


def message_of(exception: BaseException) -> str:
    name, text = type(exception).__name__, text_of(exception)
    return f"{name}: {text}" if text else name


def ends_from_outside(exception: BaseException) -> bool:
    """Whether a coroutine ends because its event loop or its process does, and not by what it awaits. SystemExit and KeyboardInterrupt
    end the loops of others, and not the package's: there they are failures, as those of a plain function."""
    import asyncio

    if isinstance(exception, (KeyboardInterrupt, SystemExit)):
        return not is_background(asyncio.get_running_loop())
    if not isinstance(exception, asyncio.CancelledError):
        return isinstance(exception, GeneratorExit)
    task = asyncio.current_task()
    return task is None or not hasattr(task, "cancelling") or task.cancelling() > 0


def takes_call(function: Callable[..., Any]) -> bool:
    signature = _signature_of(function)
    first = None if signature is None else next(iter(signature.parameters.values()), None)
    return first is not None and is_call(first.annotation)


def _signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """None for a builtin function. Annotations that cannot be resolved now count as missing."""
    import inspect

    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return None
    called: Any = inspect.unwrap(function)
    while not hasattr(called, "__globals__"):
        inner = getattr(called, "func", None) or getattr(called, "__func__", None) or getattr(called, "__call__", None)
        if inner is None or inner is called or inspect.isbuiltin(inner) or type(inner).__name__ == "method-wrapper":
            break
        called = inner
    known = getattr(called, "__globals__", {})

    def resolve(annotation: Any) -> Any:
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, known)
        except Exception:
            return inspect.Parameter.empty

    return signature.replace(parameters=[one.replace(annotation=resolve(one.annotation)) for one in signature.parameters.values()],
                             return_annotation=resolve(signature.return_annotation))


def is_call(annotation: Any) -> bool:
    """Whether a parameter gets the call itself. A function may know the class from another copy of this package."""
    return getattr(annotation, "tenon_role", None) == "call"


def find_problem(declared: Mapping[str, Any], function: Callable[..., Any],
                 described: list[dict[str, Any]]) -> str | None:
    """Why a function cannot perform an extern, or None."""
    import inspect

    signature = _signature_of(function)
    if signature is None:
        return None
    parameters = list(signature.parameters.values())
    if parameters and is_call(parameters[0].annotation):
        parameters = parameters[1:]
    expected = declared["parameters"]
    name = getattr(function, "__qualname__", repr(function))
    try:
        inspect.Signature([p.replace(annotation=p.empty) for p in parameters]).bind(*expected)
    except TypeError as error:
        return f"`{name}{signature}` cannot take its arguments: {error}"
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    pairs = [(f"the parameter `{p.name}`", p.annotation, one["type"]) for p, one in zip(positional, expected)]
    pairs.append(("the result", signature.return_annotation, declared["result"]))
    for place, annotation, index in pairs:
        found, wanted = _mismatch(annotation, index, described)
        if found is not None:
            return f"{place} of `{name}` is `{found}`, expected `{wanted}`"
    return None


_SIMPLE = {"boolean": bool, "i32": int, "i64": int, "f64": float, "string": str, "text": str, "list": list, "map": dict,
           "unit": type(None), "tuple": tuple}
_KNOWN = (bool, int, float, str, bytes, list, dict, tuple, set, type(None))


def _mismatch(annotation: Any, index: int, described: list[dict[str, Any]]) -> tuple[str | None, str]:
    one = described[index]
    while one["kind"] == "refined":
        one = described[one["base"]]
    simple = _SIMPLE.get(one["kind"])
    found = type(None) if annotation is None else getattr(annotation, "__origin__", annotation)
    if simple is None or not isinstance(found, type) or found not in _KNOWN:
        return None, ""
    if found is simple or (simple is float and found is int):
        return None, ""
    return found.__name__, one["text"]
