"""`tenon run`: stdout and stderr, exit codes, arguments, the trace."""
import json
import pathlib
import re
import resource
import subprocess

from tenon_process import TENON, run_traced, tenon

PROGRAM = '''\
struct Place { city: String, nights: i32 in 1..=30 }
type Mood = "good" | "bad"

fn main() -> i32 { 42 }

fn text() -> String { "two\\nlines" }
fn nothing() -> () {}
fn none() -> i32? { None }
fn truth() -> Boolean { true }
fn ratio() -> f64 { 2.0 }
fn list() -> List<String> { ["a", "b"] }
fn place() -> Place { Place { city: "Bern", nights: 2 } }
fn undeclared() -> Analysis { Analysis("fine") }

fn echo(text: String) -> String { text }
fn twice(n: i32) -> i32 { n * 2 }
fn wide(n: i64) -> i64 { n }
fn half(x: f64) -> f64 { x / 2.0 }
fn negate(b: Boolean) -> Boolean { !b }
fn count(xs: List<i32>) -> i32 { xs.len() }
fn city(place: Place) -> String { place.city }
fn mood(m: Mood) -> String { m }
fn maybe(n: i32?) -> i32 { n ?? -1 }
fn names(m: Map<i32>) -> List<String> { m.keys() }
fn pair(first: String, second: i32) -> String { "{{ first }}{{ second }}" }

fn visible(ctx: Context, text: String) -> String {
    text!
    return ctx.text()
}

fn colour(ctx: Context, thing: String) -> String {
    "Which colour?"!
    thing!
}

fn inner(n: i32) -> i32 { 10 / n }
fn middle(n: i32) -> i32 {
    inner(n)
}
fn broken() -> i32 { middle(0) }
'''


def write(work, text=PROGRAM, name="program.tn"):
    file = work / name
    file.write_text(text)
    return file


def run(work, *arguments, **options):
    return tenon("run", write(work), *arguments, **options)


def expect(process, code, output, errors=None):
    shown = f"exit {process.returncode}\nstdout: {process.stdout!r}\nstderr: {process.stderr!r}"
    assert process.returncode == code, f"expected exit {code}: {shown}"
    assert process.stdout == output, f"expected stdout {output!r}: {shown}"
    if errors is not None:
        assert process.stderr == errors, f"expected stderr {errors!r}: {shown}"


def test_stdout_contains_only_the_value(work):
    for function, output in {
            "main": "42\n", "text": "two\nlines\n", "nothing": "", "none": "null\n", "truth": "true\n", "ratio": "2.0\n",
            "list": '["a","b"]\n', "place": '{"city":"Bern","nights":2}\n', "undeclared": "fine\n"}.items():
        expect(run(work, "--fn", function), 0, output, "")


def test_main_is_the_default(work):
    expect(run(work), 0, "42\n", "")


def test_arguments_are_read_by_the_parameters_type(work):
    for function, argument, output in [
            ("echo", "text=plain", "plain\n"), ("echo", "text=", "\n"), ("echo", "text=a=b", "a=b\n"),
            ("echo", 'text="quoted"', '"quoted"\n'), ("echo", "text=größe", "größe\n"), ("echo", "text=5", "5\n"),
            ("twice", "n=21", "42\n"), ("twice", "n=-1", "-2\n"), ("wide", "n=9223372036854775807", "9223372036854775807\n"),
            ("half", "x=3", "1.5\n"), ("half", "x=1e3", "500.0\n"), ("negate", "b=true", "false\n"),
            ("count", "xs=[1, 2, 3]", "3\n"), ("count", "xs=[]", "0\n"),
            ("city", 'place={"city": "Bern", "nights": 30}', "Bern\n"), ("mood", "m=bad", "bad\n"),
            ("maybe", "n=null", "-1\n"), ("maybe", "n=4", "4\n"), ("names", 'm={"z": 1, "a": 2}', '["z","a"]\n')]:
        expect(run(work, "--fn", function, "--arg", argument), 0, output, "")


def test_arguments_in_any_order(work):
    expect(run(work, "--fn", "pair", "--arg", "second=2", "--arg", "first=x"), 0, "x2\n", "")


def test_a_context_parameter_gets_a_new_context(work):
    expect(run(work, "--fn", "visible", "--arg", "text=hello"), 0, "hello\n", "")


