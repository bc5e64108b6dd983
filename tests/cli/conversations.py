"""`tenon chat`: transcripts, failed turns, questions, conversations that are detached and resumed."""
import contextlib
import json
import re
import shlex
import signal
import subprocess

from durable_runs import expect, expect_error
from store_places import new_store
from tenon_process import TENON, find_run, open_wait, read_until, tenon, tenon_at_last

PROGRAM = '''\
agent Shopper {
    state {
        items: List<String> = []
    }

    instructions {
        "{{ state.items.len() }} things"!
    }

    fn turn(ctx: Context, input: String) -> String {
        state.items.push(input)
        if input == "clear" {
            if !ask<Boolean>("Clear?") { fail("kept") }
            state.items = []
        }
        if input == "wait" { sleep(3_600_000) }
        let comment = say(ctx)
        "{{ state.items.join(",") }} {{ comment }}"
    }

    fn say(ctx: Context) -> String { "Comment"! }
}
'''


def write(work, text=PROGRAM, script='Shopper::say => "fine"\n'):
    (work / "model.script").write_text(script)
    file = work / "program.tn"
    file.write_text(text)
    return file


def chat(work, lines, *options, file=None):
    arguments = ["chat", *([file] if file else []), "--model", f"script:{work / 'model.script'}", *options]
    return tenon(*arguments, stdin=None, input=lines)


def name_of(process):
    return re.match(r"tenon: run (\w+)\n", process.stderr)[1]


def prompts(work, trace):
    events = [json.loads(line) for line in (work / trace).read_text().splitlines()]
    return [event["messages"] for event in events if event["type"] == "generation_started"]


def test_a_transcript(work):
    file = write(work)
    process = chat(work, "milk\n\nclear\nfalse\nbread\nclear\ntrue\n", file=file)
    expect(process, 0, "milk fine\nmilk,bread fine\n fine\n")  # a turn that fails changes nothing
    assert f"{file}:13:42: error: kept" in process.stderr and process.stderr.count("Clear? (yes or no): ") == 2, process.stderr


def test_what_the_model_sees(work):
    file = write(work)
    expect(chat(work, "milk\nclear\ntrue\nbread\n", "--trace", work / "trace.jsonl", file=file), 0)
    assert prompts(work, "trace.jsonl")[-1] == [
        {"role": "system", "content": "0 things"}, {"role": "user", "content": "milk"},
        {"role": "assistant", "content": "milk fine"}, {"role": "user", "content": "clear"},
        {"role": "assistant", "content": "Clear?"}, {"role": "user", "content": "true"},
        {"role": "assistant", "content": " fine"}, {"role": "user", "content": "bread"},
        {"role": "user", "content": "Comment"}], prompts(work, "trace.jsonl")[-1]


def test_a_conversation_is_left_and_continued(work):
    file = write(work)
    store = new_store(work, "chats.store")
    first = chat(work, "milk\n", "--store", store, file=file)
    expect(first, 0, "milk fine\n")
    run = name_of(first)
    file.unlink()
    expect(chat(work, "bread\n", "--store", store, "--run", run), 0, "milk,bread fine\n", "")
    trace = work / "trace.jsonl"
    process = chat(work, "clear\n", "--store", store, "--run", run)
    continued = f"  continue with: tenon chat --run {run} --store {shlex.quote(str(store))}\n"
    expect(process, 3, "", "Clear? (yes or no): \n" + continued)
    expect(chat(work, "true\ntea\n", "--store", store, "--run", run, "--trace", trace), 0, " fine\ntea fine\n",
           "Clear? (yes or no): ")
    contents = [message["content"] for message in prompts(work, "trace.jsonl")[-1]]
    assert contents == ["0 things", "milk", "milk fine", "bread", "milk,bread fine", "clear", "Clear?", "true", " fine", "tea",
                        "Comment"], contents
    heads = json.loads(tenon("runs", "--store", store, "--json").stdout)
    assert [(head["state"], head["function"]) for head in heads] == [("idle", "Shopper")], heads


def test_a_turn_that_is_resumed(work):
    file = write(work)
    store = new_store(work, "chats.store")
    run = name_of(chat(work, "clear\n", "--store", store, file=file))
    waits = f"tenon: run {run} waits for the next prompt\n  continue with: tenon chat --run {run} --store {shlex.quote(str(store))}\n"
    expect(tenon("resume", run, "--store", store, "--input", "false"), 1)
    expect(tenon("resume", run, "--store", store), 3, "", waits)
    expect(tenon("resume", run, "--store", store, "--input", "hello"), 2, "", waits)
    expect(chat(work, "clear\n", "--store", store, "--run", run), 3)
    expect(tenon("resume", run, "--store", store, "--wait", open_wait(store, run), "--input", "true"), 0, " fine\n", "")


