"""The same program does the same on a store in a file, on one in PostgreSQL, and over Ray, where the run moves between actors."""
import same_externs
import tenon
import tenon.ray
from conftest import FOLDER, variables, with_two_nodes

PROGRAM = str(FOLDER / "same" / "desk.tn")
WAIT = 60.0
TIMES = ("time", "ms")


def answer(chat, value):
    assert chat.wait(WAIT) == "asks"
    chat.answer(chat.waits()[0], value)


def work(host):
    """Runs with calls of agents and of tools, a model, pauses for a person, a handoff, and a failure that is caught."""
    compared = host.start("compare", {"items": ["tea", "milk"]})
    compared.result(WAIT)
    chat = host.start("Desk", "tea")
    answer(chat, True)
    chat.result(WAIT)
    chat.prompt("milk")
    answer(chat, False)
    chat.result(WAIT)
    chat.prompt("complain")
    answer(chat, "the tea")
    chat.result(WAIT)
    return [compared.name, chat.name]


def described(host, run):
    """Its events, without what differs from run to run."""
    def same(value):
        if isinstance(value, dict):
            return {key: same(one) for key, one in value.items() if key not in TIMES}
        if isinstance(value, list):
            return [same(one) for one in value]
        return value.replace(run, "RUN") if isinstance(value, str) else value

    return [(event.type, same(event.data)) for event in host.follow_turn(run) if "number" in event.data]


def observed(host, store, others=()):
    """Events and hash of each run. Ends the hosts."""
    runs = work(host)
    events = [described(host, run) for run in runs]
    for one in (host, *others):
        one.shut_down(0.0) if isinstance(one, tenon.ray.Deployment) else one.stop(0.0)
    with tenon.load(PROGRAM, externs=same_externs, model=same_externs.model, store=store) as loaded:
        return events, [loaded.engine.core.artifacts(run, "hash") for run in runs]


def open_host(store, **options):
    return tenon.Host(PROGRAM, store=store, externs=same_externs, model=same_externs.model, **options)


def test_the_same_program_does_the_same_everywhere(shared_cluster, postgres, tmp_path):
    events, hashes = observed(open_host(tmp_path / "runs.db"), tmp_path / "runs.db")
    kinds = {kind for run in events for kind, _ in run}
    assert {"agent_call", "tool_call", "tool_error", "generation_finished", "wait_for_input", "resume_with_input", "handoff",
            "state_changed", "turn_end"} <= kinds, kinds
    store = postgres.new_url()
    assert observed(open_host(store), store, [open_host(store, agent="Pricer")]) == (events, hashes)
    with_two_nodes(shared_cluster)
    store = postgres.new_url()
    deployment = tenon.ray.deploy(PROGRAM, store=store, externs="same_externs", model=same_externs.model, name="same", hosts_per_node=1,
                                  runtime_env={"env_vars": variables()})
    deployment.wait_until_ready(3)
    assert observed(deployment, store) == (events, hashes)
