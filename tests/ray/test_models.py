"""Models in actors that hosts share."""
import os
import signal

import chaos
import pytest
import shared_models
import tenon.ray
from conftest import FOLDER, alive_nodes, variables, with_two_nodes

WAIT = 60.0


def deploy(postgres, make, log, **options):
    from tenon.ray import SharedModel

    deployment = tenon.ray.deploy(str(FOLDER / "asking.tn"), store=postgres.new_url("tenon.lease=3000"), name=f"model-{make.__name__}",
                                  model=SharedModel(make, **options), hosts_per_node=2,
                                  runtime_env={"env_vars": variables(TENON_TEST_LOG=str(log))})
    deployment.wait_until_ready(2 * len(alive_nodes()))
    return deployment


@pytest.fixture(scope="module")
def streaming(shared_cluster, postgres, tmp_path_factory):
    """A deployment with a model on each node, and the file where the model notes what it does."""
    with_two_nodes(shared_cluster)
    log = tmp_path_factory.mktemp("streaming") / "log"
    made = deploy(postgres, shared_models.make_streaming, log)
    yield made, log
    made.shut_down(0.0)
    assert names_of(made) == []


@pytest.fixture
def batching(cluster, postgres, tmp_path):
    """A deployment with one model, which answers several requests at once."""
    made = deploy(postgres, shared_models.make_batching, tmp_path / "log", actors=1, batch=8)
    yield made
    made.shut_down(0.0)
    assert names_of(made) == []


def names_of(deployment):
    from tenon.ray._controller import model_names

    return model_names(deployment.spec.namespace)


def test_hosts_of_a_node_share_a_model(streaming):
    deployment, _ = streaming
    assert len(names_of(deployment)) == len(alive_nodes()) < len(deployment.hosts())
    runs = [deployment.start("greet", {"name": f"person {number}"}) for number in range(20)]
    pids = {int(run.result(WAIT).removeprefix("Hello from ")) for run in runs}
    assert 1 <= len(pids) <= len(alive_nodes())
    assert not pids & {host["pid"] for host in deployment.hosts()}
    streamed = deployment.start("greet", {"name": "another"})
    assert [event.data["text"] for event in streamed.events() if event.type == "text_delta"][:2] == ["Hello ", "from "]


def test_a_model_that_is_killed_is_waited_for_and_an_answer_is_cancelled_with_its_run(streaming):
    deployment, log = streaming

    def begun():
        return [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("begun")] if log.exists() else []

    slow = deployment.start("greet", {"name": "slow"})
    chaos.wait_until(begun)
    killed = begun()[0]
    os.kill(killed, signal.SIGKILL)
    runs = [deployment.start("greet", {"name": f"another {number}"}) for number in range(8)]
    answered = {run.result(WAIT) for run in runs}
    assert answered and f"Hello from {killed}" not in answered
    chaos.wait_until(lambda: len(begun()) == 2)  # the answer that was cut off is asked for again
    assert slow.state == "running" and killed != begun()[1]
    slow.cancel("enough")
    chaos.wait_until(lambda: "ended" in log.read_text())


def test_a_failure_of_the_model_is_that_of_the_run(streaming):
    with pytest.raises(tenon.RunFailed, match="it has no answer"):
        streaming[0].start("greet", {"name": "a stranger"}).result(WAIT)


def test_requests_at_once_are_one_batch(batching):
    assert len(names_of(batching)) == 1
    runs = [batching.start("greet", {"name": f"person {number}"}) for number in range(24)]
    sizes = [int(run.result(WAIT).rpartition(" ")[2]) for run in runs]
    assert max(sizes) > 4 and max(sizes) <= 8, sizes
