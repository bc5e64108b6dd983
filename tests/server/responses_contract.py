"""OpenAI's responses: created whole and as a stream, continued, read again, cancelled."""
import json
import time
from concurrent.futures import ThreadPoolExecutor

from server_process import SECONDS_MAX, Server, Stream
from chat_contract import WAITS

EVENTS = ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
          "response.output_text.delta", "response.output_text.done", "response.content_part.done",
          "response.output_item.done", "response.completed"]


def create(server, model, text, **fields):
    headers = fields.pop("headers", {})
    return server.post("/v1/responses", {"model": model, "input": text, **fields}, **headers)


def text_of(reply):
    assert reply.status == 200, reply.body
    assert reply.json["object"] == "response" and reply.json["status"] == "completed", reply.body
    (message,) = reply.json["output"]
    assert message["role"] == "assistant" and message["status"] == "completed", message
    return message["content"][0]["text"]


def events_of(server, body):
    return [json.loads(data) for _, data in Stream(server, "POST", "/v1/responses", {**body, "stream": True})]


def read(server, response):
    reply = server.get(f"/v1/responses/{response}")
    assert reply.status == 200, reply.body
    return reply.json


def test_a_response(work):
    with Server(work) as server:
        reply = create(server, "tell", "owls")
        assert text_of(reply) == "Owls fly." and reply.json["model"] == "tell", reply.body
        usage = reply.json["usage"]
        assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0, usage
        assert read(server, reply.json["id"]) == reply.json
        items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "ow"},
                                                                 {"type": "input_text", "text": "ls"}]}]
        assert text_of(create(server, "tell", items)) == "Owls fly."
        for earlier in ({"role": "assistant", "content": "Hello."}, {"role": "system", "content": "Be kind."}):
            refused = create(server, "tell", [earlier, *items])
            assert refused.status == 400 and refused.json["error"]["param"] == "input[0]", refused.body
        server.kill()
        server.start()
        assert read(server, reply.json["id"]) == reply.json


def test_a_stream_of_a_response(work):
    with Server(work) as server:
        events = events_of(server, {"model": "tell", "input": "owls"})
        types = [event["type"] for event in events]
        assert list(dict.fromkeys(types)) == EVENTS, types
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        assert "".join(event["delta"] for event in events if event["type"].endswith(".delta")) == "Owls fly."
        assert events[0]["response"]["status"] == "in_progress" and events[0]["response"]["output"] == []
        final = events[-1]["response"]
        assert final["status"] == "completed" and final == read(server, final["id"]), final
        again = [json.loads(data) for _, data in Stream(server, "GET", f"/v1/responses/{final['id']}?stream=true")]
        assert again[-1]["response"] == final and again[0]["type"] == "response.created", again
        failed = events_of(server, {"model": "Counter", "input": "fail"})[-1]
        assert failed["type"] == "response.failed" and failed["response"]["status"] == "failed", failed
        assert "Arithmetic" in failed["response"]["error"]["message"], failed


def test_a_conversation_of_responses(work):
    with Server(work) as server:
        first = create(server, "Counter", "a")
        assert text_of(first) == "turn 1: a" and first.json["previous_response_id"] is None
        asked = create(server, "Counter", "ask", previous_response_id=first.json["id"])
        assert text_of(asked) == "How many?" and asked.json["wait"]["schema"]["type"] == "integer", asked.body
        assert asked.json["previous_response_id"] == first.json["id"]
        assert asked.json["conversation"] == first.json["conversation"]
        wrong = create(server, "Counter", "lots", previous_response_id=asked.json["id"])
        assert wrong.status == 422, wrong.body
        server.kill()
        server.start()
        answered = create(server, "Counter", "7", previous_response_id=asked.json["id"])
        assert text_of(answered) == "you said 7"
        last = create(server, "Counter", "b", previous_response_id=answered.json["id"])
        assert text_of(last) == "turn 3: b" and read(server, last.json["id"]) == last.json
        for older in (first, asked):
            refused = create(server, "Counter", "c", previous_response_id=older.json["id"])
            assert refused.status == 409 and "`previous_response_id`" in refused.json["error"]["message"], refused.body
        assert len(server.get("/v1/runs").json["runs"]) == 1
        other = create(server, "Child", "c", previous_response_id=last.json["id"])
        assert other.status == 409 and "`Counter`" in other.json["error"]["message"], other.body


def test_one_of_many_requests_continues_a_response(work):
    with Server(work) as server, ThreadPoolExecutor(8) as pool:
        first = create(server, "Counter", "a").json["id"]
        replies = list(pool.map(lambda n: create(server, "Counter", str(n), previous_response_id=first), range(16)))
        assert sorted(reply.status for reply in replies) == [200] + [409] * 15, [reply.body for reply in replies]
        events = server.events(server.get("/v1/runs").json["runs"][0]["run"])
        assert [event["type"] for event in events].count("prompt_started") == 2, events


def test_a_conversation_has_one_name_in_both_formats(work):
    with Server(work) as server:
        assert text_of(create(server, "Counter", "a", conversation="c")) == "turn 1: a"
        chat = {"model": "Counter", "messages": [{"role": "user", "content": "b"}], "conversation": "c"}
        assert server.post("/v1/chat/completions", chat).json["choices"][0]["message"]["content"] == "turn 2: b"
        third = create(server, "Counter", "c", conversation={"id": "c"})
        assert text_of(third) == "turn 3: c" and third.json["conversation"] == {"id": "c"}, third.body


