"""Chats over other protocols: OpenAI's chat completions and AG-UI."""
import json
import subprocess

from server_process import ROOT, Server, Stream


def said(text):
    return [{"role": "user", "content": text}]


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
        assert server.get("/v1/models/tell").json in listed["data"]
        for name in ("add", "unknown"):
            reply = server.get(f"/v1/models/{name}")
            assert reply.status == 404 and reply.code == "model_not_found", reply.body


def test_a_chat_without_a_conversation(work):
    with Server(work) as server:
        reply = chat(server, "tell", "owls")
        assert content(reply) == "Owls fly." and reply.json["usage"]["completion_tokens"] > 0
        assert reply.json["object"] == "chat.completion" and reply.headers["X-Tenon-Conversation"] == reply.json["conversation"]
        parts = [{"role": "user", "content": [{"type": "text", "text": "ow"}, {"type": "text", "text": "ls"}]}]
        assert content(server.post("/v1/chat/completions", {"model": "tell", "messages": parts})) == "Owls fly."
        assert len(server.get("/v1/runs").json["runs"]) == 2, "each is a separate conversation"


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
        assert content(chat(server, "Counter", "d", conversation=run)) == "turn 4: d", "a run's name is also a key"
        history = [*said("d"), {"role": "assistant", "content": "turn 4: d"}, *said("e")]
        whole = server.post("/v1/chat/completions", {"model": "Counter", "messages": history, "conversation": run})
        assert content(whole) == "turn 5: e", "the client's copy of the conversation"
        assert len(server.get("/v1/runs").json["runs"]) == 1


def test_invalid_chats(work):
    with Server(work) as server:
        for body, status in [({}, 404), ({"model": "add", "messages": said("x")}, 404), ({"model": "tell"}, 422),
                             ({"model": "tell", "messages": []}, 422), ({"model": 3}, 422),
                             ({"model": "tell", "messages": [{"role": "user"}]}, 422),
                             ({"model": "tell", "messages": said("x"), "conversation": "0" * 26}, 404)]:
            reply = server.post("/v1/chat/completions", body)
            assert reply.status == status and reply.json["error"]["message"], (body, reply.status, reply.body)
        failed = chat(server, "Counter", "fail")
        assert failed.status == 500 and failed.code == "Arithmetic", failed.body


def test_unsupported_fields_are_rejected_by_name(work):
    with Server(work) as server:
        body = {"model": "tell", "messages": said("owls")}
        tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
        image = [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}}]}]
        for fields, status, param in [
                ({"tools": [tool]}, 400, "tools"), ({"tool_choice": "required"}, 400, "tool_choice"),
                ({"functions": [tool["function"]]}, 400, "functions"), ({"n": 2}, 400, "n"), ({"stop": "x"}, 400, "stop"),
                ({"response_format": {"type": "json_object"}}, 400, "response_format"),
                ({"max_tokens": 10}, 400, "max_tokens"), ({"max_completion_tokens": 10}, 400, "max_completion_tokens"),
                ({"temperature": 0}, 400, "temperature"), ({"seed": 1}, 400, "seed"), ({"logprobs": True}, 400, "logprobs"),
                ({"logit_bias": {"50256": -100}}, 400, "logit_bias"), ({"modalities": ["audio"]}, 400, "modalities"),
                ({"store": True}, 400, "store"), ({"metadata": {"a": "b"}}, 400, "metadata"),
                ({"service_tier": "priority"}, 400, "service_tier"), ({"reasoning_effort": "low"}, 400, "reasoning_effort"),
                ({"web_search_options": {}}, 400, "web_search_options"), ({"message": []}, 400, "message"),
                ({"stream": 1}, 422, "stream"), ({"stream_options": {"include_usge": True}}, 400, "stream_options.include_usge"),
                ({"messages": image}, 400, "messages[0].content[1]"),
                ({"messages": [{"role": "system", "content": "Be kind."}, *said("a")]}, 400, "messages[0]"),
                ({"messages": said("a") + [{"role": "assistant", "content": "b"}, *said("c")]}, 400, "messages[0]"),
                ({"messages": said("a") + [{"role": "tool", "content": "b"}]}, 400, "messages[1]")]:
            reply = server.post("/v1/chat/completions", {**body, **fields})
            assert reply.status == status and reply.json["error"]["param"] == param, (fields, reply.status, reply.body)
            assert f"`{param}`" in reply.json["error"]["message"], reply.body
        assert "did you mean `messages`" in server.post("/v1/chat/completions", {**body, "message": []}).body
        assert server.get("/v1/runs").json["runs"] == []
        neutral = {"n": 1, "temperature": 1.0, "top_p": 1, "stop": None, "tools": [], "tool_choice": "none", "seed": None,
                   "response_format": {"type": "text"}, "store": False, "metadata": {}, "user": "u", "logprobs": False,
                   "modalities": ["text"], "presence_penalty": 0, "service_tier": "auto", "stream_options": None}
        assert content(server.post("/v1/chat/completions", {**body, **neutral})) == "Owls fly."


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
        assert text == "Allow x? (yes or no)", asked
        failed = stream_of(server, "/v1/chat/completions", {"model": "Counter", "messages": said("fail"), "stream": True})
        assert json.loads(failed[-1])["error"]["code"] == "Arithmetic", failed


