"""run_bench.py [--keep] [NAME]: runs bench/NAME/run, or all of them.

Each is an executable that is started in the repository's root with these variables:
  TENON          the release binary
  TENON_BUILD    the release build's folder
  TENON_RESULTS  where it writes NAME.json: the ratios that it printed, and the versions of both sides (results.py says where)
It measures Tenon and the peer in one run, alternating between them, and exits with 0 unless it could not measure.
"""
import os
import subprocess
import sys

from results import ROOT, take_results_folder


def main():
    arguments = sys.argv[1:]
    results = take_results_folder(arguments)
    only = arguments[0] if arguments else None
    environment = dict(os.environ, TENON=str(ROOT / "build/tenon"), TENON_BUILD=str(ROOT / "build/release"),
                       TENON_RESULTS=str(results))
    scripts = [path for path in sorted(ROOT.glob("bench/*/run")) if only is None or path.parent.name == only]
    if not scripts:
        print(f"no such benchmark: bench/{only or '*'}/run", file=sys.stderr)
        return 2
    failed = []
    for script in scripts:
        print(f"== {script.parent.name}", flush=True)
        if subprocess.run([str(script)], cwd=ROOT, env=environment, check=False).returncode != 0:
            failed.append(script.parent.name)
    print(f"the figures are in {results.relative_to(ROOT)}")
    if failed:
        print(f"could not be measured: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
