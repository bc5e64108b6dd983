"""Servers that are killed, stopped and cut off, and a database that crashes: the runs end as if nothing had happened."""
import concurrent.futures
import os
import random
import signal
import time

from cluster import SHORT_LEASE_MS, Cluster, PostgresProcess, Work, retry
from cutting_proxy import CuttingProxy


def pause_until_progress(work, records):
    """Until the runs have so many records more, or have ended."""
    before = work.progress()
    deadline = time.monotonic() + 30
    while work.progress() < before + records and not all(follower.has_ended for follower in work.followers):
        assert time.monotonic() < deadline, "the runs do not go on"
        time.sleep(0.05)


def test_servers_that_are_killed(work):
    numbers = random.Random(1)
    with Cluster(work, lease_ms=SHORT_LEASE_MS) as cluster:
        servers = [cluster.server("first"), cluster.server("second")]
        busy = Work(cluster, servers, 12)
        for round_ in range(6):
            time.sleep(numbers.uniform(0.05, 0.3))
            servers[round_ % 2].kill()
            pause_until_progress(busy, 20)
            servers[round_ % 2].start()
        busy.finish()


def test_a_server_that_is_stopped_for_twice_its_lease(work):
    with Cluster(work, lease_ms=SHORT_LEASE_MS) as cluster:
        servers = [cluster.server("first"), cluster.server("second")]
        busy = Work(cluster, [servers[1]], 1)
        busy.runs += [servers[0].begin({"fn": "work", "args": {"count": busy.steps}}) for _ in range(12)]
        for round_ in range(2):
            time.sleep(0.2 + 0.1 * round_)
            servers[0].process.send_signal(signal.SIGSTOP)
            stopped = time.monotonic()
            pause_until_progress(busy, 20)
            time.sleep(max(0.0, stopped + 2 * SHORT_LEASE_MS / 1000 - time.monotonic()))
            servers[0].process.send_signal(signal.SIGCONT)
            # A call that it had begun before may only be written down now.
            time.sleep(0.5)
            retry(lambda: servers[0].begin({"fn": "approve", "input": "it serves again"}))
        busy.finish()


def test_a_database_that_crashes(work):
    numbers = random.Random(2)
    with PostgresProcess(safe=True) as postgres, Cluster(work, postgres, lease_ms=SHORT_LEASE_MS) as cluster:
        servers = [cluster.server("first"), cluster.server("second")]
        busy = Work(cluster, servers, 12)
        for _ in range(5):
            time.sleep(numbers.uniform(0.05, 0.3))
            postgres.crash()
            pause_until_progress(busy, 10)
        busy.finish()
        assert all(server.process.poll() is None for server in servers), "no server has ended"