def test_a_repeated_chat_request(work):
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


APPROVALS = '''\
extern fn read_inbox() -> String
extern fn send_mail(to: trusted String) -> ()

agent Clerk {
    fn turn(ctx: Context, input: String) -> String {
        send_mail(approve(read_inbox(), "Is this {{ input }}?"))
        "sent"
    }
}
'''


def test_a_person_sees_what_is_to_be_approved(work):
    """Also what is hidden in it."""
    (work / "tools.py").write_text('def read_inbox(): return "eve\\u202E"\ndef send_mail(to: str): pass\n')
    shown = 'Is this ann?\n  "eve\\u{202E}", which depends on person and extern read_inbox\n(yes, no, or another value)'
    with Server(work, "--extern", work / "tools.py", program=APPROVALS) as server:
        asked = chat(server, "Clerk", "ann", conversation="c")
        assert content(asked) == shown, asked.body
        assert content(chat(server, "Clerk", "yes", conversation="c")) == "sent"
        asked = agui(server, "Clerk", "t1", "ann")
        (interrupt,) = asked[-1]["outcome"]["interrupts"]
        assert interrupt["message"] == shown, interrupt


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
        valid = {"threadId": "t9", "runId": "r", "messages": said("a")}
        for fields, param in [({"tools": [{"name": "f"}]}, "tools"), ({"context": [{"description": "d", "value": "v"}]}, "context"),
                              ({"forwardedProps": {"a": 1}}, "forwardedProps"), ({"thread": "t"}, "thread"),
                              ({"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]},
                               "messages[0].content[0]")]:
            reply = server.post("/agui/Counter", {**valid, **fields})
            assert reply.status == 400 and reply.json["error"]["param"] == param, (fields, reply.body)
        late = [{"interruptId": "0", "status": "resolved", "payload": 1}]
        for thread in ("t2", "without-owner"):
            reply = server.post("/agui/Counter", {"threadId": thread, "runId": "r", "messages": [], "resume": late})
            assert reply.status == 409, reply.body


def test_agui_shows_tool_calls(work):
    program = 'fn go(text: String) -> String {\n    sleep(5)\n    "slept, {{ text }}"\n}\n'
    with Server(work, program=program) as server:
        events = agui(server, "go", "t", "x")
        types = [event["type"] for event in events]
        assert types == ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT",
                         "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"], types
        assert events[1]["toolCallName"] == "sleep" and json.loads(events[2]["delta"]) == {"milliseconds": 5}, events


WAITS = '''\
fn two(text: String) -> String {
    let both = parallel {
        a = ask<String>("First?"),
        b = ask<String>("Second?"),
    }
    "{{ both.a }} {{ both.b }}"
}
fn late(text: String) -> String {
    let said = ask_within<String>("Quick?", 1) catch f { "no one" }
    "{{ said }} said {{ text }}"
}
'''


def wait_of(server, question):
    (run,) = server.get("/v1/runs").json["runs"]
    return run["run"], {wait["question"]: wait["wait"] for wait in run["waits"]}[question]


