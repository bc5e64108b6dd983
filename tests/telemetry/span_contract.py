"""The contents of spans: names, parents, times, tokens, failures; and what they must never contain."""
import json
import subprocess
import time

from collector import Collector, attributes_of
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from server_process import Server
from tenon_process import tenon

PROGRAM = '''\
trust person

extern fn add(x: trusted i32, y: i32) -> i32

agent Desk {
    state { turns: i32 = 0 }
    instructions { "You help."! }
    fn turn(ctx: Context, input: String) -> String {
        state.turns = state.turns + 1
        if input == "ask" {
            let said = ask<String>("The hidden question?")
            return tell(ctx, said)
        }
        if input == "children" {
            let both = parallel {
                a = Helper::run("hidden left"),
                b = Helper::run("hidden right"),
            }
            return "{{ both.a }} and {{ both.b }} {{ add(1, 2) }}"
        }
        if input == "fail" { return "{{ 1 / (state.turns - state.turns) }}" }
        return "turn"
    }
}

agent Helper {
    instructions { "You help the desk."! }
    fn turn(ctx: Context, input: String) -> String {
        tell(ctx, input)
    }
}

fn tell(ctx: Context, text: String) -> String {
    "Tell about:"!
    text!
}

fn story(ctx: Context, text: String) -> String {
    let sum = add(endorse(20, "a test"), 22)
    tell(ctx, "{{ text }} {{ sum }}")
}

fn broken(x: i32) -> i32 { 10 / x }

extern fn heard() -> i32
fn refused() -> i32 { (try add(heard(), 1)).unwrap_or(0) }
'''
LIBRARY = "int add(int x, int y) { return x + y; }\nint heard(void) { return 5; }\n"
SCRIPT = 'tell when "badly" => rejected\n* => "An answer with 7 hidden words."\n'
HIDDEN = "hidden"


def prepare(work):
    (work / "program.tn").write_text(PROGRAM)
    (work / "model.script").write_text(SCRIPT)
    (work / "add.c").write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", work / "libadd.so", work / "add.c"], check=True)


def run(work, collector, *arguments, **environment):
    return tenon("run", work / "program.tn", "--model", f"script:{work / 'model.script'}", "--extern",
                 work / "libadd.so", *arguments, environment=collector.environment(**environment))


def serve(work, collector, **environment):
    prepare(work)
    return Server(work, "--extern", work / "libadd.so", program=PROGRAM, script=SCRIPT,
                  environment=collector.environment(**environment))


def check_whole(collector):
    """Checks that each span has its ids, its times, and either no parent or one in the same trace."""
    assert not collector.problems, collector.problems
    by_id = {span.span_id: span for span in collector.spans}
    assert len(by_id) == len(collector.spans)
    for span in collector.spans:
        assert len(span.trace_id) == 16 and len(span.span_id) == 8 and any(span.trace_id) and any(span.span_id)
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span
        if span.parent_span_id:
            parent = by_id[span.parent_span_id]
            assert parent.trace_id == span.trace_id
            assert parent.start_time_unix_nano <= span.start_time_unix_nano, (parent, span)
            assert parent.end_time_unix_nano >= span.end_time_unix_nano, (parent, span)


def test_a_run_without_a_store(work):
    prepare(work)
    with Collector() as collector:
        process = run(work, collector, "--fn", "story", "--arg", "text=hidden thing",
                      OTEL_SERVICE_NAME="the desk", OTEL_RESOURCE_ATTRIBUTES="team=a%20b,service.name=x",
                      OTEL_EXPORTER_OTLP_HEADERS="Authorization=Basic%20abc,X-Tenant=t")
        assert process.returncode == 0, process
        check_whole(collector)
        assert collector.names() == ["chat model.script", "execute_tool add", "invoke_workflow story"]
        root, chat, tool = (collector.find(name) for name in
                            ("invoke_workflow story", "chat model.script", "execute_tool add"))
        assert not root.parent_span_id and {chat.parent_span_id, tool.parent_span_id} == {root.span_id}
        assert (root.kind, chat.kind, tool.kind) == (Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_CLIENT,
                                                     Span.SPAN_KIND_INTERNAL)
        said = attributes_of(chat.attributes)
        assert said["gen_ai.operation.name"] == "chat" and said["gen_ai.request.model"] == "model.script", said
        assert said["gen_ai.usage.input_tokens"] > 0 and said["gen_ai.usage.output_tokens"] > 0, said
        assert said["gen_ai.response.finish_reasons"] == ["stop"] and said["code.function.name"] == "tell", said
        assert said["gen_ai.provider.name"] == "tenon.script" and said["gen_ai.output.type"] == "text", said
        called = attributes_of(tool.attributes)
        assert called["gen_ai.operation.name"] == "execute_tool" and called["gen_ai.tool.name"] == "add", called
        assert called["tenon.trust.sources"] == "endorsed as a test", called
        assert called["tenon.trust.allowed"] == "endorsed", called
        assert called["gen_ai.tool.call.id"] and called["gen_ai.tool.type"] == "function", called
        assert attributes_of(root.attributes)["gen_ai.workflow.name"] == "story"
        resource = collector.resources[0]
        assert resource["service.name"] == "the desk" and resource["team"] == "a b", resource
        path, headers = collector.headers[0]
        assert path == "/v1/traces" and headers["Authorization"] == "Basic abc" and headers["X-Tenant"] == "t", headers
        assert headers["Content-Type"] == "application/json"
        assert HIDDEN not in "".join(collector.bodies) and "abc" not in process.stderr


