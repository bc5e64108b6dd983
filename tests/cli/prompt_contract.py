"""The exact prompts for completions, holes and `select`, in both styles."""
from tenon_process import run_traced

PROGRAM = '''\
/// Pours water into a glass.
fn pour(ctx: Context, millilitres: i32 in 1..=500) -> String {
    "poured"!
    return "{{ millilitres }} ml"
}

/// Asks the guest.
fn ask_guest(ctx: Context, question: String) -> String {
    question!
}

fn serve(ctx: Context, wish: String) -> String {
    "You serve water."!
    wish!
    let done = select {
        pour(ctx, _) as glass => glass,
        ask_guest(ctx, _) as answer => answer,
        else => "nothing"
    }
    return done
}

fn top_up(ctx: Context) -> String {
    "The glass is half empty."!
    let first = inner(ctx)
    first!
    pour(ctx, _)
}

fn inner(ctx: Context) -> String {
    "seen by inner alone"!
    "How full is it?"!
}

fn loop(ctx: Context) -> () {
    let i = 0
    while i < 2 {
        "turn {{ i }}"!
        let thirsty = is_thirsty(ctx)
        if thirsty { "thirsty in turn {{ i }}"! }
        i += 1
    }
}

fn is_thirsty(ctx: Context) -> Boolean { "Thirsty?"! }
'''

FILL = ('Give the missing arguments of this call, based on the context above:\n'
        'pour(millilitres: i32 in 1..=500) -> String // Pours water into a glass.\n'
        'Missing: millilitres\nAnswer with JSON alone, of this form:\n{"millilitres": integer from 1 to 500}')


def prompts(work, script, *arguments):
    file = work / "program.tn"
    file.write_text(PROGRAM)
    traced = run_traced(file, script, *arguments)
    assert traced.code == 0, traced.errors
    return traced.output, [[message["content"] for message in event["messages"]] for event in traced.requests()]


def equal(given, expected):
    assert given == expected, f"sent:\n{given}\nexpected:\n{expected}"


def test_select_in_the_style_slides(work):
    output, sent = prompts(work, 'select => {"call": {"function": "pour", "choice": 0, "arguments": {"millilitres": 200}}}',
                           "--fn", "serve", "--arg", "wish=A small glass", "--prompts", "slides")
    equal(sent, [["You serve water.\nA small glass\n\nChoose tool and provide parameters:\n"
                  "- Execute function and store result as 'glass'\n- Execute function and store result as 'answer'\n"
                  "- None of these"]])
    equal(output, "200 ml\n")


def test_select_names_signatures_and_documentation(work):
    script = ('select => {"call": {"function": "ask_guest", "choice": 1, "arguments": {"question": "How much?"}}}\n'
              'ask_guest => "a lot"')
    output, sent = prompts(work, script, "--fn", "serve", "--arg", "wish=Water")
    equal(sent[0][0], "You serve water.\nWater\n\nChoose tool and provide parameters:\n"
          "- Execute function and store result as 'glass': pour(millilitres: i32 in 1..=500) -> String // Pours water into a glass.\n"
          "- Execute function and store result as 'answer': ask_guest(question: String) -> String // Asks the guest.\n"
          "- None of these")
    equal(len(sent[0]), 2)
    equal(sent[1], ["You serve water.\nWater\nHow much?"])
    equal(output, "a lot\n")


def test_the_request_for_a_hole_is_a_separate_message(work):
    script = 'inner => "half"\npour => {"millilitres": 250}'
    for style in ("slides", "default"):
        output, sent = prompts(work, script, "--fn", "top_up", "--prompts", style)
        equal(sent, [["The glass is half empty.\nseen by inner alone\nHow full is it?"],
                     ["The glass is half empty.\nhalf", FILL]])
        equal(output, "250 ml\n")


def test_blocks_inject_into_the_function(work):
    _, sent = prompts(work, 'is_thirsty => {"value": true}, {"value": false}', "--fn", "loop", "--prompts", "slides")
    equal(sent, [["turn 0\nThirsty?"], ["turn 0\nthirsty in turn 0\nturn 1\nThirsty?"]])


def test_the_form_of_a_typed_answer_is_a_separate_message(work):
    _, sent = prompts(work, 'is_thirsty => {"value": true}', "--fn", "is_thirsty")
    equal(sent, [["Thirsty?", 'Answer with JSON alone, of this form:\n{"value": true or false}']])
