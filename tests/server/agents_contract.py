"""Agents that call agents over the server: which calls wait for which, which events the client sees, and what a turn changes."""
import http.server
import json
import threading

from server_process import SECONDS_MAX, Server, Stream, events_of
from tenon_process import serve

PROGRAM = '''\
/// Asks.
agent Clerk {
    fn turn(ctx: Context, input: String) -> String { "{{ input }}: {{ ask<i32>("How many for {{ input }}?") }}" }
}

agent Worker {
    state { jobs: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.jobs += 1
        "{{ Clerk::run(input) }} ({{ state.jobs }})"
    }
}

agent Boss {
    state {
        rounds: i32 = 0
        last: List<String> = []
        motto: String = "on"
    }
    instructions { "You lead."! }
    fn turn(ctx: Context, input: String) -> String {
        state.rounds += 1
        if input == "fail" { return "{{ 1 / (state.rounds - state.rounds) }}" }
        if input == "over" { Doomed::handoff(input) }
        if input == "away" { Heir::handoff(input) }
        let done = for word in input.split(" ") parallel(8) { Worker::run(word) }
        state.last = done
        sum(ctx)
    }
    fn sum(ctx: Context) -> String { "Sum it up."! }
}

agent Doomed {
    state { tries: i32 = 5 }
    fn turn(ctx: Context, input: String) -> String {
        state.tries += 1
        ask<String>("Really?")
        fail("doomed")
    }
}

agent Heir {
    state { turns: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.turns += 1
        "heir {{ state.turns }}"
    }
}

fn both(ctx: Context) -> List<String> {
    for word in ["x", "y"] parallel(2) { Worker::run(word) }
}

fn tell(ctx: Context) -> String { "Tell."! }
'''
SCRIPT = 'Boss::sum => "all done"\n* => "hello"\n'


def waits_of(server, run):
    return [event for event in server.events(run) if event["type"] == "wait_for_input"]


def wait_until_asked(server, run, count):
    server.wait_for(run, "waiting")
    asked = waits_of(server, run)
    assert len(asked) == count, asked
    return {event["question"]: event for event in asked}


def test_several_children_wait_and_each_gets_its_answer(work):
    with Server(work, program=PROGRAM, script=SCRIPT) as server:
        run = server.begin({"agent": "Boss", "input": "a b c"})
        asked = wait_until_asked(server, run, 3)
        for event in asked.values():
            assert (event["agent"], event["depth"], event["callers"]) == ("Clerk", 2, ["Worker", "Boss"]), event
        answers = {"c": 3, "a": 1, "b": 2}
        for word, answer in answers.items():
            server.kill()
            server.start()
            wait = asked[f"How many for {word}?"]["wait"]
            assert server.post(f"/v1/runs/{run}/resume", {"wait": wait, "input": answer}).status == 202
            assert server.post(f"/v1/runs/{run}/resume", {"wait": wait, "input": answer}).status == 409
        server.wait_for(run, "idle")
        events = server.events(run)
        resumed = [event for event in events if event["type"] == "resume_with_input"]
        assert [(event["agent"], event["depth"]) for event in resumed] == [("Clerk", 2)] * 3, resumed
        changed = [event for event in events if event["type"] == "state_changed"]
        assert len(changed) == 1 and changed[0]["agent"] == "Boss", changed
        assert changed[0]["entries"]["last"] == ["a: 1 (1)", "b: 2 (1)", "c: 3 (1)"], changed
        results = [event for event in events if event["type"] == "agent_result"]
        assert sorted(event["depth"] for event in results) == [1, 1, 1, 2, 2, 2], results
        calls = {event["call"]: event["callee"] for event in events if event["type"] == "agent_call"}
        assert {event["call"]: event["callee"] for event in results} == calls, "each names the call that it ends"


def test_the_answer_after_a_handoff_is_streamed(work):
    program = """agent Heir { fn turn(ctx: Context, input: String) -> String { "Say it."! } }
agent Boss { fn turn(ctx: Context, input: String) -> String { Heir::handoff(input) } }
"""
    model = CuttingModel(cuts=0)
    with Server(work, program=program, model="openai:cutting", environment=model.environment) as server:
        texts = said_in_pieces(server, model)
        assert len(texts) == 3 and "".join(texts) == "There was an owl.", texts
        run = server.begin({"agent": "Boss"})
        stream = iter(events_of(server, run).open())
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "a"}).status == 202
        pieces = []
        for _, data in stream:
            event = json.loads(data)
            if event["type"] == "text_delta":
                pieces.append(event)
                model.go_on()
            if event["type"] == "turn_end":
                break
        assert pieces and {(piece["agent"], piece["depth"]) for piece in pieces} == {("Heir", 0)}, pieces


