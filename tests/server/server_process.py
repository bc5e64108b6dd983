"""A `tenon serve` for a single test: a real process on a free local port."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

from tenon_process import ROOT, TENON, read_json

PROGRAM = '''\
/// Adds two numbers.
fn add(x: i32, y: i32) -> i32 { x + y }

fn approve(ctx: Context, text: String) -> String {
    let allowed = ask<Boolean>("Allow {{ text }}?")
    if allowed { return "allowed" }
    "denied"
}

fn two(ctx: Context) -> i32 {
    let both = parallel {
        a = ask<i32>("First?"),
        b = ask<i32>("Second?"),
    }
    both.a + both.b
}

fn pick(ctx: Context) -> String {
    let mood = ask<"good" | "bad">("Mood?")
    "so {{ mood }}"
}

fn tell(ctx: Context, text: String) -> String {
    "Tell about:"!
    text!
}

fn nap(ms: i64) -> String {
    sleep(ms)
    "woke"
}

fn steps(count: i32) -> i32 {
    let done = 0
    while done < count {
        sleep(4)
        done = done + 1
    }
    done
}

fn clock(count: i32) -> i32 {
    let done = 0
    while done < count {
        let t = now()
        done = done + 1
    }
    done
}

fn broken(x: i32) -> i32 { 10 / x }

/// Counts its turns.
agent Counter {
    state { n: i32 = 0 }
    instructions { "You count."! }
    fn turn(ctx: Context, input: String) -> String {
        state.n = state.n + 1
        if input == "ask" {
            let many = ask<i32>("How many?")
            return "you said {{ many }}"
        }
        if input == "child" { return Child::run("hello") }
        if input == "fail" { return "{{ 1 / (state.n - state.n) }}" }
        return "turn {{ state.n }}: {{ input }}"
    }
}

agent Child {
    fn turn(ctx: Context, input: String) -> String {
        let said = ask<String>("Child asks?")
        return "child got {{ said }}"
    }
}
'''
SCRIPT = 'tell when "owls" => "Owls fly."\n* => "hello"\n'
SECONDS_MAX = 60
# What makes the store of a server whose test does not say where it is, from the test's folder; the default is a file in that folder.
STORE_MAKERS = []


def json_headers(data, headers):
    """The headers of a request, with the type of a body unless they name one."""
    headers = dict(headers or {})
    if data is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/json"
    return headers


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return read_json(self.body)

    @property
    def code(self):
        return self.json["error"]["code"]


class Server:
    """Starts on construction; ends with `stop` (SIGTERM), `kill` (SIGKILL), or at the end of its `with`. `found`: the match of what it
    printed when it was ready."""

    subcommand = "serve"
    announcement = r"serving at http://\S+:(\d+)$"
    announces_on_stdout = False

    def __init__(self, work, *options, environment=None, program=PROGRAM, script=SCRIPT, model="script:model.script",
                 store=None, returns_paths=False, names_store=True):
        if STORE_MAKERS and not store and names_store:
            store = STORE_MAKERS[-1](work)
        self.work = work
        self.hidden = str(work)  # must not be in any answer
        self.returns_paths = returns_paths  # the program's own values have paths
        # A power cut is not tested: tests that kill processes need not wait for the disk.
        self.options = [str(option) for option in options] + ([] if store else ["--durability", "process"])
        self.model = model
        self.environment = dict(os.environ, **(environment or {}))
        (work / "program.tn").write_text(program)
        (work / "model.script").write_text(script)
        # Servers of one store have to name their programs alike.
        self.program = "program.tn" if store else str(work / "program.tn")
        self.store = store or work / "store.db"
        self.names_store = names_store
        self.process = None
        self.found = None
        self.port = 0
        self.output = []
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()

    def start(self):
        store = ["--store", str(self.store)] if self.names_store else []
        command = [os.path.abspath(TENON), self.subcommand, self.program, "--port", "0", *store, "--model", self.model, *self.options]
        stdout = subprocess.PIPE if self.announces_on_stdout else subprocess.DEVNULL
        self.process = subprocess.Popen(command, cwd=self.work, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True,
                                        env=self.environment)
        lines = self.process.stdout if self.announces_on_stdout else self.process.stderr
        printed = ""
        self.found = None
        while not self.found:
            line = lines.readline()
            printed += line
            if not line:
                raise AssertionError(f"the server did not start: {printed}{self.process.stderr.read()}")
            self.found = re.search(self.announcement, line.rstrip())
        self.port = int(self.found.group(1))
        self.output = []
        threading.Thread(target=self._read_errors, args=(self.process,), daemon=True).start()

    def _read_errors(self, process):
        for line in process.stderr:
            self.output.append(line)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(SECONDS_MAX)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS_MAX)

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
        try:
            data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
            connection.request(method, path, data, json_headers(data, headers))
            response = connection.getresponse()
            reply = Reply(response.status, response.headers, response.read().decode())
            assert self.returns_paths or self.hidden not in reply.body, f"a path of the server's disk: {reply.body}"
            return reply
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, None, {name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path, body=None, **headers):
        return self.ask("POST", path, {} if body is None else body,
                        {name.replace("_", "-"): value for name, value in headers.items()})

    def begin(self, body, **headers):
        reply = self.post("/v1/runs", body, **headers)
        assert reply.status == 201, (reply.status, reply.body)
        return reply.json["run"]

    def read(self, path):
        """The JSON of a reply; asks again, as the server says, while the store's own server does not reply in a second."""
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            reply = self.get(path, Accept="application/json")
            is_out_of_reach = reply.status == 503 and "the store's server cannot be reached; try again" in reply.body
            if not is_out_of_reach or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        assert reply.status == 200, reply.body
        return reply.json

    def run(self, run):
        return self.read(f"/v1/runs/{run}")

    def wait_for(self, run, *states):
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            shown = self.run(run)
            if shown["state"] in states:
                return shown
            time.sleep(0.01)
        raise AssertionError(f"run {run} is {shown['state']} and not {states}")

    def wait_until_asked(self, run, question):
        """The run's open questions, once this is one of them."""
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            waits = self.run(run).get("waits", [])
            if any(wait["question"] == question for wait in waits):
                return waits
            time.sleep(0.01)
        raise AssertionError(f"run {run} does not ask `{question}`: {self.run(run)}")

    def events(self, run, after=0):
        return self.read(f"/v1/runs/{run}/events?after={after}")

    def metric(self, name):
        for line in self.get("/metrics").body.splitlines():
            if line.startswith(f"tenon_{name} "):
                return int(line.split()[1])
        raise AssertionError(f"there is no metric {name}")


