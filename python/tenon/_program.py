"""Programs, and the engine that runs one."""
from __future__ import annotations

import asyncio
import atexit
import difflib
import inspect
import json
import os
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any

from . import _core
from ._background import Scheduler
from ._errors import Error, Problem, ProgramError, RunFailed, Unavailable, error_of, failure_of, problems_of
from ._externs import Call, check, make, named
from ._models import ModelFunction, start_of
from ._run import Event, Run
from ._types import Err, Ok, Types

_core.set_up({"error": error_of, "failed": failure_of, "ok": Ok, "err": Err, "call": Call, "unavailable": Unavailable},
             threading.main_thread().ident)

_SETTLING = 0.001  # seconds between looks at a run whose last event has come
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


@atexit.register
def _stop_engines() -> None:
    for engine in list(_engines):
        engine.close()
    _core.end_callbacks()


class Engine:
    """What a program runs on: the options, the externs, and the connection to an event loop."""

    def __init__(self, options: Mapping[str, Any], externs: Mapping[str, Callable[..., Any]],
                 model: str | ModelFunction | None) -> None:
        self.scheduler = Scheduler()
        self.externs = {name: make(function, self.scheduler) for name, function in externs.items()}
        given = [(name.replace("_", "-"), _text_of(value)) for name, value in options.items() if value is not None]
        start = None
        model_name = ""
        if callable(model):
            start = start_of(model, self.scheduler)
            model_name = getattr(model, "__qualname__", type(model).__name__)
        elif model is not None:
            given.append(("model", str(model)))
        self.core = _core.Engine(given, list(self.externs.items()), model_name, start)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news: dict[int, list[asyncio.Future[None]]] = {}
        self._buffers: dict[int, deque[Event]] = {}
        self._is_closed = False
        _engines.add(self)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self.core.stop(0.0)
        except Error:
            pass  # of a parent process, or given up before
        self.scheduler.close()

    def keep_events(self, core_run: Any) -> None:
        """Keeps the events of a run for `events_of`, which may begin later."""
        self._buffers[core_run.number()] = deque()

    def next_event(self, core_run: Any, timeout: float) -> Event | None:
        buffer = self._buffers.get(core_run.number())
        if buffer:
            return buffer.popleft()
        event = self.core.next_event(core_run, timeout)
        return None if event is None else Event(event[0], json.loads(event[1]))

    def attach(self) -> None:
        """Continues the runs on a thread of the engine from now on, and brings their events to the running loop."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed():
            raise Error("the program is used by another event loop", "Conflict")
        self._loop = self.scheduler.loop = loop
        self._news.clear()
        loop.add_reader(self.core.descriptor(), self._take_events)

    def _take_events(self) -> None:
        while True:
            event = self.core.next_event(None, 0.0)
            if event is None:
                return
            kind, text, number = event
            buffer = self._buffers.get(number)
            if buffer is not None:
                buffer.append(Event(kind, json.loads(text)))
            for news in self._news.pop(number, ()):
                if not news.done():
                    news.set_result(None)

    def _news_of(self, number: int) -> asyncio.Future[None]:
        news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._news.setdefault(number, []).append(news)
        return news

    async def ended(self, core_run: Any) -> None:
        """Waits until a run has ended or waits for input."""
        self.attach()
        while True:
            news = self._news_of(core_run.number())
            if core_run.wait(0.0) != 0:
                news.cancel()
                return
            await asyncio.wait((news,), timeout=1.0)
            if core_run.wait(0.0) == 0:
                await asyncio.sleep(_SETTLING)

    async def events_of(self, core_run: Any) -> AsyncIterator[Event]:
        self.attach()
        number = core_run.number()
        buffer = self._buffers.setdefault(number, deque())
        while True:
            news = self._news_of(number)
            while buffer:
                yield buffer.popleft()
            if core_run.wait(0.0) != 0:
                self._take_events()
                while buffer:
                    yield buffer.popleft()
                news.cancel()
                return
            await asyncio.wait((news,), timeout=_SETTLING * 50)


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


class Function:
    """A function of a program."""

    def __init__(self, program: Program, described: Mapping[str, Any]) -> None:
        types = program.types
        self._program = program
        parameters = [(one["name"], one["type"]) for one in described["parameters"]]
        self._core = _core.Function(program._core, described["name"], program._type_list, parameters, described["result"])
        self._call = self._core.call
        self.__name__ = self.__qualname__ = described["name"]
        self.__module__ = types.module
        self.__doc__ = described["documentation"] or None
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=types.annotation(index))
             if types.described[index]["kind"] != "option" else
             inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=types.annotation(index), default=None)
             for name, index in sorted(parameters, key=lambda one: types.described[one[1]]["kind"] == "option")],
            return_annotation=types.annotation(described["result"]))

    def __call__(self, /, *arguments: Any, **named_arguments: Any) -> Any:
        return self._call(*arguments, **named_arguments)

    async def aio(self, /, *arguments: Any, **named_arguments: Any) -> Any:
        """Calls the function without blocking the event loop."""
        engine = self._program.engine
        engine.attach()
        core_run = self._core.start(arguments, named_arguments, True)
        try:
            await engine.ended(core_run)
        except asyncio.CancelledError:
            core_run.cancel("its caller was cancelled")
            raise
        if core_run.wait(0.0) == 1:
            from ._errors import waiting

            raise waiting(core_run)
        return core_run.value()

    def start(self, /, *arguments: Any, events: bool = True, **named_arguments: Any) -> Run:
        """Starts the function as a run of its own."""
        core_run = self._core.start(arguments, named_arguments, events)
        self._program.engine.keep_events(core_run)
        return Run(core_run, self._program.engine)

    def __repr__(self) -> str:
        return f"<tenon function {self.__name__}{self.__signature__}>"


class Agent:
    """An agent of a program."""

    def __init__(self, program: Program, described: Mapping[str, Any]) -> None:
        self._program = program
        self._result = described["result"]
        self.__name__ = described["name"]
        self.__doc__ = described["documentation"] or None

    def start(self, *, events: bool = True) -> Run:
        """Starts a conversation, which waits for its first prompt."""
        program = self._program
        core_run = program._core.start_agent(self.__name__, events)
        program.engine.keep_events(core_run)
        return Run(core_run, program.engine, (program.types, self._result))

    def __repr__(self) -> str:
        return f"<tenon agent {self.__name__}>"


class Program:
    """A program that was loaded. Its functions, agents and types are attributes."""

    def __init__(self, engine: Engine, core: Any, module: str, externs: Mapping[str, Callable[..., Any]]) -> None:
        description = json.loads(core.describe())
        self.engine = engine
        self._core = core
        self.types = Types(description["types"], module)
        self._type_list = _core.TypeList(self.types.described, self.types.classes)
        self.warnings: tuple[Problem, ...] = problems_of(json.loads(core.warnings()))
        self.functions = {one["name"]: Function(self, one) for one in description["functions"]}
        self.agents = {one["name"]: Agent(self, one) for one in description["agents"]}
        for declared in description["externs"]:
            added = engine.externs.get(declared["name"])
            if added is None:
                continue
            check(declared, externs[declared["name"]], self.types)
            added.bind(self._type_list, [one["type"] for one in declared["parameters"]], declared["result"])
        declared_names = {one["name"] for one in description["externs"]}
        for name in externs:
            if name not in declared_names:
                raise ProgramError(f"the program declares no extern `{name}`{_suggest(name, declared_names)}", "Program")

    def start(self, name: str, /, *arguments: Any, **named_arguments: Any) -> Run:
        """Starts a function or an agent by its name."""
        if name in self.agents:
            return self.agents[name].start(*arguments, **named_arguments)
        if name not in self.functions:
            raise Error(f"cannot find `{name}` in the program{_suggest(name, [*self.functions, *self.agents])}", "Usage")
        return self.functions[name].start(*arguments, **named_arguments)

    def resume(self, name: str, *, events: bool = True) -> Run:
        """Continues a run of the program's store."""
        core_run = self.engine.core.resume(name, events)
        self.engine.keep_events(core_run)
        return Run(core_run, self.engine)

    def close(self) -> None:
        """Stops the runs; recorded ones can be resumed. Without it they are stopped when Python ends."""
        self.engine.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "functions" not in self.__dict__ or "agents" not in self.__dict__:
            raise AttributeError(name)
        for known in (self.functions, self.agents, self.types.named):
            if name in known:
                return known[name]
        raise AttributeError(f"cannot find `{name}` in the program{_suggest(name, dir(self))}")

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self.functions, *self.agents, *self.types.named]


