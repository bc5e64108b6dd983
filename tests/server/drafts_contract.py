"""What an editor of programs uses: drafts, saving, the kinds of blocks, and the changes of all runs; and the studio's page."""
import gzip
import http.client
import json
import os
import pathlib
import re
import time

from server_process import PROGRAM, Server, Stream

FOLDER = pathlib.Path(__file__).resolve().parent
SUPPORT = """\
/// Answers customers.
agent Support {
    state { topic: String = "" }

    block find: request {
        prompt: "What is this é about? One word."
        into: state.topic
        -> both
    }

    block both: parallel {
        branch one {
            block x: emit { text: "x" }
        }
        -> talk
    }

    // Keep this short.
    block talk: request {
        prompt: "Answer in one sentence."
    }
}

fn double(n: i32) -> i32 { n + n }
"""


def draft(server, text, ops=None):
    return server.post("/v1/programs/program/draft", {"text": text} | ({} if ops is None else {"ops": ops}))


def patched(text, patches):
    data = text.encode()
    for patch in reversed(patches):
        data = data[:patch["offset"]] + patch["inserted"].encode() + data[patch["offset"] + patch["removed"]:]
    return data.decode()


def test_a_draft_is_drawn_and_not_written(work):
    with Server(work, "--edit", program=SUPPORT) as server:
        reply = draft(server, SUPPORT)
        assert reply.status == 200 and reply.json["patches"] == [] and not reply.json["problems"], reply.body
        (agent,) = reply.json["agents"]
        (sequence,) = [one for one in agent["sequences"] if one["path"] == ""]
        find, both, talk = sequence["blocks"]
        assert find["excerpt"].startswith('"What is this'), find
        for block in (find, both, talk):
            (x, y), (width, height) = block["at"], block["size"]
            assert 0 <= x and 0 <= y and x + width <= agent["size"][0] and y + height <= agent["size"][1], (block, agent["size"])
        (edge,) = find["edges"]
        assert edge["points"][0][1] == find["at"][1] + find["size"][1] and edge["points"][-1][1] == both["at"][1], (edge, find, both)
        # The boxes of nested blocks are in that of the block.
        (branch,) = both["sequences"]
        (inner,) = branch["blocks"]
        for at in (0, 1):
            assert both["at"][at] < branch["at"][at] < inner["at"][at], both
            assert inner["at"][at] + inner["size"][at] < both["at"][at] + both["size"][at], both
        assert (work / "program.tn").read_text() == SUPPORT


def test_edits_of_a_draft_are_patches_of_its_bytes(work):
    with Server(work, "--edit", program=SUPPORT) as server:
        ops = [{"op": "add", "agent": "Support", "name": "thank", "kind": "emit", "after": "talk",
                "options": [{"name": "text", "value": '"Thank you, é."'}]},
               {"op": "connect", "agent": "Support", "block": "talk", "target": "thank"},
               {"op": "rename", "agent": "Support", "block": "find", "name": "look"}]
        changed = SUPPORT.replace("\n", "\r\n")  # a text that the server has never seen
        reply = draft(server, changed, ops)
        assert reply.status == 200, reply.body
        after = patched(changed, reply.json["patches"])
        assert "block thank: emit {" in after and "block look: request" in after and "// Keep this short." in after, after
        assert after.count("\n") == after.count("\r\n"), after
        assert draft(server, after).json["agents"] == reply.json["agents"]
        # A block may lead to one that is missing, and stay unconnected.
        gone = draft(server, SUPPORT, [{"op": "delete", "agent": "Support", "block": "talk"}])
        assert gone.status == 200 and gone.json["problems"], gone.body
        (edge,) = gone.json["agents"][0]["sequences"][0]["blocks"][1]["edges"]
        assert edge["target"] == "talk" and "points" not in edge, edge
        refused = draft(server, SUPPORT, [{"op": "delete", "agent": "Support", "block": "none"}])
        assert refused.status == 422 and refused.code == "edit_refused" and refused.json["edit"] == 0, refused.body


