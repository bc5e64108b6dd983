"""What bench/trust/run measures, with the package's Python. Prints one JSON object. Arguments: suites."""
import collections
import json
import pathlib
import re
import sys
import time
import warnings

import dojo
from guarded_oracle import GuardedOracle
from oracle import Oracle

FOLDER = pathlib.Path(__file__).resolve().parent
SUITES = ("banking", "slack")


def note(text):
    print(text, file=sys.stderr, flush=True)


def sinks_of(path):
    """By extern of a program, its parameters that must be trusted."""
    if not path.exists():
        return {}
    text = path.read_text()
    externs = re.findall(r"extern(?:\([^)]*\))? fn (\w+)\(([^)]*)\)", text)
    return {name: re.findall(r"(\w+): trusted ", parameters) for name, parameters in externs}


class Side:
    """A program, and how it does."""

    def __init__(self, suite, name, path, sinks, oracle=Oracle, has_person=False):
        self.suite = suite
        self.name = name
        self.sinks = sinks
        self.make_oracle = oracle
        self.has_person = has_person
        self.agent = dojo.TenonAgent(str(path), suite)

    def oracle(self, task, injection_task, injections):
        attack = dojo.ground_truth(self.suite, injection_task, injections) if injection_task is not None else ()
        return self.make_oracle(self.suite.name, task, dojo.ground_truth(self.suite, task, injections), self.sinks, injection_task, attack,
                                self.has_person)

    def run(self, task, injection_task=None):
        injections = {} if injection_task is None else dojo.injections_of(self.suite, self.agent, task, injection_task)
        self.agent.actor = self.oracle(task, injection_task, injections)
        is_solved, is_won = self.suite.run_task_with_pipeline(self.agent, task, injection_task, injections)
        return {"solved": is_solved, "won": injection_task is not None and is_won, "approvals": self.agent.actor.approvals,
                "calls": len(self.agent.calls), "failure": self.agent.failure}

    def measure(self):
        begun = time.monotonic()
        alone = {task.ID: self.run(task) for task in self.suite.user_tasks.values()}
        attacked = {f"{task.ID} {injection.ID}": self.run(task, injection) for task in self.suite.user_tasks.values()
                    for injection in self.suite.injection_tasks.values()}
        self.agent.close()
        note(f"{self.suite.name}, {self.name}: {time.monotonic() - begun:.1f} s")
        return {"tasks": len(alone), "solved": sum(one["solved"] for one in alone.values()),
                "approvals": sum(one["approvals"] for one in alone.values()), "attacks": len(attacked),
                "attacks_won": sum(one["won"] for one in attacked.values()),
                "solved_under_attack": sum(one["solved"] for one in attacked.values()),
                "approvals_under_attack": sum(one["approvals"] for one in attacked.values()),
                "unsolved": [name for name, one in alone.items() if not one["solved"]],
                "won_by": collections.Counter(name.split()[1] for name, one in attacked.items() if one["won"]),
                "failures": {name: one["failure"] for name, one in {**alone, **attacked}.items() if one["failure"]}}


def main():
    warnings.simplefilter("ignore")
    results = {}
    for name in sys.argv[1:] or SUITES:
        suite = dojo.load_suite(name)
        sinks = sinks_of(FOLDER / "programs" / f"{name}.tn")
        plain, guarded = (FOLDER / "programs" / f"{name}{end}.tn" for end in ("_plain", ""))
        results[name] = {
            "react": Side(suite, "react", plain, sinks).measure(),
            "guarded": Side(suite, "guarded", guarded, sinks, GuardedOracle).measure(),
            "guarded, with a person": Side(suite, "guarded, with a person", guarded, sinks, GuardedOracle, has_person=True).measure(),
        }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
