"""Runs that are started, answered, recorded and resumed."""
import asyncio
import pathlib
import threading

import pytest
import tenon


def test_a_run_asks_and_is_answered(desk):
    run = desk.start("colour")
    assert run.wait() == "asks"
    (wait,) = run.waits()
    assert wait.question == "Which colour?"
    with pytest.raises(tenon.Error, match="waits for an answer"):
        run.result()
    run.answer(wait, "red")
    assert run.result() == "It is red."
    assert [event.type for event in run.events()] == ["prompt_started", "wait_for_input", "resume_with_input", "turn_end"]
    assert run.state == "returned"


def test_events_have_plain_values(desk):
    large = (1 << 60) + 1
    run = desk.start("first_of", [large])
    assert run.result() == large
    first, last = run.events()
    assert (first.input, last.value) == ([[large]], large)
    run = desk.start("counts", {"b": 1, "a": 2})
    assert run.result() == {"b": 1, "a": 2}
    first, last = run.events()
    assert (first.input, last.value) == ([{"b": 1, "a": 2}], {"b": 1, "a": 2})
    run = desk.start("same_shape", desk.ShapeBox(0.5, 1.0))
    assert run.result() == desk.ShapeBox(0.5, 1.0)
    first, last = run.events()
    assert (first.input, last.value) == ([{"Box": [0.5, 1.0]}], {"Box": [0.5, 1.0]})


def test_a_recorded_run_is_resumed(load_desk, tmp_path):
    store = tmp_path / "runs.db"
    desk = load_desk(store=store)
    run = desk.start("colour")
    assert run.wait() == "asks"
    name = run.name
    with pytest.raises(tenon.Error) as raised:
        load_desk(store=store).resume(name)
    assert raised.value.kind == "InUse"
    desk.close()
    with pytest.raises(tenon.Error, match="stopped"):
        desk.start("colour")
    again = load_desk(store=store).resume(name)
    assert again.wait() == "asks"
    again.answer("", "blue")
    assert again.result() == "It is blue."


def test_a_run_is_cancelled(desk):
    run = desk.start("colour")
    run.wait()
    run.cancel("enough")
    with pytest.raises(tenon.Cancelled, match="enough"):
        run.result()


def test_a_conversation_has_turns(desk):
    conversation = desk.Counter.start()
    conversation.prompt("one")
    assert conversation.result() == "1: one"
    conversation.prompt("two")
    assert conversation.result() == "2: two"
    assert conversation.state == "ready"


def test_asyncio_runs_side_by_side(load_desk):
    async def price(item: str) -> int:
        await asyncio.sleep(0.01)
        return 5

    async def call_all(desk):
        return await asyncio.gather(*(desk.total.aio({"item": "x", "count": n, "tags": []}) for n in range(50)))

    desk = load_desk(externs=[price])
    assert asyncio.run(call_all(desk)) == [5 * n for n in range(50)]
    assert asyncio.run(call_all(desk)) == [5 * n for n in range(50)]  # with another loop


def test_asyncio_reads_events(load_desk):
    async def read(desk):
        run = desk.start("greet", name="Ada")
        types = [event.type async for event in run.events()]
        return types, await run.aresult()

    types, value = asyncio.run(read(load_desk(model=lambda request: "Hi")))
    assert value == "Hi"
    assert types[0] == "prompt_started" and types[-1] == "turn_end"


def test_texts_are_emitted_and_streamed(tmp_path):
    async def model(request):
        for piece in ("We ", "open ", "at 8."):
            yield piece

    text = """
agent Desk {
    block hello: emit { text: "Welcome!" -> reply }
    block reply: request { prompt: "Answer." }
}
"""
    with tenon.load(tmp_path / "desk.tn", text=text, model=model) as desk:
        chat = desk.Desk.start()
        assert list(chat.stream("When?")) == ["Welcome!", "We ", "open ", "at 8."]
        assert chat.result() == "Welcome!\n\nWe open at 8."

        async def read():
            return [piece async for piece in chat.stream("Really?")]

        assert "".join(asyncio.run(read())) == "Welcome!We open at 8."


