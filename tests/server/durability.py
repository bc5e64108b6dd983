"""Everything that the server has acknowledged exists after a kill -9, and runs resume automatically."""
import contextlib
import errno
import http.server
import json
import os
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from server_process import SECONDS_MAX, Server, Stream
from tenon_process import build_library, serve, tenon, wait_for_calls


def test_acknowledged_starts_survive(work):
    with Server(work) as server:
        taken = []
        for _ in range(3):
            taken += [server.begin({"fn": "approve", "input": "x"}) for _ in range(20)]
            server.kill()
            server.start()
        for run in taken:
            server.wait_for(run, "waiting")
        for run in taken:
            assert server.post(f"/v1/runs/{run}/resume", {"input": True}).status == 202
        server.kill()
        server.start()
        for run in taken:
            assert server.wait_for(run, "done")["end"]["value"] == "allowed"


def test_timers_fire_after_a_restart(work):
    with Server(work) as server:
        runs = [server.begin({"fn": "nap", "args": {"ms": 2500 + n}}) for n in range(20)]
        server.wait_for(runs[-1], "waiting")
        server.kill()
        time.sleep(2.6)
        server.start()
        for run in runs:
            assert server.wait_for(run, "done")["end"]["value"] == "woke"


def test_200_runs_at_once(work):
    with Server(work, "--limit", "idle_runs=20") as server, ThreadPoolExecutor(25) as pool:
        runs = list(pool.map(lambda n: server.begin({"fn": "approve", "input": str(n)}), range(200)))
        assert len(set(runs)) == 200
        for run in runs:
            server.wait_for(run, "waiting")
        assert server.metric("runs_resident") <= 20, "waiting runs are unloaded"
        statuses = list(pool.map(
            lambda run: server.post(f"/v1/runs/{run}/resume", {"input": True}).status, runs))
        assert statuses == [202] * 200, statuses
        for run in runs:
            assert server.wait_for(run, "done")["end"]["value"] == "allowed"


def test_graceful_stop(work):
    with Server(work) as server:
        waiting = server.begin({"fn": "approve", "input": "x"})
        napping = server.begin({"fn": "steps", "args": {"count": 300}})
        stream = Stream(server, "GET", f"/v1/runs/{waiting}/events")
        next(iter(stream))
        began = time.monotonic()
        assert server.stop() == 0, server.output
        assert time.monotonic() - began < 30, "a stream does not keep it loaded"
        assert [data for _, data in stream if "turn_" in data] == [], "it was cut off"
        server.start()
        assert server.wait_for(napping, "done")["end"]["value"] == 300
        assert server.run(waiting)["state"] == "waiting"
        assert server.stop() == 0, "nothing is in progress"


def test_after_a_stop_the_file_alone_has_all_runs(work):
    with Server(work) as server:
        taken = {server.begin({"fn": "approve", "input": str(number)}) for number in range(20)}
        for run in taken:
            server.wait_for(run, "waiting")
        assert server.get("/v1/runs").status == 200, "a reader has the store open too"
        assert server.stop() == 0, server.output
        assert not list(work.glob("store.db-*")), list(work.glob("store.db-*"))
    copy = work / "copy.db"
    shutil.copy(server.store, copy)
    listed = tenon("runs", "--json", "--store", copy)
    assert {run["run"] for run in json.loads(listed.stdout)} == taken, listed


@contextlib.contextmanager
def small_disk(work, megabytes=8):
    """A folder on a disk of that size; nothing where this process may not mount one."""
    folder = work / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], capture_output=True, check=False)
    if mounted.returncode != 0:
        print("left out: a full disk: this user may not mount a tmpfs")
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder):
    """Takes all space of a disk; returns the file that holds it."""
    file = folder / "filler"
    with file.open("wb", buffering=0) as filler:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    filler.write(b"x" * size)
            except OSError as error:
                assert error.errno == errno.ENOSPC, error
    return file


def wait_until(is_so):
    deadline = time.monotonic() + SECONDS_MAX
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_full_disk_makes_the_server_unready_until_there_is_space(work):
    with small_disk(work) as folder:
        if folder is None:
            return
        with Server(folder) as server:
            run = server.begin({"fn": "approve", "input": "x"})
            server.wait_for(run, "waiting")
            assert server.get("/readyz").status == 200
            filler = fill(folder)
            wait_until(lambda: server.get("/readyz").status == 503)
            reply = server.get("/readyz")
            assert reply.code == "not_ready" and "no space" in reply.json["error"]["message"], reply.body
            assert str(folder) not in reply.body
            assert server.get("/healthz").status == 200
            for path, body in (("/v1/runs", {"fn": "approve", "input": "y"}), (f"/v1/runs/{run}/resume", {"input": True})):
                refused = server.post(path, body)
                assert refused.status == 503 and refused.code == "unavailable", (path, refused.body)
            assert server.run(run)["state"] == "waiting" and server.events(run), "reads go on"
            filler.unlink()
            wait_until(lambda: server.get("/readyz").status == 200)
            wait_until(lambda: server.post(f"/v1/runs/{run}/resume", {"input": True}).status in (202, 409))
            assert server.wait_for(run, "done")["end"]["value"] == "allowed"
            assert server.stop() == 0


