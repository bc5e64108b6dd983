"""`tenon plan`: the structure in three formats, what a model is asked, and how a run uses its verdicts."""
import json
import shutil
import subprocess

from tenon_process import ROOT, tenon

PROGRAM = '''
fn write(ctx: Context, topic: Topic) -> Draft
    ensures "is a poem"
{
    topic!
}

fn polish(ctx: Context, text: Draft) -> Poem
    requires "has verses"
    requires text.len() < 1000
    ensures "is polished"
{
    text!
}

fn main(ctx: Context) -> Poem {
    pursue "is a fine poem" from Topic("bees") { write(ctx, _), polish(ctx, _) }
}
'''
RELATIONS = [{"reason": "Poems have verses", "relation": "entails"}, {"reason": "Not all are fine", "relation": "open"}]
ANSWERS = '''write => "O bee"
judge => {"value": [{"reason": "yes", "holds": true}]}
polish => "O bee!"
'''


def prepare(work, relations=None, text=PROGRAM):
    file = work / "poem.tn"
    file.write_text(text)
    (work / "plan.script").write_text(f"entail => {json.dumps({'value': relations or RELATIONS})}\n")
    (work / "run.script").write_text(ANSWERS)
    return file


def edge(file, start, end, *options):
    process = tenon("plan", file, "--format", "json", *options)
    assert process.returncode == 0, process
    found = [one for one in json.loads(process.stdout)[0]["edges"] if (one["from"], one["to"]) == (start, end)]
    return found[0]


def test_a_pair_is_undecided_until_a_model_has_judged_it_once(work):
    file = prepare(work)
    undecided = edge(file, "write", "polish")
    assert (undecided["passage"], undecided["by"]) == ("undecided", "undecided"), undecided
    assert undecided["requirements"][0]["by"] == "undecided", undecided
    assert not (work / "poem.tn.plan").exists(), "without a model nothing is written"
    model = ("--model", f"script:{work / 'plan.script'}")
    assert edge(file, "write", "polish", *model)["requirements"][0] == {
        "words": "has verses", "judged": True, "relation": "entails", "by": "model", "reason": "Poems have verses"}
    first = (work / "poem.tn.plan").read_bytes()
    # Everything is known: an empty script is sufficient.
    (work / "plan.script").write_text("")
    assert edge(file, "write", "polish", *model)["by"] == "run", "the length is computed in the run"
    assert (work / "poem.tn.plan").read_bytes() == first
    # A changed text is judged again.
    file.write_text(PROGRAM.replace("has verses", "has stanzas"))
    assert edge(file, "write", "polish")["passage"] == "undecided"
    process = tenon("plan", file, *model)
    assert process.returncode == 1 and "script" in process.stderr, process
    assert (work / "poem.tn.plan").read_bytes() == first, "a model that does not answer changes nothing"


TYPED = '''
type Size = i32 in 1..=9

enum Phase { New, Sent(Size) }

/// A text in progress.
struct Draft {
    /// What is sent.
    text: String
    phase: Phase
}

fn is_ready(draft: Draft) -> Boolean { is_long(draft.text) }
fn is_long(text: String) -> Boolean { text.len() > 9 }

fn write(ctx: Context, topic: Topic) -> Draft
    ensures is_ready(result)
{
    topic!
}

fn send(draft: Draft) -> i32
    requires "is worth reading"
{
    1
}

fn main(ctx: Context) -> i32 {
    pursue |n| n == 1 from Topic("bees") { write(ctx, _), send(_) }
}
'''


def test_a_verdict_is_for_the_definitions_that_the_model_saw(work):
    file = prepare(work, [{"reason": "It is long", "relation": "entails"}], TYPED)
    model = ("--model", f"script:{work / 'plan.script'}")
    process = tenon("plan", file, *model, "--show-prompts")
    assert process.returncode == 0, process
    definitions = ["/// A text in progress.\nstruct Draft {\n    /// What is sent.\n    text: String\n    phase: Phase\n}",
                   "enum Phase {\n    New\n    Sent(Size)\n}", "type Size = i32 in 1..=9",
                   "fn is_ready(draft: Draft) -> Boolean { is_long(draft.text) }",
                   "fn is_long(text: String) -> Boolean { text.len() > 9 }"]
    for definition in definitions:
        assert definition in process.stderr, process.stderr
    [entry] = json.loads((work / "poem.tn.plan").read_text())["entailments"]
    assert entry["definitions"] == definitions, entry
    assert edge(file, "write", "send")["passage"] == "always"
    for old, new in [("    phase: Phase\n", ""), ("in 1..=9", "in 1..=8"), ("New, Sent", "New, Lost, Sent"),
                     ("text.len() > 9", "text.len() > 8"), ("/// What is sent.", "/// What is not sent.")]:
        assert old in TYPED
        file.write_text(TYPED.replace(old, new))
        assert edge(file, "write", "send")["passage"] == "undecided", new
    file.write_text(TYPED.replace("fn send", "// Sends it.\nfn send"))
    assert edge(file, "write", "send")["passage"] == "always", "nothing that the texts are about has changed"


