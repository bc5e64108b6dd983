"""What a person is asked to approve: at the terminal, over processes, and what is recorded of it."""
from store_places import new_store
from tenon_process import find_run, tenon

PROGRAM = '''\
extern fn read_inbox() -> String
extern fn send_mail(to: trusted String else approve, body: String) -> String

fn value() -> String {
    let to = approve(read_inbox(), "Is this who writes?")
    send_mail(to, "Thank you.")
}

fn call() -> String { send_mail(read_inbox(), "Thank you.") }

fn endorsed() -> String { send_mail(endorse(read_inbox(), "a test"), "Thank you.") }
'''
TOOLS = '''
def read_inbox(): return "eve"
def send_mail(to: str, body: str): return f"to {to}: {body}"
'''


def write(work):
    (work / "tools.py").write_text(TOOLS)
    (work / "model.script").write_text("")
    (work / "program.tn").write_text(PROGRAM)


def run(work, function, *options, answers=None):
    typed = {"input": answers, "stdin": None} if answers else {}
    return tenon("run", work / "program.tn", "--fn", function, "--model", f"script:{work / 'model.script'}", "--extern", work / "tools.py",
                 *options, **typed)



def test_answers_at_the_terminal(work):
    write(work)
    answers = {"yes\n": "to eve: Thank you.", "ann\n": "to ann: Thank you.", '"ann"\n': "to ann: Thank you.", "\nYES\n": "to eve: Thank you."}
    for answer, expected in answers.items():
        process = run(work, "value", answers=answer)
        assert process.returncode == 0 and process.stdout == expected + "\n", (answer, process)
        assert 'Is this who writes?\n  "eve", which depends on extern read_inbox\n(yes, no, or another String): ' in process.stderr, process.stderr
    refused = run(work, "value", answers="no\n")
    assert refused.returncode == 1 and "a person does not approve of the value" in refused.stderr, refused


def test_a_call_is_approved_over_processes(work):
    write(work)
    store = new_store(work, "approvals.store")
    begun = run(work, "call", "--store", store)
    assert begun.returncode == 3, begun
    assert 'Call `send_mail`?' in begun.stderr and '{"to":"eve","body":"Thank you."}' in begun.stderr, begun.stderr
    name = find_run(begun.stderr)
    listed = tenon("runs", "--store", store).stdout
    assert '{"to":"eve","body":"Thank you."}' in listed, listed
    wrong = tenon("resume", name, "--store", store, "--extern", work / "tools.py", "--input", '{"to": "ann"}')
    assert wrong.returncode != 0 and "body" in wrong.stderr, wrong
    done = tenon("resume", name, "--store", store, "--extern", work / "tools.py", "--input", '{"to": "ann", "body": "Hello"}')
    assert done.returncode == 0 and done.stdout == "to ann: Hello\n", done
    replayed = tenon("replay", name, "--store", store)
    assert replayed.returncode == 0, replayed
    (work / "artifacts.json").write_text(tenon("trace", "artifacts", name, "--store", store).stdout)
    rebuilt = tenon("trace", "reconstruct", work / "artifacts.json", work / "program.tn", "--hash")
    assert rebuilt.returncode == 0 and rebuilt.stdout == tenon("trace", "hash", name, "--store", store).stdout, rebuilt


def test_what_is_not_seen_is_shown(work):
    """A text from outside cannot make a question look like another one; lines stay as they are."""
    (work / "tools.py").write_text('def word(): return "eve\\u202Enna\\u200B"\ndef sink(text: str): pass\n')
    (work / "model.script").write_text("")
    (work / "program.tn").write_text('''\
extern fn word() -> String
extern fn sink(text: trusted String) -> ()

fn main() { sink(approve(word(), "To {{ word() }}?\\nSure? \\u{2066}")) }
fn named() -> String { ask<String>("Who is {{ word() }}?") }
''')
    question = "To eve\\u{202E}nna\\u{200B}?\nSure? \\u{2066}"
    value = '"eve\\u{202E}nna\\u{200B}"'
    asked = run(work, "main", answers="yes\n")
    assert asked.returncode == 0 and f"{question}\n  {value}, which depends on extern word\n" in asked.stderr, asked.stderr
    store = new_store(work, "approvals.store")
    waits = run(work, "main", "--store", store).stderr
    assert question in waits and value in waits, waits
    listed = tenon("runs", "--store", store).stdout
    assert question in listed and value in listed, listed
    shown = tenon("trace", "show", find_run(waits), "--store", store).stdout
    assert "eve\\u{202E}nna" in shown, shown
    named = run(work, "named", answers="ann\n").stderr
    assert "Who is eve\\u{202E}nna\\u{200B}?" in named, named
    for text in (asked.stderr, waits, listed, shown, named):
        assert not set(text) & set("\u202E\u200B\u2066"), text


