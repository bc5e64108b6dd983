"""A conversation is upgraded to a newer program: states of the same shape, migrations, rejections, and the events of it."""
import json
import os
import re
import signal
import subprocess
import threading
import time

from conversations import name_of
from durable_runs import expect, expect_error
from tenon_process import ROOT, TENON, tenon

FIRST = '''\
agent Shopper {
    state {
        items: List<String> = []
        note: String = "none"
    }
    fn turn(ctx: Context, input: String) -> String {
        state.items.push(input)
        let sure = if input == "wine" { ask<Boolean>("Sure?") } else { true }
        "first: {{ state.items.len() }} {{ sure }}"
    }
}
fn main() -> String { "{{ ask<i32>("n?") }}" }
'''
# The same shape in another order, and an answer of another type.
SAME = '''\
agent Shopper {
    state {
        note: String = "other"
        items: List<String> = []
    }
    fn turn(ctx: Context, input: String) -> String {
        state.items.push(input)
        let drawn = drawn()
        "same: {{ state.items.join(",") }} {{ state.note }} {{ drawn }}"
    }
    fn drawn() -> String { if random() < 2.0 { "drawn" } else { "" } }
}
fn main() -> String { "{{ ask<i32>("n?") }}" }
'''
CHANGED = '''\
struct Item { name: String, count: i32 }
%s
agent Shopper {
    state {
        items: List<Item> = []
        bought: i32 = 3
    }
    fn turn(ctx: Context, input: String) -> String {
        state.items.push(Item { name: input, count: 1 })
        "changed: {{ state }}"
    }
    %s
}
'''
REFUSED = CHANGED % ("", "")
MIGRATED = CHANGED % ("struct Before { note: String, items: List<String> }", '''
    fn migrate(old: Before) -> Shopper {
        let fresh = state
        fresh.items = old.items.map(|name| Item { name, count: 2 })
        fresh
    }''')
ASKING = CHANGED % ("struct Before { note: String, items: List<String> }", '''
    fn migrate(old: Before) -> Shopper {
        Shopper { items: [], bought: ask<i32>("How many?") }
    }''')
DIFFERENCES = ("`items` was `List<String>` and is now `List<Item>`", "`note` was removed", "`bought` was added",
               "struct ShopperBefore { items: List<String>, note: String }", "fn migrate(old: ShopperBefore) -> Shopper")


class Place:
    """A folder with a store and programs."""

    def __init__(self, work):
        self.work = work
        self.store = work / "chats.store"
        (work / "model.script").write_text("")

    def file(self, name, text):
        path = self.work / f"{name}.tn"
        path.write_text(text)
        return path

    def chat(self, lines, *options):
        return tenon("chat", *options, "--model", f"script:{self.work / 'model.script'}", "--store", self.store, stdin=None,
                     input=lines)

    def begin(self, lines="milk\n"):
        begun = self.chat(lines, self.file("first", FIRST))
        return name_of(begun)

    def records(self):
        return json.loads(tenon("runs", "--store", self.store, "--json").stdout)[0]["records"]


def test_a_state_of_the_same_shape_carries_over(work):
    place = Place(work)
    run = place.begin()
    same = place.file("same", SAME)
    expect(place.chat("tea\n", same, "--run", run), 0, "same: milk,tea none drawn\n", "")
    same.unlink()
    expect(place.chat("rum\n", "--run", run), 0, "same: milk,tea,rum none drawn\n", "")
    # Back again; an upgrade to the same program is not recorded.
    first = place.file("first", FIRST)
    expect(place.chat("cake\n", first, "--run", run), 0, "first: 4 true\n")
    before = place.records()
    expect(place.chat("", first, "--run", run), 0, "")
    assert place.records() == before
    expect(tenon("store", "check", "--store", place.store), 0)
    expect(tenon("replay", run, "--store", place.store), 0)


