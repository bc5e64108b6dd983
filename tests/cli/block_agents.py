"""Agents that are graphs of blocks, over several turns and processes: where the next turn starts, what a loop keeps in its context, what
the model sees of the conversation, and how a newer program continues it.
"""
import json

from conversations import name_of
from durable_runs import expect, expect_error
from openai_endpoint import answer as endpoint_answer, run as endpoint_run
from program_upgrades import Place
from tenon_process import tenon

ENDING = '''\
/// Tells the time of a city.
fn time_of(city: String) -> String { "{{ city }}: noon" }

agent Clock {
    state { asked: i32 = 0 }
    scratchpad { note: String = "blank" }
    next_turn %s

    block count: set {
        state.asked += 1
        scratchpad.note = scratchpad.note + "!"
        -> talk
    }
    /// Tells times.
    block talk: core_loop {
        prompt: "Tell times. {{ scratchpad.note }}"
        tools: tools { time_of }
    }
}
'''


def prepare(work, name, text, script=""):
    """The folder of a test, and the program in it."""
    place = Place(work)
    (work / "model.script").write_text(script)
    return place, place.file(name, text)


def clock(work, next_turn, program=ENDING, script=""):
    return prepare(work, "clock", program % next_turn, script)


ANSWER = 'select => {"call": {"function": "answer", "arguments": {"text": "Still noon."}}}\n'
CALLS = 'select => {"call": {"function": "time_of", "arguments": {"city": "Rome"}}}, ' \
        '{"call": {"function": "answer", "arguments": {"text": "Noon."}}}, ' \
        '{"call": {"function": "answer", "arguments": {"text": "Still noon."}}}\n'


def test_resume_continues_the_loop_with_its_calls(work):
    place, program = clock(work, "resume", script=CALLS)
    begun = place.chat("What time is it in Rome?\n", program, "--show-prompts")
    expect(begun, 0, "Noon.\n")
    run = name_of(begun)
    (work / "model.script").write_text(ANSWER)
    again = place.chat("And now?\n", "--run", run, "--show-prompts")
    expect(again, 0, "Still noon.\n")
    # The model still sees the call of the first turn; the block before the loop was not executed again.
    seen = [again.stderr.find(words) for words in ("What time is it in Rome?", "Rome: noon", "\nNoon.", "And now?")]
    assert seen == sorted(seen) and -1 not in seen, f"it is where it happened: {again.stderr}"
    assert "Tell times. blank!" not in again.stderr, "the scratchpad of the first turn is gone"


def test_restart_starts_at_the_start_block(work):
    place, program = clock(work, "restart", script=CALLS)
    begun = place.chat("What time is it in Rome?\nAnd now?\n", program, "--show-prompts")
    expect(begun, 0, "Noon.\nStill noon.\n")
    assert "Tell times. blank!" in begun.stderr
    assert "Tell times. blank!!" not in begun.stderr, "each turn has a new scratchpad"


def test_pre_and_post_turn_run_when_the_choice_fails(work):
    around = ENDING.replace("    block count:", """    pre_turn { block before: emit { text: "before" } }
    post_turn { block after: emit { text: "after" } }
    block count:""")
    script = CALLS + 'Clock::choose_next_turn => unreachable\n'
    place, program = clock(work, "smart", program=around, script=script)
    begun = place.chat("What time is it in Rome?\nAnd now?\n", program)
    assert begun.stdout == "before\n\nNoon.\n\nafter\nbefore\n\nafter\n", begun
    assert "clock.tn:7:15" in begun.stderr, f"the choice has the location of `smart`: {begun.stderr}"


def test_smart_asks_with_a_reason(work):
    script = CALLS + 'Clock::choose_next_turn => {"reason": "a new question", "continues": false}\n'
    place, program = clock(work, "smart", script=script)
    begun = place.chat("What time is it in Rome?\nSomething else\n", program, "--show-prompts")
    expect(begun, 0, "Noon.\nStill noon.\n")
    assert "a new question" in begun.stderr and "(Tells times.)" in begun.stderr, begun.stderr


