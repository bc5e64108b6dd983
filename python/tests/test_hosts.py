"""Hosts and gateways: the runs of a store in one process and in several."""
import asyncio
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
import tenon
from conftest import DESK, price

WAIT = 30.0


@pytest.fixture
def open_host(tmp_path, store):
    """Opens a host of the desk, or a gateway, and stops it after the test."""
    (tmp_path / "desk.tn").write_text(DESK)
    opened = []

    def open_one(kind=tenon.Host, **options):
        given = {"externs": [price], "model": lambda request: "Hello!"} if kind is tenon.Host else {}
        host = kind([tmp_path / "desk.tn"], **{"store": store, **given, **options})
        opened.append(host)
        return host

    yield open_one
    for host in reversed(opened):
        host.stop(0)


def test_a_function_is_started(open_host):
    host = open_host()
    order = host.types_of(host.describe()[0]["file"])["Order"]("tea", 3, [])
    run = host.start("total", {"order": order}, key="first")
    assert run.result(WAIT) == 21 and run.state == "returned" and run.title == "total"
    assert host.start("total", {"order": order}, key="first").name == run.name
    with pytest.raises(tenon.Error, match="key") as raised:
        host.start("half", {"n": 1}, key="first")
    assert raised.value.kind == "Conflict"
    types = [event.type for event in run.events()]
    assert types == ["prompt_started", "tool_call", "tool_result", "turn_end"]
    assert [event.type for event in host.follow(run.name, after=2)][-1] == "turn_end"


def test_values_have_the_types_of_the_program(open_host):
    host = open_host()
    types = host.types_of(host.describe()[0]["file"])
    twice = host.start("twice", {"order": {"item": "tea", "count": 3, "tags": ["green"]}}).result(WAIT)
    assert twice == types["Order"]("tea", 6, ["green"])
    assert host.start("same_shape", {"shape": types["ShapeCircle"](2.5)}).result(WAIT) == types["ShapeCircle"](2.5)
    assert host.start("counts", {"words": {"a": 1}}).result(WAIT) == {"a": 1}
    assert host.start("first_of", {"items": [1 << 40]}).result(WAIT) == 1 << 40


def test_a_function_that_its_host_waits_for_cannot_wait_for_it(open_host):
    @tenon.extern(blocking=False, name="price")
    def asking(item: str) -> int:
        for wait in (lambda: host.start("half", {"n": 4}), lambda: host.stop(0)):
            with pytest.raises(tenon.Error, match="cannot use the engine") as raised:
                wait()
            assert raised.value.kind == "Conflict"
        return 7

    host = open_host(externs=[asking])
    order = host.types_of(host.describe()[0]["file"])["Order"]("tea", 3, [])
    assert host.start("total", {"order": order}).result(WAIT) == 21
    assert host.start("half", {"n": 4}).result(WAIT) == 25


def test_a_failure_is_raised(open_host):
    host = open_host()
    with pytest.raises(tenon.RunFailed, match="gold is not sold") as raised:
        host.start("total", {"order": {"item": "gold", "count": 1, "tags": []}}).result(WAIT)
    assert (raised.value.kind, raised.value.blame) == ("ToolFailed", "price")
    assert raised.value.place is not None and raised.value.place.line > 1


def test_requests_that_do_not_fit(open_host):
    host = open_host()
    for request, kind, message in [
            (lambda: host.start("totl"), "Usage", "did you mean `total`"),
            (lambda: host.start("half", {"m": 5}), "WrongInput", "`n` is missing"),
            (lambda: host.prompt("no such run", "x"), "NotFound", "no run"),
            (lambda: host.run("no such run"), "NotFound", "no run"),
            (lambda: host.follow("no such run"), "NotFound", "no run"),
            (lambda: host.runs(state="lost"), "Usage", "no state `lost`")]:
        with pytest.raises(tenon.Error, match=message) as raised:
            request()
        assert raised.value.kind == kind


