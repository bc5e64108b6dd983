"""Recorded runs: resumed without their program's file, forked, replayed, exported."""
import gc
import time

import numpy
import pytest
import tenon

SHOP = """
struct Bill { item: String, cents: i32, note: String? }
extern fn price(item: String) -> i32
fn bill(item: String) -> Bill {
    let cents = price(item)
    let note = ask<String>("A note for {{ item }}?")
    Bill { item: item, cents: cents, note: Some(note) }
}
agent Counter {
    state { count: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.count += 1
        "{{ state.count }}: {{ input }}"
    }
}
"""


def load(tmp_path, text=SHOP, calls=None, **options):
    def price(item: str) -> int:
        if calls is not None:
            calls.append(item)
        return 250

    return tenon.load(tmp_path / "shop.tn", text=text, externs=[price], store=tmp_path / "runs.db", **options)


def billed(program):
    run = program.bill.start("tea")
    assert run.wait() == "asks"
    run.answer(None, "with milk")
    assert run.result() == program.Bill("tea", 250, "with milk")
    return run


def test_a_run_is_resumed_from_the_store_alone(tmp_path):
    program = load(tmp_path)
    run = program.bill.start("tea")
    assert run.wait() == "asks"
    name = run.name
    program.close()
    calls = []

    async def price(item: str) -> int:
        calls.append(item)
        return 1

    run = tenon.resume(tmp_path / "runs.db", name, externs=[price])
    assert run.title == "bill"
    run.answer(None, "black")
    bill = run.result()
    assert (bill.item, bill.cents, bill.note) == ("tea", 250, "black")
    assert calls == []
    with pytest.raises(tenon.Error) as raised:
        tenon.resume(tmp_path / "other.db", "01nosuchrun")
    assert raised.value.kind in ("NotFound", "Failed")


def test_a_closed_program_does_not_have_its_store_any_more(tmp_path):
    async def price(item: str) -> int:
        return 3

    for _ in range(3):
        program = tenon.load(tmp_path / "shop.tn", text=SHOP + "fn cost() -> i32 { price(\"tea\") }", externs=[price],
                             model=lambda request: "", store=tmp_path / "runs.db")
        assert program.cost() == 3
        program.close()  # the next one opens the same store


def test_a_program_that_is_not_used_any_more_is_freed(tmp_path):
    async def price(item: str) -> int:
        return 3

    end = time.monotonic() + 20
    for _ in range(3):
        while True:
            try:
                program = tenon.load(tmp_path / "shop.tn", text=SHOP + "fn cost() -> i32 { price(\"tea\") }",
                                     externs=[price], model=lambda request: "", store=tmp_path / "runs.db")
                break
            except tenon.Error as error:  # the event loop of the one before may not have let go of it yet
                assert error.kind == "InUse" and time.monotonic() < end
                time.sleep(0.01)
        assert program.cost() == 3
        del program
        gc.collect()


def test_a_fork_repeats_what_is_recorded(tmp_path):
    calls = []
    with load(tmp_path, calls=calls) as program:
        run = billed(program)
        events = list(run.events())
        asked = next(event for event in events if event.type == "wait_for_input")
        fork = run.fork(asked.number)
        assert fork.name != run.name
        assert fork.wait() == "asks"
        fork.answer(None, "no sugar")
        assert fork.result() == program.Bill("tea", 250, "no sugar")
        assert calls == ["tea"]
        with pytest.raises(tenon.Error, match="records"):
            run.fork(10_000)


def test_a_replay_finds_what_has_changed(tmp_path):
    with load(tmp_path) as program:
        run = billed(program)
        run.replay()
        changed = program.load_changed(SHOP.replace("cents: cents", "cents: cents + 1"))
        with pytest.raises(tenon.ReplayDiffers, match="251"):
            run.replay(changed)
        with pytest.raises(tenon.ReplayDiffers, match="Which note"):
            run.replay(program.load_changed(SHOP.replace("A note for", "Which note for")))


def test_a_fork_takes_a_changed_program(tmp_path):
    with load(tmp_path) as program:
        run = billed(program)
        changed = program.load_changed(SHOP.replace("cents: cents", "cents: cents + 1"))
        fork = run.fork(list(run.events())[-1].number, changed)
        assert fork.result().cents == 251


