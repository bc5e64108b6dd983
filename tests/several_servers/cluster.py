"""Servers that share a PostgreSQL store, their runs, and what their externs have done."""
import collections
import json
import os
import pathlib
import re
import threading
import time

from postgres_process import PostgresProcess
from server_process import SECONDS_MAX, Server, Stream
from tenon_process import ROOT, tenon

FOLDER = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("TENON_BUILD", str(ROOT / "build" / "release")))
LIBRARY = BUILD / "tests" / "several_servers" / "libcalls.so"
LEASE_MS = 20_000  # a busy machine is not taken for a dead one
SHORT_LEASE_MS = 1_000  # where a test waits until a lease is over
SCRIPT = 'tell when "owls" => "Owls fly at night, and hear very well."\n* => "hello"\n'
NUMBERS = iter(range(1, 1_000_000))
PROCESSES = []


def database():
    """The database server that most tests share, until `close_database`."""
    if not PROCESSES:
        PROCESSES.append(PostgresProcess(safe=True))
    return PROCESSES[0]


def close_database():
    while PROCESSES:
        PROCESSES.pop().close()


class Cluster:
    """A store of its own and the servers on it. `postgres`: another database server than the shared one."""

    def __init__(self, work, postgres=None, lease_ms=LEASE_MS):
        self.work = work
        self.postgres = postgres or database()
        self.name = f"cluster{next(NUMBERS)}"
        self.postgres.create_database(self.name)
        self.lease_ms = lease_ms
        self.url = self.url_through()
        self.calls = work / "calls"
        self.servers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.__exit__()

    def url_through(self, folder=None):
        """`folder`: that of another socket than the database's."""
        host = folder or self.postgres.folder
        return f"postgres://tenon@/{self.name}?host={host}&tenon.lease={self.lease_ms}"

    def server(self, name, *options, url=None, environment=None, **settings):
        """Starts one; `name` is what its externs write down."""
        folder = self.work / name
        folder.mkdir()
        (folder / "tenon.toml").write_text((FOLDER / "tenon.toml").read_text())
        variables = {"TENON_TEST_WHO": name, "TENON_TEST_CALLS": str(self.calls), **(environment or {})}
        libraries = () if "--gateway" in options else ("--extern", LIBRARY)
        server = Server(folder, *libraries, *options, environment=variables, program=(FOLDER / "desk.tn").read_text(), script=SCRIPT,
                        store=url or self.url, **settings)
        self.servers.append(server)
        return server

    def performed(self, function):
        """How often each call of the function was performed, by its key."""
        if not self.calls.exists():
            return collections.Counter()
        lines = [line.split(" ") for line in self.calls.read_text().splitlines()]
        return collections.Counter(line[1] for line in lines if line[0] == function)

    def times_of_calls(self):
        """When each call began to be performed, in milliseconds, by its key: several times if it was cut off."""
        times = collections.defaultdict(list)
        if self.calls.exists():
            for line in self.calls.read_text().splitlines():
                _, key, _, when = line.split(" ")
                times[key].append(int(when))
        return times

    def query(self, text):
        return self.postgres.query(f"SET search_path = tenon; {text}", self.name)[1:]

    def hash_of(self, run):
        shown = tenon("trace", "hash", run, "--store", self.url)
        assert shown.returncode == 0, shown.stderr
        return shown.stdout.strip()

    def check(self):
        """The store has no damage, and no call that may only be made once was made twice."""
        checked = tenon("store", "check", "--store", self.url)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        twice = {key: count for key, count in self.performed("charge").items() if count > 1}
        assert not twice, f"made twice: {twice}"


def retry(ask):
    """Asks until there is an answer: a server may be down, or its store out of reach for a while."""
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        try:
            return ask()
        except (OSError, AssertionError, RuntimeError, ValueError) as error:
            if time.monotonic() > deadline:
                raise AssertionError(f"still: {error!r}") from error
            time.sleep(0.05)


