"""Runs the style test on the repository, or on the given folder; `--words` adds the check of the glossary. Exits with 1 if there are problems."""
import pathlib
import sys

from style import cpp, documents, layers, sizes, words
from style.repository import Problems, Repository

CHECKS = (cpp, layers, sizes, documents)
OPTIONAL_CHECKS = {"--words": words}
ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    repository = Repository(folders[0] if folders else ROOT)
    problems = Problems()
    for check in (*CHECKS, *(check for option, check in OPTIONAL_CHECKS.items() if option in options)):
        check.check(repository, problems)
    for line in problems.lines:
        print(line)
    print(f"style: {len(repository.texts)} files, {len(problems.lines)} problems")
    return 1 if problems.lines else 0


if __name__ == "__main__":
    sys.exit(main())
