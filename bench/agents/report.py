"""The table and the results file."""
import collections
import json
import os
import pathlib
import platform
import statistics
import subprocess

import tasks

RESULTS = pathlib.Path(os.environ.get("TENON_RESULTS", "build/bench/results"))
MEANS = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "refused")
MEDIANS = ("wall_ms", "cpu_ms", "model_ms")


def output_of(*command):
    process = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=False)
    return process.stdout.strip()


def summary(runs):
    row = {name: round(statistics.mean(run[name] for run in runs), 2) for name in MEANS}
    row |= {name: round(statistics.median(run[name] for run in runs), 2) for name in MEDIANS}
    row["wall_ms_mean"] = round(statistics.mean(run["wall_ms"] for run in runs), 2)
    valid = sum(run["valid"] for run in runs)
    row["valid_share"] = round(valid / len(runs), 3)
    tokens = sum(run["prompt_tokens"] + run["completion_tokens"] for run in runs)
    row["tokens_for_each_valid_result"] = round(tokens / valid) if valid else None
    row["runs"] = len(runs)
    row["ended"] = dict(collections.Counter(run["ended"].split("\n")[0] for run in runs).most_common(6))
    return row


class Report:
    def __init__(self, server_version, python):
        self.runs = collections.defaultdict(list)
        self.head = {
            "temperature": tasks.TEMPERATURE, "tokens_max": tasks.TOKENS_MAX,
            "versions": {
                "mellea": output_of(python, "-c", "import importlib.metadata as m; print(m.version('mellea'))"),
                "openai_sdk": output_of(python, "-c", "import importlib.metadata as m; print(m.version('openai'))"),
                "python": platform.python_version(), "llama_server": server_version, "model": "SmolLM2-135M-Instruct Q4_1",
                "tenon": output_of("git", "describe", "--always", "--dirty"),
                "machine": f"{os.cpu_count()} x {platform.processor() or platform.machine()}, Linux {platform.release()}"}}

    def add(self, model, task, side, run):
        self.runs[model, task, side].append(run)

    def rows(self, model, task):
        return {side: summary(runs) for (its_model, its_task, side), runs in self.runs.items() if (its_model, its_task) == (model, task)}

    @staticmethod
    def ratios(rows):
        """Tenon's figure divided by Mellea's: below 1 means that Tenon needs less."""
        ours, theirs = rows.get("tenon"), rows.get("mellea")
        if not ours or not theirs:
            return {}
        names = ("calls", "prompt_tokens", "completion_tokens", "wall_ms", "wall_ms_mean", "cpu_ms", "valid_share")
        return {name: round(ours[name] / theirs[name], 3) if theirs[name] else None for name in names}

    def show(self, model, task):
        rows = self.rows(model, task)
        print(f"\n{task} on the {model} model, {next(iter(rows.values()))['runs']} seeds; means of a run, medians of times")
        print(f"{'':18}{'calls':>8}{'prompt':>9}{'compl.':>8}{'wall ms':>10}{'CPU ms':>9}{'valid':>8}")
        for side, row in rows.items():
            print(f"{side:18}{row['calls']:8.2f}{row['prompt_tokens']:9.0f}{row['completion_tokens']:8.1f}{row['wall_ms']:10.1f}"
                  f"{row['cpu_ms']:9.1f}{row['valid_share']:8.0%}")
        ratio = {name: "-" if value is None else f"{value:.2f}" for name, value in self.ratios(rows).items()}
        if ratio:
            print(f"{'tenon / mellea':18}{ratio['calls']:>8}{ratio['prompt_tokens']:>9}{ratio['completion_tokens']:>8}"
                  f"{ratio['wall_ms']:>10}{ratio['cpu_ms']:>9}{ratio['valid_share']:>8}", flush=True)

    def write(self):
        """Keeps the results of earlier measurements that were not repeated, with their own number of runs."""
        path = RESULTS / "agents.json"
        known = json.loads(path.read_text())["models"] if path.exists() else {}
        result = dict(self.head, models=known)
        for model, task in dict.fromkeys((model, task) for model, task, _ in self.runs):
            rows = self.rows(model, task)
            result["models"].setdefault(model, {})[task] = rows | {"ratios": self.ratios(rows)}
        RESULTS.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=2) + "\n")
