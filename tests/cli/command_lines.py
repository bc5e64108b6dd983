"""The command line itself: help, suggestions for misspelt options, one form of errors, exit codes, values from files and stdin."""
import json
import re
import subprocess
import sys

from tenon_process import ROOT, tenon

COMMANDS = ["run", "chat", "serve", "studio", "test", "check", "fmt", "show", "plan", "edit", "explain", "explain-flow", "stubs", "runs", "resume", "cancel", "store backup",
            "store check", "store compact", "store copy", "store export", "store import", "store owners", "store repair", "store forget",
            "trace artifacts", "trace hash", "trace show", "trace flow", "trace diff", "trace reconstruct", "replay", "fork", "ray serve", "ray up",
            "ray status", "ray stop"]

PROGRAM = '''\
fn main() -> i32 { 42 }
fn size(text: String) -> i32 { text.len() }
fn echo(text: String) -> String { text }
fn total(xs: List<i64>) -> i64 { xs.sum() }
fn confirm(name: String) -> String {
    let reason = ask<String>("Why `{{ name }}`?")
    "{{ name }}: {{ reason }}"
}
'''


def write(work, text=PROGRAM, name="program.tn"):
    file = work / name
    file.write_text(text)
    return file


def expect(process, code, output, errors):
    shown = f"exit {process.returncode}\nstdout: {process.stdout!r}\nstderr: {process.stderr!r}"
    assert process.returncode == code and process.stdout == output, f"expected exit {code}, stdout {output!r}: {shown}"
    assert process.stderr == errors, f"expected stderr {errors!r}: {shown}"


def expect_usage_error(arguments, message, command):
    expect(tenon(*arguments), 2, "", f"error: {message}\nSee `tenon{' ' + command if command else ''} --help`.\n")


def options_of(command):
    return re.findall(r"^  (?:-h, )?(--[a-z-]+)", tenon(*command.split(), "--help").stdout, re.MULTILINE)


def test_each_command_has_help(_):
    for command in COMMANDS:
        process = tenon(*command.split(), "--help")
        assert process.returncode == 0 and process.stderr == "", (command, process)
        lines = process.stdout.splitlines()
        assert lines[0][0].isupper() and lines[2].startswith(f"Usage: tenon {command} "), (command, lines[:3])
        assert max(map(len, lines)) <= 100, (command, max(lines, key=len))
        assert tenon("help", *command.split()).stdout == process.stdout, command
        if " " in command:
            continue
        examples = lines[lines.index("Examples:") + 1:]
        assert examples and all(re.match(rf"  (git diff \| )?tenon {command} ", line) for line in examples), (command, examples)


def test_examples_of_the_help_have_known_options(_):
    for command in COMMANDS:
        options = options_of(command)
        assert "--help" in options, (command, options)
        for line in tenon(*command.split()[:1], "--help").stdout.splitlines():
            example = re.match(rf"  tenon {command}( .*)", line)
            used = re.findall(r" (--[a-z-]+)", example[1]) if example else []
            assert set(used) <= set(options), (command, line, options)


def test_without_a_command_the_help_is_printed(_):
    overview = tenon("--help")
    assert overview.returncode == 0 and overview.stderr == "", overview
    expect(tenon(), 2, "", overview.stdout)
    for arguments in (["help"], ["-h"], ["help", "--help"], ["help", "help"]):
        expect(tenon(*arguments), 0, overview.stdout, "")
    listed = re.findall(r"^  ([a-z][a-z-]+)  ", overview.stdout, re.MULTILINE)
    assert sorted(listed) == sorted({command.split()[0] for command in COMMANDS}), listed
    for group in ("store", "trace", "ray"):
        shown = tenon(group, "--help")
        verbs = re.findall(r"^  ([a-z]+)  ", shown.stdout, re.MULTILINE)
        assert sorted(f"{group} {verb}" for verb in verbs) == sorted(c for c in COMMANDS if c.startswith(group + " ")), verbs
        expect(tenon("help", group), 0, shown.stdout, "")


