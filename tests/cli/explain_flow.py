"""`tenon explain-flow`: what is known of calls that act, the way of what is not trusted, exit codes."""
import json

from tenon_process import tenon

PROGRAM = '''\
extern fn read_inbox() -> String
extern fn is_urgent() -> Boolean
extern fn send_mail(to: trusted String, body: String) -> ()
extern(acts) fn clear_inbox() -> ()

fn main(wish: String) {
    let mail = read_inbox()
    send_mail(wish, mail)
    if is_urgent() { clear_inbox() }
    notify("ann")
    notify(mail)
}

fn notify(to: String) { send_mail(to, "look") }
'''


def write(work, text=PROGRAM):
    file = work / "desk.tn"
    file.write_text(text)
    return file


def explain(file, *options):
    process = tenon("explain-flow", file, "--json", *options)
    assert process.returncode == 0 and process.stderr == "", process
    return json.loads(process.stdout)


def test_verdicts_and_ways(work):
    file = write(work)
    sinks = explain(file)
    assert [(sink["line"], sink["column"], sink["name"]) for sink in sinks] == [
        (8, 5, "send_mail"), (9, 22, "clear_inbox"), (14, 25, "send_mail")], sinks
    verdicts = [[(finding["name"], finding["verdict"], finding["sources"]) for finding in sink["findings"]] for sink in sinks]
    assert verdicts == [
        [("send_mail", "proved", []), ("send_mail.to", "proved", [])],
        [("clear_inbox", "refused", ["extern is_urgent"])],
        [("send_mail", "proved", []), ("send_mail.to", "tested", ["extern read_inbox"])]], verdicts
    way = sinks[2]["findings"][1]["way"]
    assert [(step["kind"], step["line"]) for step in way] == [("read", 7), ("passed", 11)], way
    assert all(step["file"].endswith("desk.tn") for step in way), way


def test_text(work):
    file = write(work)
    process = tenon("explain-flow", "desk.tn", "--sink", "clear_inbox", cwd=work)
    assert process.returncode == 0 and process.stderr == "", process
    assert process.stdout == (
        "desk.tn:9:22: `clear_inbox`\n"
        "  whether it is called: refused: depends on extern is_urgent\n"
        "    desk.tn:9:8: `is_urgent` returns it\n"
        "    desk.tn:9:8: it decides what happens\n"), process.stdout
    assert file.exists()


def test_one_sink(work):
    file = write(work)
    names = [finding["name"] for sink in explain(file, "--sink", "send_mail.to") for finding in sink["findings"]]
    assert names == ["send_mail.to", "send_mail.to"], names
    names = [finding["name"] for sink in explain(file, "--sink", "send_mail") for finding in sink["findings"]]
    assert names == ["send_mail", "send_mail.to"] * 2, names


def test_what_is_not_there(work):
    process = tenon("explain-flow", write(work), "--sink", "send_mail.too")
    assert process.returncode == 2 and process.stdout == "", process
    assert "did you mean `send_mail.to`?" in process.stderr, process.stderr
    process = tenon("explain-flow", write(work, "fn main() {}\n"))
    assert process.returncode == 2 and "`trusted` parameter" in process.stderr, process
    process = tenon("explain-flow", write(work, "fn main() -> i32 { wings }\n"))
    assert process.returncode == 1 and "error[E" in process.stderr, process


def diagnostics_of(file, *options):
    process = tenon("check", file, "--json", *options)
    assert process.stderr == "", process
    found = [json.loads(line) for line in process.stdout.splitlines()]
    return process.returncode, [(one["code"], one["line"], one["column"]) for one in found]


def test_check_reports_what_is_not_proved(work):
    file = write(work)
    assert diagnostics_of(file) == (1, [("E2504", 9, 22), ("W2505", 14, 35)])
    assert diagnostics_of(file, "--strict") == (1, [("E2504", 9, 22), ("E2504", 14, 35)])
    only_tested = PROGRAM.replace("if is_urgent() { clear_inbox() }", "")
    assert diagnostics_of(write(work, only_tested)) == (0, [("W2505", 14, 35)])
    assert diagnostics_of(write(work, only_tested), "--strict") == (1, [("E2504", 14, 35)])


