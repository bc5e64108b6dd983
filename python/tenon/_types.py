"""The types of a program as Python's: dataclasses, Literals, Options as `T | None`."""
from __future__ import annotations

import keyword

from ._typing import Any, Generic, TypeVar
from ._values import LIMITS, MEMBERS, Refined, members_of_case, remember

T = TypeVar("T")


class Ok(Generic[T]):
    """The value of a `Result`."""

    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: T

    def __init__(self, value: T) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Ok and self.value == other.value

    def __hash__(self) -> int:
        return hash((Ok, self.value))

    def __repr__(self) -> str:
        return f"Ok({self.value!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from typing import get_args

        return _schema(cls, "value", handler(get_args(source)[0]) if get_args(source) else None)


class Err:
    """The failure of a `Result`, as a value."""

    __slots__ = ("message", "kind", "place", "blame")
    __match_args__ = ("message",)
    message: str
    kind: str
    place: str
    blame: str

    def __init__(self, message: str, kind: str = "", place: str = "", blame: str = "") -> None:
        self.message = message
        self.kind = kind
        self.place = place
        self.blame = blame

    def __eq__(self, other: object) -> bool:
        return type(other) is Err and (self.message, self.kind) == (other.message, other.kind)

    def __hash__(self) -> int:
        return hash((Err, self.message))

    def __repr__(self) -> str:
        return f"Err({self.message!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return _schema(cls, "message", handler(str))


def err_of(text: str) -> Err:
    """The failure from its JSON."""
    import json

    return Err(**json.loads(text))


def _schema(made: type, field: str, of_field: Any) -> Any:
    """For pydantic: an object of the class, or a dictionary with its field."""
    from pydantic_core import core_schema

    fields = {field: core_schema.typed_dict_field(of_field or core_schema.any_schema())}
    from_dictionary = core_schema.chain_schema([
        core_schema.typed_dict_schema(fields), core_schema.no_info_plain_validator_function(lambda data: made(data[field]))])
    return core_schema.union_schema(
        [core_schema.is_instance_schema(made), from_dictionary],
        serialization=core_schema.plain_serializer_function_ser_schema(lambda value: {field: getattr(value, field)}))


def attribute(name: str) -> str:
    """The name that Python can use for a field. Keywords get an underscore, and so do names that would be taken for them."""
    return name + "_" if keyword.iskeyword(name.rstrip("_")) else name


def declared_name(attribute_name: str) -> str:
    """The name that a field has in the program."""
    return attribute_name[:-1] if attribute_name.endswith("_") and keyword.iskeyword(attribute_name.rstrip("_")) else attribute_name


def is_plain_enum(described: dict[str, Any]) -> bool:
    """Whether no case has a payload, so that the cases are texts."""
    return not any(case["payload"] for case in described["cases"])


