"""Commands of ./dev, where everything is installed and a build takes no time."""
import contextlib
import json
import re
import sys

from sandbox import ROOT, expect, sandbox

# The build's programs are made by CMake.
CMAKE = """
mkdir -p build/release
touch build/release/build.ninja
for program in build/tenon build/release/fetch_model; do
  echo 'echo [1, 2]' >$program
  chmod +x $program
done
"""
TAKES = "./dev: {}. From nothing, this takes about {} minutes on two processors, "


@contextlib.contextmanager
def project():
    with sandbox() as machine:
        machine.add("dpkg-query", "echo -n installed")
        machine.add("cargo", "echo cargo 1.95.0")
        machine.add("rustc", "echo rustc 1.95.0")
        machine.add("cmake", CMAKE)
        machine.add("python3")
        yield machine


def test_what_a_command_takes_is_said_first():
    for command, why, minutes in (("demo", "nothing is built here yet", 8), ("test", "the tests have not run here yet", 20)):
        with project() as machine:
            output, code = machine.run(f"./dev {command}")
            expect(code == 0 and output.startswith(TAKES.format(why, minutes)), output)
            expect("GB in build/ and" in output and "GB in ~/.cache/tenon, which" in output, output)
            (machine.root / "build/release/test_reports").mkdir()
            output, _ = machine.run(f"./dev {command}")
            expect("From nothing" not in output, output)


def test_the_demo_says_what_to_do_next():
    with project() as machine:
        output, code = machine.run("./dev demo 2>shown && cat shown")
        expect(code == 0 and 'export PATH="$PWD/build:$PATH"' in output and "docs/guides/tutorial.md" in output, output)
        (example,) = re.findall(r"tenon chat (\S+)", output)
        expect("\nagent " in (ROOT / example).read_text() and "[1, 2]" not in (machine.root / "shown").read_text(), output)
        machine.add("cmake", f"{CMAKE}\necho exit 1 >build/tenon")
        (machine.root / "build/release/build.ninja").unlink()
        output, code = machine.run("./dev demo")
        expect(code == 1 and "next" not in output, output)


def test_figures_are_part_of_the_repository_only_if_they_are_kept():
    commands = {"bench": ("#!/bin/sh\necho [1] >$TENON_RESULTS/some.json\n", "bench/some/run", "some.json"),
                "chaos kills": ("#!/bin/sh\necho 2 passed, 0 failed\n", "tests/durability/run", "chaos.json")}
    for command, (text, path, figures) in commands.items():
        with project() as machine:
            machine.add("python3", f'exec {sys.executable} "$@"')
            runner = machine.root / path
            runner.parent.mkdir(parents=True)
            runner.write_text(text)
            runner.chmod(0o755)
            folders = {"": "build/bench/results", "--keep": "bench/results"}
            for option, folder in folders.items():
                output, code = machine.run(f"./dev {command} {option}")
                expect(code == 0 and f"the figures are in {folder}" in output, output)
                expect(json.loads((machine.root / folder / figures).read_text()), output)
                expect((machine.root / "bench/results").exists() == bool(option), output)
