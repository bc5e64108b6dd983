"""Files, functions and classes that are too large to be read as one. In C++ it reads the layout that clang-format makes:
a function or class begins in the first column, and its closing brace ends it there."""
import ast
import re

from style.repository import line_of, without_comments_and_strings

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 100
CLASS_MEMBERS_MAX = 60
SCRIPT_COLUMNS_MAX = 140
# The folders whose files are read as code of the product, in C++ and in other languages. Tests and benchmarks may be longer.
FOLDERS = ("src/", "include/", "python/core/", "python/tenon/", "tools/", "cmake/", "rust/", "stdlib/")
SCRIPTS = (".py", ".cmake", ".rs", ".tn", ".sh")

# Larger ones: the size that they may have at most, which only ever gets smaller.
EXCEPTIONS = {
    "interpret": 521,  # the dispatch loop: one case for each instruction
}

NOT_A_FUNCTION = re.compile(r"(namespace|class|struct|enum|union|extern|(inline |static )?const(expr)? |template <.*> (class|struct))")
CLASS = re.compile(r"^(?:template <.*>\n)?(?:class|struct) (?:\[\[\w+\]\] )?(\w+(?:::\w+)*)[^;{]*\{\n(.*?)^\};", re.DOTALL | re.MULTILINE)


def functions(code):
    """(first line, lines, name) of each function that has its own body at the outermost level."""
    lines = code.split("\n")
    start = head = None
    for number, line in enumerate(lines):
        if start is None:
            if re.match(r"[A-Za-z_\[~]", line):
                head = number
            if line.endswith("{") and line[:1] not in ("", "}", "#") and head is not None:
                text = " ".join(lines[head:number + 1])
                name = re.search(r"([\w:~]+|operator\S+)\(", text)
                if name and not NOT_A_FUNCTION.match(text):
                    start = (head, name.group(1))
        elif line.startswith("}"):
            yield start[0] + 1, number - start[0] + 1, start[1]
            start = head = None


def members(body):
    """How many members a class's body declares: data, functions, nested types."""
    count = depth = parentheses = 0
    for character in body:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        elif character == "(":
            parentheses += 1
        elif character == ")":
            parentheses -= 1
        elif character == ";" and depth == 0 and parentheses == 0:
            count += 1
    # Functions that are defined in the class end without a semicolon.
    return count + len(re.findall(r"^  \S.*\)(?: const)?(?: noexcept)?(?: override)? \{", body, re.MULTILINE))


def check(repository, problems):
    for path, text in repository.texts.items():
        is_cpp = path.endswith((".cpp", ".h", ".hpp"))
        if not path.startswith(FOLDERS) or not (is_cpp or path.endswith(SCRIPTS)):
            continue
        lines = text.count("\n")
        if lines > FILE_LINES_MAX:
            problems.report(path, lines, f"{lines} lines (maximum {FILE_LINES_MAX}); split the file by what its parts do")
        if is_cpp and not path.endswith("_test.cpp"):
            check_cpp(path, text, problems)
        elif not is_cpp:
            check_script(path, text, problems)


def check_cpp(path, text, problems):
    code = without_comments_and_strings(text)
    for first, length, name in functions(code):
        check_function(path, first, length, name, problems)
    for match in CLASS.finditer(code):
        count = members(match.group(2))
        if count > EXCEPTIONS.get(match.group(1), CLASS_MEMBERS_MAX):
            problems.report(path, line_of(code, match.start()),
                            f"`{match.group(1)}` has {count} members (maximum {CLASS_MEMBERS_MAX}); split its responsibilities")


def check_script(path, text, problems):
    for number, line in enumerate(text.split("\n"), 1):
        is_entry = path.endswith(".tn") and line.endswith('"!')  # text for a model, which cannot be broken
        if len(line) > SCRIPT_COLUMNS_MAX and not is_entry:
            problems.report(path, number, f"{len(line)} columns (maximum {SCRIPT_COLUMNS_MAX})")
    if path.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                check_function(path, node.lineno, node.end_lineno - node.lineno + 1, node.name, problems)


def check_function(path, first, length, name, problems):
    if length > EXCEPTIONS.get(name, FUNCTION_LINES_MAX):
        problems.report(path, first, f"`{name}` has {length} lines (maximum {FUNCTION_LINES_MAX}); split it by step")
