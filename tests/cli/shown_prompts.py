"""`tenon show --as=prompts`: what would be sent, as far as a program says it before a run."""
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


def show_prompts(work, program):
    file = work / "shown.tn"
    file.write_text(program)
    process = tenon("show", file, "--as=prompts")
    assert process.returncode == 0, process
    return process.stdout


def test_a_pursuit_shows_its_actions_and_what_the_caller_has_said(work):
    shown = show_prompts(work, PURSUIT)
    assert CHOICE in shown, shown


def test_a_route_shows_its_classes(work):
    shown = show_prompts(work, ROUTE)
    assert CLASSES in shown, shown


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
