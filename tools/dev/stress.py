"""Runs test programs and runners many times beside a load, and prints how often each passed.

stress.py PRESET [NAME] [N]: NAME is a module with unit tests (`runtime`), or a runner's folder (`tests/server`, or `server` if no module
has that name); without it, all of them. The load are two busy processes and one that writes to the disk. They end with this process.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import run_tests

# A process that ends when its parent does, also when that is killed.
BUSY = "import os\np = os.getppid()\nwhile os.getppid() == p:\n    sum(range(100_000))\n"
WRITING = """
import os, sys
p = os.getppid()
with open(sys.argv[1], 'wb') as file:
    while os.getppid() == p:
        file.seek(0)
        for _ in range(16):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
"""


def names_of_programs(preset):
    output = subprocess.run(["ctest", "--test-dir", str(run_tests.ROOT / "build" / preset), "--show-only=json-v1"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    return [test["name"] for test in json.loads(output)["tests"]]


def find_tests(preset, wanted):
    """Pairs of a name and a function that runs the test once."""
    programs = [(name, lambda name=name: run_tests.run_programs(preset, f"^{re.escape(name)}$", jobs=1)[0])
                for name in names_of_programs(preset)]
    runners = [(str(path.parent.relative_to(run_tests.ROOT)),
                lambda path=path: run_tests.run_runner(path, run_tests.runner_environment(preset)))
               for path in run_tests.find_runners(separate=bool(wanted))] if preset == "release" else []
    if not wanted:
        return programs + runners
    return ([one for one in programs if one[0] == wanted] or
            [one for one in runners if one[0] in (wanted, f"tests/{wanted}")])


def main():
    preset = sys.argv[1]
    wanted = "" if len(sys.argv) < 3 or sys.argv[2] == "all" else sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    tests = find_tests(preset, wanted)
    if not tests:
        print(f"./dev stress: no test is named `{wanted}`", file=sys.stderr)
        return 2
    kept = run_tests.ROOT / "build" / preset / "stress"
    kept.mkdir(parents=True, exist_ok=True)
    results = []
    with tempfile.TemporaryDirectory(dir=kept) as folder:
        load = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
        load.append(subprocess.Popen([sys.executable, "-c", WRITING, os.path.join(folder, "load")]))
        try:
            for name, run in tests:
                passed = 0
                for number in range(1, rounds + 1):
                    outcome = run()
                    if outcome.failures:
                        (kept / f"{name.replace('/', '_')}.{number}.txt").write_text(outcome.output)
                        print(*outcome.failures, sep="\n", flush=True)
                    else:
                        passed += 1
                results.append((name, passed))
        finally:
            for process in load:
                process.kill()
                process.wait()
    for name, passed in results:
        print(f"{name}: {passed} of {rounds}")
    failed = sum(1 for _, passed in results if passed < rounds)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