def test_a_message_answers_the_question_that_was_shown(work):
    for crashes in (False, True):
        place = work / str(crashes)
        place.mkdir()
        with Server(place, program=WAITS) as server:
            asked = chat(server, "two", "x", conversation="c")
            assert content(asked) == "First?" and asked.json["wait"]["wait"] == wait_of(server, "First?")[1], asked.body
            if crashes:
                server.kill()
                server.start()
            asked = chat(server, "two", "1", conversation="c")
            assert content(asked) == "Second?" and asked.json["wait"]["wait"] == wait_of(server, "Second?")[1], asked.body
            ended = chat(server, "two", "2", conversation="c")
            assert content(ended) == "1 2" and "wait" not in ended.json, ended.body


def test_a_message_does_not_answer_a_question_that_was_not_shown(work):
    with Server(work, program=WAITS) as server:
        assert content(chat(server, "two", "x", conversation="c")) == "First?"
        run, wait = wait_of(server, "First?")
        assert server.post(f"/v1/runs/{run}/resume", {"wait": wait, "input": "1"}).status == 202
        refused = chat(server, "two", "for the first one", conversation="c")
        assert refused.status == 409 and "Second?" in refused.json["error"]["message"], refused.body
        assert content(chat(server, "two", "2", conversation="c")) == "1 2"


def test_an_answer_leaves_the_other_question_open(work):
    with Server(work, program=WAITS) as server:
        body = {"model": "two", "messages": said("x")}
        assert content(server.post("/v1/chat/completions", body, Idempotency_Key="k")) == "First?"
        run, wait = wait_of(server, "Second?")
        assert server.post(f"/v1/runs/{run}/resume", {"wait": wait, "input": "2"}).status == 202
        again = server.post("/v1/chat/completions", body, Idempotency_Key="k")
        assert content(again) == "First?" and again.json["wait"]["wait"] == wait_of(server, "First?")[1], again.body


def test_an_expired_question_is_not_shown(work):
    with Server(work, program=WAITS) as server:
        body = {"model": "late", "messages": said("x")}
        thread = {"threadId": "t", "runId": "r", "messages": said("x")}
        runs = [server.post("/v1/chat/completions", body, Idempotency_Key="k").headers["X-Tenon-Conversation"],
                server.post("/agui/late", thread, Idempotency_Key="l").headers["X-Tenon-Conversation"]]
        for run in runs:
            server.wait_for(run, "done")
        ended = server.post("/v1/chat/completions", body, Idempotency_Key="k")
        assert content(ended) == "no one said x" and "wait" not in ended.json, ended.body
        ended = server.post("/agui/late", thread, Idempotency_Key="l").body
        assert "TOOL_CALL" not in ended and '"result":"no one said x"' in ended, ended


def test_the_model_is_the_one_of_the_conversation(work):
    with Server(work) as server:
        run = server.begin({"agent": "Counter"})
        refused = chat(server, "Child", "x", conversation=run)
        assert refused.status == 409 and "`Counter`" in refused.json["error"]["message"], refused.body
        assert content(chat(server, "Counter", "x", conversation=run)) == "turn 1: x"


def test_a_key_belongs_to_one_conversation(work):
    with Server(work) as server:
        body = {"model": "Counter", "messages": said("a")}

        def send(conversation):
            return server.post("/v1/chat/completions", body, Idempotency_Key="k", X_Tenon_Conversation=conversation)
        assert content(send("c")) == content(send("c")) == "turn 1: a"
        other = send("d")
        assert other.status == 422 and other.code == "idempotency_key_reused", other.body
        assert len(server.get("/v1/runs").json["runs"]) == 1


LIBRARY = r'''
#include <tenon/extern.h>
TENON_EXTERN_AS(delegate, "(String) -> String") {
  const tenon_text input = tenon_argument_text(call, 0);
  tenon_pause_for_child_text(call, "Clerk", input.data, input.length);
}
'''
DELEGATING = '''\
extern fn delegate(matter: String) -> String
agent Clerk {
    fn turn(ctx: Context, input: String) -> String {
        if input == "ask" { return ask<String>("How is it?") }
        "{{ input }} is done"
    }
}
agent Manager {
    fn turn(ctx: Context, input: String) -> String { "{{ Clerk::run("this") }}, {{ delegate(input) }}" }
}
'''


