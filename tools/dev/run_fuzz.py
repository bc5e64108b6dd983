"""run_fuzz.py [SECONDS] [NAME]: runs the libFuzzer programs of fuzz/, each for that long (60 s by default).

The fuzzer starts with the inputs in fuzz/corpus/NAME and adds interesting ones to build/fuzz/corpus/NAME. Inputs that crash, hang
(over 5 s) or take more than 2 GB are saved in fuzz/regressions/NAME, which every `./dev test` replays without libFuzzer.
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    arguments = sys.argv[1:]
    seconds = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 60
    only = arguments[0] if arguments else None
    names = sorted(path.name.removesuffix("_fuzz.cpp") for path in (ROOT / "fuzz").glob("*_fuzz.cpp"))
    if only is not None and only not in names:
        print(f"unknown fuzz target '{only}'; available: {', '.join(names)}", file=sys.stderr)
        return 2
    passed = failed = 0
    for name in names if only is None else [only]:
        seeds, corpus = ROOT / "fuzz/corpus" / name, ROOT / "build/fuzz/corpus" / name
        regressions = ROOT / "fuzz/regressions" / name
        seeds.mkdir(parents=True, exist_ok=True)
        corpus.mkdir(parents=True, exist_ok=True)
        regressions.mkdir(parents=True, exist_ok=True)
        before = set(regressions.iterdir())
        command = [str(ROOT / "build/fuzz" / f"fuzz_{name}"), str(corpus), str(seeds), str(regressions),
                   f"-max_total_time={seconds}", "-timeout=5", "-rss_limit_mb=2048", "-print_final_stats=1",
                   f"-artifact_prefix={regressions}/"]
        dictionary = ROOT / "fuzz" / f"{name}.dict"
        if dictionary.exists():
            command.append(f"-dict={dictionary}")
        print(f"== {name}: {seconds} s", flush=True)
        log = ROOT / "build/fuzz" / f"{name}.log"
        with log.open("w") as output:
            code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=dict(os.environ), check=False).returncode
        lines = log.read_text(errors="replace").splitlines()
        if code == 0:
            passed += 1
            print("\n".join(line for line in lines if "number_of_executed_units" in line or "peak_rss_mb" in line))
        else:
            failed += 1
            print("\n".join(lines[-60:]))
            for find in sorted(set(regressions.iterdir()) - before):
                print(f"saved: {find.relative_to(ROOT)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