def test_a_server_is_unready_while_a_step_does_not_fit(work):
    """Some bytes still fit on the disk, but not what a run has to record."""
    with small_disk(work) as folder:
        if folder is None:
            return
        for left, text in ((12 << 10, "y"), (100 << 10, "y" * 200_000)):
            (folder / "filler").unlink(missing_ok=True)
            with Server(folder) as server:
                assert server.get("/readyz").status == 200
                filler = fill(folder)
                os.truncate(filler, filler.stat().st_size - left)
                reply = server.post("/v1/runs", {"fn": "approve", "input": text})
                while reply.status == 201:  # it went into free pages
                    reply = server.post("/v1/runs", {"fn": "approve", "input": text})
                assert reply.status == 503 and reply.code == "unavailable", reply.body
                # For longer than the result of a check is repeated.
                for _ in range(6):
                    reply = server.get("/readyz")
                    assert reply.status == 503 and reply.code == "not_ready", (left, reply.body)
                    assert "no space" in reply.json["error"]["message"] and str(folder) not in reply.body, reply.body
                    assert server.get("/healthz").status == 200
                    time.sleep(0.5)
                filler.unlink()
                wait_until(lambda: server.get("/readyz").status == 200)
                assert server.post("/v1/runs", {"fn": "approve", "input": text}).status == 201
                assert server.stop() == 0


def test_the_server_starts_on_a_full_disk(work):
    with small_disk(work) as folder:
        if folder is None:
            return
        with Server(folder) as server:
            for number in range(60):
                run = server.begin({"fn": "approve", "input": f"{number}" * 1500})
            server.wait_for(run, "waiting")
            server.kill()
            filler = fill(folder)
            server.start()
            reply = server.get("/readyz")
            assert reply.status == 503 and "no space" in reply.json["error"]["message"], reply.body
            assert server.get("/healthz").status == 200 and server.run(run)["state"] == "waiting"
            refused = server.post(f"/v1/runs/{run}/resume", {"input": True})
            assert refused.status == 503, refused.body
            filler.unlink()
            wait_until(lambda: server.get("/readyz").status == 200)
            wait_until(lambda: server.post(f"/v1/runs/{run}/resume", {"input": True}).status in (202, 409))
            assert server.wait_for(run, "done")["end"]["value"] == "allowed"


SLOW = '''\
extern(once) fn pay(ms: i64) -> i64
extern fn hang(x: i64) -> i64

fn twice(ms: i64) -> i64 { pay(ms) + pay(ms) }
fn stuck() -> i64 { hang(1) }
'''
SLOW_LIBRARY = r'''
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int64_t pay(int64_t ms) {
  FILE* calls = fopen(getenv("CALLS"), "a");
  fputs("paid\n", calls);
  fclose(calls);
  usleep((useconds_t)(ms * 1000));
  return ms;
}
int64_t hang(int64_t x) {
  pay(0);
  for (;;) sleep(1);
  return x;
}
'''


def wait_for_line(server, text):
    deadline = time.monotonic() + SECONDS_MAX
    while not any(text in line for line in server.output):
        assert time.monotonic() < deadline, server.output
        time.sleep(0.01)


def slow_server(work, *options):
    library = build_library(work, "slow", SLOW_LIBRARY)
    return Server(work, "--extern", library, *options, program=SLOW, environment={"CALLS": str(work / "calls")})


def test_a_call_in_progress_ends_before_the_server_does(work):
    with slow_server(work) as server:
        run = server.begin({"fn": "twice", "args": {"ms": 1200}})
        wait_for_calls(work / "calls", 1)
        assert server.stop() == 0, server.output
        assert (work / "calls").read_text() == "paid\n", "nothing new is started"
        server.start()
        assert server.wait_for(run, "done", "waiting")["end"]["value"] == 2400
        assert (work / "calls").read_text() == "paid\n" * 2, "and nothing is repeated"


