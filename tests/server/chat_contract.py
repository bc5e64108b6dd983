"""Chats in the forms of others: OpenAI's completions and AG-UI."""
import json

from server_process import Server, Stream


def said(text):
    return [{"role": "system", "content": "ignored"}, {"role": "user", "content": text}]


def chat(server, model, text, **fields):
    return server.post("/v1/chat/completions", {"model": model, "messages": said(text), **fields})


def content(reply):
    assert reply.status == 200, reply.body
    choice = reply.json["choices"][0]
    assert choice["finish_reason"] == "stop" and choice["message"]["role"] == "assistant"
    return choice["message"]["content"]


def test_models(work):
    with Server(work) as server:
        listed = server.get("/v1/models").json
        assert listed["object"] == "list"
        names = {model["id"] for model in listed["data"]}
        assert {"tell", "approve", "Counter", "Child"} == names, names


def test_a_chat_without_a_conversation(work):
    with Server(work) as server:
        reply = chat(server, "tell", "owls")
        assert content(reply) == "Owls fly." and reply.json["usage"]["completion_tokens"] > 0
        assert reply.json["object"] == "chat.completion" and reply.headers["X-Tenon-Conversation"] == reply.json["conversation"]
        parts = [{"role": "user", "content": [{"type": "text", "text": "ow"}, {"type": "text", "text": "ls"}]}]
        assert content(server.post("/v1/chat/completions", {"model": "tell", "messages": parts})) == "Owls fly."
        assert len(server.get("/v1/runs").json["runs"]) == 2, "each is a conversation of its own"


def test_a_conversation_over_turns_questions_and_a_crash(work):
    with Server(work) as server:
        assert content(chat(server, "Counter", "a", conversation="c")) == "turn 1: a"
        asked = chat(server, "Counter", "ask", conversation="c")
        assert content(asked) == "How many?" and asked.json["wait"]["schema"]["type"] == "integer", asked.body
        wrong = chat(server, "Counter", "lots", conversation="c")
        assert wrong.status == 422, wrong.body
        server.kill()
        server.start()
        assert content(chat(server, "Counter", "7", conversation="c")) == "you said 7"
        last = server.post("/v1/chat/completions", {"model": "Counter", "messages": said("b")}, X_Tenon_Conversation="c")
        assert content(last) == "turn 3: b"
        run = server.get("/v1/runs").json["runs"][0]["run"]
        assert content(chat(server, "Counter", "d", conversation=run)) == "turn 4: d", "a run's name is one too"
        assert len(server.get("/v1/runs").json["runs"]) == 1


def test_what_a_chat_refuses(work):
    with Server(work) as server:
        for body, status in [({}, 404), ({"model": "add", "messages": said("x")}, 404), ({"model": "tell"}, 422),
                             ({"model": "tell", "messages": []}, 422), ({"model": 3}, 422),
                             ({"model": "tell", "messages": [{"role": "user"}]}, 422),
                             ({"model": "tell", "messages": said("x"), "conversation": "0" * 26}, 404)]:
            reply = server.post("/v1/chat/completions", body)
            assert reply.status == status and reply.json["error"]["message"], (body, reply.status, reply.body)
        failed = chat(server, "Counter", "fail")
        assert failed.status == 500 and failed.code == "Arithmetic", failed.body


def stream_of(server, path, body):
    return [data for _, data in Stream(server, "POST", path, body)]


def test_a_streamed_chat(work):
    with Server(work) as server:
        body = {"model": "tell", "messages": said("owls"), "stream": True, "stream_options": {"include_usage": True}}
        data = stream_of(server, "/v1/chat/completions", body)
        assert data[-1] == "[DONE]"
        chunks = [json.loads(text) for text in data[:-1]]
        assert all(chunk["object"] == "chat.completion.chunk" for chunk in chunks)
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks if chunk["choices"])
        assert text == "Owls fly." and chunks[0]["choices"][0]["delta"]["role"] == "assistant", chunks
        assert chunks[-2]["choices"][0]["finish_reason"] == "stop" and chunks[-1]["usage"]["total_tokens"] > 0
        asked = stream_of(server, "/v1/chat/completions", {"model": "approve", "messages": said("x"), "stream": True})
        text = "".join(json.loads(data)["choices"][0]["delta"].get("content", "") for data in asked[:-1])
        assert text == "Allow x?", asked
        failed = stream_of(server, "/v1/chat/completions", {"model": "Counter", "messages": said("fail"), "stream": True})
        assert json.loads(failed[-1])["error"]["code"] == "Arithmetic", failed


