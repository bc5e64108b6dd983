"""Every endpoint of /v1 and each of its errors."""
import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from server_process import Server, Stream
from steps_program import STEPS, STEPS_SCRIPT
from tenon_process import tenon

try:
    import jsonschema
except ImportError:
    jsonschema = None  # without it, answers are not checked against the document


def test_the_list_of_programs(work):
    with Server(work) as server:
        agents = {agent["name"]: agent for agent in server.get("/v1/agents").json["agents"]}
        assert agents["add"]["kind"] == "function" and agents["add"]["description"] == "Adds two numbers."
        assert agents["add"]["input"]["required"] == ["x", "y"] and agents["add"]["output"]["type"] == "integer"
        assert agents["Counter"]["kind"] == "agent" and agents["Counter"]["takes_text"] is True
        assert "Counter::turn" not in agents and not agents["add"]["takes_text"]
        document = server.get("/openapi.json").json
        assert document["openapi"].startswith("3.1") and "/v1/runs/{run}/resume" in document["paths"]
        assert server.get("/healthz").json == {"status": "ok"} and server.get("/readyz").json == {"status": "ready"}
        assert server.metric("http_requests_total") >= 3


RESULTS_PROGRAM = '''\
fn half(text: String) -> Result<i32> { try 10 / (text.len() - 1) }

fn check(text: String) -> Result<()>? {
    if text == "nothing" { return None }
    Some(try use_up(text))
}

fn use_up(text: String) { let used = 10 / (text.len() - 1) }

fn tell(result: Result<i32>) -> String { "{{ result.is_ok() }}" }

enum Nothing {}

fn pass_on(none: Nothing) -> Nothing { none }

agent Divider {
    fn turn(ctx: Context, input: String) -> Result<i32> { half(input) }
}
'''


def test_the_list_has_functions_that_return_results(work):
    with Server(work, program=RESULTS_PROGRAM) as server:
        agents = {agent["name"]: agent for agent in server.get("/v1/agents").json["agents"]}
        assert set(agents) == {"half", "check", "use_up", "tell", "pass_on", "Divider"}, agents
        assert agents["pass_on"]["output"] == {"not": {}}, agents
        assert agents["Divider"]["output"] == agents["half"]["output"]
        for name, texts in (("half", ["a", "abc"]), ("check", ["a", "abc", "nothing"]), ("Divider", ["a", "abc"])):
            for text in texts:
                messages = [{"role": "user", "content": text}]
                reply = server.post("/v1/chat/completions", {"model": name, "messages": messages})
                value = json.loads(reply.json["choices"][0]["message"]["content"])
                if jsonschema:
                    jsonschema.Draft202012Validator(agents[name]["output"]).validate(value)


SHAPES_PROGRAM = '''\
struct Item { name: String, count: i64, note: String?, parts: List<Item> }
enum Shape { Point, Circle(f64), Box(f64, i64), Named(Item) }
type Level = "low" | "high"

fn number(value: i64) -> i64 { value }
fn ratio(value: f64) -> f64 { value }
fn text(value: String) -> String { value }
fn map(value: Map<i64>) -> Map<i64> { value }
fn maybe(value: i64?) -> i64? { value }
fn item(value: Item) -> Item { value }
fn shape(value: Shape) -> Shape { value }
fn shapes(value: List<Shape>) -> List<Shape> { value }
fn level(value: Level) -> Level { value }
fn pair(value: (i64, Shape)) -> (i64, Shape) { value }
fn result(value: Shape?) -> Result<Shape> { try value.unwrap() }
fn outcome(value: Result<Shape>) -> Result<Shape> { value }
'''
ITEM = {"name": "a", "count": 1 << 60, "note": None, "parts": [{"name": "b", "count": -1, "note": "n", "parts": []}]}


def test_a_value_can_be_sent_back(work):
    """The value in a run's `end` is what the served schema says, and what an argument of that type is."""
    shapes = ["Point", {"Circle": 1.5}, {"Box": [0.5, 1 << 60]}, {"Named": ITEM}]
    with Server(work, program=SHAPES_PROGRAM) as server:
        agents = {agent["name"]: agent for agent in server.get("/v1/agents").json["agents"]}

        def call(name, value):
            run = server.begin({"fn": name, "args": {"value": value}})
            shown = server.wait_for(run, "done", "failed")
            assert shown["state"] == "done", (name, value, shown)
            returned = shown["end"]["value"]
            if jsonschema:
                jsonschema.Draft202012Validator(agents[name]["output"]).validate(returned)
            return returned

        for name, values in (("number", [1 << 60, -5]), ("ratio", [0.25]), ("text", ["5", "null"]),
                             ("map", [{}, {"a": 1 << 60, "b": 2}]), ("maybe", [None, 1 << 60]), ("item", [ITEM]), ("level", ["low"])):
            for value in values:
                assert call(name, value) == value, (name, value)
        for name, values in (("shape", shapes), ("shapes", [shapes]), ("pair", [[1 << 60, "Point"]])):
            for value in values:
                assert call(name, value) == value, (name, value)
        for shape in shapes:
            assert call("result", shape) == {"Ok": shape}, shape
            assert call("outcome", {"Ok": shape}) == {"Ok": shape}, shape
        failed = call("result", None)["Err"]
        assert call("outcome", {"Err": failed}) == {"Err": failed}
        for value, words in ((3, 'expected {"Ok": '), ({"Ok": 3}, "value.Ok: expected "), ({"Err": {}}, "value.Err.kind: missing")):
            reply = server.post("/v1/runs", {"fn": "outcome", "args": {"value": value}})
            assert reply.status == 422 and words in reply.json["error"]["message"], (value, reply.status, reply.body)
        assert sorted(failed) == ["blame", "kind", "message", "place"] and failed["place"].startswith("program.tn:"), failed


