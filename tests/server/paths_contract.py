"""No answer shows where the server keeps its files: all routes, with runs, tools and a store that fail."""
import contextlib
import json
import sqlite3

from durability import fill, small_disk, wait_until
from server_process import Server, Stream

PROGRAM = '''\
extern fn raises(how: i32) -> i32
extern fn crashes() -> i32

fn half(text: String) -> Result<i32> { try 10 / (text.len() - 1) }

/// The places of failures are parts of values, of texts, and of what is emitted and asked.
fn tell(ctx: Context, text: String) -> String {
    let failed = try 10 / (text.len() - text.len())
    let place = match failed { Ok(value) => "none", Err(why) => why.place }
    emit("at {{ place }}")
    let answer = ask<String>("Is {{ place }} right?")
    "{{ place }} and {{ answer }}"
}

fn count() -> i32 {
    let done = 0
    while done < 1000000 { done = done + 1 }
    done
}

fn use_up() -> i32 { count() budget(instructions: 1000) }

fn try_to(how: i32) -> Result<i32> { try raises(how) }

fn calls_a_tool(how: i32) -> i32 { raises(how) }

fn crash() -> Result<i32> { try crashes() }

/// Divides.
agent Divider {
    state { last: Result<i32>? = None }
    fn turn(ctx: Context, input: String) -> Result<i32> {
        state.last = Some(half(input))
        if input == "fail" { return Ok(1 / (input.len() - 4)) }
        if input == "tool" { return Ok(raises(1)) }
        half(input)
    }
}
'''
TOOLS = '''
import os
def raises(how):
    if how == 1:
        raise ValueError("this is wrong")
    if how == 2:
        return "a text"
    return missing_name
def crashes():
    os._exit(3)
'''
GETS = ("/v1/agents", "/v1/runs", "/v1/models", "/v1/models/Divider", "/v1/programs", "/v1/programs/program", "/openapi.json", "/healthz", "/readyz",
        "/metrics", "/v1/runs/none", "/v1/responses/none", "/v1/programs/none", "/nowhere", "/v1/runs?state=wrong")


class PathServer(Server):
    def start(self):
        self.program = str(self.work / "program.tn")
        super().start()


def serve(folder, *options):
    """The paths of the program, the store, the script and the tools are absolute. `Server.ask` and `Stream` look for the folder in
    all that they receive."""
    folder.mkdir(exist_ok=True)
    (folder / "tools.py").write_text(TOOLS)
    (folder / "real").mkdir(exist_ok=True)
    link = folder / "link.db"
    if not link.is_symlink():
        link.symlink_to(folder / "real" / "store.db")
    server = PathServer(folder, "--extern", folder / "tools.py", *options, program=PROGRAM, model=f"script:{folder / 'model.script'}",
                        store=f"sqlite:{link}")
    server.hidden = folder.name
    return server


def read_stream(server, method, path, body=None):
    stream = Stream(server, method, path, body)
    stream.response = stream.connection.getresponse()
    if stream.response.status == 200:
        return list(stream)
    text = stream.response.read().decode()
    assert server.hidden not in text, text
    return []


def read_everything(server, runs):
    for path in GETS:
        assert server.get(path).status < 600, path
    for run in runs:
        for end in ("", "/events", "/reports", "/reports/none.pdf"):
            server.get(f"/v1/runs/{run}{end}", Accept="application/json")
        server.post(f"/v1/runs/{run}/fork", {"at": 1})
        for action, body in (("prompt", {"input": "x"}), ("resume", {"input": 1}), ("resume", {"budget": "calls=1"}), ("cancel", {"reason": 1})):
            server.post(f"/v1/runs/{run}/{action}", body)


def chat(server, model, text):
    messages = [{"role": "user", "content": text}]
    replies = [server.post("/v1/chat/completions", {"model": model, "messages": messages}),
               server.post("/v1/responses", {"model": model, "input": text}),
               server.post(f"/agui/{model}", {"threadId": f"thread {text}", "runId": "r", "messages": [dict(messages[0], id="m")], "tools": [],
                                              "context": [], "state": {}, "forwardedProps": {}})]
    read_stream(server, "POST", "/v1/chat/completions", {"model": model, "messages": messages, "stream": True})
    read_stream(server, "POST", "/v1/responses", {"model": model, "input": text, "stream": True})
    return replies


def test_no_answer_names_the_servers_folder(work):
    folder = work / "secretplace_xyz"
    with serve(folder, "--edit") as server:
        starts = [{"fn": "half", "args": {"text": "a"}}, {"fn": "use_up"}, {"fn": "try_to", "args": {"how": 1}},
                  {"fn": "try_to", "args": {"how": 2}}, {"fn": "try_to", "args": {"how": 3}}, {"fn": "calls_a_tool", "args": {"how": 1}},
                  {"fn": "crash"}, {"agent": "Divider", "input": "a"}]
        runs = [server.begin(start) for start in starts]
        shown = [server.wait_for(run, "done", "failed", "idle") for run in runs]
        places = [shown[0]["end"]["value"], shown[2]["end"]["value"]]
        assert all("program.tn:" in json.dumps(place) for place in places), places
        asking = server.begin({"fn": "tell", "args": {"text": "x"}})
        question = server.wait_for(asking, "waiting")["waits"][0]["question"]
        assert question.startswith("Is program.tn:"), question
        assert server.post(f"/v1/runs/{asking}/resume", {"input": "yes"}).status == 202
        assert server.wait_for(asking, "done")["end"]["value"].startswith("program.tn:")
        for text in ("a", "abc", "fail", "tool"):
            chat(server, "Divider", text)
        for run in [*runs[:-1], asking]:  # without the conversation, whose stream does not end
            read_stream(server, "GET", f"/v1/runs/{run}/events")
        read_everything(server, [*runs, asking])
        for body in ({}, {"fn": "none"}, {"fn": "half", "args": 1}, {"fn": "half", "args": {"text": 1}}, {"agent": "Divider", "args": []}):
            assert server.post("/v1/runs", body).status in (404, 422), body
        server.kill()
        # What the clients of a store that is damaged see.
        with contextlib.closing(sqlite3.connect(folder / "real" / "store.db")) as database, database:
            database.execute("UPDATE batches SET bytes = zeroblob(length(bytes))")
        server.start()
        read_everything(server, [*runs, asking])
        replies = chat(server, "Divider", "a") + [server.get(f"/v1/runs/{asking}/events", Accept="application/json")]
        assert any(reply.status >= 500 for reply in replies), [reply.body for reply in replies]


def test_no_answer_names_a_full_disk(work):
    with small_disk(work) as disk:
        if disk is None:
            return
        folder = disk / "secretplace_xyz"
        with serve(folder) as server:
            run = server.begin({"agent": "Divider", "input": "a"})
            server.wait_for(run, "idle")
            fill(disk)
            wait_until(lambda: server.get("/readyz").status == 503)
            read_everything(server, [run])
            assert any(reply.status == 503 for reply in chat(server, "Divider", "a"))
            assert server.post("/v1/runs", {"fn": "use_up"}).status == 503
