"""`tenon check`, `fmt`, `test`, `show`, `explain`: exit codes and what they print."""
import json
import re
import subprocess

from tenon_process import ROOT, tenon

GOOD = 'fn main() -> i32 {\n    1\n}\n'
UGLY = 'fn main()->i32{1}   // kept\n'
WRONG = 'fn main() -> i32 { "a" }\nfn other() -> Strin { "b" }\nfn third() -> i32 { mian() }\n'


def write(work, text, name="program.tn"):
    file = work / name
    file.write_text(text)
    return file


def test_check_is_silent_on_a_good_program(work):
    process = tenon("check", write(work, GOOD))
    assert (process.returncode, process.stdout, process.stderr) == (0, "", ""), process


def test_check_reports_all_errors_with_suggestions(work):
    process = tenon("check", write(work, WRONG))
    assert process.returncode == 1 and process.stdout == "", process
    places = re.findall(r"program\.tn:(\d+):\d+: error\[E\d{4}\]", process.stderr)
    assert places[0] == "1" and "3" in places, process.stderr
    assert "`main`" in process.stderr, "the nearest name is suggested: " + process.stderr


def test_check_json(work):
    process = tenon("check", "--json", write(work, WRONG))
    assert process.returncode == 1
    events = [json.loads(line) for line in process.stdout.splitlines()]
    assert len(events) >= 2 and all(isinstance(event, dict) for event in events), process.stdout


def test_an_undeclared_type_is_a_note_and_an_error_when_strict(work):
    file = write(work, 'struct Customer { name: String }\nfn main(c: Custmer) -> String { c }\n')
    process = tenon("check", file)
    assert process.returncode == 0 and "note" in process.stderr and "Customer" in process.stderr, process
    process = tenon("check", "--strict", file)
    assert process.returncode == 1 and "error[E2011]" in process.stderr, process


def test_unused_scripted_answers_are_reported(work):
    file = write(work, 'fn word(ctx: Context) -> String { "Say a word."! }\nfn main(ctx: Context) -> String { word(ctx) }\n')
    script = write(work, 'word => "a", "b", "c"\nother => "d"\n', "model.script")
    process = tenon("run", file, "--model", f"script:{script}")
    assert (process.returncode, process.stdout) == (0, "a\n"), process
    assert process.stderr == (
        "warning: the scripted model was not asked for 2 of 3 answers for `word` (line 1)\n"
        "warning: the scripted model was not asked for the answer for `other` (line 2)\n"), process.stderr
    script.write_text('word when "Sing" => "a"\nword => "b"\n')
    assert tenon("run", file, "--model", f"script:{script}").stderr == ""


def library(work, name, text):
    source = work / f"{name}.c"
    source.write_text("#include <stdint.h>\n#include <tenon/extern.h>\n" + text)
    target = work / f"lib{name}.so"
    subprocess.run(["cc", "-std=c99", "-shared", "-fPIC", "-I", str(ROOT / "include"), "-o", str(target), str(source)], check=True)
    return target


def test_check_compares_externs_with_libraries(work):
    file = write(work, "extern fn plain(n: i32) -> i32\nextern fn keyed(n: i32) -> i32\nfn main() -> i32 { plain(keyed(1)) }\n")
    plain = library(work, "plain", "int32_t plain(int32_t n) { return n; }\n")
    keyed = library(work, "keyed", "TENON_EXTERN(keyed) { tenon_put_i64(call, tenon_result(call), 1); }\n")
    assert tenon("check", file).stderr == "", "without libraries nothing is said of externs"
    process = tenon("check", "--json", file, "--extern", plain, "--extern", keyed)
    notes = [json.loads(line) for line in process.stdout.splitlines()]
    assert process.returncode == 0, process
    assert [(note["code"], note["severity"], note["line"]) for note in notes] == [("N4010", "note", 1)], notes
    process = tenon("check", "--json", file, "--extern", plain)
    errors = [json.loads(line) for line in process.stdout.splitlines()]
    assert process.returncode == 1 and [(one["code"], one["line"]) for one in errors] == [("E4003", 2)], errors
    process = tenon("check", file, "--extern", work / "libmissing.so")
    assert process.returncode == 1 and "error[E4001]" in process.stderr, process.stderr


def test_check_runs_no_code_of_the_manifests_libraries(work):
    trap = library(work, "trap", "#include <stdlib.h>\n__attribute__((constructor)) static void trap(void) { abort(); }\n"
                                 "int32_t plain(int32_t n) { return n; }\n")
    (work / "tenon.toml").write_text(f'[externs]\nlibraries = ["{trap.name}"]\n')
    file = write(work, "extern fn plain(n: i32) -> i32\nfn main() -> i32 { plain(1) }\n")
    process = tenon("check", file)
    assert (process.returncode, process.stderr) == (0, ""), process


