"""Models that Python functions are."""
from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ._errors import Unavailable
from ._marks import ends_from_outside, message_of

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


ModelFunction = Callable[[Request], str | Awaitable[str] | AsyncIterator[str]]


def _fail(generation: Any, exception: BaseException) -> None:
    generation.fail(message_of(exception), isinstance(exception, (Unavailable, ConnectionError)))


def _end(generation: Any, exception: BaseException) -> None:
    """A recorded run asks again for an answer that was given up."""
    if ends_from_outside(exception):
        generation.give_up()
    else:
        _fail(generation, exception)


async def _stream(generation: Any, pieces: AsyncIterator[str]) -> None:
    whole: list[str] = []
    try:
        async for piece in pieces:
            whole.append(piece)
            generation.add(piece)
    except Exception as exception:
        _fail(generation, exception)
    except BaseException as exception:
        _end(generation, exception)
        raise
    else:
        generation.finish("".join(whole))


async def _await(generation: Any, answer: Awaitable[str]) -> None:
    try:
        generation.finish(await answer)
    except Exception as exception:
        _fail(generation, exception)
    except BaseException as exception:
        _end(generation, exception)
        raise


def start_of(function: ModelFunction, background: Background) -> Callable[[Any, str], Any]:
    """What starts each answer, on the thread of an event loop. Plain functions are called on threads of a pool."""
    import inspect

    called: Any = function if inspect.isroutine(function) else getattr(function, "__call__")

    def answer(generation: Any, request: Request) -> None:
        try:
            found = function(request)
            if not isinstance(found, str):
                raise TypeError(f"the model function returned a `{type(found).__name__}`, expected a `str`")
        except BaseException as exception:
            _fail(generation, exception)
        else:
            generation.finish(found)

    def start(generation: Any, text: str) -> Any:
        request = Request(text)
        if inspect.isasyncgenfunction(called):
            return background.create_task(_stream(generation, called(request)), generation.give_up)
        if inspect.iscoroutinefunction(called):
            return background.create_task(_await(generation, called(request)), generation.give_up)
        background.threads.submit(lambda: answer(generation, request))
        return None

    return start