def test_a_function_that_hangs_does_not_keep_the_server(work):
    with slow_server(work, "--grace", "1") as server:
        server.begin({"fn": "stuck"})
        wait_for_calls(work / "calls", 1)
        began = time.monotonic()
        assert server.stop() == 0, server.output
        assert 0.9 < time.monotonic() - began < 30
        waited = "tenon: waiting up to 1 s for 1 call in progress: `hang`; a second SIGTERM ends the process at once, without its outcome"
        assert any(waited in line for line in server.output), server.output
        server.start()
        wait_for_calls(work / "calls", 2)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert server.process.poll() is None
        assert server.stop() == 143, "a second signal ends it at once"
        server.start()
        wait_for_calls(work / "calls", 3)
        server.process.send_signal(signal.SIGINT)
        wait_for_line(server, "press Ctrl-C again to end the process at once, without its outcome")
        assert server.stop() == 143, "so does one of the other kind"


class Answering(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "message": {"role": "assistant", "content": "At last"}, "finish_reason": "stop"}
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "mock", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def bound_endpoint():
    """An endpoint that refuses connections until it is activated. No other process gets its port."""
    endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering, bind_and_activate=False)
    endpoint.server_bind()
    return endpoint


def test_a_run_waits_for_its_model_and_continues_by_itself(work):
    endpoint = bound_endpoint()
    environment = {"OPENAI_BASE_URL": f"http://127.0.0.1:{endpoint.server_port}/v1", "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    options = ("--retry", "initial=1s", "--retry", "factor=1", "--limit", "idle_runs=1")
    with Server(work, *options, model="openai:mock", environment=environment) as server:
        runs = [server.begin({"fn": "tell", "input": "owls"}) for _ in range(3)]
        for run in runs:
            shown = server.wait_for(run, "waiting")
            (service,) = shown["unavailable"]
            assert service["unavailable"] == "model" and service["next_at"] == shown["wakes_at"] and shown["waits"] == [], shown
            (event,) = [event for event in server.events(run) if event["type"] == "service_unavailable"][:1]
            assert event["service"] == "model" and event["name"] and event["attempt"] == 0 and "next_at" in event, event
        refused = server.post(f"/v1/runs/{runs[0]}/resume", {"input": "x"})
        assert refused.status == 409, refused.body
        before = len(server.events(runs[0]))
        resumed = server.post(f"/v1/runs/{runs[0]}/resume", {})
        deadline = time.monotonic() + SECONDS_MAX
        while resumed.status == 409 and time.monotonic() < deadline:  # an attempt is in progress
            assert "not waiting for a model" in resumed.body, resumed.body
            time.sleep(0.01)
            resumed = server.post(f"/v1/runs/{runs[0]}/resume", {})
        assert resumed.status == 202, resumed.body
        assert server.stop() == 0
        server.start()
        assert len(server.events(runs[0])) >= before
        endpoint.server_activate()
        serve(endpoint)
        try:
            for run in runs:
                assert server.wait_for(run, "done")["end"]["value"] == "At last"
            assert server.post(f"/v1/runs/{runs[0]}/resume", {}).status == 409, "it waits for nothing"
        finally:
            endpoint.shutdown()
            endpoint.server_close()


def test_a_run_whose_retries_are_over_is_resumed_by_hand(work):
    endpoint = bound_endpoint()
    environment = {"OPENAI_BASE_URL": f"http://127.0.0.1:{endpoint.server_port}/v1", "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    options = ("--retry", "initial=50ms", "--retry", "max_elapsed=60ms")
    with Server(work, *options, model="openai:mock", environment=environment) as server:
        runs = [server.begin({"fn": "tell", "input": "owls"}) for _ in range(2)]
        for run in runs:
            deadline = time.monotonic() + SECONDS_MAX
            while True:
                shown = server.wait_for(run, "waiting")
                if "wakes_at" not in shown or time.monotonic() > deadline:
                    break
            assert "next_at" not in shown["unavailable"][0], shown
        endpoint.server_activate()
        serve(endpoint)
        try:
            assert server.post(f"/v1/runs/{runs[0]}/resume", {}).status == 202
            assert server.wait_for(runs[0], "done")["end"]["value"] == "At last"
            handed = tenon("resume", runs[1], "--store", server.store)
            assert handed.returncode == 0, handed
            assert server.wait_for(runs[1], "done")["end"]["value"] == "At last"
        finally:
            endpoint.shutdown()
            endpoint.server_close()


class OfKey(Answering):
    """Answers only those that send the right key."""

    def do_POST(self):  # noqa: N802
        if self.headers["Authorization"] == "Bearer right":
            return super().do_POST()
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_error(401)


def test_runs_wait_until_the_server_has_the_right_key(work):
    endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OfKey)
    serve(endpoint)
    url = f"http://127.0.0.1:{endpoint.server_address[1]}/v1"
    environment = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "wrong", "NO_PROXY": "127.0.0.1"}
    try:
        # One run is due again soon after the restart, the other one much later.
        with Server(work, "--retry", "initial=1s", "--retry", "factor=1", model="openai:mock", environment=environment) as server:
            soon = server.begin({"fn": "tell", "input": "owls"})
            (service,) = server.wait_for(soon, "waiting")["unavailable"]
            assert "HTTP 401" in service["reason"] and "OPENAI_API_KEY" in service["reason"], service
            assert server.stop() == 0
            server.options = ("--retry", "initial=1h", "--retry", "max_interval=1h")
            server.start()
            late = server.begin({"fn": "tell", "input": "owls"})
            server.wait_for(late, "waiting")
            assert server.stop() == 0
            server.environment["OPENAI_API_KEY"] = "right"
            server.start()
            assert server.wait_for(soon, "done")["end"]["value"] == "At last"
            assert server.run(late)["state"] == "waiting", server.run(late)
            assert server.post(f"/v1/runs/{late}/resume", {}).status == 202
            assert server.wait_for(late, "done")["end"]["value"] == "At last"
    finally:
        endpoint.shutdown()
        endpoint.server_close()


