"""A separate judge model: on the command line, in the manifest, after a resume, in a recording."""
import re

from tenon_process import tenon

PROGRAM = '''
fn reply(ctx: Context, question: String) -> String
    ensures "is polite"
{
    question!
}

fn main(ctx: Context) -> String { reply(ctx, "Where is it?") }

fn later(ctx: Context) -> String { reply(ctx, ask<String>("What?")) }
'''


def prepare(work):
    file = work / "desk.tn"
    file.write_text(PROGRAM)
    (work / "writer.script").write_text('reply => "Look it up", "On the left, please"\n')
    (work / "judge.script").write_text('judge => {"value": [{"holds": false, "reason": "It is curt"}]}, '
                                       '{"value": [{"holds": true, "reason": null}]}\n')
    return file, f"script:{work / 'writer.script'}", f"script:{work / 'judge.script'}"


def test_an_answer_for_the_judge_is_proposed(work):
    file, writer, _ = prepare(work)
    process = tenon("run", file, "--model", writer)
    proposed = re.search(r"no answer for `judge`.*`(judge => .*)`\. The prompt ends", process.stderr)
    assert process.returncode == 1 and proposed, process.stderr
    script = work / "writer.script"
    script.write_text(f'reply => "Look it up"\n{proposed.group(1)}\n')
    process = tenon("run", file, "--model", writer)
    assert process.returncode == 0 and process.stdout == "Look it up\n", process.stderr
    test = 'test "polite" {\n    model { reply => "Look it up"%s }\n    assert main(Context::new()) == "Look it up"\n}\n'
    file.write_text(PROGRAM + test % "")
    process = tenon("test", file)
    proposed = re.search(r"no answer for `judge`; `(judge => .*?)` in", process.stdout + process.stderr)
    assert process.returncode == 1 and proposed, (process.stdout, process.stderr)
    file.write_text(PROGRAM + test % f"\n        {proposed.group(1)}")
    assert tenon("test", file).returncode == 0


def test_a_different_judge(work):
    file, writer, judge = prepare(work)
    process = tenon("run", file, "--model", writer, "--judge", judge, "--show-prompts")
    assert (process.returncode, process.stdout) == (0, "On the left, please\n"), process
    assert "is polite: It is curt" in process.stderr, "the writer sees the judge's reason"
    process = tenon("run", file, "--model", writer)
    assert process.returncode == 1 and "`judge" in process.stderr, "without one the model is its own judge"
    process = tenon("run", file, "--model", writer, "--judge", "unknown")
    assert process.returncode == 2 and "error: invalid value for `--judge`: expected builtin, " in process.stderr, process


def test_the_manifest_enables_it(work):
    file, writer, judge = prepare(work)
    (work / "tenon.toml").write_text(f'[model]\ndefault = "{writer}"\njudge = "{judge}"\n')
    process = tenon("run", file)
    assert (process.returncode, process.stdout) == (0, "On the left, please\n"), process


def test_a_resumed_run_has_its_judge(work):
    file, writer, judge = prepare(work)
    store = work / "runs.store"
    process = tenon("run", file, "--fn", "later", "--model", writer, "--judge", judge, "--store", store)
    assert process.returncode == 3, process
    run = re.search(r"tenon: run (\S+)", process.stderr)[1]
    process = tenon("resume", run, "--store", store, "--input", "Where?")
    assert (process.returncode, process.stdout) == (0, "On the left, please\n"), process
    assert tenon("replay", run, "--store", store).returncode == 0


def test_a_recording_has_both(work):
    file, writer, judge = prepare(work)
    recording = work / "both.jsonl"
    process = tenon("run", file, "--model", writer, "--judge", judge, "--record", recording)
    assert process.returncode == 0, process
    process = tenon("run", file, "--model", f"recorded:{recording}")
    assert (process.returncode, process.stdout) == (0, "On the left, please\n"), process