def test_arguments_of_wrong_types_are_refused_in_words(open_host):
    host = open_host()
    run = host.start("half", {"n": 2})
    assert run.result(WAIT) == 50
    for call, expected in (
            (lambda: run.wait("1"), "a number of seconds as `timeout`, got '1'"),
            (lambda: run.cancel(3), "a text as `reason`"),
            (lambda: run.events("1"), "an integer of 0 or more as `after`"),
            (lambda: host.start(3), "a text as `name`"),
            (lambda: host.start("half", {"n": 2}, key=3), "a text as `key`"),
            (lambda: host.start("half", {"n": 2}, timeout="1"), "a number of seconds as `timeout`"),
            (lambda: host.answer(run, None, True), "a text as `run`"),
            (lambda: host.answer(run.name, 3, True), "a question of `waits()`"),
            (lambda: host.run(3), "a text as `name`"),
            (lambda: host.runs(limit=-1), "an integer of 0 or more as `limit`"),
            (lambda: host.runs(state=3), "a text as `state`"),
            (lambda: host.follow(run.name, -1), "an integer of 0 or more as `after`"),
            (lambda: next(iter(host.follow(run)), None), "a text as `run`"),
            (lambda: host.follow(run.name).next("1"), "a number of seconds"),
            (lambda: host.release("1"), "an integer of 0 or more as `count`"),
            (lambda: host.serve(3), "a text as `address`"),
            (lambda: host.serve(port=70_000), "an integer from 0 to 65535 as `port`"),
            (lambda: host.serve(token=3), "a text as `token`"),
            (lambda: host.stop("1"), "a number of seconds as `grace`"),
    ):
        with pytest.raises(tenon.InputError) as raised:
            call()
        assert expected in str(raised.value)


def test_a_question_is_answered(open_host):
    host = open_host()
    run = host.start("colour")
    assert run.wait(WAIT) == "asks"
    assert [wait.question for wait in run.waits()] == ["Which colour?"]
    assert [event.type for event in run.events()][-1] == "wait_for_input"
    with pytest.raises(tenon.NeedsAnswer, match="Which colour") as raised:
        run.result(WAIT)
    with pytest.raises(tenon.InputError, match="string"):
        run.answer(None, 3)
    raised.value.run.answer(run.waits()[0], "green")
    assert run.result(WAIT) == "It is green."


def test_a_conversation_with_an_agent(open_host):
    host = open_host()
    chat = host.start("Counter")
    assert chat.wait(WAIT) == "ready"
    assert chat.say("one", WAIT) == "1: one"
    last = chat.describe()["records"]
    assert chat.say("two", WAIT) == "2: two"
    assert [event.type for event in chat.events(after=last)] == ["prompt_started", "state_changed", "turn_end"]
    assert [run.name for run in host.runs(state="idle")] == [chat.name]
    with pytest.raises(tenon.Error, match="no turn"):
        chat.cancel_turn()
    chat.cancel("enough")
    with pytest.raises(tenon.Cancelled, match="enough"):
        chat.result(WAIT)


def test_asyncio_makes_many_requests(open_host):
    host = open_host()

    async def one(number):
        run = await host.astart("half", {"n": number + 1})
        return await run

    async def main():
        values = await asyncio.gather(*(one(number) for number in range(100)))
        assert values == [100 // (number + 1) for number in range(100)]
        chat = await host.astart("Counter", "one")
        assert [event.type async for event in chat.events()][-1] == "turn_end"
        assert await chat.asay("two") == "2: two"
        question = await host.astart("colour")
        assert await question.await_state() == "asks"
        await question.aanswer(None, "red")
        assert await question == "It is red."
        with pytest.raises(tenon.Error, match="did you mean"):
            await host.astart("coluor")
        with pytest.raises(tenon.Error, match="ended"):
            await question.aanswer(None, "blue")
        await chat.acancel()
        await host.astop()

    asyncio.run(main())


def test_coroutines_perform_externs(open_host):
    async def slow_price(item: str) -> int:
        await asyncio.sleep(0.01)
        return 9

    host = open_host(externs={"price": slow_price})
    runs = [host.start("total", {"order": {"item": "tea", "count": count, "tags": []}}) for count in range(20)]
    assert [run.result(WAIT) for run in runs] == [9 * count for count in range(20)]


def test_texts_are_streamed(open_host):
    async def model(request: tenon.Request):
        for piece in ("Hel", "lo!"):
            yield piece

    host = open_host(model=model)
    run = host.start("greet", {"name": "Ada"})
    assert "".join(run.texts()) == "Hello!" and run.result(WAIT) == "Hello!"


def test_it_serves_http(open_host):
    host = open_host()
    with pytest.raises(tenon.Error, match="token"):
        host.serve("0.0.0.0")
    port = host.serve(token="secret")
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/agents", headers={"Authorization": "Bearer secret"})
    with urllib.request.urlopen(request, timeout=WAIT) as response:
        assert b'"Counter"' in response.read()


def test_runs_that_wait_are_given_up(open_host):
    host = open_host()
    runs = [host.start("colour") for _ in range(3)]
    assert [run.wait(WAIT) for run in runs] == ["asks"] * 3
    end = time.monotonic() + WAIT
    released = 0
    while released < 2:
        released += host.release(2 - released)
        assert time.monotonic() < end
    assert host.status()["runs"] == 1
    for run in runs:
        run.answer(None, "red")
    assert [run.result(WAIT) for run in runs] == ["It is red."] * 3


def test_what_a_host_says_of_itself(open_host):
    host = open_host()
    host.start("half", {"n": 1}).result(WAIT)
    end = time.monotonic() + WAIT
    while (status := host.status())["ended"] == 0:  # counted a moment after the end is durable
        assert time.monotonic() < end
    assert status["lease"] == "held" and status["broken"] is None and status["ended"] == 1
    assert host.counts() == {"runs": {"done": 1}, "commands": 0}
    assert [owner["role"] for owner in host.owners()] == ["host"] and host.pools_without_hosts() == []
    assert "total" in {one["name"] for one in host.describe()[0]["program"]["functions"]}
    host.stop()
    host.stop()
    with pytest.raises(tenon.Error, match="stopped"):
        host.start("half", {"n": 1})


def test_a_request_that_waits_ends_with_its_host(postgres, tmp_path):
    (tmp_path / "desk.tn").write_text(DESK)
    gateway = tenon.Gateway(tmp_path / "desk.tn", store=postgres.new_url())
    with pytest.raises(TimeoutError):
        gateway.start("half", {"n": 1}, timeout=0.05)
    ended = []

    def ask():
        with pytest.raises(tenon.Error, match="stopping") as raised:
            gateway.start("half", {"n": 1})
        ended.append(raised.value.kind)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.1)
    gateway.stop(0)
    thread.join(WAIT)
    assert ended == ["Failed"]