def test_no_goal_of_the_repository_is_impossible(work):
    files = [file for folder in ("examples", "bench/agents", "stdlib", "tests/programs", "tests/durability")
             for file in (ROOT / folder).rglob("*.tn") if "pursue " in file.read_text()]
    assert len(files) >= 3, files
    for file in files:
        process = tenon("check", file)
        assert process.returncode == 0 and "W3009" not in process.stderr + process.stdout, (file, process)


def test_a_goal_that_is_only_reached_without_a_promise_is_no_mistake(work):
    free = '''
fn double(n: i32) -> i32 { n * 2 }
fn digit(n: i32) -> i32 ensures result >= n { n * 10 }
fn main(ctx: Context) -> i32 { pursue |n| n == 20 from 1 { double(_), digit(_) } }
'''
    process = tenon("check", prepare(work, text=free))
    assert process.returncode == 0 and "W3009" not in process.stderr + process.stdout, process
    process = tenon("check", prepare(work, text=free.replace("{ double(_), digit(_) }", "{ digit(_) }").replace("n == 20", "n < 1")
                                     .replace("result >= n", "result > 1")))
    assert process.returncode == 0 and "warning[W3009]" in process.stderr + process.stdout, process


def test_a_plan_of_the_first_format_is_read(work):
    file = prepare(work)
    assert tenon("plan", file, "--model", f"script:{work / 'plan.script'}").returncode == 0
    plan = work / "poem.tn.plan"
    written = plan.read_text()
    assert '"format": 2' in written
    plan.write_text(written.replace('"format": 2', '"format": 1'))
    assert edge(file, "write", "polish")["by"] == "run"


def test_a_field_of_another_type_makes_a_plan_unusable(work):
    file = prepare(work)
    assert tenon("plan", file, "--model", f"script:{work / 'plan.script'}").returncode == 0
    plan = work / "poem.tn.plan"
    written = json.loads(plan.read_text())
    for name in ("reason", "model", "wanted", "type"):
        changed = json.loads(json.dumps(written))
        changed["entailments"][1][name] = 5
        plan.write_text(json.dumps(changed))
        process = tenon("check", file)
        assert process.returncode == 1, (name, process)
        problem = f'entry 2 has a "{name}" that is not a string: 5'
        assert "E2226" in process.stderr and "poem.tn.plan" in process.stderr and problem in process.stderr, process
    for name in ("reason", "model"):
        for entry in written["entailments"]:
            del entry[name]
    plan.write_text(json.dumps(written))
    assert tenon("check", file).returncode == 0, "both are only for people"


def test_obsolete_questions_are_removed_from_the_file(work):
    file = prepare(work)
    assert tenon("plan", file, "--model", f"script:{work / 'plan.script'}").returncode == 0
    file.write_text(PROGRAM.replace('    requires "has verses"\n', ""))
    assert tenon("plan", file, "--model", f"script:{work / 'plan.script'}").returncode == 0
    assert "has verses" not in (work / "poem.tn.plan").read_text()


def judged(work, store, file):
    process = tenon("run", file, "--model", f"script:{work / 'run.script'}", "--store", store, "--show-prompts")
    assert process.returncode == 0 and process.stdout == "O bee!\n", process
    return process.stderr.count("── judge"), process.stderr


def test_a_run_does_not_judge_what_is_entailed(work):
    file = prepare(work)
    store = work / "runs.store"
    before, shown = judged(work, store, file)
    assert "1. has verses" in shown
    assert tenon("plan", file, "--model", f"script:{work / 'plan.script'}").returncode == 0
    after, shown = judged(work, store, file)
    assert "1. has verses" not in shown and after < before, shown
    run = [line for line in shown.splitlines() if line.startswith("tenon: run ")][0].split()[-1]
    # The run contains its plan: neither the file nor the program is needed.
    (work / "poem.tn.plan").unlink()
    process = tenon("replay", run, "--store", store)
    assert process.returncode == 0, process
    # A program without the plan sends different requests.
    process = tenon("replay", run, "--store", store, "--program", file)
    assert process.returncode == 1, process


def test_a_contradiction_makes_an_action_dead(work):
    relations = [{"reason": "Prose has none", "relation": "contradicts"}, RELATIONS[1]]
    file = prepare(work, relations)
    process = tenon("plan", file, "--model", f"script:{work / 'plan.script'}")
    assert process.returncode == 0 and "warning[W3008]" in process.stderr, process
    assert "dead: polish" in process.stdout, process.stdout
    assert "warning[W3009]" not in process.stderr, "the goal is only left open: " + process.stderr


def test_a_goal_that_a_model_finds_contradicted_is_impossible(work):
    relations = [RELATIONS[0], {"reason": "It is not fine", "relation": "contradicts"}]
    file = prepare(work, relations)
    process = tenon("plan", file, "--model", f"script:{work / 'plan.script'}")
    assert process.returncode == 0 and "warning[W3009]: no action can reach the goal" in process.stderr, process


