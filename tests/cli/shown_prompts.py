"""`tenon show --as=prompts`: what would be sent, as far as a program says it before a run."""
import json

from prompt_comparison import find_hidden, find_unsent, first_requests, read_prompts
from tenon_process import run_traced, tenon

PROGRAM = '''
/// Takes items out of a mail.
fn items(ctx: Context, mail: String) -> List<String>
    ensures result.len() > 1
    ensures "each item of {{ mail }} is a noun"
{
    "You read mails."!
    "The mail: {{ mail }}"!
    if mail.len() > 40 { "It is long."! }
    for part in mail.split(" ") { "Part: {{ part }}"! }
    "List them."!
}

fn learn(ctx: Context) -> String {
    "Learn these words."!
    for word in ["one", "two"] { "Like {{ word }}"! }
    "Now say one."!
}

fn pay(ctx: Context, sum: i32, to: String) -> String { "paid" }

fn main(ctx: Context) -> String {
    "Pay the bill."!
    items(ctx, "short")
    select {
        pay(ctx, 5, _) as receipt => receipt
        pay(ctx, 10 * 2, _) as receipt => receipt
    }
}
'''

ITEMS = '''\
[user]
<the caller's entries>
You read mails.
The mail: {{ mail }}
(in some runs) It is long.
(in some runs) Part: {{ … }}
List them.
[user]
Your answer must satisfy:
- result.len() > 1
- each item of {{ mail }} is a noun
'''

JUDGE = '''\
completion of `judge`
[user]
Judge whether each of the requirements below is satisfied.
The function: items // Takes items out of a mail.
Its argument mail: {{ … }}
Its value: {{ … }}
Requirements:
'''

LEARN = '''\
[user]
Learn these words.
(in some runs) Like {{ … }}
Now say one.
[text]
'''

SELECT = '''\
[user]
Pay the bill.

Choose tool and provide parameters:
- Execute function and store result as 'receipt': pay(sum: i32, to: String) -> String, with sum = 5
- Execute function and store result as 'receipt': pay(sum: i32, to: String) -> String, with sum = 10 * 2
[user]
'''


PURSUIT = '''
/// Halves it.
fn halve(ctx: Context, n: i32) -> i32 requires n > 1 { n / 2 }
fn less(n: i32, by: i32) -> i32 requires n > 0 { n - by }

fn main(ctx: Context) -> i32 {
    "Count down."!
    pursue |n| n == 0 from 9 limit 9 {
        halve(ctx, _)
        less(_, 1)
    }
}
'''

CHOICE = '''\
select in `choose_action`
(some of these tools, which depends on the run)
[user]
Count down.
The goal: `|n| n == 0`
The present state:
{{ state }}
(in some runs) `{{ … }}` is given {{ … }}
Choose the action that leads to the goal.

Choose tool and provide parameters:
- Execute function and store result as 'chosen': halve(n: i32) -> i32 // Halves it.
- Execute function and store result as 'chosen': less(n: i32) -> i32
[user]
'''

ROUTE = '''
agent Desk {
    block intent: route {
        to bills: "what is to be paid"
        else -> other
    }

    block bills: emit { text: "Bills." }

    block other: emit { text: "Other." }
}
'''

CLASSES = '''\
Which of these fits what the user wants?
- bills: what is to be paid
- none: none of these
'''

BLOCKS = '''
/// Answers customers.
agent Desk {
    state { topic: String = "" }
    instructions {
        "You are the desk of a shop."!
        "It was about: {{ state.topic }}"!
        if state.topic.len() > 9 { "Be brief."! }
    }

    block find: request {
        prompt: "What is this about?"
        into: state.topic
        -> talk
    }

    block talk: request { prompt: help(ctx) }

    fn help(ctx: Context) -> String {
        "Say in one word what to do."!
    }
}

fn main(ctx: Context) -> String { Desk::run("My bill is wrong.") }
'''

