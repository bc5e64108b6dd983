"""Models that are Python functions."""
import asyncio
import threading

import pytest
import tenon


def test_a_function_is_a_model(load_desk):
    requests = []

    def model(request: tenon.Request) -> str:
        requests.append(request)
        return '"billing"' if request.schema else "Hello!"

    desk = load_desk(model=model)
    assert desk.greet("Ada") == "Hello!"
    assert desk.classify("my bill") == "billing"
    assert "Greet Ada." in requests[0].messages[-1].text
    assert requests[0].label == "greet"
    assert requests[1].schema is not None


def test_a_coroutine_function_is_a_model(load_desk):
    async def model(request):
        await asyncio.sleep(0.01)
        return "Hello, " + request.label

    assert load_desk(model=model).greet("Ada") == "Hello, greet"


def test_an_async_generator_streams(load_desk):
    async def model(request):
        for piece in ("Hel", "lo", "!"):
            yield piece

    run = load_desk(model=model).start("greet", name="Ada")
    assert run.result() == "Hello!"
    assert [event.type for event in run.events()][-1] == "turn_end"


@pytest.mark.parametrize("model", [lambda request: 1 / 0, lambda request: 7])
def test_a_model_that_fails_fails_the_call(load_desk, model):
    with pytest.raises(tenon.RunFailed):
        load_desk(model=model).greet("Ada")


def test_an_answer_that_is_not_needed_is_cancelled(load_desk):
    started, ended = threading.Event(), threading.Event()

    async def model(request):
        started.set()
        try:
            yield "Hel"
            await asyncio.sleep(60)
            yield "lo"
        finally:
            ended.set()

    run = load_desk(model=model).start("greet", name="Ada")
    assert run.wait(0.01) == "running"
    assert started.wait(20)
    run.cancel("enough")
    with pytest.raises(tenon.Cancelled):
        run.result()
    assert ended.wait(20)


def test_a_model_that_cannot_be_reached_fails_a_run_that_is_not_recorded(load_desk):
    def model(request):
        raise ConnectionError("no route")

    with pytest.raises(tenon.RunFailed, match="no route") as raised:
        load_desk(model=model).greet("Ada")
    assert raised.value.kind == "ModelUnavailable"


def test_an_answer_that_cannot_be_used_is_repaired(load_desk):
    answers = iter(["a colour", "billing"])
    run = load_desk(model=lambda request: next(answers)).start("classify", message="my bill")
    assert run.result() == "billing"
    assert [prompt.attempt for prompt in run.prompts()] == [0, 1]