async def later_price(item: str) -> int:
    await asyncio.sleep(0.001)
    return 5


ORDER = {"item": "x", "count": 2, "tags": []}


def test_a_call_in_an_event_loop_waits_for_its_coroutines(load_desk):
    desk = load_desk(externs={"price": later_price})

    async def call():
        assert await desk.total.aio(ORDER) == 10
        assert desk.total(ORDER) == 10  # blocks the loop, which cannot start the coroutine
        assert await desk.total.aio(ORDER) == 10
        run = desk.start("total", ORDER)
        assert await run == 10
        assert run.result() == 10

    asyncio.run(call())
    assert desk.total(ORDER) == 10  # its loop has ended
    assert desk.start("total", ORDER).result() == 10


def test_a_program_has_one_event_loop_at_a_time(load_desk):
    desk = load_desk(externs={"price": later_price})
    failures = []

    def other():
        try:
            asyncio.run(call())
        except tenon.Error as error:
            failures.append(error.kind)

    async def call():
        await desk.total.aio(ORDER)

    async def main():
        await call()
        thread = threading.Thread(target=other)
        thread.start()
        while thread.is_alive():
            await asyncio.sleep(0.01)

    asyncio.run(main())
    assert failures == ["Conflict"]
    other()
    assert failures == ["Conflict"]


def test_an_awaited_call_that_asks_raises_its_run(desk):
    async def call():
        with pytest.raises(tenon.NeedsAnswer, match="Which colour") as raised:
            await desk.colour.aio()
        raised.value.run.answer(None, "red")
        return await raised.value.run

    assert asyncio.run(call()) == "It is red."


def test_an_awaited_call_fails_with_its_place(desk):
    async def call():
        with pytest.raises(tenon.RunFailed) as raised:
            await desk.half.aio(0)
        assert raised.value.kind == "Arithmetic" and raised.value.place.line > 0
        with pytest.raises(tenon.InputError):
            await desk.half.aio("x")
        with pytest.raises(TypeError, match="missing argument"):
            await desk.half.aio()
        return await asyncio.gather(*(desk.half.aio(n) for n in range(4)), return_exceptions=True)

    first, *others = asyncio.run(call())
    assert isinstance(first, tenon.RunFailed) and others == [100, 50, 33]


def test_a_stopped_program_says_so(desk, caplog):
    run = desk.start("colour")
    assert run.wait() == "asks"
    half = desk.half.start(10)
    assert half.result() == 10
    desk.close()
    for call in (lambda: desk.half(1), lambda: desk.start("half", 1), lambda: run.answer(None, "red"),
                 lambda: asyncio.run(desk.half.aio(1))):
        with pytest.raises(tenon.Error, match="stopped"):
            call()
    assert asyncio.run(half.aresult()) == 10
    assert not caplog.records  # of the event loops


def test_prompts_are_kept(load_desk):
    run = load_desk(model=lambda request: "Hi").start("greet", name="Ada")
    assert run.result() == "Hi"
    (prompt,) = run.prompts()
    assert (prompt.function, prompt.answer, prompt.messages[-1].text) == ("greet", "Hi", "Greet Ada.")


def test_answers_are_values_of_the_type_that_is_asked_for(tmp_path):
    text = """
enum Size { Small, Large }
fn size() -> Size { ask<Size>("Which?") }
fn name() -> Option<String> { ask<Option<String>>("Who?") }
fn text() -> String { ask<String>("What?") }
fn number() -> i32 { ask<i32>("How many?") }
"""
    with tenon.load(tmp_path / "ask.tn", text=text) as program:
        for function, value in ((program.size, "Small"), (program.name, "Ann"), (program.name, None), (program.text, "5"),
                                (program.number, 5)):
            run = function.start()
            assert run.wait(10) == "asks"
            run.answer(None, value)
            assert run.result(10) == value
        run = program.number.start()
        assert run.wait(10) == "asks"
        with pytest.raises(tenon.Error, match="i32|integer"):
            run.answer(None, "five")


class Integer:
    def __index__(self) -> int:
        return 0


