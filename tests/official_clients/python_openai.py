"""The `openai` package of Python."""
import asyncio
import json

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter


def client_of(server, token):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key=token)


def said(text):
    return [{"role": "user", "content": text}]


def ask(client, model, text, **options):
    return client.chat.completions.create(model=model, messages=said(text), **options)


def failure_of(kind, call):
    """The exception that the client raises, of exactly this type."""
    try:
        call()
    except kind as error:
        assert type(error) is kind, error
        return error
    raise AssertionError(f"no {kind.__name__}")


def runs(server, token):
    return server.get("/v1/runs", Authorization="Bearer " + token).json["runs"]


def test_models(server, token):
    client = client_of(server, token)
    models = client.models.list()
    assert {model.id for model in models} == {"tell", "Desk"}, models
    assert all(model.object == "model" and model.owned_by == "tenon" for model in models)
    assert client.models.retrieve("tell").id == "tell"


def test_an_answer(server, token):
    completion = ask(client_of(server, token), "tell", "owls")
    assert isinstance(completion, ChatCompletion) and completion.object == "chat.completion"
    choice = completion.choices[0]
    assert choice.message.content == "Owls fly." and choice.message.role == "assistant" and choice.finish_reason == "stop"
    usage = completion.usage
    assert usage.prompt_tokens > 0 and usage.completion_tokens > 0, usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens, usage
    # The package parses leniently; the reply must also conform to its own types.
    ChatCompletion.model_validate(json.loads(completion.model_dump_json()), strict=True)


