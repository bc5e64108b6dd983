"""The worker process of `tenon run --extern FILE.py`: calls the functions of a file, one call after the other.

`tenon` starts it with this file and the modules that it imports as text, so that the package need not be installed. A
message is eight bytes of length, lowest first, and JSON. The first one names the file and describes the program's externs;
its reply says which of them the file's functions can perform. Each of the others is a call."""
from __future__ import annotations

import ctypes
import importlib.util
import inspect
import json
import os
import signal
import socket
import sys
from typing import Any

from ._marks import Call, find_problem, message_of, takes_call
from ._types import Types, to_json

_DESCRIPTOR = 3
_PR_SET_PDEATHSIG = 1


class _Closed(Exception):
    """There are no more messages."""


class _Channel:
    def __init__(self) -> None:
        os.set_inheritable(_DESCRIPTOR, False)
        self._socket = socket.socket(fileno=_DESCRIPTOR)

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self._socket.recv(min(count - len(data), 1 << 20))
            if not piece:
                raise _Closed
            data += piece
        return bytes(data)

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._read(int.from_bytes(self._read(8), "little")))
        return message

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
        self._socket.sendall(len(data).to_bytes(8, "little") + data)


def _load(path: str) -> Any:
    """The file as a module, which can import its neighbours."""
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"`{path}` is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _functions_of(module: Any) -> dict[str, Any]:
    """The functions by the names of their externs: those that are marked, and the others that the file defines."""
    found = {}
    for name, value in vars(module).items():
        marked = getattr(value, "tenon_extern", None)
        if marked is not None:
            found[marked.name] = value
        elif inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            found.setdefault(name, value)
    return found


class _Worker:
    def __init__(self) -> None:
        self._channel = _Channel()
        self._functions: dict[str, Any] = {}
        self._externs: dict[str, dict[str, Any]] = {}
        self._types: Types | None = None

    def run(self) -> None:
        try:
            self._channel.send(self._begin(self._channel.receive()))
            while True:
                self._channel.send(self._perform(self._channel.receive()))
        except _Closed:
            pass

    def _begin(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            self._functions = _functions_of(_load(message["path"]))
        except BaseException as exception:
            import traceback

            lines = traceback.format_exception_only(type(exception), exception)
            places = [frame for frame in traceback.extract_tb(exception.__traceback__) if frame.filename == message["path"]]
            at = f"line {places[-1].lineno}: " if places else ""
            return {"error": at + "".join(lines).strip()}
        self._types = Types(message["types"], "program")
        self._externs = {one["name"]: one for one in message["externs"]}
        problems = {}
        for name, declared in self._externs.items():
            function = self._functions.get(name)
            if function is not None:
                problems[name] = find_problem(declared, function, message["types"])
        return {"functions": sorted(self._functions), "externs": problems}

    def _perform(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            key = message["key"]
            if key:
                os.environ["TENON_EFFECT_KEY"] = key
            else:
                os.environ.pop("TENON_EFFECT_KEY", None)
            return self._call(message)
        except SystemExit:
            raise
        except BaseException as exception:
            if getattr(type(exception), "tenon_role", None) == "unavailable":
                return {"error": str(exception), "unavailable": True}
            return {"error": message_of(exception)}

    def _call(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._types is not None
        declared = self._externs[message["extern"]]
        function = self._functions[message["extern"]]
        arguments = [self._types.from_json(parameter["type"], argument)
                     for parameter, argument in zip(declared["parameters"], message["arguments"])]
        if takes_call(function):
            arguments.insert(0, Call(message["key"], message.get("input")))
        value = function(*arguments)
        if inspect.isawaitable(value):
            import asyncio

            value = asyncio.run(_await(value))
        role = getattr(type(value), "tenon_role", None)
        if role == "pause_for_input":
            return {"question": value.question}
        if role in ("pause_for_child", "finish_agent"):
            return {role: value.agent, "input": value.input}
        return {"value": to_json(value)}


async def _await(value: Any) -> Any:
    return await value


def main() -> None:
    parent = int(sys.argv[1])
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:  # a parent that ended before the line above sends no signal
        _Worker().run()