INSTRUCTED = '''\
[system]
You are the desk of a shop.
It was about: {{ … }}
(in some runs) Be brief.
[user]
(in some runs) {{ the conversation before }}
{{ input }}
'''

SETS = '''
fn look(name: String) -> String { name }
fn pay(cents: i32) -> String { "paid" }

fn choose(ctx: Context, tools_of_run: Tools) -> String {
    "Choose."!
    select { ..tools_of_run as done => done.tool }
}

fn main(ctx: Context) -> String {
    "Work."!
    choose(ctx, tools { look, pay })
    select { ..(tools { look } + tools { pay }) as done => done.tool }
}
'''

UNKNOWN_SET = '''\
select in `choose`
(and a clause for each tool of sets that are known only in a run; all tools follow below)
[user]
<the caller's entries>
Choose.

'''

KNOWN_SET = '''\
select in `main`
[user]
Work.

Choose tool and provide parameters:
- Execute function and store result as 'done': look(name: String) -> String
- Execute function and store result as 'done': pay(cents: i32) -> String
'''


DOCUMENTED = '''
/// Who takes care of it.
type Team =
    /// Money.
    "billing"
    /// Machines.
    | "tech"

/// How urgent it is.
type Urgency = i32 in 1..=3

/// Files a ticket.
fn file(
    ctx: Context,
    /// The customer's name.
    name: String,
    team: Team,
    urgency: Urgency,
    /// Where to answer.
    reply_to: "mail" | "phone",
) -> String
    requires name != ""
    ensures result != ""
{
    "filed"
}

fn choose(ctx: Context) -> Team { "Which team?"! }

fn main(ctx: Context) -> String {
    choose(ctx)
    file(ctx, _, _, _, _)
}
'''

DOCUMENTED_NOTE = '''\
{
  "name": string,  // The customer's name.
  "team": "billing" (Money.) or "tech" (Machines.),  // Who takes care of it.
  "urgency": integer from 1 to 3,  // How urgent it is.
  "reply_to": "mail" or "phone"  // Where to answer.
}
'''

DOCUMENTED_RESULT = '''\
{
  "value": "billing" (Money.) or "tech" (Machines.)  // Who takes care of it.
}
'''

DOCUMENTED_PROPERTIES = {
    "name": {"type": "string", "description": "The customer's name."},
    "team": {
        "anyOf": [
            {"type": "string", "const": "billing", "description": "Money."},
            {"type": "string", "const": "tech", "description": "Machines."},
        ],
        "description": "Who takes care of it.",
    },
    "urgency": {"type": "integer", "minimum": 1, "maximum": 3, "description": "How urgent it is."},
    "reply_to": {"type": "string", "enum": ["mail", "phone"], "description": "Where to answer."},
}

NAMED = '''
use words::{Named}
use words

/// The heading of the page.
type Title = String
/// The words to look for.
type Words = List<String>
/// How often, if known.
type Count = i32?
type Same = Title
type Brief = Title len 1..=5
/// A pair.
type Pair = (i32, String)
/// Where to put it.
enum Place { Shelf, Box }
/// Where it was.
type Origin = Place

struct Page {
    title: Title
    /// Of the page alone.
    heading: Title
    brief: Brief
    place: Place
}

agent Desk {
    state {
        title: Same = ""
    }
    fn turn(ctx: Context, input: String) -> String { input }
}

fn file(
    title: Title,
    words: Words,
    count: Count,
    titles: List<Title>,
    by_name: Map<Same>,
    other: Same?,
    /// The first page.
    first: Title,
    pair: Pair,
    page: Page,
    named: Named,
    path: words::Path,
    place: Place,
    places: List<Place>,
    origin: Origin,
    /// Not this one.
    another: Place,
) -> String {
    "filed"
}

extern fn send(title: trusted Title) -> String

fn main(ctx: Context) -> String {
    "All of it."!
    file(_, _, _, _, _, _, _, _, _, _, _, _, _, _, _)
    send(_)
}
'''

