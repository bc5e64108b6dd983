"""Hosts and gateways: processes that share the runs of a store."""
from __future__ import annotations

import json
import os
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, Union

from . import _core
from ._background import background_loop
from ._checks import count_of, json_of, optional_text_of, path_of, seconds_of, text_of, timeout_of
from ._engine import hosts
from ._errors import Error, NeedsAnswer, ProgramError, failure_of
from ._externs import bind, check, in_terms_of_python, signature_of
from ._hosted_run import HostedRun, state_of
from ._marks import named
from ._models import ModelFunction
from ._run import STATES, Event, Wait, name_of
from ._setup import Connection, Setup, call_on, off_loop, running_loop, weakly
from ._types import Types

if TYPE_CHECKING:
    import asyncio

    from ._program import Externs

S = TypeVar("S", bound="Shared")
Files = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]

_EXIT_SECONDS = 2.0
_STOP_POLL_SECONDS = 0.01
_SETTLE_SECONDS = 1.0
_PORT_MAX = 65_535


class Follow:
    """The events of a run to its end, also while it waits: an iterator, and an asynchronous one."""

    def __init__(self, core: Any, until_input: bool = False) -> None:
        self._core = core
        self._until_input = until_input
        self._has_news = True

    def next(self, timeout: float | None = None) -> Event | None:
        """The next event. None if there was none within the timeout, and at the end (`is_at_end`)."""
        found = self._core.next(timeout_of(timeout))
        if found is None:
            return None
        self._has_news = True
        return Event(found[0], json.loads(found[1]))

    @property
    def is_at_end(self) -> bool:
        """Whether the run has ended, and all its events were taken."""
        return bool(self._core.is_at_end())

    async def await_news(self) -> None:
        """Waits for an event, or a moment."""
        if await off_loop(self.next, 0.0) is None and not self.is_at_end:
            await _readable(self.fileno())

    def fileno(self) -> int:
        """Readable while there may be events."""
        return int(self._core.descriptor())

    def _is_over(self) -> bool:
        """After there was no event."""
        if self.is_at_end:
            return True
        if not self._until_input or not self._has_news:
            return False
        self._has_news = False
        return STATES[self._core.state()] in ("asks", "ready")

    def __iter__(self) -> Iterator[Event]:
        while True:
            event = self.next(0.0)
            while event is None:
                if self._is_over():
                    return
                event = self.next(_SETTLE_SECONDS)
                self._has_news = True
            yield event

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            event = await off_loop(self.next, 0.0)
            while event is None:
                if await off_loop(self._is_over):
                    return
                await _readable(self.fileno())
                event = await off_loop(self.next, 0.0)
                self._has_news = True
            yield event


async def _readable(descriptor: int) -> None:
    """Waits until it is readable, or for a moment, after which the state of the run is looked at again."""
    import asyncio

    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, wake)
    timer = loop.call_later(_SETTLE_SECONDS, wake)
    try:
        await ready
    finally:
        timer.cancel()
        loop.remove_reader(descriptor)