class Stream:
    """A stream of server-sent events, read as it arrives."""

    def __init__(self, server, method, path, body=None, headers=None, receive_bytes=None):
        self.hidden = server.hidden
        self.returns_paths = server.returns_paths
        self.socket = socket.socket()
        if receive_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(SECONDS_MAX)
        self.socket.connect(("127.0.0.1", server.port))
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port)
        self.connection.sock = self.socket
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, json_headers(data, headers))
        self.response = None

    def open(self):
        """Waits for the head of the response: from then on the server misses no event and no piece."""
        if self.response is None:
            self.response = self.connection.getresponse()
            assert self.response.status == 200, (self.response.status, self.response.read())
        return self

    def __iter__(self):
        """Pairs of id (or None) and data; fails when for SECONDS_MAX nothing but heartbeats has come."""
        self.open()
        number, data = None, None
        last = time.monotonic()
        while True:
            try:
                line = self.response.readline()
            except TimeoutError as error:
                raise AssertionError(f"no event for {SECONDS_MAX} s") from error
            except (http.client.HTTPException, OSError):
                return
            if not line:
                return
            assert time.monotonic() - last < SECONDS_MAX, f"no event for {SECONDS_MAX} s"
            text = line.decode().rstrip("\n")
            assert self.returns_paths or self.hidden not in text, f"a path of the server's disk: {text}"
            if text.startswith("id: "):
                number = int(text[4:])
            elif text.startswith("data: "):
                data = text[6:]
            elif text == "" and data is not None:
                if data.startswith("{"):
                    read_json(data)
                yield number, data
                number, data = None, None
                last = time.monotonic()

    def close(self):
        self.socket.close()


def events_of(server, run, after=None, last=None):
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    path = f"/v1/runs/{run}/events" + ("" if after is None else f"?after={after}")
    return Stream(server, "GET", path, headers=headers)


__all__ = ["ROOT", "PROGRAM", "SECONDS_MAX", "Server", "Stream", "events_of"]
