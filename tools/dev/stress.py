"""Runs test programs and runners many times beside a load, as many at once as `./dev test` does, and prints how often each passed. The
outputs of what failed are in build/PRESET/stress, and so is `passed.txt`, which is written after each round.

stress.py PRESET [NAME] [N]: NAME is a module with unit tests (`runtime`), or a runner's folder (`tests/server`, or `server` if no module
has that name); without it, all of them. The load are two busy processes and one that writes to the disk. They end with this process.
"""
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


def find_tests(preset, wanted):
    programs = run_tests.find_programs(preset)
    runners = run_tests.find_runners(preset, separate=bool(wanted)) if preset == "release" else []
    if not wanted:
        return programs + runners
    return ([one for one in programs if one.base_name == wanted] or
            [one for one in runners if one.base_name in (f"{wanted}/run", f"tests/{wanted}/run")])


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
    passed = {test.name: 0 for test in tests}
    with tempfile.TemporaryDirectory(dir=kept) as folder:
        load = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
        load.append(subprocess.Popen([sys.executable, "-c", WRITING, os.path.join(folder, "load")]))
        try:
            for number in range(1, rounds + 1):
                for test, outcome in run_tests.run_all(tests):
                    passed[test.name] += not outcome.failures
                    if outcome.failures:
                        (kept / f"{re.sub('[/ ]', '_', test.name)}.{number}.txt").write_text(outcome.output)
                        print(*outcome.failures, sep="\n", flush=True)
                lines = [f"{name}: {count} of {number}" for name, count in sorted(passed.items())]
                (kept / "passed.txt").write_text("\n".join(lines) + "\n")
                print(f"round {number} of {rounds} has ended", flush=True)
        finally:
            for process in load:
                process.kill()
                process.wait()
    print(*lines, sep="\n")
    failed = sum(1 for count in passed.values() if count < rounds)
    print(f"{len(passed) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
