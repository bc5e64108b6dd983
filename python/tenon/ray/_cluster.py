"""What is used of Ray's untyped functions."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import ray
from ray._private.runtime_env.working_dir import upload_working_dir_if_needed


class Node(NamedTuple):
    """A node that Ray considers to be alive."""

    id: str
    address: str
    resources: dict[str, float]

    @property
    def cores(self) -> int:
        return int(self.resources.get("CPU", 0))


def alive_nodes() -> list[Node]:
    listed: Any = ray.nodes()  # type: ignore[no-untyped-call]
    return [Node(one["NodeID"], one["NodeManagerAddress"], one["Resources"]) for one in listed if one["Alive"]]


def draining_nodes() -> set[str]:
    """The nodes that Ray will end soon."""
    state: Any = ray._private.state.state
    return set(state.get_draining_nodes())


def is_placed(actor: Any) -> bool:
    """Whether an actor has a process; otherwise it waits for a node, or has ended."""
    state: Any = ray._private.state.state
    found = state.actor_table(actor._actor_id.hex())
    return bool(found and found["Pid"])


def with_uploaded_folder(runtime_env: Mapping[str, Any]) -> dict[str, Any]:
    """The same with the folder of `working_dir` in Ray's own storage, from which every node gets it, also later."""
    uploaded: Any = upload_working_dir_if_needed(dict(runtime_env), include_gitignore=True)
    return dict(uploaded)


def pickled(value: Any) -> bytes:
    """What can be imported by its name; anything else as a whole."""
    data: bytes = ray.cloudpickle.dumps(value)  # type: ignore[no-untyped-call]
    return data


def unpickled(data: bytes) -> Any:
    return ray.cloudpickle.loads(data)
