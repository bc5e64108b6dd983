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
        members: dict[str, Any] = {**(MEMBERS if case is None else members_of_case(case)), "__module__": module}
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


LIMITS: dict[str, dict[str, Any]] = {"i32": {"minimum": -2**31, "maximum": 2**31 - 1}, "i64": {"minimum": -2**63, "maximum": 2**63 - 1}}
"""Of integers. The annotations of classes do not show them: pydantic asks for them, and imports what they need."""


def _schema_of_struct(made: Any, source: Any, handler: Any) -> Any:
    limited = made.tenon_limited() if hasattr(made, "tenon_limited") else {}  # not of one that was unpickled
    plain = {name: made.__dataclass_fields__[name].type for name in limited}
    try:
        for name, annotation in limited.items():
            made.__dataclass_fields__[name].type = annotation
        return handler(source)
    finally:
        for name, annotation in plain.items():
            made.__dataclass_fields__[name].type = annotation


MEMBERS: dict[str, Any] = {"__reduce__": _reduce, "__copy__": _copy, "__deepcopy__": _deepcopy,
                           "__get_pydantic_core_schema__": classmethod(_schema_of_struct)}
"""What the classes of structs and cases have for the modules pickle and copy, and for pydantic."""


def members_of_case(name: str, is_known_by_fields: bool = False) -> dict[str, Any]:
    """The same for a case of an enum, which pydantic writes with its name. `is_known_by_fields`: whether no other case of the enum has
    these fields; then pydantic accepts a dictionary of them, too."""
    return {**MEMBERS, "tenon_case": name, "tenon_is_known_by_fields": is_known_by_fields,
            "__get_pydantic_core_schema__": classmethod(_schema_of_case), "__get_pydantic_json_schema__": classmethod(_json_schema_of_case)}


def _schema_of_case(made: Any, source: Any, handler: Any) -> Any:
    """As programs write it in JSON: the name of the case, or a dictionary with it and the payload, a list if that has several parts."""
    from pydantic_core import PydanticSerializationUnexpectedValue, core_schema

    name, fields = made.tenon_case, tuple(made.__dataclass_fields__)

    def fields_of(value: Any) -> Any:
        if isinstance(value, made):
            return value
        if not fields:
            if value == name:
                return {}
        elif isinstance(value, dict):
            if len(fields) == 1 and value.keys() == {name}:
                return {fields[0]: value[name]}
            payload = value[name] if value.keys() == {name} else None
            if isinstance(payload, (list, tuple)) and len(payload) == len(fields):
                return dict(zip(fields, payload))
            if made.tenon_is_known_by_fields and value.keys() == set(fields):
                return value
        raise ValueError(f"expected the case `{name}`")

    def named(value: Any, write: Any) -> Any:
        if not isinstance(value, made):
            raise PydanticSerializationUnexpectedValue(f"expected the case `{name}`")
        written = write(value)
        payload = [written.get(field) for field in fields]
        return {name: payload[0] if len(payload) == 1 else payload} if payload else name

    found = _schema_of_struct(made, source, handler)
    definition = handler.resolve_ref_schema(found)  # changed in place: what the case contains may refer to it
    plain = dict(definition)
    reference = plain.pop("ref", None)
    definition.clear()
    definition.update(core_schema.no_info_before_validator_function(
        fields_of, plain, ref=reference, serialization=core_schema.wrap_serializer_function_ser_schema(named)))
    return found


def _json_schema_of_case(made: Any, schema: Any, handler: Any) -> Any:
    found = handler(schema)
    described = handler.resolve_ref_schema(found)
    if "const" in described or "additionalProperties" in described:
        return found  # a definition that was described before
    parts = list(described.pop("properties", {}).values())
    for one in ("required", "type"):
        described.pop(one, None)
    if not parts:
        described["const"] = made.tenon_case
        return found
    several = {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    described.update({"type": "object", "properties": {made.tenon_case: parts[0] if len(parts) == 1 else several},
                      "required": [made.tenon_case], "additionalProperties": False})
    return found


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
