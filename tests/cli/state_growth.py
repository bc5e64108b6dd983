"""A store grows with what changed in an agent's state, not with the state."""
import json

from tenon_process import find_run, tenon

LARGE = '''\
agent Notes {
    state {
        library: String = ""
        count: i32 = 0
    }
    fn turn(ctx: Context, input: String) -> String {
        if state.library.is_empty() {
            let lines: List<String> = []
            for at in 0..15000 { lines.push("{{ at * 7919 }}: a line of the library, which is long enough to count") }
            state.library = lines.join("\\n")
        }
        state.count += 1
        "{{ state.count }}: {{ state.library.len() }}"
    }
}
'''

GROWING = '''\
agent Notes {
    state { pages: Map<String> = Map::new() }
    fn turn(ctx: Context, input: String) -> String {
        if state.pages.is_empty() {
            for at in 0..3000 { state.pages.insert("page {{ at * 7919 }}", "the text of a page, which is long enough to count: {{ at }}") }
        }
        state.pages.insert("more {{ input }}", "what was said: {{ input }}")
        "{{ state.pages.len() }}"
    }
}
'''


def size_of(store):
    return sum(file.stat().st_size for file in store.parent.glob(store.name + "*"))


def chat(store, begin, lines):
    process = tenon("chat", *begin, "--store", store, stdin=None, input="".join(f"{line}\n" for line in lines))
    assert process.returncode == 0, process
    return process


def grow(work, program, turns):
    file, script, store = work / "notes.tn", work / "model.script", work / "runs.store"
    file.write_text(program)
    script.write_text("# no answers\n")
    first = chat(store, (file, "--model", f"script:{script}"), range(2))
    run = find_run(first.stderr)
    tenon("store", "compact", "--store", store)
    before = size_of(store)
    again = ("--run", run, "--model", f"script:{script}")
    answers = chat(store, again, range(2, turns)).stdout.splitlines()
    tenon("store", "compact", "--store", store)
    assert tenon("replay", run, "--store", store).returncode == 0
    checked = tenon("store", "check", "--store", store)
    assert checked.returncode == 0, checked
    return before, size_of(store), answers, chat(store, again, ["last"]).stdout, run


def test_a_large_entry_that_does_not_change_is_stored_once(work):
    before, after, answers, last, run = grow(work, LARGE, 60)
    assert 900_000 < before < 1_500_000, before
    assert after - before < 60 * 12_000, (before, after)
    assert answers[-1].startswith("60: ") and last.startswith("61: "), (answers[-1], last)
    # An export has all of it.
    store, other = work / "runs.store", work / "other.store"
    assert tenon("store", "export", run, "--output", work / "run.file", "--store", store).returncode == 0
    assert tenon("store", "import", work / "run.file", "--store", other).returncode == 0
    assert chat(other, ("--run", run, "--model", f"script:{work / 'model.script'}"), ["x"]).stdout.startswith("62: ")


def test_of_a_large_entry_that_grows_the_change_is_stored(work):
    before, after, answers, last, _ = grow(work, GROWING, 60)
    assert after - before < 60 * 20_000, (before, after)
    assert json.loads(answers[-1]) == 3060 and json.loads(last) == 3061, (answers[-1], last)
