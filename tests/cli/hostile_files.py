"""Arbitrary files as programs: no crash, no hang, at most a gigabyte of memory, the right exit code."""
import os
import resource
import subprocess

from tenon_process import tenon

CPU_SECONDS_MAX = 15  # a loaded machine needs more than an idle one
SECONDS_MAX = 60  # for processes that wait without using the CPU; generous, because other work may run at the same time
MEMORY_MAX = 1 << 30


def limit_memory():
    """Runs in the process that becomes tenon: a signal kills it when it exceeds the limits."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MAX, CPU_SECONDS_MAX))


def is_bounded_failure(command, file):
    """The command reports that the file is wrong, within the limits."""
    try:
        process = tenon(*command, file, seconds_max=SECONDS_MAX, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        assert False, f"{command}: not done after {SECONDS_MAX} s"
    assert process.returncode == 1, f"{command}: exit {process.returncode}\n{process.stderr[:2000]}"
    assert process.stdout == "" or "--json" in command, f"{command}: {process.stdout[:500]!r}"
    assert process.stderr and len(process.stderr) < 200_000, f"{command}: {len(process.stderr)} bytes on stderr"
    assert "internal error" not in process.stderr and "fault of Tenon" not in process.stderr, process.stderr[:2000]
    return process


def refused(work, content, commands=("run", "check", "fmt", "test")):
    file = work / "program.tn"
    file.write_bytes(content)
    processes = [is_bounded_failure([command], file) for command in commands]
    assert file.read_bytes() == content, "fmt left it alone"
    return processes[0]


def test_random_bytes(work):
    content = bytes((i * 2654435761 >> 7) & 0xFF for i in range(50_000))
    refused(work, content)


def test_an_elf_binary(work):
    with open("/bin/true", "rb") as program:
        refused(work, program.read())


def test_zero_bytes(work):
    process = refused(work, b"fn main() -> i32 { 1 }\0\n")
    assert "hint: remove it" in process.stderr, process.stderr
    refused(work, b"\0" * 10_000)


def test_cut_utf8(work):
    process = refused(work, 'fn main() -> String { "größe'.encode()[:-3] + b"\xc3")
    assert "program.tn:1:" in process.stderr, process.stderr
    refused(work, b"\xff\xfe" + "fn main() -> i32 { 1 }".encode("utf-16-le"))


def test_deep_nesting(work):
    for opening in (b"(", b"[", b"{", b"-", b"!", b"if ", b"match ", b"f(", b"a.b(", b'"{{', b"x?.y[", b"|x| ", b"try "):
        refused(work, b"fn main() -> i32 { " + opening * 200_000)


def test_deep_types(work):
    refused(work, b"fn main(x: " + b"List<" * 200_000)
    refused(work, b"fn main(x: " + b"(" * 200_000 + b"i32" + b")" * 200_000 + b") {}")


def test_deep_patterns(work):
    refused(work, b"fn main() { match 1 { " + b"Some(" * 200_000 + b"x" + b")" * 200_000 + b" => 1 } }")


def test_a_long_cycle_of_types(work):
    count = 20_000
    circle = "".join(f"struct S{i} {{ next: S{(i + 1) % count} }}\n" for i in range(count))
    process = refused(work, circle.encode(), ("check",))
    assert process.stderr.count("E2121") == 1, process.stderr[:2000]


def test_long_chains(work):
    content = b"fn main() -> i32 { 1" + b" + 1" * 200_000 + b" }"
    file = work / "program.tn"
    file.write_bytes(content)
    process = tenon("run", file, seconds_max=SECONDS_MAX, preexec_fn=limit_memory)
    assert process.returncode in (0, 1), f"exit {process.returncode}: {process.stderr[:500]}"
    assert process.returncode == 1 or process.stdout == "200001\n", process.stdout[:100]


def test_many_errors(work):
    refused(work, b"".join(b"fn f%d() -> i32 { unknown%d }\n" % (i, i) for i in range(20_000)), ("run", "check"))


def test_one_long_line(work):
    process = refused(work, b"fn main() -> i32 { " + b"x" * 1_000_000 + b" }", ("run", "check"))
    assert len(process.stderr) < 20_000, f"{len(process.stderr)} bytes on stderr"


def test_a_hundred_megabytes(work):
    file = work / "large.tn"
    with open(file, "wb") as large:
        line = b"// a comment that is rather long, and then even longer, until it finally comes to its end\n"
        for _ in range(100_000_000 // (len(line) * 1000) + 1):
            large.write(line * 1000)
    for command in (["run"], ["check"], ["fmt"]):
        is_bounded_failure(command, file)


def test_a_sparse_file_of_a_terabyte(work):
    file = work / "sparse.tn"
    with open(file, "wb") as sparse:
        sparse.truncate(1 << 40)
    is_bounded_failure(["check"], file)


def test_a_directory(work):
    is_bounded_failure(["run"], work)
    is_bounded_failure(["check"], work)


def test_a_missing_file(work):
    process = is_bounded_failure(["run"], work / "missing.tn")
    assert "missing.tn" in process.stderr, process.stderr


def test_a_file_that_may_not_be_read(work):
    if os.geteuid() == 0:
        return  # root can read everything
    file = work / "secret.tn"
    file.write_text("fn main() {}\n")
    file.chmod(0)
    is_bounded_failure(["run"], file)


def test_an_empty_file(work):
    file = work / "empty.tn"
    file.write_bytes(b"")
    assert tenon("check", file, seconds_max=SECONDS_MAX).returncode == 0
    process = tenon("run", file, seconds_max=SECONDS_MAX)
    assert process.returncode == 2 and "main" in process.stderr, process
    assert tenon("test", file).stdout == "0 passed, 0 failed\n"


def test_a_fifo_without_a_writer(work):
    fifo = work / "fifo.tn"
    os.mkfifo(fifo)
    is_bounded_failure(["run"], fifo)


def test_an_endless_device(work):
    is_bounded_failure(["check"], "/dev/zero")


def test_modules_in_a_cycle(work):
    (work / "a.tn").write_text("use b::{f}\nfn g() -> i32 { 1 }\nfn main() -> i32 { f() }\n")
    (work / "b.tn").write_text("use a::{g}\nfn f() -> i32 { g() }\n")
    process = tenon("run", work / "a.tn", seconds_max=SECONDS_MAX)
    assert process.returncode == 0 and process.stdout == "1\n", process


def test_hostile_scripts_and_recordings(work):
    program = work / "program.tn"
    program.write_text('fn main(ctx: Context) -> i32 { "x"! }\n')
    model = work / "model"
    for content in (b"", b"\0\0\0", b"main => ", b"main => {", b"main => [" + b"[" * 200_000, b"\xff\xfe", b"=>" * 1000):
        model.write_bytes(content)
        for kind in ("script", "recorded"):
            process = tenon("run", program, "--model", f"{kind}:{model}", seconds_max=SECONDS_MAX, preexec_fn=limit_memory)
            assert process.returncode in (1, 2) and process.stderr and process.stdout == "", (kind, content[:20], process)


def test_hostile_answers(work):
    program = work / "program.tn"
    program.write_text('struct Node { children: List<Node>, name: String }\nfn main(ctx: Context) -> Node { "x"! }\n')
    model = work / "model.script"
    for answer in ("[" * 100_000, '{"children":[' * 50_000, "9" * 100_000, '"' + "\\u0000" * 1000 + '"', "\\ud800"):
        model.write_text('main => """\n  ' + answer + '\n  """\n')
        process = tenon("run", program, "--model", f"script:{model}", seconds_max=SECONDS_MAX, preexec_fn=limit_memory)
        assert process.returncode == 1 and process.stdout == "", (answer[:20], process.returncode, process.stderr[:300])


def test_many_entries_of_a_context_cost_little(work):
    program = work / "program.tn"
    program.write_text('fn main(ctx: Context) -> i32 {\n    for i in 0..100_000 { "an entry, number {{ i }}"! }\n    return ctx.len()\n}\n')
    process = tenon("run", program, seconds_max=SECONDS_MAX, preexec_fn=limit_memory)
    assert process.returncode == 0 and process.stdout == "100000\n", process


def test_an_endlessly_growing_program(work):
    program = work / "program.tn"
    for body in ('let s = "x"\n while true { s = s + s }', "let xs = [1]\n while true { xs = xs + xs }",
                 'let m: Map<String> = Map::new()\n let n = 0\n while true { n += 1\n m.insert(n.to_string(), "v".repeat(1000)) }',
                 'let s = "x".repeat(2_000_000_000)\n let n = s.len()'):
        program.write_text("fn main() -> () {\n " + body + "\n}\n")
        try:
            process = tenon("run", program, seconds_max=SECONDS_MAX, preexec_fn=limit_memory)
        except subprocess.TimeoutExpired:
            assert False, f"{body}: not done after {SECONDS_MAX} s"
        assert process.returncode == 1 and ": error: " in process.stderr, (body, process.returncode, process.stderr[:500])
