"""Journals of earlier versions: they can be read, resumed and reconstructed."""
import fcntl
import json
import shutil
import subprocess

from tenon_process import ROOT, TENON, open_wait, tenon

JOURNALS = ROOT / "tests" / "journals"


def take_in(work, name):
    store = work / "s.db"
    taken = tenon("store", "import", JOURNALS / f"{name}.tenonrun", "--store", store)
    assert taken.returncode == 0, taken
    assert tenon("store", "check", "--store", store).returncode == 0
    runs = json.loads(tenon("runs", "--store", store, "--json").stdout)
    return store, runs[0]


def expect_rebuilt(store, run):
    artifacts = tenon("trace", "artifacts", run, "--store", store)
    assert artifacts.returncode == 0, artifacts.stderr
    return artifacts.stdout


def build_library(work):
    """The library that the recorded programs call; it no longer exists at the recorded path."""
    library = work / "libapprove.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT / "include", "-o", library, JOURNALS / "approve.c"], check=True)
    return library


def say(work, store, run, text):
    script = work / "model.script"
    script.write_text('* => "hello"\n')
    return subprocess.run([TENON, "chat", "--run", run, "--store", store, "--model", f"script:{script}",
                           "--extern", build_library(work)],
                          input=text, text=True, capture_output=True, check=False, timeout=60)


def test_children_that_wait_are_answered(work):
    store, run = take_in(work, "children_wait")
    assert [wait["question"] for wait in run["waits"]] == ["How many beans?"], run
    expect_rebuilt(store, run["run"])
    answered = say(work, store, run["run"], "4\nmore\n")
    # The failed turn keeps its changes, as it did when it was recorded.
    assert answered.stdout == "apples: 3 (1), beans: 4 (1)\nday 4: hello\n", answered
    expect_rebuilt(store, run["run"])


def test_a_turn_that_failed_after_a_handoff_stays_with_the_second_agent(work):
    store, run = take_in(work, "failed_after_handoff")
    expect_rebuilt(store, run["run"])
    assert say(work, store, run["run"], "more\nfail\nlast\n").stdout == "night 4\nnight 5\n"
    expect_rebuilt(store, run["run"])


def test_an_extern_that_has_asked_is_called_with_the_answer(work):
    store, run = take_in(work, "asked_twice")
    library, script = build_library(work), work / "model.script"
    script.write_text('* => "hello"\n')
    done = tenon("resume", run["run"], "--store", store, "--extern", library, "--wait", open_wait(store, run["run"]), "--input", "Zoe",
                 "--model", "script:" + str(script))
    assert (done.returncode, done.stdout) == (0, "by Zoe\n"), done
    expect_rebuilt(store, run["run"])


SEEN_BY_THE_MODEL = r"""
the text is no JSON: "nothing" is no JSON value; texts stand in quotes
the JSON is a list of 1, where {"name": string, "count": integer of at least 1, "tags": [string, …] of at most 1 items} is asked for
count is the number 0, where integer of at least 1 is asked for; tags has 2 items, where [string, …] of at most 1 items is asked for; size is a key that is not asked for
the text is no JSON: the text ends in the middle of a value
"12x" is no i32
12 is no `i32 in 0..=9`
"(" is no pattern: missing ): (
How old?
"""
REASONS = ["the answer is no JSON: there is no JSON in the text",
           "value is the number 900, where integer from 0 to 150 is asked for"]


def test_the_model_sees_what_it_saw_when_the_run_was_recorded(work):
    """The journal has the rejected answers but not the reasons, and none of the texts of failures that the program showed to the model."""
    store, run = take_in(work, "rejected_answer")
    expect_rebuilt(store, run["run"])
    script, trace = work / "model.script", work / "trace.jsonl"
    script.write_text('age => {"value": 30}\n')
    done = tenon("resume", run["run"], "--store", store, "--model", f"script:{script}", "--trace", trace)
    assert (done.returncode, done.stdout) == (0, "30\n"), done
    started = json.loads(trace.read_text().splitlines()[0])
    messages = [message["content"] for message in started["messages"]]
    assert (started["attempt"], messages[0]) == (2, SEEN_BY_THE_MODEL.strip()), started
    form = '{"value": integer from 0 to 150}'
    assert messages[1:] == [
        f"Answer with JSON alone, of this form:\n{form}",
        "about 30", f"That answer cannot be used:\n- {REASONS[0]}\nAnswer again, with JSON alone, of this form:\n{form}",
        '{"value": 900}', f"That answer cannot be used:\n- {REASONS[1]}\nAnswer again, with JSON alone, of this form:\n{form}",
    ], messages


def test_a_call_of_a_cancelled_branch_stays_discarded(work):
    """Programs of today would wait for the call, which is made at most once, before their `finally` block."""
    store, run = take_in(work, "cancelled_call")
    assert [wait["question"] for wait in run["waits"]] == ["Refunded?"], run
    assert "= discarded" in tenon("trace", "show", run["run"], "--store", store).stdout
    library, script = work / "libcharge.so", work / "model.script"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, JOURNALS / "cancelled_call.c"], check=True)
    script.write_text("")
    done = tenon("resume", run["run"], "--store", store, "--extern", library, "--input", "yes", "--model", f"script:{script}")
    assert done.returncode == 1 and "error: declined" in done.stderr, done
    expect_rebuilt(store, run["run"])
    replayed = tenon("replay", run["run"], "--store", store)
    assert replayed.returncode == 1 and "error: declined" in replayed.stderr, replayed


def test_a_store_of_format_1_is_upgraded(work):
    """The first process that opens the store upgrades it, even a reader; its runs do not change."""
    store = work / "old.db"
    shutil.copy(JOURNALS / "format_1.db", store)
    runs = json.loads(tenon("runs", "--store", store, "--json").stdout)
    assert [run["state"] for run in runs] == ["waiting", "idle", "waiting"], runs
    checked = tenon("store", "check", "--store", store)
    assert checked.returncode == 0 and checked.stdout.startswith("3 runs, 40 records"), checked
    for run, name in zip(runs, ["children_wait", "failed_after_handoff", "asked_twice"]):
        exported = tenon("store", "export", run["run"], "--store", store, "--output", work / "run")
        assert exported.returncode == 0, exported
        assert (work / "run").read_bytes() == (JOURNALS / f"{name}.tenonrun").read_bytes()
        expect_rebuilt(store, run["run"])
    assert say(work, store, runs[1]["run"], "more\n").stdout == "night 4\n"
    assert tenon("store", "forget", runs[0]["run"], "--store", store).returncode == 0
    checked = tenon("store", "check", "--store", store)
    assert checked.returncode == 0, checked


def test_an_older_owner_keeps_its_store(work):
    store = work / "old.db"
    shutil.copy(JOURNALS / "format_1.db", store)
    # The owner of the lock is assumed to be a version that supports only the old format.
    with (work / "old.db.lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        refused = tenon("runs", "--store", store)
    assert refused.returncode == 1 and "an older Tenon" in refused.stderr, refused
