"""How the values of a program are copied and pickled, and what pydantic checks of refined ones."""
from __future__ import annotations

import weakref
from collections.abc import Mapping

from ._typing import Any

_classes: weakref.WeakValueDictionary[tuple[Any, ...], type] = weakref.WeakValueDictionary()
"""The newest class for each module, name, case and fields. A process that has not loaded the program makes its own."""


def remember(made: type) -> None:
    """Has values of the class unpickled as such."""
    _classes[_key_of(made)] = made


def _key_of(made: Any) -> tuple[Any, ...]:
    return made.__module__, made.__name__, getattr(made, "tenon_case", None), tuple(made.__dataclass_fields__)


def _values_of(value: Any) -> list[Any]:
    return [getattr(value, name) for name in type(value).__dataclass_fields__]


def _restore(key: tuple[Any, ...], values: list[Any]) -> Any:
    made = _classes.get(key)
    if made is None:
        import typing
        from dataclasses import make_dataclass

        module, name, case, fields = key
        members: dict[str, Any] = {**MEMBERS, "__module__": module}
        if case is not None:
            members["tenon_case"] = case
        made = make_dataclass(name, [(field, typing.Any) for field in fields], namespace=members)
        made.__module__ = module
        _classes[key] = made
    return made(*values)


def _reduce(self: Any) -> Any:
    return _restore, (_key_of(type(self)), _values_of(self))


def _copy(self: Any) -> Any:
    return type(self)(*_values_of(self))


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    from copy import deepcopy

    return type(self)(*(deepcopy(value, memo) for value in _values_of(self)))


MEMBERS: dict[str, Any] = {"__reduce__": _reduce, "__copy__": _copy, "__deepcopy__": _deepcopy}
"""What the classes of structs and cases have for the modules pickle and copy."""


class Refined:
    """The limits of a refined type, as metadata of `typing.Annotated`. pydantic checks them."""

    __slots__ = ("minimum", "maximum", "exclusive_maximum", "length_minimum", "length_maximum", "pattern")

    minimum: float | None
    maximum: float | None
    exclusive_maximum: float | None
    length_minimum: int | None
    length_maximum: int | None
    pattern: str | None

    def __init__(self, described: Mapping[str, Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, described.get(name))

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        schema = handler(source)
        limits = {"ge": self.minimum, "le": self.maximum, "lt": self.exclusive_maximum, "min_length": self.length_minimum,
                  "max_length": self.length_maximum, "pattern": None if self.pattern is None else f"^(?:{self.pattern})$"}
        return {**schema, **{name: limit for name, limit in limits.items() if limit is not None}}

    def __eq__(self, other: object) -> bool:
        return type(other) is Refined and self._limits() == other._limits()

    def __hash__(self) -> int:
        return hash(tuple(self._limits().items()))

    def _limits(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) is not None}

    def __repr__(self) -> str:
        return f"Refined({', '.join(f'{name}={limit!r}' for name, limit in self._limits().items())})"