def test_artifacts_are_arrays(tmp_path):
    with load(tmp_path) as program:
        run = billed(program)
        artifacts = run.artifacts()
        assert [tool["name"] for tool in artifacts.tools] == ["price", "Counter", "ask"]
        assert artifacts.sigma.dtype == numpy.int64 and artifacts.sigma.tolist() == [[1, 3]]
        assert artifacts.m.tolist() == [2] and int(artifacts.mu) == 2 and artifacts.J.tolist() == [1, 3]
        assert artifacts.S.tolist() == [[1, 0, 0], [0, 0, 1]] and artifacts.Sigma.shape == (1, 2, 3)
        assert len(artifacts.h) == 1 and len(artifacts.q) == len(artifacts.r) == 2
        assert artifacts.r[0]["value"] == 250
        assert artifacts.theta.tolist() == artifacts.rho.tolist() == [[1, 2]]
        again = billed(program).artifacts()
        assert again.hash == artifacts.hash and again.form == artifacts.form
        assert "price" in run.calls() and "A note for tea?" in run.calls()


def test_a_run_that_is_not_recorded_has_no_artifacts():
    with tenon.load("x.tn", text="fn one() -> i32 { 1 }") as program:
        run = program.one.start()
        run.wait()
        with pytest.raises(tenon.Error, match="not recorded"):
            run.artifacts()


def test_a_conversation_is_resumed(tmp_path):
    program = load(tmp_path)
    chat = program.Counter.start()
    assert chat.say("one") == "1: one"
    name = chat.name
    program.close()
    with load(tmp_path) as program:
        chat = program.resume(name)
        assert chat.state == "ready"
        assert chat.say("two") == "2: two"


def test_the_runs_of_a_store_are_listed(load_desk, store):
    desk = load_desk(store=store)
    asks = desk.colour.start()
    assert asks.wait() == "asks"
    half = desk.half.start(4)
    assert half.result() == 25
    listed = {run.name: run for run in tenon.runs(store)}  # also while the program has the store
    assert set(listed) == {asks.name, half.name}
    assert (listed[asks.name].state, listed[asks.name].title) == ("asks", "colour")
    assert [wait.question for wait in listed[asks.name].waits] == ["Which colour?"]
    desk.close()
    assert [run.name for run in tenon.runs(store, state="waiting")] == [asks.name]
    first, second = tenon.runs(store)
    assert [run.name for run in tenon.runs(store, limit=1)] == [first.name]
    assert [run.name for run in tenon.runs(store, after=first.name)] == [second.name]
    done, = tenon.runs(store, state="done")
    assert (done.name, done.state) == (half.name, "returned") and done.created_at <= done.updated_at
    with pytest.raises(tenon.Error, match="there is no state `lost`"):
        tenon.runs(store, state="lost")
    with pytest.raises(ValueError, match="limit"):
        tenon.runs(store, limit=-1)


def test_a_store_that_does_not_exist_has_no_runs(tmp_path):
    with pytest.raises(tenon.Error, match="missing.db"):
        tenon.runs(tmp_path / "missing.db")
    assert not (tmp_path / "missing.db").exists()


VAULT = """
extern fn login(password: secret String) -> i32
fn enter(password: secret String) -> i32 {
    if ask<Boolean>("Now?") { login(password) } else { 0 }
}
"""


def test_the_key_of_a_store_is_given_as_a_secret(tmp_path):
    options = {"externs": {"login": len}, "store": tmp_path / "runs.db"}
    with tenon.load(tmp_path / "vault.tn", text=VAULT, secrets={"TENON_SECRET_KEY": "ab" * 32}, **options) as program:
        run = program.enter.start("hunter22")
        assert run.wait() == "asks"
        name = run.name
    assert not (tmp_path / "runs.db.key").exists()
    with pytest.raises(tenon.Error, match="the key for the secrets is missing: TENON_SECRET_KEY is not set"):
        tenon.resume(options["store"], name, externs=options["externs"])
    run = tenon.resume(options["store"], name, externs=options["externs"], secrets={"TENON_SECRET_KEY": "ab" * 32})
    run.answer(None, True)
    assert run.result() == 8


