"""A contract stops an answer that can no longer satisfy it: the model's server does not get to send the rest."""
import http.server
import json
import threading
import time

from tenon_process import serve, tenon

PROGRAM = '''\
fn words(ctx: Context, most: i32) -> String
    ensures result.len() <= most
    strategy(repair: 1)
{
    "Words"!
}

fn numbers(ctx: Context) -> List<i32>
    ensures result.all(|n| n < 10)
    strategy(repair: 1)
{
    "Numbers"!
}

fn ends_well(ctx: Context) -> String
    ensures result.ends_with("end")
    strategy(repair: 0)
{
    "To the end"!
}
'''
PIECES_MAX = 200


class Endless:
    """An OpenAI endpoint that streams the first answer as long as the client reads, and sends the second one completely."""

    def __init__(self, first, then, second):
        self.pieces = 0
        self.prompts = []
        self.is_cut = threading.Event()
        endless = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def say(self, text, finish=None):
                chunk = {"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [
                    {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}]}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()

            def do_POST(self):  # noqa: N802
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endless.prompts.append(body["messages"])
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                try:
                    if len(endless.prompts) > 1:
                        self.say(second)
                    else:
                        self.say(first)
                        for _ in range(PIECES_MAX):
                            self.say(then)
                            endless.pieces += 1
                            time.sleep(0.02)
                    self.say("", "stop")
                    self.wfile.write(b"data: [DONE]\n\n")
                except (BrokenPipeError, ConnectionResetError):
                    endless.is_cut.set()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        serve(self.server)

    def run(self, work, function, *arguments):
        file = work / "program.tn"
        file.write_text(PROGRAM)
        environment = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"http://127.0.0.1:{self.server.server_address[1]}/v1"}
        return tenon("run", file, "--fn", function, "--model", "openai:m", *arguments, environment=environment)


def test_a_text_that_is_too_long_is_cut_off(work):
    endless = Endless("one ", "two ", "short")
    process = endless.run(work, "words", "--arg", "most=40")
    assert (process.returncode, process.stdout) == (0, "short\n"), process
    assert endless.is_cut.wait(5) and endless.pieces < PIECES_MAX / 2, endless.pieces
    sent = [message["content"] for message in endless.prompts[1]]
    assert any("`result.len() <= most`" in text for text in sent), sent
    assert any(text.startswith("one two") and len(text) < 200 for text in sent), sent


def test_a_list_is_cut_off_after_the_item_that_violates_the_contract(work):
    endless = Endless('{"value": [1, 2, 77, ', "3, ", '{"value": [4]}')
    process = endless.run(work, "numbers")
    assert (process.returncode, process.stdout) == (0, "[4]\n"), process
    assert endless.is_cut.wait(5) and endless.pieces < PIECES_MAX / 2, endless.pieces


def test_conditions_that_can_still_hold_are_awaited(work):
    endless = Endless("once ", "more ", "")
    process = endless.run(work, "ends_well")
    assert process.returncode == 1 and "ends_with" in process.stderr, process
    assert endless.pieces == PIECES_MAX and not endless.is_cut.is_set(), endless.pieces
