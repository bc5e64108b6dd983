"""`tenon chat` in a real terminal: streamed answers, hidden input, Ctrl-C, budgets of the manifest."""
import codecs
import http.server
import json
import os
import pty
import re
import select
import signal
import subprocess
import threading
import time

from tenon_process import TENON, serve, tenon

SECONDS_MAX = 60
PROGRAM = '''\
extern fn keep(secret word: String)

agent Talker {
    state { turns: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.turns += 1
        if input == "twice" { return line(ctx) + line(ctx) }
        if input == "sure" { return "{{ ask<Boolean>("Sure?") }}" }
        if input == "password" {
            let password = ask<secret String>("Password?")
            return "taken"
        }
        "Answer."!
    }
    fn line(ctx: Context) -> String { "Tell."! }
}
'''


class Model(http.server.BaseHTTPRequestHandler):
    """An OpenAI endpoint that streams word by word."""
    cuts = []  # the answers that are cut off in the middle, one per entry
    may_continue = threading.Event()  # until it is set, an answer stops after its first word

    def log_message(self, *_):
        pass

    def do_POST(self):  # pylint: disable=invalid-name
        try:
            self.answer()
        except BrokenPipeError:
            pass  # the turn was cancelled

    def answer(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        words = ["Sl", "ow", "ly ", "said."]
        cut = Model.cuts.pop() if Model.cuts else None
        for at, word in enumerate(words):
            if cut == at:
                self.connection.close()
                return
            chunk = {"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [
                {"index": 0, "delta": {"content": word}, "finish_reason": None}]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()
            Model.may_continue.wait(20)
        end = {"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [
            {"index": 0, "delta": {}, "finish_reason": "stop"}]}
        self.wfile.write(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode())


class Terminal:
    """`tenon chat` in a pseudo-terminal; `seen` is everything that it wrote to the screen."""

    def __init__(self, work, *options, program=PROGRAM):
        Model.cuts = []
        Model.may_continue.set()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        self.server.daemon_threads = True
        serve(self.server)
        (work / "keep.c").write_text("void keep(const char* word) { (void)word; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", work / "libkeep.so", work / "keep.c"], check=True)
        file = work / "program.tn"
        file.write_text(program)
        environment = {**os.environ, "OPENAI_API_KEY": "none", "TERM": "dumb",
                       "OPENAI_BASE_URL": f"http://127.0.0.1:{self.server.server_address[1]}/v1"}
        arguments = [TENON, "chat", *([str(file)] if "--run" not in options else []), "--model", "openai:m", "--extern",
                     str(work / "libkeep.so"), *map(str, options)]
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execve(TENON, arguments, environment)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.seen = ""

    def read(self, seconds):
        """Reads what comes within this time; false once the program has closed the terminal and everything was read."""
        if select.select([self.file], [], [], seconds)[0]:
            try:
                self.seen += self.decoder.decode(os.read(self.file, 4096))
            except OSError:
                return False
        return True

    def until(self, words):
        """Reads until the words appear, after the previous match."""
        start = len(self.seen) if not hasattr(self, "mark") else self.mark
        end = time.monotonic() + SECONDS_MAX
        while words not in self.seen[start:]:
            assert time.monotonic() < end and self.read(0.1), f"{words!r} did not come: {self.seen!r}"
        self.mark = self.seen.index(words, start) + len(words)
        return self.seen[start:self.mark]

    def type(self, text):
        os.write(self.file, text.encode())

    def end(self):
        """Reads the rest. Returns the exit code."""
        end = time.monotonic() + SECONDS_MAX
        while self.read(0.1):
            assert time.monotonic() < end, f"it continues: {self.seen!r}"
        self.server.shutdown()
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < end, f"it has closed its terminal and continues: {self.seen!r}"
            time.sleep(0.01)


def test_pieces_arrive_while_they_are_written(work):
    terminal = Terminal(work)
    terminal.until("> ")
    Model.may_continue.clear()
    terminal.type("hello\n")
    terminal.until("Sl")
    Model.may_continue.set()
    terminal.until("owly said.")
    terminal.until("> ")
    assert terminal.seen.count("said.") == 1, terminal.seen
    terminal.type("\x04")
    assert terminal.end() == 0


def test_only_the_turns_answer_is_streamed(work):
    terminal = Terminal(work)
    terminal.until("> ")
    terminal.type("twice\n")
    terminal.until("Slowly said.Slowly said.\r\n")
    terminal.until("> ")
    assert terminal.seen.count("Slowly") == 2, terminal.seen
    terminal.type("\x04")
    assert terminal.end() == 0


