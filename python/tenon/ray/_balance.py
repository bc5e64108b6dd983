"""How hosts share the runs that only wait."""
from __future__ import annotations

from typing import Any

_TOLERANCE = 1.25
_FEW = 16
_AT_ONCE = 256


def excess(own: int, owners: list[dict[str, Any]]) -> int:
    """How many runs the owner `own` gives up, so that those that are asked for next go to others of its pool. Runs that have
    something to do are never moved, so this is no more than a wish. Owners are as `Host.owners` has them."""
    mine = next((one for one in owners if one["owner"] == own), None)
    if mine is None:
        return 0
    pool = [one["runs"] for one in owners if one["role"] == "host" and one["pool"] == mine["pool"]]
    fair = sum(pool) / len(pool)
    if len(pool) < 2 or mine["runs"] <= fair * _TOLERANCE + _FEW:
        return 0
    return min(_AT_ONCE, int(mine["runs"] - fair))
