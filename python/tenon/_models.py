"""Models that Python functions are."""
from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

from ._errors import Unavailable, note_cause
from ._marks import ends_from_outside, message_of
from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._setup import Background


class Message:
    """A message to a model."""

    __slots__ = ("role", "text")

    def __init__(self, role: str, text: str) -> None:
        self.role = role
        self.text = text

    def __repr__(self) -> str:
        return f"Message({self.role!r}, {self.text!r})"


class Request:
    """What a model is asked. `schema` is the JSON schema of a typed answer."""

    __slots__ = ("label", "messages", "schema", "schema_name", "temperature", "seed", "max_tokens", "timeout", "is_judgement")

    label: str
    messages: tuple[Message, ...]
    schema: dict[str, Any] | None
    schema_name: str | None
    temperature: float
    seed: int
    max_tokens: int
    timeout: float
    is_judgement: bool

    def __init__(self, text: str) -> None:
        import json

        data = json.loads(text)
        schema = data.get("schema")
        self.label = data["label"]
        self.messages = tuple(Message(one["role"], one["text"]) for one in data["messages"])
        self.schema = schema["json_schema"] if schema else None
        self.schema_name = schema["name"] if schema else None
        self.temperature = data["temperature"]
        self.seed = data["seed"]
        self.max_tokens = data["tokens_max"]
        self.timeout = data["timeout_ms"] / 1000
        self.is_judgement = data["is_judgement"]

    @property
    def text(self) -> str:
        """The texts of all messages, one after the other."""
        return "\n".join(message.text for message in self.messages)

    def __repr__(self) -> str:
        return f"<tenon request {self.label}: {len(self.messages)} messages>"


ModelFunction = Callable[[Request], str | Iterator[str] | Awaitable[str] | AsyncIterator[str]]


def _fail(generation: Any, exception: BaseException) -> None:
    text = message_of(exception)
    note_cause(text, exception)
    generation.fail(text, isinstance(exception, (Unavailable, ConnectionError)))


def _checked(found: Any, what: str) -> str:
    if isinstance(found, str):
        return found
    raise TypeError(f"the model function {what} a `{type(found).__name__}`, expected a `str`")


def _ends(generation: Any, exception: BaseException) -> bool:
    """Whether the answer is given up, so that a recorded run asks again. Otherwise it has failed."""
    if ends_from_outside(exception):
        generation.give_up()
        return True
    _fail(generation, exception)
    return False


async def _stream(generation: Any, pieces: AsyncIterator[str]) -> None:
    whole: list[str] = []
    try:
        async for piece in pieces:
            whole.append(_checked(piece, "yielded"))
            generation.add(piece)
    except Exception as exception:
        _fail(generation, exception)
    except BaseException as exception:
        if _ends(generation, exception):
            raise
    else:
        generation.finish("".join(whole))


async def _await(generation: Any, answer: Awaitable[str]) -> None:
    try:
        generation.finish(_checked(await answer, "returned"))
    except Exception as exception:
        _fail(generation, exception)
    except BaseException as exception:
        if _ends(generation, exception):
            raise


def _join(generation: Any, pieces: Iterator[str]) -> str:
    """Passes the pieces of an answer on while they come. Stops when the answer is not needed any more."""
    whole: list[str] = []
    for piece in pieces:
        if generation.is_cancelled():
            break
        whole.append(_checked(piece, "yielded"))
        generation.add(piece)
    return "".join(whole)


def start_of(function: ModelFunction, background: Background) -> Callable[[Any, str], Any]:
    """What starts each answer, on the thread of an event loop. Plain functions are called on threads of a pool; if such a
    function returns something to be awaited, as a lambda may, the loop does that."""
    import functools
    import inspect

    is_known = inspect.isroutine(function) or isinstance(function, functools.partial)
    called: Any = function if is_known else getattr(function, "__call__")

    def create_task(generation: Any, found: Any) -> Any:
        coroutine = _stream(generation, found) if hasattr(found, "__aiter__") else _await(generation, found)
        return background.create_task(coroutine, generation.give_up)

    def answer(generation: Any, request: Request, loop: Any) -> None:
        try:
            found: Any = function(request)
            if inspect.isawaitable(found) or hasattr(found, "__aiter__"):
                loop.call_soon_threadsafe(create_task, generation, found)
                return
            text = _join(generation, found) if hasattr(found, "__next__") else _checked(found, "returned")
        except BaseException as exception:
            _fail(generation, exception)
        else:
            generation.finish(text)

    def start(generation: Any, text: str) -> Any:
        request = Request(text)
        if inspect.isasyncgenfunction(called) or inspect.iscoroutinefunction(called):
            return create_task(generation, called(request))
        import asyncio

        loop = asyncio.get_running_loop()
        background.threads.submit(lambda: answer(generation, request, loop))
        return None

    return start