def test_a_newer_program_may_change_the_scratchpad_and_the_blocks(work):
    place, program = clock(work, "resume", script=CALLS)
    run = name_of(place.chat("What time is it in Rome?\n", program))
    (work / "model.script").write_text(ANSWER)
    newer = place.file("newer", (ENDING % "resume").replace('note: String = "blank"', "note: String = \"new\"\n        count: i32 = 0"))
    went_on = place.chat("And now?\n", newer, "--run", run, "--show-prompts")
    expect(went_on, 0, "Still noon.\n")
    assert "Rome: noon" in went_on.stderr, "what the loop has seen stays"
    changed = place.file("changed", (ENDING % "resume").replace("asked: i32 = 0", "asked: String = \"\"").replace("state.asked += 1", ""))
    expect_error(place.chat("?\n", changed, "--run", run), 1, "`asked` was `i32` and is now `String`", "struct ClockBefore { asked: i32 }")


def test_a_users_message_can_be_edited_for_all_turns(work):
    program = '''\
agent Editor {
    block mend: edit_message {
        text: input.replace("secret", "[left out]")
        -> answer_it
    }
    block answer_it: request { prompt: "Answer." }
}
'''
    place, file = prepare(work, "editor", program, 'Editor::answer_it => "Yes."\n')
    begun = place.chat("my secret\nand now?\n", file, "--show-prompts")
    expect(begun, 0, "Yes.\nYes.\n")
    assert "my [left out]" in begun.stderr and "my secret" not in begun.stderr, begun.stderr


MEMORY = '''\
agent Memory {
    block shorten: compress {
        keep: %d
        pinned: |text| text.contains("remember")
        -> answer_it
    }
    block answer_it: request { prompt: "Answer." }
}
'''


def remember(work, keep, *messages):
    script = 'Memory::answer_it => "Yes."\nMemory::shorten_summary => "THE SUMMARY"\n'
    place, file = prepare(work, "memory", MEMORY % keep, script)
    begun = place.chat("".join(f"{message}\n" for message in messages), file, "--show-prompts")
    expect(begun, 0, "Yes.\n" * len(messages))
    return begun


def test_older_messages_become_a_summary(work):
    begun = remember(work, 2, "remember seven", "forget this", "third", "fourth")
    last = begun.stderr[begun.stderr.rindex("answer_it"):]
    assert "THE SUMMARY" in last and "remember seven" in last and "fourth" in last, last
    assert "forget this" not in last, last


HANDOFF = '''\
agent Billing {
    state { asked: i32 = 0 }
    block answer_it: emit { text: "It is paid." }
}
agent Support {
    state { log: List<String> = [] }
    post_turn { block note: emit { text: "I have left." } }
    block greet: emit {
        text: "I ask Billing."
        -> leave
    }
    block leave: delegate {
        agent: Billing
        handoff: true
    }
}
'''


def test_a_handed_off_answer_is_shown_once_after_emitted_text(work):
    place, program = prepare(work, "handoff", HANDOFF)
    emitted = "I ask Billing.\n\nI have left.\n\nIt is paid.\n"
    expect(place.chat("Is it paid?\nAnd now?\n", program, "--agent", "Support"), 0, emitted + "It is paid.\n")
    plain = tenon("chat", program, "--agent", "Support", "--model", f"script:{work / 'model.script'}", stdin=None,
                  input="Is it paid?\n", cwd=work)
    expect(plain, 0, emitted)


GROWING = '''\
/// Reads a page of the handbook.
fn page(number: i32) -> String { "Page {{ number }}: " + "all about the joint of a beam and its peg. ".repeat(40) }

agent Reader {
    next_turn resume
    %s
    block talk: core_loop {
        prompt: "Answer from the handbook."
        tools: tools { page }
        %s
    }
}
'''


