"""Agents with actors of their own: `[agents.NAME]` of the manifest."""
import os
import signal
import time

import chaos
import pytest
import tenon.ray
from conftest import FOLDER, alive_nodes, host_names, variables, with_two_nodes

WAIT = 60.0


@pytest.fixture(scope="module")
def deployment(shared_cluster, postgres):
    with_two_nodes(shared_cluster)
    made = tenon.ray.deploy(str(FOLDER / "placed" / "desk.tn"), store=postgres.new_url("tenon.lease=3000"), externs="placed_externs",
                            name="placed", agents={"Clerk": 0}, runtime_env={"env_vars": variables()})
    made.wait_until_ready(2)
    yield made
    made.shut_down(0.0)


@pytest.fixture(scope="module")
def licensed(shared_cluster):
    """The id of the only node that has a licence."""
    node = shared_cluster.add_node(resources='{"licence": 1}')
    found = []

    def is_there():
        found[:] = [one.id for one in alive_nodes() if "licence" in one.resources]
        return found

    chaos.wait_until(is_there)
    yield found[0]
    node.kill()


def host_of(deployment, name):
    return next((host for host in deployment.hosts() if host["name"] == name and "pid" in host), None)


def check_visit(values, rounds, node):
    assert len(values) == 2 * rounds + 1
    home = {value.partition(" on ")[0] for value in values[0::2]}
    assert all(name.startswith("tenon-host-") and not name.startswith("tenon-host-agent-") for name in home), home
    assert values[1::2] == [f"tenon-host-agent-Solver-0 on {node} solves {number}" for number in range(rounds)]


def test_a_run_waits_for_a_node_with_what_its_agent_needs(deployment, request):
    run = deployment.start("visit", {"rounds": 2})
    chaos.wait_until(lambda: deployment.pools_without_hosts() == ["agent/Solver"])
    assert run.state == "running"
    assert deployment.start("Clerk", "hello").result(WAIT).startswith("tenon-host-agent-Clerk-0 on ")  # others go on
    node = request.getfixturevalue("licensed")
    check_visit(run.result(WAIT), 2, node)
    import ray

    chaos.wait_until(lambda: ray.available_resources().get("licence", 0) == 0)  # its actor holds what it needs


def test_an_agent_without_work_has_no_actor(deployment, licensed, shared_cluster, postgres):
    other = tenon.ray.deploy(str(FOLDER / "placed" / "desk.tn"), store=postgres.new_url(), externs="placed_externs", name="idle",
                             agents={"Clerk": 0, "Solver": 0}, hosts_per_node=1, runtime_env={"env_vars": variables()})
    try:
        other.wait_until_ready(1)
        assert not [name for name in host_names(other) if "agent" in name]
        chat = other.start("Clerk", "one")
        assert chat.result(WAIT).endswith(": one")
        begun = [host["begun"] for host in other.hosts() if host["name"] == "tenon-host-agent-Clerk-0"]
        assert len(begun) == 1 and not [name for name in host_names(other) if "Solver" in name]
        assert chat.say("two", WAIT).endswith(": two")
        assert begun == [host["begun"] for host in other.hosts() if host["name"] == "tenon-host-agent-Clerk-0"], "it stays"
    finally:
        other.shut_down(0.0)


def test_a_host_that_waits_for_a_node_is_not_waited_for(shared_cluster, postgres):
    other = tenon.ray.deploy(str(FOLDER / "placed" / "desk.tn"), store=postgres.new_url(), externs="placed_externs", name="waits",
                             agents={"Clerk": 0, "Solver": 3}, hosts_per_node=1, runtime_env={"env_vars": variables()})
    other.wait_until_ready(1)
    chaos.wait_until(lambda: sum("agent-Solver" in name for name in host_names(other)) == 3)
    begun = time.monotonic()
    other.shut_down(30.0)
    assert time.monotonic() - begun < 25.0, "a host that answers has nothing to do, and one without a node cannot answer"
    assert host_names(other) == []


def test_prompts_answers_and_cancels_reach_a_placed_agent(deployment, licensed):
    asking = deployment.start("visit_and_ask")
    assert asking.wait(WAIT) == "asks" and asking.waits()[0].question == "What?"
    asking.answer(None, "chess")
    assert asking.result(WAIT) == f"tenon-host-agent-Solver-0 on {licensed} heard chess"
    chat = deployment.start("Solver", "a")
    assert chat.result(WAIT) == f"tenon-host-agent-Solver-0 on {licensed} solves a"
    assert chat.say("b", WAIT) == f"tenon-host-agent-Solver-0 on {licensed} solves b"
    ends = [event.data["value"] for event in deployment.follow_turn(chat.name) if event.type == "turn_end"]
    assert [value.rpartition(" ")[2] for value in ends] == ["a", "b"]
    cancelled = deployment.start("visit_and_ask")
    assert cancelled.wait(WAIT) == "asks"
    cancelled.cancel("enough")
    with pytest.raises(tenon.Cancelled, match="enough"):
        cancelled.result(WAIT)


def test_the_actor_of_an_agent_is_killed(deployment, licensed):
    runs = [deployment.start("visit", {"rounds": 20}) for _ in range(4)]
    chaos.wait_until(lambda: (host_of(deployment, "tenon-host-agent-Solver-0") or {"runs": 0})["runs"] > 0)
    os.kill(host_of(deployment, "tenon-host-agent-Solver-0")["pid"], signal.SIGKILL)
    for run in runs:
        check_visit(run.result(WAIT), 20, licensed)
        calls = [event.data["call"] for event in deployment.follow_turn(run.name) if event.type == "tool_result"]
        assert len(calls) == len(set(calls))