def test_a_new_attempt_voids_what_was_shown(work):
    terminal = Terminal(work)
    terminal.until("> ")
    Model.cuts = [2]
    terminal.type("hello\n")
    terminal.until("Slow")
    terminal.until("[the answer starts again]")
    terminal.until("Slowly said.")
    terminal.until("> ")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_a_secret_is_not_shown_while_it_is_typed(work):
    terminal = Terminal(work, "--store", work / "chats.store")
    terminal.until("> ")
    terminal.type("password\n")
    terminal.until("Password? (secret String): ")
    terminal.type("hunter2-typed\n")
    terminal.until("taken")
    assert "hunter2" not in terminal.seen, terminal.seen
    terminal.until("> ")
    terminal.type("sure\n")
    terminal.until("Sure? (yes or no): ")
    terminal.type("true\n")
    terminal.until("true\r\n")
    assert terminal.seen.count("true\r\n") >= 1, "what is no secret is shown"
    terminal.until("> ")
    terminal.type("\x04")
    assert terminal.end() == 0
    for file in work.iterdir():
        assert b"hunter2" not in file.read_bytes(), file


def test_ctrl_c_ends_the_turn_and_then_the_chat(work):
    store = work / "chats.store"
    terminal = Terminal(work, "--store", store)
    run = re.search(r"tenon: run (\w+)", terminal.until("> "))[1]
    terminal.type("hello\n")
    terminal.until("said.")
    terminal.until("> ")
    Model.may_continue.clear()
    terminal.type("slow\n")
    terminal.until("Sl")
    terminal.type("\x03")
    terminal.until("[the text above is not part of the conversation]")
    terminal.until("the turn was cancelled: interrupted")
    terminal.until("> ")
    Model.may_continue.set()
    terminal.type("\x03")
    terminal.until(f"continue with: tenon chat --run {run} --store {store}")
    assert terminal.end() == 130
    again = Terminal(work, "--run", run, "--store", store)
    again.until("> ")
    again.type("\x03")
    again.until("press Ctrl-C again, or Ctrl-D, to exit")
    again.until("> ")
    again.type("hello\n")
    again.until("said.")
    again.until("> ")
    again.type("\x04")
    assert again.end() == 0, "one Ctrl-C at the prompt is forgotten with the next line"


def test_ctrl_c_at_a_question(work):
    terminal = Terminal(work, "--store", work / "chats.store")
    terminal.until("> ")
    terminal.type("sure\n")
    terminal.until("Sure? (yes or no): ")
    terminal.type("\x03")
    terminal.until("\r\nerror: the turn was cancelled: interrupted")
    terminal.until("> ")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_ctrl_d_says_how_to_continue(work):
    store = work / "chats.store"
    terminal = Terminal(work, "--store", store)
    run = re.search(r"tenon: run (\w+)", terminal.until("> "))[1]
    terminal.type("\x04")
    terminal.until(f"\r\n  continue with: tenon chat --run {run} --store {store}\r\n")
    assert terminal.end() == 0
    asked = Terminal(work, "--run", run, "--store", store)
    asked.until("> ")
    asked.type("sure\n")
    asked.until("Sure? (yes or no): ")
    asked.type("\x04")
    asked.until(f"\r\n  continue with: tenon chat --run {run} --store {store}\r\n")
    assert asked.end() == 3
    unnamed = Terminal(work)
    unnamed.until("> ")
    unnamed.type("\x04")
    assert unnamed.end() == 0 and unnamed.seen.endswith("> \r\n"), unnamed.seen


def test_the_manifests_budget_bounds_a_turn(work):
    file = work / "program.tn"
    file.write_text('agent Busy {\n    fn turn(ctx: Context, input: String) -> String { for i in 0..3 { say(ctx) }\n'
                    '        "done" }\n    fn say(ctx: Context) -> String { "Say"! }\n}\n')
    (work / "model.script").write_text('Busy::say => "word"\n')
    (work / "tenon.toml").write_text("[budget]\ncalls = 2\n")
    process = tenon("chat", file, "--model", f"script:{work / 'model.script'}", stdin=None, input="a\nb\n")
    assert process.returncode == 0 and process.stderr.count("budget") >= 2 and process.stdout == "", process
    more = tenon("chat", file, "--model", f"script:{work / 'model.script'}", "--budget", "calls=3", stdin=None, input="a\n")
    assert more.returncode == 0 and more.stdout == "done\n", more


def test_answers_cannot_control_the_terminal(work):
    program, script = work / "program.tn", work / "model.script"
    program.write_text('fn esc(ctx: Context) -> String { "x"! }\n')
    script.write_text('esc => "\\u001b[31mred\\u0007 größe"\n')
    arguments = ["run", program, "--fn", "esc", "--model", f"script:{script}", "--show-prompts"]
    pid, file = pty.fork()
    if pid == 0:
        os.execve(TENON, [TENON, *map(str, arguments)], os.environ)
    seen = b""
    try:
        while select.select([file], [], [], SECONDS_MAX)[0] and (piece := os.read(file, 4096)):
            seen += piece
    except OSError:
        pass  # the other side is closed
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    text = seen.decode()
    assert "\x1b" not in text and "\x07" not in text, repr(text)
    assert text.count("[31mred\ufffd größe") == 2, repr(text)
    assert tenon(*arguments).stdout == "\x1b[31mred\x07 größe\n"
