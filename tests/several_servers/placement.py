"""An agent with hosts of its own: the run moves to them while it is active."""
import time

from cluster import Cluster


def test_a_run_moves_with_its_agent(work):
    with Cluster(work) as cluster:
        home, solver = cluster.server("home"), cluster.server("solver", "--agent", "Solver")
        run = home.begin({"fn": "visit", "args": {"rounds": 3}})
        value = home.wait_for(run, "done")["end"]["value"]
        assert value == ["home", "solver solves 0", "home", "solver solves 1", "home", "solver solves 2", "home"], value
        assert solver.run(run)["state"] == "done"
        # The start with the first request; then for each move what happened, the next request and the new owner; the end.
        assert cluster.query(f"SELECT appends, epoch FROM runs WHERE name = '{run}'") == [["8", "6"]], "a move takes one commit"
        branches = solver.begin({"fn": "visit_from_branches"})
        assert home.wait_for(branches, "done")["end"]["value"] == "solver solves a, home, solver solves c"
        assert all(count == 1 for count in cluster.performed("who").values()), "no call is made twice"
        assert home.wait_for(solver.begin({"fn": "place"}), "done")["end"]["value"] == "home", "started anywhere, it begins at home"
        cluster.check()


def test_a_placed_agent_is_asked_through_any_server(work):
    with Cluster(work) as cluster:
        home, solver = cluster.server("home"), cluster.server("solver", "--agent", "Solver")
        run = home.begin({"fn": "visit_and_ask"})
        (wait,) = home.wait_for(run, "waiting")["waits"]
        assert wait["question"] == "What?"
        assert home.post(f"/v1/runs/{run}/resume", {"input": "chess"}).status == 202
        assert home.wait_for(run, "done")["end"]["value"] == "solver heard chess"
        talk = home.begin({"agent": "Solver", "input": "a"})
        assert home.wait_for(talk, "waiting", "idle")
        assert solver.post(f"/v1/runs/{talk}/prompt", {"input": "b"}).status == 202
        deadline = time.monotonic() + 20
        said = []
        while len(said) < 2 and time.monotonic() < deadline:
            said = [event["value"] for event in home.events(talk) if event["type"] == "turn_end" and event["depth"] == 0]
            time.sleep(0.02)
        assert said == ["solver solves a", "solver solves b"], said
        cancelled = home.begin({"fn": "visit_and_ask"})
        home.wait_for(cancelled, "waiting")
        assert home.post(f"/v1/runs/{cancelled}/cancel", {}).status == 202
        home.wait_for(cancelled, "cancelled")


def test_a_run_waits_for_a_host_of_its_agent(work):
    with Cluster(work) as cluster:
        home = cluster.server("home")
        run = home.begin({"fn": "visit", "args": {"rounds": 1}})
        time.sleep(0.5)
        assert home.run(run)["state"] == "running"
        assert cluster.query("SELECT pool, owner FROM runs") == [["agent/Solver", ""]]
        solver = cluster.server("solver", "--agent", "Solver")
        assert home.wait_for(run, "done")["end"]["value"] == ["home", "solver solves 0", "home"]
        for _ in range(3):  # it is killed while it is visited
            runs = [home.begin({"fn": "visit", "args": {"rounds": 30}}) for _ in range(4)]
            time.sleep(0.1)
            solver.kill()
            solver.start()
            for started in runs:
                value = home.wait_for(started, "done")["end"]["value"]
                assert value[0::2] == ["home"] * 31 and value[1::2] == [f"solver solves {n}" for n in range(30)], value
        cluster.check()