def test_edits_of_agents_and_declarations(work):
    with Server(work, "--edit", program=SUPPORT) as server:
        ops = [{"op": "rename_field", "agent": "Support", "section": "state", "field": "topic", "name": "subject"},
               {"op": "add_field", "agent": "Support", "section": "scratchpad", "name": "note", "type": "String", "value": '""'},
               {"op": "set_instructions", "agent": "Support", "statements": '"Be brief."!'},
               {"op": "set_documentation", "agent": "Support", "block": "talk", "text": "Speaks."},
               {"op": "add_branch", "agent": "Support", "block": "both", "branch": "two"},
               {"op": "rename_declaration", "declaration": "double", "name": "twice"},
               {"op": "add_declaration", "source": "fn half(n: i32) -> i32 { n / 2 }"}]
        reply = draft(server, SUPPORT, ops)
        assert reply.status == 200 and not [one for one in reply.json["problems"] if one["severity"] == "error"], reply.body
        after = patched(SUPPORT, reply.json["patches"])
        assert "into: state.subject" in after and "    // Keep this short.\n    /// Speaks.\n    block talk" in after, after
        (agent,) = reply.json["agents"]
        assert agent["instructions"] == '"Be brief."!' and [field["name"] for field in agent["scratchpad"]] == ["note"], agent
        declared = [(one["kind"], one["name"]) for one in reply.json["declarations"]]
        assert declared == [("agent", "Support"), ("fn", "twice"), ("fn", "half")], declared
        for op, reason in (({"op": "remove_field", "agent": "Support", "section": "state", "field": "none"}, "no entry `none`"),
                           ({"op": "rename_declaration", "declaration": "double", "name": "Support"}, "already"),
                           ({"op": "add_declaration", "source": "nonsense"}, "the declaration has an error")):
            refused = draft(server, SUPPORT, [op])
            assert refused.status == 422 and reason in refused.body, refused.body


def test_names_at_a_place_of_a_text(work):
    with Server(work, "--edit", program=SUPPORT) as server:
        def labels(text, **more):
            at = text.encode().index(b"^")
            reply = server.post("/v1/programs/program/complete", {"text": text.replace("^", ""), "offset": at} | more)
            assert reply.status == 200, reply.body
            assert reply.json["from"] <= at <= reply.json["to"] and reply.json["complete"], reply.body
            return {one["label"]: one for one in reply.json["suggestions"]}

        # After characters of several bytes, in a text that does not compile.
        fields = labels(SUPPORT.replace("into: state.topic", "into: state.^"))
        assert fields["topic"]["kind"] == "field" and fields["topic"]["detail"] == "String", fields
        assert list(labels(SUPPORT.replace("-> both", "-> ^"))) == ["find", "both", "talk"]
        options = labels(SUPPORT.replace("into: state.topic", "re^"))
        assert options["restartable"]["inserted"] == "restartable: " and "prompt" not in options, options
        assert labels(SUPPORT.replace("find: request", "find: re^"))["route"]["documentation"]
        assert labels(SUPPORT.replace("n + n", "dou^"))["double"]["detail"] == "(n: i32) -> i32"
        assert labels(SUPPORT.replace("One word", "One ^word")) == {}
        place = SUPPORT.encode().index(b"-> talk") + 4
        meaning = server.post("/v1/programs/program/explain", {"text": SUPPORT, "offset": place}).json
        assert meaning["title"] == "talk: request" and meaning["to"] - meaning["from"] == 4, meaning
        assert server.post("/v1/programs/program/explain", {"text": "", "offset": 0}).json == {}
        for body in ({"text": "", "offset": 1}, {"text": "", "offset": -1}, {"text": ""}, {"offset": 0}, {"text": "", "offset": 0, "a": 1}):
            assert server.post("/v1/programs/program/complete", body).status == 422, body
        assert server.post("/v1/programs/other/complete", {"text": "", "offset": 0}).status == 404
    with Server(work) as server:
        assert server.post("/v1/programs/program/complete", {"text": "", "offset": 0}).code == "editing_is_off"


