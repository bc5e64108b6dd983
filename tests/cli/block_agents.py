"""Agents that are graphs of blocks, over several turns and processes: where the next turn starts, what a loop keeps in its context, what
the model sees of the conversation, and how a newer program continues it.
"""
from conversations import name_of
from durable_runs import expect, expect_error
from take_over import Place

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

def clock(work, next_turn, program=ENDING, script=""):
    place = Place(work)
    (work / "model.script").write_text(script)
    return place, place.file("clock", program % next_turn)


ANSWER = 'select => {"call": {"function": "answer", "arguments": {"text": "Still noon."}}}\n'
CALLS = 'select => {"call": {"function": "time_of", "arguments": {"city": "Rome"}}}, ' \
        '{"call": {"function": "answer", "arguments": {"text": "Noon."}}}, ' \
        '{"call": {"function": "answer", "arguments": {"text": "Still noon."}}}\n'


def test_resume_goes_on_in_the_loop_and_keeps_what_it_has_seen(work):
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


def test_restart_begins_at_the_start(work):
    place, program = clock(work, "restart", script=CALLS)
    begun = place.chat("What time is it in Rome?\nAnd now?\n", program, "--show-prompts")
    expect(begun, 0, "Noon.\nStill noon.\n")
    assert "Tell times. blank!" in begun.stderr
    assert "Tell times. blank!!" not in begun.stderr, "each turn has a new scratchpad"


def test_what_surrounds_a_turn_runs_when_the_choice_fails(work):
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


def test_what_a_person_says_can_be_edited_for_all_turns(work):
    program = '''\
agent Editor {
    block mend: edit_message {
        text: input.replace("secret", "[left out]")
        -> answer_it
    }
    block answer_it: request { prompt: "Answer." }
}
'''
    place = Place(work)
    (work / "model.script").write_text('Editor::answer_it => "Yes."\n')
    begun = place.chat("my secret\nand now?\n", place.file("editor", program), "--show-prompts")
    expect(begun, 0, "Yes.\nYes.\n")
    assert "my [left out]" in begun.stderr and "my secret" not in begun.stderr, begun.stderr


def test_older_messages_become_a_summary(work):
    program = '''\
agent Memory {
    block shorten: compress {
        keep: 2
        pinned: |text| text.contains("remember")
        -> answer_it
    }
    block answer_it: request { prompt: "Answer." }
}
'''
    place = Place(work)
    (work / "model.script").write_text('Memory::answer_it => "Yes."\nMemory::shorten_summary => "THE SUMMARY"\n')
    begun = place.chat("remember seven\nforget this\nthird\nfourth\n", place.file("memory", program), "--show-prompts")
    expect(begun, 0, "Yes.\nYes.\nYes.\nYes.\n")
    last = begun.stderr[begun.stderr.rindex("answer_it"):]
    assert "THE SUMMARY" in last and "remember seven" in last and "fourth" in last, last
    assert "forget this" not in last, last
