"""The engine of a program: its runs, and its connection to event loops."""
from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping

from . import _core
from ._background import background_loop, is_background, stop_background_loop
from ._errors import Error, Unavailable, error_of, failure_of, note_cause
from ._marks import Call, FinishAgent, PauseForChild, PauseForInput
from ._models import ModelFunction
from ._setup import Connection, Setup, call_on, running_loop, weakly
from ._types import Err, Ok, err_of
from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

    from ._host import Shared
    from ._run import Run

_core.set_up({"error": error_of, "failed": failure_of, "ok": Ok, "err": Err, "err_of": err_of, "call": Call, "unavailable": Unavailable,
              "pause_for_input": PauseForInput, "pause_for_child": PauseForChild, "finish_agent": FinishAgent, "note_cause": note_cause},
             threading.main_thread().ident)

_LOOK_SECONDS = 0.1
_BLOCKED_SECONDS = 1.0
_engines: weakref.WeakSet[Engine] = weakref.WeakSet()
hosts: weakref.WeakSet[Shared] = weakref.WeakSet()
"""Hosts and gateways, which have threads of their own."""


def _renew_locks() -> None:
    """In a forked process: a thread of the parent may have had them."""
    for engine in list(_engines):
        engine.taking = threading.RLock()
        engine._wakers.clear()
        engine._abandoning = threading.Lock()


os.register_at_fork(after_in_child=_renew_locks)


@atexit.register
def _stop_engines() -> None:
    for host in list(hosts):
        host.end()  # while its threads may still call Python
    _core.begin_end()
    for engine in list(_engines):
        engine.close()  # before their coroutines are cancelled: runs do not see that
    stop_background_loop()
    _core.end_loops()


