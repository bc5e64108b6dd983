"""Runs on a Ray cluster: hosts of a store in actors on every node.

    import tenon.ray

    desk = tenon.ray.deploy(["desk.tn"], store="postgres://…", model="openai:gpt-5-mini", externs="shop.tools")
    run = desk.start("answer", {"message": "Where is it?", "order_id": 17})
    print(run.result())

The guide is docs/guides/ray.md. Needs `pip install tenon[ray]`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._local import LocalCluster
from ._local_postgres import LocalPostgres

if TYPE_CHECKING:
    from ._deployment import Deployment, connect, deploy
    from ._serve import serve_app
    from ._shared_model import SharedModel

__all__ = ["Deployment", "LocalCluster", "LocalPostgres", "SharedModel", "connect", "deploy", "serve_app"]


def __getattr__(name: str) -> Any:
    # Ray reads its environment when it is imported, and a local cluster has its own.
    if name not in __all__:
        raise AttributeError(f"module 'tenon.ray' has no attribute '{name}'")
    try:
        import ray  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise ModuleNotFoundError("Ray is not installed; `pip install 'tenon[ray]'` installs it", name="ray") from None
    from . import _deployment, _serve, _shared_model

    modules = {"serve_app": _serve, "SharedModel": _shared_model}
    return getattr(modules.get(name, _deployment), name)