NAMED_MODULE = '''
/// Of the module.
type Named = Path
/// Where it is.
type Path = String
'''

NAMED_NOTES = ('''\
{
  "title": string,  // The heading of the page.
  "words": [string, …],  // The words to look for.
  "count": integer or null,  // How often, if known.
  "titles": [string, …],  // The heading of the page.
  "by_name": {"(key)": string, …},  // The heading of the page.
  "other": string or null,  // The heading of the page.
  "first": string,  // The first page.
  "pair": [integer, string],  // A pair.
  "page": {
    "title": string,  // The heading of the page.
    "heading": string,  // Of the page alone.
    "brief": string of 1 to 5 characters,  // The heading of the page.
    "place": Place  // Where to put it.
  },
  "named": string,  // Of the module.
  "path": string,  // Where it is.
  "place": Place,  // Where to put it.
  "places": [Place, …],  // Where to put it.
  "origin": Place,  // Where it was.
  "another": Place  // Not this one.
}
Place is "Shelf" or "Box"
''', '''\
{
  "title": string  // The heading of the page.
}
''')


def show_prompts(work, program):
    file = work / "shown.tn"
    file.write_text(program)
    process = tenon("show", file, "--as=prompts")
    assert process.returncode == 0, process
    return process.stdout


def test_a_pursuit_shows_its_actions_and_what_the_caller_has_said(work):
    shown = show_prompts(work, PURSUIT)
    assert CHOICE in shown, shown


def test_doc_comments_of_parameters_types_and_alternatives_are_sent(work):
    shown = show_prompts(work, DOCUMENTED)
    assert DOCUMENTED_NOTE in shown and DOCUMENTED_RESULT in shown, shown
    schemas = [json.loads(line) for line in shown.splitlines() if line.startswith('{"type":"object"')]
    assert DOCUMENTED_PROPERTIES in [schema["properties"] for schema in schemas], shown
    # The formatter may move a doc comment to another line, but not to another declaration.
    assert tenon("fmt", work / "shown.tn").returncode == 0
    formatted = (work / "shown.tn").read_text()
    again = show_prompts(work, formatted)
    assert DOCUMENTED_NOTE in again and DOCUMENTED_RESULT in again, formatted


def test_doc_comments_of_all_types_are_sent_for_fields_and_parameters(work):
    (work / "words.tn").write_text(NAMED_MODULE)
    shown = show_prompts(work, NAMED)
    assert all(note in shown for note in NAMED_NOTES), shown
    schema = next(json.loads(line) for line in shown.splitlines() if line.startswith('{"type":"object"'))
    described = {name: item.get("description") for name, item in schema["properties"].items()}
    assert described["title"] == described["titles"] == described["other"] == "The heading of the page.", described
    assert (described["first"], described["named"], described["path"]) == ("The first page.", "Of the module.", "Where it is.")
    page = schema["properties"]["page"]["properties"]
    assert page["title"] == {"type": "string", "description": "The heading of the page."}, page


def test_doc_comments_of_all_types_are_sent_for_results(work):
    declared = "/// An order's number.\ntype Id = String\n/// The order.\ntype Found = Order\n/// Where.\nenum Place { Shelf, Box }\n" \
               "struct Order { open: Boolean }\n"
    for result, note, schema in (
            ("List<Id>", '{\n  "value": [string, …]  // An order\'s number.\n}\n',
             '"value":{"type":"array","items":{"type":"string"},"description":"An order\'s number."}'),
            ("Id?", '{\n  "value": string or null  // An order\'s number.\n}\n', '"description":"An order\'s number."'),
            ("Found", '{  // The order.\n  "open": true or false\n}\n', '"additionalProperties":false,"description":"The order."}'),
            ("trusted Place", '{\n  "value": "Shelf" or "Box"  // Where.\n}\n', '"description":"Where."')):
        shown = show_prompts(work, f'{declared}fn main(ctx: Context) -> {result} {{ "Which?"! }}\n')
        assert note in shown and schema in shown, shown


