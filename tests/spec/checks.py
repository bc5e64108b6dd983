"""Compares examples with the diagnostics of the compiler and the results of runs."""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

from documents import Assertion

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import prompt_comparison  # noqa: E402
from postgres_process import USER  # noqa: E402
from store_places import shared_database  # noqa: E402

PROCESS_SECONDS_MAX = 120
# The folder with tenon/extern.h, for the C blocks of examples.
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
LIBRARIES = pathlib.Path(os.environ.get("TENON_LIBRARIES", INCLUDE.parent / "build/release"))  # with libtenon.so
WORKERS = 2
DATABASE_LOCK = threading.Lock()
# When the expectations are rewritten, a background command that prints nothing for this long has printed its lines.
BACKGROUND_QUIET_SECONDS = 1.0
# Files per process: few enough that after a crash each can be checked alone.
FILES_PER_PROCESS = 40


class Tenon:
    """The binary under test."""

    def __init__(self, binary):
        self.binary = str(pathlib.Path(binary).resolve())

    @staticmethod
    def environment():
        environment = dict(os.environ, NO_COLOR="1", CPATH=str(INCLUDE), LIBRARY_PATH=str(LIBRARIES),
                           LD_LIBRARY_PATH=str(LIBRARIES))
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            environment.pop(name, None)
        return environment

    def run(self, arguments, folder, program=None):
        try:
            return subprocess.run([program or self.binary, *arguments], cwd=folder, env=self.environment(),
                                  timeout=PROCESS_SECONDS_MAX, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", check=False)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(arguments, -1, "", f"timed out after {PROCESS_SECONDS_MAX} s\n")


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(function, items))


def write_files(example, folder):
    """Writes the program and the files that it uses; returns the path of the program."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in [*example.companions, example]:
        path = folder / part.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(part.source())
    if example.runs() or "script" in example.attached or "transcript" in example.attached:
        script = example.attached.get("script")
        (folder / "model.script").write_text(script.text() if script else "")
    if "c" in example.attached:
        block = example.attached["c"]
        (folder / (block.info.partition(" ")[2] or "externs.c")).write_text(block.text())
    for block in example.files:
        (folder / block.info.partition(" ")[2]).write_text(block.text())
    return folder / example.file_name


def build_externs(tenon, example, folder):
    """Compiles the example's library of externs; returns the options that name it."""
    if "c" not in example.attached:
        return []
    compiler = os.environ.get("CC", "cc")
    process = tenon.run(["-std=c99", "-shared", "-fPIC", "-o", "externs.so", "externs.c"], folder, program=compiler)
    if process.returncode != 0:
        example.problems.append(process.stderr)
    return ["--extern", "./externs.so"]


def group(items):
    return [items[at:at + FILES_PER_PROCESS] for at in range(0, len(items), FILES_PER_PROCESS)]


def diagnose(tenon, paths, root, options=()):
    """Returns path -> (exit code, diagnostics) from `check --json`; if a process for many files crashes, checks each alone."""
    def one_process(some):
        names = [str(path.relative_to(root)) for path in some]
        process = tenon.run(["check", "--json", *options, *names], root)
        return some, names, process

    found = {}

    def take(some, names, process):
        diagnostics = {name: [] for name in names}
        for line in process.stdout.splitlines():
            diagnostic = json.loads(line)
            diagnostics.setdefault(diagnostic.get("file", names[0]), []).append(diagnostic)
        for path, name in zip(some, names):
            found[path] = (process.returncode, diagnostics[name])

    for some, names, process in in_parallel(one_process, group(paths)):
        if process.returncode in (0, 1):
            take(some, names, process)
            continue
        for path in some:
            single = one_process([path])
            if single[2].returncode in (0, 1):
                take(*single)
            else:
                found[path] = (single[2].returncode, [])
    return found


def assertions_of(diagnostics):
    """Returns each diagnostic with its number of carets; None if it spans several lines."""
    lengths = []
    for diagnostic in diagnostics:
        if diagnostic["end_line"] == diagnostic["line"]:
            length = max(1, diagnostic["end_column"] - diagnostic["column"])
        else:
            length = None  # the carets extend to the end of the first line
        lengths.append((diagnostic, length))
    return lengths


