"""`tenon trace flow`: why each call that acts was made or refused; the events that say it; what was so in other processes."""
import json
import re

from store_places import new_store
from tenon_process import find_run, tenon

PROGRAM = '''\
extern fn read_inbox() -> String
extern fn send_mail(to: trusted String, body: String) -> String
extern fn pay(iban: trusted String else approve, cents: trusted i64) -> String
extern(acts) fn clear_inbox() -> ()

fn desk(ctx: Context, mail: String) -> trusted "sales" | "support" { mail! }

fn main(ctx: Context, to: String) -> String {
    let mail = read_inbox()
    send_mail(to, mail)
    let refused = try send_mail(forward(mail), "")
    match desk(ctx, mail) {
        "sales" => send_mail("sales@example.com", mail)
        "support" => send_mail("support@example.com", mail)
    }
    send_mail(endorse(mail, "a test"), "")
    send_mail(approve(mail, "Is this who writes?"), "")
    pay("DE89", 5)
    pay(mail, 7)
    clear_inbox()
    "done"
}

fn forward(text: String) -> String { text.trim() }

fn both(ctx: Context) -> String {
    desk(ctx, "a")
    desk(ctx, "b")
}

fn spends(ctx: Context) -> String {
    match try (both(ctx) budget(bits: 1)) {
        Err(f) => f.message
        Ok(_) => "twice"
    }
}

fn loops() -> i32 {
    let mail = read_inbox()
    let refused = 0
    for _ in 0..500 { if (try send_mail(mail, "")).is_err() { refused += 1 } }
    refused
}

fn plain() -> String { read_inbox() }

agent Clerk {
    fn turn(ctx: Context, input: String) -> String {
        match try send_mail(input, "") {
            Ok(sent) => sent
            Err(f) => f.message
        }
    }
}
'''
HANDOFF = '''\
extern fn is_urgent() -> Boolean
extern(acts) fn clear_inbox() -> ()

agent Desk {
    fn turn(ctx: Context, input: String) -> String {
        if is_urgent() { Clerk::handoff(input) }
        "desk"
    }
}

agent Clerk {
    fn turn(ctx: Context, input: String) -> String {
        match try clear_inbox() {
            Ok(_) => "cleared"
            Err(f) => f.message
        }
    }
}
'''
QUESTION = '''\
trust person

extern fn is_urgent() -> Boolean
extern(acts) fn clear_inbox() -> ()

agent Desk {
    fn turn(ctx: Context, input: String) -> String {
        let shown = ""
        if input == "count" && ctx.len() > 2 { shown = tried() }
        if input == "known" && ctx.trusted_part().len() > 2 { shown = tried() }
        if is_urgent() { let answer = ask<String>("Really?") }
        shown
    }
}

fn tried() -> String {
    match try clear_inbox() {
        Ok(_) => "cleared"
        Err(f) => f.message
    }
}
'''
TOOLS = '''
def read_inbox(): return "eve"
def send_mail(to: str, body: str): return f"to {to}"
def pay(iban: str, cents: int): return "paid"
def clear_inbox(): pass
'''


EXPECTED = '''\
desk.tn:10:5: send_mail(to: "ann")  [5]
  allowed: trusted; depends on argument to
desk.tn:11:23: send_mail(to: "eve")  [6]
  refused: `to` of `send_mail` depends on extern read_inbox
  extern read_inbox has come in at desk.tn:9:16  [3]
    desk.tn:9:16: `read_inbox` returns it
    desk.tn:11:33: it is passed to `forward`
    desk.tn:11:33: `forward` returns it
desk.tn:6:4: narrow answer of desk: "support"  [8]
  1 bit, 1 of 16 of the run; sees extern read_inbox
desk.tn:14:22: send_mail(to: "support@example.com")  [10]
  allowed: narrow; depends on narrow answer of desk
desk.tn:16:15: endorse "eve"  [10]
  because a test; depends on extern read_inbox
desk.tn:16:5: send_mail(to: "eve")  [12]
  allowed: endorsed; depends on endorsed as a test
desk.tn:17:15: approve "eve"  [14]
  a person is asked "Is this who writes?": yes; depends on extern read_inbox
desk.tn:17:5: send_mail(to: "eve")  [16]
  allowed: approved; depends on approved
desk.tn:18:5: pay(iban: "DE89", cents: 5)  [18]
  allowed: trusted; depends on the program's own text
desk.tn:19:5: approve {"iban":"eve","cents":7}  [20]
  a person is asked "Call `pay`?": instead {"iban":"AT61","cents":7}; depends on extern read_inbox
  extern read_inbox has come in at desk.tn:9:16  [3]
    desk.tn:9:16: `read_inbox` returns it
desk.tn:19:5: pay(iban: "AT61", cents: 7)  [22]
  allowed: a person has approved of the call
desk.tn:20:5: clear_inbox()  [24]
  allowed: trusted; depends on the program's own text
the run: 1 bit of 16 spent
'''


