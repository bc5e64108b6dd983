"""Runs of a store that a host or a gateway reaches."""
from __future__ import annotations

import time
from collections.abc import Generator

from ._checks import timeout_of
from ._run import Texts, Wait
from ._setup import off_loop
from ._typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from ._host import Follow, Shared

T = TypeVar("T")

_STATE_OF = {"running": "running", "idle": "ready", "done": "returned"}
_LOOK_SECONDS = 1.0


def state_of(described: dict[str, Any]) -> str:
    """The state of a run that the store describes, in the words of `Run.state`."""
    stored: str = described["state"]
    if stored == "waiting":  # for a person, or only for time or a service
        return "asks" if described.get("waits") else "running"
    return _STATE_OF.get(stored, stored)


class HostedRun(Generic[T]):
    """A run of a store, which any process of the store may continue. It is made by `start`, `run` and `runs` of a host or a
    gateway, and keeps nothing in memory."""

    def __init__(self, host: Shared, name: str, *, title: str) -> None:
        self._host = host
        self.name = name
        self.title = title
        """The name of its function or agent."""

    def describe(self) -> dict[str, Any]:
        """What the store says of it: `state`, `records`, `created_at`, `updated_at`, `waits`, …"""
        return self._host.describe_run(self.name)

    @property
    def state(self) -> str:
        """`"running"`, `"asks"`, `"ready"` for a prompt, `"returned"`, `"failed"`, `"cancelled"` or `"forgotten"`."""
        return state_of(self.describe())

    def waits(self) -> list[Wait]:
        """The open questions."""
        return [Wait.of(one) for one in self.describe().get("waits", [])]

    def events(self, after: int = 0) -> Follow:
        """The events with greater numbers, until the run has ended or waits for input: `for event in …` and
        `async for event in …`."""
        return self._host.follow_turn(self.name, after)

    def texts(self, after: int = 0) -> Texts:
        """The text that the run emits and its models answer, piece by piece."""
        return Texts(self.events(after))

    def wait(self, timeout: float | None = None) -> str:
        """Waits until the run has ended or waits for input. Returns its state, `"running"` after the timeout."""
        seconds = timeout_of(timeout)
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            described = self.describe()
            state = state_of(described)
            left = _LOOK_SECONDS if end is None else min(_LOOK_SECONDS, end - time.monotonic())
            if state != "running" or left <= 0:
                return state
            self._host.follow(self.name, described["records"]).next(left)

    async def await_state(self) -> str:
        """As `wait`, for asyncio."""
        while True:
            described = await off_loop(self.describe)
            state = state_of(described)
            if state != "running":
                return state
            follow = await off_loop(self._host.follow, self.name, described["records"])
            await follow.await_news()

    def answer(self, wait: Wait | str | None, value: Any, *, key: str | None = None) -> None:
        """Answers a question. None: the only one that the run has asked so far."""
        self._host.answer(self.name, wait, value, key=key)

    async def aanswer(self, wait: Wait | str | None, value: Any, *, key: str | None = None) -> None:
        await self._host.aanswer(self.name, wait, value, key=key)

    def prompt(self, input: Any, *, key: str | None = None) -> None:
        """Begins the next turn of a conversation."""
        self._host.prompt(self.name, input, key=key)

    async def aprompt(self, input: Any, *, key: str | None = None) -> None:
        await self._host.aprompt(self.name, input, key=key)

    def say(self, input: Any, timeout: float | None = None) -> T:
        """Begins the next turn, and waits for its value."""
        self.prompt(input)
        return self.result(timeout)

    async def asay(self, input: Any) -> T:
        """As `say`, for asyncio."""
        await self.aprompt(input)
        return await self.aresult()

    def cancel(self, reason: str = "cancelled", *, key: str | None = None) -> None:
        """Ends the run. Its blocks of `finally` are executed first."""
        self._host.cancel(self.name, reason, key=key)

    async def acancel(self, reason: str = "cancelled", *, key: str | None = None) -> None:
        await self._host.acancel(self.name, reason, key=key)

    def cancel_turn(self, reason: str = "cancelled", *, key: str | None = None) -> None:
        """Ends the current turn of a conversation."""
        self._host.cancel_turn(self.name, reason, key=key)

    async def acancel_turn(self, reason: str = "cancelled", *, key: str | None = None) -> None:
        await self._host.acancel_turn(self.name, reason, key=key)

    def result(self, timeout: float | None = None) -> T:
        """Waits for the value of the run, or of the newest turn of a conversation. Raises what it has failed with,
        `NeedsAnswer` if it asks a person, and `TimeoutError`."""
        if self.wait(timeout) == "running":
            raise TimeoutError("the run has not ended")
        value: T = self._host.outcome_of(self.name, self.title)
        return value

    async def aresult(self) -> T:
        """As `result`, for asyncio. `await run` does the same."""
        await self.await_state()
        value: T = await off_loop(self._host.outcome_of, self.name, self.title)
        return value

    def __await__(self) -> Generator[Any, Any, T]:
        return self.aresult().__await__()

    def __repr__(self) -> str:
        return f"<tenon run {self.name}: {self.title}>"
