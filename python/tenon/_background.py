"""What happens on other threads than the caller's: coroutines of externs and models, and functions that block."""
from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_THREADS_MAX = 32
_CANCEL_PERIOD = 0.05  # seconds between looks for calls that are not needed any more

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def background_loop() -> asyncio.AbstractEventLoop:
    """An event loop on a thread of its own, for programs without one. Started when it is first needed."""
    global _loop
    with _lock:
        if _loop is None:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="tenon-asyncio", daemon=True).start()
            _loop = loop
        return _loop


class Scheduler:
    """Starts coroutines and blocking functions for one engine. `schedule` and `run_in_thread` may be called on any
    thread."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None  # of the host, if it has one
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Coroutine[Any, Any, None], Callable[[], bool]]] = deque()
        self._is_woken = False
        self._tasks: dict[asyncio.Task[None], Callable[[], bool]] = {}
        self._watcher: asyncio.Task[None] | None = None
        self._pool: ThreadPoolExecutor | None = None

    def schedule(self, coroutine: Coroutine[Any, Any, None], is_cancelled: Callable[[], bool]) -> None:
        """Starts a coroutine. The event loop is woken once for all that come before it looks."""
        with self._lock:
            self._waiting.append((coroutine, is_cancelled))
            if self._is_woken:
                return
            self._is_woken = True
        loop = self.loop
        if loop is None or loop.is_closed():
            loop = background_loop()
        loop.call_soon_threadsafe(self._start_waiting)

    def run_in_thread(self, function: Callable[[], None]) -> None:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_THREADS_MAX, thread_name_prefix="tenon")
        self._pool.submit(function)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _start_waiting(self) -> None:
        with self._lock:
            started = list(self._waiting)
            self._waiting.clear()
            self._is_woken = False
        loop = asyncio.get_running_loop()
        for coroutine, is_cancelled in started:
            task = loop.create_task(coroutine)
            self._tasks[task] = is_cancelled
            task.add_done_callback(self._forget)
        if self._watcher is None or self._watcher.done():
            self._watcher = loop.create_task(self._cancel_unneeded())

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)

    async def _cancel_unneeded(self) -> None:
        while self._tasks:
            await asyncio.sleep(_CANCEL_PERIOD)
            for task, is_cancelled in list(self._tasks.items()):
                if is_cancelled():
                    task.cancel()
