"""What is made of recorded runs: forks in a changed program, replays, differences; with `--edit`."""
import json
import re

from server_process import Server

PROGRAM = '''\
fn find(ctx: Context, text: String) -> String {
    "What is it about?"!
    text!
}

fn answer(ctx: Context, topic: String) -> String {
    "Answer about {{ topic }}."!
}

fn main(ctx: Context, text: String) -> String {
    let topic = find(ctx, text)
    answer(ctx, topic)
}

fn choose(ctx: Context) -> String {
    let topic = find(ctx, "a choice")
    let way = ask<String>("Which way?")
    "{{ topic }}, {{ way }}, old"
}

/// Counts its turns.
agent Guide {
    state { n: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.n = state.n + 1
        answer(ctx, input)
    }
}
'''
SCRIPT = '''\
find when "tea" => "tea"
find when "choice" => "ways"
find => "other"
answer when "In one word" => "Leaves."
answer when "tea" => "Tea is a drink."
answer => "Nothing is known."
'''


def begin_main(server, text):
    run = server.begin({"fn": "main", "args": {"text": text}})
    server.wait_for(run, "done")
    return run


def outcomes(server, run):
    """The numbers of the records with the answers of the model."""
    return [event["number"] for event in server.events(run) if event["type"] == "generation_finished"]


def dry_run(server, run, **fields):
    reply = server.post(f"/v1/runs/{run}/fork", {"dry_run": True} | fields)
    assert reply.status == 200, reply.body
    return reply.json


def test_a_dry_run_says_what_a_fork_takes_and_requests(work):
    with Server(work, "--edit", program=PROGRAM, script=SCRIPT) as server:
        run = begin_main(server, "tea")
        first, second = outcomes(server, run)
        whole = dry_run(server, run)
        assert (whole["taken"], whole["model_requests"], whole["complete"]) == (2, 0, True) and "parts" not in whole, whole
        # What follows from a later outcome is known, as long as the program requests the same.
        half = dry_run(server, run, at=first)
        assert (half["taken"], half["model_requests"], half["tool_calls"], half["questions"]) == (1, 1, 0, 0), half
        assert half["complete"] and half["requests"][0]["name"] == "answer" and half["requests"][0]["record"] == second, half
        none = dry_run(server, run, at=1)
        assert (none["taken"], none["model_requests"]) == (0, 2), none
        changed = PROGRAM.replace("Answer about {{ topic }}.", "In one word: {{ topic }}?")
        parted = dry_run(server, run, at=first, text=changed)
        assert (parted["taken"], parted["model_requests"], parted["complete"]) == (1, 1, False), parted
        assert parted["problems"] == [] and parted["parts"]["kind"] == "complete" and parted["parts"]["name"] == "answer", parted
        assert parted["parts"]["place"].startswith("program.tn:6:") and parted["parts"]["recorded"]["record"] == second - 1, parted
        early = dry_run(server, run, text=PROGRAM.replace("What is it about?", "The topic?"))
        assert (early["taken"], early["model_requests"]) == (0, 1) and early["parts"]["name"] == "find", early
        assert len(server.get("/v1/runs").json["runs"]) == 1