def test_a_pursuit_without_given_arguments_shows_no_note_about_them(work):
    shown = show_prompts(work, PURSUIT.replace("less(_, 1)", "half_less(_)") + "fn half_less(n: i32) -> i32 { n - 1 }\n")
    assert "The present state:\n{{ state }}\nChoose the action" in shown, shown


def test_a_route_shows_its_classes(work):
    shown = show_prompts(work, ROUTE)
    assert CLASSES in shown, shown


def test_blocks_and_functions_of_an_agent_are_shown_with_its_instructions(work):
    shown = show_prompts(work, BLOCKS)
    prompts = read_prompts(shown)
    assert {prompt.text.split("`")[1] for prompt in prompts} == {"Desk::find", "Desk::talk", "Desk::help"}, shown
    for prompt in prompts:
        assert INSTRUCTED in prompt.text and "caller's entries" not in prompt.text, prompt.text
    run = run_traced(work / "shown.tn", 'Desk::find => "bill"\nDesk::help => "look"\nDesk::talk => "Done."\n')
    assert run.code == 0, run.errors
    requests = first_requests(run.events)
    assert not find_hidden(prompts, requests) and not find_unsent(prompts, requests), (shown, requests)


def test_sets_of_tools_are_shown_where_they_are_known(work):
    shown = show_prompts(work, SETS)
    assert UNKNOWN_SET in shown and KNOWN_SET in shown, shown


def test_entries_requirements_and_given_arguments_are_shown(work):
    shown = show_prompts(work, PROGRAM)
    assert ITEMS in shown and LEARN in shown and SELECT in shown and JUDGE in shown, shown
    headings = [line for line in shown.splitlines() if ": completion of " in line]
    assert sum("`items`" in line for line in headings) == 1, headings
    assert sum("`judge" in line for line in headings) == 1, headings


def test_literals_are_shown_as_they_are_sent(work):
    file = work / "plain.tn"
    file.write_text('fn main(ctx: Context) -> i32 in 1..=5 {\n    "How many?"!\n    "Say it."!\n}\n')
    shown = tenon("show", file, "--as=prompts").stdout
    run = run_traced(file, "main => {\"value\": 3}", "--show-prompts")
    assert run.code == 0, run.errors
    sent = "".join(f"[{message['role']}]\n{message['content']}\n" for message in run.requests()[0]["messages"])
    assert sent in shown and sent in run.errors, (sent, shown, run.errors)