def test_another_shape_is_rejected_without_changes(work):
    place = Place(work)
    run = place.begin()
    before = place.records()
    expect_error(place.chat("tea\n", place.file("refused", REFUSED), "--run", run), 1, *DIFFERENCES)
    expect_error(tenon("resume", run, "--program", place.file("refused", REFUSED), "--store", place.store), 1, *DIFFERENCES)
    expect_error(place.chat("tea\n", place.file("asking", ASKING), "--run", run), 1, "only a turn can")
    other = place.file("other", FIRST.replace("Shopper", "Other"))
    expect_error(place.chat("tea\n", other, "--run", run), 1, "the new program has no agent `Shopper`")
    assert place.records() == before
    expect(place.chat("tea\n", "--run", run), 0, "first: 2 true\n", "")


def test_a_migration_makes_the_new_state(work):
    place = Place(work)
    run = place.begin()
    migrated = place.file("migrated", MIGRATED)
    taken = tenon("resume", run, "--program", migrated, "--store", place.store)
    expect(taken, 3, "")
    assert f"tenon: run {run} waits for the next prompt" in taken.stderr, taken
    migrated.unlink()
    expected = 'changed: {"items":[{"name":"milk","count":2},{"name":"tea","count":1}],"bought":3}\n'
    expect(place.chat("tea\n", "--run", run), 0, expected, "")
    expect(tenon("store", "compact", "--store", place.store), 0)
    expect(tenon("replay", run, "--store", place.store), 0)
    moved = work / "moved.run"
    expect(tenon("store", "export", run, "--output", moved, "--store", place.store), 0)
    other = work / "other.store"
    expect(tenon("store", "import", moved, "--store", other), 0)
    again = tenon("chat", "--run", run, "--store", other, stdin=None, input="rum\n")
    expect(again, 0)
    assert '"rum"' in again.stdout, again


def test_not_within_a_turn_and_not_for_a_function(work):
    place = Place(work)
    run = place.begin("wine\n")
    same = place.file("same", SAME)
    for process in (place.chat("", same, "--run", run), tenon("resume", run, "--program", same, "--store", place.store)):
        expect_error(process, 1, "the program cannot change during a turn")
    expect(tenon("resume", run, "--input", "true", "--store", place.store), 0, "first: 1 true\n")
    expect(place.chat("tea\n", same, "--run", run), 0, "same: wine,tea none drawn\n")
    function = tenon("run", place.file("first", FIRST), "--store", place.store)
    expect_error(tenon("resume", name_of(function), "--program", same, "--store", place.store), 1, "tenon fork --program")
    expect_error(tenon("resume", run, "--program", same, "--input", "x", "--store", place.store), 2, "--program")


def test_the_artifacts_of_an_outage(work):
    place = Place(work)
    run = place.begin()
    first, migrated = place.work / "first.tn", place.file("migrated", MIGRATED)
    expect(place.chat("tea\n", place.file("same", SAME), "--run", run), 0)
    expect(place.chat("rum\n", migrated, "--run", run), 0)
    artifacts = work / "artifacts.json"
    artifacts.write_text(tenon("trace", "artifacts", run, "--store", place.store).stdout)
    cycles = json.loads(artifacts.read_text())["h"]
    assert [cycle["u"].get("program", 0) for cycle in cycles] == [0, 1, 2], cycles
    rebuilt = tenon("trace", "reconstruct", artifacts, first, work / "same.tn", migrated)
    expect(rebuilt, 0)
    states = [json.loads(line)["state"] for line in rebuilt.stdout.splitlines() if json.loads(line)["event"] == "state"]
    assert states[-1] == {"bought": 3, "items": [{"count": 2, "name": "milk"}, {"count": 2, "name": "tea"},
                                                 {"count": 1, "name": "rum"}]}, states
    expect_error(tenon("trace", "reconstruct", artifacts, first), 1, "3 programs")
    expect(tenon("trace", "hash", run, "--store", place.store), 0)


