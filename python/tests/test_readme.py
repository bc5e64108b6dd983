"""The example of the README."""
import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def test_the_example_prints_what_its_comments_say(tmp_path, monkeypatch, capsys):
    blocks = dict(reversed(re.findall(r"^```(tenon|script|python)\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)))
    (tmp_path / "example.tn").write_text(blocks["tenon"])
    (tmp_path / "model.script").write_text(blocks["script"])
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks["python"], "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", blocks["python"], re.MULTILINE)