def _suggest(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean `{near[0]}`?" if near else ""


def load(path: str | os.PathLike[str], *, text: str | None = None, model: str | ModelFunction | None = None,
         externs: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] = (),
         store: str | os.PathLike[str] | None = None, **options: Any) -> Program:
    """Loads a program, with an engine of its own.

    `text` is the program, as if the file contained it. `model` is a model as `tenon run --model` has it, such as
    `"script:FILE"`, or a function: plain, `async`, or an async generator of the pieces of an answer. `externs` are the
    functions that perform the program's externs. `store` is where runs are recorded. The other options are those of
    `tenon run`, with underscores: `temperature=0.2`, `memory_mb=64`.
    """
    functions = named(externs)
    engine = Engine({"store": store, **options}, functions, model)
    core = engine.core.load(os.fspath(path), text)
    module = os.path.basename(os.fspath(path)).partition(".")[0]
    return Program(engine, core, module, functions)


def resume(store: str | os.PathLike[str], name: str, *, events: bool = True,
           externs: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] = (),
           model: str | ModelFunction | None = None, **options: Any) -> Run:
    """Continues a run of a store, with the program that it was started with."""
    if externs:
        raise Error("a run with externs of Python is resumed by its program: tenon.load(…).resume(name)", "Usage")
    engine = Engine({"store": store, **options}, {}, model)
    core_run = engine.core.resume(name, events)
    engine.keep_events(core_run)
    return Run(core_run, engine)