def test_a_handoff_lasts(work):
    file = write(work, '''\
agent Billing {
    instructions { "billing"! }

    fn turn(ctx: Context, input: String) -> String { say(ctx) }

    fn say(ctx: Context) -> String {}
}

agent Support {
    state { asked: List<String> = [] }

    instructions { "support"! }

    fn turn(ctx: Context, input: String) -> String {
        state.asked.push(input)
        if input == "invoice" { Billing::handoff(input) }
        "support"
    }
}
''', script='Billing::say => "billing"\n')
    store, trace = work / "chats.store", work / "trace.jsonl"
    lines = "hello\ninvoice\nand now?\n"
    expect(chat(work, lines, "--agent", "Support", "--trace", trace, file=file), 0, "support\nbilling\nbilling\n", "")
    assert [[message["content"] for message in prompt] for prompt in prompts(work, "trace.jsonl")] == [
        ["billing", "hello", "support", "invoice"],  # handed off with the user's message: it appears once
        ["billing", "hello", "support", "invoice", "billing", "and now?"]], prompts(work, "trace.jsonl")
    first = chat(work, lines, "--agent", "Support", "--store", store, file=file)
    expect(first, 0, "support\nbilling\nbilling\n")
    expect(chat(work, "still?\n", "--store", store, "--run", name_of(first)), 0, "billing\n", "")


def test_a_conversation_that_does_not_exist(work):
    file = write(work)
    store = new_store(work, "chats.store")
    run = name_of(chat(work, "", "--store", store, file=file))
    assert "waits for the next prompt" in tenon("resume", run, "--store", store).stderr
    expect(chat(work, "tea\n", "--store", store, "--run", run), 0, "tea fine\n")
    expect(tenon("cancel", run, "--store", store), 0, "", "")
    expect_error(chat(work, "tea\n", "--store", store, "--run", run), 1, "was cancelled")


def test_a_changed_file_changes_no_conversation(work):
    file = write(work)
    store = new_store(work, "chats.store")
    run = name_of(chat(work, "milk\n", "--store", store, file=file))
    write(work, PROGRAM.replace("items: List<String>", "things: i32"))
    expect(chat(work, "bread\n", "--store", store, "--run", run), 0, "milk,bread fine\n", "")


def test_state_defaults_and_instructions_have_no_effects(work):
    text = ('agent A {\n    state { n: i32 = ask<i32>("n?") }\n    fn turn(ctx: Context, input: String) -> i32 { state.n }\n}\n'
            'agent B {\n    instructions { "{{ now() }}"! }\n    fn turn(ctx: Context, input: String) -> i32 { 1 }\n}\n')
    file = write(work, text)
    for agent, word in (("A", "the agent's state made a request"), ("B", "the agent's instructions made a request")):
        process = chat(work, "hello\n", "--agent", agent, file=file)
        expect_error(process, 0, word)


def test_instructions_that_return(work):
    text = ('agent A {\n    state { n: i32 = 1 }\n    instructions {\n        "first"!\n        if state.n > 0 { return }\n'
            '        "second"!\n    }\n    fn turn(ctx: Context, input: String) -> String { ctx.text() }\n}\n')
    file = write(work, text)
    process = chat(work, "hello\n", file=file)
    expect(process, 0, None, "")
    assert "first" in process.stdout and "second" not in process.stdout, process.stdout


def test_inputs_of_another_type(work):
    file = write(work, "agent Adder {\n    state { sum: i32 = 0 }\n    fn turn(ctx: Context, input: i32) -> i32 {\n"
                       "        state.sum += input\n        state.sum\n    }\n}\n")
    process = chat(work, "1\nmany\n2\n", file=file)
    expect(process, 0, "1\n3\n")
    assert "the input: expected integer, found the string \"many\"" in process.stderr, process.stderr


def test_which_agent(work):
    file = write(work, PROGRAM + "\nagent Other {\n    fn turn(ctx: Context, input: String) -> String { input }\n}\n")
    expect_error(chat(work, "", file=file), 2, "several agents", "--agent", "Shopper, Other")
    expect_error(chat(work, "", "--agent", "Othr", file=file), 2, "did you mean `Other`?")
    expect(chat(work, "hello\n", "--agent", "Other", file=file), 0, "hello\n", "")
    plain = write(work, "fn main() -> i32 { 1 }\n")
    expect_error(chat(work, "", file=plain), 2, "no agent", "tenon run")


