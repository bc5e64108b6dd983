"""Secrets: searches everything that a run writes, byte by byte, for values that only the externs may receive."""
import base64
import json
import os
import re
import signal
import subprocess
import threading
import time

from durable_runs import expect, expect_error
from tenon_process import ROOT, TENON, open_wait, tenon

# In clear text only in the file that the externs write.
WORDS = {name: f"hunter2-{name}-{'q7Zx' * 3}" for name in
         ("argument", "listed", "answered", "issued", "state", "inbox", "held", "nested")}

LIBRARY = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tenon/extern.h>

static void note(tenon_text text) {
  FILE* seen = fopen(getenv("SEEN"), "a");
  fprintf(seen, "%.*s\n", (int)text.length, text.data);
  fclose(seen);
}
/* Returns its arguments: a careless extern. */
TENON_EXTERN_AS(login, "(String, String) -> String") {
  note(tenon_argument_text(call, 1));
  char text[256];
  const tenon_text token = tenon_argument_text(call, 1);
  snprintf(text, sizeof text, "logged in with %.*s.", (int)token.length, token.data);
  tenon_put_string(call, tenon_result(call), text);
}
TENON_EXTERN_AS(refuse, "(String) -> ()") {
  const tenon_text token = tenon_argument_text(call, 0);
  tenon_fail(call, "401 for the token %.*s", (int)token.length, token.data);
}
TENON_EXTERN_AS(issue, "() -> String") {
  tenon_put_string(call, tenon_result(call), getenv("ISSUED"));
}
TENON_EXTERN_AS(count, "(List<Account>) -> i32") {
  const tenon_value* accounts = tenon_argument(call, 0);
  for (size_t at = 0; at < tenon_length(call, accounts); at++) {
    const tenon_value* account = tenon_item(call, accounts, at);
    note(tenon_as_text(call, tenon_field(call, account, "token")));
    const tenon_value* keys = tenon_field(call, account, "keys");
    const tenon_value* key = tenon_find(call, keys, "main", 4);
    note(tenon_as_text(call, tenon_item(call, key, 0)));
  }
  tenon_put_i64(call, tenon_result(call), (int64_t)tenon_length(call, accounts));
}
TENON_EXTERN_AS(crash, "(String) -> String") {
  note(tenon_argument_text(call, 0));
  if (access(getenv("CRASH"), F_OK) == 0) {
    unlink(getenv("CRASH"));
    _exit(9);
  }
  tenon_put_string(call, tenon_result(call), "survived");
}
TENON_EXTERN_AS(exchange, "(String) -> String") {
  note(tenon_argument_text(call, 0));
  _exit(9);
}
'''

PROGRAM = '''\
struct Account { name: String, secret token: String, keys: Map<List<secret String>> }

extern fn login(name: String, secret token: String) -> String
extern fn refuse(secret token: String)
extern(process) fn issue() -> secret String
extern(process) fn count(accounts: List<Account>) -> i32
extern fn crash(secret token: String) -> String
extern(once) fn exchange(secret token: String) -> secret String

fn main(ctx: Context, secret token: String, others: List<secret String>) -> String {
    let answered = ask<secret String>("Which password?")
    let account = Account { name: "Ann", token: token, keys: Map::from([("main", [answered]), ("all", others)]) }
    let issued = issue()
    "The account is {{ account }}"!
    account!
    let counted = count([account, Account { name: "Bob", token: issued, keys: account.keys }])
    let refused = refuse(answered) catch f {
        f.message!
    }
    let said = [login("Ann", token), login("Bob", others[0]), login("Cy", issued)]
    let summary = summarize(ctx, said)
    let more = ask<Boolean>("{{ summary }}: {{ counted }}. Go on?")
    let late = login("Dee", answered)
    "{{ said[0] }} {{ late }} {{ account }} {{ more }}"
}

fn summarize(ctx: Context, said: List<String>) -> String {
    "Summarize"!
    said!
}

fn unhandled(secret token: String) { refuse(token) }

fn given(secret token: String) -> secret String {
    let sure = ask<Boolean>("Sure?")
    token
}

fn cut(secret token: String) -> String { crash(token) }

fn once(secret token: String) -> String { login("Gil", exchange(token)) }

fn held() -> i32 {
    let password = ask<secret String>("Password?")
    login("Eve", password).len()
}