DOCUMENTED_PROGRAM = '''\
/// How urgent it is.
type Urgency = i32 in 1..=3

fn file(
    /// The customer's name.
    name: String,
    urgency: Urgency,
) -> String { name }

agent Desk {
    fn turn(
        ctx: Context,
        /// What the customer wants.
        input: String,
    ) -> String { input }
}
'''


def test_the_list_has_the_doc_comments_of_parameters(work):
    with Server(work, program=DOCUMENTED_PROGRAM) as server:
        agents = {agent["name"]: agent for agent in server.get("/v1/agents").json["agents"]}
        assert agents["file"]["input"]["properties"] == {
            "name": {"type": "string", "description": "The customer's name."},
            "urgency": {"type": "integer", "minimum": 1, "maximum": 3, "description": "How urgent it is."},
        }
        assert agents["Desk"]["input"] == {"type": "string", "description": "What the customer wants."}


def test_a_function_from_start_to_end(work):
    with Server(work) as server:
        run = server.begin({"fn": "add", "args": {"x": 1, "y": 2}})
        shown = server.wait_for(run, "done")
        assert shown["end"]["type"] == "turn_end" and shown["end"]["value"] == 3 and shown["agent"] == "add"
        types = [event["type"] for event in server.events(run)]
        assert types == ["prompt_started", "turn_end"], types
        run = server.begin({"fn": "broken", "args": {"x": 0}})
        end = server.wait_for(run, "failed")["end"]
        assert end["type"] == "turn_failed" and end["kind"] == "Arithmetic" and "program.tn:" in end["place"], end


def test_invalid_starts(work):
    with Server(work) as server:
        for body, status, words in [
                ({"fn": "ad"}, 404, "did you mean `add`"), ({"fn": "add"}, 422, "`x` is missing"),
                ({"fn": "add", "args": {"x": 1, "y": "two"}}, 422, "y"), ({"fn": "add", "args": {"x": 1, "y": 2, "z": 3}}, 422, "z"),
                ({"fn": "add", "args": [1, 2]}, 422, "args"), ({"fn": "add", "input": "1"}, 422, "args"),
                ({"fn": "add", "agent": "add"}, 422, "agent"), ({}, 422, "fn"), ({"fn": 3}, 422, "fn"),
                ({"func": "add"}, 422, "fn"), ({"agent": "Counter", "args": {}}, 422, "input"), ([], 422, "object"),
                ({"fn": "tell", "input": "x", "args": {}}, 422, "not both"), ({"fn": "tell", "input": 3}, 422, "text")]:
            reply = server.post("/v1/runs", body)
            assert reply.status == status and words in reply.json["error"]["message"], (body, reply.status, reply.body)
        reply = server.post("/v1/runs", "{\"fn\": ")
        assert reply.status == 400 and reply.code == "bad_json", reply.body
        assert server.metric("runs_started_total") == 0


def test_paths_and_methods(work):
    with Server(work) as server:
        for method, path, status in [
                ("GET", "/nope", 404), ("GET", "/v1/runs/x", 404), ("GET", "/v1/runs/" + "0" * 26, 404),
                ("DELETE", "/v1/runs", 405), ("POST", "/healthz", 405), ("GET", "/v1/runs?state=odd", 422),
                ("GET", "/v1/runs?limit=x", 422), ("GET", "/%zz", 400), ("GET", "/v1//runs", 404),
                ("GET", "/v1/runs/" + "0" * 26 + "/events", 404), ("HEAD", "/healthz", 200)]:
            reply = server.ask(method, path)
            assert reply.status == status, (method, path, reply.status, reply.body)
        assert server.ask("DELETE", "/v1/runs").headers["Allow"] == "POST, GET"


