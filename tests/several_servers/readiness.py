"""What `GET /readyz` says, and what requests get, while a server cannot do anything."""
import os

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
            wait_until(lambda: servers[0].post("/v1/runs", {"fn": "approve", "input": "x" * 20_000}).status == 503)
            for server in servers:
                wait_until(lambda server=server: server.get("/readyz").status == 503)
                reply = server.get("/readyz")
                assert reply.code == "not_ready" and "no space" in reply.json["error"]["message"], reply.body
                assert server.get("/healthz").status == 200
            filler.unlink()
            for server in servers:
                wait_until(lambda server=server: server.get("/readyz").status == 200)
                assert server.post("/v1/runs", {"fn": "approve", "input": "x"}).status == 201
