"""The HTTP interface of a deployment as an application of Ray Serve."""
from __future__ import annotations

import asyncio
import urllib.parse
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from .._errors import Error
from .._host import Gateway
from ._spec import Spec

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
# Of one connection, not of a request (RFC 9110), and what the client of the next one sets itself.
_HOP_HEADERS = frozenset({"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer",
                          "transfer-encoding", "upgrade", "host", "content-length", "accept-encoding", "content-encoding"})
_CONNECT_SECONDS = 10.0
_SAFE_IN_PATH = "/%:@!$&'()*+,;=-._~"  # as RFC 3986 has it; what is encoded stays so
_BODY_BYTES_MAX = 4 << 20  # of a request, as the gateway has it (src/server/limits.h)


def forwarded(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that are passed on."""
    return [(name, value) for name, value in headers if name.lower() not in _HOP_HEADERS]


def path_below(scope: Mapping[str, Any]) -> str:
    """The path of a request as its client has written it, below the prefix of the application's route. `scope`: of ASGI."""
    raw = scope.get("raw_path")
    path = urllib.parse.quote(raw, safe=_SAFE_IN_PATH) if raw else urllib.parse.quote(scope["path"])
    prefix = urllib.parse.quote(scope.get("root_path", "").rstrip("/"))
    if prefix and (path == prefix or path.startswith(f"{prefix}/")):
        path = path[len(prefix):]
    return path or "/"


class Ingress:
    """A replica: it has a gateway, which serves HTTP on the loopback interface as `tenon serve` does, and passes requests and
    answers on as they come. A slow reader slows the stream down to the gateway, which then reads from the store again."""

    def __init__(self, spec: Spec) -> None:
        self._gateway = Gateway(spec.programs, store=spec.store, pool=spec.pool or None)
        self._base = f"http://127.0.0.1:{self._gateway.serve('127.0.0.1', 0, spec.token or None)}"
        self._session: Any = None

    async def pass_on(self, request: Any) -> Any:
        """The answer to a request of Starlette, as one of its responses."""
        import aiohttp
        from starlette.responses import JSONResponse, StreamingResponse
        from yarl import URL

        if self._session is None:
            self._session = aiohttp.ClientSession(auto_decompress=False, connector=aiohttp.TCPConnector(limit=0),
                                                  timeout=aiohttp.ClientTimeout(total=None, connect=_CONNECT_SECONDS))
        target = self._base + path_below(request.scope) + (f"?{request.url.query}" if request.url.query else "")
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > _BODY_BYTES_MAX:
                return JSONResponse({"error": {"code": "too_large",
                                               "message": f"the body has more than {_BODY_BYTES_MAX} bytes"}}, 413)
        answer = await self._session.request(request.method, URL(target, encoded=True), data=bytes(body) or None, allow_redirects=False,
                                             headers=[*forwarded(request.headers.items()), ("Accept-Encoding", "identity")])

        async def pieces() -> AsyncIterator[bytes]:
            try:
                async for piece in answer.content.iter_any():
                    yield piece
            finally:
                answer.close()  # also when the client has left

        response = StreamingResponse(pieces(), status_code=answer.status)
        response.raw_headers = [(name.lower().encode(), value.encode()) for name, value in forwarded(answer.headers.items())]
        return response

    async def is_ready(self) -> bool:
        """Whether the gateway can pass requests to hosts."""
        import aiohttp

        try:
            async with aiohttp.ClientSession() as session, session.get(f"{self._base}/readyz") as answer:
                return answer.status == 200
        except (OSError, aiohttp.ClientError, asyncio.TimeoutError):
            return False


def serve_app(name: str = "tenon", *, replicas: int = 1, allow_anonymous: bool = False,
              deployment_options: Mapping[str, Any] | None = None) -> Any:
    """An application for `ray.serve.run`, with the HTTP interface of `tenon serve` for a deployment of the cluster. Clients
    send the deployment's token; a deployment without one is served only with `allow_anonymous`, to everyone who reaches Ray
    Serve."""
    import fastapi
    from ray import serve

    from ._deployment import find_spec

    spec = find_spec(name)
    if not spec.token and not allow_anonymous:
        raise Error(f"the deployment `{name}` has no token: give it one, as `deploy(…, token=…)`, or let everyone in who reaches Ray "
                    "Serve, with `allow_anonymous=True`", "Usage")
    app = fastapi.FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    class TenonIngress(Ingress):
        async def handle(self, request: fastapi.Request) -> Any:
            return await self.pass_on(request)

        async def check_health(self) -> None:
            status = self._gateway.status()
            if status["broken"] is not None:
                raise RuntimeError(status["broken"])

    TenonIngress.handle.__annotations__ = {"request": fastapi.Request}
    app.api_route("/{path:path}", methods=_METHODS)(TenonIngress.handle)
    options = {"num_replicas": replicas, "max_ongoing_requests": 10_000, "ray_actor_options": {"num_cpus": 0},
               **(deployment_options or {})}
    deployed: Any = serve.deployment(**options)(serve.ingress(app)(TenonIngress))
    return deployed.bind(spec)