def prompt_sizes(work, before, option):
    """The characters that the model is sent for the last generation of each of twelve turns, in each of which it has called a tool."""
    calls = ", ".join(f'{{"call": {{"function": "page", "arguments": {{"number": {turn}}}}}}}, '
                      f'{{"call": {{"function": "answer", "arguments": {{"text": "Answer {turn}."}}}}}}' for turn in range(12))
    script = f'select => {calls}\nReader::shrink_summary => "THE SUMMARY"\n'
    place, program = prepare(work, "reader", GROWING % (before, option), script)
    talk = place.chat("".join(f"Question {turn}?\n" for turn in range(12)), program, "--show-prompts")
    expect(talk, 0, "".join(f"Answer {turn}.\n" for turn in range(12)))
    sizes, prompts = [], talk.stderr.split("\n── ")[1:]
    for turn in range(12):
        prompt = next(p for p in prompts if f"Answer {turn}." in p[p.rindex("[answer]"):])
        sizes.append(len(prompt))
    return sizes, prompts


def test_a_loop_that_keeps_all_calls_grows(work):
    sizes, _ = prompt_sizes(work, "", "")
    assert sizes[-1] > 8 * sizes[0], sizes


def test_compress_summarizes_the_calls_of_a_loop(work):
    sizes, prompts = prompt_sizes(work, "pre_turn { block shrink: compress { keep: 3 } }", "")
    assert max(sizes[4:]) < 4 * sizes[0], sizes
    last = prompts[-1]
    assert "THE SUMMARY" in last and "Question 11?" in last and "Page 11:" in last and "Page 5:" not in last, last
    # The summary is made of what is dropped, each thing once, and of the summary before.
    summaries = [prompt for prompt in prompts if "shrink_summary" in prompt.splitlines()[0]]
    assert len(summaries) == 10, len(summaries)
    for turn in range(11):
        with_page = [prompt for prompt in summaries if f"Page {turn}:" in prompt]
        assert len(with_page) == (1 if turn < 10 else 0), (turn, len(with_page))
    assert "THE SUMMARY" in summaries[1][:summaries[1].rindex("[answer]")] and "Question 11?" not in summaries[-1], summaries[-1]


def test_keep_calls_evicts_the_oldest_calls(work):
    sizes, prompts = prompt_sizes(work, "", "keep_calls: 2")
    assert max(sizes) < 4 * sizes[0], sizes
    assert "Page 9:" in prompts[-1] and "Page 10:" in prompts[-1] and "Page 8:" not in prompts[-1], prompts[-1]
    assert "Question 0?" in prompts[-1], "messages stay"


def test_pinned_messages_are_not_summarized(work):
    begun = remember(work, 1, "remember seven", "forget this", "third")
    summaries = [prompt for prompt in begun.stderr.split("\n── ") if prompt.startswith("Memory::shorten_summary")]
    assert len(summaries) == 2, begun.stderr
    assert "remember seven" not in "".join(summaries) and "third" not in "".join(summaries), summaries
    assert "forget this" in summaries[1] and "forget this" not in summaries[0], summaries


def test_smart_sees_the_doc_comments_of_both_blocks(work):
    documented = ENDING.replace("    block count:", "    /// Counts what was asked.\n    block count:")
    script = CALLS + 'Clock::choose_next_turn => {"reason": "the same", "continues": true}\n'
    place, program = clock(work, "smart", program=documented, script=script)
    begun = place.chat("What time is it in Rome?\nAnd now?\n", program, "--show-prompts")
    expect(begun, 0, "Noon.\nStill noon.\n")
    assert "(Tells times.)" in begun.stderr and "`count` (Counts what was asked.)" in begun.stderr, begun.stderr


def test_drafts_differ_in_their_sampling(work):
    program = '''\
agent Writer {
    block write: reflect {
        mode: synthesize
        prompt: "Write a line."
        count: 3
    }
}
fn main() -> String { Writer::run("Go") }
'''
    process, endpoint = endpoint_run(work, [endpoint_answer(f"draft {n}") for n in range(4)], program=program)
    assert process.returncode == 0, process
    bodies = [body for _, _, body in endpoint.requests]
    drafts = [body for body in bodies if not any("These are drafts" in json.dumps(message) for message in body["messages"])]
    assert len(bodies) == 4 and len(drafts) == 3, bodies
    assert len({body["seed"] for body in drafts}) == 3 and {body["temperature"] for body in drafts} == {0.7}, drafts
    again, repeated = endpoint_run(work, [endpoint_answer(f"draft {n}") for n in range(4)], program=program)
    assert again.returncode == 0, again
    seeds = sorted(body["seed"] for _, _, body in repeated.requests)
    assert seeds == sorted(body["seed"] for body in bodies), "the seeds are those of the run before"


