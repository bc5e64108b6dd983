"""Threads of the package: an event loop for programs without one, and functions that block. They are started when they
are first needed, and do not keep the interpreter from ending."""
from __future__ import annotations

import os
import threading
from collections.abc import Callable

from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    import contextvars
    import queue

_THREADS_MAX = 32
_STOP_SECONDS = 2.0

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_loop_thread: threading.Thread | None = None
_loop_process = 0
_ended_loop: asyncio.AbstractEventLoop | None = None


def background_loop() -> asyncio.AbstractEventLoop:
    """An event loop on a thread of its own."""
    global _loop, _loop_thread, _loop_process
    with _lock:
        if _loop is None or _loop_process != os.getpid():  # a fork does not have the thread of its parent
            _loop = _make_loop()
            _loop_process = os.getpid()
            _loop_thread = threading.Thread(target=_run, args=(_loop,), name="tenon-asyncio", daemon=True)
            try:
                _loop_thread.start()
            except RuntimeError:  # the interpreter is about to end, and starts none
                _loop.close()
                _loop = None
                raise
        return _loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Until `_end`. A coroutine that raises SystemExit or KeyboardInterrupt, or that stops the loop, does not end it for the others."""
    while _ended_loop is not loop:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            pass  # its task has it


def _make_loop() -> asyncio.AbstractEventLoop:
    """A loop as the policy of asyncio makes it. The lock of the interpreter goes directly from one of asyncio's own to the thread that
    waits for its coroutines."""
    import asyncio

    made = asyncio.new_event_loop()
    if type(made) is not asyncio.SelectorEventLoop:
        return made
    from ._selector import Selector

    made.close()
    return asyncio.SelectorEventLoop(Selector())


def is_background(loop: asyncio.AbstractEventLoop | None) -> bool:
    return loop is not None and loop is _loop and _loop_process == os.getpid()


def stop_background_loop() -> None:
    """Before the interpreter ends: a thread that wants its lock later is ended in the middle of what it does."""
    global _loop
    with _lock:
        loop, thread = _loop, _loop_thread
        if loop is None or thread is None or _loop_process != os.getpid():
            return
        _loop = None
    loop.call_soon_threadsafe(lambda: loop.create_task(_end(loop)))
    thread.join(_STOP_SECONDS)
    if not thread.is_alive():
        loop.close()


async def _end(loop: asyncio.AbstractEventLoop) -> None:
    global _ended_loop
    import asyncio

    tasks = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_STOP_SECONDS / 2)
    _ended_loop = loop
    loop.stop()


class ThreadPool:
    """Calls functions that block. Its threads do not keep the interpreter from ending, as those of
    `concurrent.futures` do."""

    def __init__(self, context: contextvars.Context) -> None:
        """Functions get a copy of the context."""
        self._context = context
        self._work: queue.SimpleQueue[Callable[[], Any] | None] | None = None  # made with the first thread
        self._lock = threading.Lock()
        self._threads = 0
        self._busy = 0  # calls that run or wait
        self._is_closed = False

    def submit(self, function: Callable[[], Any]) -> None:
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the engine was stopped")
            if self._work is None:
                import queue

                self._work = queue.SimpleQueue()
            self._busy += 1
            self._work.put(function)
            if self._busy > self._threads and self._threads < _THREADS_MAX:
                self._start_thread(self._work)

    def _start_thread(self, work: queue.SimpleQueue[Callable[[], Any] | None]) -> None:
        thread = threading.Thread(target=self._run, args=(work,), name="tenon", daemon=True)
        try:
            thread.start()
            self._threads += 1
        except RuntimeError:
            if self._threads == 0:  # no other one takes the function
                work.get_nowait()
                self._busy -= 1
                raise

    def close(self) -> None:
        """Ends the threads when the calls in progress have ended; calls that wait are not made."""
        with self._lock:
            self._is_closed = True
            if self._work is not None:
                for _ in range(self._threads):
                    self._work.put(None)

    def _run(self, work: queue.SimpleQueue[Callable[[], Any] | None]) -> None:
        while True:
            function = work.get()
            if function is None:
                return
            if not self._is_closed:
                try:
                    self._context.copy().run(function)
                except BaseException:  # the thread has other calls to make
                    import traceback

                    traceback.print_exc()
            del function
            with self._lock:
                self._busy -= 1
