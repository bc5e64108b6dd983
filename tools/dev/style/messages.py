"""Checks that messages, comments, prompts and the standard library are not worded like translations: `x is no number`."""
import re

from style.repository import COMMENT_OR_STRING, line_of

# They have texts of earlier versions, which programs of these versions still see (src/json/message_version.h).
IGNORED = ("src/json/problem.cpp", "src/inference/answers/messages.cpp", "src/vm/messages.cpp")
AVOIDED = [
    (re.compile(r"(?<!\bthere )(?<!\bThere )\b(?:is|are) no (?!longer\b|more\b|one\b)[\w`{/]"),
     "`is not a …`, `expected …` or `invalid …`"),
    (re.compile(r"\b(?:is|are) asked for\b"), "`expected …`"),
    (re.compile(r"\b(?:stands?|stood) (?:here|there|in(?! the way)|at|where)\b"), "`is`, `appears` or `has the position`"),
    (re.compile(r"\bwhat it does not take\b"), "`invalid …`"),
]


def texts_of(path, text):
    """The texts that people or models read, with their offsets: strings and comments of C++; prompt templates and modules as a whole."""
    if path.startswith(("prompts/", "stdlib/")):
        return [(0, text)]
    return [(match.start(), match.group(0)) for match in COMMENT_OR_STRING.finditer(text)]


def check(repository, problems):
    for path, text in repository.texts.items():
        is_source = path.startswith("src/") and path.endswith((".cpp", ".h")) and not path.endswith("_test.cpp")
        if not is_source and not path.startswith(("prompts/", "stdlib/")) or path in IGNORED:
            continue
        for offset, found in texts_of(path, text):
            for pattern, instead in AVOIDED:
                for match in pattern.finditer(found):
                    problems.report(path, line_of(text, offset + match.start()), f"`{match.group(0)}`: write {instead}")
