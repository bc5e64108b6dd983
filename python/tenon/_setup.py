"""What an engine or a host starts with: its options, and the functions of Python that perform its externs and its model."""
from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping

from . import _core
from ._background import ThreadPool, is_background
from ._checks import count_of, model_of, path_of, secrets_of
from ._errors import Error
from ._externs import CallThreads, is_for_one_thread, make
from ._models import ModelFunction, start_of
from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    import contextvars


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs on this thread. Does not import asyncio."""
    module = sys.modules.get("asyncio")
    return None if module is None else module._get_running_loop()


_TASK_NAME = "tenon call"
_LEAVE_SECONDS = 1.0


def cancel(task: asyncio.Task[None]) -> None:
    """Cancels what an engine has started, on its event loop, from any thread."""
    call_on(task.get_loop(), task.cancel)


async def _cancel_all() -> None:
    """Cancels what engines have started on the running loop, and waits for its end."""
    import asyncio

    tasks = [task for task in asyncio.all_tasks() if task.get_name().startswith(_TASK_NAME)]
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


class Background:
    """Where coroutines and functions that block are performed for an engine. The engine's externs and its model refer to
    it, and not to the engine."""

    def __init__(self) -> None:
        import contextvars

        self.context = contextvars.copy_context()
        self._task_name = f"{_TASK_NAME} {id(self)}"
        self.threads = ThreadPool(self.context)

    def create_task(self, coroutine: Coroutine[Any, Any, None], give_up: Callable[[asyncio.Task[None]], None],
                    context: contextvars.Context | None = None) -> asyncio.Task[None]:
        """On the thread of an event loop, with the context variables of a run, or without them with those of where the program
        was loaded: the loop has those of its first call. The engine keeps the task until its call or its answer has ended.
        `give_up` ends these if the coroutine has not: one that is cancelled before it begins does nothing."""
        loop = running_loop()
        assert loop is not None
        given = (self.context if context is None else context).copy()
        task = _start_task(loop, coroutine, given, self._task_name)
        if task.done():
            give_up(task)
        else:
            task.add_done_callback(give_up)
        return task

    def is_blocked_here(self) -> bool:
        """Whether coroutines of the engine cannot continue while this thread waits, which has to run their event loop."""
        if running_loop() is None:
            return False
        import asyncio

        return any(task.get_name() == self._task_name for task in asyncio.all_tasks() - {asyncio.current_task()})


def _start_task(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None], context: contextvars.Context,
                name: str) -> asyncio.Task[None]:
    """Runs the coroutine to where it first waits, from Python 3.12 on and if the loop makes tasks as asyncio does. Otherwise it begins
    in the loop's next round: before that, another thread may take the interpreter's lock for a switch interval."""
    if sys.version_info >= (3, 12) and loop.get_task_factory() is None:
        import asyncio

        return asyncio.Task(coroutine, loop=loop, name=name, context=context, eager_start=True)
    return context.run(loop.create_task, coroutine, name=name)


EXTERN_THREADS_DEFAULT = 32
EXTERN_THREADS_MAX = 256  # as for the functions of libraries


def _threads_of(option: Any) -> int:
    """How many threads may call plain functions at the same time."""
    return EXTERN_THREADS_DEFAULT if option is None else count_of(option, "extern_threads", EXTERN_THREADS_MAX)


class Setup:
    """The options of an engine or a host. `need_loop` is called when something is to be started, and there is no loop that
    does so."""

    def __init__(self, options: Mapping[str, Any], externs: Mapping[str, Callable[..., Any]],
                 model: str | ModelFunction | None, need_loop: Callable[[], None]) -> None:
        self.background = Background()
        self.externs = {name: make(function, self.background) for name, function in externs.items()}
        if options.get("store") is not None:
            path_of(options["store"], "store")
        secrets = secrets_of(options.get("secrets"))
        given = [(name.replace("_", "-"), _text_of(value)) for name, value in options.items()
                 if value is not None and name != "secrets"]
        start = None
        model_name = ""
        if callable(model):
            start = start_of(model, self.background)
            model_name = getattr(model, "__qualname__", type(model).__name__)
        elif model is not None:
            given.append(("model", model_of(model)))
        worker = [sys.executable, "-c", "import sys; from tenon._core import extern_worker; sys.exit(extern_worker())"]
        threads_max = _threads_of(options.get("extern_threads"))
        self.calls = CallThreads()
        """Kept by what owns the engine: the engine refers to it weakly."""
        self.core = _core.Setup(given, secrets, list(self.externs.items()), model_name, start, worker, need_loop, weakly(self.calls.start),
                                threads_max)
        self.calls.core = self.core
        self.completes_later = start is not None or any(one.completes_later() for one in self.externs.values())
        """Whether something needs an event loop."""
        self.waits_for_caller = any(is_for_one_thread(function) for function in externs.values())
        """Whether a function is only to be called on the thread that waits for its run."""


class Connection:
    """The event loops that an engine or a host is connected with. It may outlive it. `core` has a descriptor for what it
    wants from Python, and `descriptor` gives the one for what it has for Python."""

    def __init__(self, core: Any, descriptor: Callable[[], int]) -> None:
        self.core = core
        self.descriptor = descriptor
        self.lock = threading.RLock()
        self.dispatch_loop: asyncio.AbstractEventLoop | None = None  # starts coroutines
        self.loop: asyncio.AbstractEventLoop | None = None  # is woken by events and stops
        self.watched = -1
        """The descriptor of events and stops, once a loop was attached."""
        self._process = os.getpid()
        self._end_of_loop: _EndOfLoop | None = None

    def is_of_this_process(self) -> bool:
        """A forked process shares the descriptors of its parent's loops, and does not touch them."""
        return self._process == os.getpid()

    def dispatch_on(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Has another loop start coroutines. None: the first one that is needed."""
        with self.lock:
            previous, self.dispatch_loop = self.dispatch_loop, loop
            if previous is loop:
                return
            if previous is not None:
                _call_here_or_on(previous, self._watch, previous)
            if loop is not None:
                call_on(loop, self._watch, loop)
            self._forget_end()
            if loop is not None and loop is running_loop():
                self._end_of_loop = _EndOfLoop(weakly(self._leave_loop))
        self.core.expect_loop(loop is not None)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Has a loop call `dispatch` if it is the one that starts coroutines. On its thread, where that may have changed again."""
        with self.lock:
            if self.dispatch_loop is loop:
                loop.add_reader(self.core.dispatch_descriptor(), self.core.dispatch)
            else:
                loop.remove_reader(self.core.dispatch_descriptor())

    def _leave_loop(self) -> None:
        """The loop that starts coroutines ends: another one does from now on."""
        self._end_of_loop = None
        if self.is_of_this_process():
            self.dispatch_on(None)

    def _forget_end(self) -> None:
        end, self._end_of_loop = self._end_of_loop, None
        if end is not None:
            end.close()

    def attach(self, take: Callable[[], None], is_idle: Callable[[], bool]) -> asyncio.AbstractEventLoop:
        """From now on the running loop calls `take` when there is something for Python. `is_idle`: whether nothing is waited for with
        another loop; the package's own then leaves it to this one."""
        loop = running_loop()
        if loop is None:
            raise Error("there is no running event loop", "Usage")
        if self.loop is not loop:
            if self.loop is not None and is_background(self.loop):
                self._have_background_leave(self.loop, is_idle)
            if self.loop is not None and self.loop.is_running():
                raise Error("another event loop uses it", "Conflict")
            descriptor = self.descriptor()
            if self.loop is not None:
                _call_here_or_on(self.loop, self.loop.remove_reader, descriptor)
            self.loop, self.watched = loop, descriptor
            loop.add_reader(descriptor, take)
        return loop

    def _have_background_leave(self, loop: asyncio.AbstractEventLoop, is_idle: Callable[[], bool]) -> None:
        done = threading.Event()

        def leave() -> None:
            if self.loop is loop and is_idle():
                self.leave()
            done.set()

        try:
            loop.call_soon_threadsafe(leave)
        except RuntimeError:  # it was closed: Python ends
            return
        done.wait(_LEAVE_SECONDS)

    def leave(self) -> None:
        """On the thread of the loop that is attached: it is not woken any more."""
        loop, self.loop = self.loop, None
        if loop is not None:
            loop.remove_reader(self.descriptor())

    def close(self) -> None:
        with self.lock:
            self._forget_end()
            if not self.is_of_this_process():
                return
            if self.dispatch_loop is not None:
                call_on(self.dispatch_loop, self.core.dispatch)  # the cancellations
                _call_here_or_on(self.dispatch_loop, self.dispatch_loop.remove_reader, self.core.dispatch_descriptor())
            if self.loop is not None:
                try:
                    _call_here_or_on(self.loop, self.loop.remove_reader, self.descriptor())
                except Error:
                    pass  # the engine is not of this process, or was given up
            self.dispatch_loop = self.loop = None


def weakly(method: Callable[[], None]) -> Callable[[], None]:
    """The same method, without keeping its object."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        kept = reference()
        if kept is not None:
            kept()

    return call


class _EndOfLoop:
    """Calls `function` on the running loop when that ends in order, as `asyncio.run` ends it, unless it is closed before. Then
    cancels what engines have started there: what began after `asyncio.run` had cancelled all tasks would never end."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function: Callable[[], None] | None = function
        self._waiting = self._wait()
        _finish(self._waiting.__anext__())  # the loop notes it, and closes it at its end

    async def _wait(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            if self._function is not None:
                self._function()
                await _cancel_all()

    def close(self) -> None:
        self._function = None
        _finish(self._waiting.aclose())


def _finish(awaited: Any) -> None:
    """Runs what awaits nothing to its end."""
    try:
        awaited.send(None)
    except StopIteration:
        pass


def call_on(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *arguments: Any) -> None:
    """Calls a function on a loop's thread; not on that of a loop that does not run any more."""
    if loop is running_loop():
        function(*arguments)
    elif not loop.is_closed():
        loop.call_soon_threadsafe(function, *arguments)


async def off_loop(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function that may wait for a store, without blocking the running loop."""
    import asyncio

    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)


def _call_here_or_on(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *arguments: Any) -> None:
    """The same, or on this thread if the loop does not run; not for a loop that was closed, which has no readers any more."""
    if loop.is_running():
        call_on(loop, function, *arguments)
    elif not loop.is_closed():
        function(*arguments)


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
