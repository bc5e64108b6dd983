"""Runs the style test on the repository, or on the given folder. Exits with 1 if there are problems."""
import pathlib
import sys

from style import cpp, documents, layers, messages, sizes, words
from style.repository import Problems, Repository

CHECKS = (cpp, layers, sizes, documents, words, messages)
ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    repository = Repository(sys.argv[1] if len(sys.argv) > 1 else ROOT)
    problems = Problems()
    for check in CHECKS:
        check.check(repository, problems)
    for line in problems.lines:
        print(line)
    print(f"style: {len(repository.texts)} files, {len(problems.lines)} problems")
    return 1 if problems.lines else 0


if __name__ == "__main__":
    sys.exit(main())