def test_the_third_brace_of_a_template_is_explained(work):
    process = tenon("check", write(work, 'fn f(x: i32) -> String { "{{{ x }}" }\n'))
    assert process.returncode == 1 and "error[E1005]" in process.stderr, process.stderr
    assert "`\\{{{ … }}`" in process.stderr and "close it with" not in process.stderr, process.stderr
    assert tenon("check", write(work, 'fn f(x: i32) -> String { "\\{{{ x }}" }\n')).returncode == 0


def test_check_of_several_files(work):
    good, wrong = write(work, GOOD, "good.tn"), write(work, WRONG, "wrong.tn")
    assert tenon("check", good, good).returncode == 0
    process = tenon("check", good, wrong)
    assert process.returncode == 1 and "wrong.tn:1:" in process.stderr, process


def test_fmt_rewrites_and_check_lists(work):
    file = write(work, UGLY)
    process = tenon("fmt", "--check", file)
    assert process.returncode == 1 and file.read_text() == UGLY, process
    assert tenon("fmt", file).returncode == 0
    formatted = file.read_text()
    assert formatted != UGLY and "// kept" in formatted, formatted
    assert tenon("fmt", "--check", file).returncode == 0
    assert tenon("run", file).stdout == "1\n"


def test_fmt_of_standard_input(work):
    process = tenon("fmt", "-", stdin=None, input=UGLY)
    assert process.returncode == 0 and "// kept" in process.stdout and "fn main() -> i32" in process.stdout, process


def test_fmt_does_not_change_a_broken_file(work):
    text = "fn main( -> {\n"
    file = write(work, text)
    process = tenon("fmt", file)
    assert process.returncode == 1 and file.read_text() == text and process.stderr, process


def test_failed_tests_are_counted(work):
    file = write(work, 'test "holds" { assert 1 + 1 == 2 }\ntest "does not" { assert 1 + 1 == 3 }\n')
    for options in ([], ["--verify"]):
        process = tenon("test", *options, file)
        assert process.returncode == 1 and process.stdout.endswith("1 passed, 1 failed\n"), process
        assert re.search(r"program\.tn:2:\d+: error: .*1 \+ 1 == 3", process.stderr), process.stderr
    assert tenon("test", "--filter", "holds", file).stdout.endswith("1 passed, 0 failed\n")


def test_a_test_without_an_answer_fails(work):
    file = write(work, 'fn ask(ctx: Context) -> i32 { "x"! }\ntest "asks" { assert ask(Context::new()) == 1 }\n')
    process = tenon("test", file)
    assert process.returncode == 1 and "`ask`" in process.stderr and "program.tn:1:" in process.stderr, process


def test_show(work):
    file = write(work, 'fn ask(ctx: Context) -> i32 { "x"! }\n')
    for form in ("tokens", "tree", "types", "bytecode", "prompts"):
        process = tenon("show", f"--as={form}", file)
        assert process.returncode == 0 and process.stdout and not process.stderr, (form, process)


def test_calls_write_their_results_in_place(work):
    """No instruction moves the result of a call, and none clears an unused register."""
    file = work / "program.tn"
    file.write_text("fn fib(n: i64) -> i64 {\n    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\n}\n\n"
                    "fn main() -> i64 {\n    let xs: List<i64> = []\n    for i in 0..3 {\n        xs.push(fib(i as i64))\n"
                    "    }\n    xs[2]\n}\n")
    process = tenon("show", "--as=bytecode", file)
    assert process.returncode == 0 and "Call" in process.stdout, process
    assert "Take" not in process.stdout and "LoadUnit" not in process.stdout, process.stdout


def test_show_of_a_program_with_errors(work):
    file = write(work, WRONG)
    for form in ("tokens", "tree"):
        assert tenon("show", f"--as={form}", file).returncode in (0, 1)
    for form in ("bytecode", "prompts"):
        process = tenon("show", f"--as={form}", file)
        assert process.returncode == 1 and process.stderr, (form, process)


def test_explain(work):
    process = tenon("explain", "E2101")
    assert process.returncode == 0 and "E2101" in process.stdout, process
    for code in ("E9999", "soup", ""):
        process = tenon("explain", code)
        assert process.returncode == 2 and process.stdout == "" and process.stderr, (code, process)
