"""Runs: calls of functions and conversations with agents that continue by themselves."""
from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable, Iterator

from . import _json as json
from ._checks import count_of, json_of, refuse_hidden, text_of, timeout_of, utf8_text_of
from ._errors import Error, InputError, failure_of
from ._typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from ._artifacts import Artifacts
    from ._engine import Engine
    from ._host import Follow
    from ._program import Program
    from ._types import Types

T = TypeVar("T")

STATES = ("running", "asks", "ready", "returned", "failed", "cancelled", "detached")


class Wait:
    """An open question of a run."""

    __slots__ = ("name", "question", "schema", "value", "sources")

    def __init__(self, name: str, question: str, schema: Any, value: Any = None, sources: Iterable[str] = ()) -> None:
        self.name = name
        self.question = question
        self.schema = schema
        self.value = value
        """What is to be approved, as JSON has it; the answer is `"yes"`, `"no"` or another value. None: nothing is."""
        self.sources = tuple(sources)
        """What that depends on, such as `extern read_inbox`."""

    @classmethod
    def of(cls, described: dict[str, Any]) -> Wait:
        """From what a store or an engine says of it."""
        return cls(described["wait"], described.get("question", ""), described.get("schema"), described.get("value"),
                   described.get("sources", ()))

    @property
    def is_for_text(self) -> bool:
        """Whether any text is an answer."""
        schema = self.schema
        return not schema or (schema.get("type") == "string" and "enum" not in schema and "const" not in schema)

    @property
    def takes_texts(self) -> bool:
        """Whether all answers are texts."""
        return bool(self.schema) and self.schema.get("type") == "string"

    def __repr__(self) -> str:
        return f"Wait({self.name!r}, {self.question!r})"


class Event:
    """An event of the agent protocol. `data` has its members, which are attributes, too."""

    __slots__ = ("type", "data")

    def __init__(self, type: str, data: dict[str, Any]) -> None:
        self.type = type
        self.data = data

    def __getattr__(self, name: str) -> Any:
        try:
            return self.data[name]
        except KeyError:
            raise AttributeError(f"an event `{self.type}` has no `{name}`") from None

    def __repr__(self) -> str:
        return f"Event({self.type!r}, {self.data!r})"


class Prompt:
    """What a model was sent, and its answer; None while there is none, or after an error."""

    __slots__ = ("function", "place", "attempt", "messages", "schema", "answer", "error", "model", "tokens", "milliseconds")

    def __init__(self, data: dict[str, Any]) -> None:
        from ._models import Message

        self.function: str = data["function"]
        self.place: str = data["place"]
        self.attempt: int = data["attempt"]
        self.messages = tuple(Message(one["role"], one["text"]) for one in data["messages"])
        self.schema: Any = data.get("schema")
        self.answer: str | None = data.get("answer")
        self.error: str | None = data.get("error")
        self.model: str = data.get("model", "")
        self.tokens: dict[str, int] = data.get("tokens", {})
        self.milliseconds: float = data.get("ms", 0.0)

    def __repr__(self) -> str:
        return f"<tenon prompt of {self.function} at {self.place}>"


class Events:
    """The events of a run until it has ended or waits for input: an iterator, and an asynchronous one."""

    def __init__(self, run: Run[Any]) -> None:
        self._run = run

    def __iter__(self) -> Iterator[Event]:
        return self._run._iterate()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._run._iterate_async()


class Texts:
    """The text that a run emits and answers, in pieces as it comes. A model that begins its answer anew repeats it."""

    def __init__(self, events: Events | Follow) -> None:
        self._events = events
        self._given: dict[str, tuple[int, int]] = {}  # generation -> attempt, bytes
        self._answered: str | None = None  # an answer, which the agent may emit next

    def _piece(self, event: Event) -> str:
        if event.type == "text_delta":
            attempt, given = self._given.get(event.generation, (0, 0))
            if event.attempt == attempt and event.offset < given:
                return ""
            text: str = event.text
            self._given[event.generation] = (event.attempt, event.offset + len(text.encode()))
            return text
        if event.type != "text":
            return ""
        whole: str = event.text
        generation = event.data.get("generation")
        if generation is None:
            answered, self._answered = self._answered, None
            return "" if whole == answered else whole
        self._answered = whole
        return whole.encode()[self._given.pop(generation, (0, 0))[1]:].decode(errors="ignore")

    def __iter__(self) -> Iterator[str]:
        for event in self._events:
            if piece := self._piece(event):
                yield piece

    async def __aiter__(self) -> AsyncIterator[str]:
        async for event in self._events:
            if piece := self._piece(event):
                yield piece