def compare_assertions(example, code, diagnostics):
    """Returns (problems, the correct assertions)."""
    if code not in (0, 1):
        return [f"`tenon check` ended with {code}"], example.assertions
    actual = []
    for diagnostic, length in assertions_of(diagnostics):
        if length is None:
            length = max(1, len(example.code[diagnostic["line"] - 1]) - diagnostic["column"] + 1)
        actual.append((Assertion(diagnostic["line"], diagnostic["column"], length, diagnostic["severity"],
                                 diagnostic["code"]), diagnostic["message"]))
    problems, right, left = [], [], list(example.assertions)
    for assertion, message in actual:
        said = next((other for other in left if other.place() == assertion.place()), None)
        if said is not None:
            left.remove(said)
            if said.words in message and said.severity == assertion.severity:
                right.append(said)
                continue
            problems.append(f"line {said.line}: {said.code} says `{message}`, not `{said.words}`")
        elif assertion.severity != "note":
            problems.append(f"line {assertion.line}: not asserted: {assertion.written()} ({message})")
        if assertion.severity != "note" or said is not None:
            right.append(assertion)
    for other in left:
        problems.append(f"line {other.line}: asserted, but not reported: {other.written()}")
    return problems, right


def check_format(tenon, examples, folders, root):
    """Checks that formatting keeps the diagnostics, and that formatting again changes nothing."""
    paths = []
    for example in examples:
        paths.append(write_files(example, folders[id(example)] / "formatted"))
    problems = {id(example): [] for example in examples}

    def format_some(some):
        names = [str(path.relative_to(root)) for path in some]
        first = tenon.run(["fmt", *names], root)
        second = tenon.run(["fmt", "--check", *names], root)
        return first, second

    faults = {}
    for some, (first, second) in zip(group(paths), in_parallel(format_some, group(paths))):
        changed = set(second.stdout.splitlines())
        for path in some:
            name = str(path.relative_to(root))
            if name in changed:
                faults[path] = "`tenon fmt` changes its own result"
            elif first.returncode not in (0, 1) or f"{name}:" in first.stderr:
                faults[path] = f"`tenon fmt` ended with {first.returncode}: {first.stderr[:400]}"
    after = diagnose(tenon, paths, root)
    for example, path in zip(examples, paths):
        if path in faults:
            problems[id(example)].append(faults[path])
        codes = sorted(diagnostic["code"] for diagnostic in after[path][1] if diagnostic["severity"] != "note")
        if codes != sorted(assertion.code for assertion in example.assertions if assertion.severity != "note"):
            problems[id(example)].append(f"formatted, it has the diagnostics {codes}:\n{path.read_text()}")
    return problems


def shown_prompts(trace):
    """Returns what was sent, call by call, as `--show-prompts` prints it."""
    lines = []
    for line in trace.splitlines():
        event = json.loads(line)
        if event["type"] != "generation_started":
            continue
        lines.append(f"── {event['function']}" + (f" (repair {event['attempt']})" if event["attempt"] else ""))
        for message in event["messages"]:
            lines.append(f"[{message['role']}]")
            lines += message["content"].split("\n")
    return lines


def without_line_end(text):
    return text[:-1].split("\n") if text.endswith("\n") else text.split("\n") if text else []


def compare_prompts(tenon, example, folder, trace):
    """`tenon show --as=prompts` lists every prompt that the run has sent. A style that marks data shows them by their hashes."""
    events = [json.loads(line) for line in trace.read_text().splitlines()] if trace.exists() else []
    requests = prompt_comparison.first_requests(events)
    if not requests or any(argument.startswith("--prompts") for argument in example.arguments):
        return []
    shown = tenon.run(["show", example.file_name, "--as=prompts"], folder).stdout
    hidden = prompt_comparison.find_hidden(prompt_comparison.read_prompts(shown), requests)
    return [f"`tenon show --as=prompts` does not list this prompt:\n{prompt}" for prompt in hidden]


