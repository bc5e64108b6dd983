"""Typed, durable programs for agents, called from Python.

    import tenon

    def price(item: str) -> int:
        return 7

    desk = tenon.load("desk.tn", externs=[price])
    print(desk.total(item="tea", count=3))
"""
from ._core import version as _version
from ._errors import (Cancelled, Error, InputError, NeedsAnswer, Place, Problem, ProgramError, RunFailed,
                      Unavailable)
from ._externs import Call, extern
from ._models import Message, ModelFunction, Request
from ._program import Agent, Function, Program, load, resume
from ._run import Event, Run, Wait
from ._types import Err, Ok

__version__: str = _version()
__all__ = ["Agent", "Call", "Cancelled", "Err", "Error", "Event", "Function", "InputError", "Message", "ModelFunction",
           "NeedsAnswer", "Ok", "Place", "Problem", "Program", "ProgramError", "Request", "Run", "RunFailed",
           "Unavailable", "Wait", "extern", "load", "resume"]