def test_a_crash_around_an_upgrade(work):
    """Killed at each write of an upgrade, the conversation has one of the two programs and can continue."""
    place = Place(work)
    run = place.begin()
    migrated = place.file("migrated", MIGRATED)
    seen = set()
    for delay in range(0, 60, 3):
        copy = work / f"copy{delay}.store"
        copy.write_bytes(place.store.read_bytes())
        process = subprocess.Popen([TENON, "resume", run, "--program", migrated, "--store", copy],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay / 1000)
        process.send_signal(signal.SIGKILL)
        process.wait()
        resumed = tenon("chat", "--run", run, "--store", copy, "--model", f"script:{work / 'model.script'}", stdin=None,
                        input="tea\n")
        expect(resumed, 0)
        assert resumed.stdout in ("first: 2 true\n", 'changed: {"items":[{"name":"milk","count":2},'
                                  '{"name":"tea","count":1}],"bought":3}\n'), resumed
        seen.add(resumed.stdout[0])
        expect(tenon("store", "check", "--store", copy), 0)
    assert "f" in seen, seen


def serve(place, *options):
    process = subprocess.Popen([TENON, "serve", *options, "--store", place.store, "--port", "0", "--model",
                                f"script:{place.work / 'model.script'}"], stderr=subprocess.PIPE, text=True)
    port = re.search(r":(\d+)\n", process.stderr.readline())[1]
    threading.Thread(target=process.stderr.read, daemon=True).start()

    def ask(path, body=None):
        words = ["curl", "-sS", f"http://127.0.0.1:{port}{path}", "-H", "Accept: application/json"]
        if body is not None:
            words += ["-d", json.dumps(body), "-H", "Content-Type: application/json"]
        return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    return process, ask


def turn(ask, run, text):
    """The value of the turn, or the rejection."""
    reply = ask(f"/v1/runs/{run}/prompt", {"input": text})
    if "run" not in reply:
        return reply
    for _ in range(200):
        events = [event for event in ask(f"/v1/runs/{run}/events")if event["type"] == "turn_end"]
        if events and text in json.dumps(events[-1]):
            return events[-1]["value"]
        time.sleep(0.05)
    raise AssertionError(events)


def test_a_server_upgrades_on_request(work):
    place = Place(work)
    run = place.begin()
    for options, text, expected in (
            (["same.tn"], "tea", None), (["refused.tn", "--upgrade"], "rum", None),
            (["migrated.tn", "--upgrade"], "cake", "changed: ")):
        place.file("same", SAME), place.file("refused", REFUSED), place.file("migrated", MIGRATED)
        process, ask = serve(place, work / options[0], *options[1:])
        try:
            if options[0] == "refused.tn":
                reply = turn(ask, run, text)
                assert all(words in json.dumps(reply) for words in ("`note` was removed", "fn migrate")), reply
            elif expected is None:
                ask(f"/v1/runs/{run}/prompt", {"input": text})
            else:
                assert turn(ask, run, text).startswith(expected)
                types = [event["type"] for event in ask(f"/v1/runs/{run}/events")]
                assert types.count("program_taken") == 1, types
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


def test_a_recorded_upgrade_stays_readable(work):
    folder = ROOT / "tests" / "journals" / "take_over"
    store = work / "recorded.store"
    expect(tenon("store", "import", folder / "take_over.tenonrun", "--store", store), 0)
    run = json.loads(tenon("runs", "--store", store, "--json").stdout)[0]["run"]
    (work / "model.script").write_text("")
    resumed = tenon("chat", "--run", run, "--store", store, "--model", f"script:{work / 'model.script'}", stdin=None,
                    input="rum\n")
    expect(resumed, 0, 'changed: {"items":[{"name":"milk","count":2},{"name":"tea","count":1},{"name":"rum","count":1}],'
                       '"bought":3}\n')
    artifacts = work / "artifacts.json"
    artifacts.write_text(tenon("trace", "artifacts", run, "--store", store).stdout)
    expect(tenon("trace", "reconstruct", artifacts, folder / "first.tn", folder / "migrated.tn"), 0)
