"""Requests to a model that are retried, when the sending process is killed between two attempts."""
import json
import os
import subprocess
import time

from openai_endpoint import KEY, PROGRAM, Endpoint, answer, error
from tenon_process import TENON, tenon

WAIT_S = 4  # the delay that the server requests; longer than a process needs to start on a loaded machine


def kill_after_first_request(work, endpoint):
    """Starts a run and kills it while it waits to retry its request. Returns the environment for the resume."""
    program, store = work / "p.tn", work / "s.db"
    program.write_text(PROGRAM)
    environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url, "NO_PROXY": "127.0.0.1"}
    with subprocess.Popen([TENON, "run", program, "--fn", "say", "--model", "openai:mock", "--store", store, "--retry", "initial=1h"],
                          env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 30
        while records(store) < 3:  # the start, the request, the failed attempt
            assert time.monotonic() < end, "the failed attempt is not recorded"
            time.sleep(0.02)
        process.kill()
        process.communicate()
    return store, environment


def records(store):
    if not store.exists():
        return 0
    runs = json.loads(tenon("runs", "--store", store, "--json").stdout or "[]")
    return runs[0]["records"] if runs else 0


def test_neither_count_nor_delay_is_reset(work):
    refusals = [error(503, "busy", {"Retry-After": str(WAIT_S)})] + [error(503, "busy")] * 9
    with Endpoint(refusals).running() as endpoint:
        store, environment = kill_after_first_request(work, endpoint)
        run = json.loads(tenon("runs", "--store", store, "--json").stdout)[0]["run"]
        waiting = tenon("resume", run, "--store", store, environment=environment)
        assert waiting.returncode == 3 and "sent 4 times" in waiting.stderr, waiting
        assert len(endpoint.requests) == 4, "the count continues"
        assert endpoint.times[1] - endpoint.times[0] >= WAIT_S - 0.1, endpoint.times


def test_a_resumed_run_gets_its_answer(work):
    with Endpoint([error(503, "busy", {"Retry-After": "1"}), answer("hello")]).running() as endpoint:
        store, environment = kill_after_first_request(work, endpoint)
        run = json.loads(tenon("runs", "--store", store, "--json").stdout)[0]["run"]
        time.sleep(1.2)
        begun = time.monotonic()
        done = tenon("resume", run, "--store", store, environment=environment)
        assert (done.returncode, done.stdout) == (0, "hello\n"), done
        assert len(endpoint.requests) == 2 and endpoint.times[1] - begun < 10, "the wait was over"
