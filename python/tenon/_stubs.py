"""Stubs: the functions, agents and types of a program as a file `.pyi`, for type checkers and editors."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ._types import attribute, is_plain_enum

if TYPE_CHECKING:
    from ._program import Program

_SIMPLE = {"unit": "None", "boolean": "bool", "i32": "int", "i64": "int", "f64": "float", "string": "str", "text": "str"}
_HOMES = {"dataclass": "dataclasses", "Mapping": "collections.abc", "ListLike": "tenon.typing",
          **dict.fromkeys(("bool", "dict", "float", "int", "list", "property", "str", "tuple"), "builtins"),
          **dict.fromkeys(("Any", "Literal", "Optional", "Protocol", "Union"), "typing")}
"""What a stub names of Python and of the package, and its module."""
_PROGRAM = "program"


class _Names:
    """The names in a stub: those of the program, and those of Python, with their module where the program has the same."""

    def __init__(self, program: Program) -> None:
        self._used = {_PROGRAM, *map(attribute, program.functions), *map(attribute, program.agents), *program.types.named}
        for one in program.types.described:
            self._used.update(field["attribute"] for field in one.get("fields", ()))
            self._used.update(name for case in one.get("cases", ()) for name in case.get("attributes", ()))
        self._imported: dict[str, set[str]] = {}  # by module
        self._aliases: dict[str, str] = {}  # of modules
        self.package = self.unused("tenon")
        self.program_class = self.unused("Program")

    def unused(self, name: str) -> str:
        while name in self._used:
            name += "_"
        self._used.add(name)
        return name

    def std(self, name: str) -> str:
        home = _HOMES[name]
        if name in self._used:
            if home not in self._aliases:
                self._aliases[home] = self.unused("_" + home.replace(".", "_"))
            return f"{self._aliases[home]}.{name}"
        if home != "builtins":
            self._imported.setdefault(home, set()).add(name)
        return name

    def imports(self) -> list[str]:
        package = "import tenon" if self.package == "tenon" else f"import tenon as {self.package}"
        return [*(f"import {home} as {alias}" for home, alias in sorted(self._aliases.items())),
                *(f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(self._imported.items())), "", package]


class _Writer:
    def __init__(self, program: Program) -> None:
        self._types = program.types
        self.names = _Names(program)
        self.std = self.names.std
        self.lines: list[str] = []
        self._likes: dict[int, str] = {}  # names of protocols, by the structs
        self._members: list[str] = []  # of the class of the program

    def annotation(self, index: int, is_definition: bool = False) -> str:
        one = self._types.described[index]
        kind = one["kind"]
        if kind in _SIMPLE:
            return _SIMPLE[kind] if kind == "unit" else self.std(_SIMPLE[kind])
        if kind in ("enum", "union") and one.get("name") and not is_definition:
            return self._types.name_of(one)
        if (composed := self._composed(one, self.annotation, "list", "dict")) is not None:
            return composed
        if kind == "result":
            package = self.names.package
            return f"{self.std('Union')}[{package}.Ok[{self.annotation(one['item'])}], {package}.Err]"
        if kind == "struct" or (kind == "enum" and not is_plain_enum(one)):
            return self._types.name_of(one)
        if kind == "enum":
            return f"{self.std('Literal')}[{', '.join(repr(case['name']) for case in one['cases'])}]"
        if kind == "union":
            return f"{self.std('Literal')}[{', '.join(repr(literal) for literal in one['literals'])}]"
        return self.std("Any")

    def parameter(self, index: int) -> str:
        """The annotation of an argument: a list may be any iterable, a struct a dictionary or an object with its fields."""
        one = self._types.described[index]
        if (composed := self._composed(one, self.parameter, "ListLike", "Mapping")) is not None:
            return composed
        return self._struct_like(index) if one["kind"] == "struct" else self.annotation(index)

    def _composed(self, one: Mapping[str, Any], of: Callable[[int], str], list_name: str, map_name: str) -> str | None:
        """The annotation of a type that consists of others, whose annotations `of` gives; None for other types."""
        kind = one["kind"]
        if kind == "list":
            return f"{self.std(list_name)}[{of(one['item'])}]"
        if kind == "map":
            return f"{self.std(map_name)}[{self.std('str')}, {of(one['item'])}]"
        if kind == "option":
            return f"{self.std('Optional')}[{of(one['item'])}]"
        if kind == "tuple":
            return f"{self.std('tuple')}[{', '.join(of(item) for item in one['items'])}]"
        if kind in ("refined", "secret"):
            return of(one["base"] if kind == "refined" else one["item"])
        return None

    def _struct_like(self, index: int) -> str:
        """The name of what is accepted as a struct, which `struct_likes` writes."""
        if index not in self._likes:
            self._likes[index] = self.names.unused(f"_{self._types.name_of(self._types.described[index])}Like")
        return self._likes[index]

    def struct_likes(self) -> None:
        written = 0
        while written < len(self._likes):  # the fields of one may need others
            index, name = list(self._likes.items())[written]
            fields = self._types.described[index]["fields"]
            object_type = self._types.name_of(self._types.described[index])
            if fields:  # a protocol without members would be that of all objects
                object_type = self.names.unused(name[:-len("Like")] + "Fields")
                self.lines += ["", f"class {object_type}({self.std('Protocol')}):"]
            for field in fields:
                self.lines += [f"    @{self.std('property')}",
                               f"    def {field['attribute']}(self) -> {self.parameter(field['type'])}: ..."]
            dictionary = f"{self.std('dict')}[{self.std('str')}, {self.std('Any')}]"
            self.lines += ["", f"{name} = {self.std('Union')}[{object_type}, {dictionary}]"]
            written += 1

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
        self.lines += ["", f"@{self.std('dataclass')}", f"class {name}:"]
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
                    self.data_class(case["class"], case["documentation"], parts)
                aliases.append(f"{name} = {self.std('Union')}[{', '.join(case['class'] for case in one['cases'])}]")
            elif one["kind"] in ("enum", "union", "refined", "text") and one.get("name"):
                aliases.append(f"{self._types.name_of(one)} = {self.annotation(index, is_definition=True)}")
        if aliases:
            self.lines += ["", *dict.fromkeys(aliases)]

    def function(self, described: Mapping[str, Any]) -> None:
        names = [attribute(one["name"]) for one in described["parameters"]]
        has_default = self._types.defaults([one["type"] for one in described["parameters"]])
        given = [f"{name}: {self.parameter(one['type'])}{' = ...' if is_optional else ''}"
                 for name, one, is_optional in zip(names, described["parameters"], has_default)]
        receiver = ["self"]
        if "self" in names:
            receiver = [next(name for name in ("this", "this_", "this__") if name not in names), "/"]
        parameters = ", ".join([*receiver, *given])
        options = [] if "events" in names else ["*", f"events: {self.std('bool')} = ..."]
        started = ", ".join([*receiver, *given, *options])
        result = self.annotation(described["result"])
        name = attribute(described["name"])
        made = self.names.unused("_" + described["name"])
        self.lines += ["", f"class {made}({self.std('Protocol')}):", f"    def __call__({parameters}) -> {result}:"]
        if described["documentation"]:
            self.documentation(described["documentation"], "        ")
        self.lines[-1] += "" if described["documentation"] else " ..."
        self.lines += [f"    async def aio({parameters}) -> {result}: ...",
                       f"    def start({started}) -> {self.names.package}.Run[{result}]: ..."]
        self.member(name, made)

    def agent(self, described: Mapping[str, Any]) -> None:
        made = self.names.unused("_" + described["name"])
        self.lines += ["", f"class {made}({self.std('Protocol')}):"]
        self.documentation(described["documentation"], "    ")
        conversation = f"{self.names.package}.Conversation[{self.annotation(described['result'])}]"
        self.lines.append(f"    def start(self, *, events: {self.std('bool')} = ...) -> {conversation}: ...")
        self.member(attribute(described["name"]), made)

    def member(self, name: str, made: str) -> None:
        """A function or an agent as an attribute of the module and of the program."""
        self._members.append(f"{name}: {made}")
        if name != _PROGRAM:
            self.lines.append(self._members[-1])

    def program(self, program: Program) -> None:
        """The class of the program. Its attributes are those of the module, except what each program has by their names."""
        own = {*dir(type(program)), *vars(program)}
        classes = {name: self.names.unused("_" + name) for name, made in self._types.named.items() if isinstance(made, type)}
        self.lines += ["", *(f"{alias} = {name}" for name, alias in classes.items())]
        members = [*(f"{name} = {made}" for name, made in classes.items()),
                   *(f"{name}: {self.std('Any')}" for name in self._types.named if name not in classes), *self._members]
        members = [one for one in members if not one.startswith("_") and one.replace(":", " ").split()[0] not in own]
        self.lines += ["", f"class {self.names.program_class}({self.names.package}.Program):"]
        self.lines += [f"    {one}" for one in members] or ["    ..."]


def stub_of(program: Program) -> str:
    """The stub of a program, as a module that `tenon.install_import_hook` imports: there, `program` is the program. `Program` is its
    class, for what `tenon.load` returns."""
    writer = _Writer(program)
    writer.types()
    for function in program.functions.values():
        writer.function(function.described)
    for agent in program.agents.values():
        writer.agent(agent.described)
    writer.struct_likes()
    writer.program(program)
    declared = f"{_PROGRAM}: {writer.names.program_class}"
    return "\n".join([f"# Written by `tenon stubs {program.types.module}.tn`.", *writer.names.imports(), "", declared, *writer.lines, ""])


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