def find_backends(cluster):
    """The processes of the sessions of a cluster's servers."""
    rows = cluster.query("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
    assert rows, "no server is connected"
    return [int(row[0]) for row in rows]


def test_single_processes_of_the_database_that_are_killed(work):
    """The operator ends the process of one session. One that crashes takes all sessions with it, and the database recovers by itself."""
    numbers = random.Random(3)
    with PostgresProcess(safe=True) as postgres, Cluster(work, postgres, lease_ms=SHORT_LEASE_MS) as cluster:
        servers = [cluster.server("first"), cluster.server("second")]
        busy = Work(cluster, servers, 12)
        for round_ in range(8):
            time.sleep(numbers.uniform(0.05, 0.3))
            backend = numbers.choice(retry(lambda: find_backends(cluster)))
            if round_ % 2 == 0:
                cluster.query(f"SELECT pg_terminate_backend({backend})")
            else:
                os.kill(backend, signal.SIGKILL)
            pause_until_progress(busy, 10)
        busy.finish()
        assert all(server.process.poll() is None for server in servers), "no server has ended"


def test_a_database_that_is_away_for_a_while(work):
    """The servers still answer, and say so at once; everything continues when it is back."""
    with PostgresProcess(safe=True) as postgres, Cluster(work, postgres, lease_ms=SHORT_LEASE_MS) as cluster:
        server = cluster.server("first")
        busy = Work(cluster, [server], 4)
        time.sleep(0.2)
        postgres.stop()
        deadline = time.monotonic() + 30
        while server.get("/readyz").status != 503:
            assert time.monotonic() < deadline
        refused = server.post("/v1/runs", {"fn": "approve", "input": "x"})
        assert refused.status == 503 and refused.headers["Retry-After"] == "1", refused.body
        for path in ("/readyz", "/v1/runs", f"/v1/runs/{busy.runs[0]}"):
            answer = server.get(path)
            assert (answer.status, answer.headers["Retry-After"]) == (503, "1"), (path, answer.body)
        assert server.get("/healthz").status == 200
        assert server.metric("lease_held") == 0
        for answer in (refused, server.get(f"/v1/runs/{busy.runs[0]}")):
            assert str(postgres.folder) not in answer.body and "cannot be reached" in answer.body, answer.body
        time.sleep(2 * SHORT_LEASE_MS / 1000)
        postgres.start()
        busy.finish()
        assert server.get("/readyz").status == 200 and server.metric("lease_held") == 1
        log = "".join(server.output)
        assert log.count("the store's server does not reply") == log.count("tenon: the store's server replies again") == 1, log


def test_connections_that_are_cut(work):
    """Also between a commit and its reply."""
    with Cluster(work, lease_ms=SHORT_LEASE_MS) as cluster, CuttingProxy(cluster.postgres.folder) as proxy:
        servers = [cluster.server("first", url=cluster.url_through(proxy.folder)), cluster.server("second")]
        busy = Work(cluster, servers, 12)
        for seed in range(20):
            proxy.cut(seed)
            time.sleep(0.05)
        busy.finish()
        assert proxy.cuts > 20


def test_connections_that_stay_open_and_pass_nothing_on(work):
    """Its only server makes new ones, and answers meanwhile."""
    with Cluster(work, lease_ms=SHORT_LEASE_MS) as cluster, CuttingProxy(cluster.postgres.folder) as proxy:
        server = cluster.server("first", url=cluster.url_through(proxy.folder))
        busy = Work(cluster, [server], 6)
        for _ in range(3):
            pause_until_progress(busy, 10)
            proxy.silence()
            assert server.get("/readyz").status in (200, 503) and server.get("/v1/runs").status in (200, 503)
            assert server.post("/v1/runs", {"fn": "approve", "input": "x"}).status in (201, 503)
        busy.finish()


def test_a_server_without_a_network(work):
    """It cannot reach the database, whose connections stay open: the other one takes over when the lease has ended. Who asks it gets an
    answer, also to what was asked before."""
    with Cluster(work, lease_ms=SHORT_LEASE_MS) as cluster, CuttingProxy(cluster.postgres.folder) as proxy:
        servers = [cluster.server("first", url=cluster.url_through(proxy.folder)), cluster.server("second")]
        busy = Work(cluster, [servers[1]], 1)
        busy.runs += [servers[0].begin({"fn": "work", "args": {"count": busy.steps}}) for _ in range(12)]
        proxy.freeze()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = [pool.submit(servers[0].get, path) for path in ("/readyz", "/v1/runs")]
            begin = {"fn": "approve", "input": "begun once"}
            asked.append(pool.submit(servers[0].post, "/v1/runs", begin, Idempotency_Key="begun"))
            assert [one.result().status for one in asked] == [503, 503, 503]
            refused = asked[2].result()
            assert (refused.code, refused.headers.get("Retry-After"), refused.headers.get("X-Should-Retry")) in (
                ("unavailable", "1", None), ("unknown", None, "false")), refused.body
        time.sleep(2 * SHORT_LEASE_MS / 1000)
        pause_until_progress(busy, 20)
        proxy.continue_()
        retry(lambda: servers[0].begin(begin, Idempotency_Key="begun"))
        assert cluster.query("SELECT count(*) FROM runs WHERE title = 'approve'::bytea") == [["1"]], "it was begun once"
        busy.finish()
