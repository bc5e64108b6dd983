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
        assert server.get("/v1/programs").json == {"programs": [{"name": "program"}]}
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
                ({"version": version, "ops": {}}, 422, "no JSON array"), ({"version": version}, 422, "`ops`"),
                ({"version": 3, "ops": []}, 422, "`version`"), ({"version": version, "opps": []}, 422, "did you mean `ops`"),
                ("[" * 100_000, 400, "nested"), ("{", 400, "JSON")]:
            reply = server.post("/v1/programs/program/edits", body)
            assert reply.status == status and words in reply.json["error"]["message"], (body, reply.status, reply.body)
        reply = server.post("/v1/programs/program/edits", {"version": version, "ops": [{"op": "paint"}]})
        assert reply.json["edit"] == 0, reply.body
        assert server.get("/v1/programs/other").status == 404
        assert (work / "program.tn").read_text() == PROGRAM