def test_questions_and_answers(work):
    with Server(work) as server:
        run = server.begin({"fn": "approve", "input": "a refund"})
        shown = server.wait_for(run, "waiting")
        wait = shown["waits"][0]
        assert wait["question"] == "Allow a refund?" and wait["schema"] == {"type": "boolean"}, wait
        wrong = server.post(f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": "perhaps"})
        assert wrong.status == 422 and "true" in wrong.json["error"]["message"].lower() + "true", wrong.body
        assert server.run(run)["state"] == "waiting", "a wrong answer does not end the wait"
        assert server.post(f"/v1/runs/{run}/resume", {"wait": "9.9", "input": True}).status == 409
        assert server.post(f"/v1/runs/{run}/resume", {"wait": wait["wait"]}).status == 422
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "x"}).status == 409
        taken = server.post(f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": True})
        assert taken.status == 202 and taken.json == {"run": run, "wait": wait["wait"]}, taken.body
        again = server.post(f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": False})
        assert again.status == 409, again.body
        assert server.wait_for(run, "done")["end"]["value"] == "allowed"
        assert server.post(f"/v1/runs/{run}/cancel").status == 409


def test_two_answers_to_one_wait_at_once(work):
    with Server(work) as server, ThreadPoolExecutor(8) as pool:
        for _ in range(10):
            run = server.begin({"fn": "approve", "input": "x"})
            wait = server.wait_for(run, "waiting")["waits"][0]["wait"]
            replies = list(pool.map(lambda _, run=run, wait=wait: server.post(
                f"/v1/runs/{run}/resume", {"wait": wait, "input": True}).status, range(8)))
            assert sorted(replies) == [202] + [409] * 7, replies
            taken = [event for event in server.events(run) if event["type"] == "resume_with_input"]
            assert len(taken) == 1, taken


def test_several_questions_at_once(work):
    with Server(work) as server:
        run = server.begin({"fn": "two"})
        waits = {wait["question"]: wait["wait"] for wait in server.wait_for(run, "waiting")["waits"]}
        reply = server.post(f"/v1/runs/{run}/resume", {"input": 1})
        assert reply.status == 409 and "several" in reply.json["error"]["message"], reply.body
        assert server.post(f"/v1/runs/{run}/resume", {"wait": waits["Second?"], "input": 2}).status == 202
        assert server.post(f"/v1/runs/{run}/resume", {"wait": waits["Second?"], "input": 3}).status == 409
        assert server.post(f"/v1/runs/{run}/resume", {"wait": waits["First?"], "input": 40}).status == 202
        assert server.wait_for(run, "done")["end"]["value"] == 42
        run = server.begin({"fn": "pick"})
        assert server.post(f"/v1/runs/{run}/resume", {"input": "fair"}).status == 422
        assert server.post(f"/v1/runs/{run}/resume", {"input": "bad"}).status == 202
        assert server.wait_for(run, "done")["end"]["value"] == "so bad"


ONE_AFTER_THE_OTHER = '''\
fn trip() -> String {
    let city = ask<String>("City?")
    let day = ask<String>("Day?")
    "{{ city }} on {{ day }}"
}
fn hurried() -> String {
    let city = ask_within<String>("City?", 50) catch f { "nowhere" }
    let day = ask<String>("Day?")
    "{{ city }} on {{ day }}"
}
agent Guide {
    fn turn(ctx: Context, input: String) -> String { "to " + ask<String>("{{ input }}?") }
}
'''


def test_an_answer_without_wait_answers_no_question_that_its_sender_has_not_seen(work):
    with Server(work, program=ONE_AFTER_THE_OTHER) as server:
        def answer(run, text, **named):
            return server.post(f"/v1/runs/{run}/resume", {"input": text, **named})

        def expect_refused(run, question):
            (wait,) = server.wait_until_asked(run, question)
            refused = answer(run, "Oslo")
            assert refused.status == 409 and "specify `wait`" in refused.json["error"]["message"], refused.body
            assert answer(run, "Monday", wait=wait["wait"]).status == 202

        run = server.begin({"fn": "trip"})
        server.wait_until_asked(run, "City?")
        assert answer(run, "Oslo").status == 202, "the only question that the run has asked"
        expect_refused(run, "Day?")
        assert server.wait_for(run, "done")["end"]["value"] == "Oslo on Monday"
        run = server.begin({"fn": "hurried"})
        expect_refused(run, "Day?")  # the time for the first one is over
        assert server.wait_for(run, "done")["end"]["value"] == "nowhere on Monday"
        run = server.begin({"agent": "Guide", "input": "Where"})
        server.wait_until_asked(run, "Where?")
        server.kill()
        server.start()
        assert answer(run, "Rome").status == 202
        server.wait_for(run, "idle")
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "When"}).status == 202
        expect_refused(run, "When?")  # of an earlier turn
        server.wait_for(run, "idle")


def test_a_run_whose_budget_is_spent_continues_with_a_larger_one(work):
    with Server(work, "--budget", "calls=4", program=STEPS, script=STEPS_SCRIPT) as server:
        run = server.begin({"fn": "main"})
        end = server.wait_for(run, "failed")["end"]
        assert end["kind"] == "BudgetSpent", end
        for body, status, words in (({"budget": {"calls": "six"}}, 422, "`budget.calls`"), ({"budget": 6}, 422, "`budget`"),
                                    ({"budget": {"call": 6}}, 422, "`budget.call`"), ({"budget": {"calls": -1}}, 422, "budget.calls"),
                                    ({"budget": {"time": "soon"}}, 422, "30s"), ({"budget": {"calls": 6}, "input": 1}, 422, "combined"),
                                    ({}, 409, "ended"), ({"budget": {}}, 409, "ended")):
            refused = server.post(f"/v1/runs/{run}/resume", body)
            assert refused.status == status and words in refused.json["error"]["message"], (body, refused.body)
        continued = server.post(f"/v1/runs/{run}/resume", {"budget": {"calls": 6, "time": "10m"}}, Idempotency_Key="larger")
        assert continued.status == 201 and continued.json["run"] != run, continued.body
        larger = continued.json["run"]
        end = server.wait_for(larger, "done", "failed")["end"]
        assert end.get("value") == 6, f"the script has six answers, and four of them were paid for before: {end}"
        again = server.post(f"/v1/runs/{run}/resume", {"budget": {"calls": 6, "time": "10m"}}, Idempotency_Key="larger")
        assert again.status == 201 and again.json == continued.json, again.body
        other = server.post(f"/v1/runs/{run}/resume", {"budget": {"calls": 7}}, Idempotency_Key="larger")
        assert other.status == 422 and other.code == "idempotency_key_reused", other.body
        refused = server.post(f"/v1/runs/{larger}/resume", {"budget": {"calls": 9}})
        assert refused.status == 409 and "is done" in refused.json["error"]["message"], refused.body
        broken = server.begin({"fn": "broken"})
        server.wait_for(broken, "failed")
        refused = server.post(f"/v1/runs/{broken}/resume", {"budget": {"calls": 9}})
        assert refused.status == 409 and "budget was spent" in refused.json["error"]["message"], refused.body


