"""How a deployment changes: its size, its nodes, and what it reports."""
import os
import signal
import subprocess
import sys

import chaos
import pytest
import tenon.ray
from conftest import FOLDER, alive_nodes, host_name, host_names, hosts_of, variables
from test_chaos import pid_of_a_host


def test_metrics(own_scene, cluster):
    scene = own_scene
    name = scene.deployment.name
    hosts = len(cluster.nodes)
    waiting = scene.deployment.start("order", {"run": "waits"})
    assert waiting.wait(30) == "asks"
    scene.run(lambda: os.kill(pid_of_a_host(scene), signal.SIGKILL))
    chaos.wait_until(lambda: chaos.exported("tenon_failovers_total", deployment=name, cause="process") == [1.0])
    chaos.wait_until(lambda: chaos.exported("tenon_hosts_wanted", deployment=name) == [hosts])
    chaos.wait_until(lambda: sum(chaos.exported("tenon_hosts", deployment=name, pool="")) == hosts)
    chaos.wait_until(lambda: chaos.exported("tenon_runs", deployment=name, state="waiting") == [1.0])
    assert chaos.exported("tenon_pools_without_hosts", deployment=name) == [0.0]
    assert chaos.exported("tenon_commands_waiting", deployment=name) == [0.0]
    chaos.wait_until(lambda: chaos.exported("tenon_host_lease_held", deployment=name) == [1.0] * hosts)
    for metric in ("runs", "effects", "started_total", "records_total"):
        assert chaos.exported(f"tenon_host_{metric}", deployment=name), metric


def test_why_hosts_do_not_start(cluster, postgres):
    """The functions of chaos_externs are not those of placed/desk.tn."""
    deployment = tenon.ray.deploy(str(FOLDER / "placed" / "desk.tn"), store=postgres.new_url(), externs="chaos_externs", name="wrong",
                                  runtime_env={"env_vars": variables()})
    try:
        chaos.wait_until(lambda: any("unresolved extern `place`" in host.get("error", "") for host in deployment.hosts()))
        with pytest.raises(TimeoutError, match="unresolved extern `place`"):
            deployment.wait_until_ready(1, timeout=0.1)
    finally:
        deployment.shut_down(0.0)


def test_hosts_are_scaled(scene, postgres):
    """Runs in progress move when there are fewer."""
    nodes = [node.id for node in alive_nodes()]

    def scale():
        for count in (2, 1):
            scene.deployment.scale(count)
            expected = sorted(host_name(node, index) for node in nodes for index in range(count))
            chaos.wait_until(lambda expected=expected: host_names(scene.deployment) == expected)
            chaos.wait_until(lambda count=count: hosts_of(scene.deployment) == count * len(nodes))

    scene.run(scale)
    scene.check()
    check_what_may_not_change(scene, postgres)


def check_what_may_not_change(scene, postgres):
    given = tenon.ray.connect(scene.deployment.name).spec
    for what, changed in (("programs", {"programs": __file__}), ("store", {"store": postgres.new_url()}), ("pool", {"pool": "other"})):
        with pytest.raises(tenon.Error, match=f"whose {what} differs"):
            tenon.ray.deploy(**{"programs": given.programs, "store": given.store, "name": given.name, **changed})
    assert tenon.ray.connect(given.name).spec == given
    with pytest.raises(tenon.Error, match="no token"):
        tenon.ray.serve_app(given.name)


def test_a_node_is_drained(scene, cluster):
    """Its hosts leave before it ends, and nothing is performed again."""
    node = cluster.add_node()
    scene.deployment.wait_until_ready(len(cluster.nodes))
    before = {one.id for one in alive_nodes()}
    drained = next(host["node"] for host in scene.deployment.hosts() if host["pid"] in {pid for pid, _ in node.processes()})

    def drain():
        subprocess.run([sys.executable, "-m", "ray.scripts.scripts", "drain-node", "--address", cluster.address, "--node-id", drained,
                        "--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "a test", "--deadline-remaining-seconds", "60"],
                       check=True, timeout=60)
        chaos.wait_until(lambda: host_name(drained, 0) not in host_names(scene.deployment))
        node.kill()

    scene.run(drain)
    assert drained in before
    scene.check()
    performed = [call.effect for call in scene.log.calls()]
    assert len(performed) == len(set(performed)), "the host has waited for what it had begun"


def test_a_folder_is_sent_to_the_nodes(cluster, postgres, tmp_path, monkeypatch):
    """The programs are relative to it, and the externs are imported from it."""
    (tmp_path / "sent.tn").write_text("extern fn twice(n: i32) -> i32\nfn four(n: i32) -> i32 { twice(twice(n)) }")
    (tmp_path / "sent_externs.py").write_text("import tenon\n\n\n@tenon.extern\ndef twice(n: int) -> int:\n    return 2 * n\n")
    monkeypatch.chdir(tmp_path)
    deployment = tenon.ray.deploy("sent.tn", store=postgres.new_url(), externs="sent_externs", name="sent",
                                  runtime_env={"working_dir": str(tmp_path)})
    try:
        deployment.wait_until_ready(len(cluster.nodes))
        assert deployment.start("four", {"n": 3}).result(60) == 12
        other = tenon.ray.connect("sent")
    finally:
        deployment.shut_down(0.0)
    assert host_names(deployment) == []
    with pytest.raises(tenon.Error, match="no deployment `sent`"):
        other.scale(1)
    other.stop(0.0)
