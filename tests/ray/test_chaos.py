"""What ends in the middle of runs. Afterwards every run has the value and the hash of an undisturbed one, no recorded effect was
performed again, a `once` call was made once, each client has seen every event once, and the store is sound."""
import os
import signal
import time

import chaos
import tenon
from conftest import LEASE, hosts_of


def pid_of_a_host(scene, node=None):
    """The process of a host; of one that is on another node than `node`."""
    hosts = [host for host in scene.deployment.hosts() if "pid" in host]
    return hosts[-1]["pid"]


def test_a_host_is_killed(scene):
    def kill():
        pid = pid_of_a_host(scene)
        os.kill(pid, signal.SIGKILL)
        chaos.wait_until(lambda: len({host.get("pid") for host in scene.deployment.hosts()} - {pid, None}) == 2)

    scene.run(kill)
    scene.check()


def test_a_node_is_killed(scene, cluster):
    scene.run(cluster.nodes[1].kill)
    scene.check()


def test_a_raylet_alone_is_killed(scene, cluster):
    """Its host keeps its runs as long as its process lives, whatever Ray thinks of it. Ray may end that a moment later."""
    before = {host["owner"]: host["pid"] for host in scene.deployment.hosts()}
    during = []

    def kill():
        raylets = [pid for pid, line in cluster.nodes[1].processes() if "/raylet/raylet " in line]
        assert len(raylets) == 1
        os.kill(raylets[0], signal.SIGKILL)
        time.sleep(0.5)
        owners = {owner["owner"] for owner in scene.deployment.owners() if owner["role"] == "host"}
        during.extend(owner for owner, pid in before.items() if owner not in owners and os.path.exists(f"/proc/{pid}"))

    scene.run(kill)
    assert during == [], "a host that lives has lost its runs"
    scene.check()
    cluster.nodes[1].kill()


def test_a_host_is_stopped_for_twice_its_lease(scene):
    """It begins nothing after that, before it has joined again."""
    interval = []
    counted = {"deployment": scene.deployment.name, "cause": "lease"}
    before = chaos.exported_series("tenon_failovers_total", **counted)

    def stop():
        pid = pid_of_a_host(scene)
        os.kill(pid, signal.SIGSTOP)
        begun = time.time()
        time.sleep(2 * LEASE)
        os.kill(pid, signal.SIGCONT)
        interval.append((pid, begun, time.time()))
        chaos.wait_until(lambda: hosts_of(scene.deployment) == 2)

    scene.run(stop)
    pid, begun, ended = interval[0]
    assert not [call for call in scene.log.calls() if call.pid == pid and begun + 0.05 < call.time < ended]
    scene.check()
    chaos.wait_until(lambda: any(value > before.get(series, 0.0)
                                 for series, value in chaos.exported_series("tenon_failovers_total", **counted).items()))


def test_the_database_crashes(scene, postgres):
    def crash():
        for _ in range(3):
            postgres.stop(is_crash=True)
            postgres.start()
            time.sleep(0.4)

    scene.run(crash)
    scene.check()


def test_the_controller_is_killed(scene, cluster, postgres):
    import ray
    from tenon.ray._controller import CONTROLLER

    def kill():
        ray.kill(ray.get_actor(CONTROLLER, namespace=scene.deployment.spec.namespace), no_restart=False)
        os.kill(pid_of_a_host(scene), signal.SIGKILL)

    scene.run(kill)
    scene.check()
    start_while_the_store_is_away(scene, postgres)
    node = cluster.add_node()
    scene.deployment.wait_until_ready(len(cluster.nodes))
    node.kill()


def start_while_the_store_is_away(scene, postgres):
    """Ends the controller, which Ray starts again."""
    import ray
    from tenon.ray._controller import CONTROLLER

    def is_there():
        try:
            return ray.get(controller.ping.remote(), timeout=60) == scene.deployment.name
        except ray.exceptions.ActorUnavailableError:
            return False

    controller = ray.get_actor(CONTROLLER, namespace=scene.deployment.spec.namespace)
    postgres.stop()
    try:
        ray.kill(controller, no_restart=False)
        chaos.wait_until(is_there)
    finally:
        postgres.start()


def test_runs_move_to_a_node_that_comes(scene, cluster):
    """Those that only wait; the others are not disturbed."""
    waiting = [scene.deployment.start("order", {"run": f"waits-{number}"}) for number in range(120)]
    for run in waiting:
        assert run.wait(30) == "asks"
    cluster.add_node()
    scene.deployment.wait_until_ready(len(cluster.nodes))
    scene.run(lambda: None)
    scene.check()

    def is_shared():
        runs = [owner["runs"] for owner in scene.deployment.owners() if owner["role"] == "host"]
        return len(runs) == 3 and max(runs) <= 1.25 * sum(runs) / 3 + 16

    chaos.wait_until(is_shared)
    for run in waiting:
        run.answer(None, "yes")
    chaos.wait_until(lambda: all(run.state == "asks" and run.waits()[0].question == "Second?" for run in waiting))
    for run in waiting:
        run.cancel("the test ends")
    payments = [call.run for call in scene.log.calls() if call.name == "pay" and call.run.startswith("waits-")]
    assert sorted(payments) == sorted(f"waits-{number}" for number in range(120))