def test_a_run_is_forked(work):
    with Server(work, "--budget", "calls=1", program=STEPS, script=STEPS_SCRIPT) as server:
        run = server.begin({"agent": "Worker", "input": "once"})
        server.wait_for(run, "idle")
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "twice"}).status == 202
        server.wait_for(run, "idle")
        assert server.events(run)[-1]["kind"] == "BudgetSpent"
        for body, status, words in (({"at": "all"}, 422, "`at`"), ({"at": 999}, 422, "records"), ({"budget": {"odd": 1}}, 422, "odd"),
                                    ({"to": 3}, 422, "to")):
            refused = server.post(f"/v1/runs/{run}/fork", body)
            assert refused.status == status and words in refused.json["error"]["message"], (body, refused.body)
        assert server.post(f"/v1/runs/{'0' * 26}/fork", {}).status == 404
        forked = server.post(f"/v1/runs/{run}/fork", {"budget": {"calls": 2}})
        assert forked.status == 201, forked.body
        fork = forked.json["run"]
        server.wait_for(fork, "idle")
        assert server.events(fork)[-1]["value"] == "twice"
        server.kill()
        server.start()
        assert server.run(fork)["state"] == "idle", "what was accepted is durable"
        assert server.post(f"/v1/runs/{fork}/prompt", {"input": "once"}).status == 202
        server.wait_for(fork, "idle")
        assert server.events(fork)[-1]["value"] == "once"


FORMS = '''\
agent Echo { fn turn(ctx: Context, input: String) -> String { "heard {{ input }}" } }
agent Perhaps {
    fn turn(ctx: Context, input: String?) -> String {
        let heard = match input { Some(text) => "some {{ text }}", None => "none" }
        let said = match ask<String?>("Perhaps?") { Some(text) => "some {{ text }}", None => "none" }
        "{{ heard }}, {{ said }}"
    }
}
fn name() -> String { ask<String>("Name?") }
fn grade() -> i32 { ask<i32 in 1..=6>("Grade?") }
'''


def test_a_string_answer_is_json(work):
    with Server(work, program=FORMS) as server:
        asking = server.begin({"fn": "name"})
        server.wait_for(asking, "waiting")
        talking = server.begin({"agent": "Echo"})
        for wrong in (None, 5, 1.5, True, {"a": 1}, ["a"]):
            for reply in (server.post(f"/v1/runs/{asking}/resume", {"input": wrong}),
                          server.post(f"/v1/runs/{talking}/prompt", {"input": wrong}),
                          server.post("/v1/runs", {"agent": "Echo", "input": wrong})):
                assert reply.status == 422 and "JSON string" in reply.json["error"]["message"], (wrong, reply.body)
        reply = server.post(f"/v1/runs/{talking}/cancel", {"conversation": 1})
        assert reply.status == 422 and "`conversation`" in reply.json["error"]["message"], reply.body
        for text in ("null", "5", '"quoted"', '{"a": 1}'):
            run = server.begin({"agent": "Echo", "input": text})
            assert server.wait_for(run, "idle") and server.events(run)[-1]["value"] == f"heard {text}"
        assert server.post(f"/v1/runs/{asking}/resume", {"input": "null"}).status == 202
        assert server.wait_for(asking, "done")["end"]["value"] == "null"


def test_an_optional_string_answer(work):
    with Server(work, program=FORMS) as server:
        said = [(None, "none"), ("null", "some null"), ("a", "some a"), ('"a"', 'some "a"')]
        for given, heard in said:
            run = server.begin({"agent": "Perhaps", "input": given})
            server.wait_for(run, "waiting")
            server.kill()
            server.start()
            assert server.post(f"/v1/runs/{run}/resume", {"input": given}).status == 202
            server.wait_for(run, "idle")
            assert server.events(run)[-1]["value"] == f"{heard}, {heard}", server.events(run)


def test_a_json_string_can_contain_the_json_answer(work):
    with Server(work, program=FORMS) as server:
        for given, words in (("good", "good"), ("9", "9"), (None, "null")):
            run = server.begin({"fn": "grade"})
            server.wait_for(run, "waiting")
            reply = server.post(f"/v1/runs/{run}/resume", {"input": given})
            assert reply.status == 422 and words in reply.json["error"]["message"], reply.body
            assert server.post(f"/v1/runs/{run}/resume", {"input": "3"}).status == 202
            assert server.wait_for(run, "done")["end"]["value"] == 3
        run = server.begin({"fn": "name"})
        server.wait_for(run, "waiting")
        assert tenon("resume", run, "--store", server.store, "--input", "5").returncode == 0
        assert server.wait_for(run, "done")["end"]["value"] == "5", "input from a terminal is a string without quotes"