class Run(Generic[T]):
    """A run of a function, or a conversation. It is made by `start` of a function or an agent, or by `tenon.resume`."""

    def __init__(self, core: Any, engine: Engine, *, has_events: bool = False, program: Program | None = None,
                 value_type: tuple[Types, int] | None = None) -> None:
        self._core = core
        self._engine = engine
        self._has_events = has_events
        self.program = program
        """The program that the run was started from."""
        self._value_type = value_type  # where the value comes as JSON
        self._events: deque[Event] = deque()
        self.blocks: list[str] = []
        """The blocks that the run has entered, as far as its events were taken."""
        engine.add_run(self)

    @property
    def name(self) -> str | None:
        """The name under which the run is recorded; None without a store."""
        name: str | None = self._core.name()
        return name

    @property
    def title(self) -> str:
        """The name of its function or agent."""
        title: str | None = self._core.title()
        return title or ""

    @property
    def number(self) -> int:
        """A number that no other run of its program has."""
        number: int = self._core.number()
        return number

    @property
    def state(self) -> str:
        """`"running"`, `"asks"`, `"ready"` for a prompt, `"returned"`, `"failed"`, `"cancelled"` or `"detached"`."""
        return STATES[self._core.wait(0.0)]

    def wait(self, timeout: float | None = None) -> str:
        """Continues the run until it has ended or waits for input. Returns its state, `"running"` after the timeout."""
        seconds = timeout_of(timeout)
        self._engine.before_wait()
        piece = self._engine.piece_of_wait(seconds)
        state = self._core.wait(piece)
        if state == 0 and piece != seconds:
            raise self._engine.blocked_error()
        return STATES[state]

    async def await_state(self) -> str:
        """As `wait`, for asyncio."""
        engine = self._engine
        while True:
            engine.attach()
            news = engine.news_of(self.number)
            state = self._core.wait(0.0)
            if state == 0 and news is not None:
                await news
                continue
            if news is not None:
                news.cancel()
            return STATES[state]

    def waits(self) -> list[Wait]:
        """The open questions."""
        return [Wait.of(one) for one in json.loads(self._core.questions())]

    def answer(self, wait: Wait | str | None, value: Any) -> None:
        """Answers a question. None: the only one that the run has asked so far."""
        name = name_of(wait) or ""
        self._engine.continue_runs()
        self._core.answer(name, self._text_of_answer(name, value))

    def _text_of_answer(self, name: str, value: Any) -> str:
        asked = [one for one in self.waits() if name in ("", one.name)]
        if isinstance(value, str):
            text = utf8_text_of(value, "value")
            return text if any(one.is_for_text or one.takes_texts for one in asked) else json.dumps(text)
        if asked and all(one.takes_texts for one in asked):
            raise refuse_hidden("a text", "value", value)
        return json_of(value, "value")

    def cancel(self, reason: str = "cancelled") -> None:
        """Ends the run. Its blocks of `finally` are executed first."""
        self._core.cancel(text_of(reason, "reason"))

    def result(self, timeout: float | None = None) -> T:
        """Waits for the value of the run. Raises what it has failed with, `NeedsAnswer` if it asks a person, and
        `TimeoutError`."""
        return self._result(self.wait(timeout))

    async def aresult(self) -> T:
        """As `result`, for asyncio. `await run` does the same."""
        return self._result(await self.await_state())

    def __await__(self) -> Generator[Any, Any, T]:
        return self.aresult().__await__()

    def _result(self, state: str) -> T:
        if state == "running":
            raise TimeoutError("the run has not ended")
        if state == "asks":
            raise needs_answer(self)
        value: Any
        if self._core.is_typed():
            value = self._core.value()
            return cast(T, value)
        outcome = self._core.outcome()
        if outcome is None:
            raise Error("the conversation waits for its first prompt", "Conflict")
        ended, text, message, kind, blame = outcome
        if ended != 3:
            raise failure_of(ended, message, kind, blame, self._core.key())
        value = json.loads(text) if text else None
        return cast(T, value if self._value_type is None else self._value_type[0].from_json(self._value_type[1], value))

    def events(self) -> Events:
        """The events until the run has ended or waits for input: `for event in …` and `async for event in …`. The run was
        started with `events=True`."""
        if not self._has_events:
            raise Error("the run has no events; start it with `events=True`", "Usage")
        return Events(self)

    def texts(self) -> Texts:
        """The text that the run emits and its models answer, piece by piece: `for piece in …` and `async for piece in …`."""
        return Texts(self.events())

    def add_event(self, kind: str, text: str) -> None:
        event = Event(kind, json.loads(text))
        if kind == "block_entered" and event.path not in self.blocks:
            self.blocks.append(event.path)
        self._events.append(event)

    def take_events(self) -> None:
        """Takes the events that there are, and keeps them for `events`."""
        if self._has_events:
            self._engine.take_events_of(self, self._core)

    @property
    def has_unused_events(self) -> bool:
        return bool(self._events)

    def _iterate(self) -> Iterator[Event]:
        while self._events or self._engine.await_events(self, self._core):
            while self._events:
                yield self._events.popleft()

    async def _iterate_async(self) -> AsyncIterator[Event]:
        engine = self._engine
        is_over = False
        while True:
            engine.attach()
            while self._events:
                yield self._events.popleft()
            if is_over:
                return
            news = engine.news_of(self.number)
            is_over = self._core.wait(0.0) != 0
            if is_over:
                self.take_events()
            elif news is not None and not self._events:
                await news
            if news is not None:
                news.cancel()

    def prompts(self) -> list[Prompt]:
        """What the run's models were sent and have answered, oldest first. Kept for runs with events."""
        return [Prompt(one) for one in json.loads(self._core.prompts())]

    # --- Recorded runs -----------------------------------------------------------------------------------------------

    def _recorded_name(self) -> str:
        name = self.name
        if name is None:
            raise Error("the run is not recorded; load its program with a store", "Usage")
        return name

    def artifacts(self) -> Artifacts:
        """What the run did, as the arrays of the interaction algebra. Needs NumPy."""
        from ._artifacts import Artifacts

        name = self._recorded_name()
        return Artifacts(self._engine.core.artifacts(name, "npz"), self._engine.core.artifacts(name, "json"),
                         self._engine.core.artifacts(name, "hash").decode())

    def calls(self) -> str:
        """What the run did, as a tree of its calls for people."""
        text: str = self._engine.core.artifacts(self._recorded_name(), "calls").decode()
        return text

    def fork(self, at: int, program: Program | None = None, *, events: bool = True) -> Run[T]:
        """Starts a run that uses the outcomes again that this one has recorded up to the record `at`. `program`: a changed
        one."""
        record = count_of(at, "at")
        changed = None if program is self.program else _core_of(program)
        program = program or self.program
        self._engine.continue_runs()
        with self._engine.taking_here():
            core = self._engine.core.fork(self._recorded_name(), record, changed, flags_of(events))
            if program is None:
                return type(self)(core, self._engine, has_events=events)
            return program.run_of(core, events)

    def replay(self, program: Program | None = None) -> None:
        """Executes the run again from its journal, without calling models or externs. Raises `ReplayDiffers` if it does
        something else. `program`: a changed one."""
        from ._errors import ReplayDiffers

        changed = _core_of(program)
        try:
            difference = self._engine.core.replay(self._recorded_name(), changed)
        except Error as error:
            if error.kind != "Failed":
                raise
            difference = error.message
        if difference:
            raise ReplayDiffers(difference, "ReplayDiffers")

    def _repr_html_(self) -> str:
        from ._notebook import html_of_run

        return html_of_run(self)

    def __repr__(self) -> str:
        return f"<tenon run {self.name or self.number}: {self.state}>"


