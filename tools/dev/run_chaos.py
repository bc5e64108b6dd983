"""run_chaos.py [--keep] [NAME]: runs the long and violent tests, or one of them. What .ci/run has of each is its short form.

Each prints `N passed, N failed` at its end, or what GoogleTest prints. Its figures are written to chaos.json (results.py says where):
how many passed, in how many seconds, and what it has counted itself: a line `figures: {…}`.
"""
import json
import os
import re
import subprocess
import sys
import time

from results import ROOT, take_results_folder

# The command and what it does.
CHAOS = {
    "kills": (["tests/durability/run", "--long"], "real processes that are killed, or whose disk calls fail, at every write"),
    "simulation": (["build/release/tests/simulation/simulation", "--long"], "10,000 seeds of the simulator"),
    "trust": (["env", "TENON_TRUST_PROGRAMS=10000", "build/release/tests/trust/tests_trust",
               "--gtest_filter=Interference.*:TwoWorlds.*:*HoldInTheMachine"],
              "10,000 programs that must not lose a label, and their proofs"),
    "postgres": (["tests/several_servers/run", "--long"], "servers on one PostgreSQL store that are killed, stopped or cut off"),
    "hour": (["tests/several_servers/run", "--hour"], "two servers on one PostgreSQL store under load for an hour"),
    "ray": (["tests/ray/run", "--long"], "nodes, hosts, gateways and services of a Ray cluster that are killed"),
}


def main():
    arguments = sys.argv[1:]
    results = take_results_folder(arguments) / "chaos.json"
    wanted = arguments or list(CHAOS)
    unknown = [name for name in wanted if name not in CHAOS]
    if unknown:
        print(f"./dev chaos: no part is named `{unknown[0]}`; there are:", file=sys.stderr)
        for name, (_, meaning) in CHAOS.items():
            print(f"  {name:<12}{meaning}", file=sys.stderr)
        return 2
    environment = dict(os.environ, TENON=str(ROOT / "build/tenon"), TENON_BUILD=str(ROOT / "build/release"), PYTHONFAULTHANDLER="1")
    passed = failed = 0
    for name in wanted:
        command, meaning = CHAOS[name]
        print(f"== {name}: {meaning}", flush=True)
        started = time.monotonic()
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace")
        counts, counted = None, {}
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith("figures: "):
                counted.update(json.loads(line.removeprefix("figures: ")))
            counts = re.match(r"(?:\w+: )?(\d+) passed, (\d+) failed", line) or re.match(r"\[  PASSED  \] (\d+)() tests?", line) or counts
        code = process.wait()
        one = (int(counts[1]), int(counts[2] or 0)) if counts else (0, 1)
        one = (one[0], max(one[1], 1 if code else 0))
        passed, failed = passed + one[0], failed + one[1]
        kept = json.loads(results.read_text()) if results.exists() else {}  # of other parts, which may run at the same time
        kept[name] = {"passed": one[0], "failed": one[1], "seconds": round(time.monotonic() - started), **counted}
        results.write_text(json.dumps(kept, indent=2) + "\n")
    print(f"the figures are in {results.relative_to(ROOT)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