class Types:
    """The types of one program. `described` is the list `types` of its description."""

    def __init__(self, described: list[dict[str, Any]], module: str) -> None:
        self.described = described
        self.module = module
        self.named: dict[str, Any] = {}  # what the program names -> a class, a Union or a Literal
        self._classes: list[Any] = [None] * len(described)
        used = {self.name_of(one) for one in described if one["kind"] in ("struct", "enum") or one.get("name")}
        for index, one in enumerate(described):
            if one["kind"] == "struct":
                for field in one["fields"]:
                    field["attribute"] = attribute(field["name"])
                self._classes[index] = self._make_class(self.name_of(one), one["documentation"], MEMBERS)
                self.named[self.name_of(one)] = self._classes[index]
            elif one["kind"] == "enum" and not is_plain_enum(one):
                for case in one["cases"]:
                    count = len(case["payload"])
                    case["attributes"] = ["value"] if count == 1 else [f"value_{at}" for at in range(1, count + 1)]
                    case["class"] = self.name_of(one) + case["name"]
                    while case["class"] in used:
                        case["class"] += "_"
                    used.add(case["class"])
                counts = [len(case["payload"]) for case in one["cases"]]
                self._classes[index] = [
                    self._make_class(case["class"], case["documentation"],
                                     members_of_case(case["name"], is_known_by_fields=count > 0 and counts.count(count) == 1))
                    for case, count in zip(one["cases"], counts)]
                self.named.update((made.__name__, made) for made in self._classes[index])
        for index, one in enumerate(described):
            if one["kind"] == "struct":
                self._complete(self._classes[index], [(field["attribute"], field["type"]) for field in one["fields"]])
            elif isinstance(self._classes[index], list):
                for made, case in zip(self._classes[index], one["cases"]):
                    self._complete(made, list(zip(case["attributes"], case["payload"])))
        for index, one in enumerate(described):
            if one["kind"] in ("enum", "union", "refined", "text") and one.get("name"):
                self.named.setdefault(self.name_of(one), self.annotation(index))

    @property
    def classes(self) -> list[Any]:
        return self._classes

    def defaults(self, fields: list[int]) -> list[bool]:
        """Which fields may be left out, by their types: options, if only options follow."""
        is_last, found = True, []
        for index in reversed(fields):
            is_last = is_last and self.described[index]["kind"] == "option"
            found.append(is_last)
        return found[::-1]

    @staticmethod
    def name_of(described: dict[str, Any]) -> str:
        """A name without the arguments of a generic type: `Pair<i32>` is `Pair_i32`."""
        text = described["text"] if described["kind"] in ("struct", "enum") else described["name"]
        return "_".join("".join(c if c.isalnum() or c == "_" else " " for c in text).split())

    def _make_class(self, name: str, documentation: str, members: dict[str, Any]) -> type:
        return type(name, (), {**members, "__module__": self.module, "__doc__": documentation or None})

    def _complete(self, made: Any, fields: list[tuple[str, int]]) -> None:
        # An option may be left out, like an argument, if only options follow it.
        from dataclasses import dataclass

        made.__annotations__ = {name: self.annotation(index) for name, index in fields}
        for (name, _), is_optional in zip(fields, self.defaults([index for _, index in fields])):
            if is_optional:
                setattr(made, name, None)
        dataclass(made)
        made.tenon_limited = lambda: {name: self.annotation(index, has_limits=True) for name, index in fields}
        remember(made)

    def annotation(self, index: int, has_limits: bool = False) -> Any:
        """The type as Python writes it in annotations. `has_limits`: with those of integers, too, which pydantic checks."""
        one = self.described[index]
        kind = one["kind"]
        simple = {"unit": type(None), "boolean": bool, "i32": int, "i64": int, "f64": float, "string": str, "text": str}
        if kind in simple and not (has_limits and kind in LIMITS):
            return simple[kind]

        def part(of: int) -> Any:
            return self.annotation(of, has_limits)

        if kind == "list":
            return list[part(one["item"])]  # type: ignore[misc]
        if kind == "map":
            return dict[str, part(one["item"])]  # type: ignore[misc]
        import typing
        from typing import Annotated, Literal, Optional, Union

        if kind in LIMITS:
            return Annotated[int, Refined(LIMITS[kind])]
        if kind == "option":
            return Optional[part(one["item"])]
        if kind == "result":
            return Union[Ok[part(one["item"])], Err]  # type: ignore[misc]
        if kind == "tuple":
            return tuple[tuple(part(item) for item in one["items"])]  # type: ignore[misc]
        if kind == "struct":
            return self._classes[index]
        if kind == "enum":
            if self._classes[index] is None:
                return Literal[tuple(case["name"] for case in one["cases"])]
            return Union[tuple(self._classes[index])]
        if kind == "union":
            return Literal[tuple(one["literals"])]
        if kind == "refined":
            limits = LIMITS.get(self.described[one["base"]]["kind"], {})
            return Annotated[self.annotation(one["base"]), Refined({**limits, **one})]
        if kind == "secret":
            return part(one["item"])
        return typing.Any

    def from_json(self, index: int, data: Any) -> Any:
        """A value of JSON, in the form that programs use, as Python has it."""
        one = self.described[index]
        kind = one["kind"]
        if kind == "f64":
            return float(data)
        if kind == "result":
            case, held = next(iter(data.items()))
            return Ok(self.from_json(one["item"], held)) if case == "Ok" else Err(**held)
        if kind == "list":
            return [self.from_json(one["item"], item) for item in data]
        if kind == "map":
            return {key: self.from_json(one["item"], item) for key, item in data.items()}
        if kind == "option":
            return None if data is None else self.from_json(one["item"], data)
        if kind == "tuple":
            return tuple(self.from_json(item, part) for item, part in zip(one["items"], data))
        if kind in ("refined", "secret"):
            return self.from_json(one["base" if kind == "refined" else "item"], data)
        if kind == "struct":
            return self._classes[index](*(self.from_json(field["type"], data.get(field["name"]))
                                          for field in one["fields"]))
        if kind == "enum" and self._classes[index] is not None:
            name, payload = (data, []) if isinstance(data, str) else next(iter(data.items()))
            at = next(at for at, case in enumerate(one["cases"]) if case["name"] == name)
            parts = one["cases"][at]["payload"]
            given = [payload] if len(parts) == 1 else payload
            return self._classes[index][at](*(self.from_json(part, value) for part, value in zip(parts, given)))
        return data


def to_json(value: Any) -> Any:
    """What the module json writes for a value of Python: an answer or a prompt."""
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is not None:
        members = [(name, to_json(getattr(value, name))) for name in fields]
        case = getattr(value, "tenon_case", None)
        if case is None:
            return {declared_name(name): member for name, member in members}
        payload = [member for _, member in members]
        return case if not payload else {case: payload[0] if len(payload) == 1 else payload}
    if hasattr(value, "model_dump"):  # of pydantic
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value
