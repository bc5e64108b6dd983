"""Checks that no text and no name contains the words that docs/glossary.md says to avoid."""
import re

from style.repository import line_of

GLOSSARY = "docs/glossary.md"
TERMS_MAX = 30
# Recorded data, third-party files, and files that only list the words.
# src/vm/messages.cpp has texts of an earlier version, which programs of that version still see.
IGNORED = (GLOSSARY, "src/vm/messages.cpp", "tests/journals/", "bench/results/", "tools/dev/style/", "tests/style/",
           "LICENSE", "rust/Cargo.lock")
IGNORED_ENDINGS = ("package-lock.json", ".lock")


def read_glossary(text):
    """Returns the terms; the words to avoid with their replacements; and the phrases in which such words are allowed."""
    terms, avoided, allowed = [], {}, []
    table = None
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            table = None
        elif table is None:
            table = cells
        elif not set(line) <= set("|-: "):
            if table[0] == "term":
                terms.append(cells[0])
                for word in filter(None, (word.strip() for word in cells[2].split(","))):
                    avoided[word] = cells[0]
            else:
                for word in re.findall(r"`([^`]+)`", cells[0]):
                    avoided[word] = cells[1]
                if len(cells) > 2:
                    allowed += re.findall(r"`([^`]+)`", cells[2])
    return terms, avoided, allowed


def pattern_of(word):
    """Finds a word or phrase, also across a line end in a comment, and in the names `told_problem` and `IsToldOnce`."""
    spaced = r"(?:[\s_#*]|//+)+".join(re.escape(part) for part in word.split())
    capitalized = re.escape("".join(part.capitalize() for part in word.split()))
    return re.compile(rf"(?<![A-Za-z])(?i:{spaced})(?![A-Za-z])" +
                      rf"|(?<![A-Z]){capitalized}(?=[A-Z])|(?<=[a-z]){capitalized}(?![a-z])")


def check(repository, problems):
    terms, avoided, allowed = read_glossary(repository.texts[GLOSSARY])
    if len(terms) > TERMS_MAX:
        problems.report(GLOSSARY, 1, f"{len(terms)} terms (maximum {TERMS_MAX})")
    if not avoided:
        problems.report(GLOSSARY, 1, "no words to avoid: the tables cannot be read")
        return
    patterns = {word: pattern_of(word) for word in avoided}
    for path, text in repository.texts.items():
        if path.startswith(IGNORED) or path.endswith(IGNORED_ENDINGS):
            continue
        lower = text.lower()
        # Searching for a plain text is much faster than for a pattern.
        for word in (word for word in avoided if word.split()[0] in lower):
            for match in patterns[word].finditer(text):
                if not is_allowed(lower, match, allowed):
                    problems.report(path, line_of(text, match.start()), f"`{match.group(0)}`: write {avoided[word]} ({GLOSSARY})")


def is_allowed(lower, match, allowed):
    """Whether the word is part of an allowed phrase."""
    return any(lower.startswith(phrase, start) for phrase in allowed for start in
               (match.start() - index for index in range(len(phrase)) if phrase.startswith(match.group(0).lower(), index))
               if start >= 0)
