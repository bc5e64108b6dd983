"""Runs: calls of functions and conversations with agents that continue in the background."""
from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._errors import Error, failure_of
from ._types import to_json

if TYPE_CHECKING:
    from ._program import Engine

_STATES = ("running", "asks", "ready", "returned", "failed", "cancelled", "detached")
_PERIOD = 0.05  # seconds after which a run that gives no events is asked for its state


@dataclass(frozen=True)
class Wait:
    """An open question of a run."""

    name: str
    question: str
    schema: Any


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


class Run:
    """A run. It is made by `start` of a function or an agent, or by `tenon.resume`."""

    def __init__(self, core: Any, engine: Engine | None, agent_result: Any = None) -> None:
        self._core = core
        self._engine = engine
        self._agent_result = agent_result  # (types, index) of a conversation

    @property
    def name(self) -> str | None:
        """The name under which the run is recorded; None without a store."""
        name: str | None = self._core.name()
        return name

    @property
    def state(self) -> str:
        """`"running"`, `"asks"`, `"ready"` for a prompt, `"returned"`, `"failed"`, `"cancelled"` or `"detached"`."""
        return _STATES[self._core.wait(0.0)]

    def wait(self, timeout: float | None = None) -> str:
        """Continues the run until it has ended or waits for input. Returns its state."""
        return _STATES[self._core.wait(timeout)]

    def waits(self) -> list[Wait]:
        """The open questions."""
        return [Wait(one["wait"], one.get("question", ""), one.get("schema")) for one in json.loads(self._core.questions())]

    def answer(self, wait: Wait | str, value: Any) -> None:
        """Answers a question."""
        name = wait.name if isinstance(wait, Wait) else wait
        self._core.answer(name, value if isinstance(value, str) else json.dumps(to_json(value)))

    def prompt(self, input: Any) -> None:
        """Begins the next turn of a conversation."""
        self._core.prompt(input if isinstance(input, str) else json.dumps(to_json(input)))

    def cancel(self, reason: str = "cancelled") -> None:
        """Ends the run. Its blocks of `finally` are executed first."""
        self._core.cancel(reason)

    def cancel_turn(self, reason: str = "cancelled") -> None:
        """Ends the current turn of a conversation."""
        self._core.cancel_turn(reason)

    def result(self, timeout: float | None = None) -> Any:
        """Waits for the value of the run, or of the newest turn of a conversation."""
        state = self.wait(timeout)
        if state == "running":
            raise TimeoutError("the run has not ended")
        if state == "asks":
            questions = "; ".join(wait.question for wait in self.waits())
            raise Error(f"the run waits for an answer: {questions}", "NeedsAnswer")
        return self._value()

    def _value(self) -> Any:
        if self._core.is_typed():
            return self._core.value()
        outcome = self._core.outcome()
        if outcome is None:
            raise Error("the conversation waits for its first prompt", "Conflict")
        state, value, message, kind, blame = outcome
        if state != 3:
            raise failure_of(state, message, kind, blame)
        data = json.loads(value) if value else None
        return data if self._agent_result is None else self._agent_result[0].from_json(self._agent_result[1], data)

    def events(self) -> Iterator[Event]:
        """The events until the run has ended or waits for input. The run was started with `events=True`."""
        next_event = self._engine_of_events().next_event
        while True:
            event = next_event(self._core, 0.0)
            if event is None:
                is_over = self._core.wait(0.0) != 0
                event = next_event(self._core, 0.0 if is_over else _PERIOD)
                if event is None and is_over:
                    return
            if event is not None:
                yield event

    async def aevents(self) -> AsyncIterator[Event]:
        """As `events`, for asyncio."""
        engine = self._engine_of_events()
        async for event in engine.events_of(self._core):
            yield event

    async def aresult(self) -> Any:
        """As `result`, for asyncio."""
        engine = self._engine_of_events()
        await engine.ended(self._core)
        return self.result(0.0)

    def _engine_of_events(self) -> Engine:
        if self._engine is None:
            raise Error("the run belongs to no engine", "Usage")
        return self._engine

    def __repr__(self) -> str:
        return f"<tenon run {self.name or self._core.number()}: {self.state}>"