def test_arguments_that_do_not_fit(work):
    for function, argument, word in [
            ("twice", "n=x", "n"), ("twice", "n=2.5", "n"), ("twice", "n=2147483648", "n"), ("twice", "n=", "n"),
            ("negate", "b=maybe", "b"), ("count", "xs=[1, true]", "xs"), ("city", 'place={"city": "Bern"}', "nights"),
            ("city", 'place={"city": "Bern", "nights": 31}', "31"), ("mood", "m=fair", "m"), ("city", "place=Bern", "place")]:
        process = run(work, "--fn", function, "--arg", argument)
        expect(process, 2, "")
        assert word in process.stderr and f"--arg {argument.split('=')[0]}" in process.stderr, process.stderr


def test_missing_and_unknown_arguments(work):
    process = run(work, "--fn", "pair", "--arg", "first=x")
    expect(process, 2, "")
    assert "second" in process.stderr and "i32" in process.stderr, process.stderr
    process = run(work, "--fn", "pair")
    assert "first" in process.stderr and "second" in process.stderr, "each missing argument is reported: " + process.stderr
    process = run(work, "--fn", "twice", "--arg", "n=1", "--arg", "m=1")
    expect(process, 2, "")
    assert "no parameter `m`" in process.stderr, process.stderr
    process = run(work, "--fn", "echo", "--arg", "text=x", "--arg", "txet=y")
    expect(process, 2, "")
    assert "did you mean `text`?" in process.stderr, process.stderr


def test_a_context_cannot_be_given(work):
    process = run(work, "--fn", "visible", "--arg", "text=x", "--arg", "ctx=1")
    expect(process, 2, "")
    assert "--arg ctx" in process.stderr and "new, empty Context" in process.stderr, process.stderr
    assert "did you mean" not in process.stderr, process.stderr
    process = run(work, "--fn", "visible", "--arg", "text=x", "--arg", "ctxt=1")
    assert "no parameter `ctxt`" in process.stderr and "`ctx`" not in process.stderr, process.stderr


def test_extern_errors_have_codes_and_precede_the_start(work):
    file = write(work, 'extern fn nowhere(n: i32) -> i32\nfn main() -> i32 { nowhere(1) }\n')
    process = tenon("run", file, "--model", "script:no.script")
    expect(process, 1, "")
    assert re.search(r"program\.tn:1:\d+: error\[E4003\]: unresolved extern `nowhere`", process.stderr), process.stderr
    assert "= hint: pass a library with `--extern FILE.so`" in process.stderr, process.stderr
    process = tenon("run", file, "--extern", work / "libnowhere.so")
    expect(process, 1, "")
    assert process.stderr.startswith("error[E4001]: "), process.stderr


def test_malformed_arguments(work):
    for arguments in (["--arg", "n"], ["--arg", "=1"], ["--arg", "n=1", "--arg", "n=2"], ["--arg"]):
        expect(run(work, "--fn", "twice", *arguments), 2, "")


def test_an_unknown_function(work):
    process = run(work, "--fn", "twise")
    expect(process, 2, "")
    assert "`twise`" in process.stderr and "did you mean `twice`?" in process.stderr, process.stderr
    file = write(work, "fn start() -> i32 { 1 }\n", "nomain.tn")
    process = tenon("run", file)
    expect(process, 2, "")
    assert "`main`" in process.stderr and "--fn" in process.stderr, process.stderr


def test_an_agent_is_not_run(work):
    agent = "agent {} {{\n    fn turn(ctx: Context, input: String) -> String {{ input }}\n}}\n"
    file = write(work, agent.format("Echo"), "echo.tn")
    process = tenon("run", file)
    expect(process, 2, "")
    assert f"talk to the agent `Echo` with `tenon chat {file}`" in process.stderr, process.stderr
    process = tenon("run", file, "--fn", "Echo")
    expect(process, 2, "")
    assert f"`Echo` is an agent; talk to it with `tenon chat {file} --agent Echo`" in process.stderr, process.stderr
    file = write(work, agent.format("Echo") + agent.format("Other"), "two.tn")
    process = tenon("run", file)
    expect(process, 2, "")
    assert f"with `tenon chat {file} --agent NAME`: Echo, Other" in process.stderr, process.stderr


