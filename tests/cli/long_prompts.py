"""Messages that do not fit into the model's context: the turn fails, and the conversation continues."""
import json

from openai_endpoint import KEY, Endpoint, answer
from tenon_process import find_run, tenon

WINDOW = 4000  # characters

PLAIN = '''\
agent Desk {
    instructions { "You are a desk."! }
    fn turn(ctx: Context, input: String) -> String { answer(ctx) }
    fn answer(ctx: Context) -> String {}
}
'''

ASKING = '''\
agent Desk {
    fn turn(ctx: Context, input: String) -> String {
        let more = ask<String>("What else?")
        more!
        answer(ctx)
    }
    fn answer(ctx: Context) -> String {}
}
'''

CAUGHT = '''\
fn say(ctx: Context, text: String) -> String { text! }
fn main(ctx: Context) -> String {
    say(ctx, "x".repeat(5000)) catch f { "{{ f.kind }}" }
}
'''

COMPRESSED = '''\
agent Desk {
    block shorten: compress { keep: %d -> talk }
    block talk: core_loop { prompt: "Answer." }
}
'''


def size_of(body):
    return sum(len(message["content"]) for message in body["messages"])


def windowed(body, window=WINDOW):
    """The reply of a model whose context has so many characters."""
    if size_of(body) > window:
        return {"status": 400, "body": {"error": {"code": "context_length_exceeded", "message": "This is too long."}}}
    text = "\n".join(message["content"] for message in body["messages"])
    return answer("THE SUMMARY" if "Summarise" in text else "fine")


def chat(work, program, lines, *options, window=WINDOW):
    file = work / "program.tn"
    file.write_text(program)
    begin = [file] if "--run" not in options else []
    with Endpoint(lambda body: windowed(body, window)).running() as endpoint:
        process = tenon("chat", *begin, "--model", "openai:mock", "--store", work / "runs.store", *options,
                        stdin=None, input="".join(f"{line}\n" for line in lines),
                        environment={"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": KEY, "NO_PROXY": "127.0.0.1"})
    return process, [body for _, _, body in endpoint.requests]


def sent(bodies):
    return json.dumps(bodies, ensure_ascii=False)


def test_a_message_that_is_too_long_does_not_block_the_conversation(work):
    process, bodies = chat(work, PLAIN, ["hello", "x" * 5000, "one", "two"])
    assert process.stdout == "fine\n" * 3, process
    assert "the prompt does not fit into the context of the model" in process.stderr, process.stderr
    assert "the message was left out of the conversation; a shorter one may fit" in process.stderr, process.stderr
    assert "xxxx" not in sent(bodies[2:]) and "hello" in sent(bodies[3:]), bodies
    assert sent(bodies[3:]).count("A message was left out here") == 1, bodies[3:]
    # The same after a restart, from the snapshot and from the records.
    run = find_run(process.stderr)
    process, bodies = chat(work, PLAIN, ["x" * 5000, "x" * 6000, "three"], "--run", run)
    assert process.stdout == "fine\n", process
    assert "xxxx" not in sent(bodies[2:]) and sent(bodies[2:]).count("A message was left out here") == 2, bodies[2:]
    replayed = tenon("replay", run, "--store", work / "runs.store")
    assert replayed.returncode == 0, replayed


def test_an_answer_of_a_person_that_is_too_long_does_not_block_it_either(work):
    process, bodies = chat(work, ASKING, ["hello", "x" * 5000, "again", "short"])
    assert process.stdout.endswith("fine\n"), process
    assert "xxxx" not in sent(bodies[-1:]), bodies[-1]


def test_the_failure_has_a_kind_of_its_own(work):
    file = work / "program.tn"
    file.write_text(CAUGHT)
    with Endpoint(windowed).running() as endpoint:
        process = tenon("run", file, "--model", "openai:mock",
                        environment={"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": KEY, "NO_PROXY": "127.0.0.1"})
    assert process.stdout == '"ContextFull"\n', process


def test_compress_makes_room_after_a_prompt_that_did_not_fit(work):
    process, bodies = chat(work, COMPRESSED % 10, ["a" * 1500, "b" * 1500, "c" * 1500, "d", "e"])
    assert process.stdout == "fine\n" * 4, process
    last = sent(bodies[-1:])
    assert "THE SUMMARY" in last and "aaaa" not in last and '"d"' in last, last
    # The note is gone with the messages before it.
    assert "left out" not in last, last


def test_compress_summarizes_in_parts_what_does_not_fit_at_once(work):
    first, _ = chat(work, COMPRESSED % 10, ["a" * 1500, "b" * 1500])
    assert first.stdout == "fine\n" * 2, first
    process, bodies = chat(work, COMPRESSED % 10, ["c", "d"], "--run", find_run(first.stderr), window=1200)
    assert process.stdout == "fine\n", process
    assert size_of(bodies[-1]) <= 1200 and "THE SUMMARY" in sent(bodies[-1:]), bodies[-1]
    fitting = [body for body in bodies if size_of(body) <= 1200]
    assert any("aaa [… too long for the model …] aaa" in sent([body]) for body in fitting), fitting
    assert any("bbb [… too long for the model …] bbb" in sent([body]) for body in fitting), fitting


def test_compress_gives_up_where_nothing_fits(work):
    first, _ = chat(work, COMPRESSED % 1, ["a" * 1500])
    process, _ = chat(work, COMPRESSED % 1, ["b"], "--run", find_run(first.stderr), window=50)
    assert process.stdout == "" and "the prompt does not fit" in process.stderr, process
