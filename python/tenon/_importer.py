"""Imports programs as modules."""
from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from ._program import Program, load_with


class _Loader(importlib.abc.Loader):
    def __init__(self, path: str, options: dict[str, Any]) -> None:
        self._path = path
        self._options = options

    def exec_module(self, module: ModuleType) -> None:
        program = load_with(self._path, is_strict=False, **self._options)
        module.__file__ = self._path
        vars(module).update({**program.functions, **program.agents, **program._members})
        vars(module)["program"] = program  # also if it has a function of this name
        vars(module).setdefault("Program", Program)  # as in the stub


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        name = fullname.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            file = os.path.join(folder or os.getcwd(), name + ".tn")
            if os.path.isfile(file):
                return importlib.machinery.ModuleSpec(fullname, _Loader(file, self.options), origin=file)
        return None


def install(options: dict[str, Any]) -> None:
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            finder.options = options
            return
    sys.meta_path.append(_Finder(options))