class Engine:
    """What a program runs on."""

    def __init__(self, options: Mapping[str, Any], externs: Mapping[str, Callable[..., Any]],
                 model: str | ModelFunction | None) -> None:
        setup = Setup(options, externs, model, weakly(self._need_loop))
        self._background = setup.background
        self._calls = setup.calls
        self.externs = setup.externs
        self.completes_later = setup.completes_later
        self._waits_for_caller = setup.waits_for_caller
        self.core = _core.Engine(setup.core)
        self._connection = Connection(self.core, self.core.descriptor)
        finalizer = weakref.finalize(self, self._connection.close)
        finalizer.atexit = False
        self._runs: weakref.WeakValueDictionary[int, Run[Any]] = weakref.WeakValueDictionary()
        self._news: dict[int, list[asyncio.Future[None]]] = {}
        self.taking = threading.RLock()
        """Locked while events are taken and given to their runs, which so keep their order; and while a run starts, until it is known
        to whom its events are given."""
        self._blocked = 0  # threads that wait in the engine for an event
        self._wakers: set[int] = set()  # descriptors, of threads that wait beside a loop that takes the events; with `taking`
        self._is_closed = False
        self._has_thread = False
        self._abandoned: deque[int] = deque()
        self._abandoning = threading.Lock()  # locked while a thread is about to take what is in the queue
        _engines.add(self)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        loop = self._connection.loop
        try:
            self.core.stop(0.0)
        except Error:
            pass  # of a parent process, or given up before
        self._background.threads.close()
        if self._connection.is_of_this_process():
            self._calls.core.close_calls()
        self._connection.close()
        with self.taking:
            self._wake_threads()
        for performed in self.externs.values():
            performed.close()
        if loop is not None and self._connection.is_of_this_process():
            call_on(loop, self._end_waits)

    def _end_waits(self) -> None:
        """What the loop waits for does not happen any more."""
        try:
            self._take()
        except Error:
            pass  # the engine was given up
        for future in self.core.give_up():
            if not future.done():
                future.set_exception(Error("the engine was stopped", "Conflict"))
        for number in list(self._news):
            self._wake(number)

    # --- What Python performs for the engine -------------------------------------------------------------------------

    def before_wait(self) -> None:
        """Before this thread waits for a run: a loop that this thread would have to continue cannot start coroutines."""
        loop = self._connection.dispatch_loop
        if loop is None or is_background(loop) or (loop.is_running() and loop is not running_loop()):
            return
        self._connection.dispatch_on(None)
        if self._connection.loop is loop and loop is running_loop() and self._is_idle():
            self._connection.leave()  # to the loops of coroutines that this thread waits for

    def piece_of_wait(self, timeout: float | None) -> float | None:
        """How long this thread may wait in one piece: with an event loop whose coroutines it keeps from continuing, not for ever."""
        return _BLOCKED_SECONDS if timeout is None and self._background.is_blocked_here() else timeout

    @staticmethod
    def blocked_error() -> Error:
        """After such a piece."""
        return Error("the run waits for a coroutine in the event loop of this thread, which waits for the run; use `await run` or "
                     "`async for`", "Conflict")

    def _is_idle(self) -> bool:
        """Whether nothing is waited for with the loop that is attached."""
        return not self.core.is_awaited() and all(news.done() for waiting in self._news.values() for news in waiting)

    def continue_runs(self) -> None:
        """Before a run starts or continues: from now on the engine has a thread that continues the runs while no one waits for them. A
        running event loop starts their coroutines."""
        self.core.refuse_use_within()
        if self._waits_for_caller:
            return
        if running_loop() is None:
            self.before_wait()
        else:
            try:
                self.attach()
            except Error as error:
                if error.kind != "Conflict":  # the loop that uses it starts them
                    raise
        if not self._has_thread:
            self.core.start_thread()
            self._has_thread = True

    def _need_loop(self) -> None:
        """Something is to be started, and there is no loop that does so."""
        self._connection.dispatch_on(background_loop())

    def waiting(self, core_run: Any) -> Error:
        """The exception for a call that asks a person."""
        from ._run import Run, needs_answer

        return needs_answer(Run(core_run, self))

    # --- Events and stops --------------------------------------------------------------------------------------------

    def attach(self) -> asyncio.AbstractEventLoop:
        """From now on a thread of the engine continues the runs, and the running loop is woken by what happens."""
        connection = self._connection
        running = running_loop()
        if self._is_closed and running is not None:
            return running  # nothing happens any more
        is_other = connection.loop is not running
        loop = connection.attach(weakly(self._take), self._is_idle)
        if is_other:
            self._news.clear()
        if connection.dispatch_loop is not loop and self.completes_later:
            connection.dispatch_on(loop)
        return loop

    def abandon(self, number: int) -> None:
        """Cancels a call whose coroutine was cancelled. On another thread: it waits while a function keeps the engine's, and the loop
        does not."""
        self._abandoned.append(number)
        if self._abandoning.acquire(blocking=False):
            try:
                self._background.threads.submit(self._abandon_all)
            except RuntimeError:  # the engine was stopped, or there are no more threads
                self._abandon_all()

    def _abandon_all(self) -> None:
        self._abandoning.release()
        while True:
            try:
                number = self._abandoned.popleft()
            except IndexError:
                return
            self.core.abandon(number)

    def add_run(self, run: Run[Any]) -> None:
        """A run whose events and stops are to be taken."""
        self._runs[run.number] = run

    def _take(self) -> None:
        """On the thread of the loop, for all runs."""
        stopped = self.core.take_stops()
        for number, _ in stopped:
            self._wake(number)
        if self._runs:
            with self.taking:
                if self._blocked:
                    self.core.release_waits()  # the last one calls this again
                elif self._take_all() or stopped:
                    self._wake_threads()

    def _take_all(self) -> bool:
        has_taken = False
        while (found := self._next_event_now(None)) is not None:
            kind, text, number = found
            run = self._runs.get(number)
            if run is not None:
                run.add_event(kind, text)
                self._wake(number)
                has_taken = True
        return has_taken

    def _wake_threads(self) -> None:
        for waker in self._wakers:
            os.eventfd_write(waker, 1)

    def taking_here(self) -> threading.RLock:
        """`taking`, for a thread that waits for the engine while it has that: not for a function that the engine waits for."""
        self.core.refuse_use_within()
        return self.taking

    def take_events_of(self, run: Run[Any], core_run: Any) -> bool:
        """Gives a run the events that it has now. Returns whether there are some that were not used."""
        with self.taking_here():
            return self._take_of(run, core_run)

    def _take_of(self, run: Run[Any], core_run: Any) -> bool:
        while (found := self._next_event_now(core_run)) is not None:
            run.add_event(found[0], found[1])
        return run.has_unused_events

    def await_events(self, run: Run[Any], core_run: Any) -> bool:
        """Waits until a run has events, or for a moment. False: it has ended or waits for input, and all were taken."""
        with self.taking_here():
            if self._take_of(run, core_run):
                return True
            if core_run.wait(0.0) != 0:
                return self._take_of(run, core_run)
            is_taken_elsewhere = self._is_taken_elsewhere()
            if is_taken_elsewhere:
                waker = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
                self._wakers.add(waker)
            else:
                self._blocked += 1
                releases = self.core.releases()
        if is_taken_elsewhere:
            self._await_beside_loop(run, core_run, waker)
            return True
        found = None
        try:
            self.before_wait()
            piece = self.piece_of_wait(None)
            found = self.core.next_event(core_run, piece, releases)
            if found is None and piece is not None and core_run.wait(0.0) == 0:
                raise self.blocked_error()
        finally:
            with self.taking:
                self._blocked -= 1
                if found is not None:
                    run.add_event(found[0], found[1])
            loop = self._connection.loop
            if loop is not None and not self._blocked and self._is_taken_elsewhere():
                call_on(loop, weakly(self._take))
        return True

    def _await_beside_loop(self, run: Run[Any], core_run: Any, waker: int) -> None:
        """Waits until the loop that takes the events of all runs has taken some, or there are some for it: something may block it. Then
        this thread takes those of its run. What is for others stays, so that it waits for the loop, and looks again after a moment."""
        import select

        watched = select.poll()
        watched.register(waker, select.POLLIN)
        watched.register(self._connection.watched, select.POLLIN)
        try:
            if not any(descriptor == waker for descriptor, _ in watched.poll()) and not self.take_events_of(run, core_run):
                watched.unregister(self._connection.watched)
                watched.poll(_LOOK_SECONDS * 1000)
        finally:
            with self.taking:
                self._wakers.discard(waker)
            os.close(waker)

    def _is_taken_elsewhere(self) -> bool:
        """Whether another thread runs the loop that takes the events of all runs."""
        loop = self._connection.loop
        return loop is not None and loop is not running_loop() and loop.is_running()

    def _next_event_now(self, core_run: Any) -> tuple[str, str, int] | None:
        """The next event of a run, or of any if it is None. None if there is none now, or the engine was stopped."""
        try:
            found: tuple[str, str, int] | None = self.core.next_event(core_run, 0.0, self.core.releases())
        except Error as error:
            if error.kind != "Conflict":
                raise
            return None
        return found

    def _wake(self, number: int) -> None:
        for news in self._news.pop(number, ()):
            if not news.done():
                news.set_result(None)

    def news_of(self, number: int) -> asyncio.Future[None] | None:
        """Completed when a run has an event or a stop. None if the engine was stopped: there is no news."""
        loop = self._connection.loop
        if loop is None:
            return None
        news: asyncio.Future[None] = loop.create_future()
        self._news.setdefault(number, []).append(news)
        return news
