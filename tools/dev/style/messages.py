"""Checks that the messages of the program are not worded like translations: `x is no number`, `where x is asked for`."""
import re

from style.repository import COMMENT_OR_STRING, line_of

# They have texts of earlier versions, which programs of these versions still see (src/json/message_version.h).
IGNORED = ("src/json/problem.cpp", "src/inference/answers/messages.cpp", "src/vm/messages.cpp")
AVOIDED = [
    (re.compile(r"(?<!\bthere )(?<!\bThere )\b(?:is|are) no (?!longer\b|more\b|one\b)[\w`{/]"),
     "`is not a …`, `expected …` or `invalid …`"),
    (re.compile(r"\b(?:is|are) asked for\b"), "`expected …`"),
    (re.compile(r"\b(?:stands?|stood) (?:here|there|in|at|where)\b"), "`is`, `appears` or `has the position`"),
    (re.compile(r"\bwhat it does not take\b"), "`invalid …`"),
]


def strings_of(path, text):
    """The texts that people or models can see, with their offsets: string literals of C++, and prompt templates as a whole."""
    if path.startswith("prompts/"):
        return [(0, text)]
    return [(match.start(), match.group(0)) for match in COMMENT_OR_STRING.finditer(text) if match.group(0).startswith(('"', 'R"'))]


def check(repository, problems):
    for path, text in repository.texts.items():
        is_source = path.startswith("src/") and path.endswith((".cpp", ".h")) and not path.endswith("_test.cpp")
        if not is_source and not path.startswith("prompts/") or path in IGNORED:
            continue
        for offset, string in strings_of(path, text):
            for pattern, instead in AVOIDED:
                for match in pattern.finditer(string):
                    problems.report(path, line_of(text, offset + match.start()), f"`{match.group(0)}` in a message: write {instead}")
