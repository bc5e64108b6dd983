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
