"""The Mellea side in a separate process, with Mellea's packages on its path: `python mellea_worker.py TASK`.

Each line on standard input is a run, `{"base_url": …, "arguments": {…}}`. Each line on standard output is its result,
`{"value": …}` or `{"failure": …}`, with the wall time (`wall_s`) and this process's CPU time (`cpu_s`) in seconds.
The time of a run includes creating its backend, as a program would, but not the imports.
"""
import json
import os
import sys
import time

os.environ.setdefault("MELLEA_LOG_LEVEL", "ERROR")

from mellea.backends import ModelOption  # noqa: E402
from mellea.backends.openai import OpenAIBackend  # noqa: E402
from mellea.core import MelleaLogger  # noqa: E402

import mellea_extraction  # noqa: E402
import mellea_kripke  # noqa: E402
import mellea_react  # noqa: E402
import tasks  # noqa: E402

PROGRAMS = {"react": mellea_react.run, "kripke": mellea_kripke.run, "kripke_as_printed": mellea_kripke.run_as_printed,
            "extraction": mellea_extraction.run}


def perform(program, base_url, arguments):
    backend = OpenAIBackend(model_id="local", base_url=base_url, api_key="bench",
                            model_options={ModelOption.TEMPERATURE: tasks.TEMPERATURE,
                                           ModelOption.MAX_NEW_TOKENS: tasks.TOKENS_MAX})
    try:
        return {"value": program(backend, **arguments)}
    except Exception as error:  # pylint: disable=broad-except
        # A failed run does not prevent the next one from being measured.
        return {"failure": f"{type(error).__name__}: {error}"[:400]}


def main():
    MelleaLogger.get_logger().setLevel("ERROR")
    program = PROGRAMS[sys.argv[1]]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    for line in sys.stdin:
        run = json.loads(line)
        cpu, wall = time.process_time(), time.perf_counter()
        outcome = perform(program, run["base_url"], run["arguments"])
        outcome |= {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