def test_conversations(work):
    with Server(work) as server:
        run = server.begin({"agent": "Counter"})
        assert server.wait_for(run, "idle")["agent"] == "Counter"
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "one"}).status == 202
        server.wait_for(run, "idle")
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "ask"}).status == 202
        server.wait_for(run, "waiting")
        reply = server.post(f"/v1/runs/{run}/prompt", {"input": "two"})
        assert reply.status == 409 and "resume" in reply.json["error"]["message"], reply.body
        assert server.post(f"/v1/runs/{run}/cancel", {"reason": "enough"}).status == 202
        server.wait_for(run, "idle")
        assert server.post(f"/v1/runs/{run}/cancel").status == 409, "no turn is in progress"
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "fail"}).status == 202
        server.wait_for(run, "idle")
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "last"}).status == 202
        server.wait_for(run, "idle")
        ends = [event for event in server.events(run) if event["type"].startswith("turn_")]
        assert [end["type"] for end in ends] == ["turn_end", "turn_cancelled", "turn_failed", "turn_end"], ends
        assert ends[0]["value"] == "turn 1: one" and ends[1]["reason"] == "enough", ends
        assert server.post(f"/v1/runs/{run}/cancel", {"conversation": True}).status == 202
        server.wait_for(run, "cancelled")
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "x"}).status == 409


def test_a_childs_question_is_shown(work):
    with Server(work) as server:
        run = server.begin({"agent": "Counter", "input": "child"})
        server.wait_for(run, "waiting")
        assert server.post(f"/v1/runs/{run}/resume", {"input": "bread"}).status == 202
        server.wait_for(run, "idle")
        events = server.events(run)
        asked = next(event for event in events if event["type"] == "wait_for_input")
        assert asked["agent"] == "Child" and asked["depth"] == 1, asked
        assert events[-1]["value"] == "child got bread" and events[-1]["depth"] == 0, events[-1]
        numbers = [event["number"] for event in events]
        assert numbers == sorted(set(numbers)), numbers


def test_cancelling(work):
    with Server(work) as server:
        run = server.begin({"fn": "nap", "args": {"ms": 1_000_000}})
        server.wait_for(run, "waiting")
        assert server.post(f"/v1/runs/{run}/cancel", {"reason": "no time"}).status == 202
        shown = server.wait_for(run, "cancelled")
        assert shown["end"] == {**shown["end"], "type": "turn_cancelled", "reason": "no time"}
        assert server.post(f"/v1/runs/{run}/cancel").status == 409


def test_listing(work):
    with Server(work) as server:
        runs = [server.begin({"fn": "add", "args": {"x": n, "y": 0}}) for n in range(5)]
        waiting = server.begin({"fn": "two"})
        for run in runs:
            server.wait_for(run, "done")
        server.wait_for(waiting, "waiting")
        listed = server.get("/v1/runs").json
        assert sorted(run["run"] for run in listed["runs"]) == sorted(runs + [waiting]) and listed["next"] is None
        only = server.get("/v1/runs?state=waiting").json["runs"]
        assert [run["run"] for run in only] == [waiting] and len(only[0]["waits"]) == 2, only
        first = server.get("/v1/runs?limit=4").json
        rest = server.get(f"/v1/runs?limit=4&after={first['next']}").json
        assert len(first["runs"]) == 4 and len(rest["runs"]) == 2 and rest["next"] is None


def test_idempotency(work):
    with Server(work) as server:
        body = {"fn": "approve", "input": "x"}
        first = server.post("/v1/runs", body, Idempotency_Key="k1")
        again = server.post("/v1/runs", body, Idempotency_Key="k1")
        assert first.status == again.status == 201 and first.json == again.json, (first.body, again.body)
        other = server.post("/v1/runs", {"fn": "approve", "input": "y"}, Idempotency_Key="k1")
        assert other.status == 422 and other.code == "idempotency_key_reused", other.body
        assert server.post("/v1/runs", body, Idempotency_Key="k" * 300).status == 422
        run = first.json["run"]
        server.wait_for(run, "waiting")
        # A rejected request is not stored.
        assert server.post(f"/v1/runs/{run}/resume", {"input": "odd"}, Idempotency_Key="k2").status == 422
        answered = server.post(f"/v1/runs/{run}/resume", {"input": True}, Idempotency_Key="k3")
        server.wait_for(run, "done")
        server.kill()
        server.start()
        again = server.post(f"/v1/runs/{run}/resume", {"input": True}, Idempotency_Key="k3")
        assert answered.status == again.status == 202 and answered.json == again.json, (answered.body, again.body)
        assert server.post("/v1/runs", body, Idempotency_Key="k1").json == first.json
        assert len(server.get("/v1/runs").json["runs"]) == 1


def test_commands_of_other_processes(work):
    with Server(work) as server:
        run = server.begin({"fn": "approve", "input": "x"})
        server.wait_for(run, "waiting")
        refused = tenon("resume", run, "--store", server.store, "--input", "perhaps")
        assert refused.returncode == 2 and server.run(run)["state"] == "waiting", refused
        taken = tenon("resume", run, "--store", server.store, "--input", "true")
        assert taken.returncode == 0 and "accepted by" in taken.stderr, taken
        assert server.wait_for(run, "done")["end"]["value"] == "allowed"
        assert tenon("resume", run, "--store", server.store, "--input", "true").returncode == 2
        run = server.begin({"fn": "nap", "args": {"ms": 1_000_000}})
        assert tenon("cancel", run, "--store", server.store, "--reason", "by hand").returncode == 0
        assert server.wait_for(run, "cancelled")["end"]["reason"] == "by hand"
        assert tenon("resume", run, "--store", server.store).returncode == 1
        listed = json.loads(tenon("runs", "--store", server.store, "--json").stdout)
        assert len(listed) == 2