def test_invalid_options(work):
    file = write(work)
    for arguments in (["chat"], ["chat", "--run", "x"], ["chat", file, "--run", "x"], ["chat", "--run", "x", "--store", "y", "--agent", "A"],
                      ["chat", "--store", "y"]):
        process = tenon(*arguments)
        assert process.returncode == 2 and process.stdout == "" and process.stderr, (arguments, process)


def test_a_run_that_is_not_a_conversation(work):
    file = write(work, "fn main() -> Boolean { ask<Boolean>(\"Sure?\") }\n")
    store = new_store(work)
    run = name_of(tenon("run", file, "--model", f"script:{work / 'model.script'}", "--store", store))
    expect_error(chat(work, "hello\n", "--store", store, "--run", run), 1, "is not a conversation")


def test_a_question_with_a_deadline_is_asked_at_once(work):
    (work / "hurried.tn").write_text('agent Clerk {\n    fn turn(ctx: Context, input: String) -> String {\n'
                                     '        "said " + ask_within<String>("Which one?", 600_000)\n    }\n}\n')
    (work / "empty.script").write_text("#\n")
    for store in ([], ["--store", new_store(work, "hurried.store")]):
        process = tenon("chat", work / "hurried.tn", "--model", f"script:{work / 'empty.script'}", *store, stdin=None,
                        input="hi\nthe red one\n")
        assert process.stdout == "said the red one\n" and "Which one? (String): " in process.stderr, process


def test_an_interrupt_only_ends_the_turn(work):
    file = write(work)
    process = subprocess.Popen([TENON, "chat", str(file), "--model", f"script:{work / 'model.script'}"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        process.stdin.write("milk\n")
        process.stdin.flush()
        assert process.stdout.readline() == "milk fine\n"
        process.stdin.write("wait\n")
        process.stdin.flush()
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        output, errors = process.communicate("bread\n", timeout=60)
        assert output == "milk,bread fine\n" and "cancelled" in errors and process.returncode == 0, (output, errors)
    finally:
        process.kill()
        process.wait()


def test_outcomes_of_each_turn_have_their_own_numbers(work):
    (work / "desk.tn").write_text('agent Desk { fn turn(ctx: Context, input: String) -> String { say(ctx, input) } }\n'
                                  'fn say(ctx: Context, input: String) -> String { "Say {{ input }}."! }\n')
    (work / "model.script").write_text('* => "word"\n')
    store = work / "runs.db"
    chat = tenon("chat", work / "desk.tn", "--model", f"script:{work / 'model.script'}", "--store", store, stdin=None, input="a\nb\nc\n")
    assert chat.stdout == "word\nword\nword\n", chat
    run = json.loads(tenon("runs", "--store", store, "--json").stdout)[0]["run"]
    numbers = [int(number) for number in re.findall(r"  \[(\d+)\]$", tenon("trace", "show", run, "--store", store).stdout, re.MULTILINE)]
    assert len(numbers) == 6 and numbers == sorted(set(numbers)), numbers


@contextlib.contextmanager
def open_chat(work, store):
    """A conversation at its prompt, without a terminal; its run."""
    command = [TENON, "chat", str(write(work)), "--model", f"script:{work / 'model.script'}", "--store", store]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, find_run(process.stderr.readline())
        finally:
            process.kill()


def say(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()


def cancel(process, run, store):
    """Cancels an open conversation, which ends."""
    tenon_at_last("cancel", run, "--store", store, "--reason", "enough")
    assert process.wait(60) == 1
    assert "the run was cancelled: enough" in process.stderr.read()


def test_an_open_conversation_takes_answers_and_cancellations_from_others(work):
    store = new_store(work)
    with open_chat(work, store) as (process, run):
        say(process, "clear")
        read_until(process, "Clear? (yes or no): ")
        expect_error(tenon("resume", run, "--store", store, "--input", "perhaps"), 2, "expected yes or no")
        tenon_at_last("resume", run, "--store", store, "--input", "true")
        assert process.stdout.readline() == " fine\n"
        say(process, "milk")
        assert process.stdout.readline() == "milk fine\n"
        cancel(process, run, store)  # while it waits for a line


def test_an_open_question_ends_with_its_conversation(work):
    store = new_store(work)
    with open_chat(work, store) as (process, run):
        say(process, "clear")
        read_until(process, "Clear? (yes or no): ")
        cancel(process, run, store)