# Programs whose scripts lead to every prompt that they can send: (name, program, script, the arguments of further runs). A defect of the list
# is a prompt that it shows and that is never sent, or one that is sent and not shown.
COMPLETE = [
    ("a hole of a function with a contract", '''
fn less(n: i32, by: i32) -> i32 requires by < n { n - by }

fn main(ctx: Context) -> i32 {
    "Take some."!
    less(9, _)
}
''', 'less => {"by": 12}, {"by": 3}'),
    ("a hole in a loop, between other calls", '''
fn less(n: i32, by: i32) -> i32 requires by < n { n - by }
fn name(ctx: Context) -> String { "A name?"! }

fn main(ctx: Context) -> String {
    "Take some."!
    let left = 9
    while left > 7 {
        "Left: {{ left }}"!
        left = less(left, _)
    }
    name(ctx)
}
''', 'less => {"by": 1}, {"by": 70}, {"by": 1}\nname => "x"'),
    ("a function that is called with another strategy", '''
fn item(ctx: Context) -> String ensures result.len() > 1 { "An item?"! }

fn main(ctx: Context) -> String {
    "Hello."!
    item(ctx) strategy(best_of: 2)
}
''', 'item => "abc", "ab"'),
    ("a judged contract", '''
/// Writes a line.
fn line(ctx: Context) -> String
    ensures result.len() < 9
    ensures "is polite"
{
    "A line?"!
}

fn main(ctx: Context) -> String { line(ctx) }
''', 'line => "Go away, please", "Hello"\njudge => {"value": [{"holds": true, "reason": null}]}'),
    ("two judged functions", '''
fn line(ctx: Context) -> String ensures "is polite" { "A line?"! }
fn word(ctx: Context) -> String ensures "is short" ensures "is a noun" { "A word?"! }

fn main(ctx: Context) -> String { line(ctx) + word(ctx) }
''', '''line => "Hello"
word => "tea"
judge when "is polite" => {"value": [{"holds": true, "reason": null}]}
judge => {"value": [{"holds": true, "reason": null}, {"holds": true, "reason": null}]}'''),
    ("a pursuit with a choice", '''
fn halve(n: i32) -> i32 requires n > 1 { n / 2 }
fn less(n: i32, by: i32) -> i32 requires n > 0 { n - by }

fn main(ctx: Context) -> i32 {
    "Count down."!
    pursue |n| n == 0 from 2 limit 9 {
        halve(_)
        less(_, 1)
    }
}
''', 'select => {"call": {"function": "halve"}}'),
    ("a pursuit without a choice", '''
fn less(n: i32) -> i32 requires n > 0 { n - 1 }

fn main(ctx: Context) -> i32 {
    "Count down."!
    pursue |n| n == 0 from 2 limit 9 { less(_) }
}
''', ""),
    ("a pursuit of which each state has one action", '''
struct Draft { text: String }
struct Final { text: String }

fn write(topic: String) -> Draft { Draft { text: topic } }
fn finish(draft: Draft) -> Final { Final { text: draft.text } }

fn main(ctx: Context) -> String {
    "Write."!
    let done: Final = pursue |final| final.text.len() > 0 from "tea" limit 9 {
        write(_)
        finish(_)
    }
    done.text
}
''', ""),
    ("two pursuits in a function that is called", '''
fn halve(n: i32) -> i32 requires n > 1 { n / 2 }
fn less(n: i32, by: i32) -> i32 requires n > 0 { n - by }

fn down(ctx: Context, from_n: i32) -> i32 {
    "Count down."!
    let one = pursue |n| n == 1 from from_n limit 9 {
        halve(_)
        less(_, 1)
    }
    "Once more."!
    one + pursue |n| n == 1 from from_n limit 9 {
        halve(_)
        less(_, 2)
    }
}

fn main(ctx: Context) -> i32 {
    "Hello."!
    down(ctx, 3)
}
''', 'select => {"call": {"function": "halve"}}'),
    ("a judged pursuit", '''
/// Makes it louder.
fn shout(text: String) -> String requires "is quiet" { text + "!" }
fn cut(text: String) -> String { text.slice(0, 2) }

fn main(ctx: Context) -> String {
    "Improve it."!
    pursue "is good" from "tea" limit 3 {
        shout(_)
        cut(_)
    }
}
''', '''judge => {"value": [{"holds": true, "reason": null}]}
select => {"call": {"function": "shout"}}''', ["--fn", "shout", "--arg", "text=tea"]),
    ("a search", '''
fn twice(n: i32) -> i32 { n * 2 }
fn more(n: i32) -> i32 { n + 3 }

fn main(ctx: Context) -> i32 {
    "Reach 8."!
    pursue |n| n == 8 from 1 limit 3 width 1 {
        twice(_)
        more(_)
    }
}
''', 'score => {"value": [1, 9]}'),
    ("a search with one action", '''
fn more(n: i32) -> i32 { n + 3 }

fn main(ctx: Context) -> i32 {
    "Reach 7."!
    pursue |n| n == 7 from 1 limit 3 width 2 { more(_) }
}
''', ""),
    ("sets of tools", SETS.replace(
        "    choose(ctx, tools { look, pay })\n", "    let chosen = choose(ctx, tools { look, pay })\n    chosen!\n"),
     'select => {"call": {"function": "look", "arguments": {"name": "x"}}}'),
    ("functions of the library that the program does not call", '''
use std::reflection::reflection

fn main(ctx: Context) -> String {
    "You write."!
    reflection<String>(ctx, "Say hello", 1)
}
''', '''draft => "Hi"
criticize => {"is_good": false, "advice": "Longer"}
improve => "Hello"'''),
    ("what the options of a library function rule out", '''
use std::react::react

fn look(name: String) -> String { name }

fn main(ctx: Context) -> String {
    "Hello."!
    react<String>(ctx, "What is it?", tools { look })
}
''', '''think => "I look it up.", "I know it."
select => {"call": {"function": "look", "arguments": {"name": "x"}}}, {"call": {"function": "finish", "arguments": {"answer": "y"}}}'''),
    ("values that change before a failure", '''
fn one(ctx: Context) -> String { "One?"! }
fn two(ctx: Context) -> String { "Two?"! }
fn three(ctx: Context) -> String { "Three?"! }

fn main(ctx: Context) -> String {
    let is_new = true
    let text = ""
    {
        is_new = false
        text = one(ctx)
    } catch _ {
        if !is_new { text = two(ctx) }
    }
    let is_done = false
    {
        text = one(ctx)
        is_done = true
    } finally {
        if !is_done { text = three(ctx) }
    } catch _ {
        text = "failed"
    }
    text
}
''', '''one => refused "no"
two => "c"
three => "d"'''),
    ("agents", '''
agent Critic {
    instructions { "You are strict." }

    fn turn(ctx: Context, input: String) -> String {
        "Is it good?"!
        if verdict(ctx) == "good" { return "fine" }
        "Say why."!
    }

    fn verdict(ctx: Context) -> "good" | "bad" { "One word."! }

    fn unused(ctx: Context) -> String { "Never."! }
}

fn main(ctx: Context) -> String {
    "Hello."!
    Critic::run("tea")
}
''', '''Critic::verdict => {"value": "bad"}
Critic::turn => "It is cold."'''),
    ("instances that nothing calls", '''
use std::chain_of_thought::chain_of_thought

fn pick<T>(ctx: Context) -> T { "Pick one."! }

fn main(ctx: Context) -> i32 {
    "Hello."!
    pick<i32>(ctx)
}

test "another instance" {
    model { pick => "x" }
    assert pick<String>(Context::new()) == "x"
}
''', 'pick => {"value": 3}'),
    ("a tool whose function asks", '''
fn look(ctx: Context, name: String) -> String {
    "What is this?"!
    name!
}

fn main(ctx: Context) -> String {
    "Work."!
    select { ..(tools { look }) as done => done.tool }
}
''', '''select => {"call": {"function": "look", "arguments": {"name": "x"}}}
look => "a thing"'''),
]


