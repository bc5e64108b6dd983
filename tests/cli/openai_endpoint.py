"""The HTTP model, seen from its server: what is sent, what is retried, and that the key is sent nowhere else."""
import contextlib
import http.server
import json
import re
import time

from tenon_process import serve, tenon

KEY = "sk-this-key-is-secret-0123456789"
SECONDS_MAX = 60

PROGRAM = '''\
struct Place {
    /// the city's name
    city: String
    nights: i32 in 1..=30
}

fn say(ctx: Context) -> String {
    "Say a word"!
    "in English"!
}

fn place(ctx: Context) -> Place {
    "Where to?"!
}

fn is_far(ctx: Context) -> Boolean {
    "Is it far?"!
}
'''


class Endpoint:
    """A server on the loopback interface that answers with the given replies, in order, or with what a function makes of a
    request's body. It keeps the requests."""

    def __init__(self, replies):
        self.replies = replies if callable(replies) else list(replies)
        self.requests = []
        self.times = []
        endpoint = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = SECONDS_MAX

            def do_POST(self):  # noqa: N802
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                endpoint.requests.append((self.path, dict(self.headers.items()), json.loads(body)))
                endpoint.times.append(time.monotonic())
                if callable(endpoint.replies):
                    reply = endpoint.replies(endpoint.requests[-1][2])
                else:
                    reply = endpoint.replies.pop(0) if endpoint.replies else {"status": 500, "body": {}}
                if reply.get("cut"):
                    self.close_connection = True
                    self.connection.close()
                    return
                content = reply["body"] if isinstance(reply["body"], bytes) else json.dumps(reply["body"]).encode()
                self.send_response(reply.get("status", 200))
                for name, value in reply.get("headers", {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Type", reply.get("type", "application/json"))
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    @contextlib.contextmanager
    def running(self):
        serve(self.server)
        try:
            yield self
        finally:
            self.server.shutdown()
            self.server.server_close()


def answer(text):
    """A reply in both forms, streamed and not: the request decides which one is needed."""
    return {"body": {"id": "1", "object": "chat.completion", "model": "mock", "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 3}}}


def error(status, message, headers=None):
    return {"status": status, "headers": headers or {}, "body": {"error": {"message": message, "type": "x"}}}


def run(work, replies, *arguments, program=PROGRAM):
    file = work / "program.tn"
    file.write_text(program)
    trace, recording = work / "trace.jsonl", work / "recording.jsonl"
    with Endpoint(replies).running() as endpoint:
        process = tenon("run", file, "--model", "openai:mock", "--trace", trace, "--record", recording, "--show-prompts",
                        *arguments, seconds_max=SECONDS_MAX,
                        environment={"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": KEY, "NO_PROXY": "127.0.0.1"})
    for shown in (process.stdout, process.stderr, trace.read_text() if trace.exists() else "",
                  recording.read_text() if recording.exists() else ""):
        assert KEY not in shown, "the key was written down"
    return process, endpoint


def test_the_context_is_one_user_message(work):
    process, endpoint = run(work, [answer("word")], "--fn", "say")
    assert process.returncode == 0 and process.stdout == "word\n", process
    path, headers, body = endpoint.requests[0]
    assert path == "/v1/chat/completions" and body["model"] == "mock", (path, body)
    assert body["messages"] == [{"role": "user", "content": "Say a word\nin English"}], body["messages"]
    assert "response_format" not in body, body
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(body)


def test_counts_are_shown_if_the_server_reports_them(work):
    process, _ = run(work, [answer("word")], "--fn", "say")
    assert "   5 prompt tokens; 3 generated; " in process.stderr and "reused" not in process.stderr, process.stderr
    reply_of_word = answer("word")
    reply_of_word["body"]["usage"]["prompt_tokens_details"] = {"cached_tokens": 4}
    process, _ = run(work, [reply_of_word], "--fn", "say")
    assert "   5 prompt tokens: 1 computed, 4 reused; 3 generated" in process.stderr, process.stderr
    process, _ = run(work, [error(401, "no")], "--fn", "say")
    assert "[error]" in process.stderr and "prompt tokens" not in process.stderr, process.stderr


def test_a_typed_answer_asks_for_its_schema(work):
    process, endpoint = run(work, [answer('{"city": "Bern", "nights": 2}')], "--fn", "place")
    assert process.returncode == 0 and json.loads(process.stdout) == {"city": "Bern", "nights": 2}, process
    body = endpoint.requests[0][2]
    assert body["messages"][0] == {"role": "user", "content": "Where to?"}, body["messages"]
    assert len(body["messages"]) == 2, "the format note is a message of its own"
    form = body["response_format"]
    assert form["type"] == "json_schema", form
    schema = json.dumps(form["json_schema"]["schema"])
    assert '"city"' in schema and "the city's name" in schema and '"nights"' in schema, schema


def test_what_is_shown_is_what_is_sent(work):
    for function, replies in (("is_far", ['{"value": 1}', '{"value": true}']), ("place", ['{"city": "Bern", "nights": 2}']),
                              ("say", ["word"])):
        process, endpoint = run(work, [answer(text) for text in replies], "--fn", function)
        assert process.returncode == 0, process
        traced = [event for event in map(json.loads, (work / "trace.jsonl").read_text().splitlines())
                  if event["type"] == "generation_started"]
        assert len(traced) == len(endpoint.requests) == len(replies), traced
        for (_, _, body), event in zip(endpoint.requests, traced):
            assert event["messages"] == body["messages"], (event, body)
            sent = body.get("response_format", {}).get("json_schema", {}).get("schema")
            assert event.get("schema") == sent, (event, body)
            shown = "".join(f"[{message['role']}]\n{message['content']}\n" for message in body["messages"])
            assert shown + "[answer]" in process.stderr, (shown, process.stderr)


def test_one_failure_is_the_same_at_every_address(work):
    """The message is part of what a run's hash names; the address is shown beside it."""
    file = work / "program.tn"
    file.write_text(PROGRAM)
    failures = []
    for port in (9, 11):
        trace = work / f"{port}.jsonl"
        process = tenon("run", file, "--fn", "say", "--model", "openai:mock", "--timeout-ms", "1500", "--trace", trace,
                        seconds_max=SECONDS_MAX,
                        environment={"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": KEY,
                                     "NO_PROXY": "127.0.0.1"})
        assert process.returncode == 1 and f"tenon: no answer from the model at 127.0.0.1:{port} (" in process.stderr, process
        events = [json.loads(line) for line in trace.read_text().splitlines()]
        finished = next(event for event in events if event["type"] == "generation_finished")
        assert finished["endpoint"] == f"127.0.0.1:{port}", finished
        failures.append(events[-1]["failure"])
    # How often it is sent within the timeout is up to the machine.
    texts = [re.sub(r"sent (once|\d+ times)", "sent N times", json.dumps(failure)) for failure in failures]
    assert texts[0] == texts[1] and "127.0.0.1" not in texts[0], failures


def test_a_rejected_request_is_not_reported_as_silence(work):
    for reply, what in ((error(401, "no"), "the request was rejected by the model"),
                        (error(404, "no"), "the request was rejected by the model"),
                        ({"body": b"<html>"}, "invalid reply from the model")):
        file = work / "program.tn"
        file.write_text(PROGRAM)
        with Endpoint([reply]).running() as endpoint:
            process = tenon("run", file, "--model", "openai:mock", "--fn", "say", seconds_max=SECONDS_MAX,
                            environment={"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": KEY, "NO_PROXY": "127.0.0.1"})
        assert process.returncode == 1 and f"tenon: {what} at 127.0.0.1:" in process.stderr, process
        assert "no answer" not in process.stderr, process


def test_what_a_strict_schema_enforces_is_not_described(work):
    process, endpoint = run(work, [answer('{"value": 1}'), answer('{"value": true}')], "--fn", "is_far")
    assert process.returncode == 0 and process.stdout == "true\n", process
    first, second = (body["messages"] for _, _, body in endpoint.requests)
    assert first == [{"role": "user", "content": "Is it far?"}], first
    assert [message["role"] for message in second] == ["user", "assistant", "user"], second
    assert '{"value": true or false}' in second[-1]["content"], "the reply to an invalid answer contains the form"
    (work / "tenon.toml").write_text('[model.openai]\nschema_field = "json_object"\n')
    process, endpoint = run(work, [answer('{"value": true}')], "--fn", "is_far")
    assert len(endpoint.requests[0][2]["messages"]) == 2, endpoint.requests


def test_the_manifest_chooses_the_fields_of_a_request(work):
    manifest = work / "tenon.toml"
    reply = '{"city": "Bern", "nights": 2}'
    manifest.write_text('[model.openai]\ntoken_limit_field = "max_completion_tokens"\nsampling_fields = "omit"\n'
                        'schema_field = "json_object"\n')
    process, endpoint = run(work, [answer(reply)], "--fn", "place")
    assert process.returncode == 0, process
    body = endpoint.requests[0][2]
    assert "max_completion_tokens" in body and "max_tokens" not in body, body
    assert "temperature" not in body and "seed" not in body, body
    assert body["response_format"] == {"type": "json_object"}, body
    manifest.write_text('[model.openai]\nschema_field = "omit"\n')
    process, endpoint = run(work, [answer(reply)], "--fn", "place")
    body = endpoint.requests[0][2]
    assert process.returncode == 0 and "response_format" not in body, (process, body)
    assert "max_tokens" in body and "temperature" in body, body
    manifest.write_text('[model.openai]\nschema_field = "json"\nsampling = "omit"\n')
    process, endpoint = run(work, [answer(reply)], "--fn", "place")
    assert process.returncode == 1 and process.stdout == "" and endpoint.requests == [], process
    assert 'tenon.toml:2:16: error: `schema_field` must be one of `"json_schema"`' in process.stderr, process.stderr
    assert "tenon.toml:3:1: error: `[model.openai]` has no key `sampling`" in process.stderr, process.stderr


def test_a_rejected_field_names_the_option_that_changes_it(work):
    for param, key in (("temperature", 'sampling_fields = "omit"'), ("max_tokens", '"max_completion_tokens"'),
                       ("response_format", 'schema_field = "json_object"')):
        refusal = error(400, "not supported")
        refusal["body"]["error"]["param"] = param
        process, _ = run(work, [refusal], "--fn", "place")
        assert process.returncode == 1, process
        assert "[model.openai]" in process.stderr and key in process.stderr, process.stderr


def test_an_answer_that_does_not_fit_is_repaired(work):
    process, endpoint = run(work, [answer('{"city": "Bern", "nights": 90}'), answer('{"city": "Bern", "nights": 9}')],
                            "--fn", "place")
    assert process.returncode == 0 and json.loads(process.stdout)["nights"] == 9, process
    repaired = endpoint.requests[1][2]["messages"]
    assert repaired[0] == {"role": "user", "content": "Where to?"}, repaired
    assert any(m["role"] == "assistant" and "90" in m["content"] for m in repaired), repaired
    assert "90" in repaired[-1]["content"], repaired[-1]


def test_too_many_requests_are_retried_after_the_requested_delay(work):
    process, endpoint = run(work, [error(429, "slow down", {"Retry-After": "1"}), answer("word")], "--fn", "say")
    assert process.returncode == 0 and process.stdout == "word\n", process
    assert len(endpoint.requests) == 2, len(endpoint.requests)
    assert endpoint.times[1] - endpoint.times[0] >= 0.95, endpoint.times
    assert endpoint.requests[0][2] == endpoint.requests[1][2], "the same is sent again"


def test_server_errors_and_lost_connections_are_retried(work):
    process, endpoint = run(work, [error(503, "busy"), {"cut": True}, answer("word")], "--fn", "say")
    assert process.returncode == 0 and process.stdout == "word\n", process
    assert len(endpoint.requests) == 3, len(endpoint.requests)


def test_other_client_errors_are_not_retried(work):
    for status in (400, 401, 403, 404, 422):
        process, endpoint = run(work, [error(status, f"the key {KEY} is wrong")] * 5, "--fn", "say")
        assert process.returncode == 1 and process.stdout == "", process
        assert len(endpoint.requests) == 1, (status, len(endpoint.requests))
        assert str(status) in process.stderr and "program.tn:" in process.stderr, process.stderr


def test_invalid_replies(work):
    for body in (b"", b"not json", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": null}]}', b"\xff\xfe\x00",
                 b"{" * 100_000, b'{"choices": [{"message": {"content": 5}}]}'):
        process, _ = run(work, [{"body": body}] * 8, "--fn", "say", "--timeout-ms", "5000")
        assert process.returncode == 1 and process.stdout == "", (body[:30], process.returncode, process.stdout[:100])
        assert "program.tn:" in process.stderr, process.stderr[:500]


def test_an_unreachable_endpoint(work):
    file = work / "program.tn"
    file.write_text(PROGRAM)
    process = tenon("run", file, "--fn", "say", "--model", "openai:mock", "--timeout-ms", "1500", seconds_max=SECONDS_MAX,
                    environment={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": KEY})
    assert process.returncode == 1 and process.stdout == "" and KEY not in process.stderr, process
    assert "127.0.0.1" in process.stderr, process.stderr


def test_a_refusal_is_a_failure(work):
    reply = answer(None)
    reply["body"]["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I will not."}
    process, _ = run(work, [reply] * 3, "--fn", "place")
    assert process.returncode == 1 and "I will not." in process.stderr, process


def test_a_truncated_answer_is_a_failure(work):
    reply = answer("wor")
    reply["body"]["choices"][0]["finish_reason"] = "length"
    process, _ = run(work, [reply] * 3, "--fn", "say")
    assert process.returncode == 1 and process.stdout == "", process


def test_a_key_from_the_environment_is_needed_only_by_its_model(work):
    file = work / "program.tn"
    file.write_text("fn main() -> i32 { 1 }\n")
    process = tenon("run", file, "--model", "openai:mock", environment={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
                                                                        "OPENAI_API_KEY": ""})
    assert process.returncode in (0, 1, 2), process
    if process.returncode == 0:
        assert process.stdout == "1\n", process