def test_a_dry_run_says_why_a_text_cannot_be_used(work):
    with Server(work, "--edit", program=PROGRAM, script=SCRIPT) as server:
        run = begin_main(server, "tea")
        broken = PROGRAM.replace("answer(ctx, topic)\n}", "answer(ctx, nope)\n}")
        answer = dry_run(server, run, text=broken)
        (problem,) = answer["problems"]
        found = broken.encode()[problem["offset"]:problem["offset"] + problem["length"]].decode()
        assert found == "nope" and problem["file"] == "program.tn" and "taken" not in answer, answer
        refused = server.post(f"/v1/runs/{run}/fork", {"text": broken})
        assert refused.status == 422 and refused.code == "program_has_errors" and refused.json["problems"] == [problem], refused.body
        endless = PROGRAM.replace("    let topic", "    while true {}\n    let topic")
        for body, words in (({"text": PROGRAM.replace("fn main", "fn other")}, "`main`"),
                            ({"text": endless, "budget": {"instructions": 10**12}}, "a loop that does not end")):
            for dry in ({}, {"dry_run": True}):
                refused = server.post(f"/v1/runs/{run}/fork", body | dry)
                assert refused.status == 422 and words in refused.json["error"]["message"], refused.body
        spent = dry_run(server, run, text=endless)
        assert spent["complete"] and "instructions" in spent["failure"] and spent["taken"] == 0, spent
        for body in ({"text": 1}, {"dry_run": "yes"}, {"dry_run": True, "at": 99}, {"dry_run": True, "more": 1}):
            assert server.post(f"/v1/runs/{run}/fork", body).status == 422, body
        assert server.post("/v1/runs/none/fork", {"dry_run": True}).status == 404
        assert len(server.get("/v1/runs").json["runs"]) == 1


def test_a_fork_in_a_changed_program(work):
    with Server(work, "--edit", program=PROGRAM, script=SCRIPT) as server:
        run = begin_main(server, "tea")
        changed = PROGRAM.replace("Answer about {{ topic }}.", "In one word: {{ topic }}?")
        body = {"at": outcomes(server, run)[0], "text": changed}
        reply = server.post(f"/v1/runs/{run}/fork", body, Idempotency_Key="fork-1")
        assert reply.status == 201, reply.body
        fork = reply.json["run"]
        assert server.wait_for(fork, "done")["end"]["value"] == "Leaves."
        assert server.post(f"/v1/runs/{run}/fork", body, Idempotency_Key="fork-1").json == {"run": fork}
        assert server.run(run)["end"]["value"] == "Tea is a drink."
        shown = server.get(f"/v1/runs/{fork}/program").json
        assert shown == {"program": "program", "file": "program.tn", "text": changed}, shown
        assert server.get(f"/v1/runs/{run}/program").json["text"] == PROGRAM
        assert (work / "program.tn").read_text() == PROGRAM


def test_a_fork_keeps_its_program_over_a_restart(work):
    with Server(work, "--edit", program=PROGRAM, script=SCRIPT) as server:
        run = server.begin({"fn": "choose", "args": {}})
        server.wait_for(run, "waiting")
        fork = server.post(f"/v1/runs/{run}/fork", {"text": PROGRAM.replace(", old", ", new")}).json["run"]
        server.wait_for(fork, "waiting")
        server.kill()
        server.start()
        for one, value in ((run, "ways, left, old"), (fork, "ways, left, new")):
            assert server.post(f"/v1/runs/{one}/resume", {"input": "left"}).status == 202
            assert server.wait_for(one, "done")["end"]["value"] == value


def test_what_a_program_only_reports_parts_no_fork_from_its_run(work):
    blocks = '''\
agent Guide {
    block greet: emit {
        text: "Hello."
        -> talk
    }
    block talk: request { prompt: "Answer." }
}
'''
    with Server(work, "--edit", program=blocks, script='* => "Well."\n') as server:
        run = server.begin({"agent": "Guide", "input": "one"})
        server.wait_for(run, "idle")
        for text in ("two", "three"):
            server.post(f"/v1/runs/{run}/prompt", {"input": text})
            server.wait_for(run, "idle")
        answers = outcomes(server, run)
        changed = blocks.replace("block greet", "block hail")
        estimate = dry_run(server, run, at=answers[1], text=changed)
        assert (estimate["taken"], estimate["model_requests"], estimate["turns_left"]) == (2, 0, 0), estimate
        fork = server.post(f"/v1/runs/{run}/fork", {"at": answers[1], "text": changed}).json["run"]
        server.wait_for(fork, "idle")
        events = server.events(fork)
        assert [event["block"] for event in events if event["type"] == "block_entered"] == ["hail", "talk"] * 2, events
        assert sum(event["type"] == "prompt_started" for event in events) == 2, events


