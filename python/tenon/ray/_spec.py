"""What a deployment consists of. It is kept by Ray, so that each of its actors can be made again."""
from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from ray.experimental import internal_kv

from .._errors import Error
from ._cluster import pickled, unpickled

_KV_NAMESPACE = b"tenon"
NODE_DIGITS = 16  # of a node's id, in the names of its actors


@dataclasses.dataclass(frozen=True)
class Spec:
    """A deployment. `externs` and `model` are pickled as Ray does it: what can be imported on every node is kept by its
    name."""

    name: str
    programs: tuple[str, ...]
    store: str = dataclasses.field(repr=False)  # its URL may have a password
    externs: bytes = dataclasses.field(repr=False)
    model: bytes = dataclasses.field(repr=False)
    hosts_per_node: int | None
    """None: one for each core."""
    host_resources: Mapping[str, Any]
    """Options of the host actors, such as `num_cpus`."""
    agents: Mapping[str, int]
    """How many hosts a placed agent has, where it is not one. 0: none while there is nothing to do."""
    pool: str
    token: str = dataclasses.field(repr=False)
    options: Mapping[str, Any] = dataclasses.field(repr=False)
    runtime_env: Mapping[str, Any] | None = dataclasses.field(repr=False)  # may set variables that are secrets
    is_stopped: bool = False

    @property
    def namespace(self) -> str:
        """Of its actors."""
        return f"tenon-{self.name}"

    def load_externs(self) -> Any:
        return _resolve(unpickled(self.externs))

    def load_model(self) -> Any:
        return unpickled(self.model)

    def save(self) -> None:
        internal_kv._internal_kv_put(self.name.encode(), pickled(self), namespace=_KV_NAMESPACE)

    def forget(self) -> None:
        internal_kv._internal_kv_del(self.name.encode(), namespace=_KV_NAMESPACE)

    @staticmethod
    def find(name: str) -> Spec | None:
        """The deployment of this name in the cluster."""
        found = internal_kv._internal_kv_get(name.encode(), namespace=_KV_NAMESPACE)
        if found is None:
            return None
        spec: Spec = unpickled(found)
        return spec


def keep_externs(externs: Any) -> bytes:
    """Externs as `tenon.load` accepts them; besides, the names of modules and, as `module:function`, of functions."""
    kept: Any = externs
    if isinstance(externs, ModuleType):
        kept = externs.__name__
    elif not isinstance(externs, (str, Mapping)):
        kept = tuple(externs)
    return pickled(kept)


def _resolve(kept: Any) -> Any:
    if isinstance(kept, str) and ":" not in kept:
        return _import(kept)
    if isinstance(kept, str):
        kept = (kept,)
    if isinstance(kept, Mapping):
        return {name: _function(one) for name, one in kept.items()}
    return tuple(_function(one) for one in kept)


def _function(kept: Any) -> Any:
    if not isinstance(kept, str):
        return kept
    module, _, name = kept.partition(":")
    if not name:
        raise Error(f"expected `module:function`, got `{kept}`", "Usage")
    found: Any = _import(module)
    for part in name.split("."):
        if not hasattr(found, part):
            raise Error(f"the module `{module}` has no function `{name}`", "Usage")
        found = getattr(found, part)
    return found


def _import(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise Error(f"cannot import `{module}` in `{os.getcwd()}`: {error}; give the folder as "
                    "`runtime_env={'working_dir': …}`, or install the module on every node", "Usage") from error


def paths_of(programs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
             runtime_env: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The files as every node finds them: in the folder that is sent to it, or at the same place as here."""
    given = [programs] if isinstance(programs, (str, os.PathLike)) else list(programs)
    paths = [os.fspath(path) for path in given]
    if not paths:
        raise Error("a deployment needs a program", "Usage")
    if runtime_env is not None and "working_dir" in runtime_env:
        return tuple(paths)
    for path in paths:
        if not os.path.exists(path):
            raise Error(f"there is no file `{path}`", "Usage")
    return tuple(os.path.abspath(path) for path in paths)