def test_calls_prompts_and_plans_of_a_text(work):
    text = """extern fn fetch(url: String) -> String

fn summary(ctx: Context, url: String) -> String {
    "Summarize: {{ fetch(url) }}"!
}

fn both(ctx: Context) -> String { summary(ctx, "a") + summary(ctx, "b") }
"""
    with Server(work, "--edit", program=PROGRAM) as server:
        calls = draft(server, text).json["calls"]["sequences"][0]["blocks"]
        assert [(one["name"], one["kind"], [edge["target"] for edge in one["edges"]]) for one in calls] == [
            ("fetch", "extern", []), ("summary", "function", ["fetch"]), ("both", "function", ["summary"])], calls
        assert all("at" in one and "size" in one for one in calls) and calls[2]["edges"][0]["points"], calls
        shown = server.post("/v1/programs/program/prompts", {"text": text}).json
        (prompt,) = shown["prompts"]
        assert prompt["function"] == "summary" and prompt["line"] == 3 and not shown["has_errors"], shown
        assert any("Summarize: {{" in message["text"] for message in prompt["messages"]), prompt
        broken = server.post("/v1/programs/program/prompts", {"text": text + "fn f() -> i32 { nope }"}).json
        assert broken == {"prompts": [], "tools": [], "has_errors": True}, broken
        pursuit = (FOLDER.parents[1] / "docs/language/21-pursue.md").read_text()
        source = next(part for part in pursuit.split("```tenon")[1:] if "pursue" in part).partition("\n")[2].partition("```")[0]
        plans = server.post("/v1/programs/program/plans", {"text": source}).json
        assert not plans["has_errors"] and plans["plans"], plans
        plan = plans["plans"][0]
        found = source.encode()[plan["range"]["offset"]:].decode()
        assert found.startswith("pursue"), found[:80]
        states = [one["name"] for one in plan["graph"]["sequences"][0]["blocks"]]
        assert states == ["start", *[action["name"] for action in plan["actions"]], "goal"], states
        for body in ({}, {"text": 1}, {"text": "", "offset": 0}):
            assert server.post("/v1/programs/program/plans", body).status == 422, body