def test_a_conversation_forks_in_the_turn_that_is_performed_anew(work):
    with Server(work, "--edit", program=PROGRAM, script=SCRIPT) as server:
        run = server.begin({"agent": "Guide", "input": "tea"})
        server.wait_for(run, "idle")
        server.post(f"/v1/runs/{run}/prompt", {"input": "milk"})
        server.wait_for(run, "idle")
        estimate = dry_run(server, run, text=PROGRAM.replace("Answer about", "Tell about"))
        assert (estimate["taken"], estimate["model_requests"], estimate["turns_left"]) == (0, 1, 1), estimate


def test_a_replay(work):
    with Server(work, "--edit", program=PROGRAM, script=SCRIPT) as server:
        run = begin_main(server, "tea")
        assert server.post(f"/v1/runs/{run}/replay").json == {"same": True, "ended": True, "value": "Tea is a drink."}
        changed = server.post(f"/v1/runs/{run}/replay", {"text": PROGRAM.replace("Answer about", "Tell about")}).json
        assert not changed["same"] and "request differs" in changed["difference"] and "program.tn:6" in changed["difference"], changed
        other = PROGRAM.replace("    answer(ctx, topic)\n}", "    \"{{ answer(ctx, topic) }}!\"\n}", 1)
        changed = server.post(f"/v1/runs/{run}/replay", {"text": other}).json
        assert not changed["same"] and 'replayed: "Tea is a drink.!"' in changed["difference"], changed
        waiting = server.begin({"fn": "choose", "args": {}})
        server.wait_for(waiting, "waiting")
        assert server.post(f"/v1/runs/{waiting}/replay").json == {"same": True, "ended": False}
        refused = server.post(f"/v1/runs/{run}/replay", {"text": "fn main( {"})
        assert refused.code == "program_has_errors" and refused.json["problems"], refused.body
        endless = server.post(f"/v1/runs/{run}/replay", {"text": PROGRAM.replace("    let topic", "    while true {}\n    let topic")})
        assert endless.json["same"] is False and "a request that the program does not make" in endless.json["difference"], endless.body
        assert server.post(f"/v1/runs/{run}/replay", {"program": "x"}).status == 422


def test_the_difference_of_two_runs(work):
    with Server(work, "--edit", program=PROGRAM, script=SCRIPT) as server:
        tea, milk = begin_main(server, "tea"), begin_main(server, "milk")
        found = server.get(f"/v1/runs/{tea}/diff?with={milk}").json
        assert found["a"] == tea and found["b"] == milk and not found["same"] and found["left_out"] == 0, found
        assert found["differences"][0]["what"] == "input" and "milk" in json.dumps(found["differences"][0]["b"]), found
        by_kind = {(one["what"], one.get("tool")): one for one in found["differences"]}
        result = by_kind["result", "answer"]
        assert "Tea is a drink." in json.dumps(result["a"]) and "Nothing is known." in json.dumps(result["b"]), result
        context = by_kind["context", "answer"]
        assert context["a"]["value"] == "Answer about tea." and context["b"]["value"] == "Answer about other.", context
        moment = server.get(f"/v1/runs/{milk}/records/{result['b']['record']}").json
        assert moment["prompt"]["label"] == "answer", moment
        assert server.get(f"/v1/runs/{tea}/diff?with={begin_main(server, 'tea')}").json["same"]
        assert server.get(f"/v1/runs/{tea}/diff").status == 422
        assert server.get(f"/v1/runs/{tea}/diff?with=none").status == 404
        assert server.get(f"/v1/runs/none/diff?with={tea}").status == 404