def chat_in_pieces(server, model, agent="Boss"):
    """The events of a chat with the agent, and the pieces of text in them. The model sends a piece when the previous one has arrived."""
    body = {"model": agent, "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    events, texts = [], []
    for _, data in Stream(server, "POST", "/v1/chat/completions", body, {"Content-Type": "application/json"}):
        if data == "[DONE]":
            continue
        events.append(json.loads(data))
        choices = events[-1].get("choices")
        if text := choices and choices[0]["delta"].get("content"):
            texts.append(text)
            model.go_on()
    return events, texts


def said_in_pieces(server, model, agent="Boss"):
    return chat_in_pieces(server, model, agent)[1]


SAID = {
    "a block": 'block say: request { prompt: "Say it." }',
    "a loop without tools": 'block say: core_loop { prompt: "Say it." }',
    "two blocks": 'block say: request { prompt: "Say it.", -> more }\n block more: request { prompt: "Say more." }',
    "another agent": "block say: delegate { agent: Other }",
    "what a function emits": "block say: code { emit(said(ctx)) }",
}
NOT_SAID = {
    "what goes to the state": 'state { note: String = "" } block say: request { prompt: "Say it.", into: state.note }',
    "what has a contract": "block say: code { emit(short(ctx)) }",
    "what is changed": 'block say: code { emit(said(ctx) + "!") }',
    "an item's": 'block say: for_each { item n: i32 in [1]\n block one: request { prompt: "Say it." } }',
}


def test_answers_of_blocks_are_streamed(work):
    for number, (name, blocks) in enumerate([*SAID.items(), *NOT_SAID.items()]):
        program = """agent Other { fn turn(ctx: Context, input: String) -> String { "Say it."! } }
fn said(ctx: Context) -> String { "Say it."! }
fn short(ctx: Context) -> String ensures result.len() < 100 { "Say it."! }
agent Boss {
    %s
}
""" % blocks
        model = CuttingModel(cuts=0)
        place = work / str(number)
        place.mkdir()
        with Server(place, program=program, model="openai:cutting", environment=model.environment) as server:
            if name in NOT_SAID:
                model.go_on(1000)
            texts = said_in_pieces(server, model)
            whole = {"two blocks": "There was an owl.\n\nThere was an owl.", "what goes to the state": "",
                     "what is changed": "There was an owl.!"}.get(name, "There was an owl.")
            assert "".join(texts) == whole, (name, texts)
            assert len(texts) >= 3 if name in SAID else len(texts) <= 1, (name, texts)


STATE = 'turns: i32 = 0, last: String = "", all: List<String> = [], counts: Map<i32> = Map::new()'
# Bodies of turns whose value is the answer of `said`.
PASSED_ON = {
    "Plain": "said(ctx)",
    "AfterALet": "let words = 1\n said(ctx)",
    "Named": "let text = said(ctx)\n text",
    "Arm": 'match input { "no" => "no", "hi" => said(ctx), _ => "else" }',
    "LastArm": 'match input { "no" => "no", _ => said(ctx) }',
    "Branch": 'if input == "hi" { said(ctx) } else { "no" }',
    "OtherBranch": 'if input == "no" { "no" } else if input == "nothing" { "none" } else { said(ctx) }',
    "IfLet": 'if let Some(word) = input.split(" ").find(|word| word == "hi") { said(ctx) } else { "no" }',
    "Inner": "{ let words = 2\n said(ctx) }",
    "Budget": "said(ctx) budget(calls: 3)",
    "Shielded": "shield { said(ctx) }",
    "ShieldedNamed": "let text = shield { let words = 1\n said(ctx) }\n text",
    "ShieldedDeep": "shielded(ctx)",
    "Returned": 'if input == "hi" { return said(ctx) }\n "no"',
    "Counted": "state.turns += 1\n let turn = state.turns\n said(ctx)",
    "Helped": "let kind = input.len()\n helper(ctx, kind)",
    "Written": 'let kind = input.len()\n "Say it in {{ kind }} words."!',
    "ByABlock": None,
    "KeptFirst": "let text = said(ctx)\n state.turns += 1\n state.last = text\n state.all.push(text)\n"
                 " state.counts[input] = text.len() * 2\n let again = (text, Some(input))\n text",
    "NotedFirst": 'let text = said(ctx)\n let noted = "{{ text.trim() }} was said"\n "{{ noted }}"!\n return text',
    "CountedFirst": "let text = said(ctx)\n if text.len() > 3 && state.turns < 9 { state.turns += 1 } else { state.last = text }\n"
                    ' match input { "hi" => { state.turns += 1 }, "ho" => { state.last = "" }, _ => {} }\n text',
    "EmittedLater": 'let text = said(ctx)\n state.turns += 1\n emit(text)\n text',
}
# Of these, a part might be sent that is not part of the answer in the end.
NOT_PASSED_ON = {
    "Caught": 'said(ctx) catch failure { "failed" }',
    "ReturnedCaught": '{ if input == "hi" { return said(ctx) }\n "no" } catch failure { "failed" }',
    "Emitted": 'let text = said(ctx) catch failure { "failed" }\n emit(text)\n text',
    "Cleaned": 'said(ctx) finally { let done = emit("done") }',
    "ShieldedCaught": 'shield { said(ctx) catch failure { "failed" } }',
    "Handed": '{ Plain::handoff(input) } finally { emit("done") }',
    "Parallel": "let both = parallel { a = said(ctx)\n b = 1 }\n both.a",
    "Looped": "let text = said(ctx)\n for _ in 0..2 { state.turns += 1 }\n text",
    "Called": "let text = said(ctx)\n count(input)\n text",
    "Refused": 'let text = said(ctx)\n if text.contains("bear") { fail("no") }\n text',
    "RefusedByConversion": 'let text = said(ctx)\n let there = text.find("owl").unwrap()\n text',
    "Replaced": 'let text = said(ctx)\n if text.contains("bear") { text = "no" }\n text',
    "ReplacedLater": 'let text = said(ctx)\n if text.contains("bear") { return "no" }\n text',
    "CaughtLater": 'let text = said(ctx)\n state.turns = 7 / input.len() catch _ { return "no" }\n text',
    "OtherFirst": 'let text = said(ctx)\n emit("done")\n text',
    "Repeated": 'let text = ""\n while text == "" { text = said(ctx) }\n text',
}


def test_the_answer_is_streamed_wherever_it_is_the_turns_value(work):
    program = """fn said(ctx: Context) -> String { "Say it."! }
fn shielded(ctx: Context) -> String { shield { shield { said(ctx) } } }
fn count(text: String) -> i32 { text.len() }
fn helper(ctx: Context, kind: i32) -> String {
    let words = kind + 1
    if words > 1 { match kind { 7 => "no", _ => said(ctx) } } else { "no" }
}
"""
    for name, body in {**PASSED_ON, **NOT_PASSED_ON}.items():
        inside = f"fn turn(ctx: Context, input: String) -> String {{\n {body}\n }}"
        inside = 'block say: code { let words = 1\n emit(if words == 1 { said(ctx) } else { "no" }) }' if body is None else inside
        program += f"agent {name} {{\n state {{ {STATE} }}\n {inside}\n}}\n"
    model = CuttingModel(cuts=0)
    with Server(work, program=program, model="openai:cutting", environment=model.environment) as server:
        for name in PASSED_ON:
            texts = said_in_pieces(server, model, name)
            assert texts == ["There", " was", " an owl."], (name, texts)
        model.go_on(1000)
        for name in NOT_PASSED_ON:
            texts = said_in_pieces(server, model, name)
            whole = "There was an owl."
            assert texts == (["done", "\n\n" + whole] if name in ("Cleaned", "Handed", "OtherFirst") else [whole]), (name, texts)


def test_a_turn_that_fails_after_its_answer_was_streamed_ends_with_the_error(work):
    program = """agent Boss {
    state { turns: i32 = 2147483647 }
    fn turn(ctx: Context, input: String) -> String {
        let text = said(ctx)
        state.turns += 1
        text
    }
    fn said(ctx: Context) -> String { "Say it."! }
}
"""
    model = CuttingModel(cuts=0)
    with Server(work, program=program, model="openai:cutting", environment=model.environment) as server:
        events, texts = chat_in_pieces(server, model)
        assert texts == ["There", " was", " an owl."], events
        assert "does not fit" in events[-1]["error"]["message"], events


def test_children_of_a_function_wait_for_it(work):
    with Server(work, program=PROGRAM, script=SCRIPT) as server:
        run = server.begin({"fn": "both", "args": {}})
        asked = wait_until_asked(server, run, 2)
        assert {tuple(event["callers"]) for event in asked.values()} == {("Worker", "both")}, asked
        for word, answer in (("y", 2), ("x", 1)):
            wait = asked[f"How many for {word}?"]["wait"]
            assert server.post(f"/v1/runs/{run}/resume", {"wait": wait, "input": answer}).status == 202
        assert server.wait_for(run, "done")["end"]["value"] == ["x: 1 (1)", "y: 2 (1)"]


def test_cancelling_a_turn_cancels_its_children(work):
    with Server(work, program=PROGRAM, script=SCRIPT) as server:
        run = server.begin({"agent": "Boss", "input": "a b"})
        asked = wait_until_asked(server, run, 2)
        assert server.post(f"/v1/runs/{run}/cancel", {"reason": "enough"}).status == 202
        server.wait_for(run, "idle")
        for event in asked.values():
            assert server.post(f"/v1/runs/{run}/resume", {"wait": event["wait"], "input": 1}).status == 409
        events = server.events(run)
        assert events[-1]["type"] == "turn_cancelled" and not any(e["type"] == "state_changed" for e in events), events


def say(server, run, text):
    assert server.post(f"/v1/runs/{run}/prompt", {"input": text}).status == 202
    return server.wait_for(run, "idle", "waiting")


def test_texts_and_changed_states_are_events(work):
    with Server(work, program=PROGRAM, script=SCRIPT) as server:
        run = server.begin({"agent": "Boss", "input": ""})
        asked = wait_until_asked(server, run, 1)
        wait = next(iter(asked.values()))["wait"]
        server.post(f"/v1/runs/{run}/resume", {"wait": wait, "input": 1})
        server.wait_for(run, "idle")
        events = server.events(run)
        text = next(event for event in events if event["type"] == "text")
        finished = next(event for event in events if event["type"] == "generation_finished")
        assert (text["text"], text["agent"], text["depth"]) == ("all done", "Boss", 0), text
        assert text["generation"] == finished["generation"] and text["number"] == finished["number"] + 1
        changed = next(event for event in events if event["type"] == "state_changed")
        assert changed["entries"] == {"rounds": 1, "last": [": 1 (1)"], "motto": "on"}, "initially all entries are new"
        assert events[-1]["type"] == "turn_end" and events[-1]["number"] == changed["number"] + 1
        assert [event["number"] for _, event in stream_of(server, run, len(events))] == \
            [event["number"] for event in events], "a stream has the same events"


def test_a_rejection_names_its_generation(work):
    program = """agent Poet {
    fn turn(ctx: Context, input: String) -> String { verse(ctx) }
    fn verse(ctx: Context) -> String
        ensures result.len() < 10
    {
        "A verse"!
    }
}
"""
    with Server(work, program=program, script='Poet::verse => "Much too long a verse", "Short"\n') as server:
        run = server.begin({"agent": "Poet", "input": "now"})
        server.wait_for(run, "idle")
        events = server.events(run)
        answers = {event["generation"]: event["value"] for event in events if event["type"] == "generation_finished"}
        refused = [event for event in events if event["type"] == "answer_refused"]
        assert [answers[event["generation"]] for event in refused] == ["Much too long a verse"], events
        assert refused[0]["reasons"] == "`result.len() < 10` (`result.len()` is 21)", refused


def stream_of(server, run, count):
    stream = events_of(server, run)
    events = []
    for number, data in stream:
        events.append((number, json.loads(data)))
        if len(events) == count:
            break
    stream.close()
    return events


def test_a_turn_that_does_not_return_changes_nothing(work):
    with Server(work, program=PROGRAM, script=SCRIPT) as server:
        run = server.begin({"agent": "Boss", "input": "away"})
        server.wait_for(run, "idle")
        events = server.events(run)
        changed = [event for event in events if event["type"] == "state_changed"]
        assert [(event["agent"], event["entries"]) for event in changed] == [("Heir", {"turns": 1})], changed
        assert events[-1]["agent"] == "Heir", "the turn ends with the agent that it was handed off to"
        say(server, run, "again")
        events = server.events(run)
        assert [event["agent"] for event in events if event["type"] == "prompt_started"] == ["Boss", "Heir"]
        assert events[-1]["value"] == "heir 2"

        run = server.begin({"agent": "Boss", "input": "fail"})
        server.wait_for(run, "idle")
        for cut_off in ("doomed", "cancelled"):
            say(server, run, "over")
            if cut_off == "doomed":
                server.kill()
                server.start()
                assert server.post(f"/v1/runs/{run}/resume", {"input": "yes"}).status == 202
            else:
                assert server.post(f"/v1/runs/{run}/cancel", {}).status == 202
            server.wait_for(run, "idle")
            server.kill()
            server.start()
        say(server, run, "fail")
        events = server.events(run)
        ends = [event for event in events if event["type"] in ("turn_failed", "turn_cancelled")]
        assert [event["type"] for event in ends] == ["turn_failed", "turn_failed", "turn_cancelled", "turn_failed"], ends
        assert {event["agent"] for event in ends} == {"Boss"}, "the next turn belongs to the agent that handed off"
        assert not any(event["type"] == "state_changed" for event in events)
        say(server, run, "away")
        assert server.events(run)[-1]["value"] == "heir 1"


class CuttingModel:
    """An endpoint that streams: the first `cuts` answers are cut off in the middle, the following ones are complete."""

    def __init__(self, cuts=1):
        model = self
        self.requests = 0
        self.wanted = threading.Semaphore(0)

        class Handler(http.server.BaseHTTPRequestHandler):
            timeout = SECONDS_MAX

            def do_POST(self):  # noqa: N802
                self.rfile.read(int(self.headers.get("Content-Length", "0")))
                model.requests += 1
                is_cut = model.requests <= cuts
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for word in ("Once ", "upon ") if is_cut else ("There ", "was ", "an owl."):
                    self.send({"choices": [{"index": 0, "delta": {"content": word}}]})
                    model.wanted.acquire(timeout=SECONDS_MAX)
                if is_cut:
                    return
                self.send({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                self.wfile.write(b"data: [DONE]\n\n")

            def send(self, chunk):
                self.wfile.write(b"data: " + json.dumps(dict(chunk, model="cutting")).encode() + b"\n\n")
                self.wfile.flush()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        serve(self.server)

    def go_on(self, pieces=1):
        """This many pieces have been seen, so the following ones can be sent."""
        self.wanted.release(pieces)

    @property
    def environment(self):
        return {"OPENAI_BASE_URL": f"http://127.0.0.1:{self.server.server_address[1]}/v1", "OPENAI_API_KEY": "none"}


def test_pieces_of_an_answer_are_provisional(work):
    model = CuttingModel()
    with Server(work, program=PROGRAM, model="openai:cutting", environment=model.environment) as server:
        run = server.begin({"agent": "Boss"})
        stream = iter(events_of(server, run).open())
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "a"}).status == 202
        events = []
        for number, data in stream:
            event = json.loads(data)
            events.append(event)
            if event["type"] == "text_delta":
                model.go_on()
            assert event.get("number") == number, "an event has a number in the stream if it has one"
            if event["type"] == "wait_for_input":
                assert server.post(f"/v1/runs/{run}/resume", {"input": 1}).status == 202
            if event["type"] == "turn_end":
                break
        pieces = [event for event in events if event["type"] == "text_delta"]
        generation = next(event for event in events if event["type"] == "generation_started")["generation"]
        assert pieces and not any("number" in piece for piece in pieces), pieces
        assert {(piece["generation"], piece["agent"], piece["depth"]) for piece in pieces} == {(generation, "Boss", 0)}
        by_attempt = {}
        for piece in pieces:
            text = by_attempt.get(piece["attempt"], "")
            assert piece["offset"] == len(text.encode()), "a piece starts where the previous one ended"
            by_attempt[piece["attempt"]] = text + piece["text"]
        assert by_attempt == {0: "Once upon ", 1: "There was an owl."}, by_attempt
        assert [piece["attempt"] for piece in pieces] == sorted(piece["attempt"] for piece in pieces)
        text = next(event for event in events if event["type"] == "text")
        assert text["text"] == by_attempt[1] and text["generation"] == generation, "only the newest attempt remains"
        assert not any(event["type"] == "text_delta" for event in server.events(run)), "no piece is kept"