def test_commands_of_ray_need_no_python_for_their_help(_):
    """And they have the options that the Python package takes."""
    without_python = {"TENON_PYTHON": "/nowhere/python3"}
    for verb, parser in python_parsers().items():
        shown = tenon("ray", verb, "--help", environment=without_python)
        assert shown.returncode == 0 and shown.stderr == "" and set(options_of(f"ray {verb}")) == set(parser), (verb, parser, shown)
    serving = tenon("serve", "--engine", "ray", "--help", environment=without_python)
    expect(serving, 0, tenon("ray", "serve", "--help").stdout, "")
    for arguments, message in ((["ray"], "missing command: one of serve, up, status, stop"), (["ray", "fly"], "unknown command `ray fly`")):
        expect_usage_error(arguments, message, "ray")
    store = "postgres://tenon@/runs"
    for arguments, message in ((["desk.tn"], "missing `--store URL`"), (["desk.tn", "--store", store, "--nodes", "2"], "unknown option `--nodes`"),
                               (["desk.tn", "--store", store, "--port", "65536"],
                                "invalid value for `--port`: expected a whole number from 0 to 65535, got `65536`")):
        for command in (["ray", "serve"], ["serve", "--engine=ray"], ["serve", "--engine", "ray"]):
            process = tenon(*command, *arguments)
            assert (process.returncode, process.stdout) == (2, "") and process.stderr.startswith(f"error: {message}"), process
    process = tenon("ray", "status", environment=without_python)
    assert process.returncode == 1 and process.stderr.startswith("error: cannot start `/nowhere/python3`"), process


