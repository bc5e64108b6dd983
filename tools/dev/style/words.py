"""Checks that no text and no name contains the words that docs/glossary.md says to avoid."""
import re

from style.repository import line_of

GLOSSARY = "docs/glossary.md"
TERMS_MAX = 30
# Recorded data, third-party files, and files that only list the words.
IGNORED = (GLOSSARY, "tests/journals/", "bench/results/", "tools/dev/style/", "tests/style/", "LICENSE", "rust/Cargo.lock")
IGNORED_ENDINGS = ("package-lock.json", ".lock")


def read_glossary(text):
    """Returns the terms, and the words to avoid with their replacements."""
    terms, avoided = [], {}
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
    return terms, avoided


def check(repository, problems):
    terms, avoided = read_glossary(repository.texts[GLOSSARY])
    if len(terms) > TERMS_MAX:
        problems.report(GLOSSARY, 1, f"{len(terms)} terms (maximum {TERMS_MAX})")
    if not avoided:
        problems.report(GLOSSARY, 1, "no words to avoid: the tables cannot be read")
        return
    # A name such as `told_problem` has the word too.
    alternatives = "|".join(re.escape(word).replace(r"\ ", r"[\s]+") for word in sorted(avoided, key=len, reverse=True))
    pattern = re.compile(rf"(?<![A-Za-z])(?:{alternatives})(?![A-Za-z])", re.IGNORECASE)
    for path, text in repository.texts.items():
        if path.startswith(IGNORED) or path.endswith(IGNORED_ENDINGS):
            continue
        for match in pattern.finditer(text):
            word = re.sub(r"\s+", " ", match.group(0)).lower()
            problems.report(path, line_of(text, match.start()), f"`{match.group(0)}`: write {avoided[word]} ({GLOSSARY})")