def run_example(tenon, example, folder):
    """Returns (problems, kind of attached block -> its correct lines, the correct result for the info string)."""
    trace = folder / "trace.jsonl"
    options = [*example.arguments, *build_externs(tenon, example, folder), "--model", "script:model.script"]
    process = tenon.run(["run", example.file_name, "--fn", example.function, *options, "--trace", "trace.jsonl"], folder)
    problems, right = [], {}
    fails = "failure" in example.attached
    if process.returncode != (1 if fails else 0):
        return [f"the run ended with {process.returncode}:\n{process.stderr}"], {}, None
    if fails:
        right["failure"] = without_line_end(process.stderr)
    if "output" in example.attached:
        right["output"] = without_line_end(process.stdout)
    if "prompt" in example.attached:
        right["prompt"] = shown_prompts(trace.read_text() if trace.exists() else "")
    elif trace.exists() and "generation_started" in trace.read_text() and "script" not in example.attached:
        problems.append("it asks the model; add a prompt block with what was sent, or a script block with the answers")
    problems += compare_prompts(tenon, example, folder, trace)
    for kind, lines in right.items():
        block = example.attached[kind]
        if block.lines != lines:
            problems.append(f"the {kind} block differs; it is:\n" + "\n".join(lines))
    result = None
    if example.result is not None:
        result = "\n".join(without_line_end(process.stdout))
        if result != example.result:
            problems.append(f"the result is {result!r}, not {example.result!r}\n{process.stderr}")
    elif not fails and "output" not in example.attached and process.stdout:
        problems.append(f"its result is missing from the example: {process.stdout!r}")
    return problems, right, result


def run_tests(tenon, example, folder):
    """Checks that `test` items pass, also when the state is encoded and decoded at every instruction."""
    problems, right = [], {}
    fails = "failure" in example.attached and not example.runs()
    for options in ([], ["--verify"]):
        process = tenon.run(["test", *options, example.file_name], folder)
        if process.returncode != (1 if fails else 0):
            problems.append(f"`tenon test {' '.join(options)}` ended with {process.returncode}:\n{process.stdout}{process.stderr}")
            continue
        if fails:
            right["failure"] = without_line_end(process.stderr)
        if "output" in example.attached and not example.runs():
            right["output"] = without_line_end(process.stdout)
        for kind, lines in right.items():
            if example.attached[kind].lines != lines:
                problems.append(f"the {kind} block differs; it is:\n" + "\n".join(lines))
    return problems, right


def connect_database(block):
    """Shell commands after which libpq finds a database server, if a block uses one: that of the tests."""
    if not any("postgres://" in line for line in block.lines):
        return ""
    with DATABASE_LOCK:
        return f'export PGHOST="{shared_database().folder}" PGUSER={USER}\n'


def put_on_path(tenon, folder):
    """Returns shell commands after which `tenon` is the binary under test."""
    program = folder / "bin" / "tenon"
    program.parent.mkdir(parents=True, exist_ok=True)
    if not program.is_symlink():
        program.symlink_to(tenon.binary)
    return f'export PATH="{program.parent}:$PATH"\ncd "{folder}"\n'


def run_shell(tenon, block, folder):
    """Runs a shell block with `tenon` on the path; returns its output."""
    process = tenon.run(["-c", put_on_path(tenon, folder) + block.text()], folder, program="/bin/sh")
    return process.stdout + process.stderr


# What differs from one day to the next: a run's name, a server's port, a time of day, milliseconds since 1970.
RUN_NAME = re.compile(r"\b[0-9a-hjkmnp-tv-z]{26}\b")
PORT = re.compile(r"(?<=http://127\.0\.0\.1:)\d+\b")
TIME = re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\dZ")
MILLISECONDS = re.compile(r"\b1[789]\d{11}\b")


class Placeholders:
    """The names in place of a kind of text that differs in each run: NAME, NAME2, … in the order in which the texts appear."""

    def __init__(self, name, pattern):
        self.name = name
        self.pattern = pattern
        self.found = []

    def hide(self, text):
        """A command's output with the names in place of the texts."""
        def name_of(match):
            if match[0] not in self.found:
                self.found.append(match[0])
            at = self.found.index(match[0])
            return self.name if at == 0 else f"{self.name}{at + 1}"
        return self.pattern.sub(name_of, text)

    def fill(self, command):
        """A command with the texts in place of the names; a name that is not yet known stays."""
        def text_of(match):
            at = int(match[1] or 1) - 1
            return self.found[at] if at < len(self.found) else match[0]
        return re.sub(rf"\b{self.name}(\d*)\b", text_of, command)


