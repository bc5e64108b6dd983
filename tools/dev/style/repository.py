"""The files that the checks read, and the problems that they report."""
import pathlib
import re
import subprocess

TEXT_ENDINGS = {".cpp", ".h", ".hpp", ".c", ".py", ".sh", ".md", ".cmake", ".txt", ".toml", ".tn", ".json", ".rs", ".ts", ".mjs", ""}
IGNORED_FOLDERS = ("fuzz/corpus/", "fuzz/regressions/", "bench/results/")
SCRIPTS = ("dev", ".ci/run")  # text files without an ending that every check reads

COMMENT_OR_STRING = re.compile(
    r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)


class Repository:
    """The text files of a checkout, by path from its root."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.texts = {}
        self.paths = self._listed()
        for path in self.paths:
            if pathlib.Path(path).suffix in TEXT_ENDINGS or path in SCRIPTS:
                try:
                    self.texts[path] = (self.root / path).read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    continue

    def _listed(self):
        listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=self.root,
                                 capture_output=True, check=True).stdout
        paths = {path.decode() for path in listing.split(b"\0") if path}
        return [path for path in sorted(paths) if (self.root / path).is_file() and not path.startswith(IGNORED_FOLDERS)]

    def cpp(self, folder=""):
        """C++ files below a folder: (path, text)."""
        return [(path, text) for path, text in self.texts.items() if path.startswith(folder) and path.endswith((".cpp", ".h", ".hpp"))]


class Problems:
    """The problems that the checks report, as `path:line: message`."""

    def __init__(self):
        self.lines = []

    def report(self, path, line, message):
        self.lines.append(f"{path}:{line}: {message}")


def without_comments_and_strings(text):
    """C++ with comments blanked out and strings emptied; line numbers stay."""
    def blank(match):
        found = match.group(0)
        newlines = "\n" * found.count("\n")
        return newlines if found.startswith(("//", "/*")) else '""' + newlines
    return COMMENT_OR_STRING.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
