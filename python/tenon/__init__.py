"""Typed, durable programs for agents, called from Python.

    import tenon

    def price(item: str) -> int:
        return 7

    desk = tenon.load("desk.tn", externs=[price])
    print(desk.total(item="tea", count=3))
"""

from ._core import version as _version
from ._errors import Cancelled, Error, InputError, NeedsAnswer, Place, Problem, ProgramError, ReplayDiffers, RunFailed, Unavailable
from ._hosted_run import HostedRun
from ._marks import Call, FinishAgent, PauseForChild, PauseForInput, extern
from ._models import Message, ModelFunction, Request
from ._program import Agent, Function, Program, install_import_hook, load, resume
from ._run import Conversation, Event, Events, Prompt, Run, Texts, Wait
from ._stored import StoredRun, runs
from ._types import Err, Ok
from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._host import Follow, Gateway, Host

__version__: str = _version()
__all__ = ["Agent", "Call", "Cancelled", "Conversation", "Err", "Error", "Event", "Events", "FinishAgent", "Follow", "Function",
           "Gateway", "Host", "HostedRun", "InputError", "Message", "ModelFunction", "NeedsAnswer", "Ok", "PauseForChild",
           "PauseForInput", "Place", "Problem", "Program", "ProgramError", "Prompt", "ReplayDiffers", "Request", "Run",
           "RunFailed", "StoredRun", "Texts", "Unavailable", "Wait",
           "extern", "install_import_hook", "load", "resume", "runs"]


def __getattr__(name: str) -> Any:
    """Hosts are loaded when they are first used: most programs have none."""
    if name not in ("Follow", "Gateway", "Host"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _host

    for one in ("Follow", "Gateway", "Host"):
        globals()[one] = getattr(_host, one)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