class Background:
    """A command of a transcript that ends with ` &`: it runs in its own process, with its output in a file, until it ends, a
    later command kills it, or the transcript is over. `number`: different from those of others in the folder."""

    def __init__(self, tenon, start, command, folder, number):
        self.output = folder / f"background_{number}.output"
        pid_file = folder / f"background_{number}.pid"
        # The shell's own messages about the process ("Killed") are not part of the output.
        script = f"{start}exec > {self.output} 2>&1\n{command} &\necho $! > {pid_file}.new\nmv {pid_file}.new {pid_file}\nexec 2> /dev/null\nwait $!"
        environment = tenon.environment()
        self.shell = subprocess.Popen(["/bin/sh", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                      start_new_session=True)
        wait_until(lambda: pid_file.exists() or self.has_ended())
        self.pid = int(pid_file.read_text())
        pid_file.unlink()

    def has_ended(self):
        return self.shell.poll() is not None

    def wait_for_lines(self, count):
        """What it has printed, once that is `count` lines or it has ended; without a count, once it is quiet."""
        if count is not None:
            wait_until(lambda: self.has_ended() or self.output.read_text(errors="replace").count("\n") >= count)
        else:
            seen = None
            while seen != self.output.read_text(errors="replace") and not self.has_ended():
                seen = self.output.read_text(errors="replace")
                time.sleep(BACKGROUND_QUIET_SECONDS)
        return self.output.read_text(errors="replace")

    def stop(self):
        """Kills what is left of it. Afterwards no process of the command is running."""
        if not self.has_ended():
            os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()


def wait_until(condition):
    deadline = time.monotonic() + PROCESS_SECONDS_MAX
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def shown_lines(block):
    """Each command of a transcript with the number of lines below it."""
    commands = []
    for line in block.lines:
        if line.startswith("$ "):
            commands.append([line, 0])
        elif commands:
            commands[-1][1] += 1
    return commands


def run_transcript(tenon, example, kind, folder, update=False):
    """Performs the lines that begin with `$ `, one after the other, in the example's folder. Below each is what the command prints, stdout
    and stderr as they come, and `exit N` if it does not exit with 0. The runs' names are RUN, RUN2, … in their order, in the
    commands too, and the ports of servers PORT, PORT2, …; times are TIME and milliseconds MS.

    A command that ends with ` &` runs in the background: once it has printed the lines below it, the next command starts. `$!` is the
    process id of the newest, and after a command that kills it the transcript continues when it is dead."""
    block = example.attached[kind]
    start = put_on_path(tenon, folder) + connect_database(block)
    runs, ports = Placeholders("RUN", RUN_NAME), Placeholders("PORT", PORT)
    lines = []
    backgrounds = []

    def perform(command, count):
        """(what it prints, its exit code)"""
        if command.endswith(" &"):
            backgrounds.append(Background(tenon, start, command[:-2], folder, len(backgrounds)))
            return backgrounds[-1].wait_for_lines(None if update else count), 0
        if backgrounds:
            command = command.replace("$!", str(backgrounds[-1].pid))
        process = tenon.run(["-c", f"{start}{{ {command}\n}} 2>&1"], folder, program="/bin/sh")
        if backgrounds and command.startswith("kill "):
            wait_until(backgrounds[-1].has_ended)
        return process.stdout, process.returncode

    try:
        for line, count in shown_lines(block):
            printed, code = perform(ports.fill(runs.fill(line[2:])), count)
            printed = ports.hide(runs.hide(printed))
            printed = MILLISECONDS.sub("MS", TIME.sub("TIME", printed))
            lines += [line, *without_line_end(printed)] + ([f"exit {code}"] if code else [])
    finally:
        for background in backgrounds:
            background.stop()
    problems = [] if lines == block.lines else ["the transcript differs; it is:\n" + "\n".join(lines)]
    return problems, {kind: lines}