def test_arguments_are_read_as_answers_are(work):
    file = write(work, "fn main(b: Boolean, n: i32, name: String?) -> String { \"{{ b }} {{ n }} {{ name ?? \"no one\" }}\" }\n", "given.tn")
    for b, name, output in (("yes", "name=Ann", "true 3 Ann\n"), ("n", "name=none", "false 3 no one\n"), ("True", "name=\"Ann\"", "true 3 Ann\n")):
        expect(tenon("run", file, "--arg", f"b={b}", "--arg", "n=3", "--arg", name), 0, output)
    process = tenon("run", file, "--arg", "b=maybe", "--arg", "n=many", "--arg", "name=Ann")
    expect(process, 2, "")
    assert "`--arg b`: expected yes or no, found \"maybe\"" in process.stderr, process.stderr
    assert "`--arg n`: expected integer, found the string \"many\"" in process.stderr, process.stderr


def test_unknown_options_and_commands(work):
    file = write(work)
    for arguments in ([], ["fly"], ["run"], ["run", file, "--wings"], ["run", file, "--budget", "calls"],
                      ["run", file, "--budget", "wings=3"], ["run", file, "--repair", "x"], ["run", file, "--model", "unknown"], ["run", file, "--model", ""],
                      ["run", file, "--prompts", work / "nowhere"], ["show", file], ["show", file, "--as", "soup"],
                      ["explain"], ["check"], ["test"]):
        process = tenon(*arguments)
        assert process.returncode == 2 and process.stdout == "" and process.stderr, (arguments, process.returncode,
                                                                                    process.stdout, process.stderr)
    assert "error: unknown command `resme`; did you mean `resume`?\n" in tenon("resme", "x", "--store", "y").stderr
    assert "error: unknown command `fly`\n" in tenon("fly").stderr


def test_an_output_that_cannot_be_written(work):
    file = write(work)
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = tenon("run", file, stdout=full)
    assert process.returncode == 1 and "error: cannot write the output: " in process.stderr, process


def test_paths_of_the_manifest_are_relative_to_its_folder(work):
    folder = work / "project"
    (folder / "inner").mkdir(parents=True)
    (folder / "words").mkdir()
    (folder / "words" / "empty.txt").write_text("Begin.")
    (folder / "tenon.toml").write_text('[model]\ndefault = "script:answers.script"\n[prompts]\nstyle = "words"\n')
    (folder / "answers.script").write_text('* => "from the folder"\n')
    (folder / "inner" / "p.tn").write_text("fn main(ctx: Context) -> String { }\n")
    for where in (work, folder, folder / "inner"):
        process = tenon("run", folder / "inner" / "p.tn", "--show-prompts", cwd=where)
        assert process.stdout == "from the folder\n" and "Begin." in process.stderr, process


def test_help_and_version(work):
    for arguments in (["--help"], ["run", "--help"], ["--version"]):
        process = tenon(*arguments)
        assert process.returncode == 0 and process.stdout and not process.stderr, (arguments, process)
    assert "--store" in tenon("resume", "--help").stdout
    for verbs in (["store", "check"], ["trace", "diff"]):
        assert verbs[1] in tenon(verbs[0], "--help").stdout and tenon(*verbs, "--help").returncode == 0, verbs
    assert re.fullmatch(r"tenon \d+\.\d+\.\d+\S*\n", tenon("--version").stdout), tenon("--version").stdout


def test_a_failed_run_shows_place_and_calls(work):
    process = run(work, "--fn", "broken")
    expect(process, 1, "")
    lines = process.stderr.splitlines()
    file = str(work / "program.tn")
    line = PROGRAM.splitlines().index("fn inner(n: i32) -> i32 { 10 / n }") + 1
    assert lines[0].startswith(f"{file}:{line}:") and "error" in lines[0], lines[0]
    assert re.match(re.escape(file) + r":\d+:\d+: error", lines[0]), lines[0]
    calls = [text for text in lines[1:] if text.startswith("  in `")]
    assert [re.search("`(.*)`", text).group(1) for text in calls] == ["inner", "middle", "broken"], process.stderr
    assert all(re.search(re.escape(file) + r":\d+:\d+", text) for text in calls), process.stderr


