"""`python -m tenon stubs FILE…`: writes stubs of programs for type checkers and editors."""
from __future__ import annotations

import argparse
import sys

from . import __version__
from ._errors import Error
from ._stubs import write_stub


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tenon", description="Tools of the Python package of Tenon.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    stubs = commands.add_parser("stubs", help="write the functions and types of programs as stubs (.pyi)")
    stubs.add_argument("files", nargs="+", metavar="FILE", help="a program")
    stubs.add_argument("-o", "--output", metavar="FILE", help="where to write the stub of one program; `-`: to stdout")
    arguments = parser.parse_args()
    if arguments.output and len(arguments.files) > 1:
        parser.error("--output is for one program")
    for file in arguments.files:
        try:
            target = write_stub(file, arguments.output)
        except (Error, OSError) as error:
            text = str(error)
            print(text if isinstance(error, Error) and error.kind == "Program" else f"error: {text}", file=sys.stderr)
            return 1
        if target != "-":
            print(f"wrote {target}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