def test_a_response_that_is_requested_again(work):
    with Server(work) as server:
        first = create(server, "Counter", "a")
        more = {"previous_response_id": first.json["id"], "headers": {"Idempotency_Key": "k"}}
        second = create(server, "Counter", "b", **more)
        server.kill()
        server.start()
        again = create(server, "Counter", "b", previous_response_id=first.json["id"], headers={"Idempotency_Key": "k"})
        assert text_of(second) == "turn 2: b" and again.json == second.json, again.body
        other = create(server, "Counter", "c", previous_response_id=first.json["id"], headers={"Idempotency_Key": "k"})
        assert other.status == 422 and other.code == "idempotency_key_reused", other.body


def test_a_response_in_the_background(work):
    program = 'agent Napper { fn turn(ctx: Context, input: String) -> String { if input == "nap" { sleep(1_000_000) }\n "woke" } }\n'
    with Server(work, program=program) as server:
        begun = create(server, "Napper", "nap", background=True)
        assert begun.status == 200 and begun.json["status"] == "in_progress" and begun.json["background"], begun.body
        assert read(server, begun.json["id"]) == begun.json and begun.json["usage"] is None
        cancelled = server.post(f"/v1/responses/{begun.json['id']}/cancel")
        assert cancelled.status == 200 and cancelled.json["status"] == "cancelled", cancelled.body
        assert read(server, begun.json["id"]) == cancelled.json
        assert server.post(f"/v1/responses/{begun.json['id']}/cancel").json == cancelled.json, "a second time changes nothing"
        next_one = create(server, "Napper", "x", previous_response_id=begun.json["id"], background=True)
        deadline = time.monotonic() + SECONDS_MAX
        while (shown := read(server, next_one.json["id"]))["status"] == "in_progress":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert shown["status"] == "completed" and shown["output"][0]["content"][0]["text"] == "woke", shown
        assert server.post(f"/v1/responses/{begun.json['id']}/cancel").json["status"] == "cancelled"


def test_a_failed_turn_of_a_response(work):
    with Server(work) as server:
        failed = create(server, "Counter", "fail")
        assert failed.status == 500 and failed.code == "Arithmetic", failed.body
        assert failed.headers["X-Should-Retry"] == "false"
        shown = read(server, failed.json["response"])
        assert shown["status"] == "failed" and "Arithmetic" in shown["error"]["message"], shown
        assert text_of(create(server, "Counter", "on", previous_response_id=failed.json["response"])) == "turn 1: on"


def test_a_response_asks_the_oldest_question(work):
    with Server(work, program=WAITS) as server:
        first = create(server, "two", "x")
        assert text_of(first) == "First?", first.body
        second = create(server, "two", "1", previous_response_id=first.json["id"])
        assert text_of(second) == "Second?"
        assert text_of(create(server, "two", "2", previous_response_id=second.json["id"])) == "1 2"


def test_what_a_response_rejects(work):
    with Server(work) as server:
        said = {"model": "tell", "input": "owls"}
        image = [{"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "x"}]}]
        output = [{"role": "user", "content": "a"}, {"type": "function_call_output", "call_id": "c", "output": "b"}]
        tool = {"type": "function", "name": "f", "parameters": {}}
        for fields, status, param in [
                ({"model": "none"}, 404, "model"), ({"input": 3}, 422, "input"), ({"input": []}, 422, "input"),
                ({"input": None}, 422, "input"), ({"stream": "yes"}, 422, "stream"), ({"background": 1}, 422, "background"),
                ({"tools": [tool]}, 400, "tools"), ({"tool_choice": "required"}, 400, "tool_choice"),
                ({"instructions": "Be kind."}, 400, "instructions"), ({"temperature": 0.2}, 400, "temperature"),
                ({"max_output_tokens": 5}, 400, "max_output_tokens"), ({"reasoning": {"effort": "low"}}, 400, "reasoning"),
                ({"text": {"format": {"type": "json_object"}}}, 400, "text"), ({"store": False}, 400, "store"),
                ({"metadata": {"a": "b"}}, 400, "metadata"), ({"include": ["message.output_text.logprobs"]}, 400, "include"),
                ({"truncation": "auto"}, 400, "truncation"), ({"imput": "x"}, 400, "imput"),
                ({"stream_options": {"include_obfuscation": True}}, 400, "stream_options.include_obfuscation"),
                ({"input": image}, 400, "input[0].content[1]"), ({"input": output}, 400, "input[1]"),
                ({"previous_response_id": "resp_none_1"}, 404, "previous_response_id"),
                ({"previous_response_id": "resp_" + "0" * 26 + "_0"}, 404, "previous_response_id"),
                ({"conversation": {"name": "c"}}, 422, "conversation.id"),
                ({"previous_response_id": "resp_x_1", "conversation": "c"}, 400, "previous_response_id")]:
            reply = server.post("/v1/responses", {**said, **fields})
            assert reply.status == status and reply.json["error"]["param"] == param, (fields, reply.status, reply.body)
        assert server.get("/v1/runs").json["runs"] == []
        neutral = {"temperature": 1, "top_p": 1.0, "tools": [], "tool_choice": "auto", "store": True, "metadata": {},
                   "text": {"format": {"type": "text"}}, "reasoning": {"effort": None}, "include": [], "user": "u",
                   "truncation": "disabled", "parallel_tool_calls": False, "service_tier": "auto", "instructions": None}
        assert text_of(server.post("/v1/responses", {**said, **neutral})) == "Owls fly."
        run = server.get("/v1/runs").json["runs"][0]["run"]
        for path in ("none", f"resp_{run}", f"resp_{run}_", f"resp_{run}_00", f"resp_{run}_1", "resp_" + "0" * 26 + "_0"):
            assert server.get(f"/v1/responses/{path}").status == 404, path
            assert server.post(f"/v1/responses/{path}/cancel").status == 404, path
        assert server.get(f"/v1/responses/resp_{run}_0?stream=maybe").status == 422
