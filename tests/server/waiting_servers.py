"""`tenon serve --wait-for-store`: the next server of a store takes over when the one before it has ended."""
import os
import re
import signal
import subprocess
import time

from server_process import SECONDS_MAX, Server
from tenon_process import TENON, build_library, wait_for_calls

SLOW_LIBRARY = r'''
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int64_t pay(int64_t ms) {
  FILE* calls = fopen(getenv("CALLS"), "a");
  fputs("paid\n", calls);
  fclose(calls);
  usleep(ms * 1000);
  return ms;
}
'''
SLOW = '''
extern(once) fn pay(ms: i64) -> i64
fn twice(ms: i64) -> i64 { pay(ms) + pay(ms) }
fn approve(ctx: Context, text: String) -> String { ask<String>("Allow {{ text }}?") }
'''


class NextServer:
    """A server that is started while another one uses the store."""

    def __init__(self, server, *options):
        command = [os.path.abspath(TENON), "serve", server.program, "--port", "0", "--store", str(server.store), "--model", server.model,
                   *server.options, *(options or ("--wait-for-store",))]
        self.server = server
        self.process = subprocess.Popen(command, cwd=server.work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, env=server.environment)
        self.first = self.process.stderr.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def waits_for(self, owner):
        return re.fullmatch(rf"tenon: .*: the store is in use by process {owner}; waiting until it ends.*\n", self.first)

    def take_over(self):
        """Requests go to this server once it serves."""
        line = self.process.stderr.readline()
        found = re.search(r"serving at http://\S+:(\d+)$", line.rstrip())
        assert found, line
        self.server.port = int(found[1])


def test_the_next_server_takes_over_when_the_first_is_killed(work):
    with Server(work) as server:
        run = server.begin({"fn": "approve", "args": {"text": "this"}})
        (wait,) = server.wait_until_asked(run, "Allow this?")
        with NextServer(server) as following:
            assert following.waits_for(server.process.pid), following.first
            assert server.run(run)["state"] == "waiting", "the first one still serves"
            server.kill()
            following.take_over()
            assert server.post(f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": True}).status == 202
            assert server.wait_for(run, "done")["end"]["value"] == "allowed"


def test_the_next_server_takes_over_when_the_first_has_drained(work):
    library = build_library(work, "slow", SLOW_LIBRARY)
    with Server(work, "--extern", library, program=SLOW, environment={"CALLS": str(work / "calls")}) as server:
        run = server.begin({"fn": "twice", "args": {"ms": 1200}})
        wait_for_calls(work / "calls", 1)
        with NextServer(server, "--wait-for-store=1m") as following:
            assert following.waits_for(server.process.pid) and following.first.endswith(", 1 min at most\n"), following.first
            assert server.stop() == 0, server.output
            following.take_over()
            assert server.wait_for(run, "done")["end"]["value"] == 2400
            assert (work / "calls").read_text() == "paid\n" * 2, "nothing is repeated"


def test_the_wait_of_a_server_ends_after_its_time_and_by_a_signal(work):
    with Server(work) as server:
        with NextServer(server, "--wait-for-store=300ms") as following:
            assert following.waits_for(server.process.pid), following.first
            _, errors = following.process.communicate(timeout=SECONDS_MAX)
            assert following.process.returncode == 1, errors
            assert f"the store is in use by process {server.process.pid}" in errors, errors
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with NextServer(server) as following:
                following.process.send_signal(number)
                started = time.monotonic()
                assert following.process.wait(SECONDS_MAX) == code
                assert time.monotonic() - started < 30
        assert server.get("/v1/runs").status == 200
