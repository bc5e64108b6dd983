"""Runs of a store that is only looked at."""
from __future__ import annotations

import os

from . import _core
from . import _json as json
from ._checks import count_of, optional_text_of, path_of
from ._hosted_run import state_of
from ._run import Wait
from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datetime


class StoredRun:
    """A run as its store describes it. `tenon.resume(store, run.name)` continues it."""

    __slots__ = ("name", "title", "state", "waits", "records", "created_at", "updated_at")

    name: str
    title: str
    """The name of its function or agent."""
    state: str
    """As `Run.state`."""
    waits: list[Wait]
    """Its open questions."""
    records: int
    created_at: datetime.datetime
    updated_at: datetime.datetime

    def __init__(self, described: dict[str, Any]) -> None:
        self.name = described["run"]
        self.title = described["function"]
        self.state = state_of(described)
        self.waits = [Wait.of(one) for one in described.get("waits", [])]
        self.records = described["records"]
        self.created_at = _time_of(described["created_at"])
        self.updated_at = _time_of(described["updated_at"])

    def __repr__(self) -> str:
        return f"<tenon stored run {self.name}: {self.title}, {self.state}>"


def _time_of(milliseconds: int) -> datetime.datetime:
    import datetime

    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc)


def runs(store: str | os.PathLike[str], *, state: str | None = None, after: str | None = None, limit: int = 100) -> list[StoredRun]:
    """Runs of a store in the order of their names, which is by age; also while another process owns the store. `state`: only
    those, as `tenon runs` shows it, such as `"waiting"`. `after`: those after the run of this name. `limit`: so many at most."""
    found = _core.store_runs(path_of(store, "store"), optional_text_of(state, "state"), optional_text_of(after, "after"),
                             count_of(limit, "limit"))
    return [StoredRun(one) for one in json.loads(found)]
