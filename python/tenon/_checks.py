"""Arguments of the package's functions that the extension module takes: their types and ranges, in the package's words."""
from __future__ import annotations

import os
from collections.abc import Mapping

from ._errors import InputError
from ._typing import Any

COUNT_MAX = 2**64 - 1
_SHOWN_MAX = 80


class OutOfRange(InputError, ValueError):
    """An argument has the expected type, and not an expected value."""


def _refuse(expected: str, name: str, value: Any, raised: type[InputError] = InputError) -> InputError:
    shown = repr(value)
    if len(shown) > _SHOWN_MAX:
        shown = f"a `{type(value).__name__}`"
    return raised(f"expected {expected} as `{name}`, got {shown}", "WrongInput")


def text_of(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    raise _refuse("a text", name, value)


def optional_text_of(value: Any, name: str) -> str | None:
    return None if value is None else text_of(value, name)


def secrets_of(value: Any) -> list[tuple[str, str]]:
    """Names and texts. What was given instead is not shown: it may be nearly a secret."""
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise InputError("expected a dictionary of names and texts as `secrets`", "WrongInput")
    for name, secret in value.items():
        if not isinstance(name, str):
            raise InputError("expected texts as the names of `secrets`", "WrongInput")
        if not isinstance(secret, str):
            raise InputError(f"expected a text as the secret `{name}`, got one of type `{type(secret).__name__}`", "WrongInput")
    return list(value.items())


def path_of(value: Any, name: str) -> str:
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    raise _refuse("a path", name, value)


def count_of(value: Any, name: str, most: int = COUNT_MAX) -> int:
    """Any integer, such as one of NumPy, from 0 to `most`."""
    expected = "an integer of 0 or more" if most == COUNT_MAX else f"an integer from 0 to {most}"
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise _refuse(expected, name, value)
    count = int(value.__index__())
    if not 0 <= count <= most:
        raise _refuse(expected, name, value, OutOfRange)
    return count


def seconds_of(value: Any, name: str = "timeout") -> float:
    """Any number, such as one of NumPy. A negative one is as 0."""
    if isinstance(value, bool) or not (hasattr(type(value), "__float__") or hasattr(type(value), "__index__")):
        raise _refuse("a number of seconds", name, value)
    try:
        seconds = float(value)
    except OverflowError:
        return float("inf")
    if seconds != seconds:  # not a number
        raise _refuse("a number of seconds", name, value, OutOfRange)
    return max(seconds, 0.0)


def timeout_of(value: Any, name: str = "timeout") -> float | None:
    return None if value is None else seconds_of(value, name)