class Conversation(Run[T]):
    """A conversation with an agent. It waits for a prompt before each turn."""

    def prompt(self, input: Any) -> None:
        """Begins the next turn."""
        self._engine.continue_runs()
        self._core.prompt(utf8_text_of(input, "input") if isinstance(input, str) else json_of(input, "input"))

    def say(self, input: Any, timeout: float | None = None) -> T:
        """Begins the next turn, and waits for its value."""
        self.prompt(input)
        return self.result(timeout)

    async def asay(self, input: Any) -> T:
        """As `say`, for asyncio."""
        self._engine.attach()
        self.prompt(input)
        return await self.aresult()

    def stream(self, input: Any) -> Texts:
        """Begins the next turn, and gives its text in pieces as it comes."""
        texts = self.texts()
        self.prompt(input)
        return texts

    def cancel_turn(self, reason: str = "cancelled") -> None:
        """Ends the current turn, not the conversation."""
        self._core.cancel_turn(text_of(reason, "reason"))


def name_of(wait: Wait | str | None) -> str | None:
    if wait is None or isinstance(wait, str):
        return wait
    if isinstance(wait, Wait):
        return wait.name
    raise InputError(f"expected a question of `waits()`, its name or None as `wait`, got {wait!r}", "WrongInput")


def _core_of(program: Program | None) -> Any:
    from ._program import Program as LoadedProgram

    if program is None:
        return None
    if isinstance(program, LoadedProgram):
        return program._core
    raise InputError(f"expected a program of `load_changed` as `program`, got {program!r}", "WrongInput")


def needs_answer(run: Run[Any]) -> Error:
    from ._errors import NeedsAnswer

    error = NeedsAnswer("the run waits for an answer: " + "; ".join(wait.question for wait in run.waits()), "NeedsAnswer")
    error.run = run
    return error


def flags_of(has_events: bool) -> int:
    from . import _core

    flags: int = _core.WITH_STOPS
    return flags | _core.WITH_EVENTS | _core.WITH_PROMPTS if has_events else flags
