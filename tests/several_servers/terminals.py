"""Commands at a terminal for runs of a store that servers use, from a folder and an environment that have nothing of the servers."""
import os

from cluster import Cluster, retry
from tenon_process import tenon

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