def test_a_chat_that_is_sent_again(work):
    with Server(work) as server:
        body = {"model": "Counter", "messages": said("a"), "conversation": "c"}
        first = server.post("/v1/chat/completions", body, Idempotency_Key="k1")
        again = server.post("/v1/chat/completions", body, Idempotency_Key="k1")
        assert content(first) == content(again) == "turn 1: a", again.body
        assert content(chat(server, "Counter", "b", conversation="c")) == "turn 2: b"
        server.kill()
        server.start()
        assert content(server.post("/v1/chat/completions", body, Idempotency_Key="k1")) == "turn 1: a"
        other = server.post("/v1/chat/completions", {**body, "messages": said("z")}, Idempotency_Key="k1")
        assert other.status == 422 and other.code == "idempotency_key_reused", other.body
        later = {"model": "Counter", "messages": said("c"), "conversation": "c"}
        for _ in range(2):
            assert content(server.post("/v1/chat/completions", later, Idempotency_Key="k2")) == "turn 3: c"
        lone = {"model": "tell", "messages": said("owls"), "stream": True}
        streams = [[data for _, data in Stream(server, "POST", "/v1/chat/completions", lone, {"Idempotency-Key": "k3"})]
                   for _ in range(2)]
        texts = ["".join(json.loads(data)["choices"][0]["delta"].get("content", "") for data in stream[:-1])
                 for stream in streams]
        assert texts == ["Owls fly."] * 2, streams
        assert len(server.get("/v1/runs").json["runs"]) == 2
        assert server.post("/v1/chat/completions", body, Idempotency_Key="k" * 300).status == 422
        request = {"threadId": "t", "runId": "r", "messages": said("ask")}
        asked = [server.post("/agui/Counter", request, Idempotency_Key="k4").body for _ in range(2)]
        assert asked[0] == asked[1] and "How many?" in asked[0], asked


def agui(server, agent, thread, text):
    body = {"threadId": thread, "runId": "r-" + text, "messages": [{"id": "1", "role": "user", "content": text}],
            "state": {}, "tools": [], "context": [], "forwardedProps": {}}
    return [json.loads(data) for data in stream_of(server, f"/agui/{agent}", body)]


def test_agui(work):
    with Server(work) as server:
        events = agui(server, "tell", "t1", "owls")
        types = [event["type"] for event in events]
        assert types[0] == "RUN_STARTED" and types[-1] == "RUN_FINISHED" and types[-2] == "TEXT_MESSAGE_END", types
        assert "".join(event.get("delta", "") for event in events) == "Owls fly."
        assert events[-1]["result"] == "Owls fly." and events[0]["threadId"] == "t1" and events[0]["runId"] == "r-owls"
        asked = agui(server, "Counter", "t2", "child")
        assert [event["type"] for event in asked] == ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT",
                                                      "TEXT_MESSAGE_END", "RUN_FINISHED"], asked
        (interrupt,) = asked[-1]["outcome"]["interrupts"]
        assert asked[2]["delta"] == interrupt["message"] == "Child asks?", asked
        assert interrupt["responseSchema"] == {"type": "string"}, interrupt
        assert agui(server, "Counter", "t2", "milk")[-1]["result"] == "child got milk"
        assert agui(server, "Counter", "t2", "b")[-1]["result"] == "turn 2: b", "a thread is a conversation"
        failed = agui(server, "Counter", "t2", "fail")[-1]
        assert failed["type"] == "RUN_ERROR" and failed["code"] == "Arithmetic", failed
        assert server.post("/agui/add", {}).status == 404
        assert server.post("/agui/tell", {"threadId": "t", "runId": "r"}).status == 422
        assert server.post("/agui/tell", {"runId": "r"}).status == 422
        for resume in ("x", [{}], [{"interruptId": "0", "status": "odd"}], [{"interruptId": "0", "status": "resolved"}]):
            reply = server.post("/agui/Counter", {"threadId": "t2", "runId": "r", "messages": [], "resume": resume})
            assert reply.status == 422 and "resume" in reply.json["error"]["message"], (resume, reply.body)
        late = [{"interruptId": "0", "status": "resolved", "payload": 1}]
        for thread in ("t2", "of-nobody"):
            reply = server.post("/agui/Counter", {"threadId": thread, "runId": "r", "messages": [], "resume": late})
            assert reply.status == 409, reply.body


def test_agui_shows_tool_calls(work):
    program = 'fn go(text: String) -> String {\n    sleep(5)\n    "slept, {{ text }}"\n}\n'
    with Server(work, program=program) as server:
        events = agui(server, "go", "t", "x")
        types = [event["type"] for event in events]
        assert types == ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT",
                         "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"], types
        assert events[1]["toolCallName"] == "sleep" and json.loads(events[2]["delta"]) == [5] or events[2]["delta"] == '["5"]'
