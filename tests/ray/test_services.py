"""The services around the hosts end: Ray's own, and the processes of clients."""
import json
import os
import signal
import socket
import subprocess
import sys

import chaos
import pytest
import tenon.ray
from conftest import FOLDER, PROGRAM, Scene

CLIENT = """
import asyncio, json, os, pathlib, sys
sys.path[:0] = [sys.argv[1]]
import chaos, tenon

async def main(store, folder):
    log = chaos.Log(pathlib.Path(sys.argv[5]), int(sys.argv[6]))
    clients = chaos.make_clients("gateway", 2)
    with open(folder / "seen", "a") as seen, tenon.Gateway(sys.argv[4], store=store) as gateway:
        class Seen(list):
            def append(self, event):
                super().append(event)
                seen.write(json.dumps([self.key, event.type, event.data]) + "\\n")
                seen.flush()
        for client in clients:
            client.events = Seen()
            client.events.key = client.key
        for line in (folder / "seen").read_text().splitlines():  # what a client before this one has seen
            key, kind, data = json.loads(line)
            client = next(one for one in clients if one.key == key)
            client.name = data["run"]
            list.append(client.events, tenon.Event(kind, data))
        for client in clients:
            client._prompted = max(1, sum(event.type == "turn_end" for event in client.events))
        await chaos.work_all(clients, gateway, log)
    (folder / "values").write_text(json.dumps({client.key: client.value for client in clients}))

asyncio.run(main(sys.argv[2], pathlib.Path(sys.argv[3])))
"""


def start_client(scene):
    given = [FOLDER, scene.store, scene.folder, PROGRAM, scene.log.path, scene.log.begin]
    return subprocess.Popen([sys.executable, "-c", CLIENT, *map(str, given)])


def test_a_gateway_is_killed(scene):
    """The next one continues where it was, with the same keys."""
    process = start_client(scene)
    for calls in (20, 50):
        chaos.wait_until(lambda: len(scene.log.calls()) > calls)
        process.kill()
        process.wait()
        process = start_client(scene)
    assert process.wait(chaos.SECONDS_MAX) == 0
    values = json.loads((scene.folder / "values").read_text())
    scene.clients = chaos.make_clients("gateway", 2)
    for client in scene.clients:
        client.value = values[client.key]
    for line in (scene.folder / "seen").read_text().splitlines():
        key, kind, data = json.loads(line)
        client = next(one for one in scene.clients if one.key == key)
        client.name = data["run"]
        client.events.append(tenon.Event(kind, data))
    scene.check()


@pytest.fixture
def redis(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path), "--save", "",
                                "--daemonize", "no"], stdout=subprocess.DEVNULL)
    yield f"127.0.0.1:{port}"
    process.terminate()
    process.wait()


DEPLOY = """
import sys, ray, tenon.ray
address, program, store, environment = sys.argv[1], sys.argv[2], sys.argv[3], dict(part.split("=", 1) for part in sys.argv[4:])
ray.init(address=address, log_to_driver=False)
tenon.ray.deploy(program, store=store, externs="chaos_externs", name="head", runtime_env={"env_vars": environment})
"""


class HeadScene(Scene):
    """Clients that do not know of Ray, and a cluster that another process deploys to."""

    def __init__(self, postgres, folder):
        store = postgres.new_url("tenon.lease=3000")
        super().__init__(tenon.Gateway(PROGRAM, store=store), store, folder)

    def deploy(self, cluster):
        given = [f"PYTHONPATH={os.pathsep.join(filter(None, [str(FOLDER), os.environ.get('PYTHONPATH')]))}",
                 f"TENON_TEST_LOG={self.folder / 'log'}", "TENON_TEST_SECONDS=0.3"]
        subprocess.run([sys.executable, "-c", DEPLOY, cluster.address, PROGRAM, self.store, *given], check=True, timeout=120,
                       env={**os.environ, **cluster.environment})

    def hosts(self):
        return {owner["owner"]: owner["label"] for owner in self.deployment.owners() if owner["role"] == "host"}


@pytest.fixture
def head_scene(postgres, tmp_path):
    made = HeadScene(postgres, tmp_path)
    yield made
    made.deployment.stop(0.0)


def kill_gcs(cluster):
    found = [pid for pid, line in cluster.head.processes() if "/gcs_server " in line]
    assert len(found) == 1
    os.kill(found[0], signal.SIGKILL)


def test_the_head_is_killed(head_scene):
    """Ray ends with it. A new cluster continues the runs."""
    clusters = [tenon.ray.LocalCluster(1)]
    try:
        head_scene.deploy(clusters[0])
        chaos.wait_until(lambda: len(head_scene.hosts()) == 1)

        def kill():
            kill_gcs(clusters[0])
            before = len(head_scene.log.calls())
            chaos.wait_until(lambda: len(head_scene.log.calls()) > before + 10)  # hosts do not need it
            clusters.pop().close()
            clusters.append(tenon.ray.LocalCluster(1))
            head_scene.deploy(clusters[0])

        head_scene.run(kill)
        head_scene.check()
    finally:
        for cluster in clusters:
            cluster.close()


def test_the_head_is_killed_with_redis(head_scene, redis):
    """The other node's hosts do not notice, and the head gets hosts again."""
    with tenon.ray.LocalCluster(2, redis=redis) as cluster:
        head_scene.deploy(cluster)
        chaos.wait_until(lambda: len(head_scene.hosts()) == 2)
        before = head_scene.hosts()
        processes = {pid for pid, line in cluster.nodes[1].processes() if "HostActor" in line}
        assert len(processes) == 1

        def kill():
            kill_gcs(cluster)
            cluster.head.process.wait(60)
            cluster.start_head()
            chaos.wait_until(lambda: len(head_scene.hosts()) == 2 and head_scene.hosts() != before)

        head_scene.run(kill)
        head_scene.check()
        assert processes == {pid for pid, line in cluster.nodes[1].processes() if "HostActor" in line}
        assert len(set(before) & set(head_scene.hosts())) == 1