def test_shown_prompts_are_those_that_are_sent(work):
    problems = []
    for name, program, script, *further in COMPLETE:
        file = work / "complete.tn"
        file.write_text(program)
        runs = [run_traced(file, script, *arguments) for arguments in ([], *further)]
        problems += [f"{name}: {run.errors}" for run in runs if run.code != 0]
        prompts = read_prompts(show_prompts(work, program).replace("shown.tn", "complete.tn"))
        requests = [request for run in runs for request in first_requests(run.events)]
        problems += [f"{name}: sent and not shown:\n{prompt}" for prompt in find_hidden(prompts, requests)]
        problems += [f"{name}: shown and not sent:\n{prompt}" for prompt in find_unsent(prompts, requests)]
    assert not problems, "\n\n".join(problems)


def test_a_sent_prompt_that_is_not_shown_is_found(work):
    """The comparison itself: what is shown for one program is not what another one sends."""
    file = work / "complete.tn"
    file.write_text(COMPLETE[0][1])
    requests = first_requests(run_traced(file, COMPLETE[0][2]).events)
    others = read_prompts(show_prompts(work, COMPLETE[0][1].replace("Take some.", "Take all.")).replace("shown.tn", "complete.tn"))
    assert requests and len(find_hidden(others, requests)) == len(requests), others
    assert len(find_unsent(others, requests)) == len(others) == 1, others
