"""What `GET /readyz` says, and what requests get, while a server cannot do anything."""
import os
import time

from cluster import Cluster
from durability import fill, small_disk, wait_until
from postgres_process import PostgresProcess


def test_a_full_disk_of_the_database_makes_servers_unready(work):
    with small_disk(work, megabytes=220) as disk:
        if disk is None:
            return
        os.chmod(work, 0o711)  # the database runs as another user
        sizes = ("max_wal_size=64MB", "min_wal_size=32MB", "wal_recycle=off")
        with PostgresProcess(*sizes, safe=True, place=disk) as postgres, Cluster(work, postgres) as cluster:
            servers = [cluster.server("first"), cluster.server("second")]
            assert [server.get("/readyz").status for server in servers] == [200, 200]
            filler = fill(disk)
            begin = {"fn": "approve", "input": "x" * 20_000}
            wait_until(lambda: (refused := servers[0].post("/v1/runs", begin)).status == 503 and refused.headers["Retry-After"] == "1")
            for server in servers:
                wait_until(lambda server=server: server.get("/readyz").status == 503)
                reply = server.get("/readyz")
                assert reply.code == "not_ready" and "no space" in reply.json["error"]["message"], reply.body
                assert server.get("/healthz").status == 200
            filler.unlink()
            for server in servers:
                wait_until(lambda server=server: server.get("/readyz").status == 200)
                assert server.post("/v1/runs", {"fn": "approve", "input": "x"}).status == 201


def test_a_gateway_says_that_there_is_no_host(work):
    with Cluster(work) as cluster:
        gateway = cluster.server("gateway", "--gateway")
        host = cluster.server("host")
        assert gateway.get("/readyz").status == 200
        run = gateway.begin({"fn": "approve", "input": "cake"})
        gateway.wait_for(run, "waiting")
        host.kill()
        wait_until(lambda: gateway.get("/readyz").status == 503)
        reply = gateway.get("/readyz")
        assert reply.code == "not_ready" and "no server continues runs" in reply.json["error"]["message"], reply.body
        for path, body in (("/v1/runs", {"fn": "place"}), (f"/v1/runs/{run}/resume", {"input": True})):
            began = time.monotonic()
            refused = gateway.post(path, body)
            assert refused.status == 503 and "no server of the store continues runs" in refused.body, refused.body
            assert time.monotonic() - began < 15, "without waiting for a reply that cannot come"
        assert cluster.query("SELECT id FROM inbox WHERE reply IS NULL") == [], "nothing is left to be performed later"
        host.start()
        wait_until(lambda: gateway.get("/readyz").status == 200)
        assert gateway.post(f"/v1/runs/{run}/resume", {"input": True}).status == 202
        assert gateway.wait_for(run, "done")["end"]["value"] == "allowed"