def test_what_is_added_leaves_the_other_blocks_where_they_are(work):
    names = [f"step_{number}" for number in range(200)]
    blocks = []
    for number, name in enumerate(names):
        targets = [target for target in (number + 1, number * 7 % 190 + 9) if target < len(names)]
        edges = "".join(f"        to {names[target]}: \"way {target}\"\n" for target in sorted(set(targets)))
        blocks.append(f"    block {name}: route {{\n{edges}    }}\n" if edges else f"    block {name}: emit {{ text: \"end\" }}\n")
    text = "agent Long {\n" + "\n".join(blocks) + "}\n"
    with Server(work, "--edit", program="fn f() -> i32 { 1 }\n") as server:
        def middles(text, ops=None):
            reply = draft(server, text, ops)
            assert reply.status == 200, reply.body
            (agent,) = reply.json["agents"]
            return {block["path"]: block["at"][0] + block["size"][0] / 2 for block in agent["sequences"][0]["blocks"]}

        before = middles(text)
        for after in ("step_3", "step_77", "step_150"):
            ops = [{"op": "add", "agent": "Long", "name": f"{after}_more", "kind": "emit", "after": after,
                    "options": [{"name": "text", "value": '"more"'}]},
                   {"op": "connect", "agent": "Long", "block": after, "kind": "to", "target": f"{after}_more", "label": '"more"'}]
            now = middles(text, ops)
            shifts = sorted(now[name] - before[name] for name in names)
            common = shifts[len(shifts) // 2]
            moved = sum(abs(shift - common) > 20 for shift in shifts)
            assert f"{after}_more" in now and moved < 20, (after, moved)
            before = middles(text)


def test_problems_of_a_draft_have_places_in_bytes(work):
    with Server(work, "--edit", program=SUPPORT) as server:
        text = SUPPORT.replace('"Answer in one sentence."', '"é😀" + nope')
        problems = draft(server, text).json["problems"]
        (unknown,) = [one for one in problems if "nope" in one["message"]]
        found = text.encode()[unknown["offset"]:unknown["offset"] + unknown["length"]].decode()
        assert found == "nope" and unknown["file"] == "program.tn" and re.match(r"E\d{4}$", unknown["code"]), unknown
        # What can be read of a text with a syntax error is drawn.
        reply = draft(server, SUPPORT + "\nfn broken( {")
        assert reply.status == 200 and reply.json["problems"] and reply.json["agents"][0]["name"] == "Support", reply.body
        for body in ({}, {"text": 1}, {"text": "", "ops": 1}, {"text": "", "more": 1}):
            assert server.post("/v1/programs/program/draft", body).status == 422, body


def test_what_is_saved_is_run_without_a_restart(work):
    with Server(work, "--edit", program=SUPPORT) as server:
        shown = server.get("/v1/programs/program").json
        before = server.begin({"fn": "double", "args": {"n": 3}})
        better = SUPPORT.replace("n + n", "n * 20") + "\nfn added() -> String { \"new\" }\n"
        saved = server.post("/v1/programs/program/save", {"version": shown["version"], "text": better})
        assert saved.status == 200 and saved.json["runs"] == "new" and not saved.json["problems"], saved.body
        assert (work / "program.tn").read_text() == better
        assert server.wait_for(before, "done")["end"]["value"] == 6
        run = server.begin({"fn": "double", "args": {"n": 3}})
        assert server.wait_for(run, "done")["end"]["value"] == 60
        assert "added" in [one["name"] for one in server.get("/v1/agents").json["agents"]]
        # A text with errors is saved, too; runs keep using the last one without.
        broken = better.replace("n * 20", "n * nope")
        saved = server.post("/v1/programs/program/save", {"version": saved.json["version"], "text": broken})
        assert saved.status == 200 and saved.json["runs"] == "old" and saved.json["problems"], saved.body
        assert (work / "program.tn").read_text() == broken
        run = server.begin({"fn": "double", "args": {"n": 3}})
        assert server.wait_for(run, "done")["end"]["value"] == 60
        # Another one has changed the file.
        (work / "program.tn").write_text(SUPPORT)
        refused = server.post("/v1/programs/program/save", {"version": saved.json["version"], "text": better})
        assert refused.status == 409 and refused.code == "version_conflict", refused.body
        assert refused.json["text"] == SUPPORT and refused.json["version"] == shown["version"], refused.body
        assert (work / "program.tn").read_text() == SUPPORT


def test_a_run_of_a_saved_program_survives_a_restart(work):
    asking = 'fn choose(ctx: Context) -> String {\n    let way = ask<String>("Which way?")\n    "old {{ way }}"\n}\n'
    with Server(work, "--edit", program=asking) as server:
        version = server.get("/v1/programs/program").json["version"]
        first = server.begin({"fn": "choose", "args": {}})
        server.wait_for(first, "waiting")
        saved = server.post("/v1/programs/program/save", {"version": version, "text": asking.replace("old", "new")})
        assert saved.json["runs"] == "new", saved.body
        second = server.begin({"fn": "choose", "args": {}})
        server.wait_for(second, "waiting")
        server.kill()
        server.start()
        for run, value in ((first, "old left"), (second, "new left")):
            assert server.post(f"/v1/runs/{run}/resume", {"input": "left"}).status == 202
            assert server.wait_for(run, "done")["end"]["value"] == value


def test_the_kinds_of_blocks(work):
    with Server(work, "--edit") as server:
        kinds = {kind["name"]: kind for kind in server.get("/v1/palette").json["kinds"]}
        assert {"name": "prompt", "required": True, "meaning": "what to ask the model for"} in kinds["request"]["options"]
        assert kinds["route"]["parts"] == ["when", "to", "on", "else"] and kinds["code"]["has_statements"], kinds


def test_the_changes_of_all_runs(work):
    with Server(work) as server:
        stream = Stream(server, "GET", "/v1/events").open()
        runs = {server.begin({"fn": "pick", "args": {}}) for _ in range(3)}
        waiting = set()
        for number, data in stream:
            shown = json.loads(data)
            assert number is None and shown["agent"] == "pick", shown
            if shown["state"] == "waiting":
                assert shown["waits"][0]["question"] == "Mood?", shown
                waiting.add(shown["run"])
            if waiting == runs:
                break
        (first, *_) = runs
        server.post(f"/v1/runs/{first}/cancel", {})
        for _, data in stream:
            shown = json.loads(data)
            if shown["state"] == "cancelled":
                assert shown["run"] == first, shown
                break
        stream.close()


def test_the_changes_of_a_program_on_disk(work):
    with Server(work, "--edit") as server:
        stream = Stream(server, "GET", "/v1/events").open()
        messages = (json.loads(data) for _, data in stream)
        (work / "program.tn").write_text(PROGRAM + "\n// more\n")
        version = server.get("/v1/programs/program").json["version"]
        assert next(messages) == {"program": "program", "version": version}
        # An editor writes another file, and renames it.
        (work / "other.txt").write_text(PROGRAM)
        os.replace(work / "other.txt", work / "program.tn")
        version = server.get("/v1/programs/program").json["version"]
        assert next(messages) == {"program": "program", "version": version}
        (work / "program.tn").unlink()
        assert next(messages) == {"program": "program", "version": None}
        stream.close()


def test_a_moment_of_a_run(work):
    program = """agent Guide {
    state { asked: i32 = 0 }
    instructions { "Be brief."! }
    fn turn(ctx: Context, input: String) -> String {
        state.asked = state.asked + 1
        let place = ask<String>("Where?")
        let pair = (place, 1)
        describe(ctx, pair.0)
    }
}

fn describe(ctx: Context, place: String) -> String {
    "Describe this place: {{ place }}"!
}
"""
    script = 'describe when "sea" => "Water."\n* => "Nothing."\n'
    with Server(work, "--edit", program=program, script=script) as server:
        run = server.begin({"agent": "Guide", "input": "I am here."})
        server.wait_for(run, "waiting")
        (wait,) = server.run(run)["waits"]
        server.post(f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": "the sea"})
        server.wait_for(run, "idle")
        events = server.events(run)
        (asked,) = [event for event in events if event["type"] == "wait_for_input"]
        at_question = server.get(f"/v1/runs/{run}/records/{asked['number']}").json
        assert [call["function"] for call in at_question["stack"]] == ["Guide::turn"], at_question
        assert at_question["agent"] == "Guide" and at_question["state"] == {"asked": 1} and "prompt" not in at_question, at_question
        for event in events:
            if not event["type"].startswith("generation_"):
                continue
            moment = server.get(f"/v1/runs/{run}/records/{event['number']}").json
            prompt = moment["prompt"]
            found = [(entry["origin"], entry["role"], entry["text"]) for entry in prompt["entries"]]
            assert ("program", "instructions", "Be brief.") in found and ("person", "person", "I am here.") in found, found
            assert ("person", "program", "Describe this place: the sea") in found, found
            sources = {variable["name"]: variable.get("origin") for call in moment["stack"] for variable in call.get("variables", [])}
            is_answered = event["type"] == "generation_finished"
            assert is_answered or (sources["place"], sources["pair"]) == ("person", "person"), ("a part has a source, and so has the whole", moment)
            assert prompt["messages"][0] == {"role": "system", "text": "Be brief."} and prompt["tokens"]["generated"] > 0, prompt
        assert server.get(f"/v1/runs/{run}/records/0").status == 404
        assert server.get(f"/v1/runs/{run}/records/x").status == 404
        # A client that may not read the program does not learn its prompts.
        server.stop()
        server.options.remove("--edit")
        server.start()
        assert server.get(f"/v1/runs/{run}/records/1").code == "editing_is_off"


class Studio(Server):
    """A `tenon studio` instead of a `tenon serve`."""

    subcommand = "studio"
    announces_on_stdout = True
    announcement = r"studio at http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{64})$"

    def page(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()


def test_the_studio_has_a_token_and_a_page(work):
    with Studio(work, "--no-open") as studio:
        token = studio.found.group(2)
        status, headers, body = studio.page("/", Accept_Encoding="gzip")
        assert status == 200 and headers["Content-Type"].startswith("text/html"), headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and headers["X-Content-Type-Options"] == "nosniff", policy
        page = gzip.decompress(body).decode()
        assets = re.findall(r'(?:src|href)="\.(/assets/[^"]+)"', page)
        assert assets and "<script>" not in page and " style=" not in page, page
        for asset in assets:
            status, headers, body = studio.page(asset, Accept_Encoding="gzip")
            assert status == 200 and "immutable" in headers["Cache-Control"] and gzip.decompress(body), asset
        status, again, body = studio.page("/", Accept_Encoding="gzip")
        status, _, body = studio.page("/", Accept_Encoding="gzip", If_None_Match=again["ETag"])
        assert status == 304 and not body
        assert studio.page("/", Accept_Encoding="br")[0] == 406
        assert studio.page("/assets/other.js")[0] == 404
        # Everything else requires the token, and this origin.
        assert studio.get("/v1/runs").status == 401
        bearer = f"Bearer {token}"
        assert studio.get("/v1/runs", Authorization=bearer).status == 200
        assert studio.get("/v1/programs/program", Authorization=bearer).json["text"] == PROGRAM
        for origin, status in ((f"http://127.0.0.1:{studio.port}", 200), (f"http://localhost:{studio.port}", 403), ("null", 403),
                               ("http://127.0.0.1", 403), (f"https://127.0.0.1:{studio.port}", 403), ("http://example.org", 403)):
            assert studio.get("/v1/runs", Authorization=bearer, Origin=origin).status == status, origin
        assert studio.get("/", Host="example.org").status == 403
        # The token stays the same on the same store, where only its user can read it.
        (file,) = work.glob("*.studio")
        assert file.stat().st_mode & 0o777 == 0o600, file
        studio.stop()
        studio.start()
        assert studio.found.group(2) == token


def test_a_studio_without_a_store_makes_one_beside_the_program(work):
    with Studio(work, "--no-open", names_store=False) as studio:
        assert (work / "program.store").exists()
        assert studio.stop() == 0


def test_new_runs_of_a_studio_use_the_text_on_disk(work):
    with Studio(work, "--no-open", program="fn f() -> i32 { 1 }\n") as studio:
        bearer = {"Authorization": f"Bearer {studio.found.group(2)}"}

        def value():
            run = studio.ask("POST", "/v1/runs", {"fn": "f", "args": {}}, bearer).json["run"]
            deadline = time.monotonic() + 60
            while (shown := studio.ask("GET", f"/v1/runs/{run}", None, bearer).json)["state"] != "done":
                assert time.monotonic() < deadline
                time.sleep(0.01)
            return shown["end"]["value"]

        assert value() == 1
        for text, expected in (("fn f() -> i32 { 2 }\n", 2), ("fn f() -> i32 { nope }\n", 2), ("fn f() -> i32 { 3 }\n", 3)):
            (work / "program.tn").write_text(text)
            deadline = time.monotonic() + 60
            while value() != expected:
                assert time.monotonic() < deadline, text


def test_a_studio_opens_a_program_with_errors(work):
    with Studio(work, "--no-open", program="fn f() -> i32 { nope }\n") as studio:
        bearer = {"Authorization": f"Bearer {studio.found.group(2)}"}
        shown = studio.ask("GET", "/v1/programs/program", None, bearer).json
        assert studio.ask("GET", "/v1/agents", None, bearer).json["agents"] == []
        mended = shown["text"].replace("nope", "7")
        saved = studio.ask("POST", "/v1/programs/program/save", {"version": shown["version"], "text": mended}, bearer)
        assert saved.json["runs"] == "new", saved.body
        run = studio.ask("POST", "/v1/runs", {"fn": "f", "args": {}}, bearer).json["run"]
        deadline = time.monotonic() + 60
        while studio.ask("GET", f"/v1/runs/{run}", None, bearer).json["state"] != "done":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert any("nope" in line for line in studio.output), studio.output


def test_a_serve_has_no_studio(work):
    with Server(work) as server:
        assert server.get("/").status == 404 and "getStudio" not in server.get("/openapi.json").body