def test_contents_only_if_enabled(work):
    prepare(work)
    with Collector() as collector:
        run(work, collector, "--fn", "story", "--arg", "text=hidden thing",
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true")
        said = attributes_of(collector.find("chat model.script").attributes)
        messages = json.loads(said["gen_ai.input.messages"])
        assert "hidden thing 42" in messages[-1]["parts"][0]["content"] and messages[-1]["role"] == "user", messages
        assert json.loads(said["gen_ai.output.messages"])[0]["parts"][0]["content"].endswith("hidden words.")
        called = attributes_of(collector.find("execute_tool add").attributes)
        assert json.loads(called["gen_ai.tool.call.arguments"]) == [20, 22] and called["gen_ai.tool.call.result"] == "42"


def test_failures(work):
    prepare(work)
    with Collector() as collector:
        assert run(work, collector, "--fn", "broken", "--arg", "x=0").returncode == 1
        root = collector.find("invoke_workflow broken")
        assert root.status.code == Status.STATUS_CODE_ERROR and not root.status.message, root
        assert attributes_of(root.attributes)["error.type"] == "Arithmetic", root
    with Collector() as collector:
        assert run(work, collector, "--fn", "tell", "--arg", "text=badly").returncode == 1
        chat = collector.find("chat model.script")
        assert chat.status.code == Status.STATUS_CODE_ERROR and attributes_of(chat.attributes)["error.type"], chat
        root = collector.find("invoke_workflow tell")
        assert attributes_of(root.attributes)["error.type"] == "ModelUnavailable", root
    with Collector() as collector:
        run(work, collector, "--fn", "tell", "--arg", "text=badly",
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY")
        assert collector.find("chat model.script").status.message


def test_agents_are_nested(work):
    with Collector() as collector, serve(work, collector) as server:
        run_name = server.begin({"agent": "Desk", "input": "children"})
        server.wait_for(run_name, "idle")
        collector.wait_for(6)
        check_whole(collector)
        assert collector.names() == ["chat model.script"] * 2 + ["execute_tool add", "invoke_agent Desk"] + \
            ["invoke_agent Helper"] * 2, collector.names()
        root = collector.find("invoke_agent Desk")
        helpers = [span for span in collector.spans if span.name == "invoke_agent Helper"]
        chats = [span for span in collector.spans if span.name == "chat model.script"]
        assert {span.parent_span_id for span in helpers} == {root.span_id}
        assert {span.parent_span_id for span in chats} == {span.span_id for span in helpers}, "each is a child of its own parent"
        assert collector.find("execute_tool add").parent_span_id == root.span_id
        said = attributes_of(chats[0].attributes)
        assert said["gen_ai.conversation.id"] == run_name and said["gen_ai.agent.name"] == "Helper", said
        assert attributes_of(root.attributes)["tenon.turn"] == 1
        # The exporter counts them when it has read the reply, after the collector has received them.
        deadline = time.monotonic() + 20
        while server.metric("spans_exported_total") < 6 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert server.metric("spans_exported_total") == 6 and server.metric("spans_dropped_total") == 0
        assert HIDDEN not in "".join(collector.bodies)


def test_a_turn_that_waits_and_resumes(work):
    with Collector() as collector, serve(work, collector) as server:
        run_name = server.begin({"agent": "Desk", "input": "ask"})
        server.wait_for(run_name, "waiting")
        (first,) = collector.wait_for(1)
        assert first.name == "invoke_agent Desk" and attributes_of(first.attributes)["tenon.run.state"] == "waiting"
        assert first.status.code == Status.STATUS_CODE_UNSET and not first.links
        assert server.post(f"/v1/runs/{run_name}/resume", {"input": "owls"}).status == 202
        server.wait_for(run_name, "idle")
        spans = collector.wait_for(3)
        second = next(span for span in spans if span.name == "invoke_agent Desk" and span is not first)
        assert second.trace_id != first.trace_id and not second.parent_span_id
        assert [(link.trace_id, link.span_id) for link in second.links] == [(first.trace_id, first.span_id)]
        chat = collector.find("chat model.script")
        assert chat.parent_span_id == second.span_id
        # The next turn is a separate trace without a link.
        assert server.post(f"/v1/runs/{run_name}/prompt", {"input": "fail"}).status == 202
        third = collector.wait_for(4)[-1]
        assert third.name == "invoke_agent Desk" and not third.links, third
        assert attributes_of(third.attributes)["tenon.turn"] == 2
        assert attributes_of(third.attributes)["error.type"] == "Arithmetic"


def test_a_run_that_another_process_resumes(work):
    prepare(work)
    (work / "waits.tn").write_text('fn go(ctx: Context) -> String { "so " + ask<String>("Well?") }\n')
    with Collector() as collector:
        model = ["--model", f"script:{work / 'model.script'}"]
        begun = tenon("run", work / "waits.tn", "--fn", "go", "--store", work / "s.db", *model,
                      environment=collector.environment())
        assert begun.returncode == 3, begun
        name = begun.stderr.split("tenon: run ")[1].split()[0]
        ended = tenon("resume", name, "--store", work / "s.db", "--input", "so", environment=collector.environment())
        assert ended.returncode == 0, ended
        first, second = collector.spans
        assert attributes_of(first.attributes)["gen_ai.conversation.id"] == name
        assert [(link.trace_id, link.span_id) for link in second.links] == [(first.trace_id, first.span_id)], second
        check_whole(collector)


def test_off_unless_an_endpoint_is_set(work):
    prepare(work)
    with Collector() as collector:
        for more in ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, {"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}):
            assert run(work, collector, "--fn", "story", "--arg", "text=x", **more).returncode == 0
        assert collector.headers == []
        for more, words in [({"OTEL_EXPORTER_OTLP_ENDPOINT": "nowhere"}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
                            ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "http/json"),
                            ({"OTEL_EXPORTER_OTLP_HEADERS": "a-secret-word"}, "OTEL_EXPORTER_OTLP_HEADERS"),
                            ({"OTEL_BSP_SCHEDULE_DELAY": "soon"}, "OTEL_BSP_SCHEDULE_DELAY")]:
            process = run(work, collector, "--fn", "story", "--arg", "text=x", **more)
            assert process.returncode == 2 and words in process.stderr, process
            assert "a-secret-word" not in process.stderr
        own = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.url + "/own/path"}
        run(work, collector, "--fn", "story", "--arg", "text=x", **own)
        assert collector.headers[0][0] == "/own/path"


def test_a_collector_that_is_slow_unavailable_or_rejects(work):
    prepare(work)
    with Collector(answers=[503, 429]) as collector:
        process = run(work, collector, "--fn", "story", "--arg", "text=x")
        assert process.returncode == 0 and len(collector.spans) == 3, "it retries"
        assert len({span.span_id for span in collector.spans}) == 3
    with Collector(answers=[400] * 9) as collector:
        process = run(work, collector, "--fn", "story", "--arg", "text=x", OTEL_BSP_SCHEDULE_DELAY="60000")
        assert process.returncode == 0 and len(collector.headers) == 1, "a rejected request is not sent again"
        assert "127.0.0.1" in process.stderr and "400" in process.stderr, process.stderr
    dead = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://user:a-secret-word@127.0.0.1:9"}
    with Collector() as collector:
        process = run(work, collector, "--fn", "story", "--arg", "text=x", **dead)
        assert process.returncode == 0 and "spans cannot be sent" in process.stderr, process.stderr
        assert "a-secret-word" not in process.stderr
    with Collector(delay_seconds=30) as collector:
        began = time.monotonic()
        process = run(work, collector, "--fn", "story", "--arg", "text=x")
        assert process.returncode == 0 and time.monotonic() - began < 25, "the exit waits for the exporter, but not forever"


def test_excess_spans_are_dropped_and_runs_do_not_wait(work):
    with Collector(delay_seconds=2) as collector, serve(work, collector, OTEL_BSP_MAX_QUEUE_SIZE="5") as server:
        began = time.monotonic()
        for _ in range(40):
            server.wait_for(server.begin({"fn": "story", "input": "x"}), "done")
        assert time.monotonic() - began < 60, "they would wait two seconds each"
        deadline = time.monotonic() + 60
        while server.metric("spans_dropped_total") == 0 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert server.metric("spans_dropped_total") > 0
        began = time.monotonic()
        assert server.stop() == 0 and time.monotonic() - began < 10


def test_what_is_refused_has_a_span(work):
    prepare(work)
    with Collector() as collector:
        process = run(work, collector, "--fn", "refused")
        assert process.returncode == 0 and process.stdout == "0\n", process
        check_whole(collector)
        assert collector.names() == ["execute_tool heard", "invoke_workflow refused", "refuse add"], collector.names()
        span = collector.find("refuse add")
        said = attributes_of(span.attributes)
        assert said["tenon.trust.refused"] == "`x` of `add`" and said["tenon.trust.sources"] == "extern heard", said
        assert said["error.type"] == "Untrusted" and span.parent_span_id == collector.find("invoke_workflow refused").span_id, span