def test_names_in_several_files(work):
    (work / "other.tn").write_text("fn add(x: i32) -> i32 { x }\nfn own() -> i32 { 7 }\n")
    with Server(work, "other.tn") as server:
        names = {agent["name"] for agent in server.get("/v1/agents").json["agents"]}
        assert {"program.add", "other.add", "own"} <= names and "add" not in names, names
        run = server.begin({"fn": "other.add", "args": {"x": 5}})
        assert server.wait_for(run, "done")["end"]["value"] == 5


# Their members are also those of OpenAI's formats, or depend on the request that is refused.
OPEN_SCHEMAS = {"Error", "Document", "ChatCompletion", "Response", "event.unrecognized"}


def closed(schema):
    """Without members that the schema does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: {inner: closed(one) for inner, one in part.items()} if name == "properties" else closed(part)
             for name, part in schema.items()}
    return {"additionalProperties": False, **parts} if isinstance(schema.get("properties"), dict) else parts


def strict(components):
    """The published schemas accept members and events of later versions; what this server sends has no unknown ones."""
    schemas = {name: schema if name in OPEN_SCHEMAS else closed(schema) for name, schema in components["schemas"].items()}
    del schemas["event.unrecognized"]
    schemas["Event"] = {"oneOf": [one for one in schemas["Event"]["oneOf"] if not one["$ref"].endswith(".unrecognized")]}
    return {**components, "schemas": schemas}


class Described:
    """Sends requests to the server and checks each answer against the OpenAPI document."""

    def __init__(self, server):
        self.server = server
        self.document = server.get("/openapi.json").json
        self.strict = strict(self.document["components"])
        self.operations = set()

    def ask(self, method, path, body=None, **headers):
        reply = self.server.ask(method, path, None if body is None else json.dumps(body),
                                {name.replace("_", "-"): value for name, value in headers.items()})
        (pattern,) = [pattern for pattern in self.document["paths"]
                      if re.fullmatch(re.sub(r"{[^}]*}", "[^/]+", pattern), path.split("?")[0])]
        operation = self.document["paths"][pattern][method.lower()]
        self.operations.add(operation["operationId"])
        assert str(reply.status) in operation["responses"], (method, path, reply.status, reply.body)
        response = operation["responses"][str(reply.status)]
        for name in ("Link", "Tenon-Events", "X-Tenon-Conversation", "X-Should-Retry"):
            assert reply.status >= 400 or reply.headers[name] is None or name in response["headers"], (path, name)
        kind = (reply.headers["Content-Type"] or "").split(";")[0]
        if kind == "application/json":
            self.check(reply.json, response["content"][kind]["schema"])
        if body is not None and reply.status < 400:
            self.check(body, operation["requestBody"]["content"]["application/json"]["schema"])
        return reply

    def check(self, value, schema):
        if jsonschema is not None:
            whole = {"components": self.strict, **schema}
            errors = [(list(error.absolute_path), error.message[-400:]) for error in jsonschema.Draft202012Validator(whole).iter_errors(value)]
            assert not errors, (schema, errors[:3], value)


def test_the_openapi_document(work):
    with Server(work) as server:
        document = server.get("/openapi.json").json
        operations = [(path, method, operation) for path, methods in document["paths"].items()
                      for method, operation in methods.items()]
        names = [operation["operationId"] for _, _, operation in operations]
        assert len(set(names)) == len(names), names
        for path, method, operation in operations:
            for status, response in operation["responses"].items():
                assert response["description"], (path, status)
                for content in response.get("content", {}).values():
                    name = content["schema"]["$ref"].removeprefix("#/components/schemas/")
                    assert name in document["components"]["schemas"], (path, status)
            assert {"400", "403", "422", "431", "503"} <= operation["responses"].keys(), path
            assert ("401" in operation["responses"]) == (path not in ("/healthz", "/readyz")), path
            assert method == "get" or {"413", "415", "501"} <= operation["responses"].keys(), path
            named = {parameter["name"]: parameter["schema"]["type"] for parameter in operation.get("parameters", [])}
            assert named.get("limit", "integer") == "integer", path
            # Drafts, questions about them and replays write nothing, and a text that is saved again is the same.
            if method == "post" and not path.endswith(("/draft", "/complete", "/explain", "/prompts", "/plans", "/save", "/replay")):
                assert "Idempotency-Key" in named, path
            if path == "/v1/chat/completions":
                assert "X-Tenon-Conversation" in named
            if path.endswith("}/events"):
                assert named["after"] == named["Last-Event-ID"] == "integer", named


def test_the_schema_accepts_events_of_later_versions(work):
    with Server(work) as server:
        described = Described(server)
        run = server.begin({"fn": "add", "args": {"x": 1, "y": 2}})
        server.wait_for(run, "done")
        event, *_ = described.ask("GET", f"/v1/runs/{run}/events", Accept="application/json").json
        published = {"components": described.document["components"], "$ref": "#/components/schemas/Event"}
        for later in ({**event, "added": 1}, {**event, "type": "added_type"}):
            if jsonschema is not None:
                jsonschema.Draft202012Validator(published).validate(later)
                strictly = jsonschema.Draft202012Validator({**published, "components": described.strict})
                assert not strictly.is_valid(later), "the test of this server's own events is strict"


def test_answers_conform_to_the_openapi_document(work):
    with Server(work, "--edit") as server:
        described = Described(server)
        ask = described.ask
        for path in ("/v1/agents", "/v1/models", "/v1/models/tell", "/v1/programs", "/v1/programs/program", "/v1/palette", "/openapi.json", "/healthz", "/readyz", "/metrics"):
            assert ask("GET", path).status == 200, path
        version = server.get("/v1/programs/program").json["version"]
        assert ask("POST", "/v1/programs/program/edits", {"version": version, "ops": [], "dry_run": True}).status in (200, 422)
        text = server.get("/v1/programs/program").json["text"]
        assert ask("POST", "/v1/programs/program/draft", {"text": text + "fn"}).json["problems"]
        for question in ("complete", "explain"):
            assert ask("POST", f"/v1/programs/program/{question}", {"text": text, "offset": text.index("fn ") + 4}).status == 200
        assert ask("POST", "/v1/programs/program/prompts", {"text": text}).json["prompts"]
        assert ask("POST", "/v1/programs/program/plans", {"text": text}).json == {"plans": [], "has_errors": False}
        assert ask("POST", "/v1/programs/program/save", {"version": version, "text": text}).status == 200
        run = ask("POST", "/v1/runs", {"agent": "Counter", "input": "ask"}).json["run"]
        server.wait_for(run, "waiting")
        assert ask("GET", f"/v1/runs/{run}").json["waits"]
        assert ask("POST", f"/v1/runs/{run}/resume", {"input": 3}).status == 202
        server.wait_for(run, "idle")
        assert ask("POST", f"/v1/runs/{run}/prompt", {"input": "child"}).status == 202
        (wait,) = server.wait_for(run, "waiting")["waits"]
        assert ask("POST", f"/v1/runs/{run}/resume", {"input": 3}).status == 409
        assert ask("POST", f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": 3}).status == 422
        assert ask("POST", f"/v1/runs/{run}/fork", {"at": 1, "budget": {"calls": 9, "time": "1m"}}).status == 201
        assert ask("POST", f"/v1/runs/{run}/cancel", {}).status == 202
        assert ask("GET", f"/v1/runs/{run}/events?limit=2", Accept="application/json").headers["Link"]
        assert ask("GET", f"/v1/runs/{run}/events", Accept="application/json").json
        assert ask("POST", "/v1/runs", {"fn": "add", "args": {"x": 1, "y": 2}}).status == 201
        added = server.begin({"fn": "add", "args": {"x": 1, "y": 2}})
        server.wait_for(added, "done")
        assert ask("GET", f"/v1/runs/{added}").json["end"]
        assert ask("GET", f"/v1/runs/{added}/events", Last_Event_ID=str(server.run(added)["records"])).status == 204
        assert ask("GET", f"/v1/runs/{added}/records/1").json["stack"] is not None
        assert ask("GET", f"/v1/runs/{added}/records/1000").status == 404
        assert ask("GET", f"/v1/runs/{run}/events?before=99&limit=2", Accept="application/json").headers["Tenon-Events"]
        assert ask("GET", f"/v1/runs/{added}/program").json["text"] == text
        assert ask("GET", f"/v1/runs/{added}/diff?with={run}").json["differences"]
        assert ask("POST", f"/v1/runs/{added}/replay", {"text": text}).json["same"]
        assert ask("POST", f"/v1/runs/{added}/replay", {"text": text + "fn"}).status == 422
        assert ask("POST", f"/v1/runs/{run}/fork", {"at": 1, "dry_run": True}).json["complete"]
        parted = ask("POST", f"/v1/runs/{run}/fork", {"dry_run": True, "text": text.replace("How many?", "How much?")})
        assert parted.json["parts"]["recorded"]["kind"] == "ask", parted.body
        assert ask("POST", f"/v1/runs/{run}/fork", {"dry_run": True, "text": text + "fn"}).json["problems"]
        assert ask("GET", f"/v1/runs/{added}/reports").status == 200
        assert ask("GET", f"/v1/runs/{added}/reports/none.md").status == 404
        assert ask("GET", "/v1/runs?limit=1").json["next"]
        said = [{"role": "user", "content": "ask"}]
        asked = ask("POST", "/v1/chat/completions", {"model": "Counter", "messages": said, "conversation": "c"})
        assert asked.json["wait"], asked.body
        assert ask("POST", "/v1/chat/completions", {"model": "tell", "messages": said}).status == 200
        assert ask("POST", "/v1/chat/completions", {"model": "unknown", "messages": said}).status == 404
        response = ask("POST", "/v1/responses", {"model": "Counter", "input": "a", "conversation": "d"}).json
        assert ask("POST", "/v1/responses", {"model": "Counter", "input": "ask", "previous_response_id": response["id"]}).json["wait"]
        assert ask("POST", "/v1/responses", {"model": "Counter", "input": "b", "stop": "x"}).status == 400
        assert ask("GET", f"/v1/responses/{response['id']}").status == 200
        assert ask("POST", f"/v1/responses/{response['id']}/cancel", {}).status == 200
        assert ask("POST", "/agui/tell", {"threadId": "t", "runId": "r", "messages": said}).status == 200
        assert ask("GET", "/v1/agents", Host="elsewhere.example").status == 403
        with closing(Stream(server, "GET", "/v1/events").open()) as stream:  # which does not end
            (documented,) = described.document["paths"]["/v1/events"]["get"]["responses"]["200"]["content"]
            assert stream.response.headers["Content-Type"] == documented
        described.operations.add("readChanges")
        everything = {operation["operationId"] for methods in described.document["paths"].values()
                      for operation in methods.values()}
        assert described.operations == everything, everything - described.operations


RICH_PROGRAM = """\
struct Topic { name: String }
struct Letter { text: String }

