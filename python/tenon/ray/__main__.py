"""`python -m tenon.ray`, which `tenon ray` and `tenon serve --engine ray` start."""
from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .._errors import Error

if TYPE_CHECKING:
    from ._deployment import Deployment

_READY_SECONDS = 120.0
_UP_GRACE_SECONDS = 2.0  # for effects in progress, when Ctrl-C ends everything


def _add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="a program")
    parser.add_argument("--model", metavar="MODEL", help="as for `tenon run`; default: that of the manifest")
    parser.add_argument("--externs", metavar="MODULE", default="",
                        help="a Python module with the functions that perform externs, marked with @tenon.extern; or `module:function`")
    parser.add_argument("--name", default="tenon", help="name of the deployment in the cluster (default: tenon)")
    parser.add_argument("--hosts-per-node", type=int, metavar="N", help="default: one for each core")
    parser.add_argument("--working-dir", metavar="FOLDER", help="a folder that is sent to every node; FILE is relative to it")


def _add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="IP address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8080, help="0: any free port (default: 8080)")
    parser.add_argument("--token-env", metavar="VARIABLE",
                        help="environment variable with the token that clients must send; required unless --host is this machine")


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--address", default=None, metavar="ADDRESS", help="of the cluster (default: RAY_ADDRESS, or the cluster here)")
    parser.add_argument("--name", default="tenon", help="name of the deployment in the cluster (default: tenon)")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tenon ray", description="Runs programs on a Ray cluster.")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="deploy programs to a cluster, and serve them over HTTP here",
                                description="As `tenon serve`, with the runs in the hosts of a Ray cluster. Ctrl-C ends this server; "
                                "the hosts stay, until `tenon ray stop`.")
    _add_program(serve)
    serve.add_argument("--store", required=True, metavar="URL", help="postgres://…")
    serve.add_argument("--address", default=None, metavar="ADDRESS", help="of the cluster (default: RAY_ADDRESS, or the cluster here)")
    _add_server(serve)
    up = commands.add_parser("up", help="start a cluster on this machine, deploy programs, and serve them over HTTP",
                             description="To try things out: everything runs in a temporary folder, and ends with Ctrl-C.")
    _add_program(up)
    up.add_argument("--nodes", type=int, default=2, metavar="N", help="nodes of the cluster (default: 2)")
    up.add_argument("--store", metavar="URL", help="postgres://…; default: a new one, with PostgreSQL's programs of this machine")
    _add_server(up)
    _add_cluster(commands.add_parser("status", help="show the hosts of a deployment, and its runs"))
    _add_cluster(commands.add_parser("stop", help="end the hosts of a deployment; its runs stay in the store"))
    return parser


def _connect(address: str | None) -> None:
    import ray

    ray.init(address=address or os.environ.get("RAY_ADDRESS") or "auto", log_to_driver=False)


def _token(arguments: argparse.Namespace) -> str:
    if not arguments.token_env:
        return ""
    token = os.environ.get(arguments.token_env, "")
    if not token:
        raise Error(f"`--token-env`: environment variable {arguments.token_env} is unset or empty", "Usage")
    return token


def _deploy(arguments: argparse.Namespace, store: str) -> Deployment:
    from ._deployment import deploy

    runtime_env: dict[str, Any] | None = None
    if arguments.working_dir:
        runtime_env = {"working_dir": arguments.working_dir}
        os.chdir(arguments.working_dir)
    elif arguments.externs:  # as Python finds it here
        paths = [os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])]
        runtime_env = {"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}}
    return deploy(arguments.files, store=store, name=arguments.name, model=arguments.model, externs=arguments.externs or (),
                  hosts_per_node=arguments.hosts_per_node, token=_token(arguments), runtime_env=runtime_env)


def _serve_until_stopped(deployment: Deployment, arguments: argparse.Namespace, hint: str) -> None:
    port = deployment.serve(arguments.host, arguments.port, deployment.spec.token or None)
    deployment.wait_until_ready(1, _READY_SECONDS)
    address = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    print(f"tenon: serving at http://{address}:{port}", file=sys.stderr)
    print(hint.replace("{port}", str(port)), file=sys.stderr, flush=True)
    threading.Event().wait()


@contextlib.contextmanager
def _database(url: str | None) -> Iterator[str]:
    if url is not None:
        yield url
        return
    from ._local_postgres import LocalPostgres

    with LocalPostgres() as server:
        yield server.url


def _up(arguments: argparse.Namespace) -> None:
    from ._local import LocalCluster

    for file in arguments.files:
        if not pathlib.Path(arguments.working_dir or ".", file).exists():
            raise Error(f"there is no file `{file}`", "Usage")
    with _database(arguments.store) as store:
        print(f"tenon: starting {arguments.nodes} nodes of Ray, which takes a while", file=sys.stderr, flush=True)
        with LocalCluster(arguments.nodes) as cluster:
            cluster.connect()
            cluster.wait_for_nodes(arguments.nodes)
            deployment = _deploy(arguments, store)
            name = pathlib.Path(arguments.files[0]).stem
            sessions = ", ".join(str(node.process.pid) for node in cluster.nodes)
            shown = store if arguments.store is None else "the one that was given"  # whose URL may have a password
            hint = (f"  store: {shown}\n  nodes: sessions {sessions}; `pkill -9 -s SESSION` ends one, and its runs continue on another; "
                    "the first one has Ray's own services\n"
                    f"  try:   curl http://127.0.0.1:{{port}}/v1/agents    (what `{name}` offers)\n"
                    "  Ctrl-C ends everything")
            try:
                _serve_until_stopped(deployment, arguments, hint)
            finally:
                deployment.shut_down(_UP_GRACE_SECONDS)


def _serve(arguments: argparse.Namespace) -> None:
    _connect(arguments.address)
    with _deploy(arguments, arguments.store) as deployment:
        _serve_until_stopped(deployment, arguments,
                             f"  the hosts stay when this server ends; `tenon ray stop --name {arguments.name}` ends them")


def _status(arguments: argparse.Namespace) -> None:
    from ._deployment import connect

    _connect(arguments.address)
    with connect(arguments.name) as deployment:
        print(f"{'HOST':40} {'NODE':12} {'LEASE':10} {'RUNS':>8} {'EFFECTS':>8} {'RECORDS':>10}")
        for host in deployment.hosts():
            if "error" in host:
                print(f"{host['name']:40} {host['error']}")
            else:
                print(f"{host['name']:40} {host['node'][:12]:12} {host['lease']:10} {host['runs']:8} {host['effects']:8} "
                      f"{host['records']:10}")
        counts = deployment.counts()
        states = ", ".join(f"{count} {state}" for state, count in counts["runs"].items()) or "none"
        print(f"runs: {states}; {counts['commands']} requests wait for a host")
        for pool in deployment.pools_without_hosts():
            print(f"the pool `{pool}` has work and no host")


def _stop(arguments: argparse.Namespace) -> None:
    from ._deployment import connect

    _connect(arguments.address)
    connect(arguments.name).shut_down()


def main(given: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(given)
    signals = _Signals()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signals)
    commands = {"serve": _serve, "up": _up, "status": _status, "stop": _stop}
    try:
        commands[arguments.command](arguments)
    except (Error, OSError, ConnectionError, TimeoutError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, Error) and error.kind == "Usage" else 1
    except KeyboardInterrupt:
        return 130
    return 0


class _Signals:
    """The first one ends what was started, in order; so does the next, which is only noted. The third one ends this process."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, number: int, _frame: object) -> None:
        self._count += 1
        if self._count == 1:
            raise KeyboardInterrupt
        if self._count > 2:
            os._exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