def test_a_program_with_errors_does_not_run(work):
    file = write(work, 'fn main() -> i32 { "text" }\n\nfn other() -> i32 { unknown }\n')
    process = tenon("run", file)
    expect(process, 1, "")
    assert re.search(r"program\.tn:1:\d+: error\[E\d{4}\]:", process.stderr), process.stderr
    assert re.search(r"program\.tn:3:\d+: error\[E\d{4}\]:", process.stderr), "all errors at once: " + process.stderr
    assert "^" in process.stderr, process.stderr


def test_no_colours_without_a_terminal(work):
    file = write(work, 'fn main() -> i32 { "text" }\n')
    assert "\x1b" not in tenon("run", file).stderr
    assert "\x1b" not in run(work, "--fn", "broken").stderr
    traced = run_traced(write(work), 'colour => "red"', "--fn", "colour", "--arg", "thing=a rose", "--show-prompts")
    assert "\x1b" not in traced.errors and "\r" not in traced.errors, traced.errors


def test_show_prompts_prints_to_stderr(work):
    traced = run_traced(write(work), 'colour => "red"', "--fn", "colour", "--arg", "thing=a rose", "--show-prompts")
    assert traced.code == 0 and traced.output == "red\n", (traced.code, traced.output)
    assert "[user]\nWhich colour?\na rose\n" in traced.errors and "[answer]\nred\n" in traced.errors, traced.errors
    quiet = run_traced(write(work), 'colour => "red"', "--fn", "colour", "--arg", "thing=a rose")
    assert quiet.errors == "", quiet.errors


def test_the_trace(work):
    traced = run_traced(write(work), 'colour => "red"', "--fn", "colour", "--arg", "thing=a rose")
    assert [event["type"] for event in traced.events] == ["generation_started", "generation_finished", "run_ended"]
    started, finished, ended = traced.events
    assert started["function"] == "colour" and started["attempt"] == 0
    assert re.search(r"program\.tn:\d+:\d+$", started["place"]), started["place"]
    assert started["messages"] == [{"role": "user", "content": "Which colour?\na rose"}]
    assert [call["function"] for call in started["calls"]] == ["colour"]
    assert "argument thing" in started["label"], started["label"]
    assert finished["answer"] == "red" and finished["finish"] == "complete" and finished["model"] == "script"
    for field in ("prompt", "computed", "reused", "generated", "forced", "attempts", "ms"):
        assert field in finished["tokens"], finished["tokens"]
    assert finished["key"] == started["key"] and finished["run"] == started["run"] == ended["run"]
    assert ended["value"] == "red" and ended["instructions"] > 0


def test_the_trace_of_a_failed_run(work):
    traced = run_traced(write(work), "", "--fn", "broken")
    assert traced.code == 1
    failure = traced.events[-1]["failure"]
    assert failure["kind"] == "Arithmetic" and failure["place"].startswith(str(work / "program.tn"))
    assert [call["function"] for call in failure["calls"]] == ["inner", "middle", "broken"]


def test_only_its_owner_can_read_the_trace(work):
    trace = work / "trace.jsonl"
    run(work, "--trace", trace)
    assert trace.stat().st_mode & 0o077 == 0, oct(trace.stat().st_mode)
    for line in trace.read_text().splitlines():
        assert isinstance(json.loads(line), dict)


def test_a_trace_that_cannot_be_written(work):
    process = run(work, "--trace", work / "nowhere" / "trace.jsonl")
    expect(process, 1, "")
    assert "nowhere" in process.stderr, process.stderr


def test_repairs_contain_the_reasons(work):
    file = write(work, 'fn age(ctx: Context) -> i32 in 0..=150 { "How old?"! }\n')
    script = 'age => "about 30", {"value": 900}, {"value": 30}'
    traced = run_traced(file, script, "--fn", "age")
    assert traced.output == "30\n" and traced.code == 0, (traced.output, traced.errors)
    assert [event["attempt"] for event in traced.requests()] == [0, 1, 2]
    last = traced.requests()[-1]["messages"]
    assert last[0]["content"] == "How old?", last
    assert any("900" in message["content"] for message in last), last
    once = run_traced(file, script, "--fn", "age", "--repair", "1")
    assert once.code == 1 and once.output == "", (once.code, once.output)
    assert "900" in once.errors and "about 30" in once.errors, "the failure shows the answers: " + once.errors
    never = run_traced(file, script, "--fn", "age", "--repair", "0")
    assert never.code == 1 and len(never.requests()) == 1, never.events


