"""Commands at a terminal for runs of a store that servers use, from a folder and an environment that have nothing of the servers."""
import concurrent.futures
import os
import signal
import subprocess
import time

from cluster import SECONDS_MAX, Cluster, retry
from tenon_process import TENON, read_until, tenon

MODEL = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "none"}


def at_a_terminal(work, *words, **options):
    """A command in an empty folder, without the variables and files of the servers."""
    elsewhere = work / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    assert not [name for name in os.environ if name.startswith("OPENAI")]
    return tenon(*words, cwd=elsewhere, **options)


def expect(command, code, text):
    assert command.returncode == code and text in command.stderr, (command.returncode, command.stdout, command.stderr)


def left_alone(server, run, state="waiting"):
    """The run is in this state, and no process has it."""
    server.wait_for(run, state)
    server.kill()
    server.start()


def await_owner(cluster, run, role):
    """Until the run's owner is known to live and has this role, or there is none."""
    deadline = time.monotonic() + SECONDS_MAX
    owners = "SELECT o.role FROM runs AS r JOIN owners AS o ON o.id = r.owner AND o.dead_at IS NULL"
    while (found := cluster.query(f"{owners} WHERE r.name = '{run}'")) != role:
        assert time.monotonic() < deadline, f"the run's owner has the role {found}"
        time.sleep(0.02)


def test_answers_need_nothing_of_the_server(work):
    with Cluster(work) as cluster:
        server = cluster.server("server", model="openai:m", environment=MODEL)
        store = ("--store", cluster.url)
        run = server.begin({"fn": "ask_where"})
        server.wait_for(run, "waiting")
        expect(at_a_terminal(work, "resume", run, *store), 1, f"run {run}: another process continues it")
        expect(at_a_terminal(work, "resume", run, *store, "--input", "maybe"), 2, "expected yes or no")
        expect(at_a_terminal(work, "resume", run, *store, "--input", "true"), 0, "accepted by the process that owns the run")
        assert server.wait_for(run, "done")["end"]["value"] == "true at server"
        run = server.begin({"fn": "ask_where"})
        left_alone(server, run)
        answered = retry(lambda: at_a_terminal(work, "resume", run, *store, "--input", "true"))
        expect(answered, 0, "accepted by a server of the store")
        assert server.wait_for(run, "done")["end"]["value"] == "true at server"
        expect(at_a_terminal(work, "resume", run, *store), 0, "")  # its end needs nothing either


def test_a_run_that_is_cancelled_is_cleaned_up_by_a_server(work):
    with Cluster(work) as cluster:
        server = cluster.server("server", model="openai:m", environment=MODEL)
        run = server.begin({"fn": "ask_and_clean"})
        left_alone(server, run)
        expect(at_a_terminal(work, "cancel", run, "--store", cluster.url), 0, "accepted by a server of the store")
        server.wait_for(run, "cancelled")
        assert sum(cluster.performed("step").values()) == 1


def test_options_for_this_process_keep_a_run_at_the_terminal(work):
    with Cluster(work) as cluster:
        server = cluster.server("server", model="openai:m", environment=MODEL)
        run = server.begin({"fn": "approve", "input": "cake"})
        left_alone(server, run)
        (work / "other.script").write_text('* => "hello"\n')
        here = at_a_terminal(work, "resume", run, "--store", cluster.url, "--input", "true", "--model", f"script:{work / 'other.script'}")
        assert (here.returncode, here.stdout) == (0, "allowed\n"), here.stderr
        run = server.begin({"fn": "ask_where"})
        server.wait_for(run, "waiting")
        server.stop()
        alone = at_a_terminal(work, "resume", run, "--store", cluster.url, "--input", "true")  # no other process is there
        expect(alone, 1, "requires an API key")


def test_a_run_that_has_ended_is_forgotten_while_its_server_lives(work):
    with Cluster(work) as cluster:
        server = cluster.server("server")
        done, open_one = server.begin({"fn": "tell", "input": "cake"}), server.begin({"fn": "approve", "input": "cake"})
        server.wait_for(done, "done")
        server.wait_for(open_one, "waiting")
        expect(at_a_terminal(work, "store", "forget", done, "--store", cluster.url), 0, "")
        server.wait_for(done, "forgotten")
        expect(at_a_terminal(work, "store", "forget", open_one, "--store", cluster.url), 1, "cancel it first")
        assert server.post(f"/v1/runs/{open_one}/cancel", {}).status == 202
        server.wait_for(open_one, "cancelled")
        expect(at_a_terminal(work, "store", "forget", open_one, "--store", cluster.url), 0, "")
        cluster.check()


def test_a_fork_is_continued_by_the_terminal_that_asks_for_it(work):
    with Cluster(work) as cluster:
        server = cluster.server("server")
        run = server.begin({"fn": "tell", "input": "cake"})
        server.wait_for(run, "done")
        (work / "other.script").write_text('* => "hello"\n')
        words = ("fork", run, "--at", "1", "--store", cluster.url, "--model", f"script:{work / 'other.script'}")
        for _ in range(5):  # the server would take a run that has no owner for a moment
            forked = at_a_terminal(work, *words)
            assert (forked.returncode, forked.stdout) == (0, "hello\n"), forked.stderr


