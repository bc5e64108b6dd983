"""Arguments of the package's functions that the extension module takes: their types and ranges, in the package's words."""
from __future__ import annotations

import os
from collections.abc import Mapping

from . import _json as json
from ._errors import InputError
from ._typing import Any

COUNT_MAX = 2**64 - 1
_SHOWN_MAX = 80


class OutOfRange(InputError, ValueError):
    """An argument has the expected type, and not an expected value."""


def refuse(expected: str, name: str, value: Any, raised: type[InputError] = InputError) -> InputError:
    """The exception for an argument that is something else."""
    shown = repr(value)
    if len(shown) > _SHOWN_MAX:
        shown = f"a `{type(value).__name__}`"
    return raised(f"expected {expected} as `{name}`, got {shown}", "WrongInput")


def refuse_hidden(expected: str, name: str, value: Any) -> InputError:
    """The same for what may be nearly a secret."""
    return InputError(f"expected {expected} as `{name}`, got a `{type(value).__name__}`", "WrongInput")


def text_of(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    raise refuse("a text", name, value)


def utf8_text_of(value: str, name: str) -> str:
    """Without surrogates, which UTF-8 does not have."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise refuse_hidden("a text without surrogates, which UTF-8 does not have,", name, value) from None
    return value


def json_of(value: Any, name: str) -> str:
    """What is written for a value of Python: an answer, a prompt or arguments."""
    from ._types import to_json

    try:
        return json.dumps(to_json(value))
    except (TypeError, ValueError, RecursionError):  # such as an object of another class, or one that contains itself
        raise refuse_hidden("a value that JSON has", name, value) from None


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


def model_of(value: Any) -> str:
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    raise refuse("a text such as `openai:gpt-5-mini` or a function", "model", value)


def flag_of(value: Any, name: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise refuse("True, False or None", name, value)


def path_of(value: Any, name: str) -> str:
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    raise refuse("a path", name, value)


def count_of(value: Any, name: str, most: int = COUNT_MAX) -> int:
    """Any integer, such as one of NumPy, from 0 to `most`."""
    expected = "an integer of 0 or more" if most == COUNT_MAX else f"an integer from 0 to {most}"
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise refuse(expected, name, value)
    count = int(value.__index__())
    if not 0 <= count <= most:
        raise refuse(expected, name, value, OutOfRange)
    return count


def seconds_of(value: Any, name: str = "timeout") -> float:
    """Any number, such as one of NumPy. A negative one is as 0."""
    if isinstance(value, bool) or not (hasattr(type(value), "__float__") or hasattr(type(value), "__index__")):
        raise refuse("a number of seconds", name, value)
    try:
        seconds = float(value)
    except OverflowError:
        return float("inf")
    if seconds != seconds:  # not a number
        raise refuse("a number of seconds", name, value, OutOfRange)
    return max(seconds, 0.0)


def timeout_of(value: Any, name: str = "timeout") -> float | None:
    return None if value is None else seconds_of(value, name)