def test_a_gateway_uses_the_hosts(postgres, tmp_path):
    (tmp_path / "desk.tn").write_text(DESK)
    url = postgres.new_url()
    with tenon.Gateway(tmp_path / "desk.tn", store=url) as gateway, \
            tenon.Host(tmp_path / "desk.tn", store=url, externs=[price]) as host:
        assert gateway.start("total", {"order": {"item": "tea", "count": 2, "tags": []}}).result(WAIT) == 14
        question = gateway.start("colour")
        assert question.wait(WAIT) == "asks"
        host.answer(question.name, None, "blue")
        assert [event.type for event in gateway.follow(question.name)][-1] == "turn_end"
        assert sorted(owner["role"] for owner in gateway.owners()) == ["gateway", "host"]
        assert gateway.status()["runs"] == 0

    other = tenon.Gateway(tmp_path / "desk.tn", store=url, pool="gpu")
    with pytest.raises(TimeoutError):
        other.start("half", {"n": 1}, timeout=0.2)
    assert other.pools_without_hosts() == ["gpu"]
    other.stop(0)


def test_another_host_continues_after_a_kill(postgres, tmp_path):
    (tmp_path / "desk.tn").write_text(DESK)
    url = postgres.new_url("tenon.lease=2000")
    code = f"""
import tenon, time
def price(item): return 7
with tenon.Host({str(tmp_path / 'desk.tn')!r}, store={url!r}, externs=[price]) as host:
    print("ready", flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    with tenon.Gateway(tmp_path / "desk.tn", store=url) as gateway:
        run = gateway.start("colour")
        assert run.wait(WAIT) == "asks"
        process.kill()
        process.wait()
        with tenon.Host(tmp_path / "desk.tn", store=url, externs=[price]):
            run.answer(None, "red")
            assert run.result(WAIT) == "It is red."


def test_externs_of_several_programs(tmp_path, store):
    (tmp_path / "one.tn").write_text("struct Item { name: String, count: i32 }\nextern fn price(item: Item) -> i32\n"
                                     "fn one(n: i32) -> i32 { price(Item { name: \"tea\", count: n }) }")
    (tmp_path / "two.tn").write_text("struct Item { count: i32, name: String }\nextern fn price(item: Item) -> i32\n"
                                     "fn two(n: i32) -> i32 { price(Item { name: \"tea\", count: n }) }")
    (tmp_path / "three.tn").write_text("extern fn price(item: String) -> i32\nfn three() -> i32 { price(\"tea\") }")

    def price(item):
        assert item.name == "tea"
        return item.count * 7

    with tenon.Host([tmp_path / "one.tn", tmp_path / "two.tn"], store=store, externs=[price]) as host:
        assert (host.start("one", {"n": 2}).result(WAIT), host.start("two", {"n": 3}).result(WAIT)) == (14, 21)
    with pytest.raises(tenon.ProgramError, match="different types"):
        tenon.Host([tmp_path / "one.tn", tmp_path / "three.tn"], store=store, externs=[price])
    with pytest.raises(tenon.ProgramError, match="no program declares"):
        tenon.Host(tmp_path / "one.tn", store=store, externs={"price": price, "cost": price})
    with pytest.raises(tenon.ProgramError, match="price"):
        tenon.Host(tmp_path / "one.tn", store=store)
    with pytest.raises(tenon.Error, match="needs a program"):
        tenon.Host([], store=store)


def in_process(tmp_path, store, text, timeout=60):
    (tmp_path / "desk.tn").write_text(DESK)
    begin = f"""