CHATS = '''\
fn nap(text: String) -> String {
    sleep(%d)
    "woke"
}
'''


def begin_chats(server):
    """Starts a chat, a streamed chat and an AG-UI chat, all in progress when this returns; their replies are added to the list."""
    said = {"model": "nap", "messages": [{"role": "user", "content": "x"}]}
    thread = {"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "x"}]}
    pool = ThreadPoolExecutor(3)
    replies = [pool.submit(server.post, path, body) for path, body in (
        ("/v1/chat/completions", said), ("/v1/chat/completions", {**said, "stream": True}), ("/agui/nap", thread))]
    deadline = time.monotonic() + SECONDS_MAX
    while len(server.get("/v1/runs?state=waiting").json["runs"]) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    return replies


def test_chats_in_progress_are_awaited(work):
    with Server(work, "--limit", f"drain_seconds={SECONDS_MAX}", program=CHATS % 2500) as server:
        replies = begin_chats(server)
        assert server.stop() == 0, server.output
        chat, stream, thread = [reply.result() for reply in replies]
        assert chat.status == 200 and chat.json["choices"][0]["message"]["content"] == "woke", chat.body
        assert "woke" in stream.body and stream.body.rstrip().endswith("data: [DONE]"), stream.body
        assert '"type":"RUN_FINISHED"' in thread.body and '"result":"woke"' in thread.body, thread.body


def test_chats_that_take_longer_are_reported(work):
    with Server(work, "--limit", "drain_seconds=1", program=CHATS % 1_000_000) as server:
        replies = begin_chats(server)
        assert server.stop() == 0, server.output
        chat, stream, thread = [reply.result() for reply in replies]
        assert chat.status == 503 and chat.code == "draining", chat.body
        assert chat.headers["X-Should-Retry"] == "false" and chat.headers["X-Tenon-Conversation"] == chat.json["conversation"]
        last = json.loads(stream.body.rstrip().splitlines()[-1].removeprefix("data: "))
        assert last["error"]["code"] == "draining" and "[DONE]" not in stream.body, stream.body
        last = json.loads(thread.body.rstrip().splitlines()[-1].removeprefix("data: "))
        assert last["type"] == "RUN_ERROR" and last["code"] == "draining", thread.body
        server.start()
        assert len(server.get("/v1/runs?state=waiting").json["runs"]) == 3, "the runs continue"


def test_a_run_continues_with_its_original_program(work):
    with Server(work) as server:
        run = server.begin({"fn": "approve", "input": "x"})
        server.wait_for(run, "waiting")
        server.kill()
    with Server(work, program="fn other() -> i32 { 1 }\n") as server:
        assert server.post(f"/v1/runs/{run}/resume", {"input": True}).status == 202
        assert server.wait_for(run, "done")["end"]["value"] == "allowed"
        assert server.post("/v1/runs", {"fn": "approve", "input": "x"}).status == 404


def test_a_long_conversation_resumes_after_a_crash(work):
    # A scripted model must replay the entire run; with any other model the newest snapshot is used.
    with Server(work, model="openai:unknown", environment={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}) as server:
        run = server.begin({"agent": "Counter"})
        turns = 0
        # Entries that are in the snapshot, entries that are only in the store, and entries too large for a snapshot.
        for bytes_said in (10, 3000, 20, 1500, 6000, 30, 40):
            turns += 1
            assert server.post(f"/v1/runs/{run}/prompt", {"input": "x" * bytes_said}).status == 202
            server.wait_for(run, "idle")
            server.kill()
            server.start()
            assert server.post(f"/v1/runs/{run}/prompt", {"input": "b"}).status == 202
            turns += 1
            server.wait_for(run, "idle")
            assert server.events(run)[-1]["value"] == f"turn {turns}: b"
