"""What the event loop of the package waits with."""
from __future__ import annotations

import selectors
from select import EPOLLIN, EPOLLOUT

from . import _core
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    Ready = list[tuple[selectors.SelectorKey, int]]


class Selector(selectors.EpollSelector):
    """The extension module waits. It keeps the lock of the interpreter as long as there is something to do, and then passes it on to
    the thread that waits for what the loop has completed."""

    def select(self, timeout: float | None = None) -> Ready:
        keys = self.get_map()
        ready: Ready = []
        for descriptor, event in _core.select_events(self.fileno(), timeout, len(keys)):
            key = keys.get(descriptor)
            if key is not None:
                readable = selectors.EVENT_READ if event & ~EPOLLOUT else 0
                writable = selectors.EVENT_WRITE if event & ~EPOLLIN else 0
                ready.append((key, (readable | writable) & key.events))
        return ready
