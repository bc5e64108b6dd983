"""Typed, durable programs for agents, called from Python.

    import tenon

    def price(item: str) -> int:
        return 7

    desk = tenon.load("desk.tn", externs=[price])
    print(desk.total(item="tea", count=3))
"""
from ._core import version as _version
from ._errors import Cancelled, Error, InputError, NeedsAnswer, Place, Problem, ProgramError, ReplayDiffers, RunFailed, Unavailable
from ._host import Follow, Gateway, Host
from ._hosted_run import HostedRun
from ._marks import Call, FinishAgent, PauseForChild, PauseForInput, extern
from ._models import Message, ModelFunction, Request
from ._program import Agent, Function, Program, install_import_hook, load, resume
from ._run import Conversation, Event, Events, Prompt, Run, Texts, Wait
from ._stored import StoredRun, runs
from ._types import Err, Ok

__version__: str = _version()
__all__ = ["Agent", "Call", "Cancelled", "Conversation", "Err", "Error", "Event", "Events", "FinishAgent", "Follow", "Function",
           "Gateway", "Host", "HostedRun", "InputError", "Message", "ModelFunction", "NeedsAnswer", "Ok", "PauseForChild",
           "PauseForInput", "Place", "Problem", "Program", "ProgramError", "Prompt", "ReplayDiffers", "Request", "Run",
           "RunFailed", "StoredRun", "Texts", "Unavailable", "Wait",
           "extern", "install_import_hook", "load", "resume", "runs"]
