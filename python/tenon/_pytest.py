"""The plugin for pytest: it collects the `test` blocks of programs, and has a fixture for models that follow a script."""
from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from . import load as _load
from ._errors import Error
from ._models import Request
from ._program import Loaded, Program, load_description
from ._types import to_json

_TEST = re.compile(r"^\s*test\b", re.MULTILINE)
"""A program without a line like this has no `test` blocks."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tenon")
    group.addoption("--tenon-crash", action="store_true",
                    help="run the tests of Tenon programs as recorded runs that are interrupted after each record")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".tn" or not _TEST.search(file_path.read_text(encoding="utf-8", errors="replace")):
        return None
    collected: pytest.Collector = ProgramFile.from_parent(parent, path=file_path)
    return collected


class ProgramFile(pytest.File):
    """A program with its `test` blocks."""

    def collect(self) -> Iterable[pytest.Item]:
        try:
            program = load_description(self.path)
        except Error as error:
            raise self.CollectError(str(error)) from None
        for index, test in enumerate(json.loads(program._core.tests())):
            if Path(test["path"]).resolve() == self.path.resolve():
                yield ProgramTest.from_parent(self, name=test["name"], program=program, index=index, line=test["line"])


class TestFailed(Exception):
    """A `test` block has failed."""


class ProgramTest(pytest.Item):
    """A `test` block of a program."""

    def __init__(self, *, program: Program, index: int, line: int, **others: Any) -> None:
        super().__init__(**others)
        self._program = program
        self._index = index
        self._line = line

    def runtest(self) -> None:
        problem = self._program._core.run_test(self._index, bool(self.config.getoption("--tenon-crash")))
        if problem:
            raise TestFailed(problem.rstrip())

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, TestFailed) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self._line - 1, f"test {json.dumps(self.name, ensure_ascii=False)}"


class ScriptedModel:
    """A model that gives answers from a script: for each function a list that is used in order, or one answer for every
    request. An answer is a text as the model would write it, another value as JSON, or an exception."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.requests: list[Request] = []
        """What it was asked, oldest first."""
        self._answers = {label: list(given) if isinstance(given, (list, tuple)) else given for label, given in answers.items()}
        self._used: defaultdict[str, int] = defaultdict(int)

    def __call__(self, request: Request) -> str:
        self.requests.append(request)
        given = self._answers.get(request.label)
        if given is None and request.label not in self._answers:
            known = ", ".join(f"`{label}`" for label in self._answers) or "none"
            raise LookupError(f"the script has no answer for `{request.label}`; it has answers for: {known}")
        if isinstance(given, list):
            at = self._used[request.label]
            if at >= len(given):
                count = "1 answer" if len(given) == 1 else f"{len(given)} answers"
                raise LookupError(f"the script has {count} for `{request.label}`, and more were requested")
            given = given[at]
        self._used[request.label] += 1
        if isinstance(given, BaseException):
            raise given
        if isinstance(given, str):
            return given
        answer = to_json(given)
        is_whole = isinstance(answer, dict) and list(answer) == ["value"]
        return json.dumps({"value": answer} if _is_wrapped(request) and not is_whole else answer)

    def prompts_of(self, label: str) -> list[str]:
        """The texts that were sent for a function."""
        return [request.text for request in self.requests if request.label == label]

    def check_used(self) -> None:
        """Fails if the script has answers that no request has used."""
        left = {label: len(given) - self._used[label] if isinstance(given, list) else int(not self._used[label])
                for label, given in self._answers.items()}
        unused = ", ".join(f"{count} of `{label}`" for label, count in left.items() if count > 0)
        assert not unused, f"answers of the script were not used: {unused}"


def _is_wrapped(request: Request) -> bool:
    properties = (request.schema or {}).get("properties", {})
    return list(properties) == ["value"]


@pytest.fixture
def scripted_model() -> Iterator[Callable[..., ScriptedModel]]:
    """Makes models from scripts: `scripted_model({"classify": ["billing"]})`, to be given as `model=`. After the test, all
    answers must have been used."""
    made: list[ScriptedModel] = []

    def make(answers: Mapping[str, Any] | None = None, /, **more: Any) -> ScriptedModel:
        made.append(ScriptedModel({**(answers or {}), **more}))
        return made[-1]

    yield make
    for model in made:
        model.check_used()


@pytest.fixture
def load_program() -> Iterator[Callable[..., Loaded]]:
    """As `tenon.load`. The programs are closed after the test."""
    loaded: list[Loaded] = []

    def load(*arguments: Any, **options: Any) -> Loaded:
        loaded.append(_load(*arguments, **options))
        return loaded[-1]

    yield load
    for program in loaded:
        program.close()