def test_a_stream(server, token):
    stream = ask(client_of(server, token), "tell", "owls", stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    assert all(isinstance(chunk, ChatCompletionChunk) for chunk in chunks) and len({chunk.id for chunk in chunks}) == 1
    for chunk in chunks:
        ChatCompletionChunk.model_validate(json.loads(chunk.model_dump_json()), strict=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "Owls fly."
    assert chunks[0].choices[0].delta.role == "assistant" and chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens > 0
    plain = list(ask(client_of(server, token), "tell", "owls", stream=True))
    assert all(chunk.usage is None for chunk in plain)


def test_the_streaming_helper(server, token):
    with client_of(server, token).chat.completions.stream(model="tell", messages=said("owls")) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert final.choices[0].message.content == "Owls fly." and {"chunk", "content.delta", "content.done"} <= kinds, kinds


def test_a_conversation_with_a_question(server, token):
    client = client_of(server, token)
    options = {"extra_body": {"conversation": "mine"}}
    first = ask(client, "Desk", "hello", **options)
    assert first.choices[0].message.content == "turn 1: hello" and first.conversation == "mine"
    asked = ask(client, "Desk", "refund", **options)
    assert asked.choices[0].message.content == "How much?" and asked.wait["schema"]["type"] == "integer", asked
    wrong = failure_of(openai.UnprocessableEntityError, lambda: ask(client, "Desk", "lots", **options))
    assert "lots" in wrong.message and wrong.code == "wrong_input", wrong.message
    streamed = ask(client, "Desk", "12", stream=True, extra_headers={"X-Tenon-Conversation": "mine"})
    assert "".join(chunk.choices[0].delta.content or "" for chunk in streamed) == "refunded 12"
    assert ask(client, "Desk", "bye", **options).choices[0].message.content == "turn 3: bye"
    assert len(runs(server, token)) == 1, "one conversation"
    asked = list(ask(client, "Desk", "refund", stream=True, **options))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in asked) == "How much?"
    assert asked[-1].wait["schema"]["type"] == "integer", asked[-1]


def check_response(response):
    """The package reads leniently; its own types must hold for what was sent, too."""
    assert isinstance(response, Response)
    Response.model_validate(json.loads(response.model_dump_json()), strict=True)
    return response


def test_a_response(server, token):
    client = client_of(server, token)
    response = check_response(client.responses.create(model="tell", input="owls"))
    assert response.output_text == "Owls fly." and response.status == "completed" and response.error is None
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens > 0
    items = [{"role": "user", "content": [{"type": "input_text", "text": "owls"}]}]
    assert client.responses.create(model="tell", input=items).output_text == "Owls fly."
    instructed = [{"role": "system", "content": "You are kind."}, *items]
    refused = failure_of(openai.BadRequestError, lambda: client.responses.create(model="tell", input=instructed))
    assert refused.param == "input[0]" and refused.code == "unsupported_value", refused
    assert check_response(client.responses.retrieve(response.id)).output_text == "Owls fly."
    refused = failure_of(openai.BadRequestError, lambda: client.responses.create(model="tell", input="x", temperature=0.2))
    assert refused.param == "temperature" and refused.code == "unsupported_value", refused
    refused = failure_of(openai.BadRequestError, lambda: ask(client, "tell", "x", max_tokens=5))
    assert refused.param == "max_tokens" and refused.code == "unsupported_parameter", refused
    failure_of(openai.NotFoundError, lambda: client.responses.retrieve("resp_none"))


def test_a_stream_of_a_response(server, token):
    client = client_of(server, token)
    events = list(client.responses.create(model="tell", input="owls", stream=True))
    adapter = TypeAdapter(ResponseStreamEvent)
    for event in events:
        assert type(adapter.validate_python(json.loads(event.model_dump_json()), strict=True)) is type(event), event
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "Owls fly."
    assert check_response(events[-1].response).output_text == "Owls fly." and events[-1].type == "response.completed"
    with client.responses.stream(model="tell", input="owls") as stream:
        kinds = {event.type for event in stream}
        assert stream.get_final_response().output_text == "Owls fly."
    assert {"response.created", "response.output_text.delta", "response.output_text.done", "response.completed"} <= kinds, kinds
    failed = list(client.responses.create(model="Desk", input="fail", stream=True))[-1]
    assert failed.type == "response.failed" and "Arithmetic" in check_response(failed.response).error.message


def test_a_conversation_of_responses(server, token):
    client = client_of(server, token)
    first = client.responses.create(model="Desk", input="hello")
    asked = check_response(client.responses.create(model="Desk", input="refund", previous_response_id=first.id))
    assert asked.output_text == "How much?" and asked.wait["schema"]["type"] == "integer", asked
    with client.responses.stream(model="Desk", input="12", previous_response_id=asked.id) as stream:
        answered = stream.get_final_response()
    assert answered.output_text == "refunded 12" and answered.previous_response_id == asked.id
    older = failure_of(openai.ConflictError,
                       lambda: client.responses.create(model="Desk", input="x", previous_response_id=first.id))
    assert "previous_response_id" in older.message, older
    named = client.responses.create(model="Desk", input="hello", conversation="mine")
    assert named.conversation.id == "mine"
    assert client.responses.create(model="Desk", input="more", conversation={"id": "mine"}).output_text == "turn 2: more"
    assert len(runs(server, token)) == 2


def test_a_response_in_the_background(server, token):
    client = client_of(server, token)
    begun = check_response(client.responses.create(model="Desk", input="rest", background=True))
    assert begun.status == "in_progress" and begun.background and begun.output_text == ""
    cancelled = check_response(client.responses.cancel(begun.id))
    assert cancelled.status == "cancelled" and client.responses.retrieve(begun.id).status == "cancelled"
    assert client.responses.create(model="Desk", input="on", previous_response_id=begun.id).output_text == "turn 1: on"


def test_a_response_that_fails_is_reported_once(server, token):
    client = client_of(server, token)
    failed = failure_of(openai.InternalServerError, lambda: client.responses.create(model="Desk", input="fail"))
    assert failed.code == "Arithmetic" and len(runs(server, token)) == 1


def test_invalid_fields(server, token):
    client = client_of(server, token)
    unknown = failure_of(openai.NotFoundError, lambda: ask(client, "unknown", "x"))
    assert unknown.code == "model_not_found" and "unknown" in unknown.message and unknown.type == "invalid_request_error"
    failure_of(openai.NotFoundError, lambda: ask(client, "unknown", "x", stream=True))
    failure_of(openai.UnprocessableEntityError, lambda: client.chat.completions.create(model="tell", messages=[]))
    stranger = openai.OpenAI(base_url=str(client.base_url), api_key="another-key")
    denied = failure_of(openai.AuthenticationError, lambda: ask(stranger, "tell", "x"))
    assert token not in str(denied)
    assert runs(server, token) == []


def test_a_message_during_a_turn(server, token):
    client = client_of(server, token)
    run = server.post("/v1/runs", {"agent": "Desk", "input": "rest"}, Authorization="Bearer " + token).json["run"]
    before = int(server_metric(server, token, "http_requests_total"))
    conflict = failure_of(openai.ConflictError,
                          lambda: ask(client, "Desk", "now", extra_body={"conversation": run}))
    assert conflict.status_code == 409 and "turn" in conflict.message
    assert int(server_metric(server, token, "http_requests_total")) - before <= 2, "it was sent once"


def server_metric(server, token, name):
    for line in server.get("/metrics", Authorization="Bearer " + token).body.splitlines():
        if line.startswith(f"tenon_{name} "):
            return line.split()[1]
    raise AssertionError(name)


def test_a_turn_that_fails_is_reported_once(server, token):
    client = client_of(server, token)
    failed = failure_of(openai.InternalServerError, lambda: ask(client, "Desk", "fail"))
    assert failed.code == "Arithmetic" and failed.type == "server_error", failed
    assert len(runs(server, token)) == 1, "the client did not send it again"
    stream = ask(client, "Desk", "fail", stream=True)
    error = failure_of(openai.APIError, lambda: list(stream))
    assert error.code == "Arithmetic", error


def test_many_at_once_without_waiting(server, token):
    async def talk():
        client = openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key=token)

        async def one(name):
            texts = []
            for word in ("a", "b"):
                stream = await client.chat.completions.create(model="Desk", messages=said(word), stream=True,
                                                              extra_body={"conversation": name})
                texts.append("".join([chunk.choices[0].delta.content or "" async for chunk in stream]))
            return texts

        results = await asyncio.gather(*(one(f"c{at}") for at in range(20)))
        await client.close()
        return results

    assert asyncio.run(talk()) == [["turn 1: a", "turn 2: b"]] * 20
    assert len(runs(server, token)) == 20
