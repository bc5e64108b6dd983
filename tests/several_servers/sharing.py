"""Any server of a store serves any run, and each thing exists once for all of them."""
import http.server
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from cluster import SECONDS_MAX, Cluster, Follower
from server_process import Stream
from tenon_process import serve


def test_any_server_serves_any_run(work):
    with Cluster(work) as cluster:
        first, second = cluster.server("first"), cluster.server("second")
        run = first.begin({"fn": "approve", "input": "cake"})
        follower = Follower([second], run)
        follower.start()
        (wait,) = second.wait_for(run, "waiting")["waits"]
        assert wait["question"] == "Allow cake?"
        refused = second.post(f"/v1/runs/{run}/resume", {"input": "maybe"})
        assert refused.status == 422 and "expected yes or no" in refused.body, refused.body
        assert second.post(f"/v1/runs/{run}/resume", {"input": True}).status == 202
        for server in (first, second):
            assert server.wait_for(run, "done")["end"]["value"] == "allowed"
            assert server.post(f"/v1/runs/{run}/resume", {"input": True}).status == 409
        follower.check()
        cancelled = first.begin({"fn": "approve", "input": "pie"})
        second.wait_for(cancelled, "waiting")
        assert second.post(f"/v1/runs/{cancelled}/cancel", {}).status == 202
        assert first.wait_for(cancelled, "cancelled")
        assert second.post(f"/v1/runs/{'0' * 26}/resume", {"input": 1}).status == 404
        assert {shown["run"] for shown in second.get("/v1/runs").json["runs"]} == {run, cancelled}


def test_a_conversation_continues_at_any_server(work):
    with Cluster(work) as cluster:
        servers = [cluster.server("first"), cluster.server("second")]
        said = []
        for turn in range(6):
            reply = servers[turn % 2].post("/v1/chat/completions", {
                "model": "Counter", "conversation": "ann", "messages": [{"role": "user", "content": f"m{turn}"}]})
            assert reply.status == 200, reply.body
            said.append(reply.json["choices"][0]["message"]["content"])
        assert said == [f"{turn + 1}: m{turn}" for turn in range(6)], said
        assert len(servers[0].get("/v1/runs").json["runs"]) == 1


def test_a_key_starts_one_run_at_all_servers(work):
    with Cluster(work) as cluster, ThreadPoolExecutor(12) as pool:
        servers = [cluster.server("first"), cluster.server("second")]

        def begin(at):
            deadline = time.monotonic() + SECONDS_MAX
            while True:
                reply = servers[at % 2].post("/v1/runs", {"fn": "approve", "input": "x"}, Idempotency_Key=f"key {at // 12}")
                if reply.status != 409 or time.monotonic() > deadline:
                    break  # otherwise another client is just starting it
            assert reply.status in (200, 201), (reply.status, reply.body)
            return reply.json["run"]

        def speak(at):
            reply = servers[at % 2].post("/v1/chat/completions", {
                "model": "Counter", "conversation": f"talk {at // 6}", "messages": [{"role": "user", "content": "x"}]})
            return reply.status

        runs = list(pool.map(begin, range(120)))
        assert len(set(runs)) == 10, runs
        other = servers[1].post("/v1/runs", {"fn": "approve", "input": "y"}, Idempotency_Key="key 0")
        assert other.status == 409 or other.status == 422, (other.status, other.body)
        statuses = set(pool.map(speak, range(60)))
        assert statuses <= {200, 409}, statuses  # a turn may be in progress
        assert len(servers[0].get("/v1/runs?limit=100").json["runs"]) == 20


