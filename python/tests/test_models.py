"""Models that are Python functions."""
import asyncio
import functools
import http.server
import json
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


def plain(greeting, request):
    return greeting


async def coroutine(greeting, request):
    return greeting


async def pieces(greeting, request):
    yield greeting[:2]
    yield greeting[2:]


def plain_pieces(greeting, request):
    yield greeting[:2]
    yield greeting[2:]


class Mind:
    def method(self, request):
        return "Hello"

    async def __call__(self, request):
        return "Hello"


@pytest.mark.parametrize("model", [
    functools.partial(plain, "Hello"), functools.partial(coroutine, "Hello"), functools.partial(pieces, "Hello"),
    functools.partial(plain_pieces, "Hello"), lambda request: coroutine("Hello", request), lambda request: pieces("Hello", request),
    lambda request: plain_pieces("Hello", request), Mind().method, Mind()])
def test_any_callable_is_a_model(load_desk, model):
    run = load_desk(model=model).start("greet", name="Ada")
    assert run.result() == "Hello"
    run = load_desk(model=model).start("greet", name="Ada")
    assert "".join(run.texts()) == "Hello"


async def number(request):
    return 7


def numbers(request):
    yield 7


@pytest.mark.parametrize("model, message", [(number, "returned a `int`, expected a `str`"), (numbers, "yielded a `int`, expected a `str`")])
def test_an_answer_that_is_not_text_fails_the_call(load_desk, model, message):
    with pytest.raises(tenon.RunFailed, match=message):
        load_desk(model=model).greet("Ada")


def test_the_exception_of_a_model_is_the_cause(load_desk):
    def model(request):
        raise ValueError("no answer today")

    with pytest.raises(tenon.RunFailed) as raised:
        load_desk(model=model).greet("Ada")
    assert type(raised.value.__cause__) is ValueError


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Answers as an OpenAI-compatible endpoint does, and notes the keys that it is sent."""

    keys = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.keys.append(self.headers["Authorization"])
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Hello!"}, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def test_the_key_of_an_endpoint_is_given_as_a_secret(load_desk, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        for key in ("first-key", "second-key"):
            assert load_desk(model="openai:gpt", secrets={"OPENAI_API_KEY": key}).greet("Ada") == "Hello!"
        server.shutdown()
    assert Endpoint.keys == ["Bearer first-key", "Bearer second-key"]
