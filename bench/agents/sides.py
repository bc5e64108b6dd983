"""The two sides. Each performs one run at a time against a base URL."""
import json
import os
import pathlib
import resource
import subprocess
import time

import tasks

FOLDER = pathlib.Path(__file__).resolve().parent
TENON = os.environ.get("TENON", "build/tenon")
SECONDS_MAX = 300
PROGRAMS = {"react": "weather.tn", "kripke": "novels.tn", "extraction": "booking.tn"}


class MelleaSide:
    """Uses one process for all runs, so that its imports are not measured."""

    def __init__(self, python, program):
        self.name = "mellea" if program in PROGRAMS else "mellea as printed"
        self.command = [str(python), str(FOLDER / "mellea_worker.py"), program]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.wait(timeout=30)

    def run(self, base_url, arguments, seed):  # pylint: disable=unused-argument
        self.process.stdin.write(json.dumps({"base_url": base_url, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("Mellea's process ended: " + " ".join(self.command))
        return json.loads(line)


class TenonSide:
    """Starts a process for each run, so that its start, parsing, checking and exit are measured too."""

    name = "tenon"

    def __init__(self, task):
        self.is_text = task.name == "react"
        self.command = [TENON, "run", os.path.relpath(FOLDER / PROGRAMS[task.name]), "--model", "openai:local",
                        "--temperature", str(tasks.TEMPERATURE), "--max-tokens", str(tasks.TOKENS_MAX),
                        "--repair", str(tasks.REPAIRS_MAX)]

    def run(self, base_url, arguments, seed):
        given = [part for name, value in arguments.items() for part in ("--arg", f"{name}={value}")]
        environment = dict(os.environ, OPENAI_BASE_URL=base_url, OPENAI_API_KEY="bench")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        process = subprocess.run([*self.command, "--seed", str(seed), *given], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, timeout=SECONDS_MAX, check=False, env=environment)
        outcome = {"wall_s": time.perf_counter() - begin}
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        outcome["cpu_s"] = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        if process.returncode != 0:
            return outcome | {"failure": process.stderr.strip().split("\n")[0][:400] or f"ended with {process.returncode}"}
        return outcome | {"value": process.stdout.strip() if self.is_text else json.loads(process.stdout)}
