"""The folders of src/ and what each may include, read from the table of ARCHITECTURE.md.

The order of the rows is the order of the layers: a file may include its own folder and the folders above it. The last
column names in backticks the folders that a folder must not reach at all, directly or through a header; what it names
without backticks is for readers.
"""
import re

TABLE_HEADER = "| folder | reads | produces | must never know |"
OTHER_FOLDERS_HEADER = "| other folder | contents |"
# Folders whose headers only their parent includes.
PRIVATE_FOLDERS = {"journal/sqlite/": "journal", "journal/postgres/": "journal", "types/check/": "types", "types/declarations/": "types"}
INCLUDE = re.compile(r'^\s*#\s*include "([\w/]+/[\w.]+)"', re.MULTILINE)


def read_layers(architecture):
    """The folders in order, and for each the folders that it must never reach."""
    start = architecture.find(TABLE_HEADER)
    if start < 0:
        raise ValueError(f"ARCHITECTURE.md has no table `{TABLE_HEADER}`")
    order, forbidden = [], {}
    for row in architecture[start:].split("\n")[2:]:
        if not row.startswith("|"):
            break
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        folder = re.fullmatch(r"`src/(\w+)`", cells[0])
        if not folder:
            raise ValueError(f"ARCHITECTURE.md: no folder of src/ in the row {row}")
        order.append(folder.group(1))
        forbidden[folder.group(1)] = set(re.findall(r"`(\w+)`", cells[-1]))
    return order, forbidden


def read_other_folders(architecture):
    """The folders beside src/."""
    start = architecture.find(OTHER_FOLDERS_HEADER)
    if start < 0:
        raise ValueError(f"ARCHITECTURE.md has no table `{OTHER_FOLDERS_HEADER}`")
    rows = architecture[start:].split("\n\n", 1)[0].split("\n")[2:]
    return {name for row in rows for name in re.findall(r"^\| `([\w.]+)`", row)}


def check_other_folders(repository, problems):
    named = read_other_folders(repository.texts["ARCHITECTURE.md"])
    present = {path.split("/")[0] for path in repository.paths if "/" in path} - {"src"}
    for folder in sorted(present - named):
        problems.report("ARCHITECTURE.md", 1, f"`{folder}` has no row in the table of other folders")
    for folder in sorted(named - present):
        problems.report("ARCHITECTURE.md", 1, f"the table of other folders names `{folder}`, which does not exist")


def reachable_headers(path, includes, known):
    """The headers that a file includes, directly or through others, each with the chain that leads to it."""
    if path not in known:
        known[path] = {}
        for header in includes.get(path, ()):
            known[path].setdefault(header, (header,))
            for further, chain in reachable_headers("src/" + header, includes, known).items():
                known[path].setdefault(further, (header, *chain))
    return known[path]


def check(repository, problems):
    check_other_folders(repository, problems)
    order, forbidden = read_layers(repository.texts["ARCHITECTURE.md"])
    folders = {path.split("/")[1] for path, _ in repository.cpp("src/") if path.count("/") > 1}
    for folder in sorted(folders - set(order)):
        problems.report("ARCHITECTURE.md", 1, f"`src/{folder}` has no row in the table of folders")
    for folder in sorted(set(order) - folders):
        problems.report("ARCHITECTURE.md", 1, f"the table of folders names `src/{folder}`, which does not exist")
    for folder, names in forbidden.items():
        for name in sorted(names - set(order)):
            problems.report("ARCHITECTURE.md", 1, f"`src/{folder}` must never know `{name}`, which is not a folder of src/")
    includes = {path: INCLUDE.findall(text) for path, text in repository.cpp("src/")}
    known = {}
    for path, text in repository.cpp("src/"):
        own = path.split("/")[1]
        if own not in order:
            continue
        is_test = path.endswith("_test.cpp")
        for match in INCLUDE.finditer(text):
            other = match.group(1).split("/")[0]
            line = text.count("\n", 0, match.start(1)) + 1
            for private, parent in PRIVATE_FOLDERS.items():
                if match.group(1).startswith(private) and own != parent:
                    problems.report(path, line, f"src/{private} is private to src/{parent}; include the interface in src/{parent}")
            if other in order:
                if order.index(other) > order.index(own):
                    problems.report(path, line, f"{own}/ includes {other}/, a later layer; move the declaration, or pass it in")
            elif not (other == "tests" and is_test):
                problems.report(path, line, f'"{other}/…" is not a layer of src/; third-party headers go in angle brackets')
        if is_test:
            continue
        for header, chain in reachable_headers(path, includes, known).items():
            other = header.split("/")[0]
            if other in forbidden[own]:
                problems.report(path, 1, f"{own}/ must never know {other}/ (ARCHITECTURE.md): included by {' -> '.join(chain)}")