def test_each_budget_ends_an_endless_program(work):
    file = write(work, 'fn main(ctx: Context) -> () {\n    let n = 0\n    while true { n = (n + 1) % 10 }\n}\n'
                 "fn deep(n: i32) -> i32 { deep(n + 1) + 1 }\nfn down() -> i32 { deep(0) }\n"
                 'fn ask(ctx: Context) -> String { "say"! }\nfn asking(ctx: Context) -> () { while true { ask(ctx)! } }\n')
    for function, budget, number in [("main", "instructions=5000", "5000"), ("down", "depth=70", "70"),
                                     ("asking", "calls=3", "3")]:
        traced = run_traced(file, 'ask => "x"', "--fn", function, "--budget", budget)
        name = budget.split("=")[0]
        assert traced.code == 1 and name in traced.errors and number in traced.errors, traced.errors
        assert re.search(r"program\.tn:\d+:\d+: error", traced.errors), traced.errors
        assert traced.events[-1]["failure"]["kind"] == "BudgetSpent"


def test_the_default_budgets_end_recursion_and_model_calls(work):
    file = write(work, "fn deep(n: i32) -> i32 { deep(n + 1) + 1 }\nfn down() -> i32 { deep(0) }\n"
                 'fn ask(ctx: Context) -> String { "say"! }\nfn asking(ctx: Context) -> () { while true { let x = ask(ctx) } }\n')
    traced = run_traced(file, "", "--fn", "down")
    assert traced.code == 1 and "10000" in traced.errors and "--budget depth=" in traced.errors, traced.errors
    assert len(traced.errors.splitlines()) < 80, "a long stack is cut"
    traced = run_traced(file, 'ask => "x"', "--fn", "asking")
    assert traced.code == 1 and "1000" in traced.errors and "--budget calls=" in traced.errors, traced.errors
    assert len(traced.requests()) == 1000, len(traced.requests())


def test_a_script_that_does_not_fit(work):
    traced = run_traced(write(work), 'other => "x"', "--fn", "colour", "--arg", "thing=x")
    assert traced.code == 1 and "colour" in traced.errors, traced.errors
    process = run(work, "--model", f"script:{work / 'missing.script'}", "--fn", "colour", "--arg", "thing=x")
    assert process.returncode in (1, 2) and "missing.script" in process.stderr, process.stderr


def test_recording_and_replay(work):
    file = write(work)
    script = work / "model.script"
    script.write_text('colour => "red"')
    arguments = ["run", file, "--fn", "colour", "--arg", "thing=a rose"]
    recording = work / "recording.jsonl"
    expect(tenon(*arguments, "--model", f"script:{script}", "--record", recording), 0, "red\n", "")
    expect(tenon(*arguments, "--model", f"recorded:{recording}"), 0, "red\n", "")
    other = tenon("run", file, "--fn", "colour", "--arg", "thing=a lily", "--model", f"recorded:{recording}")
    assert other.returncode == 1 and other.stdout == "", other
    assert "lily" in other.stderr or "rose" in other.stderr, "it shows where they differ: " + other.stderr


def test_prompt_templates_from_a_folder(work):
    folder = work / "prompts"
    folder.mkdir()
    (folder / "format.txt").write_text("JSON, please: {{outline}}\n")
    file = write(work, 'fn age(ctx: Context) -> i32 { "How old?"! }\n')
    traced = run_traced(file, 'age => {"value": 30}', "--fn", "age", "--prompts", str(folder))
    assert traced.code == 0, traced.errors
    assert [m["content"] for m in traced.requests()[0]["messages"]] == ["How old?", 'JSON, please: {"value": integer}']


def test_errors_of_the_command_line_are_named(work):
    file = write(work, "fn g<T>(x: T) -> T { x }\nfn b(x: Boolean) -> Boolean { x }\n")
    process = tenon("run", file, "--fn", "g", "--arg", "x=1", "--model", "script:no.script")
    expect(process, 2, "")
    assert "`g` is generic" in process.stderr, process.stderr
    process = tenon("run", file, "--fn", "b", "--arg", "x=true", "--prompts", "/nonexist", "--model", "script:no.script")
    expect(process, 2, "")
    assert process.stderr.startswith("error: unknown prompt style `/nonexist`; expected default, slides, marked or a folder of templates"), process.stderr