def test_the_graph(work):
    file = prepare(work)
    process = tenon("plan", file, "--format", "dot")
    assert process.returncode == 0 and process.stdout.startswith("digraph plan {"), process
    assert "p0_1 -> p0_2" in process.stdout and process.stdout.endswith("}\n"), process.stdout
    if shutil.which("dot"):
        drawn = subprocess.run(["dot", "-Tsvg"], input=process.stdout, capture_output=True, text=True, check=False)
        assert drawn.returncode == 0, drawn.stderr


def test_a_program_without_pursue_has_no_plan(work):
    file = prepare(work, text="fn main() -> i32 { 1 }\n")
    process = tenon("plan", file)
    assert (process.returncode, process.stdout, process.stderr) == (2, "", "error: the program has no `pursue`\n"), process


def test_a_plan_that_cannot_be_written(work):
    file = prepare(work)
    (work / "poem.tn.plan.tenon-new").mkdir()
    process = tenon("plan", file, "--model", f"script:{work / 'plan.script'}")
    assert process.returncode == 1 and "error: cannot write `" in process.stderr, process


STEPS = '''
fn step(n: i32, limit: i32) -> i32
    requires n < limit
    ensures result >= limit
{
    limit
}

fn any_step(ctx: Context, limit: i32) -> i32 {
    pursue |n| n == 10 from 0 { step(_, limit), step(_, limit + 1) as next }
}

fn main(ctx: Context) -> i32 {
    pursue |n| n == 10 from 0 { step(_, 5), step(_, 10) as far }
}
'''


def passages(file, number=0):
    process = tenon("plan", file, "--format", "json")
    assert process.returncode == 0, process
    return {(one["from"], one["to"]): one["passage"] for one in json.loads(process.stdout)[number]["edges"]}


def test_literal_arguments_make_actions_different(work):
    file = prepare(work, text=STEPS)
    found = passages(file, 1)
    assert found["step", "far"] == "perhaps" and found["far", "step"] == "never", found
    assert found["start", "step"] == "always" and found["start", "goal"] == "never", found
    # Other arguments are only known to be equal for the same action.
    found = passages(file)
    assert found["step", "step"] == "never" and found["step", "next"] == "perhaps", found


TEXTS = '''
fn translate(ctx: Context, text: String, language: String) -> String
    ensures "is in {{ language }}"
    ensures "fits the language"
{
    text!
}

fn publish(text: String, language: String) -> i32
    requires "is in {{ language }}"
    requires "fits the language"
{
    text.len()
}

fn main(ctx: Context) -> i32 {
    pursue |n| n > 0 from "Hello" {
        translate(ctx, _, "German")
        publish(_, "German")
        publish(_, "French")
    }
}
'''


def test_texts_are_compared_as_they_are_in_the_call(work):
    file = prepare(work, text=TEXTS)
    same = edge(file, "translate", "publish")
    assert same["passage"] == "always" and same["by"] == "words", same
    assert [one["words"] for one in same["requirements"]] == ["is in German", "fits the language, with language = German"], same
    other = edge(file, "translate", "publish_2")
    assert other["passage"] == "undecided", other


def test_verdicts_before_a_failure_are_kept(work):
    actions = "".join(f'fn act{n}(text: Draft) -> Draft requires "has {n}" {{ text }}\n' for n in range(9))
    calls = ", ".join(f"act{n}(_)" for n in range(9))
    text = f'''
fn write(ctx: Context, topic: Topic) -> Draft
    ensures "is a poem"
{{
    topic!
}}

{actions}
fn main(ctx: Context) -> Draft {{ pursue "is a poem" from Topic("bees") {{ write(ctx, _), {calls} }} }}
'''
    file = prepare(work, [{"reason": f"r{n}", "relation": "open"} for n in range(8)], text)
    process = tenon("plan", file, "--model", f"script:{work / 'plan.script'}")
    assert process.returncode == 1 and "cannot be used" in process.stderr, process
    kept = json.loads((work / "poem.tn.plan").read_text())["entailments"]
    assert len(kept) == 8, kept
    (work / "plan.script").write_text('entail => {"value": [{"reason": "r8", "relation": "open"}]}\n')
    assert tenon("plan", file, "--model", f"script:{work / 'plan.script'}").returncode == 0
    assert len(json.loads((work / "poem.tn.plan").read_text())["entailments"]) == 9


MAILS = '''
fn write(ctx: Context, topic: String, signature: String) -> String
    ensures "is polite"
{
    topic!
}

fn send(mail: String, address: String) -> i32
    requires "is polite"
{
    mail.len()
}

fn main(ctx: Context, name: String) -> i32 {
    pursue |n| n > 0 from "Hello" { write(ctx, _, "Ann"), send(_, "bob"), write(ctx, _, name) as sign }
}
'''


def test_arguments_that_a_text_does_not_mention_make_no_difference(work):
    file = prepare(work, text=MAILS)
    for start in ("write", "sign"):
        found = edge(file, start, "send")
        assert (found["passage"], found["by"]) == ("always", "words"), found
