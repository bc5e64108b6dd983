"""Servers that lack something that runs of their store need leave these runs to others."""
import json
import re
import time

from cluster import LIBRARY, SCRIPT, Cluster
from server_process import SECONDS_MAX, Server
from tenon_process import tenon

KEY = {"TENON_SECRET_KEY": "11" * 32}
SECRETIVE = '''\
fn main(secret key: String) -> String {
    let sure = ask<Boolean>("Sure?")
    for n in 0..20 { sleep(20) }
    "{{ sure }}"
}
'''


def server_with(cluster, name, program, environment=None, options=()):
    folder = cluster.work / name
    folder.mkdir()
    server = Server(folder, *options, program=program, script=SCRIPT, store=cluster.url, environment=environment)
    cluster.servers.append(server)
    return server


def wait_until(look, what):
    """Until `look` gives something, which is returned."""
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"not seen: {what}"
        time.sleep(0.05)


def test_a_server_without_a_library_gives_runs_back(work):
    with Cluster(work) as cluster:
        able = cluster.server("able")
        poor = server_with(cluster, "poor", "fn other() -> i32 { 1 }\n")
        run = able.begin({"fn": "walk", "args": {"count": 120}})
        asked = able.begin({"fn": "ask_where"})
        able.wait_for(asked, "waiting")
        able.kill()
        why = wait_until(lambda: poor.run(run).get("stalled"), "why the run does not continue")
        assert "do not define an extern" in why, why
        listed = tenon("runs", "--store", cluster.url)
        assert f"no process can continue it: {why}" in listed.stdout, listed
        for body in ({"input": True}, {}):
            refused = poor.post(f"/v1/runs/{asked}/resume", body)
            assert refused.status == 503 and "do not define an extern" in refused.body, refused.body
        assert poor.run(asked)["state"] == "waiting"
        second = cluster.server("second")
        assert second.wait_for(run, "done")["records"] > 120
        assert "stalled" not in second.run(run)
        assert poor.post(f"/v1/runs/{asked}/resume", {"input": True}).status == 202  # the other one does it
        assert second.wait_for(asked, "done")["end"]["value"] == "true at second"
        cluster.check()
        claims = [int(row[0]) for row in cluster.query(f"SELECT epoch FROM runs WHERE name = '{run}'")]
        assert claims[0] < 8, f"the run has gone to and fro: {claims}"


def test_runs_go_to_the_server_that_has_what_they_need(work):
    with Cluster(work) as cluster:
        first = cluster.server("first")
        for name in ("poor", "poorer"):
            server_with(cluster, name, "fn other() -> i32 { 1 }\n")
        second = cluster.server("second")
        runs = [first.begin({"fn": "walk", "args": {"count": 60}}) for _ in range(6)]
        first.kill()
        for run in runs:
            second.wait_for(run, "done")
        cluster.check()


def test_a_server_without_the_key_leaves_secrets_to_others(work):
    with Cluster(work) as cluster:
        able = server_with(cluster, "able", SECRETIVE, KEY)
        poor = server_with(cluster, "poor", SECRETIVE)
        waiting, busy = [able.post("/v1/runs", {"fn": "main", "args": {"key": "a password"}}).json["run"] for _ in range(2)]
        for run in (waiting, busy):
            able.wait_for(run, "waiting")
        assert able.post(f"/v1/runs/{busy}/resume", {"input": True}).status == 202
        able.kill()
        why = wait_until(lambda: poor.run(busy).get("stalled"), "why the run does not continue")
        assert "TENON_SECRET_KEY" in why, why
        refused = poor.post(f"/v1/runs/{waiting}/resume", {"input": True})
        assert refused.status == 503 and "TENON_SECRET_KEY" in refused.body, refused.body
        listed = tenon("runs", "--store", cluster.url, "--json")
        for runs in (poor.get("/v1/runs").json["runs"], json.loads(listed.stdout)):
            reasons = {one["run"]: one.get("stalled", "") for one in runs}
            assert all("TENON_SECRET_KEY" in reasons[run] for run in (waiting, busy)), reasons
        assert tenon("runs", "--store", cluster.url).stdout.count("no process can continue it: ") == 2
        able.start()
        assert able.wait_for(busy, "done")["end"]["value"] == "true"
        assert able.post(f"/v1/runs/{waiting}/resume", {"input": False}).status == 202
        assert poor.wait_for(waiting, "done")["end"]["value"] == "false"


def test_a_run_that_no_server_can_continue_can_be_cancelled(work):
    with Cluster(work) as cluster:
        able = cluster.server("able")
        poor, poorer = [server_with(cluster, name, "fn other() -> i32 { 1 }\n") for name in ("poor", "poorer")]
        runs = [able.begin({"fn": "ask_where"}) for _ in range(2)]
        for run in runs:
            able.wait_for(run, "waiting")
        able.stop()
        assert poor.post(f"/v1/runs/{runs[0]}/cancel", {}).status == 202
        assert poorer.wait_for(runs[0], "cancelled")
        assert tenon("cancel", runs[1], "--store", cluster.url).returncode == 0
        assert poor.wait_for(runs[1], "cancelled")


def test_a_terminal_continues_what_no_server_can(work):
    with Cluster(work) as cluster:
        able = cluster.server("able")
        server_with(cluster, "poor", "fn other() -> i32 { 1 }\n")
        run = able.begin({"fn": "ask_where"})
        able.wait_for(run, "waiting")
        able.stop()
        variables = {"TENON_TEST_WHO": "terminal", "TENON_TEST_CALLS": str(cluster.calls)}
        here = tenon("resume", run, "--store", cluster.url, "--input", "true", cwd=able.work, environment=variables)
        assert (here.returncode, here.stdout) == (0, "true at terminal\n"), here.stderr
        assert re.search("no other process can continue the run: .*do not define an extern", here.stderr), here.stderr
        assert str(LIBRARY) not in here.stdout


def test_a_start_goes_to_a_host_with_that_version_of_the_program(work):
    old, new = ('fn greet() -> String { "%s" }\n' % word for word in ("hello", "good day"))
    with Cluster(work) as cluster:
        server_with(cluster, "old", old)
        gateway = server_with(cluster, "gateway", new, options=("--gateway",))
        refused = gateway.post("/v1/runs", {"fn": "greet"})
        assert refused.status == 409 and "no host has the version of the program of `greet`" in refused.body, refused.body
        server_with(cluster, "new", new)
        for _ in range(10):
            run = gateway.begin({"fn": "greet"})
            assert gateway.wait_for(run, "done")["end"]["value"] == "good day"