/// Writes a first version.
fn draft(ctx: Context, topic: Topic) -> Letter
    ensures "is a polite letter"
{
    "Write a letter"!
    topic!
}

fn pursued(ctx: Context) -> Letter {
    pursue "is a polite letter" from Topic { name: "holidays" } limit 4 { draft(ctx, _) }
}

agent Other {
    instructions { "Be kind."! }
    block say: request { prompt: "Say something kind." }
}

/// Answers customers.
agent Support {
    state { topic: String = "" }
    scratchpad {
        /// What was found.
        note: String = ""
    }
    instructions { "Be brief."! }

    /// Finds out what it is about.
    block find: request {
        prompt: "What is this about? One word."
        into: state.topic
        -> choose
    }
    block choose: route {
        when state.topic == "other" -> other
        on state.topic { "many" -> each, _ -> talk }
    }
    block other: delegate { agent: Other, into: scratchpad.note, -> talk }
    block each: for_each {
        item word: String in state.topic.split(" ")
        block note: set { scratchpad.note = word }
        -> both
    }
    block both: parallel {
        branch one { block x: emit { text: "x" } }
        branch two { block y: emit { text: "y" } }
        -> talk
    }
    block talk: request { prompt: "Answer in one sentence." }

    fn helper() -> i32 { 1 }
}
"""


def test_answers_about_programs_conform_to_the_openapi_document(work):
    with Server(work, "--edit", program=RICH_PROGRAM, script='* => "many"\n') as server:
        described = Described(server)

        def ask(question, **body):
            return described.ask("POST", f"/v1/programs/program/{question}", {"text": RICH_PROGRAM, **body})

        assert described.ask("GET", "/v1/programs/program").json["graph"]["agents"]
        drawn = ask("draft").json
        assert not drawn["problems"] and drawn["agents"] and drawn["calls"]["sequences"] and drawn["declarations"], drawn["problems"]
        ops = [{"op": "add", "agent": "Support", "name": "thank", "kind": "emit", "after": "talk", "options": [{"name": "text", "value": '"Bye."'}]},
               {"op": "connect", "agent": "Support", "block": "talk", "target": "thank"}]
        assert len(ask("draft", ops=ops).json["patches"]) == 2
        version = server.get("/v1/programs/program").json["version"]
        edited = described.ask("POST", "/v1/programs/program/edits", {"version": version, "ops": ops, "dry_run": True})
        assert edited.json["inverse"], edited.body
        # A problem with a label, one with a fix, one with a hint.
        found = ask("draft", text=RICH_PROGRAM.replace("fn helper() -> i32 { 1 }", "fn helper() -> i32 { let a = 1; let a: String = true; hlper() }")).json
        assert found["problems"], found
        (plan,) = ask("plans").json["plans"]
        assert any(edge["requirements"] for edge in plan["edges"]), plan
        prompts = ask("prompts").json["prompts"]
        assert any("schema" in prompt for prompt in prompts) and any("schema" not in prompt for prompt in prompts), prompts
        place = len(RICH_PROGRAM[:RICH_PROGRAM.index("-> choose") + 3].encode())
        assert ask("complete", offset=place).json["suggestions"] and ask("explain", offset=place + 1).status == 200
        run = server.begin({"agent": "Support", "input": "hello"})
        server.wait_for(run, "idle")
        records = server.run(run)["records"]
        moments = [described.ask("GET", f"/v1/runs/{run}/records/{record}").json for record in range(1, records + 1)]
        assert any("prompt" in moment for moment in moments) and any("before" in moment for moment in moments), moments
        assert {event["type"] for event in described.ask("GET", f"/v1/runs/{run}/events", Accept="application/json").json} >= {
            "block_entered", "block_left", "generation_finished", "turn_end"}
        assert described.ask("POST", f"/v1/runs/{run}/fork", {"dry_run": True, "at": 2}).json["requests"]


def test_changes_conform_to_the_openapi_document(work):
    with Server(work, "--edit") as server:
        described = Described(server)
        content = described.document["paths"]["/v1/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]
        with closing(Stream(server, "GET", "/v1/events").open()) as stream:
            run = server.begin({"fn": "approve", "input": "x"})
            for _, data in stream:
                change = json.loads(data)
                described.check(change, content["x-data"])
                if change["state"] == "waiting":
                    break
            assert change["run"] == run and change["waits"], change
            with (work / "program.tn").open("a") as program:
                program.write("\n// more\n")
            _, data = next(iter(stream))
            described.check(json.loads(data), content["x-data"])
            assert json.loads(data)["program"] == "program"
