"""A local Ray cluster of two nodes, and a PostgreSQL server."""
import asyncio
import os
import pathlib
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "support")]
PROGRAM = str(FOLDER / "chaos.tn")
LEASE = 3.0  # seconds

import chaos  # noqa: E402
import tenon.ray  # noqa: E402
from postgres_server import PostgresServer  # noqa: E402


@pytest.fixture(scope="session")
def postgres():
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def shared_cluster():
    with tenon.ray.LocalCluster(2, environment={"RAY_metrics_report_interval_ms": "1000"}) as cluster:
        cluster.connect()
        yield cluster
        import ray

        ray.shutdown()


def with_two_nodes(cluster):
    """The same after whatever a test did to its nodes."""
    for node in cluster.nodes[2:]:
        node.kill()
    cluster.nodes[:] = [node for node in cluster.nodes if node.process.poll() is None]
    while len(cluster.nodes) < 2:
        cluster.add_node()
    cluster.wait_for_nodes(len(cluster.nodes))
    return cluster


@pytest.fixture
def cluster(shared_cluster):
    return with_two_nodes(shared_cluster)


class Scene:
    """A deployment, the clients of one test, and what it has done for them."""

    def __init__(self, deployment, store, folder, log=None, name="one"):
        self.deployment = deployment
        self.store = store
        self.folder = folder
        self.log = chaos.Log(log or folder / "log")
        self.name = name
        self.clients = chaos.make_clients(name, 4)

    def run(self, disturb, gateway=None):
        """Has the clients work, and calls `disturb()` on another thread once runs are in progress."""
        async def main():
            working = asyncio.ensure_future(chaos.work_all(self.clients, gateway or self.deployment, self.log))
            disturbing = asyncio.get_running_loop().run_in_executor(None, self._disturb, disturb)
            await asyncio.gather(working, disturbing)

        asyncio.run(main())

    def _disturb(self, disturb):
        chaos.wait_until(lambda: len(self.log.calls()) > 20)
        disturb()

    def check(self, gateway=None):
        chaos.check(self.clients, gateway or self.deployment, self.log, PROGRAM, self.store, self.folder)


# Ray reads its environment when it is imported, and the cluster's is set by `connect`.
def host_names(deployment):
    """The host actors of a deployment."""
    from tenon.ray import _controller

    return _controller.host_names(deployment.spec.namespace)


def host_name(node, index):
    from tenon.ray import _controller

    return _controller.host_name(node, index)


def alive_nodes():
    from tenon.ray import _cluster

    return _cluster.alive_nodes()


def variables(**more):
    """Those of processes that import the tests' externs."""
    return {"PYTHONPATH": os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]), **more}


def deploy(postgres, log, name, **options):
    """A deployment of the program that is disturbed."""
    store = postgres.new_url(f"tenon.lease={int(LEASE * 1000)}")
    given = {"externs": "chaos_externs", "runtime_env": {"env_vars": variables(TENON_TEST_LOG=str(log))}, **options}
    return tenon.ray.deploy(PROGRAM, store=store, name=name, **given)


@pytest.fixture(scope="session")
def shared_deployment(shared_cluster, postgres, tmp_path_factory):
    log = tmp_path_factory.mktemp("shared") / "log"
    made = deploy(postgres, log, "shared")
    yield made, log
    made.shut_down(0.0)


def hosts_of(deployment):
    return sum(owner["role"] == "host" for owner in deployment.owners())


def name_of(request):
    """The test's, as runs and deployments have it."""
    return request.node.name.removeprefix("test_").replace("_", "-")


@pytest.fixture
def scene(cluster, shared_deployment, tmp_path, request):
    """With a host on each of two nodes. Tests share the deployment, as starting one takes seconds: what one test did to it must
    not matter to the next."""
    deployment, log = shared_deployment
    chaos.wait_until(lambda: hosts_of(deployment) == len(cluster.nodes))
    return Scene(deployment, deployment.spec.store, tmp_path, log, name_of(request))


@pytest.fixture
def own_scene(cluster, postgres, tmp_path, request):
    """The same with a deployment that no other test has."""
    made = Scene(deploy(postgres, tmp_path / "log", name_of(request)), None, tmp_path)
    made.store = made.deployment.spec.store
    made.deployment.wait_until_ready(len(cluster.nodes))
    yield made
    made.deployment.shut_down(0.0)