def test_arguments_of_wrong_types_are_refused_in_words(load_desk, tmp_path):
    desk = load_desk(store=tmp_path / "runs.db")
    run = desk.half.start(2)
    chat = desk.Counter.start()
    assert run.wait(30) == "returned"
    assert run.result(Integer()) == 50
    for call, expected in (
            (lambda: run.wait("1"), "a number of seconds as `timeout`, got '1'"),
            (lambda: run.wait(True), "a number of seconds"),
            (lambda: run.wait(float("nan")), "a number of seconds"),
            (lambda: run.result([]), "a number of seconds"),
            (lambda: run.fork(-1), "an integer of 0 or more as `at`, got -1"),
            (lambda: run.fork(2**64), "an integer of 0 or more"),
            (lambda: run.fork("1"), "an integer of 0 or more as `at`, got '1'"),
            (lambda: run.fork(1.0), "an integer of 0 or more"),
            (lambda: run.fork(0, "desk"), "a program of `load_changed` as `program`, got 'desk'"),
            (lambda: run.replay(desk.half), "a program of `load_changed`"),
            (lambda: run.cancel(3), "a text as `reason`, got 3"),
            (lambda: run.answer(3, True), "a question of `waits()`"),
            (lambda: chat.cancel_turn(None), "a text as `reason`, got None"),
            (lambda: desk.start(3), "a text as `name`"),
            (lambda: desk.resume(run), "a text as `name`"),
            (lambda: desk.graph(3), "a text as `form`"),
            (lambda: desk.load_changed(3), "a text as `text`"),
            (lambda: tenon.load(3), "a path as `path`, got 3"),
            (lambda: tenon.load("desk.tn", text=b"fn"), "a text as `text`"),
            (lambda: tenon.load("desk.tn", text="", store=3), "a path as `store`, got 3"),
            (lambda: tenon.load("desk.tn", text="", model=3), "a function as `model`, got 3"),
            (lambda: tenon.load("desk.tn", text="", externs=3), "expected functions"),
            (lambda: tenon.load("desk.tn", text="", extern_threads="many"), "an integer from 0 to 256 as `extern_threads`"),
            (lambda: tenon.resume(3, "run"), "a path as `store`"),
            (lambda: tenon.resume(tmp_path / "runs.db", 3), "a text as `name`"),
            (lambda: tenon.runs(3), "a path as `store`"),
            (lambda: tenon.runs(tmp_path / "runs.db", limit="1"), "an integer of 0 or more as `limit`"),
            (lambda: tenon.runs(tmp_path / "runs.db", state=1), "a text as `state`"),
            (lambda: tenon.Host(3, store=tmp_path / "other.db"), "a path as `programs`"),
    ):
        with pytest.raises(tenon.Error) as raised:
            call()
        assert expected in str(raised.value) and "incompatible function" not in str(raised.value)


def test_a_person_sees_what_is_to_be_approved(load_program):
    text = """
        extern fn read_inbox() -> String
        extern fn send_mail(to: trusted String else approve, body: String) -> String
        fn main() -> String { send_mail(read_inbox(), "Thank you.") }
    """
    desk = load_program("desk.tn", text=text, externs={"read_inbox": lambda: "eve@example.com", "send_mail": lambda to, body: to})
    run = desk.main.start()
    assert run.wait(60) == "asks"
    (wait,) = run.waits()
    assert (wait.question, wait.value) == ("Call `send_mail`?", {"to": "eve@example.com", "body": "Thank you."})
    assert wait.sources == ("extern read_inbox",)
    run.answer(wait, {"to": "ann@example.com", "body": "Thank you."})
    assert run.result(60) == "ann@example.com"
    run = desk.main.start()
    run.wait(60)
    run.answer(None, "no")
    with pytest.raises(tenon.RunFailed, match="a person does not approve of the call of `send_mail`"):
        run.result(60)


QUICK = """
extern fn price(item: String) -> i32
fn add(a: i32, b: i32) -> i32 { a + b }
fn priced(item: String) -> i32 { price(item) }
fn counted(n: i32) -> i32 {
    let count = 0
    while count < n { count += 1 }
    count
}
"""


