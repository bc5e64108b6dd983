"""Stubs: the functions, agents and types of a program as a file `.pyi`, for type checkers and editors."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._types import Types, attribute, is_plain_enum

if TYPE_CHECKING:
    from ._program import Program

_SIMPLE = {"unit": "None", "boolean": "bool", "i32": "int", "i64": "int", "f64": "float", "string": "str", "text": "str"}
_IMPORTS = """from dataclasses import dataclass
from typing import Any, Literal, Optional, Protocol, Union

import tenon
"""


class _Writer:
    def __init__(self, types: Types) -> None:
        self._types = types
        self.lines: list[str] = []

    def annotation(self, index: int, is_definition: bool = False) -> str:
        one = self._types.described[index]
        kind = one["kind"]
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        if kind in ("enum", "union") and one.get("name") and not is_definition:
            return self._types.name_of(one)
        if kind == "list":
            return f"list[{self.annotation(one['item'])}]"
        if kind == "map":
            return f"dict[str, {self.annotation(one['item'])}]"
        if kind == "option":
            return f"Optional[{self.annotation(one['item'])}]"
        if kind == "result":
            return f"Union[tenon.Ok[{self.annotation(one['item'])}], tenon.Err]"
        if kind == "tuple":
            return f"tuple[{', '.join(self.annotation(item) for item in one['items'])}]"
        if kind in ("refined", "secret"):
            return self.annotation(one["base"] if kind == "refined" else one["item"])
        if kind == "struct" or (kind == "enum" and not is_plain_enum(one)):
            return self._types.name_of(one)
        if kind == "enum":
            return f"Literal[{', '.join(repr(case['name']) for case in one['cases'])}]"
        if kind == "union":
            return f"Literal[{', '.join(repr(literal) for literal in one['literals'])}]"
        return "Any"

    def parameter(self, index: int) -> str:
        """The annotation of an argument: a list may be any iterable, a struct a dictionary."""
        one = self._types.described[index]
        text = self.annotation(index)
        return f"Union[{text}, dict[str, Any]]" if one["kind"] == "struct" else text

    def documentation(self, text: str, indent: str) -> None:
        if not text:
            return
        lines = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').split("\n")
        if lines[-1].endswith('"'):
            lines[-1] += " "
        self.lines.append(f'{indent}"""{lines[0]}')
        self.lines += [f"{indent}{line}" if line else "" for line in lines[1:]]
        self.lines[-1] += '"""'

    def data_class(self, name: str, documentation: str, fields: list[tuple[str, int, str]]) -> None:
        self.lines += ["", "@dataclass", f"class {name}:"]
        self.documentation(documentation, "    ")
        has_default = self._types.defaults([index for _, index, _ in fields])
        for (field, index, text), is_optional in zip(fields, has_default):
            self.lines.append(f"    {field}: {self.annotation(index)}{' = ...' if is_optional else ''}")
            self.documentation(text, "    ")
        if not fields:
            self.lines.append("    ...")

    def types(self) -> None:
        aliases = []
        for index, one in enumerate(self._types.described):
            if one["kind"] == "struct":
                fields = [(field["attribute"], field["type"], field["documentation"]) for field in one["fields"]]
                self.data_class(self._types.name_of(one), one["documentation"], fields)
            elif one["kind"] == "enum" and not is_plain_enum(one):
                name = self._types.name_of(one)
                for case in one["cases"]:
                    parts = [(part, index, "") for part, index in zip(case["attributes"], case["payload"])]
                    self.data_class(name + case["name"], case["documentation"], parts)
                aliases.append(f"{name} = Union[{', '.join(name + case['name'] for case in one['cases'])}]")
            elif one["kind"] in ("enum", "union", "refined", "text") and one.get("name"):
                aliases.append(f"{self._types.name_of(one)} = {self.annotation(index, is_definition=True)}")
        if aliases:
            self.lines += ["", *dict.fromkeys(aliases)]

    def function(self, described: Mapping[str, Any]) -> None:
        has_default = self._types.defaults([one["type"] for one in described["parameters"]])
        given = ["self", *(f"{attribute(one['name'])}: {self.parameter(one['type'])}{' = ...' if is_optional else ''}"
                           for one, is_optional in zip(described["parameters"], has_default))]
        parameters = ", ".join(given)
        started = ", ".join([*given, "*", "events: bool = ..."])
        result = self.annotation(described["result"])
        name = described["name"]
        self.lines += ["", f"class _{name}(Protocol):", f"    def __call__({parameters}) -> {result}:"]
        if described["documentation"]:
            self.documentation(described["documentation"], "        ")
        self.lines[-1] += "" if described["documentation"] else " ..."
        self.lines += [f"    async def aio({parameters}) -> {result}: ...",
                       f"    def start({started}) -> tenon.Run[{result}]: ...", f"{attribute(name)}: _{name}"]

    def agent(self, described: Mapping[str, Any]) -> None:
        name = described["name"]
        self.lines += ["", f"class _{name}(Protocol):"]
        self.documentation(described["documentation"], "    ")
        self.lines += [f"    def start(self, *, events: bool = ...) -> tenon.Conversation[{self.annotation(described['result'])}]: ...",
                       f"{attribute(name)}: _{name}"]


def stub_of(program: Program) -> str:
    """The stub of a program, as a module that `tenon.install_import_hook` imports."""
    writer = _Writer(program.types)
    writer.types()
    for function in program.functions.values():
        writer.function(function.described)
    for agent in program.agents.values():
        writer.agent(agent.described)
    return "\n".join([f"# Written by `tenon stubs {program.types.module}.tn`.", _IMPORTS + "\nprogram: tenon.Program",
                      *writer.lines, ""])


def write_stub(path: str, output: str | None = None) -> str:
    """Writes the stub of a program beside it, or to `output`; `-` is the standard output. Returns where it is."""
    from ._program import load_description

    text = stub_of(load_description(path))
    target = output or os.path.splitext(path)[0] + ".pyi"
    if target == "-":
        print(text, end="")
    else:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
    return target