def write(work):
    (work / "tools.py").write_text(TOOLS)
    (work / "model.script").write_text('desk => {"value": "support"}\ndesk => {"value": "sales"}\n')
    (work / "desk.tn").write_text(PROGRAM)
    return new_store(work, "flow.store")


def start(work, store, function, *options, **rest):
    return tenon("run", "desk.tn", "--fn", function, "--model", f"script:{work / 'model.script'}", "--extern", "tools.py", "--store", store,
                 *options, cwd=work, **rest)


def flow(store, name):
    process = tenon("trace", "flow", name, "--store", store, "--json")
    assert process.returncode == 0 and process.stderr == "", process
    return json.loads(process.stdout)


def whole_run(work):
    """The run, over three processes."""
    store = write(work)
    name = find_run(start(work, store, "main", "--arg", "to=ann").stderr)
    resume = ("resume", name, "--store", store, "--extern", "tools.py")
    asked = tenon(*resume, "--input", "yes", cwd=work)
    assert asked.returncode == 3, asked
    done = tenon(*resume, "--wait", "8", "--input", '{"iban": "AT61", "cents": 7}', cwd=work)
    assert done.returncode == 0 and done.stdout == "done\n", done
    return store, name


def test_the_text(work):
    store, name = whole_run(work)
    shown = tenon("trace", "flow", name, "--store", store)
    assert shown.returncode == 0 and shown.stderr == "", shown
    assert shown.stdout == EXPECTED, shown.stdout


def test_the_numbers_are_those_that_a_fork_takes(work):
    store, name = whole_run(work)
    found = flow(store, name)
    assert found["run"] == name and found["budgets"] == [{"allowed": 16, "spent": 1}], found
    kinds = [step["kind"] for step in found["steps"]]
    assert kinds == ["call", "refused", "narrow", "call", "endorsed", "call", "approval", "call", "call", "approval", "call", "call"], kinds
    refused = found["steps"][1]
    assert refused["from"] == [{"source": "extern read_inbox", "place": "desk.tn:9:16", "record": 3}], refused
    assert [step["kind"] for step in refused["way"]] == ["read", "passed", "returned"] and refused["times"] == 1, refused
    narrow = found["steps"][2]
    assert (narrow["answer"], narrow["bits"], narrow["spent"], narrow["budget"]) == ("support", 1, 1, 0), narrow
    # A fork that knows no more than the refusal asks the model again, and a script answers otherwise.
    (work / "other.script").write_text('desk => {"value": "sales"}\n')
    forked = tenon("fork", name, "--at", str(refused["record"]), "--store", store, "--extern", "tools.py", "--model", "script:other.script", cwd=work)
    assert forked.returncode == 3, forked
    fork = re.search(r"run (\w{26}) is a fork", forked.stderr)[1]
    again = flow(store, fork)["steps"]
    assert again[1]["what"] == refused["what"] and again[1]["requested"] > 0, again
    assert again[2]["answer"] == "sales" and again[3]["values"][0]["value"] == "sales@example.com", again


def test_what_is_recorded_and_traced(work):
    store = write(work)
    process = start(work, store, "loops", "--trace", "trace.jsonl")
    assert process.returncode == 0 and process.stdout == "500\n", process
    traced = [json.loads(line) for line in (work / "trace.jsonl").read_text().splitlines()]
    (refused,) = [event for event in traced if event["type"] == "flow_refused"]
    assert refused["what"] == "`to` of `send_mail`" and refused["sources"] == ["extern read_inbox"] and refused["times"] == 500, refused
    (step,) = flow(store, find_run(process.stderr))["steps"]
    assert step["times"] == 500 and step["requested"] == step["record"] == 4, step
    process = start(work, store, "main", "--arg", "to=ann", "--trace", "trace.jsonl")
    traced = [json.loads(line) for line in (work / "trace.jsonl").read_text().splitlines()]
    allowed = [event.get("allowed") for event in traced if event["type"] == "extern_called"]
    assert allowed == [None, ["trusted"], ["narrow"], ["endorsed"]], allowed