def test_a_report_marks_the_way_and_says_what_helps(work):
    text = '''\
extern fn read_inbox() -> String
extern fn send_mail(to: trusted String, body: String) -> ()

fn main(ctx: Context) {
    read_inbox()!
    send_mail(
        _,
        "Thank you."
    )
}
'''
    process = tenon("check", write(work, text).name, cwd=work)
    assert process.returncode == 1 and process.stdout == "", process
    assert process.stderr == '''\
desk.tn:7:9: error[E2504]: words from outside decide `to` of `send_mail`
 7 |         _,
   |         ^
 5 |     read_inbox()!
   |     ------------ they come in here
 6 |     send_mail(
   |     --------- a model answers with them before its eyes
  = hint: decide before you read: move the choice of `to` above line 5
  = hint: let a person look: `to: trusted String else approve`
  = hint: read in a function of its own, called with `Context::new()`: what it returns can be used elsewhere
''', process.stderr


def test_a_person_can_be_trusted(work):
    text = '''\
extern fn send_mail(to: trusted String, body: String) -> ()

agent Desk {
    fn turn(ctx: Context, input: String) -> String {
        send_mail(input, "Thank you.")
        "sent"
    }
}
'''
    process = tenon("check", write(work, text))
    assert process.returncode == 1 and "hint: if the person who talks to the program may decide this: `trust person`" in process.stderr, process
    assert tenon("check", write(work, "trust person\n" + text), "--strict").returncode == 0


def hints_of(work, body):
    text = '''\
extern fn read_inbox() -> String
extern fn send_mail(to: trusted String, body: String) -> ()
fn is_urgent(ctx: Context, mail: String) -> Boolean { mail! }
fn addressee(ctx: Context, mail: String) -> String { mail! }
fn main() {
    let mail = read_inbox()
''' + body + "}\n"
    process = tenon("check", write(work, text), "--json")
    return [json.loads(line)["hints"] for line in process.stdout.splitlines()]


def test_hints_are_given_where_they_help(work):
    assert hints_of(work, 'send_mail(mail, "")') == [
        ["if the program can vouch for what `read_inbox` returns: `-> trusted String`",
         "let a person look: `to: trusted String else approve`"]]
    assert hints_of(work, 'send_mail(addressee(Context::new(), mail), "")') == [
        ["let it be a choice: `addressee` with a result such as `-> trusted \"ann\" | \"bob\"` costs 1 bit",
         "let a person look: `to: trusted String else approve`"]]
    assert hints_of(work, 'if is_urgent(Context::new(), mail) { send_mail("ann", "") }') == [
        ["let the answer be trusted: `is_urgent` with the result `-> trusted Boolean` costs 1 bit",
         "make the call whatever line 7 decides, or decide there by what is trusted",
         "let a person look: `to: trusted String else approve`"]]


def test_what_the_same_words_decide_is_one_report(work):
    text = '''\
use std::react::react

extern fn read_inbox() -> String
extern fn send_mail(to: trusted String, body: String) -> ()

fn main(ctx: Context, wish: String) -> String {
    react<String>(ctx, wish, tools { read_inbox, send_mail })
}
'''
    process = tenon("check", write(work, text), "--json")
    reports = [json.loads(line) for line in process.stdout.splitlines()]
    assert process.returncode == 0, process
    assert [one["message"] for one in reports] == [
        "words from outside may decide whether `send_mail` is called and `to` of `send_mail`"], reports
    assert reports[0]["labels"][0]["text"] == "they come in here", reports


