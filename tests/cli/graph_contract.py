"""`tenon show --as=graph` and `tenon edit`: what they print, what they change, and what they leave unchanged."""
import json
import xml.etree.ElementTree

from tenon_process import tenon

DESK = '''\
// Kept.
agent Desk {
    state { n: i32 = 0 }

    /// Counts.
    block count: code {
        state.n = state.n + 1 // kept too
        -> answer
    }

    block answer: code {
        emit("{{ state.n }}")
    }
}
'''
PLAIN = 'fn main() -> i32 { 1 } // kept\n'


def write(work, text, name="program.tn"):
    file = work / name
    file.write_text(text)
    return file


def edit(work, file, ops, *options):
    return tenon("edit", file, "--ops", write(work, json.dumps(ops), "ops.json"), *options)


def test_a_graph_in_each_form(work):
    file = write(work, DESK)
    graph = json.loads(tenon("show", "--as=graph", file).stdout)
    blocks = graph["agents"][0]["sequences"][0]["blocks"]
    assert [block["path"] for block in blocks] == ["count", "answer"] and graph["agents"][0]["start"] == "count", graph
    assert blocks[0]["edges"] == [{"kind": "next", "target": "answer"}] and blocks[0]["documentation"] == "Counts.", blocks
    place = blocks[0]["range"]
    assert DESK[place["offset"]:place["offset"] + place["length"]].startswith("block count: code {")
    dot = tenon("show", "--as=graph", "--format=dot", file)
    assert '"Desk/count" -> "Desk/answer";' in dot.stdout, dot
    svg = tenon("show", "--as=graph", "--format=svg", file)
    root = xml.etree.ElementTree.fromstring(svg.stdout)
    assert root.tag.endswith("svg") and 'data-agent="Desk"' in svg.stdout and 'data-block="answer"' in svg.stdout, svg.stdout


def test_a_graph_needs_a_text_that_parses(work):
    process = tenon("show", "--as=graph", write(work, "agent A { block a: code {"))
    assert process.returncode == 1 and process.stdout == "" and "E1101" in process.stderr, process
    assert tenon("show", "--as=graph", "--format=png", write(work, PLAIN)).returncode == 2


def test_an_edit_and_its_inverse(work):
    file = write(work, DESK)
    ops = [{"op": "rename", "agent": "Desk", "block": "answer", "name": "tell"},
           {"op": "add", "agent": "Desk", "name": "last", "kind": "code", "statements": "emit(\"bye\")"},
           {"op": "connect", "agent": "Desk", "block": "tell", "target": "last"}]
    process = edit(work, file, ops, "--inverse", work / "undo.json")
    assert (process.returncode, process.stdout, process.stderr) == (0, "", ""), process
    text = file.read_text()
    assert "// Kept.\n" in text and "state.n = state.n + 1 // kept too\n        -> tell\n" in text and "-> last" in text, text
    assert tenon("check", file).returncode == 0 and tenon("fmt", "--check", file).returncode == 0, text
    assert tenon("edit", file, "--ops", work / "undo.json").returncode == 0
    assert file.read_text() == DESK


def test_edits_that_do_not_compile_are_rejected(work):
    file = write(work, DESK)
    for ops, words in [
            ([{"op": "delete", "agent": "Desk", "block": "answer"}], "leads to `answer`"),
            ([{"op": "set_statements", "agent": "Desk", "block": "answer", "statements": "emit(1 +)"}], "expression"),
            ([{"op": "set_statements", "agent": "Desk", "block": "answer", "statements": "emit(missing)"}], "missing"),
            ([{"op": "rename", "agent": "Desk", "block": "answer", "name": "x"}, {"op": "delete", "agent": "Desk", "block": "answer"}],
             "edit 1: `Desk` has no block `answer`"),
            ([{"op": "paint"}], "unknown edit `paint`"), ({}, "expected a JSON array")]:
        process = edit(work, file, ops)
        assert process.returncode == 1 and words in process.stderr and "nothing was changed" in process.stderr, (ops, process)
        assert file.read_text() == DESK