def test_bits_of_a_budget(work):
    store = write(work)
    name = find_run(start(work, store, "spends").stderr)
    found = flow(store, name)
    assert [(step["kind"], step["spent"], step["budget"]) for step in found["steps"]] == [("narrow", 1, 0), ("spent", 1, 0)], found
    assert found["budgets"] == [{"place": "desk.tn:32:26", "allowed": 1, "spent": 1}], found
    shown = tenon("trace", "flow", name, "--store", store).stdout
    assert "refused: it costs 1 bit, and 1 of 1 of the budget at desk.tn:32:26 are spent" in shown, shown


def test_a_conversation(work):
    store = write(work)
    talk = tenon("chat", "desk.tn", "--agent", "Clerk", "--store", store, "--extern", "tools.py", "--model", "script:model.script",
                 input="ann\nbob\n", stdin=None, cwd=work)
    name = find_run(talk.stderr)
    steps = flow(store, name)["steps"]
    assert [(step["turn"], step["kind"], step["sources"]) for step in steps] == [(1, "refused", ["person"]), (2, "refused", ["person"])], steps
    assert steps[1]["from"][0]["record"] > steps[0]["from"][0]["record"] > 0, steps
    assert tenon("trace", "flow", name, "--store", store).stdout.startswith("turn 1\ndesk.tn:"), name


def test_what_cannot_be_shown(work):
    store = write(work)
    name = find_run(start(work, store, "plain").stderr)
    nothing = tenon("trace", "flow", name, "--store", store)
    assert nothing.returncode == 0 and nothing.stdout == "the run has made no call that acts\n", nothing
    assert tenon("trace", "flow", "none", "--store", store).returncode == 1
    unknown = tenon("trace", "flow", "0" * 26, "--store", store)
    assert unknown.returncode == 1 and unknown.stdout == "" and unknown.stderr.startswith("error: "), unknown
    (work / "add.tn").write_text("fn main() -> i32 { 1 + 1 }\n")
    name = find_run(tenon("run", "add.tn", "--store", store, cwd=work).stderr)
    shown = tenon("trace", "flow", name, "--store", store)
    assert shown.stdout == "nothing in the program must be trusted\n", shown
    assert flow(store, name)["steps"] == [], name


def test_an_agent_that_got_the_turn_before(work):
    store = write(work)
    (work / "desk.tn").write_text(HANDOFF)
    (work / "tools.py").write_text("def is_urgent() -> bool: return True\ndef clear_inbox(): pass\n")
    options = ("--store", store, "--extern", "tools.py", "--model", "script:model.script")
    talk = tenon("chat", "desk.tn", "--agent", "Desk", *options, input="a\n", stdin=None, cwd=work)
    name = find_run(talk.stderr)
    tenon("chat", "--run", name, *options, input="b\nc\n", stdin=None, cwd=work)
    steps = flow(store, name)["steps"]
    assert [(step["turn"], step["kind"], step["sources"]) for step in steps] == [(turn, "refused", ["extern is_urgent"]) for turn in (1, 2, 3)], steps


def test_how_many_entries_a_conversation_has(work):
    store = write(work)
    (work / "desk.tn").write_text(QUESTION)
    (work / "tools.py").write_text("def is_urgent() -> bool: return True\ndef clear_inbox(): pass\n")
    options = ("--store", store, "--extern", "tools.py", "--model", "script:model.script")
    talk = tenon("chat", "desk.tn", "--agent", "Desk", *options, input="a\nyes\n", stdin=None, cwd=work)
    name = find_run(talk.stderr)
    tenon("chat", "--run", name, *options, input="count\nyes\n", stdin=None, cwd=work)
    tenon("chat", "--run", name, *options, input="known\nyes\n", stdin=None, cwd=work)
    steps = flow(store, name)["steps"]
    found = [(step["turn"], step["kind"], step.get("sources")) for step in steps]
    assert found == [(2, "refused", ["extern is_urgent"]), (3, "call", ["person"])], steps
