"""Requests that the server rejects before reading them: sizes, connections, tokens, foreign origins, invalid HTTP."""
import contextlib
import json
import socket
import sqlite3
import time

from server_process import SECONDS_MAX, Server
from tenon_process import tenon


def raw(server, data):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(data)
        received = b""
        while True:
            piece = connection.recv(65536)
            if not piece:
                return received
            received += piece


def test_sizes(work):
    with Server(work, "--limit", "body_bytes=1000", "--limit", "header_bytes=2000") as server:
        reply = server.post("/v1/runs", {"fn": "tell", "input": "x" * 2000})
        assert reply.status == 413 and reply.code == "too_large", reply.body
        assert server.post("/v1/runs", {"fn": "tell", "input": "x" * 500}).status == 201
        answer = raw(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 5000 + b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 431 "), answer[:100]
        chunked = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b"x" * 1024
        assert raw(server, chunked + b"\r\n0\r\n\r\n").startswith(b"HTTP/1.1 413 ")


def test_invalid_http(work):
    with Server(work) as server:
        for data in (b"hello\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 100):
            answer = raw(server, data + b"\r\n\r\n")
            assert answer == b"" or answer.startswith(b"HTTP/1.1 400 "), (data, answer[:80])
        assert server.get("/healthz").status == 200


def request_with(*headers, body=b"", method="POST", path="/v1/runs", version="1.1"):
    lines = [f"{method} {path} HTTP/{version}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def test_a_body_is_never_read_as_a_request(work):
    inner = request_with("Host: localhost", method="GET", path="/v1/agents")
    chunked = f"{len(inner):x}\r\n".encode() + inner + b"\r\n0\r\n\r\n"
    smuggled = [(["Transfer-Encoding: xchunked"], inner, b"400"), (["Transfer-Encoding: identity"], inner, b"400"),
                (["Transfer-Encoding: gzip, chunked"], chunked, b"501"), (["Transfer-Encoding: chunked, gzip"], chunked, b"400"),
                (["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], chunked, b"400"),
                (["Transfer-Encoding: chunked", "Content-Length: 5"], chunked, b"400"),
                (["Content-Length: 0", "Content-Length: 5"], inner, b"400"), (["Content-Length: 0, 5"], inner, b"400"),
                (["Content-Length: +0"], inner, b"400"), (["X: a", " Content-Length: 5"], inner, b"400"),
                (["Content-Length : 5"], inner, b"400"), (["X: a\nTransfer-Encoding: chunked"], chunked, b"400"),
                (["X: a\rContent-Length: 5"], inner, b"400")]
    with Server(work) as server:
        for headers, body, status in smuggled:
            answer = raw(server, request_with("Host: localhost", "Content-Type: application/json", *headers, body=body))
            assert answer.startswith(b"HTTP/1.1 " + status) and answer.count(b"HTTP/1.1 ") == 1, (headers, answer)
            assert b"Connection: close" in answer, answer
        body = b'{"fn": "add", "args": {"x": 1, "y": 2}}'
        trailer = b"%x\r\n%b\r\n0\r\nIdempotency-Key: late\r\n\r\n" % (len(body), body)
        fine = request_with("Host: localhost", "Content-Type: application/json", "Transfer-Encoding: chunked",
                            "Connection: close", body=trailer)
        runs = [json.loads(answer.split(b"\r\n\r\n")[1])["run"] for answer in (raw(server, fine), raw(server, b"\r\n" + fine))]
        assert len(set(runs)) == 2, "a trailer is not a header"


def test_what_surrounds_the_chunks_of_a_body(work):
    """Extensions and trailers count as a part of the header; what belongs in the header is not a trailer; nothing hangs."""
    body = b'{"fn": "add", "args": {"x": 1, "y": 2}}'
    size, end = b"%x" % len(body), b"\r\n" + body + b"\r\n"
    head = ("Host: localhost", "Content-Type: application/json", "Transfer-Encoding: chunked", "Connection: close")

    def answer(chunked):
        reply = raw(server, request_with(*head, body=chunked))
        assert reply.count(b"HTTP/1.1 ") == 1, reply
        return int(reply.split(b" ")[1]), json.loads(reply.split(b"\r\n\r\n")[1])

    with Server(work) as server:
        for fine in (size + b";a=1 ; b=\"2\"" + end + b"0;last\r\nX-Late: 1\r\n\r\n", b"000" + size + end + b"000\r\n\r\n",
                     b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"):
            assert answer(fine)[0] == 201, fine
        for large in (size + b";" + b"a" * 40_000 + end + b"0\r\n\r\n", size + end + b"0\r\nX: " + b"a" * 40_000 + b"\r\n\r\n",
                      size + end + b"0\r\n" + b"X: a\r\n" * 7_000 + b"\r\n",
                      b"".join(b"1;abcdef=abcdefghij\r\n%c\r\n" % byte for byte in b" " * 2_000 + body) + b"0\r\n\r\n"):
            status, reply = answer(large)
            assert status == 431 and "the trailers" in reply["error"]["message"], (status, reply)
        for name in ("Content-Length", "Transfer-Encoding", "Host", "Authorization", "content-type"):
            status, reply = answer(size + end + f"0\r\n{name}: 5\r\n\r\n".encode())
            assert status == 400 and f"`{name}` cannot be a trailer" in reply["error"]["message"], (name, status, reply)
        for unclear in (size + b"\n", size + b";a\n", size + end + b"0\n", size + end + b"0\r\nX: 1\n", b"0x5\r\n", size + b"\r\n" + body + b"\n"):
            status, reply = answer(unclear)
            assert status == 400, (unclear, status, reply)
        assert server.get("/healthz").status == 200


# What begins with a local host and is another one, or none.
NOT_HOSTS = ("[::1].evil.example", "[::1]evil.example", "localhost:evil.example", "localhost:80:80", "[::1]:80:80", "localhost:99999",
             "localhost:-1", "127.0.0.1:80evil", ":80", "localhost@evil.example", "localhost,evil.example")


def test_a_request_names_one_host(work):
    with Server(work) as server:
        for hosts in ([], ["Host: localhost", "Host: localhost"], ["Host: localhost", "Host: evil.example"],
                      ["Host: localhost, evil.example"], ["Host: localhost/x"], *([f"Host: {host}"] for host in NOT_HOSTS)):
            answer = raw(server, request_with(*hosts, method="GET", path="/healthz"))
            assert answer.startswith(b"HTTP/1.1 400 ") and b"Host" in answer, (hosts, answer)
        for host, status in (("localhost", b"200"), ("[::1]:80", b"200"), ("evil.example", b"403"), ("", b"400"), ("localhost#", b"400"),
                             *((host, b"400") for host in NOT_HOSTS)):
            answer = raw(server, request_with("Host: localhost", "Connection: close", method="GET", path=f"http://{host}/v1/agents"))
            assert answer.startswith(b"HTTP/1.1 " + status), (host, answer)
        assert raw(server, request_with("Host: LocalHost", "Connection: close", method="GET", path="/healthz")).startswith(b"HTTP/1.1 200 ")


def test_connections(work):
    with Server(work, "--limit", "connections=5") as server:
        held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
        time.sleep(0.2)
        answer = raw(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 503 ") and b"too_many_connections" in answer and b"Retry-After: 1\r\n" in answer, answer
        for connection in held:
            connection.close()
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            answer = raw(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            if answer.startswith(b"HTTP/1.1 200 "):
                return
            time.sleep(0.05)
        raise AssertionError(answer)


def test_a_connection_is_kept_and_a_silent_one_is_closed(work):
    with Server(work, "--limit", "idle_seconds=3") as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            for _ in range(3):
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
            assert connection.recv(10) == b"", "closed by the server"
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(b"GET /healthz HT")
            assert connection.recv(10) == b""
        answer = raw(server, b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in answer.split(b"\r\n")[0] and answer.endswith(b'{"status":"ok"}\n'), answer


def test_a_client_that_disconnects_frees_the_connection(work):
    program = 'fn nap(text: String) -> String {\n    sleep(1_000_000)\n    "woke"\n}\n'
    with Server(work, program=program) as server:
        begun = 0
        for extra in ({}, {"stream": True}):
            body = json.dumps({"model": "nap", "messages": [{"role": "user", "content": "x"}], **extra})
            held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
            for connection in held:
                connection.sendall(f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                   f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
            wait_until(lambda: server.metric("http_connections") == 6)
            begun += 5
            wait_until(lambda count=begun: len(server.get("/v1/runs?state=waiting").json["runs"]) == count)
            for connection in held:
                connection.close()
            wait_until(lambda: server.metric("http_connections") == 1)


def wait_until(is_so):
    deadline = time.monotonic() + SECONDS_MAX
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_tokens(work):
    secret = "a-secret-that-is-never-printed"
    with Server(work, "--token-env", "WORD", environment={"WORD": secret}) as server:
        for headers in ({}, {"Authorization": "Bearer nope"}, {"Authorization": secret}, {"Authorization": "Bearer "},
                        {"Authorization": "Bearer " + secret + "x"}, {"Authorization": "Bearer " + secret[:-1]}):
            reply = server.get("/v1/runs", **headers)
            assert reply.status == 401 and reply.headers["WWW-Authenticate"] == "Bearer", (headers, reply.body)
            assert secret not in reply.body
        for scheme in ("Bearer", "bearer", "BEARER", "Bearer "):
            assert server.get("/v1/runs", Authorization=f"{scheme} {secret}").status == 200, scheme
        assert server.get("/healthz").status == 200 and server.get("/metrics").status == 401
        assert server.stop() == 0 and secret not in "".join(server.output)


def test_without_a_token_only_this_machine(work):
    with Server(work) as server:
        assert server.get("/v1/runs", Host="evil.example").status == 403
        assert server.get("/v1/runs", Origin="https://evil.example").status == 403
        assert server.get("/v1/runs", Origin="http://localhost:3000").status == 200
        store = work / "other.db"
        refused = tenon("serve", work / "program.tn", "--store", store, "--host", "0.0.0.0", "--model", "script:x")
        assert refused.returncode == 2 and "--token-env" in refused.stderr, refused
        refused = tenon("serve", work / "program.tn", "--store", store, "--token-env", "NOT_SET_ANYWHERE")
        assert refused.returncode == 2 and "NOT_SET_ANYWHERE" in refused.stderr, refused


def test_pages_of_other_origins_change_nothing(work):
    with Server(work) as server:
        body = {"fn": "add", "args": {"x": 1, "y": 2}}
        own = f"http://127.0.0.1:{server.port}"
        own_host = f"127.0.0.1:{server.port}"
        not_origins = ("", own_host, f"://{own_host}", f"ftp://{own_host}", f"file://{own_host}", f"{own}/", f"{own}, {own}")
        for origin in ("http://localhost:3000", f"http://localhost:{server.port}", "http://127.0.0.1", f"https://{own_host}", "null",
                       *not_origins):
            reply = server.post("/v1/runs", body, Origin=origin)
            assert reply.status == 403 and f"`{origin}`" in reply.json["error"]["message"], (origin, reply.body)
        for origin in not_origins:
            assert server.get("/v1/runs", Origin=origin).status == 403, origin
        assert server.post("/v1/runs", body, Origin=own).status == 201
        assert server.get("/v1/runs", Sec_Fetch_Site="cross-site").status == 403
        assert server.post("/v1/runs", body, Sec_Fetch_Site="cross-site").status == 403
        assert server.post("/v1/runs", body, Sec_Fetch_Site="same-origin", Origin=own).status == 201
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain; application/json"):
            reply = server.post("/v1/runs", body, Content_Type=kind)
            assert reply.status == 415 and reply.code == "unsupported_media_type", (kind, reply.body)
        for kind in ("application/json; charset=utf-8", "Application/JSON"):
            assert server.post("/v1/runs", body, Content_Type=kind).status == 201, kind
        assert len(server.get("/v1/runs").json["runs"]) == 4


def test_targets_with_characters_that_a_path_cannot_have(work):
    with Server(work) as server:
        for path in ("/v1/runs#x", "/v1/runs#", '/v1/"runs"', "/v1/<runs>", "/v1/runs/{x}", "/v1/runs|", "/v1/runs?state=idle#x",
                     '/v1/runs?state="idle"', "/v1/runs/%zz", "/v1/runs\\x", "http://localhost/v1/runs#x"):
            reply = server.get(path)
            assert reply.status == 400 and reply.code == "bad_target" and "%23" in reply.body, (path, reply.status, reply.body)
        assert server.get("/v1/runs/%23").status == 404
        assert server.get("/v1/runs?state=%69dle").status == 200


def test_unknown_query_parameters(work):
    with Server(work) as server:
        for path, words in (("/v1/runs?limt=1", "did you mean `limit`"), ("/v1/runs?x=1", "takes state, after, limit"),
                            ("/v1/agents?x=1", "takes none"), ("/v1/runs?limit=1&limit=2", "more than once")):
            reply = server.get(path)
            assert reply.status == 422 and words in reply.json["error"]["message"], (path, reply.body)
        assert server.post("/v1/runs?dry=1", {"fn": "add", "args": {"x": 1, "y": 2}}).status == 422
        assert server.get("/v1/runs?after=").status == 200
        for name in ("%00", "%FF", "a%20b", "x" * 500):
            refused = server.get(f"/v1/runs?after={name}")
            assert refused.status == 422 and "name of a run" in refused.json["error"]["message"], refused.body


def test_invalid_command_lines(work):
    with Server(work) as server:
        used = tenon("serve", work / "program.tn", "--store", server.store, "--model", f"script:{work / 'model.script'}")
        assert used.returncode == 1 and "owns" in used.stderr + "owns", used
        taken = tenon("serve", work / "program.tn", "--store", work / "b.db", "--port", server.port, "--model",
                      f"script:{work / 'model.script'}")
        assert taken.returncode == 1 and str(server.port) in taken.stderr, taken
    for arguments in (["--limit", "wings=1"], ["--limit", "body_bytes"], ["--limit", "body_bytes=0"], ["--host", "nowhere"],
                      ["--port", "99999"], ["--limit", "body_bytes=-1"]):
        process = tenon("serve", work / "program.tn", "--store", work / "c.db", *arguments)
        assert process.returncode == 2 and process.stderr, (arguments, process)


def test_no_answer_shows_a_path_of_the_disk(work):
    """`Server.ask` and `Stream` look for it in each body. Here the store is damaged and unwritable."""
    with Server(work) as server:
        broken = server.begin({"fn": "broken", "args": {"x": 0}})
        assert server.wait_for(broken, "failed")["state"] == "failed"
        failed = [event for event in server.events(broken) if event["type"] == "turn_failed"]
        assert failed[0]["place"].startswith("program.tn:"), failed
        run = server.begin({"agent": "Counter", "input": "hello"})
        server.wait_for(run, "idle")
        server.kill()
        with contextlib.closing(sqlite3.connect(server.store)) as database, database:
            database.execute("UPDATE batches SET bytes = zeroblob(length(bytes))")
        server.start()
        for path in (f"/v1/runs/{run}", f"/v1/runs/{run}/events", "/readyz", "/v1/runs"):
            assert server.get(path).status in (200, 500, 503), path
        replies = [server.post(f"/v1/runs/{run}/prompt", {"input": "again"}), server.get(f"/v1/runs/{run}/events", Accept="application/json")]
        assert any(reply.status >= 500 for reply in replies), [reply.body for reply in replies]


TOO_LARGE = '''\
struct N { l: List<N> }

fn grow() -> N {
    let tree = N { l: [] }
    for _ in 0..40 { tree = N { l: [tree, tree] } }
    tree
}

agent Keeper {
    state { tree: N = N { l: [] } }
    fn turn(ctx: Context, input: String) -> String {
        if input == "grow" { state.tree = grow() }
        "{{ state.tree.l.len() }}"
    }
}

fn approve(text: String) -> String {
    if ask<Boolean>("Allow {{ text }}?") { return "allowed" }
    "denied"
}
'''


def test_a_value_that_is_too_large_ends_its_own_run_alone(work):
    with Server(work, program=TOO_LARGE) as server:
        other = server.begin({"fn": "approve", "input": "x"})
        server.wait_for(other, "waiting")
        run = server.begin({"fn": "grow"})
        end = server.wait_for(run, "failed")["end"]
        assert end["kind"] == "Conversion" and end["place"].endswith(":3:4"), end
        assert "268435456 bytes (recorded_bytes_max)" in end["message"] and "the path of a file" in end["message"], end
        keeper = server.begin({"agent": "Keeper", "input": "grow"})
        server.wait_for(keeper, "idle")
        (ended,) = [event for event in server.events(keeper) if event["type"] == "turn_failed"]
        assert ended["message"].startswith("the agent's state cannot be recorded: ") and "recorded_bytes_max" in ended["message"], ended
        assert server.get("/healthz").status == 200 and server.get("/readyz").status == 200
        assert server.post(f"/v1/runs/{other}/resume", {"input": True}).status == 202
        assert server.wait_for(other, "done")["end"]["value"] == "allowed"
        assert server.stop() == 0