def test_a_refused_call_is_not_made(work):
    write(work)
    store = new_store(work, "approvals.store")
    name = find_run(run(work, "call", "--store", store).stderr)
    done = tenon("resume", name, "--store", store, "--extern", work / "tools.py", "--input", "no")
    assert done.returncode == 1 and "a person does not approve of the call of `send_mail`" in done.stderr, done


def test_a_project_says_whom_it_trusts(work):
    write(work)
    assert run(work, "endorsed").stdout == "to eve: Thank you.\n"
    (work / "tenon.toml").write_text("[trust]\nendorse = false\n")
    refused = run(work, "endorsed")
    assert refused.returncode == 1 and "error[E2515]: the project does not allow `endorse`" in refused.stderr, refused
    checked = tenon("check", work / "program.tn")
    assert checked.returncode == 1 and "E2515" in checked.stderr, checked
    (work / "library.tn").write_text('use std::guarded::guarded\n\nfn main(ctx: Context) -> String {\n    guarded<String>(ctx, "", tools { main })\n}\n')
    assert "E2515" not in tenon("check", work / "library.tn").stderr
    (work / "std").mkdir()
    (work / "std" / "own.tn").write_text('fn main() -> String { endorse("a", "b") }\n')
    assert "E2515" in tenon("check", "std/own.tn", cwd=work).stderr, "a folder of that name is not the standard library"
    (work / "person.tn").write_text('extern fn pay(to: trusted String) -> ()\n\nfn main() { pay(ask<String>("To whom?")) }\n')
    assert "E2504" in tenon("check", work / "person.tn").stderr
    (work / "tenon.toml").write_text("[trust]\nperson = true\n")
    trusted = tenon("check", work / "person.tn")
    assert trusted.returncode == 0 and "E2504" not in trusted.stderr, trusted


def test_a_cancelled_branch_does_not_wait_for_an_approval(work):
    """Not even where the call itself, once made, would be waited for."""
    write(work)
    (work / "program.tn").write_text('''\
extern fn read_inbox() -> String
extern(once) fn send_mail(to: trusted String else approve, body: String) -> String

fn late() -> String {
    sleep(300)
    fail("too late")
}

fn main() -> String {
    let sent = parallel {
        mail = send_mail(read_inbox(), "Thank you.")
        other = late()
    } catch f { return f.message }
    sent.mail
}
''')
    done = run(work, "main", "--store", new_store(work, "approvals.store"))
    assert done.returncode == 0 and done.stdout == "too late\n", done


def test_a_question_is_forgotten_with_the_branch_that_has_asked_it(work):
    """What its `finally` block asks a model is not taken for the answer."""
    write(work)
    notes = work / "notes"
    (work / "tools.py").write_text(TOOLS + f"""
def transfer(to: str): return "sent"
def note(text: str):
    with open({str(notes)!r}, "a") as file: file.write(text + "\\n")
""")
    (work / "model.script").write_text('* => "the words of a model"\n')
    (work / "program.tn").write_text('''\
extern fn read_inbox() -> String
extern fn note(text: String) -> ()
extern fn send_mail(to: trusted String else approve, body: String) -> String
extern(once) fn transfer(to: trusted String else approve) -> String

fn late() -> String {
    sleep(300)
    fail("too late")
}

fn word(ctx: Context) -> String { "Why?"! }

fn call(to: String, once: Boolean) -> String {
    if once { return transfer(to) }
    send_mail(to, "Thank you.")
}

fn main(once: Boolean) -> String {
    let mail = read_inbox()  // before the time runs in which the question is asked
    let sent = parallel {
        mail = call(mail, once) finally { note(word(Context::new())) }
        other = late()
    } catch f { return f.message }
    sent.mail
}
''')
    for once in ("false", "true"):
        store = new_store(work, f"approvals_{once}.store")
        done = run(work, "main", "--arg", f"once={once}", "--store", store)
        assert done.returncode == 0 and done.stdout == "too late\n", done
        assert notes.read_text() == "the words of a model\n", once
        notes.unlink()
        name = find_run(done.stderr)
        replayed = tenon("replay", name, "--store", store)
        assert replayed.returncode == 0 and replayed.stdout == "too late\n", replayed
        shown = tenon("trace", "flow", name, "--store", store).stdout
        assert "Call `" in shown and "dropped without an answer" in shown, shown


def test_a_later_turn_sees_that_a_value_was_approved_and_not_the_value(work):
    write(work)
    (work / "program.tn").write_text('''\
extern fn read_inbox() -> String

agent Desk {
    fn turn(ctx: Context, input: String) -> String {
        if input == "show" { return ctx.text() }
        approve(read_inbox(), "Is this right?").len().to_string()
    }
}
''')
    options = ("--extern", work / "tools.py", "--model", f"script:{work / 'model.script'}")
    talk = tenon("chat", work / "program.tn", *options, input="first\nyes\nsecond\nann\nthird\nno\nshow\n", stdin=None)
    shown = talk.stdout[talk.stdout.rindex("first"):]
    assert "eve" not in shown and "yes" in shown and "ann" in shown and "no" in shown, talk
