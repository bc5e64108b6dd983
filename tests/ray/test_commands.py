"""`tenon ray …` and `tenon serve --engine ray`, as people start them."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import chaos
import pytest
from conftest import PROGRAM, variables
from http_client import HttpClient

TENON = os.environ.get("TENON", "tenon")
SERVING = re.compile(r"tenon: serving at http://127\.0\.0\.1:(\d+)")
SECONDS_MAX = 120.0


class Command:
    """A command that serves until it is stopped."""

    def __init__(self, arguments, environment):
        self.process = subprocess.Popen([TENON, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, env={**os.environ, "TENON_PYTHON": sys.executable, **environment})
        self.lines = []
        self._reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True)
        self._reader.start()

    def text(self):
        return "".join(self.lines)

    def wait_for_port(self):
        chaos.wait_until(lambda: SERVING.search(self.text()) or self.process.poll() is not None, SECONDS_MAX)
        found = SERVING.search(self.text())
        assert found, self.text()
        return int(found.group(1))

    def stop(self):
        """Ctrl-C. Returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(SECONDS_MAX)
        self._reader.join(SECONDS_MAX)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()


def processes_with(text):
    """The processes that have a text in their environment."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if text.encode() in path.read_bytes():
                found.append((path.parent / "cmdline").read_bytes())
        except OSError:
            pass  # it has just ended
    return found


def run(*arguments, **environment):
    return subprocess.run([TENON, *arguments], capture_output=True, text=True, timeout=SECONDS_MAX, check=False,
                          env={**os.environ, "TENON_PYTHON": sys.executable, **environment})


def test_a_cluster_to_try_things_out(tmp_path, monkeypatch):
    """From one command to a run that survives the end of a node; Ctrl-C ends everything."""
    temporary = pathlib.Path(tempfile.mkdtemp(prefix="tenon-test-"))
    temporary.chmod(0o755)  # PostgreSQL's server is another user
    given = variables(TENON_TEST_LOG=str(tmp_path / "log"), TMPDIR=str(temporary))
    for name in [name for name in os.environ if name.startswith("RAY_")]:
        monkeypatch.delenv(name)  # those of another cluster
    with Command(["ray", "up", PROGRAM, "--nodes", "2", "--externs", "chaos_externs", "--port", "0"], given) as command:
        client = HttpClient(command.wait_for_port())
        assert {one["name"] for one in client.get("/v1/agents")[1]["agents"]} >= {"busy", "order"}
        chaos.wait_until(lambda: "Ctrl-C ends everything" in command.text())
        nodes = [int(pid) for pid in re.search(r"nodes: sessions ([\d, ]+)", command.text()).group(1).split(", ")]
        assert len(nodes) == 2
        names = [client.start("busy", {"run": f"run {number}", "steps": 40}) for number in range(6)]
        subprocess.run(["pkill", "-9", "-s", str(nodes[1])], check=True)
        for number, name in enumerate(names):
            end = list(client.events(name))[-1]
            expected = sum(chaos.chaos_externs.result_of_work(f"run {number}", step) for step in range(40))
            assert (end["type"], end["value"]) == ("turn_end", expected)
        assert processes_with(str(temporary)) != []  # those of the cluster are found by their folder
        assert command.stop() == 130, command.text()
    assert processes_with(str(temporary)) == []
    assert not [name for name in os.listdir(temporary) if name.startswith("tenon-")]
    shutil.rmtree(temporary)


def test_a_server_whose_runs_are_in_a_cluster(cluster, postgres, tmp_path):
    """The hosts outlive the server; `status` shows them, and `stop` ends them."""
    given = {**variables(TENON_TEST_LOG=str(tmp_path / "log")), **cluster.environment, "RAY_ADDRESS": cluster.address, "A_TOKEN": "secret"}
    store = postgres.new_url("tenon.lease=3000")
    arguments = ["serve", PROGRAM, "--engine", "ray", "--store", store, "--externs", "chaos_externs", "--port", "0", "--name", "served-here",
                 "--token-env", "A_TOKEN"]
    try:
        with Command(arguments, given) as command:
            port = command.wait_for_port()
            assert HttpClient(port).get("/v1/agents")[0] == 401
            client = HttpClient(port, "secret")
            name = client.start("busy", {"run": "one", "steps": 5})
            assert list(client.events(name))[-1]["type"] == "turn_end"
            asked = client.start("order", {"run": "two"})
            chaos.wait_until(lambda: client.get(f"/v1/runs/{asked}")[1]["state"] == "waiting")
            assert command.stop() == 130, command.text()
        shown = run("ray", "status", "--name", "served-here", **given)
        assert shown.returncode == 0, shown.stderr
        assert len(re.findall(r"^tenon-host-\S+ +\w+ +held", shown.stdout, re.MULTILINE)) == len(cluster.nodes), shown.stdout
        assert "runs: " in shown.stdout and "1 done" in shown.stdout and "1 waiting" in shown.stdout
        stopped = run("ray", "stop", "--name", "served-here", **given)
        assert stopped.returncode == 0, stopped.stderr
        gone = run("ray", "status", "--name", "served-here", **given)
        assert gone.returncode == 1 and "the cluster has no deployment `served-here`" in gone.stderr
        import ray

        assert not [one for one in ray.util.list_named_actors(all_namespaces=True) if one["namespace"] == "tenon-served-here"]
    finally:
        run("ray", "stop", "--name", "served-here", **given)


@pytest.mark.parametrize(("arguments", "message"), [
    (["ray", "up", "no_such.tn"], "there is no file `no_such.tn`"),
    (["serve", "--engine", "ray", PROGRAM, "--store", "runs.db"], "a store in PostgreSQL"),
    (["serve", "--engine", "ray", PROGRAM, "--store", "postgres:///x", "--token-env", "NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE is unset"),
])
def test_wrong_options(cluster, arguments, message):
    done = run(*arguments, **cluster.environment, RAY_ADDRESS=cluster.address)
    assert done.returncode == 2 and message in done.stderr, done.stderr
