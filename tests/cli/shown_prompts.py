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


def test_entries_requirements_and_given_arguments_are_shown(work):
    file = work / "bills.tn"
    file.write_text(PROGRAM)
    process = tenon("show", file, "--as=prompts")
    assert process.returncode == 0, process
    assert ITEMS in process.stdout and LEARN in process.stdout and SELECT in process.stdout, process.stdout
    headings = [line for line in process.stdout.splitlines() if ": completion of " in line]
    assert sum("`items`" in line for line in headings) == 1, headings
    assert sum("`judge" in line for line in headings) <= 2, headings


def test_literals_are_shown_as_they_are_sent(work):
    file = work / "plain.tn"
    file.write_text('fn main(ctx: Context) -> i32 in 1..=5 {\n    "How many?"!\n    "Say it."!\n}\n')
    shown = tenon("show", file, "--as=prompts").stdout
    run = run_traced(file, "main => {\"value\": 3}", "--show-prompts")
    assert run.code == 0, run.errors
    sent = "".join(f"[{message['role']}]\n{message['content']}\n" for message in run.requests()[0]["messages"])
    assert sent in shown and sent in run.errors, (sent, shown, run.errors)