def test_a_terminal_continues_a_run_whose_server_dies_meanwhile(work):
    with Cluster(work) as cluster:
        server = cluster.server("server")
        answered, cancelled = server.begin({"fn": "approve", "input": "cake"}), server.begin({"fn": "approve", "input": "pie"})
        for run in (answered, cancelled):
            server.wait_for(run, "waiting")
        os.kill(server.process.pid, signal.SIGSTOP)
        (work / "other.script").write_text('* => "hello"\n')
        options = ("--store", cluster.url, "--model", f"script:{work / 'other.script'}")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            here = pool.submit(at_a_terminal, work, "resume", answered, *options, "--input", "true")
            cancel = pool.submit(at_a_terminal, work, "cancel", cancelled, "--store", cluster.url)
            await_commands(cluster, 2)
            server.kill()
            assert (here.result().returncode, here.result().stdout) == (0, "allowed\n"), here.result()
            expect(cancel.result(), 0, "")
        states = {run: state for run, state in cluster.query("SELECT name, state FROM runs")}
        assert await_commands(cluster, 0) is None and states[cancelled] != states[answered], states


def await_commands(cluster, count):
    """Until so many commands are left in the store's inbox."""
    deadline = time.monotonic() + SECONDS_MAX
    while (found := cluster.query("SELECT count(*) FROM inbox")) != [[str(count)]]:
        assert time.monotonic() < deadline, f"{found} commands are left"
        time.sleep(0.02)


def chat_at_a_terminal(work, run, store, lines):
    return at_a_terminal(work, "chat", "--run", run, "--store", store, stdin=None, input=lines)


def test_a_conversation_of_a_server_continues_at_a_terminal(work):
    with Cluster(work) as cluster:
        server = cluster.server("server", model="openai:m", environment=MODEL)
        said = server.post("/v1/chat/completions", {"model": "Counter", "conversation": "ann", "messages": [{"role": "user", "content": "x"}]})
        assert said.json["choices"][0]["message"]["content"] == "1: x", said.body
        (shown,) = server.get("/v1/runs").json["runs"]
        talk = chat_at_a_terminal(work, shown["run"], cluster.url, "hello\nthere\n")
        assert (talk.returncode, talk.stdout) == (0, "2: hello\n3: there\n"), (talk.stdout, talk.stderr)
        left_alone(server, shown["run"], "idle")
        talk = chat_at_a_terminal(work, shown["run"], cluster.url, "again\n")
        assert (talk.returncode, talk.stdout) == (0, "4: again\n"), (talk.stdout, talk.stderr)
        said = server.post("/v1/chat/completions", {"model": "Counter", "conversation": "ann", "messages": [{"role": "user", "content": "y"}]})
        assert said.json["choices"][0]["message"]["content"] == "5: y", said.body


def test_questions_of_a_servers_conversation_are_answered_at_a_terminal(work):
    with Cluster(work) as cluster:
        server = cluster.server("server", model="openai:m", environment=MODEL)
        run = server.begin({"agent": "Asker"})
        server.wait_for(run, "idle")
        talk = chat_at_a_terminal(work, run, cluster.url, "cake\nperhaps\ntrue\n")
        assert talk.returncode == 0 and talk.stdout.endswith("cake: true\n") and "Really cake?" in talk.stdout, (talk.stdout, talk.stderr)
        assert "expected yes or no" in talk.stderr, talk.stderr


def test_a_conversation_that_a_terminal_has_open_takes_prompts_of_others(work):
    with Cluster(work) as cluster:
        server = cluster.server("server", model="openai:m", environment=MODEL)
        run = server.begin({"agent": "Asker"})
        left_alone(server, run, "idle")
        await_owner(cluster, run, [])
        elsewhere = work / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "other.script").write_text('* => "hello"\n')
        command = [TENON, "chat", "--run", run, "--store", cluster.url, "--model", "script:other.script"]
        terminal = subprocess.Popen(command, cwd=elsewhere, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            await_owner(cluster, run, [["0"]])  # the terminal
            assert server.post(f"/v1/runs/{run}/prompt", {"input": "cake"}).status == 202
            read_until(terminal, "Really cake? (yes or no): ")
            assert server.post(f"/v1/runs/{run}/prompt", {"input": "pie"}).status == 409, "a turn is in progress"
            assert server.post(f"/v1/runs/{run}/resume", {"input": True}).status == 202
            assert terminal.stdout.readline() == "cake: true\n"
            refused = server.post(f"/v1/runs/{run}/cancel", {})
            assert refused.status == 409 and "no turn is in progress" in refused.body, refused.body
            assert server.post(f"/v1/runs/{run}/cancel", {"conversation": True}).status == 202
            assert terminal.wait(SECONDS_MAX) == 1  # at its prompt
            assert "the run was cancelled" in terminal.stderr.read()
        finally:
            terminal.kill()
            terminal.communicate()