def test_programs_of_runs_are_shown_to_editors_alone(work):
    with Server(work, program=PROGRAM, script=SCRIPT) as server:
        run = begin_main(server, "tea")
        for reply in (server.post(f"/v1/runs/{run}/fork", {"dry_run": True}), server.post(f"/v1/runs/{run}/fork", {"text": PROGRAM}),
                      server.post(f"/v1/runs/{run}/replay"), server.get(f"/v1/runs/{run}/diff?with={run}"),
                      server.get(f"/v1/runs/{run}/program"), server.get(f"/v1/runs/{run}/records/1")):
            assert reply.status == 404 and reply.code == "editing_is_off", reply.body
        assert server.post(f"/v1/runs/{run}/fork", {}).status == 201


def test_a_moment_shows_variables_and_what_its_record_has_changed(work):
    program = '''\
agent Guide {
    state { place: String = "" }
    scratchpad { note: String = "" }
    block remember: code {
        state.place = input
        scratchpad.note = "visited"
        -> look
    }
    block look: call {
        call: look(state.place)
        into: scratchpad.note
    }
}

fn look(place: String) -> String {
    let long = "x"
    let more = 0
    while more < 12 {
        long = long + long
        more = more + 1
    }
    let people = [2, 3]
    for guest in people {
        let unseen = guest
    }
    let answer = ask<String>("What is at {{ place }}?")
    answer + long
}
'''
    with Server(work, "--edit", program=program) as server:
        run = server.begin({"agent": "Guide", "input": "the sea"})
        (wait,) = server.wait_for(run, "waiting")["waits"]
        (asked,) = [event for event in server.events(run) if event["type"] == "wait_for_input"]
        moment = server.get(f"/v1/runs/{run}/records/{asked['number']}").json
        assert moment["state"] == {"place": "the sea"} and moment["scratchpad"] == {"note": "visited"}, moment
        call = moment["stack"][0]
        variables = {variable["name"]: variable for variable in call["variables"]}
        assert call["function"] == "look" and sorted(variables) == ["long", "more", "people", "place"], call
        assert variables["more"]["value"] == 12 and variables["people"]["value"] == [2, 3], variables
        assert variables["place"] == {"name": "place", "value": "the sea", "origin": "person"}, variables
        assert variables["long"] == {"name": "long", "cut": '"' + "x" * 1999}, variables
        server.post(f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": "water"})
        server.wait_for(run, "idle")
        events = server.events(run)
        moments = [server.get(f"/v1/runs/{run}/records/{event['number']}").json for event in events]
        changed = [moment for moment in moments if moment.get("before") and moment["before"].get("scratchpad") != moment.get("scratchpad")]
        notes = [(moment["before"]["scratchpad"]["note"][:5], moment["scratchpad"]["note"][:5]) for moment in changed]
        assert ("visit", "water") in notes, notes


def test_events_are_read_from_the_end(work):
    with Server(work, "--edit") as server:
        run = server.begin({"fn": "clock", "args": {"count": 300}})
        server.wait_for(run, "done")
        everything = server.events(run)

        def page(query):
            reply = server.get(f"/v1/runs/{run}/events?{query}", Accept="application/json")
            assert reply.status == 200 and reply.headers["Tenon-Events"] == str(len(everything)), reply.body
            link = re.fullmatch(r'<(.*)>; rel="prev"', reply.headers.get("Link", ""))
            return reply.json, link and link.group(1)

        newest, link = page("before=99999999&limit=50")
        assert newest == everything[-50:], newest
        found = newest
        while link:
            reply, link = page(link.split("?")[1])
            found = reply + found
        assert found == everything
        assert page("before=3&limit=10") == (everything[:2], None)
        assert page("before=0") == ([], None)
        for path, accept in (("before=9&after=1", "application/json"), ("before=9", "text/event-stream"), ("before=x", "application/json")):
            assert server.get(f"/v1/runs/{run}/events?{path}", Accept=accept).status == 422, path
        # A conversation has records without events.
        talk = server.begin({"agent": "Counter", "input": "hello"})
        server.wait_for(talk, "idle")
        reply = server.get(f"/v1/runs/{talk}/events?before=1000", Accept="application/json")
        assert reply.json == server.events(talk) and reply.headers["Tenon-Events"] == str(len(reply.json)), reply.headers


EMITTING = """\
agent Many {
    fn turn(ctx: Context, input: String) -> String {
        for number in 0..700 { emit("message {{ number }}") }
        "end"
    }
}
"""


def test_events_are_read_from_the_end_where_half_of_the_records_have_none(work):
    with Server(work, "--edit", program=EMITTING) as server:
        run = server.begin({"agent": "Many", "input": "go"})
        assert server.wait_for(run, "idle")["records"] > 1400
        everything = server.events(run)
        assert len(everything) > 700
        found, path = [], f"/v1/runs/{run}/events?before=99999999&limit=90"
        while path:
            reply = server.get(path, Accept="application/json")
            # Only the first events may be fewer.
            assert len(reply.json) == min(90, len(everything) - len(found)), reply.body
            found = reply.json + found
            link = re.fullmatch(r'<(.*)>; rel="prev"', reply.headers.get("Link", ""))
            path = link and link.group(1)
        assert found == everything
        # By their position, in the run as it is.
        for position in (0, 1, 350, len(everything) - 1, len(everything), 99999):
            reply = server.get(f"/v1/runs/{run}/events?from={position}&limit=7", Accept="application/json")
            assert reply.json == everything[position:position + 7] and reply.headers["Tenon-Events"] == str(len(everything)), (position, reply.body)
        for wrong in ("from=1&after=1", "from=1&before=9", "from=x"):
            assert server.get(f"/v1/runs/{run}/events?{wrong}", Accept="application/json").status == 422, wrong
        assert server.get(f"/v1/runs/{run}/events?from=1", Accept="text/event-stream").status == 422


PURSUING = """\
struct Topic { name: String }
struct Letter { text: String }

fn draft(ctx: Context, topic: Topic) -> Letter { Letter { text: ask<String>("What about {{ topic.name }}?") } }
fn review(ctx: Context, letter: Letter) -> Letter { Letter { text: ask<String>("Better than {{ letter.text }}?") } }

fn one(ctx: Context) -> Letter {
    pursue |letter| letter.text == "good" from Topic { name: "holidays" } limit 5 {
        draft(ctx, _)
        review(ctx, _)
    }
}

fn several(ctx: Context) -> Letter {
    pursue |letter| letter.text == "good" from Topic { name: "holidays" } limit 5 width 2 {
        draft(ctx, _)
        review(ctx, _)
    }
}
"""


def test_a_moment_shows_the_states_of_a_pursue(work):
    with Server(work, "--edit", program=PURSUING) as server:
        for function, line in (("one", 8), ("several", 15)):
            run = server.begin({"fn": function, "args": {}})
            for answer in ("bad", "better", "good"):
                (wait,) = server.wait_for(run, "waiting")["waits"]
                server.post(f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": answer})
                (server.wait_until_asked(run, f"Better than {answer}?") if answer != "good" else server.wait_for(run, "done"))
            asked = [event["number"] for event in server.events(run) if event["type"] == "wait_for_input"]
            shown = []
            for record in asked:
                moment = server.get(f"/v1/runs/{run}/records/{record}").json
                (pursuing,) = [call for call in moment["stack"] if "pursuits" in call]
                assert pursuing["function"] == function and not any("pursue" in one["name"] for one in pursuing["variables"]), pursuing
                (pursuit,) = pursuing["pursuits"]
                assert pursuit["place"] == f"{line}:5", pursuit
                shown.append(pursuit["states"])
            assert shown == [[{"action": 0, "value": {"name": "holidays"}}], [{"action": 1, "value": {"text": "bad"}}],
                             [{"action": 2, "value": {"text": "better"}}]], (function, shown)
            plans = server.post("/v1/programs/program/plans", {"text": PURSUING}).json["plans"]
            assert f"program.tn:{line}:5" in [plan["place"] for plan in plans], plans
