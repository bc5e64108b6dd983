"""Every path, heading and ./dev command that a document or a comment mentions exists."""
import posixpath
import re

NOT_FILES = {"llama.cpp", "sqlite3.h"}  # a project and a system header that comments name
FOLDERS = r"(?:src|docs|tests|tools|examples|stdlib|fuzz|bench|cmake|rust|include|prompts|python)"


def dev_commands(repository):
    return set(re.findall(r"^\./dev (\w+)", repository.texts["dev"], re.MULTILINE))


def check_document(repository, path, text, commands, problems):
    folder = (repository.root / path).parent
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        for command in re.findall(r"\./dev (\w+)", line):
            if command not in commands:
                problems.report(path, number, f"`./dev {command}` does not exist; there are: {', '.join(sorted(commands))}")
        targets = [target for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line) if "://" not in target]
        if not fenced:
            targets += [word for word in re.findall(r"`([\w./-]+)`", line)
                        if re.match(FOLDERS + "/", word) and not re.search("[A-Z]{3}", word)]
        for target in targets:
            if not (folder / target).exists() and not (repository.root / target).exists():
                problems.report(path, number, f"{target} does not exist")


def without_code(text):
    return re.sub(r"^```.*?^```", lambda block: "\n" * block.group(0).count("\n"), text, flags=re.DOTALL | re.MULTILINE)


def anchors_of(text):
    """The anchors that GitHub gives to the headings of a document."""
    anchors = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchors.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return anchors


def check_anchors(repository, path, text, anchors, problems):
    for number, line in enumerate(without_code(text).split("\n"), 1):
        for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", line):
            document = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            if document in anchors and anchor not in anchors[document]:
                problems.report(path, number, f"{document} has no heading `#{anchor}`")


def check_comments(repository, path, text, problems):
    """A comment names a file by its path from the root or from src/, or by its name beside the file."""
    folder = (repository.root / path).parent
    for number, line in enumerate(text.split("\n"), 1):
        comment = re.search(r"//(.*)", line)
        if not comment:
            continue
        for target in re.findall(r"(?<![\w./<*-])([a-z][\w-]*(?:/[\w-]+)*\.(?:cpp|h|md|py))\b", comment.group(1)):
            places = (repository.root, repository.root / "src", repository.root / "include", folder)
            if target not in NOT_FILES and not any((place / target).exists() for place in places):
                problems.report(path, number, f"the comment names {target}, which does not exist")


def check(repository, problems):
    commands = dev_commands(repository)
    anchors = {path: anchors_of(text) for path, text in repository.texts.items() if path.endswith(".md")}
    for path, text in repository.texts.items():
        if path.endswith(".md"):
            check_document(repository, path, text, commands, problems)
            check_anchors(repository, path, text, anchors, problems)
    for path, text in repository.cpp():
        check_comments(repository, path, text, problems)