def python_parsers():
    """The options of each command of `python -m tenon.ray`. Its module is read without the package's library, which is not built here."""
    script = """import argparse, json, sys, types
package = types.ModuleType("tenon")
package.__path__ = [sys.argv[1]]
sys.modules["tenon"] = package
from tenon.ray.__main__ import _parser
commands = next(action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)).choices
print(json.dumps({name: [o for a in parser._actions for o in a.option_strings if o != "-h"] for name, parser in commands.items()}))"""
    shown = subprocess.run([sys.executable, "-B", "-c", script, ROOT / "python/tenon"], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    return json.loads(shown.stdout)


def test_help_topics(_):
    guide = (ROOT / "docs/guides/command_line.md").read_text()
    documented = re.findall(r"^\| ([0-9, ]+) \|", guide, re.MULTILINE)
    codes = {code for row in documented for code in row.split(", ")}
    assert set(re.findall(r"^  ([0-9]+)  ", tenon("help", "exit-codes").stdout, re.MULTILINE)) == codes == {"0", "1", "2", "3", "70", "130", "143"}
    for topic in ("models", "values"):
        process = tenon("help", topic)
        assert process.returncode == 0 and process.stdout and process.stderr == "", process
    expect_usage_error(["help", "exit-code"], "there is no help for `exit-code`; did you mean `exit-codes`?", "")
    expect_usage_error(["help", "nothing"], "there is no help for `nothing`", "")


def complete(*words):
    """What bash offers for the last word."""
    with_words = f'COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _tenon; echo "${{COMPREPLY[*]}}"'
    script = tenon("completion", "bash").stdout + with_words
    return subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout.split()


def test_completion(_):
    assert complete("tenon", "re") == ["resume", "replay"]
    assert complete("tenon", "store", "ex") == ["export"]
    assert complete("tenon", "help", "ex") == ["explain", "explain-flow", "exit-codes"]
    assert complete("tenon", "run", "--tem") == ["--temperature"]
    assert complete("tenon", "trace", "diff", "--js") == ["--json"]
    assert complete("tenon", "run", "fi") == [], "file names are left to bash"
    for command in COMMANDS:
        assert sorted(complete("tenon", *command.split(), "--")) == sorted(options_of(command)), command
    assert tenon("help", "completion").stdout == tenon("completion", "--help").stdout != ""
    expect_usage_error(["completion", "fish"], "expected `tenon completion bash`", "")


def test_misspelt_options_have_a_suggestion(_):
    for command in COMMANDS:
        for option in options_of(command):
            misspelt = option[:4] + option[5:]
            if misspelt == "--hlp" or misspelt in options_of(command):
                continue
            process = tenon(*command.split(), misspelt, "x")
            assert process.returncode == 2 and process.stdout == "", (command, misspelt, process)
            assert re.match(rf"error: unknown option `{misspelt}`; did you mean `--[a-z-]+`\?\nSee `tenon {command} --help`\.\n$",
                            process.stderr), (command, misspelt, process.stderr)


def test_options_that_do_not_exist(work):
    file = write(work)
    expect_usage_error(["run", file, "--timout-ms", "3"], "unknown option `--timout-ms`; did you mean `--timeout-ms`?", "run")
    expect_usage_error(["run", file, "--timout-ms=3"], "unknown option `--timout-ms`; did you mean `--timeout-ms`?", "run")
    expect_usage_error(["run", "--modle", "builtin", file], "unknown option `--modle`; did you mean `--model`?", "run")
    expect_usage_error(["run", file, "-model", "builtin"], "unknown option `-model`; did you mean `--model`?", "run")
    expect_usage_error(["run", file, "--wings"], "unknown option `--wings`", "run")
    expect_usage_error(["resume", "x", "--stor", "y"], "unknown option `--stor`; did you mean `--store`?", "resume")
    expect_usage_error(["store", "--store", "x", "check"], "`--store` must follow `tenon store check`", "store check")
    expect_usage_error(["--store", "x", "runs"], "unknown option `--store`; options follow the command", "")
    expect_usage_error(["--verson"], "unknown option `--verson`; did you mean `--version`?", "")


def test_commands_that_do_not_exist(_):
    expect_usage_error(["resme", "x"], "unknown command `resme`; did you mean `resume`?", "")
    expect_usage_error(["fly"], "unknown command `fly`", "")
    expect_usage_error(["store", "chekc", "--store", "x"], "unknown command `store chekc`; did you mean `check`?", "store")
    expect_usage_error(["trace"], "missing command: one of artifacts, hash, show, flow, diff, reconstruct", "trace")


def test_arguments_that_are_missing_or_too_many(work):
    file = write(work)
    expect_usage_error(["run"], "missing `FILE`", "run")
    expect_usage_error(["resume"], "missing `RUN` and `--store FILE`", "resume")
    expect_usage_error(["resume", "x"], "missing `--store FILE`", "resume")
    expect_usage_error(["run", file, "--store"], "`--store` requires a value: `--store FILE`", "run")
    expect_usage_error(["run", file, "--arg", "a=1", "--arg", "b=1", "--arg"], "`--arg` requires a value: `--arg NAME=VALUE`", "run")
    expect_usage_error(["run", file, "second"], "unexpected argument `second`", "run")
    expect_usage_error(["run", file, "--fn", "main", "--fn", "echo"], "`--fn` is given more than once", "run")
    expect_usage_error(["test", file, "--crash", "--verify"], "`--verify` cannot be combined with `--crash`", "test")
    expect_usage_error(["chat"], "missing `FILE`, or `--run RUN` and `--store FILE`", "chat")
    expect_usage_error(["chat", "--run", "x"], "`--run` requires `--store FILE`", "chat")
    expect_usage_error(["resume", "x", "--store", "y", "--prompts", "slides"], "`--prompts` requires `--program FILE`", "resume")


def test_values_that_do_not_fit(work):
    file = write(work)
    for arguments, message in (
            (["run", file, "--repair", "x"], "`--repair`: expected a whole number from 0 to 4294967295, got `x`"),
            (["run", file, "--repair", "-1"], "`--repair`: expected a whole number from 0 to 4294967295, got `-1`"),
            (["run", file, "--seed", "0x10"], "`--seed`: expected a whole number of at least 0, got `0x10`"),
            (["run", file, "--temperature", "warm"], "`--temperature`: expected a number of at least 0, got `warm`"),
            (["run", file, "--model", ""], "`--model`: it is empty"),
            (["run", file, "--durability", "no"], "`--durability`: expected full or process, got `no`"),
            (["run", file, "--budget", "calls=-1"],
             "`--budget`: expected calls=N, tokens=N, instructions=N, depth=N or time=TIME, as in time=30s, got `calls=-1`"),
            (["serve", file, "--store", "s", "--port", "65536"], "`--port`: expected a whole number from 0 to 65535, got `65536`"),
            (["run", file, "--budget", "time=5 s"],
             "`--budget`: expected calls=N, tokens=N, instructions=N, depth=N or time=TIME, as in time=30s, got `time=5 s`"),
            (["serve", file, "--store", "s", "--limit", "listed=0"], "`--limit listed`: expected a number of at least 1"),
            (["serve", file, "--store", "s", "--limit", "listed"], "`--limit`: expected NAME=N, got `listed`"),
            (["show", file, "--as", "soup"], "`--as`: expected tokens, tree, graph, lowered, types, bytecode or prompts, got `soup`")):
        expect_usage_error(arguments, f"invalid value for {message}", arguments[0])
    process = tenon("serve", file, "--store", "s", "--limit", "foo=3")
    assert process.returncode == 2 and process.stderr.startswith("error: unknown limit `foo`; the limits are body_bytes, "), process
    assert process.stderr.endswith("\nSee `tenon serve --help`.\n"), process
    expect_usage_error(["show", file, "--as=prompts", "--format=svg"], "`--format` requires `--as=graph`", "show")
    expect_usage_error(["show", file, "--as=graph", "--prompts=slides"], "`--prompts` requires `--as=prompts`", "show")


def test_times_have_units(work):
    file = write(work)
    for time in ("5s", "2m", "5000"):
        expect(tenon("run", file, "--budget", f"time={time}"), 0, "42\n", "")


def test_each_command_has_its_own_examples(_):
    for command in COMMANDS:
        text = tenon("help", *command.split()).stdout
        examples = text.partition("Examples:\n")[2]
        assert all(f"tenon {command} " in line for line in examples.splitlines() if line.startswith("  ")), text
        assert not re.search(r"With --\w+: [A-Z]", text), text
    assert "marked" in tenon("help", "trace", "reconstruct").stdout


def test_edits_that_cannot_be_read(work):
    file, edits = write(work), write(work, "{}", "edits.json")
    expect(tenon("edit", file, "--ops", edits), 1, "",
           f"error: invalid edits in `{edits}`, nothing was changed: the edits: expected a JSON array\n")


def test_a_file_that_is_not_a_run_export(work):
    file = write(work)
    expect(tenon("store", "import", file, "--store", work / "runs.store"), 1, "",
           f"error: cannot import `{file}`: it is not a run export\n")


def test_check_reads_the_manifest(work):
    (work / "tenon.toml").write_text("wings = 2\n")
    process = tenon("check", write(work), write(work, name="other.tn"))
    assert process.returncode == 1 and process.stderr.count("tenon.toml:1:1: error: ") == 1, process
    process = tenon("check", "--json", work / "other.tn")
    assert process.returncode == 1 and process.stderr == "", process
    reported = json.loads(process.stdout.splitlines()[0])
    assert reported["file"].endswith("tenon.toml") and (reported["severity"], reported["line"]) == ("error", 1), reported


def test_a_fork_begins_at_a_record_of_the_run(work):
    file, store = write(work), work / "runs.store"
    run = re.search(r"run (\w{26})", tenon("run", file, "--store", store).stderr).group(1)
    expect(tenon("fork", run, "--at", "999", "--store", store), 2, "", f"error: invalid value for `--at`: run {run} has 2 records\n")


def test_errors_have_one_form_and_one_scheme_of_exit_codes(work):
    """Each command with an input that it cannot use: `error: …` or `FILE:LINE:COLUMN: error…`, and the code that the guide documents."""
    file, store, missing = write(work), work / "none.store", work / "missing"
    broken = write(work, "fn main( {", "broken.tn")
    manifest = work / "project"
    manifest.mkdir()
    in_project = write(manifest, PROGRAM)
    (manifest / "tenon.toml").write_text("wings = 2\n")
    for code, *arguments in (
            (1, "run", missing), (1, "run", broken), (1, "run", in_project), (2, "run", file, "--fn", "wings"), (2, "run", file, "--arg", "n=1"),
            (2, "run", file, "--fn", "echo"), (2, "run", file, "--model", "wings"), (1, "run", file, "--model", f"script:{missing}"),
            (2, "run", file, "--prompts", missing), (1, "run", file, "--trace", missing / "t"), (1, "run", file, "--store", missing / "s"),
            (2, "run", file, "--arg-env", "n=TENON_UNSET"), (1, "run", file, "--extern", missing),
            (1, "chat", missing), (1, "chat", in_project), (2, "chat", file), (1, "chat", "--run", "x", "--store", store),
            (1, "serve", missing, "--store", store), (1, "serve", in_project, "--store", store),
            (2, "serve", file, "--store", store, "--host", "nowhere"), (2, "serve", file, "--store", store, "--limit", "wings=1"),
            (2, "serve", file, "--store", store, "--host", "0.0.0.0"),
            (1, "test", missing), (1, "test", file, "--filter", "wings"), (1, "check", missing), (1, "check", broken), (1, "fmt", missing),
            (1, "fmt", broken), (1, "show", missing, "--as", "graph"), (1, "show", missing, "--as", "types"),
            (2, "show", file, "--as", "prompts", "--prompts", missing), (1, "plan", missing), (2, "plan", file), (1, "check", in_project), (1, "edit", missing, "--ops", missing),
            (1, "edit", file, "--ops", missing), (2, "explain", "E0000"), (1, "explain-flow", missing), (1, "explain-flow", broken),
            (2, "explain-flow", file), (1, "stubs", missing), (1, "runs", "--store", store),
            (1, "resume", "x", "--store", store), (1, "cancel", "x", "--store", store), (1, "store", "check", "--store", store),
            (1, "store", "compact", "--store", store), (1, "store", "export", "x", "--output", missing, "--store", store),
            (1, "store", "import", missing, "--store", work / "new.store"), (1, "store", "forget", "x", "--store", store),
            (1, "trace", "hash", "x", "--store", store), (1, "trace", "reconstruct", missing, file), (1, "replay", "x", "--store", store),
            (1, "fork", "x", "--at", "1", "--store", store)):
        process = tenon(*arguments)
        assert process.returncode == code and process.stdout == "", (code, arguments, process)
        assert re.match(r"(\S+: )?error(\[E\d+\])?: ", process.stderr), (arguments, process.stderr)


def test_programs_are_reported_alike_by_all_commands(work):
    edits = write(work, "[]", "edits.json")
    missing = work / "missing.tn"
    broken = write(work, "fn main() -> i32 { 1 +\n}\n", "broken.tn")
    commands = (["check"], ["fmt"], ["fmt", "--check"], ["show", "--as=tree"], ["show", "--as=graph"], ["plan"], ["edit", "--ops", edits])
    for command in commands:
        process = tenon(*command, missing)
        assert process.returncode == 1 and process.stdout == "", process
        assert process.stderr == f"error[E2009]: cannot read `{missing}`: No such file or directory\n", process
    expected = tenon("check", broken).stderr
    assert expected.startswith(f"{broken}:1:23: error[E1101]: "), expected
    for command in commands:
        process = tenon(*command, broken)
        assert process.returncode == 1 and process.stderr.startswith(expected), process


def test_the_help_of_store_names_its_commands(_):
    lines = tenon("store", "--help").stdout.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    described = next(line for line in tenon("--help").stdout.splitlines() if line.startswith("  store "))
    for verb in (line.split()[0] for line in lines):
        assert verb.replace("backup", "back up") in described.lower(), (verb, described)


def test_arguments_from_files(work):
    file = write(work)
    text = work / "text.txt"
    text.write_text("größe\n" * 200_000)
    expect(tenon("run", file, "--fn", "size", "--arg", f"text=@{text}"), 0, f"{6 * 200_000}\n", "")
    text.write_text("two\nlines\n")
    expect(tenon("run", file, "--fn", "echo", "--arg", f"text=@{text}"), 0, "two\nlines\n\n", "")
    text.write_text(json.dumps(list(range(100_000))))
    expect(tenon("run", file, "--fn", "total", "--arg", f"xs=@{text}"), 0, f"{sum(range(100_000))}\n", "")
    expect(tenon("run", file, "--fn", "echo", "--arg", "text=@@ada"), 0, "@ada\n", "")
    expect(tenon("run", file, "--fn", "echo", "--arg", "text=a@b"), 0, "a@b\n", "")
    expect(tenon("run", file, "--fn", "echo", "--arg-env", "text=TENON_TEXT", environment={"TENON_TEXT": "@ada"}), 0, "@ada\n", "")
    missing = work / "missing.txt"
    expect(tenon("run", file, "--fn", "echo", "--arg", f"text=@{missing}"), 1, "",
           f"error: `--arg text`: cannot read `{missing}`: No such file or directory\n"
           f"  write `@@{missing}` to pass this text instead of a file's content\n")


def test_arguments_from_stdin(work):
    file = write(work)
    text = "line\n" * 200_000
    expect(tenon("run", file, "--fn", "size", "--arg", "text=@-", stdin=None, input=text), 0, f"{len(text)}\n", "")
    expect(tenon("run", file, "--fn", "echo", "--arg", "text=@-"), 0, "\n", "")
    expect_usage_error(["run", file, "--arg", "a=@-", "--arg", "b=@-"], "only one argument can be `@-`, because stdin is read once", "run")


def test_answers_from_files_and_stdin(work):
    file = write(work)
    answer = work / "answer.txt"
    answer.write_text("because " * 30_000)
    for given, options, reason in ((f"@{answer}", {}, answer.read_text()), ("@-", {"stdin": None, "input": "so\n"}, "so\n"),
                                   ("@@ada", {}, "@ada")):
        store = work / f"{len(reason)}.store"
        process = tenon("run", file, "--fn", "confirm", "--arg", "name=x", "--store", store)
        assert process.returncode == 3, process
        run = re.match(r"tenon: run (\w+)\n", process.stderr)[1]
        missing = tenon("resume", run, "--store", store, "--input", f"@{work / 'missing'}")
        assert missing.returncode == 1 and missing.stderr.startswith("error: `--input`: cannot read `"), missing
        expect(tenon("resume", run, "--store", store, "--input", given, **options), 0, f"x: {reason}\n", "")
