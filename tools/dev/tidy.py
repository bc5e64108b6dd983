"""Runs the style test over the repository, or over the folder that is given; `--words` adds the glossary's. Ends with 1 when it finds a problem."""
import pathlib
import sys

from style import cpp, documents, layers, sizes, words
from style.repository import Problems, Repository

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    repository = Repository(folders[0] if folders else ROOT)
    problems = Problems()
    for check in (cpp, layers, sizes, documents, *((words,) if "--words" in options else ())):
        check.check(repository, problems)
    for line in problems.lines:
        print(line)
    print(f"style: {len(repository.texts)} files, {len(problems.lines)} problems")
    return 1 if problems.lines else 0


if __name__ == "__main__":
    sys.exit(main())
