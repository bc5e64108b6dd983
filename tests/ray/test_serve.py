"""The HTTP interface of a deployment in Ray Serve."""
import http.client
import os
import signal
import socket
import time

import chaos
import pytest
import tenon.ray
from conftest import PROGRAM, variables, with_two_nodes
from http_client import HttpClient

TOKEN = "a secret of this test"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture(scope="module")
def served(shared_cluster, postgres, tmp_path_factory):
    """A deployment and a client of it."""
    from ray import serve

    with_two_nodes(shared_cluster)
    log = tmp_path_factory.mktemp("serve") / "log"
    deployment = tenon.ray.deploy(PROGRAM, store=postgres.new_url("tenon.lease=3000"), externs="chaos_externs", name="served", token=TOKEN,
                                  runtime_env={"env_vars": variables(TENON_TEST_LOG=str(log))})
    port = free_port()
    serve.start(http_options={"host": "127.0.0.1", "port": port, "location": "HeadOnly"})
    try:
        serve.run(tenon.ray.serve_app("served", replicas=2), name="served", route_prefix="/")
        serve.run(tenon.ray.serve_app("served"), name="below", route_prefix="/below")
        deployment.wait_until_ready(2)
        yield deployment, HttpClient(port, TOKEN)
    finally:
        serve.shutdown()
        deployment.shut_down(0.0)


def replicas(cluster):
    return sorted(pid for node in cluster.nodes for pid, line in node.processes() if line.startswith("ray::ServeReplica:served"))


def numbers(events):
    return [event["number"] for event in events if "number" in event]


def test_a_token_is_required(served):
    _, client = served
    for token in (None, "another"):
        status, value = HttpClient(client.port, token).get("/v1/agents")
        assert status == 401, value
    status, value = client.get("/v1/agents")
    assert status == 200 and {"Clerk", "busy"} <= {one["name"] for one in value["agents"]}


def test_a_run_is_started_and_its_events_come_as_they_happen(served):
    deployment, client = served
    run = client.start("busy", {"run": "streamed", "steps": 20}, key="once")
    assert client.start("busy", {"run": "streamed", "steps": 20}, key="once") == run
    events, moments = [], []
    for event in client.events(run):
        events.append(event)
        moments.append(time.monotonic())
    assert events[-1]["type"] == "turn_end"
    assert numbers(events) == [event.number for event in deployment.follow(run) if "number" in event.data]
    assert moments[-1] - moments[2] > 0.5, "the pieces of a stream are not collected"
    assert client.get(f"/v1/runs/{run}")[1]["end"]["value"] == events[-1]["value"]
    assert list(client.events(run, after=numbers(events)[-1])) == []
    assert numbers(client.events(run, after=numbers(events)[4])) == numbers(events)[5:]


def test_a_question_is_answered(served):
    _, client = served
    run = client.start("order", {"run": "asked"})
    for question, answer in (("First?", "yes"), ("Second?", "no")):
        for event in client.events(run):
            if event["type"] == "wait_for_input" and event["question"] == question:
                break
        status, value = client.post(f"/v1/runs/{run}/resume", {"wait": event["wait"], "input": answer}, key=f"answer {question}")
        assert status == 202, value
    events = list(client.events(run))
    assert events[-1]["value"] == "yes, paid asked, no"


def test_wrong_requests_are_answered_as_without_serve(served):
    _, client = served
    assert client.get("/v1/runs/absent")[0] == 404
    assert client.get("/no/such/path")[0] == 404
    assert client.request("PUT", "/v1/agents", {})[0] == 405
    status, value = client.post("/v1/runs", {"fn": "bussy", "args": {}})
    assert status in (400, 404) and "busy" in value["error"]["message"]


def test_an_application_below_a_prefix(served):
    _, client = served
    assert client.get("/below/v1/agents") == client.get("/v1/agents")
    run = client.start("order", {"run": "elsewhere"})
    assert client.get(f"/below/v1/runs/{run}")[1]["run"] == run
    assert client.get("/below/v1/runs/a%2Fb%20c")[0] in (404, 422)


def test_a_body_has_a_maximum_size(served):
    _, client = served
    status, value = client.post("/v1/runs", {"fn": "busy", "args": {"run": "x" * (5 << 20), "steps": 1}})
    assert status == 413 and "bytes" in value["error"]["message"]
    assert client.get("/v1/agents")[0] == 200


def test_a_replica_is_killed(served, shared_cluster):
    """The reader's connection may be cut. It reads on where it was, and the run is not disturbed."""
    deployment, client = served
    run = client.start("busy", {"run": "disturbed", "steps": 60})
    seen = []
    killed = []
    while not seen or seen[-1]["type"] != "turn_end":
        try:
            for event in client.events(run, after=numbers(seen)[-1] if seen else 0):
                seen.append(event)
                if len(seen) in (10, 30) and len(killed) < 2:
                    before = replicas(shared_cluster)
                    killed.append(before[0])
                    os.kill(before[0], signal.SIGKILL)
        except (AssertionError, OSError, http.client.HTTPException):
            time.sleep(0.05)  # the replica's end cuts the stream, and a request that it had is answered with an error
    assert len(killed) == 2
    assert numbers(seen) == [event.number for event in deployment.follow(run) if "number" in event.data]
    chaos.wait_until(lambda: len(replicas(shared_cluster)) == 2)
    assert client.get("/v1/agents")[0] == 200
