"""Exceptions of the package."""
from __future__ import annotations

from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._hosted_run import HostedRun
    from ._run import Run

_PLACE = r"^(?P<path>[^\n:]+):(?P<line>[0-9]+):(?P<column>[0-9]+): "


if TYPE_CHECKING:
    from typing import NamedTuple

    class _PlaceFields(NamedTuple):
        path: str
        line: int
        column: int

    class _ProblemFields(NamedTuple):
        severity: str
        code: str
        message: str
        place: Place | None
else:
    from collections import namedtuple

    _PlaceFields = namedtuple("_PlaceFields", ("path", "line", "column"))
    _ProblemFields = namedtuple("_ProblemFields", ("severity", "code", "message", "place"))


class Place(_PlaceFields):
    """A place in a program. Line and column count from 1."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Problem(_ProblemFields):
    """An error or a warning in a program."""

    __slots__ = ()


class Error(Exception):
    """What Tenon could not do.

    `kind` is `"Usage"`, `"Program"`, `"NotFound"`, `"Conflict"`, `"WrongInput"`, `"InUse"`, `"Failed"`, `"Internal"` or
    `"Forked"`; of a run that has failed it is the kind of its failure, such as `"ToolFailed"`, and `blame` says which
    requirement, extern, model or budget failed.
    """

    def __init__(self, message: str, kind: str = "Failed", *, place: Place | None = None, blame: str = "",
                 problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.place = place
        self.blame = blame
        self.problems = problems

    def __reduce__(self) -> Any:
        return (_rebuild, (type(self), self.message, self.kind, self.place, self.blame, self.problems))


class ProgramError(Error):
    """A program, its externs or its manifest have errors, which `problems` lists."""


class InputError(Error, TypeError):
    """An argument, an answer or a prompt does not have the expected type."""


class RunFailed(Error):
    """A run has failed. If a function of Python has raised an exception, that is the `__cause__`, with its traceback."""


class Cancelled(Error):
    """A run was cancelled."""


class NeedsAnswer(Error):
    """A call asks a person, whom a call cannot wait for. `run` continues when its question is answered."""

    run: Run[Any] | HostedRun[Any]


class ReplayDiffers(Error):
    """A run does something else when it is executed again from its journal."""


class Unavailable(Exception):
    """Raised by an extern: a service cannot be reached, and nothing was done. A recorded run waits, and calls again."""

    tenon_role = "unavailable"


def _rebuild(kind_of: type[Error], message: str, kind: str, place: Place | None, blame: str,
             problems: tuple[Problem, ...]) -> Error:
    return kind_of(message, kind, place=place, blame=blame, problems=problems)


def problems_of(described: list[dict[str, Any]]) -> tuple[Problem, ...]:
    return tuple(
        Problem(one["severity"], one["code"], one["message"],
                Place(one["path"], one["line"], one["column"]) if one.get("path") else None)
        for one in described)


def error_of(message: str, description: str) -> Error:
    """The exception for an error of the library."""
    import json

    described = json.loads(description)
    kind = "".join(word.capitalize() for word in described["status"].split("_"))
    problems = problems_of(described.get("problems", []))
    place = next((problem.place for problem in problems if problem.severity == "error"), None)
    made = {"Program": ProgramError, "WrongInput": InputError}.get(kind, Error)
    return made(message, kind, place=place, problems=problems)


RunKey = tuple[int, int]
_CAUSES_MAX = 64
# The newest exceptions of functions, by their texts and their runs. None: of a model, which is not called for one run, or of a run
# of a host.
_causes: dict[tuple[RunKey | None, str], BaseException] = {}


def note_cause(text: str, exception: BaseException, run: RunKey | None = None) -> None:
    """Keeps an exception of a function of Python, for the one that is raised if its run fails with this text."""
    _causes.pop((run, text), None)
    _causes[run, text] = exception
    while len(_causes) > _CAUSES_MAX:
        _causes.pop(next(iter(_causes), (None, "")), None)


def _cause_of(message: str, run: RunKey | None) -> BaseException | None:
    """The newest exception of the run with whose text a line of the message ends."""
    for key in reversed(list(_causes)):
        owner, text = key
        if not text or (owner is not None and run is not None and owner != run):
            continue
        at = message.find(text)
        if at >= 0 and message[at + len(text):at + len(text) + 1] in ("", "\n"):
            return _causes.get(key)
    return None


def failure_of(state: int, message: str, kind: str, blame: str, run: RunKey | None = None) -> Error:
    """The exception for a run that has not returned a value. Its cause is the exception of a function of Python."""
    if state == 5:
        return Cancelled(message, "Cancelled")
    import re

    found = re.match(_PLACE, message)
    place = Place(found["path"], int(found["line"]), int(found["column"])) if found else None
    failed = RunFailed(message, kind or "Failed", place=place, blame=blame)
    failed.__cause__ = _cause_of(message, run)
    return failed
