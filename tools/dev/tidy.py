"""The style test: what a reviewer would otherwise have to say again and again. Each message names the replacement."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The layout: an include may only point to a folder that stands further left, or to its own.
LAYERS = ("base source diagnostics syntax blocks graph types bytecode vm effects journal inference tools report runtime telemetry algebra protocol "
          "engines server language_server cli").split()
SOURCE_LINES_MAX = 800
COLUMNS_MAX = 120

# What must not be called, where it may be all the same, and what to write instead.
BANNED = [
    (r"\b(?:sprintf|vsprintf|strcpy|strcat|gets)\s*\(", (), "fmt::format or std::string"),
    (r"\bstd::rand\b|\bsrand\s*\(|\brandom_device\b", (), "the Random that the constructor was given"),
    (r"\bgetenv\s*\(", ("src/cli/", "src/report/renderer.cpp", "_main.cpp", "_test.cpp", "_for_tests.h", "tests/", "bench/"),
     "an option which src/cli fills in"),
    (r"\bstd::(?:cout|cerr)\b", ("src/cli/", "_main.cpp", "_test.cpp", "tests/", "bench/"),
     "a value that is returned, or a sink"),
    (r"\busing namespace std\b", (), "the names themselves"),
    (r"\b(?:atoi|atol|atof|strtok)\s*\(", (), "std::from_chars"),
    (r"\bstd::sto(?:i|l|ll|ul|ull|f|d)\s*\(", ("_test.cpp",), "std::from_chars, which does not throw"),
    (r"\bassert\s*\(", (), "ENSURE (base/ensure.h), which every build checks"),
    (r"\bstd::regex\b", (), "RE2, which is linear in its input"),
        (r"\bsleep_for\b|\busleep\s*\(|\bsleep\s*\(", ("_test.cpp", "tests/", "bench/", "src/base/clock.h"),
     "Clock::wait, or a wait with a condition and a deadline"),
    (r"\b(?:TODO|FIXME|XXX|HACK)\b", (), "the finished work"),
    (r"#\s*ifndef \w+_H_?\b", (), "#pragma once"),
]
FORBIDDEN_NAMES = {"utils", "util", "common", "misc", "manager", "helper", "helpers"}
# Spelled in pieces, so that this file does not match itself.
FORBIDDEN_TEXT = [
    (r"(?<![\w}])/(?:work|root|farm)/" + r"\w", "a path that only one machine has"),
    (r"(?<![\w}])/home/" + r"\w+/", "a path that only one machine has"),
    (r"files\.python" + r"hosted|py" + r"pi\.org|static\.crates" + r"\.io|index\.crates" + r"\.io|registry\.npm" + r"js|"
     r"deb\.debian" + r"\.org|proxy\.golang" + r"\.org|repo1?\.maven", "a package host; name the package alone"),
]
TEXT_ENDINGS = {".cpp", ".h", ".c", ".py", ".sh", ".md", ".cmake", ".txt", ".toml", ".tn", ".json", ".rs", ".ts", ""}
IGNORED_FOLDERS = ("fuzz/corpus/", "fuzz/regressions/", "bench/results/")


def listed_files():
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                             capture_output=True, check=True).stdout
    paths = [path.decode() for path in listing.split(b"\0") if path]
    return [path for path in sorted(set(paths)) if (ROOT / path).is_file() and not path.startswith(IGNORED_FOLDERS)]


def without_comments_and_strings(text):
    """C++ with what is no code blanked out, lines kept."""
    pattern = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    return pattern.sub(lambda match: "\n" * match.group(0).count("\n"), text)


def check_cpp(path, text, report):
    lines = text.split("\n")
    is_source = path.startswith("src/")
    if is_source and len(lines) - 1 > SOURCE_LINES_MAX:
        report(path, len(lines), f"{len(lines) - 1} lines; split by verb what is over {SOURCE_LINES_MAX}")
    if path.endswith(".h") and "#pragma once" not in text:
        report(path, 1, "no `#pragma once`")
    code = without_comments_and_strings(text).split("\n")
    for number, line in enumerate(code, 1):
        for pattern, allowed, instead in BANNED:
            where = re.search(pattern, line)
            if where and not any(path.startswith(place) or path.endswith(place) for place in allowed):
                report(path, number, f"`{where.group(0).strip()}`: use {instead}")
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(?:TO" r"DO|FIX" r"ME)\b", line):
            report(path, number, "an open end in a comment: finish it, or say what holds today")
        # Each code point is a column. Long raw strings, links and the rows of a macro's table cannot be broken.
        breakable = "R\"" not in line and "://" not in line and not line.endswith("\\")
        if is_source and len(line) > COLUMNS_MAX and breakable:
            report(path, number, f"{len(line)} columns; {COLUMNS_MAX} at most")
        included = re.match(r'\s*#\s*include "(\w+)/', line)
        if is_source and included:
            own, other = path.split("/")[1], included.group(1)
            if own in LAYERS and other in LAYERS and LAYERS.index(other) > LAYERS.index(own):
                report(path, number, f"{own}/ includes {other}/, which stands below it; move the declaration up, or pass it in")
            elif other not in LAYERS and not (other == "tests" and path.endswith("_test.cpp")):
                report(path, number, f'"{other}/…" is no layer of src/; third-party headers go in angle brackets')


def check_dead_sources(paths, texts, report):
    """A header that nothing includes, or a test of nothing."""
    included = set()
    for path, text in texts.items():
        if path.endswith((".cpp", ".h")):
            included.update(re.findall(r'#\s*include ["<]([\w/.]+)[">]', text))
    for path in paths:
        if path.startswith("src/") and path.endswith(".h") and path.removeprefix("src/") not in included:
            report(path, 1, "nothing includes this header; remove it")
        if path.startswith("src/") and path.endswith("_test.cpp"):
            folder = (ROOT / path).parent
            stem = pathlib.Path(path).name.removesuffix("_test.cpp")
            if not (folder / f"{stem}.cpp").exists() and not (folder / f"{stem}.h").exists():
                report(path, 1, f"no {stem}.h or {stem}.cpp stands beside it; name the test after what it tests")


def dev_commands():
    text = (ROOT / "dev").read_text()
    return set(re.findall(r"^\./dev (\w+)", text, re.MULTILINE))


def check_document(path, text, report, commands):
    """Every path and every ./dev command that a document mentions exists."""
    folder = (ROOT / path).parent
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        for command in re.findall(r"\./dev (\w+)", line):
            if command not in commands:
                report(path, number, f"`./dev {command}` does not exist; there are: {', '.join(sorted(commands))}")
        targets = [target for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line) if "://" not in target]
        if not fenced:
            targets += [word for word in re.findall(r"`([\w./-]+)`", line)
                        if re.match(r"(?:src|docs|tests|tools|examples|stdlib|fuzz|bench|cmake|rust|include)/", word)]
        for target in targets:
            if not (folder / target).exists() and not (ROOT / target).exists():
                report(path, number, f"{target} does not exist")


def main():
    problems = []

    def report(path, number, message):
        problems.append(f"{path}:{number}: {message}")

    paths = listed_files()
    texts = {}
    for path in paths:
        if pathlib.Path(path).suffix in TEXT_ENDINGS or path in ("dev", ".ci/run"):
            try:
                texts[path] = (ROOT / path).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    commands = dev_commands()
    for path, text in texts.items():
        parts = {pathlib.Path(part).stem for part in path.split("/")}
        for name in sorted(parts & FORBIDDEN_NAMES):
            report(path, 1, f"the name `{name}` says nothing; name the thing itself")
        for pattern, what in FORBIDDEN_TEXT:
            for match in re.finditer(pattern, text):
                report(path, text.count("\n", 0, match.start()) + 1, f"`{match.group(0)}`: {what}")
        if path.endswith((".cpp", ".h")):
            check_cpp(path, text, report)
        if path.endswith(".md"):
            check_document(path, text, report, commands)
    check_dead_sources(paths, texts, report)
    for problem in problems:
        print(problem)
    print(f"style: {len(texts)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