def threads():
    """The numbers of this process's threads."""
    return {path.name for path in pathlib.Path("/proc/self/task").iterdir()}


def switches_of_threads_except(some):
    """How often the threads of this process, except some, have gone to sleep."""
    count = 0
    for path in pathlib.Path("/proc/self/task").iterdir():
        if path.name not in some:
            count += int(path.joinpath("status").read_text().partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return count


def test_quick_calls_of_an_event_loop_wake_no_thread_and_let_it_continue(tmp_path):
    rounds = 0
    others = threads()  # this one, and those of other tests

    async def tick():
        nonlocal rounds
        while True:
            rounds += 1
            await asyncio.sleep(0)

    async def main(program):
        for n in range(100):
            assert await program.add.aio(n, 1) == n + 1
        before = switches_of_threads_except(others)
        ticker = asyncio.create_task(tick())
        for n in range(500):
            assert await program.add.aio(n, 1) == n + 1
        ticker.cancel()
        assert await asyncio.gather(*(program.add.aio(n, 1) for n in range(1_000))) == list(range(1, 1_001))
        return switches_of_threads_except(others) - before

    with tenon.load(tmp_path / "quick.tn", text=QUICK, externs={"price": len}) as program:
        assert asyncio.run(main(program)) < 400  # of 1,500 calls, each of which could wake one
    assert rounds >= 499


def test_a_long_call_does_not_keep_its_event_loop(tmp_path):
    async def main(program):
        for _ in range(3):
            call = asyncio.create_task(program.counted.aio(10_000_000))
            for _ in range(3):
                await asyncio.sleep(0)
            assert not call.done()
            assert await call == 10_000_000

    with tenon.load(tmp_path / "quick.tn", text=QUICK, externs={"price": len}) as program:
        asyncio.run(main(program))


def test_an_event_loop_that_begins_calls_does_not_call_plain_functions(tmp_path):
    callers = set()

    def price(item):
        callers.add(threading.get_native_id())
        return len(item)

    async def main(program):
        for _ in range(300):
            assert await program.add.aio(1, 2) == 3
            assert await program.priced.aio("tea") == 3

    with tenon.load(tmp_path / "quick.tn", text=QUICK, externs={"price": price}) as program:
        asyncio.run(main(program))
    assert callers and threading.get_native_id() not in callers


QUESTIONS = """
type Kind = "billing" | "technical"
fn text() -> String { ask<String>("What?") }
fn kind() -> Kind { ask<Kind>("Which?") }
fn number() -> i32 { ask<i32>("How many?") }
fn numbers() -> List<i32> { ask<List<i32>>("Which numbers?") }
agent Echo { fn turn(ctx: Context, input: String) -> String { input } }
"""


def test_answers_and_prompts_of_another_type_are_refused(tmp_path):
    itself = []
    itself.append(itself)
    with tenon.load(tmp_path / "questions.tn", text=QUESTIONS) as program:
        for name, wrong, message in [
                ("text", None, "a text as `value`, got a `NoneType`"), ("text", 3, "a text as `value`, got a `int`"),
                ("text", "\ud800", "a text without surrogates"), ("kind", 1, "a text as `value`, got a `int`"),
                ("kind", "1", 'found the string "1"'), ("number", object(), "a value that JSON has as `value`, got a `object`"),
                ("number", "\ud800", "a text without surrogates"), ("numbers", itself, "a value that JSON has as `value`, got a `list`")]:
            run = program.start(name)
            run.wait()
            with pytest.raises(tenon.InputError) as raised:
                run.answer(None, wrong)
            assert message in str(raised.value)
        for name, right in [("text", "1"), ("kind", "billing"), ("number", 3), ("numbers", [1, 2])]:
            run = program.start(name)
            run.wait()
            run.answer(None, right)
            assert run.result() == right
        chat = program.Echo.start()
        for wrong, message in [(object(), "a value that JSON has as `input`, got a `object`"), ("\ud800", "a text without surrogates")]:
            with pytest.raises(tenon.InputError) as raised:
                chat.say(wrong)
            assert message in str(raised.value)
        assert chat.say("hello") == "hello"
