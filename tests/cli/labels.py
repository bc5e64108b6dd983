"""Labels of what an agent keeps between its turns, in one process and across processes."""
import json

from conversations import chat, name_of
from store_places import new_store
from tenon_process import ROOT, tenon

PROGRAM = '''\
extern fn fetch() -> String
extern fn sink(text: String) -> String

agent Desk {
    state {
        read: String = "nothing"
        count: i32 = 0
    }

    instructions { "So far: {{ state.count }}"! }

    fn turn(ctx: Context, input: String) -> String {
        if input == "fetch" {
            state.read = fetch()
            return "fetched"
        }
        if input == "say" { return say(ctx) }
        sink("always")
        sink(state.read)
        sink(state.count.to_string())
        sink(ctx.len().to_string())
        sink(ctx.text())
        "passed on"
    }

    fn say(ctx: Context) -> String { "Read this"!
        state.read! }
}
'''
TOOLS = '''
def fetch(): return "attack"
def sink(text: str): return text
'''


def labels(trace):
    """By the text that `sink` got: the call's label."""
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    return {event["arguments"][0].split("\n")[0]: event["label"] for event in events if event["type"] == "extern_called" and event["function"] == "sink"}


def write(work):
    (work / "tools.py").write_text(TOOLS)
    (work / "model.script").write_text('Desk::say => "said"\n')
    (work / "program.tn").write_text(PROGRAM)
    return work / "program.tn"


# The decision whether anything is passed on is the person's, as is what a conversation is asked.
EXPECTED = {"always": "person", "attack": "person, extern fetch", "0": "person", "4": "person", "fetch": "person"}


def test_a_state_keeps_its_labels_over_turns(work):
    file = write(work)
    process = chat(work, "fetch\npass\n", "--extern", work / "tools.py", "--trace", work / "trace.jsonl", file=file)
    assert process.returncode == 0, process.stderr
    assert labels(work / "trace.jsonl") == EXPECTED, labels(work / "trace.jsonl")


def test_a_state_keeps_its_labels_over_processes(work):
    file = write(work)
    store = new_store(work, "labels.store")
    first = chat(work, "fetch\n", "--extern", work / "tools.py", "--store", store, file=file)
    assert first.returncode == 0, first.stderr
    again = chat(work, "pass\n", "--run", name_of(first), "--store", store, "--extern", work / "tools.py", "--trace", work / "trace.jsonl")
    assert again.returncode == 0, again.stderr
    assert labels(work / "trace.jsonl") == EXPECTED, labels(work / "trace.jsonl")


def test_an_answer_keeps_its_labels_over_processes(work):
    """What a model has said in the sight of a label has that label in the next turn."""
    file = write(work)
    store = new_store(work, "labels.store")
    options = ("--extern", work / "tools.py", "--store", store)
    first = chat(work, "fetch\nsay\n", *options, file=file)
    assert first.returncode == 0, first.stderr
    again = chat(work, "pass\n", "--run", name_of(first), *options, "--trace", work / "trace.jsonl")
    assert again.returncode == 0, again.stderr
    found = labels(work / "trace.jsonl")
    assert set(found["fetch"].split(", ")) == {"person", "model", "extern fetch"}, found
    assert found["always"] == "person", found


def test_what_the_measured_programs_promise(work):
    """What a link is, is decided by a program of bench/trust."""
    process = tenon("test", ROOT / "bench/trust/programs/links.tn", cwd=work)
    assert process.returncode == 0 and process.stdout.endswith("3 passed, 0 failed\n"), process