agent Clerk {
    state {
        secret password: String? = None
        asked: i32 = 0
    }

    instructions { "You know {{ state }}."! }

    fn turn(ctx: Context, input: String) -> String {
        state.asked += 1
        if state.password.is_none() { state.password = Some(ask<secret String>("Password?")) }
        let said = login("Fay", state.password.unwrap())
        "{{ said }} {{ state }} {{ talk(ctx) }}"
    }

    fn talk(ctx: Context) -> String { "Comment"! }
}
'''
SCRIPT = 'summarize => "all well"\nClerk::talk => "fine"\n'


class Place:
    """A folder with the program, its library and its store."""

    def __init__(self, work):
        self.work = work
        (work / "secret_externs.c").write_text(LIBRARY)
        self.library = work / "libsecrets.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT / "include", "-o", self.library, work / "secret_externs.c"],
                       check=True)
        self.program = work / "program.tn"
        self.program.write_text(PROGRAM)
        self.script = work / "model.script"
        self.script.write_text(SCRIPT)
        self.path = work / "runs.store"
        self.seen = work / "seen.txt"
        self.seen.write_text("")
        self.variables = {"SEEN": str(self.seen), "ISSUED": WORDS["issued"], "CRASH": str(work / "crash")}
        self.shown = []

    def tenon(self, *arguments, **settings):
        variables = {**self.variables, **settings.pop("environment", {})}
        process = tenon(*arguments, environment=variables, **settings)
        self.shown.append(process.stdout + process.stderr)
        return process

    def run(self, function="main", *options, **settings):
        return self.tenon("run", self.program, "--fn", function, "--model", f"script:{self.script}", "--extern",
                          self.library, "--store", self.path, *options, **settings)

    def resume(self, run, *options, **settings):
        return self.tenon("resume", run, "--store", self.path, *options, **settings)

    def answer(self, run, text, *options, **settings):
        """Answers the only question that is open."""
        return self.resume(run, "--wait", open_wait(self.path, run), "--input", text, *options, **settings)

    def runs(self):
        return json.loads(self.tenon("runs", "--store", self.path, "--json").stdout)

    def received(self):
        return self.seen.read_text().split()

    def search(self):
        """The locations of these words outside of the file that the externs write."""
        found = []
        texts = {"what was printed": "\n".join(self.shown).encode()}
        for file in self.work.rglob("*"):
            if file.is_file() and file != self.seen and not file.name.startswith("given"):
                texts[str(file)] = file.read_bytes()
        for name, word in WORDS.items():
            raw = word.encode()
            forms = [raw, raw.hex().encode(), raw.hex().upper().encode(), raw[::-1], word.encode("utf-16-le")]
            # Except for its ends, a word inside a longer text has one of three forms in base64.
            forms += [base64.b64encode(b"." * shift + raw)[4 if shift else 0:-4] for shift in range(3)]
            found += [f"{name} is in {where}" for where, text in texts.items() for form in forms if form in text]
        assert not found, found


def name_of(process):
    return re.match(r"tenon: run (\w+)\n", process.stderr)[1]


def begin(place, *options):
    return place.run("main", "--arg-env", "token=TOKEN", "--arg-env", "others=OTHERS", *options,
                     environment={"TOKEN": WORDS["argument"], "OTHERS": json.dumps([WORDS["listed"]])})


def test_a_secret_is_nowhere_in_clear_and_reaches_externs(work):
    place = Place(work)
    begun = begin(place, "--trace", work / "trace1.jsonl", "--show-prompts")
    expect(begun, 3, "")
    run = name_of(begun)
    place.search()
    waits = place.resume(run, "--input", WORDS["answered"], "--trace", work / "trace2.jsonl", "--show-prompts")
    expect(waits, 3, "")
    assert "Go on?" in waits.stderr, waits.stderr
    place.search()
    place.program.unlink()
    done = place.answer(run, "true", "--trace", work / "trace3.jsonl", "--show-prompts")
    expect(done, 0)
    assert done.stdout == ('logged in with [secret]. logged in with [secret]. {"name":"Ann","token":"[secret]",'
                           '"keys":{"main":["[secret]"],"all":["[secret]"]}} true\n'), done.stdout
    words = WORDS
    assert sorted(place.received()) == sorted([words["argument"], words["answered"], words["issued"], words["answered"],
                                           words["argument"], words["listed"], words["issued"], words["answered"]])
    assert "401 for the token [secret]" in waits.stderr, "the model was shown the failure without the secret"
    place.search()
    # What is shown of the run afterwards.
    for words in (["trace", "artifacts", run], ["trace", "reconstruct"], ["trace", "hash", run], ["replay", run],
                  ["trace", "show", run], ["runs"], ["store", "check"], ["store", "compact"]):
        if words[1:] == ["reconstruct"]:
            continue
        process = place.tenon(*words, "--store", place.path)
        expect(process, 0)
    artifacts = place.tenon("trace", "artifacts", run, "--store", place.path).stdout
    assert '{"$secret":"token"}' in artifacts and '{"$secret":"others[0]"}' in artifacts, artifacts
    expect(place.tenon("store", "export", run, "--output", work / "exported.run", "--store", place.path), 0)
    place.search()


def test_artifacts_say_where_a_secret_came_from_and_not_what_it_is(work):
    place = Place(work)
    hashes = set()
    for token in (WORDS["argument"], WORDS["nested"]):
        waits = place.run("given", "--arg-env", "token=TOKEN", environment={"TOKEN": token})
        run = name_of(waits)
        shown = place.resume(run, "--input", "true")
        expect(shown, 0, '"[secret]"\n')
        process = place.tenon("trace", "hash", run, "--store", place.path)
        expect(process, 0)
        hashes.add(process.stdout)
        artifacts = work / f"{run}.json"
        artifacts.write_text(place.tenon("trace", "artifacts", run, "--store", place.path).stdout)
        expect(place.tenon("trace", "reconstruct", artifacts, place.program), 0)
    assert len(hashes) == 1, hashes
    place.search()


def test_a_run_without_a_store_shows_no_secret_either(work):
    place = Place(work)
    process = place.tenon("run", place.program, "--fn", "unhandled", "--arg-env", "token=TOKEN", "--extern", place.library,
                          "--trace", work / "trace.jsonl", environment={"TOKEN": WORDS["argument"]})
    expect_error(process, 1, "401 for the token [secret]")
    place.search()
    assert not list(work.glob("*.key")), "an unused key"


def test_an_unhandled_failure_and_its_journal(work):
    place = Place(work)
    process = place.run("unhandled", "--arg-env", "token=TOKEN", environment={"TOKEN": WORDS["argument"]})
    expect_error(process, 1, "401 for the token [secret]")
    expect_error(place.resume(name_of(process)), 1, "401 for the token [secret]")
    place.search()


def test_the_key_file_must_belong_to_its_owner(work):
    place = Place(work)
    run = name_of(begin(place))
    key = work / "runs.store.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert re.fullmatch(r"[0-9a-f]{64}\n", key.read_text())
    key.chmod(0o644)
    refused = place.resume(run, "--input", WORDS["answered"])
    expect_error(refused, 1, f"cannot read `{key}`: other users can access it (mode 0644)", "chmod 600")
    key.chmod(0o600)
    kept = key.read_text()
    key.unlink()
    expect_error(place.resume(run, "--input", WORDS["answered"]), 1, "TENON_SECRET_KEY is not set", str(key))
    assert not key.exists(), "resuming makes no key"
    key.write_text("0" * 64 + "\n")
    key.chmod(0o600)
    expect_error(place.resume(run, "--input", WORDS["answered"]), 1, "were sealed with the key")
    expect_error(place.resume(run, environment={"TENON_SECRET_KEY": "short"}), 1, "TENON_SECRET_KEY does not contain a key")
    key.unlink()
    # Nothing was lost, and the key can also be in the environment.
    resumed = place.resume(run, "--input", WORDS["answered"], environment={"TENON_SECRET_KEY": kept.strip()})
    expect(resumed, 3, "")
    expect(place.answer(run, "true", environment={"TENON_SECRET_KEY": kept.strip().upper()}), 0)
    expect(place.tenon("cancel", run, "--store", place.path), 1)
    place.search()


def test_crash_while_an_extern_has_the_secret(work):
    place = Place(work)
    (work / "crash").write_text("")
    process = place.run("cut", "--arg-env", "token=TOKEN", environment={"TOKEN": WORDS["argument"]})
    assert process.returncode == 9, process
    place.search()
    run = place.runs()[0]["run"]
    expect(place.resume(run), 0, "survived\n")
    assert place.received() == [WORDS["argument"]] * 2
    place.search()


def test_a_person_supplies_the_value_of_a_call(work):
    place = Place(work)
    process = place.run("once", "--arg-env", "token=TOKEN", environment={"TOKEN": WORDS["argument"]})
    assert process.returncode == 9, process
    run = place.runs()[0]["run"]
    waits = place.resume(run)
    expect(waits, 3, "")
    assert '"[secret]"' in waits.stderr, ("the call is shown, and the secret is not", waits.stderr)
    expect_error(place.resume(run, "--input", WORDS["answered"]), 2, "the answer: expected")
    expect(place.resume(run, "--input", json.dumps({"value": WORDS["issued"]})), 0, "logged in with [secret].\n")
    assert place.received() == [WORDS["argument"], WORDS["issued"]]
    place.search()


def test_fork_encrypts_for_the_new_run(work):
    place = Place(work)
    run = name_of(begin(place))
    expect(place.resume(run, "--input", WORDS["answered"]), 3)
    expect(place.answer(run, "true"), 0)
    before = len(place.received())
    at = next(one["records"] for one in place.runs()) - 4
    forked = place.tenon("fork", run, "--at", at, "--store", place.path, "--model", f"script:{place.script}")
    name = re.match(r"tenon: run (\w+) is a fork", forked.stderr)[1]
    if forked.returncode == 3:
        forked = place.answer(name, "false")
    expect(forked, 0)
    assert forked.stdout.endswith("false\n"), forked
    assert place.received()[before:] == [WORDS["answered"]], "known outcomes were reused, and the rest of the run has the secret"
    place.search()


def test_the_state_and_questions_of_an_agent(work):
    place = Place(work)
    talk = ["chat", place.program, "--model", f"script:{place.script}", "--extern", place.library, "--store", place.path]
    process = place.tenon(*talk, "--trace", work / "trace.jsonl", stdin=None, input=f"hello\n{WORDS['state']}\nagain\n")
    expect(process, 0)
    assert process.stdout.splitlines() == [
        'logged in with [secret]. {"password":"[secret]","asked":1} fine',
        'logged in with [secret]. {"password":"[secret]","asked":2} fine'], process.stdout
    place.search()
    again = place.tenon("chat", "--run", name_of(process), "--store", place.path, stdin=None, input="more\n")
    expect(again, 0)
    assert '"asked":3' in again.stdout, again
    assert place.received() == [WORDS["state"]] * 3
    for words in (["trace", "artifacts", name_of(process)], ["replay", name_of(process)]):
        expect(place.tenon(*words, "--store", place.path), 0)
    place.search()


def test_the_inbox_and_the_server(work):
    place = Place(work)
    process = subprocess.Popen([TENON, "serve", place.program, "--store", place.path, "--port", "0", "--extern", place.library,
                                "--model", f"script:{place.script}"], stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **place.variables})
    try:
        port = re.search(r":(\d+)\n", process.stderr.readline())[1]
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True)
        reader.start()

        def ask(method, path, body=None, key=None):
            arguments = ["curl", "-sS", "-X", method, f"http://127.0.0.1:{port}{path}", "-H", "Accept: application/json"]
            if body is not None:
                arguments += ["-d", json.dumps(body), "-H", "Content-Type: application/json"]
            if key is not None:
                arguments += ["-H", f"Idempotency-Key: {key}"]
            answer = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
            place.shown.append(answer)
            return json.loads(answer)

        def until(run, state, after=None):
            """The run's head after it has reached the state, with a wait after the given one."""
            for _ in range(400):
                head = ask("GET", f"/v1/runs/{run}")
                if head["state"] == state and (after is None or head["waits"][0]["wait"] != after):
                    return head
                time.sleep(0.05)
            raise AssertionError(head)

        body = {"fn": "main", "args": {"token": WORDS["argument"], "others": [WORDS["listed"]]}}
        run = ask("POST", "/v1/runs", body, "key-1")["run"]
        assert ask("POST", "/v1/runs", body, "key-1")["run"] == run
        head = until(run, "waiting")
        wait = head["waits"][0]
        assert wait["type"] == "secret String" and wait["schema"] == {"type": "string", "writeOnly": True}, wait
        ask("POST", f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": WORDS["answered"]}, "key-2")
        until(run, "waiting", after=wait["wait"])
        place.search()
        held = ask("POST", "/v1/runs", {"fn": "held", "args": {}})["run"]
        until(held, "waiting")
        process.send_signal(signal.SIGSTOP)  # what is sent stays in the store
        sender = threading.Thread(target=lambda: place.resume(held, "--input", WORDS["inbox"]))
        sender.start()
        time.sleep(1)
        place.search()
        process.send_signal(signal.SIGCONT)
        sender.join()
        until(held, "done")
        assert WORDS["inbox"] in place.received()
        wrong = ask("POST", "/v1/runs", {"fn": "given", "args": {"token": 5}})
        assert "invalid secret" in json.dumps(wrong), wrong
        for name in (run, held):
            events = ask("GET", f"/v1/runs/{name}/events")
            assert "[secret]" in json.dumps(events), events
        place.search()
    finally:
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    place.shown += lines
    place.search()


def test_a_recorded_journal_with_secrets_stays_readable(work):
    folder = ROOT / "tests" / "journals" / "secrets"
    store = work / "recorded.store"
    expect(tenon("store", "import", folder / "secrets.tenonrun", "--store", store), 0)
    run = json.loads(tenon("runs", "--store", store, "--json").stdout)[0]["run"]
    (work / "empty.script").write_text("")
    words = ["resume", run, "--store", store, "--input", "true", "--model", f"script:{work / 'empty.script'}"]
    expect_error(tenon(*words), 1, "TENON_SECRET_KEY is not set")
    key = (folder / "key.txt").read_text().strip()
    shown = tenon(*words, environment={"TENON_SECRET_KEY": key})
    expect(shown, 0, '"[secret]"\n')