import asyncio, os, signal, sys, threading, time, tenon
def price(item): return 7
async def slow_price(item): await asyncio.sleep(60); return 1
def open_host(price=price): return tenon.Host({str(tmp_path / 'desk.tn')!r}, store={store!r}, externs={{"price": price}})
def read(follow):
    try:
        for event in follow: pass
    except tenon.Error as error:
        assert error.kind == "Conflict"
ORDER = {{"order": {{"item": "tea", "count": 3, "tags": []}}}}
"""
    return subprocess.run([sys.executable, "-c", begin + text], capture_output=True, text=True, timeout=timeout, check=False)


def test_a_fork_gets_an_error_at_once(tmp_path, store):
    done = in_process(tmp_path, store, """
host = open_host()
if os.fork() == 0:
    for use in (lambda: host.start("half", {"n": 1}), lambda: host.runs(), lambda: host.follow("x"), lambda: host.status(), host.stop):
        try:
            use()
        except tenon.Error as error:
            print(error.kind, flush=True)
    sys.exit(0)
os.wait()
print(host.start("half", {"n": 1}).result(), flush=True)
host.stop()
""")
    assert done.stdout == "Forked\n" * 5 + "100\n", done.stderr


@pytest.mark.parametrize("how", [
    "host.start('total', ORDER).result()",
    "thread = threading.Thread(target=read, args=[host.follow(host.start('colour').name)]); thread.start(); time.sleep(0.05); host.stop()",
    "asyncio.run(host.astart('colour'))",
])
def test_a_process_ends_with_a_host(tmp_path, store, how):
    for _ in range(3):
        done = in_process(tmp_path, store, f"host = open_host()\n{how}\nprint('end', flush=True)")
        assert (done.stdout, done.stderr, done.returncode) == ("end\n", "", 0)


def test_a_call_in_progress_at_the_end_is_not_a_failure(tmp_path, store):
    done = in_process(tmp_path, store, """
host = open_host(slow_price)
run = host.start('total', ORDER)
while host.status()['effects'] == 0: time.sleep(0.01)
print(run.name, flush=True)
""")
    assert (done.stderr, done.returncode) == ("", 0)
    with tenon.Host(tmp_path / "desk.tn", store=store, externs=[price]) as host:
        assert host.run(done.stdout.strip()).result(WAIT) == 21


def test_a_host_continues_after_the_loop_in_which_it_was_made(open_host):
    async def slow_price(item: str) -> int:
        await asyncio.sleep(0.01)
        return 9

    async def main():
        return open_host(externs={"price": slow_price})

    host = asyncio.run(main())
    run = host.start("total", {"order": {"item": "tea", "count": 2, "tags": []}})
    assert run.result(WAIT) == 18


def test_a_result_is_read_as_its_type(postgres, tmp_path):
    (tmp_path / "shop.tn").write_text("fn half(n: i32) -> i32 { 10 / n }\nfn check(n: i32) -> Result<i32> { try half(n) }\n"
                                      "fn rate() -> f64 { 2.0 }")
    with tenon.Host(tmp_path / "shop.tn", store=tmp_path / "runs.db") as host:
        assert host.start("check", {"n": 5}).result(WAIT) == tenon.Ok(2)
        failed = host.start("check", {"n": 0}).result(WAIT)
        assert isinstance(failed, tenon.Err) and "zero" in failed.message
        rate = host.start("rate").result(WAIT)
        assert rate == 2.0 and isinstance(rate, float)


def test_a_request_that_is_awaited_ends_with_its_host(postgres, tmp_path):
    (tmp_path / "desk.tn").write_text(DESK)

    async def main():
        gateway = tenon.Gateway(tmp_path / "desk.tn", store=postgres.new_url())
        threading.Timer(0.1, gateway.stop).start()
        with pytest.raises(tenon.Error):
            await asyncio.wait_for(gateway.astart("half", {"n": 1}), WAIT)

    asyncio.run(main())


def test_an_extern_without_a_function_has_a_hint_for_python(tmp_path):
    (tmp_path / "shop.tn").write_text("extern fn price(item: String) -> i32\nfn one() -> i32 { price(\"tea\") }\n")
    with pytest.raises(tenon.ProgramError, match=r"externs=\[function\].*given: none"):
        tenon.Host([tmp_path / "shop.tn"], store=tmp_path / "runs.db")
