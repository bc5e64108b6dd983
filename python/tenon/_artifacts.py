"""What a run did, as the arrays of the interaction algebra."""
from __future__ import annotations

import io
import json
from typing import Any


class Artifacts:
    """Cycles, calls and results of a run; docs/internals/algebra.md defines the arrays. Calls count from 1, and 0 is
    padding. `h`, `q` and `r` are arrays of dictionaries, `tools` is a list of the tools that the columns mean."""

    def __init__(self, archive: bytes, form: bytes, hash: str) -> None:
        try:
            import numpy
        except ImportError:
            raise ImportError("the artifacts of a run are arrays of NumPy; install the package `numpy`") from None
        data = json.loads(form)
        self.hash = hash
        """Equal for runs that did the same."""
        self.form: dict[str, Any] = data
        self.tools: list[Any] = data["tools"]
        for name in ("h", "q", "r"):
            values = numpy.empty(len(data[name]), dtype=object)
            values[:] = data[name]
            setattr(self, name, values)
        arrays = numpy.load(io.BytesIO(archive), allow_pickle=False)
        for name in ("m", "mu", "J", "S", "Sigma", "sigma", "theta", "rho", "R"):
            setattr(self, name, arrays[name])

    h: Any
    """The cycles: what came in, and what went out."""
    q: Any
    """What each call was asked."""
    r: Any
    """The result of each call."""
    sigma: Any
    """Cycles x calls: the tool that each call went to."""
    m: Any
    """Calls of each cycle."""
    mu: Any
    """The most calls of a cycle."""
    J: Any
    """The tool of each call."""
    S: Any
    """Calls x tools: 1 where the call went to the tool."""
    Sigma: Any
    """Cycles x calls x tools: the same by cycle."""
    theta: Any
    """Cycles x calls: the number of the call, to look up in `q`."""
    rho: Any
    """The same, to look up in `r`."""
    R: Any
    """Calls x tools: the number of the call whose result the tool gave."""

    def __repr__(self) -> str:
        return f"<tenon artifacts {self.hash[:14]}…: {len(self.h)} cycles, {len(self.q)} calls, {len(self.tools)} tools>"