class Writing(http.server.BaseHTTPRequestHandler):
    """An endpoint whose answer comes word by word."""

    def do_POST(self):  # noqa: N802
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for word in ["Owls ", "fly ", "at ", "night."]:
            self._send({"choices": [{"index": 0, "delta": {"content": word}}]})
            time.sleep(0.1)
        self._send({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, piece):
        self.wfile.write(f"data: {json.dumps({'id': '1', 'object': 'chat.completion.chunk', 'model': 'm', **piece})}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *arguments):
        pass


def test_an_answer_is_shown_at_other_servers_while_it_is_written(work):
    endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Writing)
    serve(endpoint)
    environment = {"OPENAI_BASE_URL": f"http://127.0.0.1:{endpoint.server_address[1]}/v1", "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    try:
        with Cluster(work) as cluster:
            first = cluster.server("first", model="openai:m", environment=environment)
            gateway = cluster.server("gateway", "--gateway")
            run = first.begin({"fn": "tell", "input": "owls"})
            pieces, recorded = [], []
            for number, data in Stream(gateway, "GET", f"/v1/runs/{run}/events?after=0"):
                event = json.loads(data)
                (pieces if number is None else recorded).append(event)
                if event["type"] == "turn_end":
                    break
            assert recorded[-1]["value"] == "Owls fly at night.", recorded
            assert pieces and all(piece["type"] == "text_delta" for piece in pieces)
            # A reader that comes late gets what was written before as one piece.
            assert "".join(piece["text"] for piece in pieces) == "Owls fly at night.", pieces
            assert [piece["offset"] for piece in pieces][:1] == [0], pieces
    finally:
        endpoint.shutdown()
        endpoint.server_close()


def test_answers_are_streamed_however_quick_the_model_begins(work):
    """The first word comes before anyone can have begun to follow the run, the others some time later."""
    endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Writing)
    serve(endpoint)
    environment = {"OPENAI_BASE_URL": f"http://127.0.0.1:{endpoint.server_address[1]}/v1", "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    try:
        with Cluster(work) as cluster:
            host = cluster.server("host", model="openai:m", environment=environment)
            gateway = cluster.server("gateway", "--gateway", model="openai:m", environment=environment)
            for server in [host, gateway] * 6:
                body = {"model": "Teller", "stream": True, "messages": [{"role": "user", "content": "owls"}]}
                pieces = []
                for _, data in Stream(server, "POST", "/v1/chat/completions", body, {"Content-Type": "application/json"}):
                    choices = [] if data == "[DONE]" else json.loads(data)["choices"]
                    pieces += [choice["delta"]["content"] for choice in choices if choice["delta"].get("content")]
                assert "".join(pieces) == "Owls fly at night." and len(pieces) > 1, pieces
    finally:
        endpoint.shutdown()
        endpoint.server_close()


def test_a_fork_continues_in_a_host_wherever_it_is_asked_for(work):
    with Cluster(work) as cluster:
        hosts = [cluster.server("first"), cluster.server("second")]
        gateway = cluster.server("gateway", "--gateway")
        run = hosts[0].begin({"fn": "approve", "input": "a refund"})
        hosts[0].wait_for(run, "waiting")
        for server in (*hosts, gateway):
            forked = server.post(f"/v1/runs/{run}/fork", {"budget": {"calls": 9}}, Idempotency_Key=f"fork {server.port}")
            assert forked.status == 201, forked.body
            again = gateway.post(f"/v1/runs/{run}/fork", {"budget": {"calls": 9}}, Idempotency_Key=f"fork {server.port}")
            assert again.json == forked.json, "the same request to another server forks once"
            fork = forked.json["run"]
            server.wait_for(fork, "waiting")
            assert gateway.post(f"/v1/runs/{fork}/resume", {"input": True}).status == 202
            assert server.wait_for(fork, "done")["end"]["value"] == "allowed"
        assert hosts[1].run(run)["state"] == "waiting", "the run itself is as it was"


def test_a_gateway_leaves_requests_to_hosts(work):
    with Cluster(work) as cluster:
        gateway = cluster.server("gateway", "--gateway")
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(gateway.begin, {"fn": "place"})  # waits for a host
            time.sleep(0.3)
            assert not asked.done() and cluster.performed("who") == {}
            host = cluster.server("host")
            run = asked.result(SECONDS_MAX)
        assert gateway.wait_for(run, "done")["end"]["value"] == "host"
        conversation = gateway.post("/v1/chat/completions", {"model": "Counter", "messages": [{"role": "user", "content": "hi"}]})
        assert conversation.json["choices"][0]["message"]["content"] == "1: hi", conversation.body
        gateway.kill()
        gateway.start()
        assert gateway.run(run)["state"] == "done"
        assert host.stop() == 0


def test_changes_of_runs_are_seen_at_all_servers(work):
    with Cluster(work) as cluster:
        first = cluster.server("first")
        others = [cluster.server("second"), cluster.server("gateway", "--gateway")]
        streams = [Stream(server, "GET", "/v1/events").open() for server in others]
        ended = threading.Event()

        def begin_runs():
            while not ended.is_set():
                run = first.begin({"fn": "approve", "input": "cake"})
                first.wait_for(run, "waiting")
                assert first.post(f"/v1/runs/{run}/resume", {"input": True}).status == 202
                ended.wait(0.2)

        with ThreadPoolExecutor(1) as pool:
            begun = pool.submit(begin_runs)
            try:
                for stream in streams:
                    states = {}
                    for _, data in stream:
                        change = json.loads(data)
                        states.setdefault(change.get("run"), set()).add(change.get("state"))
                        if any({"waiting", "done"} <= seen for seen in states.values()):
                            break
            finally:
                ended.set()
            begun.result(SECONDS_MAX)