def test_a_result_that_is_too_large_is_a_failure(work):
    file = write(work, """struct N { l: List<N> }
fn main() -> N {
    let n = N { l: [] }
    for _ in 0..40 { n = N { l: [n, n] } }
    n
}
""", "large.tn")
    process = tenon("run", file)
    expect(process, 1, "")
    assert process.stderr.startswith("error: the result cannot be printed: the text would be longer than "), process.stderr


def test_several_programs_and_folders_are_tested(work):
    folder = work / "programs"
    (folder / "more").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    holds = 'test "holds" { assert 1 + 1 == 2 }\n'
    for name in ("b.tn", "more/a.tn", ".hidden/c.tn", "notes.txt"):
        (folder / name).write_text(holds)
    process = tenon("test", folder)
    expect(process, 0, f"test {folder}/b.tn: holds … ok\ntest {folder}/more/a.tn: holds … ok\n2 passed, 0 failed\n", "")
    twice = tenon("test", folder, folder / "more" / "a.tn", f"{folder}/more/../b.tn")
    expect(twice, 0, process.stdout, "")
    expect(tenon("check", folder), 0, "", "")
    (folder / "b.tn").write_text("fn  f() -> i32 { 1 }\n")
    expect(tenon("fmt", folder / "more"), 0, "", "")
    expect(tenon("fmt", "--check", folder), 1, f"{folder}/b.tn\n", "")
    (folder / "broken.tn").write_text("fn f( {\n")
    process = tenon("test", folder / "more", folder / "broken.tn")
    expect(process, 1, f"test {folder}/more/a.tn: holds … ok\n1 passed, 0 failed\n")
    assert "broken.tn:1:" in process.stderr and "error: a program does not compile, and its tests were not run\n" in process.stderr
    (work / "empty").mkdir()
    for command in ("test", "check", "fmt"):
        expect(tenon(command, work / "empty"), 1, "", f"error: the folder `{work / 'empty'}` contains no `.tn` file\n")


def test_failures_of_tests_have_a_location(work):
    file = write(work, 'fn ask(ctx: Context) -> String { "q"! }\ntest "none" {\n    ask(Context::new())\n}\n')
    for mode in ([], ["--verify"], ["--crash"]):
        process = tenon("test", file, *mode)
        expect(process, 1, "test none … FAILED\n0 passed, 1 failed\n")
        assert re.search(r"program\.tn:1:4: error: the script has no answer for `ask`\n  in `ask`, .*\n  in `none`, .*:3:5\n",
                         process.stderr), process.stderr
    unused = write(work, 'fn ask(ctx: Context) -> String { "q"! }\ntest "some" {\n'
                         '    model { ask => "a", ask => "b", _ => fail("no") }\n    assert ask(Context::new()) == "a"\n}\n')
    for mode in ([], ["--verify"], ["--crash"]):
        process = tenon("test", unused, *mode)
        expect(process, 1, "test some … FAILED\n0 passed, 1 failed\n")
        assert re.fullmatch(r".*program\.tn:3:25: error: unused scripted answer for `ask` \(1 of 2 used\)\n"
                            r".*program\.tn:3:37: error: unused scripted answer for missing arguments\n",
                            process.stderr), process.stderr
    process = tenon("test", file, "--filter", "zzz")
    expect(process, 1, "", "error: no test name contains `zzz`\n")


def test_a_trace_can_be_written_to_stdout(work):
    """Functions of libraries may print, so the command's own output is not at descriptor 1."""
    for place in ("/dev/stdout", "/dev/fd/1"):
        done = run(work, "--trace", place)
        *traced, value = done.stdout.splitlines()
        assert done.returncode == 0 and value == "42" and done.stderr == "", done
        assert [json.loads(line)["type"] for line in traced] == ["run_ended"], traced


def test_there_is_room_for_many_connections_before_the_first_thread(work):
    """Later the table of descriptors grows slowly (reserve_descriptors)."""
    file = write(work, 'fn main() -> String { ask<String>("Which colour?") }\n')
    with subprocess.Popen([TENON, "run", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        shown = ""
        while "Which colour?" not in shown:
            shown += process.stderr.read(1)
            assert process.poll() is None, shown
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        output, _ = process.communicate("red\n", timeout=60)
    assert output == "red\n"
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    room = 4096 if limit == resource.RLIM_INFINITY else min(limit, 4096)
    assert int(re.search(r"FDSize:\s*(\d+)", status)[1]) >= room, status