class Shared:
    """What hosts and gateways have in common: requests for the runs of a store, whichever process continues them.

    Requests return when what they lead to is durable. `key` recognizes a repetition for a day, in all processes of the store.
    `timeout` is in seconds; after it a request may still be accepted, and with a key it can be sent again.
    """

    _role = _core.GATEWAY

    def __init__(self, programs: Files, options: Mapping[str, Any], externs: Mapping[str, Callable[..., Any]],
                 model: str | ModelFunction | None) -> None:
        files = [programs] if isinstance(programs, (str, bytes, os.PathLike)) or not hasattr(programs, "__iter__") else programs
        setup = Setup(options, externs, model, weakly(self._need_loop))
        self._background = setup.background
        self._calls = setup.calls
        self._externs = setup.externs
        try:
            self._core = _core.Host(self._role, [path_of(file, "programs") for file in files], setup.core)
        except ProgramError as error:
            raise in_terms_of_python(error, externs) from None
        self._is_closed = False
        self._sent: dict[int, asyncio.Future[tuple[str, int]]] = {}
        self._connection = Connection(self._core, self._core.reply_descriptor)
        finalizer = weakref.finalize(self, self._connection.close)
        finalizer.atexit = False
        self._described: list[dict[str, Any]] = json.loads(self._core.describe())
        self._types = {one["file"]: Types(one["program"]["types"], os.path.basename(one["file"]).partition(".")[0])
                       for one in self._described}
        self._bind(setup.externs, externs)
        if setup.completes_later and running_loop() is not None:
            self._connection.dispatch_on(running_loop())
        hosts.add(self)
        self._core.begin()

    def _bind(self, made: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> None:
        """Gives the functions the types of the programs that declare them."""
        declared: dict[str, tuple[str, Any]] = {}
        for one in self._described:
            types = self._types[one["file"]]
            type_list = _core.TypeList(types.described, types.classes, is_shared=True)
            for extern in one["program"]["externs"]:
                name = extern["name"]
                if name not in made:
                    continue
                check(extern, functions[name], types)
                signature = signature_of(extern, types)
                if name not in declared:
                    declared[name] = (one["file"], signature)
                    bind(made[name], extern, type_list)
                elif declared[name][1] != signature:
                    raise ProgramError(f"`{declared[name][0]}` and `{one['file']}` declare the extern `{name}` with different "
                                       "types, and there is one function for both", "Program")
        for name in made:
            if name not in declared:
                raise ProgramError(f"no program declares an extern `{name}`", "Program")

    def _need_loop(self) -> None:
        """Something is to be started, and there is no loop that does so."""
        self._connection.dispatch_on(background_loop())

    # --- The host ----------------------------------------------------------------------------------------------------

    def stop(self, grace: float = 10.0) -> None:
        """Takes no more requests, and waits at most `grace` seconds for effects in progress. Other hosts of the store continue
        the runs."""
        if self._is_closed:
            return
        self._core.stop(seconds_of(grace, "grace"), None)
        self._close()

    async def astop(self, grace: float = 10.0) -> None:
        """As `stop`, for asyncio."""
        import asyncio

        seconds = seconds_of(grace, "grace")
        while not self._is_closed and not self._core.stop(seconds, 0.0):
            await asyncio.sleep(_STOP_POLL_SECONDS)
        self._close()

    def end(self) -> None:
        """Before Python ends: stops without a grace time, and does not wait for a function that does not return."""
        if self._is_closed:
            return
        try:
            self._core.stop(0.0, _EXIT_SECONDS)
        except Error:
            pass  # of a parent process
        self._close()

    def _close(self) -> None:
        self._is_closed = True
        loop = self._connection.loop
        self._background.threads.close()
        if self._connection.is_of_this_process():
            self._calls.core.close_calls()
        self._connection.close()
        for performed in self._externs.values():
            performed.close()
        if loop is not None and self._connection.is_of_this_process():
            call_on(loop, self._end_waits)

    def _end_waits(self) -> None:
        """What the loop waits for does not come any more."""
        self._take_replies()
        for replied in self._sent.values():
            if not replied.done():
                replied.set_exception(Error("the host was stopped", "Conflict"))

    def serve(self, address: str = "127.0.0.1", port: int = 0, token: str | None = None) -> int:
        """Serves HTTP as `tenon serve` does, until the host is stopped. An address that other machines can reach requires a
        token. Returns the port; 0 is any."""
        return int(self._core.serve(text_of(address, "address"), count_of(port, "port", _PORT_MAX), optional_text_of(token, "token") or ""))

    def status(self) -> dict[str, Any]:
        """`owner`, the number that the store gives this process; `lease`: `"held"`, `"suspended"` or `"lost"`; `runs` in
        memory; `effects` in progress; `started`, `loaded`, `ended` and `released` runs, `records`, `answers` and `commands` so
        far; and `broken`, why the host does nothing any more, or None."""
        status: dict[str, Any] = json.loads(self._core.status())
        if not status:
            raise Error("the host was opened before this process was forked; open another one here", "Forked")
        return status

    def owners(self) -> list[dict[str, Any]]:
        """The processes that share the store: `owner`, `role`, `label`, `pool`, `runs`, `lease_ms`, `joined_at`."""
        return list(json.loads(self._core.owners()))

    def counts(self) -> dict[str, Any]:
        """How much there is in the store: `runs`, the number of runs in each state, and `commands`, requests that no host has
        taken. Counting takes a while in a large store."""
        return dict(json.loads(self._core.counts()))

    def pools_without_hosts(self) -> list[str]:
        """The pools that have work to do and no host."""
        return list(json.loads(self._core.pools_without_hosts()))

    def describe(self) -> list[dict[str, Any]]:
        """The programs: `file`, and `program` with its functions, agents, externs and types."""
        return list(json.loads(self._core.describe()))

    def placements(self) -> list[dict[str, Any]]:
        """The agents that have hosts of their own, by the manifest: `agent`, `pool`, and what they need: `num_cpus` and
        `num_gpus` or None, and `resources`, amounts by name."""
        return list(json.loads(self._core.placements()))

    def release(self, count: int) -> int:
        """Gives up at most `count` runs that only wait, those that have waited longest first: whichever host is asked for one
        next continues it. Returns how many they were."""
        return int(self._core.release(count_of(count, "count")))

    # --- Requests ----------------------------------------------------------------------------------------------------

    def _send(self, kind: int, name: str, text: str, wait: str | None, key: str | None, is_awaited: bool) -> int:
        what = "name" if kind == _core.START else "run"
        return int(self._core.send(kind, text_of(name, what), wait, text, optional_text_of(key, "key"), is_awaited))

    def _ask(self, kind: int, name: str, text: str, wait: str | None, key: str | None, timeout: float | None) -> tuple[str, int]:
        seconds = timeout_of(timeout)
        number = self._send(kind, name, text, wait, key, False)
        reply = self._core.wait_for_reply(number, seconds)
        if reply is None:
            raise TimeoutError("there was no reply within the timeout")
        run, after = reply
        return str(run), int(after)

    async def _aask(self, kind: int, name: str, text: str, wait: str | None, key: str | None) -> tuple[str, int]:
        loop = self._connection.attach(weakly(self._take_replies), lambda: not self._sent)
        number = self._send(kind, name, text, wait, key, True)
        replied: asyncio.Future[tuple[str, int]] = loop.create_future()
        self._sent[number] = replied
        try:
            return await replied
        finally:
            if self._sent.pop(number, None) is not None:
                self._core.abandon(number)

    def _take_replies(self) -> None:
        for number, run, outcome in self._core.take_replies():
            replied = self._sent.pop(number, None)
            if replied is None or replied.done():
                continue
            if run is None:
                replied.set_exception(outcome)
            else:
                replied.set_result((run, outcome))

    def _handle(self, reply: tuple[str, int], title: str) -> HostedRun[Any]:
        return HostedRun(self, reply[0], title=title.rpartition(".")[2])

    def start(self, name: str, arguments: Any = None, *, key: str | None = None, timeout: float | None = None) -> HostedRun[Any]:
        """Starts a function with its arguments by name, or an agent with its first prompt, which may be missing. `name` may be
        `FILE.name`."""
        return self._handle(self._ask(_core.START, name, _json(arguments), None, key, timeout), name)

    async def astart(self, name: str, arguments: Any = None, *, key: str | None = None) -> HostedRun[Any]:
        """As `start`, for asyncio."""
        return self._handle(await self._aask(_core.START, name, _json(arguments), None, key), name)

    def prompt(self, run: str, input: Any, *, key: str | None = None, timeout: float | None = None) -> None:
        """Begins the next turn of a conversation."""
        self._ask(_core.PROMPT, run, json_of(input, "input"), None, key, timeout)

    async def aprompt(self, run: str, input: Any, *, key: str | None = None) -> None:
        await self._aask(_core.PROMPT, run, json_of(input, "input"), None, key)

    def answer(self, run: str, wait: Wait | str | None, value: Any, *, key: str | None = None,
               timeout: float | None = None) -> None:
        """Answers a question of a run. `wait` None: the only one that it has asked so far."""
        self._ask(_core.ANSWER, run, json_of(value, "value"), name_of(wait), key, timeout)

    async def aanswer(self, run: str, wait: Wait | str | None, value: Any, *, key: str | None = None) -> None:
        await self._aask(_core.ANSWER, run, json_of(value, "value"), name_of(wait), key)

    def cancel(self, run: str, reason: str = "cancelled", *, key: str | None = None, timeout: float | None = None) -> None:
        """Ends a run. Its blocks of `finally` are executed first."""
        self._ask(_core.CANCEL, run, text_of(reason, "reason"), None, key, timeout)

    async def acancel(self, run: str, reason: str = "cancelled", *, key: str | None = None) -> None:
        await self._aask(_core.CANCEL, run, text_of(reason, "reason"), None, key)

    def cancel_turn(self, run: str, reason: str = "cancelled", *, key: str | None = None, timeout: float | None = None) -> None:
        """Ends the current turn of a conversation."""
        self._ask(_core.CANCEL_TURN, run, text_of(reason, "reason"), None, key, timeout)

    async def acancel_turn(self, run: str, reason: str = "cancelled", *, key: str | None = None) -> None:
        await self._aask(_core.CANCEL_TURN, run, text_of(reason, "reason"), None, key)

    # --- Runs --------------------------------------------------------------------------------------------------------

    def run(self, name: str) -> HostedRun[Any]:
        """A run of the store, whichever process continues it."""
        described = self.describe_run(name)
        return HostedRun(self, name, title=described["function"])

    def runs(self, *, state: str | None = None, after: str | None = None, limit: int = 100) -> list[HostedRun[Any]]:
        """Runs of the store in the order of their names, which is by age. `state`: only those; as `tenon runs` shows it. `after`:
        those after the run of this name."""
        listed = json.loads(self._core.runs(optional_text_of(state, "state"), optional_text_of(after, "after"), count_of(limit, "limit")))
        return [HostedRun(self, one["run"], title=one["function"]) for one in listed]

    def describe_run(self, name: str) -> dict[str, Any]:
        """What the store says of a run: `run`, `state` as `tenon runs` shows it, `function`, `records`, `created_at`,
        `updated_at`, and `waits`, its open questions."""
        return dict(json.loads(self._core.run(text_of(name, "name"))))

    def follow(self, run: str, after: int = 0) -> Follow:
        """The events of a run with numbers greater than `after`, to its end: `for event in …` and `async for event in …`."""
        return Follow(self._core.follow(text_of(run, "run"), count_of(after, "after")))

    def follow_turn(self, run: str, after: int = 0) -> Follow:
        """The same until the run has ended or waits for input."""
        return Follow(self._core.follow(text_of(run, "run"), count_of(after, "after")), until_input=True)

    def outcome_of(self, name: str, title: str) -> Any:
        """The value of a run, or of the newest turn of a conversation. Raises what it has failed with."""
        outcome = self._core.outcome(name)
        if outcome is None:
            described = self.describe_run(name)
            if state_of(described) == "asks":
                error = NeedsAnswer("the run waits for an answer: "
                                    + "; ".join(wait["question"] for wait in described["waits"]), "NeedsAnswer")
                error.run = HostedRun(self, name, title=title)
                raise error
            raise Error("the run has no value: no turn of it has ended", "Conflict")
        ended, text, message, kind, blame = outcome
        if STATES[ended] != "returned":
            raise failure_of(ended, message, kind, blame)
        value = json.loads(text) if text else None
        for one in self._described:
            for known in [*one["program"]["functions"], *one["program"]["agents"]]:
                if known["name"] == title:
                    return self._types[one["file"]].from_json(known["result"], value)
        return value

    def types_of(self, file: str | os.PathLike[str]) -> Mapping[str, Any]:
        """The types of a program by name, as Python's."""
        return self._types[os.fspath(file)].named

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    async def __aenter__(self: S) -> S:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.astop()

    def __repr__(self) -> str:
        files = ", ".join(one["file"] for one in self._described)
        return f"<tenon {type(self).__name__.lower()} of {files}{': stopped' if self._is_closed else ''}>"


def _json(arguments: Any) -> str:
    return "" if arguments is None else json_of(arguments, "arguments")


class Host(Shared):
    """Continues the runs of a store in this process, for all processes that share the store.

        with tenon.Host(["desk.tn"], store="postgres://…", model="openai:gpt-5-mini", externs=[find_order]) as host:
            run = host.start("answer", {"message": "Where is it?", "order_id": 17})
            print(run.result())

    `externs`, `model` and `secrets` are as for `tenon.load`. `pool`: it takes the runs of this
    pool, and those that are started here belong to it. `agent`: it is a host of this agent, which has a section in the
    manifest. The other options are those of `tenon.load`.
    """

    _role = _core.HOST

    def __init__(self, programs: Files, *, store: str | os.PathLike[str], model: str | ModelFunction | None = None,
                 externs: Externs = (), secrets: Mapping[str, str] | None = None, pool: str | None = None,
                 agent: str | None = None, **options: Any) -> None:
        super().__init__(programs, {"store": store, "secrets": secrets, "pool": pool, "agent": agent, **options}, named(externs),
                         model)


class Gateway(Shared):
    """Leaves requests to the hosts of a store, and follows its runs. It needs neither a model nor externs."""

    def __init__(self, programs: Files, *, store: str | os.PathLike[str], pool: str | None = None, **options: Any) -> None:
        super().__init__(programs, {"store": store, "pool": pool, **options}, {}, None)
