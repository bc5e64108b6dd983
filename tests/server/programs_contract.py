"""Sources and graphs of programs over HTTP, and edits of them."""
from server_process import PROGRAM, Server


def replaced(old, new, text=PROGRAM):
    return [{"op": "replace", "offset": text.encode().index(old.encode()), "removed": old, "inserted": new}]


def test_nothing_is_shown_without_the_option(work):
    with Server(work) as server:
        assert server.get("/v1/programs").json == {"programs": []}
        reply = server.get("/v1/programs/program")
        assert reply.status == 404 and reply.code == "editing_is_off", reply.body
        reply = server.post("/v1/programs/program/edits", {"version": "", "ops": []})
        assert reply.status == 404 and reply.code == "editing_is_off", reply.body


def test_a_program_its_graph_and_an_edit(work):
    with Server(work, "--edit") as server:
        assert server.get("/v1/programs").json == {"programs": [{"name": "program", "file": "program.tn"}]}
        shown = server.get("/v1/programs/program").json
        assert shown["text"] == PROGRAM and shown["version"].startswith("sha256:") and "problem" not in shown, shown
        assert [agent["name"] for agent in shown["graph"]["agents"]] == ["Counter", "Child"], shown["graph"]
        ops = replaced("/// Adds two numbers.", "/// Adds both.")
        trial = server.post("/v1/programs/program/edits", {"version": shown["version"], "ops": ops, "dry_run": True})
        assert trial.status == 200 and "/// Adds both." in trial.json["text"], trial.body
        assert (work / "program.tn").read_text() == PROGRAM
        edited = server.post("/v1/programs/program/edits", {"version": shown["version"], "ops": ops})
        assert edited.status == 200 and edited.json["text"] == trial.json["text"], edited.body
        assert (work / "program.tn").read_text() == edited.json["text"]
        undone = server.post("/v1/programs/program/edits",
                             {"version": edited.json["version"], "ops": edited.json["inverse"]})
        assert undone.status == 200 and undone.json["version"] == shown["version"], undone.body
        assert (work / "program.tn").read_text() == PROGRAM


def test_an_edit_is_made_once_for_a_key(work):
    with Server(work, "--edit") as server:
        path = "/v1/programs/program/edits"
        version = server.get("/v1/programs/program").json["version"]
        body = {"version": version, "ops": replaced("/// Adds two numbers.", "/// Adds both.")}
        refused = {"version": version, "ops": replaced("x + y", "x + missing")}
        assert server.post(path, refused, Idempotency_Key="k").status == 422, "a refusal is not kept"
        trial = server.post(path, {**body, "dry_run": True}, Idempotency_Key="d")
        first = server.post(path, body, Idempotency_Key="k")
        assert first.status == trial.status == 200 and first.json == trial.json, first.body
        text = (work / "program.tn").read_text()
        assert "/// Adds both." in text
        # The answer stays the same after other edits and a crash; without the key the version is an old one.
        (work / "program.tn").write_text(text + "// by hand\n")
        server.kill()
        server.start()
        again = server.post(path, body, Idempotency_Key="k")
        assert again.status == 200 and again.json == first.json, again.body
        assert (work / "program.tn").read_text() == text + "// by hand\n"
        assert server.post(path, body).status == 409
        for other in ({**body, "ops": []}, {**body, "dry_run": True}):
            reply = server.post(path, other, Idempotency_Key="k")
            assert reply.status == 422 and reply.code == "idempotency_key_reused", reply.body
        reply = server.post("/v1/runs", {"fn": "add", "args": {"x": 1, "y": 2}}, Idempotency_Key="k")
        assert reply.status == 422 and reply.code == "idempotency_key_reused", reply.body
        # The server ended after it kept the result and before it wrote the file.
        (work / "program.tn").write_text(PROGRAM)
        assert server.post(path, body, Idempotency_Key="k").json == first.json
        assert (work / "program.tn").read_text() == text
        assert server.post(path, body, Idempotency_Key="k" * 300).status == 422


def test_an_old_version_is_a_conflict(work):
    with Server(work, "--edit") as server:
        version = server.get("/v1/programs/program").json["version"]
        (work / "program.tn").write_text(PROGRAM + "// by hand\n")
        reply = server.post("/v1/programs/program/edits", {"version": version, "ops": replaced("Adds", "adds")})
        assert reply.status == 409 and reply.code == "version_conflict", reply.body
        assert reply.json["version"] == server.get("/v1/programs/program").json["version"] != version
        assert (work / "program.tn").read_text() == PROGRAM + "// by hand\n"


def test_invalid_edits(work):
    with Server(work, "--edit") as server:
        version = server.get("/v1/programs/program").json["version"]
        for body, status, words in [
                ({"version": version, "ops": replaced("x + y", "x + missing")}, 422, "missing"),
                ({"version": version, "ops": replaced("x + y", "x +")}, 422, "expression"),
                ({"version": version, "ops": [{"op": "delete", "agent": "Counter", "block": "a"}]}, 422, "no block `a`"),
                ({"version": version, "ops": {}}, 422, "expected a JSON array"), ({"version": version}, 422, "`ops`"),
                ({"version": 3, "ops": []}, 422, "`version`"), ({"version": version, "opps": []}, 422, "did you mean `ops`"),
                ("[" * 100_000, 400, "nested"), ("{", 400, "JSON")]:
            reply = server.post("/v1/programs/program/edits", body)
            assert reply.status == status and words in reply.json["error"]["message"], (body, reply.status, reply.body)
        reply = server.post("/v1/programs/program/edits", {"version": version, "ops": [{"op": "paint"}]})
        assert reply.json["edit"] == 0, reply.body
        assert server.get("/v1/programs/other").status == 404
        assert (work / "program.tn").read_text() == PROGRAM