def test_what_becomes_trusted(work):
    text = '''\
extern fn read_inbox() -> String
extern fn send_mail(to: trusted String, body: String) -> ()
extern fn pay(iban: trusted String else approve) -> ()

fn desk(ctx: Context) -> trusted "sales" | "support" { read_inbox()! }

fn address(name: String) -> String { "{{ name }}@example.com" }

fn main(ctx: Context) {
    let mail = read_inbox()
    send_mail(address(desk(ctx)), mail)
    if endorse(mail.len() > 3, "length is harmless") {
        send_mail(approve(mail, "Is this right?"), mail)
    }
    send_mail("ann", mail)
    pay(mail)
}
'''
    file = write(work, text)
    found = [[(finding["name"], finding["verdict"], [(way["kind"], way["line"], way.get("function", way.get("why")), way.get("bits"))
                                                     for way in finding["ways_up"]]) for finding in sink["findings"]]
             for sink in explain(file)]
    narrow = ("narrow", 5, "desk", 1)
    endorsed = ("endorsed", 12, "length is harmless", None)
    assert found == [
        [("desk", "proved", [narrow])],
        [("send_mail", "proved", []), ("send_mail.to", "proved", [narrow])],
        [("send_mail", "proved", [endorsed]), ("send_mail.to", "proved", [("approved", 13, None, None)])],
        [("send_mail", "proved", []), ("send_mail.to", "proved", [])],
        [("pay", "proved", []), ("pay.iban", "asked", [])]], found
    shown = tenon("explain-flow", "desk.tn", "--sink", "send_mail.to", cwd=work).stdout
    assert "    trusted since desk.tn:5:4: narrow answer of `desk`, 1 bit\n" in shown, shown


TRIALS = '''\
extern fn word() -> String
extern fn words() -> List<String>
extern fn sink(text: trusted String) -> ()
fn same(a: String, b: String) { if a != b { fail("no") } }
fn one(w: String, c: String) { same(w, c); sink(c) }
fn twice(w: String, c: String) { sink(c); same(w, c) }
fn all(w: String, people: List<String>) { for p in people { same(w, p); sink(p) } }
'''


def trials_of(work, body):
    shown = explain(write(work, TRIALS + body))
    return [(one["line"], one["trial"]["bits"], [(place["line"], place["sources"]) for place in one["trial"]["may_fail"]])
            for one in shown if "trial" in one]


def test_trials_that_may_cost_bits(work):
    """As the machine charges them (tests/trust)."""
    word = ["extern word"]
    assert trials_of(work, 'fn main(c: String) { one(word(), c) catch _ { } }') == [(8, 1, [(8, word)])]
    assert trials_of(work, 'fn main(c: String) { twice(word(), c) catch _ { } }') == [(8, 2, [(8, word)])], "before and after"
    assert trials_of(work, 'fn main(c: List<String>) { all(word(), c) catch _ { } }') == [(8, None, [(8, word)])]
    assert trials_of(work, 'fn main(c: String) {\n let w = word()\n {\n same(w, c)\n sink(c)\n } catch _ { }\n}') == [
        (11, 1, [(11, word)])], "a block, by what is in it"
    # Nothing that may fail depends on what is not trusted; nothing that acts follows; the failure is not handled.
    for body in ('fn main(c: String) { one("a", c) catch _ { } }', 'fn main(c: String) { same(word(), c) catch _ { }; sink(c) }',
                 'fn main(c: String) { one(word(), c) }', 'fn main(c: String) { let w = word(); sink(c) catch _ { }; same(w, c) }',
                 'fn main(c: String) { { let t = "{{ word() }}!"; sink(c) } catch _ { } }'):
        assert trials_of(work, body) == [], body
    # What a handler takes is not another one's: here it cannot fail again.
    assert trials_of(work, 'fn main(c: String) { { same(word(), c) catch _ { }; sink(c) } catch _ { } }') == []
    shown = tenon("explain-flow", "desk.tn", "--sink", "sink.text", cwd=work).stdout
    assert "what is tried" not in shown, shown


def test_trials_in_words(work):
    write(work, TRIALS + "fn main(c: String) { all(word(), [c]) catch _ { } }")
    shown = tenon("explain-flow", "desk.tn", cwd=work).stdout
    assert shown.endswith("""\
desk.tn:8:26: what is tried may cost a bit each time, and more with the number of its calls that act
  desk.tn:8:22: it may fail because of extern word
"""), shown