def test_syntax_errors_are_reported_as_check_reports_them(work):
    file = write(work, "agent Desk {\n    block x: emit { text: \"a\" \n")
    lines = tenon("check", file).stderr
    assert f"{file}:2:30: error[E1101]" in lines, lines
    for edits in ([{"op": "rename", "agent": "Desk", "block": "x", "name": "y"}], [{"op": "replace", "offset": 0, "removed": "a", "inserted": "b"}]):
        process = edit(work, file, edits)
        assert process.returncode == 1, process
        assert process.stderr == lines + f"error: cannot edit `{file}`, nothing was changed: the program has errors\n", process
    file = write(work, DESK)
    process = edit(work, file, [{"op": "set_statements", "agent": "Desk", "block": "answer", "statements": "emit(1 +)"}])
    assert process.stderr.startswith(f"{file}:") and "error[E1101]" in process.stderr, process
    assert process.stderr.endswith(f"error: cannot edit `{file}`, nothing was changed: edit 0: the edited program has errors\n"), process
    file = write(work, "fn f( {\n")
    errors = tenon("check", file).stderr
    assert errors.count("error[") == 2, errors
    for command in (("fmt",), ("show", "--as=graph")):
        assert tenon(*command, file).stderr == errors, command


def test_a_replacement_is_compiled(work):
    file = write(work, PLAIN)
    at = PLAIN.index("1")
    process = edit(work, file, [{"op": "replace", "offset": at, "removed": "1", "inserted": "2"}], "--dry-run")
    assert process.returncode == 0 and process.stdout == PLAIN.replace("1", "2") and file.read_text() == PLAIN, process
    process = edit(work, file, [{"op": "replace", "offset": at, "removed": "1", "inserted": '"a"'}])
    assert process.returncode == 1 and "error[E" in process.stderr and file.read_text() == PLAIN, process
    process = edit(work, file, [{"op": "replace", "offset": at, "removed": "2", "inserted": "3"}])
    assert process.returncode == 1 and "is not the one to be replaced" in process.stderr and file.read_text() == PLAIN, process
    assert edit(work, file, [{"op": "replace", "offset": at, "removed": "1", "inserted": "2"}]).returncode == 0
    assert file.read_text() == PLAIN.replace("1", "2") and [path.name for path in work.glob("*.tenon-*")] == []


def test_permissions_and_links_stay(work):
    file = write(work, PLAIN)
    file.chmod(0o750)
    link = work / "link.tn"
    link.symlink_to(file.name)
    ops = [{"op": "replace", "offset": PLAIN.index("1"), "removed": "1", "inserted": "2"}]
    assert edit(work, link, ops).returncode == 0
    assert link.is_symlink() and file.read_text() == PLAIN.replace("1", "2") and file.stat().st_mode & 0o777 == 0o750


def test_a_batch_may_have_intermediate_errors(work):
    nested = DESK.replace("        emit(\"{{ state.n }}\")", "        state.n = 2").replace("block answer: code", "block answer: for_each")
    nested = nested.replace("        state.n = 2", "        item x: i32 in [1, 2]\n\n        block one: code {}")
    file = write(work, nested)
    assert tenon("check", file).returncode == 0, tenon("check", file)
    move = {"op": "move", "agent": "Desk", "block": "count", "sequence": "answer"}
    process = edit(work, file, [move])
    assert process.returncode == 1 and "the block `answer/count` of `Desk` leads to `answer`" in process.stderr, process
    ops = [{"op": "disconnect", "agent": "Desk", "block": "count"}, {"op": "set_statements", "agent": "Desk", "block": "count", "statements": "emit(\"{{ x }}\")"},
           move, {"op": "connect", "agent": "Desk", "block": "answer/one", "target": "count"}]
    process = edit(work, file, ops, "--inverse", work / "undo.json")
    assert process.returncode == 0, process
    graph = json.loads(tenon("show", "--as=graph", file).stdout)
    outer = graph["agents"][0]["sequences"][0]["blocks"]
    inner = outer[0]["sequences"][0]["blocks"]
    assert [block["path"] for block in outer + inner] == ["answer", "answer/one", "answer/count"], graph
    assert inner[1]["documentation"] == "Counts." and inner[0]["edges"] == [{"kind": "next", "target": "count"}], inner
    assert tenon("edit", file, "--ops", work / "undo.json").returncode == 0 and file.read_text() == nested


def test_missing_files(work):
    assert tenon("edit", work / "none.tn", "--ops", write(work, "[]", "ops.json")).returncode == 1
    assert tenon("edit", write(work, PLAIN), "--ops", work / "none.json").returncode == 1
    assert tenon("edit", write(work, PLAIN)).returncode == 2