def test_a_childs_end_is_the_result_of_the_call_that_prompted_it(work):
    source, library = work / "library.c", work / "library.so"
    source.write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT / "include", "-o", library, source], check=True)
    with Server(work, "--extern", library, program=DELEGATING) as server:
        def calls(events):
            return [(event["type"][10:], event["toolCallId"], event.get("content") or event.get("delta"))
                    for event in events if event["type"].startswith("TOOL_CALL_")]
        events = agui(server, "Manager", "t1", "that")
        identity = calls(events)[0][1]
        assert calls(events) == [("START", identity, None), ("ARGS", identity, '{"matter":"that"}'), ("END", identity, None),
                                 ("RESULT", identity, "that is done")], events
        assert events[-1]["result"] == "this is done, that is done", events
        asked = agui(server, "Manager", "t2", "ask")
        identity = calls(asked)[0][1]
        assert [kind for kind, _, _ in calls(asked)] == ["START", "ARGS", "END"], asked
        ended = agui(server, "Manager", "t2", "well")
        assert calls(ended) == [("RESULT", identity, "well")] and ended[-1]["result"] == "this is done, well", ended


VALUES = '''\
struct Place { name: String, nights: i64 }
agent Mapper {
    state {
        counts: Map<i64> = Map::new()
        last: Place? = None
    }
    fn turn(ctx: Context, input: String) -> Map<i64> {
        state.counts[input] = 9_007_199_254_740_993
        state.last = Some(Place { name: input, nights: 2 })
        state.counts
    }
}
fn long(text: String) -> String {
    let said = text
    for n in 0..21 { said = said + said }
    said
}
agent Loud {
    fn turn(ctx: Context, input: String) -> String {
        emit(long(input))
        "end"
    }
}
'''


def test_values_are_plain_json(work):
    counts = '{"b":9007199254740993,"a":9007199254740993}'
    with Server(work, program=VALUES) as server:
        assert content(chat(server, "Mapper", "b", conversation="c")) == '{"b":9007199254740993}'
        assert content(chat(server, "Mapper", "a", conversation="c")) == counts
        agui(server, "Mapper", "t", "b")
        run = server.get("/v1/runs").json["runs"][0]["run"]
        assert list(server.events(run)[-1]["value"].items()) == [("b", 9007199254740993), ("a", 9007199254740993)]
    with Server(work, program="fn other() -> i32 { 1 }\nagent Mapper { fn turn(ctx: Context, input: String) -> String { input } }\n") as server:
        events = agui(server, "Mapper", "t", "a")
        fields = {event["type"]: event for event in events}
        assert list(fields["RUN_FINISHED"]["result"].items()) == [("b", 9007199254740993), ("a", 9007199254740993)], events
        state = {"counts": {"b": 9007199254740993, "a": 9007199254740993}, "last": {"name": "a", "nights": 2}}
        assert fields["STATE_SNAPSHOT"]["snapshot"] == state, events
        patch = {entry["path"]: entry["value"] for entry in fields["STATE_DELTA"]["delta"]}
        assert patch == {"/counts": state["counts"], "/last": state["last"]}, events
        assert fields["TEXT_MESSAGE_CONTENT"]["delta"] == counts, events


def test_a_long_answer_is_complete(work):
    size = 2 << 20
    with Server(work, program=VALUES) as server:
        assert content(chat(server, "long", "x")) == "x" * size
        assert content(chat(server, "Loud", "x")) == "x" * size + "\n\nend"
        events = agui(server, "long", "t", "x")
        assert events[-1]["result"] == "x" * size and "".join(event.get("delta", "") for event in events) == "x" * size
        server.stop()
    with Server(work, "--limit", f"answer_bytes={size}", program=VALUES) as server:
        for model in ("long", "Loud"):
            reply = chat(server, model, "x")
            assert reply.status == 500 and reply.code == "too_long" and "answer_bytes" in reply.body, reply.body[:500]
        assert agui(server, "long", "u", "x")[-1]["code"] == "too_long"