class Work:
    """Runs of `work` that are disturbed, and clients that follow them. Afterwards everything must be as in an undisturbed run."""

    steps = 120

    def __init__(self, cluster, servers, count):
        self.cluster, self.servers = cluster, servers
        quiet = self._begin(0, "quiet")
        self.expected_value = self._wait(quiet)["end"]["value"]
        self.expected_hash = cluster.hash_of(quiet)
        assert self.expected_value == work_value(self.steps)
        self.runs = [self._begin(number, f"disturbed-{number}") for number in range(count)]
        self.followers = [Follower([*servers[at % len(servers):], *servers[:at % len(servers)]], run) for at, run in enumerate(self.runs)]
        for follower in self.followers:
            follower.start()

    def _begin(self, at, key):
        numbers = iter(range(at, 1_000_000))
        return retry(lambda: self.servers[next(numbers) % len(self.servers)].begin(
            {"fn": "work", "args": {"count": self.steps}}, Idempotency_Key=key))

    def state(self, run):
        numbers = iter(range(1_000_000))
        return retry(lambda: self.servers[next(numbers) % len(self.servers)].run(run))

    def _wait(self, run):
        deadline = time.monotonic() + 2 * SECONDS_MAX
        while True:
            shown = self.state(run)
            if shown["state"] == "done":
                return shown
            assert shown["state"] in ("running", "waiting"), shown
            self._answer(shown)
            assert time.monotonic() < deadline, f"the run does not end: {shown}"
            time.sleep(0.05)

    def _answer(self, shown):
        """A charge that was cut off is answered as it was: by the calls that were written down."""
        for wait in shown["waits"] if "waits" in shown else []:
            number = int(re.match(r"Did `charge\((\d+)\)` happen\?", wait["question"])[1])
            made = self.cluster.performed("charge")[f"{shown['run']}/{wait['wait']}"]
            answer = {"wait": wait["wait"], "input": {"value": number * 3} if made else {"retry": True}}
            for server in self.servers:
                try:
                    server.post(f"/v1/runs/{shown['run']}/resume", answer)
                    break
                except OSError:
                    pass  # it is down; if all are, the next round answers

    def progress(self):
        """How many records the runs have. Those that wait for a person get their answer."""
        states = [self.state(run) for run in self.runs]
        for shown in states:
            self._answer(shown)
        return sum(shown["records"] for shown in states)

    def finish(self):
        """Waits for all runs, and compares them with the undisturbed one."""
        for run in self.runs:
            assert self._wait(run)["end"]["value"] == self.expected_value
        hashes = {self.cluster.hash_of(run) for run in self.runs}
        assert hashes == {self.expected_hash}, hashes
        for follower in self.followers:
            follower.check()
        self._check_effects()
        self.cluster.check()

    def _check_effects(self):
        """No call was made after its outcome had been recorded: one that was made again had been cut off before."""
        times = self.cluster.times_of_calls()
        recorded = 0
        for run in self.runs:
            for event in retry(lambda run=run: self.servers[0].events(run)):
                if event["type"] != "tool_result" or event["tool"] not in ("step", "charge"):
                    continue
                made = times[f"{run}/{event['call']}"]
                recorded += 1
                assert made and max(made) <= event["time"], f"{run}/{event['call']} was made at {made}, and recorded at {event['time']}"
        assert recorded >= len(self.runs) * self.steps, f"only {recorded} calls were recorded"


def work_value(steps):
    out = []
    for n in range(steps):
        out.append(2 * n)
        if n % 4 == 1:
            out.append(3 * n)
    return out + [200, 202, 204]


class Follower(threading.Thread):
    """A client that reads the events of a run as they come, from whichever server answers, and continues after the last number that it
    has."""

    def __init__(self, servers, run):
        super().__init__(daemon=True)
        self.servers, self.followed = servers, run
        self.numbers, self.has_ended, self.connections = [], False, 0

    def run(self):
        deadline = time.monotonic() + 2 * SECONDS_MAX
        while not self.has_ended and time.monotonic() < deadline:
            server = self.servers[self.connections % len(self.servers)]
            self.connections += 1
            try:
                self._read(server)
            except (OSError, AssertionError, ValueError):
                time.sleep(0.05)

    def _read(self, server):
        stream = Stream(server, "GET", f"/v1/runs/{self.followed}/events?after={self.numbers[-1] if self.numbers else 0}")
        stream.socket.settimeout(2)  # of a server that was stopped
        try:
            for number, data in stream:
                self.numbers += [] if number is None else [number]
                event = json.loads(data)
                if event["type"] == "turn_end" and event["depth"] == 0:
                    self.has_ended = True
                    return
        finally:
            stream.close()

    def check(self):
        """Each event was received, in order and once."""
        self.join(SECONDS_MAX)
        all_events = retry(lambda: self.servers[0].events(self.followed))
        expected = [event["number"] for event in all_events]
        assert self.has_ended and self.numbers == expected, f"{self.followed}: {self.numbers} where there are {expected}"