def test_what_is_no_secret_is_refused_without_being_shown(tmp_path):
    for given, words in (({"OPENAI_API_KEY": b"hunter22"}, "a text as the secret `OPENAI_API_KEY`, got one of type `bytes`"),
                         ("hunter22", "a dictionary of names and texts as `secrets`"), ({8: "hunter22"}, "the names of `secrets`"),
                         ({"KEY=hunter22": "hunter22"}, "needs the name of a variable"),
                         ({"TENON_SECRET_KEY": "hunter22"}, "TENON_SECRET_KEY does not contain a key")):
        with pytest.raises(tenon.Error, match=words) as raised:
            with tenon.load(tmp_path / "vault.tn", text=VAULT, externs={"login": len}, store=tmp_path / "runs.db",
                            secrets=given) as program:
                program.enter.start("a password").wait()
        assert "hunter22" not in str(raised.value) + repr(raised.value), raised.value


OWN = """
fn five() -> i32 { 5 }
fn colour() -> String { ask<String>("Which colour?") }
fn greet(ctx: Context) -> String {
    let name = ask<String>("Who?")
    "Greet {{ name }}."!
}
"""


def test_a_run_whose_model_was_a_function_is_resumed_without_it(tmp_path):
    def model(request):
        return "Hello!"

    store = tmp_path / "runs.db"
    with tenon.load(tmp_path / "own.tn", text=OWN, model=model, store=store) as program:
        runs = [program.five.start(), program.colour.start(), program.greet.start()]
        assert [run.wait() for run in runs] == ["returned", "asks", "asks"]
        five, colour, greet = (run.name for run in runs)
    run = tenon.resume(store, five)
    assert run.result() == 5
    run.program.close()
    run = tenon.resume(store, colour)
    run.answer(None, "red")
    assert run.result() == "red"
    run.program.close()
    run = tenon.resume(store, greet)
    run.answer(None, "Ada")
    assert run.wait(0.2) == "running"  # it waits for a model
    run.program.close()
    run = tenon.resume(store, greet, model=model)
    assert run.result(30) == "Hello!"
    run.program.close()


def test_the_command_line_resumes_a_run_whose_model_was_a_function(tmp_path):
    from tenon_process import tenon as command

    def model(request):
        return "Hello!"

    store, script = tmp_path / "runs.db", tmp_path / "model.script"
    script.write_text('greet => "Hi!"')
    with tenon.load(tmp_path / "own.tn", text=OWN, model=model, store=store) as program:
        runs = [program.five.start(), program.colour.start(), program.greet.start()]
        assert [run.wait() for run in runs] == ["returned", "asks", "asks"]
        five, colour, greet = (run.name for run in runs)
    done = command("resume", five, "--store", store)
    assert (done.returncode, done.stdout, done.stderr) == (0, "5\n", "")
    done = command("resume", colour, "--store", store, "--input", "red")
    assert (done.returncode, done.stdout, done.stderr) == (0, "red\n", "")
    done = command("resume", greet, "--store", store, "--input", "Ada")
    assert done.returncode == 3 and "`tenon.resume(…, model=…)`" in done.stderr and "`--model`" in done.stderr, done.stderr
    done = command("resume", greet, "--store", store, "--model", f"script:{script}")
    assert (done.returncode, done.stdout) == (0, "Hi!\n"), done.stderr


def test_the_command_line_says_that_the_model_of_a_conversation_was_a_function(tmp_path):
    from tenon_process import tenon as command

    text = "agent A { fn turn(ctx: Context, input: String) -> String { reply(ctx) } fn reply(ctx: Context) -> String {} }"
    store, script = tmp_path / "runs.db", tmp_path / "model.script"
    script.write_text('A::reply => "Hi!"')
    with tenon.load(tmp_path / "own.tn", text=text, model=lambda request: "Hello!", store=store) as program:
        chat = program.A.start()
        assert chat.say("hello") == "Hello!"
    done = command("chat", "--run", chat.name, "--store", store)
    assert done.returncode == 1 and "`tenon.resume(…, model=…)`" in done.stderr and "`--model`" in done.stderr, done.stderr
    done = command("chat", "--run", chat.name, "--store", store, "--model", f"script:{script}", input="again", stdin=None)
    assert (done.returncode, done.stdout) == (0, "Hi!\n"), done.stderr
