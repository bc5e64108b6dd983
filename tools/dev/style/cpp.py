"""C++ and the names of files: banned calls, columns, dead headers, tests without a subject."""
import pathlib
import re

from style.repository import line_of, without_comments_and_strings

COLUMNS_MAX = 120

# What must not be called, where it is allowed, and what to write instead.
BANNED = [
    (r"\b(?:sprintf|vsprintf|strcpy|strcat|gets)\s*\(", (), "fmt::format or std::string"),
    (r"\bstd::rand\b|\bsrand\s*\(|\brandom_device\b", (), "the Random that the constructor was given"),
    (r"\bgetenv\s*\(", ("src/cli/", "src/engine/process_system.cpp", "src/report/renderer.cpp", "_main.cpp", "_test.cpp",
                             "_for_tests.h", "tests/", "bench/"),
     "System::variable (engine/system.h), or an option that src/engine fills in"),
    (r"\bstd::(?:cout|cerr)\b", ("src/cli/", "_main.cpp", "_test.cpp", "tests/", "bench/"),
     "a value that is returned, or a sink"),
    (r"\busing namespace std\b", (), "the names themselves"),
    (r"\b(?:atoi|atol|atof|strtok)\s*\(", (), "std::from_chars"),
    (r"\bstd::sto(?:i|l|ll|ul|ull|f|d)\s*\(", ("_test.cpp",), "std::from_chars, which does not throw"),
    (r"\bassert\s*\(", (), "ENSURE (base/ensure.h), which every build checks"),
    (r"\bstd::regex\b", (), "RE2, which is linear in its input"),
    (r"\bsleep_for\b|\busleep\s*\(|\bsleep\s*\(", ("_test.cpp", "tests/", "bench/", "src/base/clock.h"),
     "Clock::wait, or a wait with a condition and a deadline"),
    (r"#\s*ifndef \w+_H_?\b", (), "#pragma once"),
    (r"(?i)\b\w*(?:sqlite|postgres|libpq)\w*", ("src/journal/", "tests/", "bench/"),
     "journal/open_store.h, whose interfaces every store has"),
]
FORBIDDEN_NAMES = {"utils", "util", "common", "misc", "manager", "helper", "helpers"}
# Spelled in pieces, so that this file does not match itself.
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
# Tests and benchmarks have no terminal on which a password could be typed.
INSTALLING = re.compile(r"\bapt_" r"install\b")
FORBIDDEN_TEXT = [
    (r"(?<![\w}])/(?:work|root|farm)/" + r"\w", "a path that only one machine has"),
    (r"(?<![\w}])/home/" + r"\w+/", "a path that only one machine has"),
    (r"files\.python" + r"hosted|py" + r"pi\.org|static\.crates" + r"\.io|index\.crates" + r"\.io|registry\.npm" + r"js|"
     r"deb\.debian" + r"\.org|proxy\.golang" + r"\.org|repo1?\.maven", "a package host; name the package alone"),
]


def check_source(path, text, problems):
    if path.endswith(".h") and "#pragma once" not in text:
        problems.report(path, 1, "no `#pragma once`")
    for number, line in enumerate(without_comments_and_strings(text).split("\n"), 1):
        for pattern, allowed, instead in BANNED:
            found = re.search(pattern, line)
            if found and not any(path.startswith(place) or path.endswith(place) for place in allowed):
                problems.report(path, number, f"`{found.group(0).strip()}`: use {instead}")
    for number, line in enumerate(text.split("\n"), 1):
        if UNFINISHED.search(line):
            problems.report(path, number, "an unfinished note: finish the work, or describe the current state")
        # Each code point is a column. Long raw strings, links and the rows of a macro's table cannot be broken.
        breakable = "R\"" not in line and "://" not in line and not line.endswith("\\")
        if len(line) > COLUMNS_MAX and breakable:
            problems.report(path, number, f"{len(line)} columns (maximum {COLUMNS_MAX})")


def check_dead_files(repository, problems):
    included = set()
    for _, text in repository.cpp():
        included.update(re.findall(r'#\s*include ["<]([\w/.]+)[">]', text))
    for path, _ in repository.cpp("src/"):
        if path.endswith(".h") and path.removeprefix("src/") not in included:
            problems.report(path, 1, "nothing includes this header; remove it")
        if path.endswith("_test.cpp"):
            folder = (repository.root / path).parent
            stem = pathlib.Path(path).name.removesuffix("_test.cpp")
            if not (folder / f"{stem}.cpp").exists() and not (folder / f"{stem}.h").exists():
                problems.report(path, 1, f"no {stem}.h or {stem}.cpp beside it; name the test after what it tests")


def check(repository, problems):
    for path, text in repository.texts.items():
        for name in sorted({pathlib.Path(part).stem for part in path.split("/")} & FORBIDDEN_NAMES):
            problems.report(path, 1, f"the name `{name}` says nothing; name the thing itself")
        for pattern, what in FORBIDDEN_TEXT:
            for match in re.finditer(pattern, text):
                problems.report(path, line_of(text, match.start()), f"`{match.group(0)}`: {what}")
        for match in INSTALLING.finditer(text) if path.startswith(("tests/", "bench/")) else ():
            problems.report(path, line_of(text, match.start()), f"`{match.group(0)}`: add the package to the table of tools/dev/install.sh")
    for path, text in repository.cpp():
        check_source(path, text, problems)
    check_dead_files(repository, problems)
