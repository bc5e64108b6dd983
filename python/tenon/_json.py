"""`json`, which is imported when it is first used."""
from __future__ import annotations

from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from json import dumps as dumps
    from json import loads as loads


def __getattr__(name: str) -> Any:
    if name not in ("dumps", "loads"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import json

    globals()["dumps"] = json.dumps
    globals()["loads"] = json.loads
    return globals()[name]
