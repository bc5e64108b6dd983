"""What `tenon check` reports of a program that a test gives as a text."""
import json

from tenon_process import tenon


def check(work, text, others, *options):
    """`tenon check` of a file with the text; `others`: names and texts of further files in its folder."""
    for name, content in [("main.tn", text), *others]:
        (work / name).write_text(content)
    return tenon("check", work / "main.tn", *options)


def messages(work, text, others=()):
    """The messages and hints, as people see them."""
    return check(work, text, others).stderr


def diagnose(work, text, others=()):
    """(code, hints, the replacement of the fix or None) of each diagnostic except notes, in order."""
    process = check(work, text, others, "--json")
    assert process.returncode in (0, 1), process
    diagnostics = [json.loads(line) for line in process.stdout.splitlines()]
    return [(one["code"], " ".join(one.get("hints", [])), (one.get("fix") or {}).get("replacement"))
            for one in diagnostics if one["severity"] != "note"]


def single(work, text, code, hint, fix=None, others=()):
    """Checks that one mistake is reported, with that hint."""
    found = diagnose(work, text, others)
    assert len(found) == 1 and found[0][0] == code and hint in found[0][1] and found[0][2] == fix, found