HANDING_BACK = '''\
agent Support {
    state { asked: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.asked += 1
        if input.contains("invoice") { Billing::handoff(input) }
        "Support {{ state.asked }}"
    }
}
agent Billing {
    state { asked: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.asked += 1
        if input.contains("back") { Support::handoff(input) }
        if input.contains("fail") { fail("on purpose") }
        "Billing {{ state.asked }}"
    }
}
'''


def test_an_agent_that_gets_the_turn_back_has_its_state(work):
    place, program = prepare(work, "desk", HANDING_BACK)
    begun = place.chat("hello\ninvoice\nmore\n", program, "--agent", "Support")
    expect(begun, 0, "Support 1\nBilling 1\nBilling 2\n")
    run = name_of(begun)
    # In another process, which reads it from the store.
    expect(place.chat("back\ninvoice\n", "--run", run), 0, "Support 3\nBilling 4\n")
    failed = place.chat("fail\nagain\nback\n", "--run", run)
    assert failed.stdout == "Billing 5\nSupport 5\n" and "on purpose" in failed.stderr, failed
    replayed = tenon("replay", run, "--store", place.store)
    assert replayed.returncode == 0, replayed
    artifacts = tenon("trace", "artifacts", run, "--store", place.store)
    (work / "artifacts.json").write_text(artifacts.stdout)
    rebuilt = tenon("trace", "reconstruct", work / "artifacts.json", program, "--hash")
    assert rebuilt.returncode == 0 and rebuilt.stdout == tenon("trace", "hash", run, "--store", place.store).stdout, rebuilt


def test_a_newer_program_reads_the_states_of_all_agents(work):
    place, program = prepare(work, "desk", HANDING_BACK)
    run = name_of(place.chat("hello\ninvoice\n", program, "--agent", "Support"))
    same = place.file("same", HANDING_BACK.replace('"Support {{', '"The support {{'))
    expect(place.chat("back\ninvoice\n", same, "--run", run), 0, "The support 3\nBilling 3\n")
    changed = place.file("changed", HANDING_BACK.replace('state { asked: i32 = 0 }\n    fn turn(ctx: Context, input: String) -> String {\n'
                                                         '        state.asked += 1\n        if input.contains("invoice")',
                                                         'state { asked: String = "" }\n    fn turn(ctx: Context, input: String) -> String {\n'
                                                         '        if input.contains("invoice")'))
    expect_error(place.chat("?\n", changed, "--run", run), 1, "the state of `Support` changed in the new program", "`asked` was `i32` and is now `String`")


def test_a_block_may_have_any_name_that_blocks_use(work):
    file = work / "names.tn"
    for name in ("ctx", "input", "state", "scratchpad", "emit", "judged", "turn", "say"):
        file.write_text(f"agent A {{\n    block {name}: request {{\n        prompt: \"x\"\n        -> other\n    }}\n    block other: route {{\n"
                        f"        when \"it is late\" -> last\n        else -> {name}\n    }}\n    block last: emit {{ text: input }}\n}}\n")
        process = tenon("check", file)
        assert process.returncode == 0, (name, process)


def test_an_unknown_format_of_a_report_is_one_error(work):
    file = work / "report.tn"
    for value in ('"pdf"', "docx"):
        file.write_text(f"agent A {{\n    block b: report {{\n        template: \"x\"\n        format: {value}\n    }}\n}}\n")
        errors = tenon("check", file).stderr
        assert errors.count("error[") == 1 and "`format` must be `markdown`, `html` or `pdf`" in errors, errors
