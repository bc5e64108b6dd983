"""The proxy between a client and the model. It counts calls and tokens for each run and forwards everything else.

A client's base URL is `http://127.0.0.1:PORT/MODEL/RUN/v1`. MODEL is `embedded` (forwarded to the server of the embedded model) or
`scripted` (answered here). The counts are the server's own `usage`; for scripted answers they are computed afterwards with the embedded
model's template and tokens, outside the measured time.

Each request of a run gets the seed (run's seed, number of the request), whatever the client sent. So both clients have the same luck, and a
client that sends the same seed with each attempt does not get the same answer again.
"""
import collections
import dataclasses
import hashlib
import http.client
import http.server
import json
import re
import threading
import time

from tools_by_schema import from_schema, to_schema

BODY_BYTES_MAX = 32 << 20
SECONDS_MAX = 300
PATH = re.compile(r"/(embedded|scripted)/([\w.-]+)/v1/chat/completions")


@dataclasses.dataclass
class Counts:
    """The counts of one run. `model_s`: seconds that the model worked; simultaneous requests count separately."""

    seed: int
    task: str
    calls: int = 0
    refused: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    model_s: float = 0.0
    exchanges: list = dataclasses.field(default_factory=list)
    # Number of answers of each kind that the scripted model has given.
    kinds: collections.Counter = dataclasses.field(default_factory=collections.Counter)


def seed_of_request(seed, number):
    digest = hashlib.sha256(f"{seed} {number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


class CountingProxy:
    def __init__(self, upstream_port, script, keep_exchanges=False):
        """`script(run, request)` returns the message of a scripted answer; it is called once at a time for each run."""
        self.upstream_port = upstream_port
        self.script = script
        self.keep_exchanges = keep_exchanges
        self.runs = {}
        self.lock = threading.Lock()
        self.local = threading.local()
        handler = type("BoundHandler", (Handler,), {"proxy": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *unused):
        self.server.shutdown()
        self.server.server_close()

    def open_run(self, model, name, task, seed):
        """Returns the base URL of a new run."""
        with self.lock:
            self.runs[name] = Counts(seed=seed, task=task)
        return f"http://127.0.0.1:{self.port}/{model}/{name}/v1"

    def close_run(self, name):
        with self.lock:
            return self.runs.pop(name)

    def upstream(self):
        """Returns this thread's connection to the server."""
        if getattr(self.local, "connection", None) is None:
            self.local.connection = http.client.HTTPConnection("127.0.0.1", self.upstream_port, timeout=SECONDS_MAX)
        return self.local.connection

    def drop_upstream(self):
        if getattr(self.local, "connection", None) is not None:
            self.local.connection.close()
        self.local.connection = None


class Handler(http.server.BaseHTTPRequestHandler):
    proxy = None
    protocol_version = "HTTP/1.1"
    # Header and body go out in one segment, without waiting for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *unused):
        pass

    def send_json(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, words):
        self.send_json(status, json.dumps({"error": {"message": words, "type": "invalid_request_error"}}).encode())

    def do_POST(self):
        where = PATH.fullmatch(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(min(length, BODY_BYTES_MAX))
        with self.proxy.lock:
            run = self.proxy.runs.get(where[2]) if where else None
            if run:
                run.calls += 1
                number = run.calls
        if not run or length > BODY_BYTES_MAX:
            self.close_connection = True
            self.refuse(404, f"no run has the path {self.path}")
            return
        request = json.loads(body)
        request["seed"] = seed_of_request(run.seed, number)
        begin = time.perf_counter()
        if where[1] == "scripted":
            self.answer_scripted(run, number, request)
        else:
            self.pass_on(run, request)
        with self.proxy.lock:
            run.model_s += time.perf_counter() - begin

    def script_once(self, run, request):
        with self.proxy.lock:
            return self.proxy.script(run, request)

    def answer_scripted(self, run, number, request):
        message = {"role": "assistant", "content": None, **self.script_once(run, request)}
        reply = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 0, "model": request.get("model", "scripted"),
                 "choices": [{"index": 0, "message": message, "logprobs": None,
                              "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}],
                 "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}
        with self.proxy.lock:
            run.exchanges.append((request, message))
        if request.get("stream"):
            self.refuse(400, "the scripted model does not stream")
            return
        self.send_json(200, json.dumps(reply).encode())

    def pass_on(self, run, request):
        """Streams a reply as it arrives, unless it may be a tool call, which is assembled here."""
        asked = to_schema(request)
        streamed = bool(request.get("stream")) and not request.get("tools")
        if streamed:
            asked["stream_options"] = {"include_usage": True}
        connection = self.proxy.upstream()
        usage, text = None, b""
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(asked).encode(), {"Content-Type": "application/json"})
            reply = connection.getresponse()
            if streamed and reply.status == 200:
                usage, text = self.relay(reply)
            else:
                text = reply.read()
                if reply.status == 200:
                    whole = from_schema(request, json.loads(text))
                    usage, text = whole["usage"], json.dumps(whole).encode()
                self.send_json(reply.status, text)
        except (OSError, http.client.HTTPException):
            self.proxy.drop_upstream()
            self.close_connection = True
            self.refuse(502, "the model's server does not answer")
        with self.proxy.lock:
            if usage is None:
                run.refused += 1
            else:
                run.prompt_tokens += usage["prompt_tokens"]
                run.completion_tokens += usage["completion_tokens"]
                run.cached_tokens += (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
            if self.proxy.keep_exchanges:
                run.exchanges.append((asked, text.decode(errors="replace")))

    def relay(self, reply):
        """Forwards server-sent events as they arrive; the last one with a usage contains the counts."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        usage, lines = None, []
        while line := reply.readline():
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.flush()
            lines.append(line)
            if line.startswith(b"data: {"):
                usage = json.loads(line[6:]).get("usage") or usage
        self.wfile.write(b"0\r\n\r\n")
        return usage, b"".join(lines)
