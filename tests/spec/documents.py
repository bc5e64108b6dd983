"""Reads the code blocks of a Markdown document: the examples and their expectations."""
import pathlib
import re
import shlex
from dataclasses import dataclass, field

FENCE = re.compile(r"^```([^`]*)$")
# `//    ^^^ error[E2101] words of the message`; after `//<` the line is read as if it began three columns further left.
ASSERTION = re.compile(r"^(?P<start>[ ]*//)(?P<shift><?)(?P<blanks>[ ]*)(?P<carets>\^+) "
                       r"(?P<severity>error|warning|note)\[(?P<code>[EWN]\d{4})\]:?[ ]*(?P<words>.*)$")
# Blocks after an example that are compared with its behaviour.
EXPECTATIONS = ("output", "prompt", "failure", "transcript")
# Blocks after an example that are part of its run: the model's answers, and a library with its externs.
PARTS = ("script", "c")
# Further files of an example. A block of these kinds without a file name, or with the word `illustration`, illustrates a guide.
FILES = ("cpp", "python")
ILLUSTRATION = "illustration"


@dataclass(frozen=True)
class Assertion:
    line: int  # in the program without its assertions, from 1
    column: int  # in code points, from 1
    length: int
    severity: str
    code: str
    words: str = ""

    def place(self):
        return (self.line, self.column, self.length, self.code)

    def written(self):
        blanks = self.column - 1
        head = "//<" + " " * blanks if blanks < 3 else "//" + " " * (blanks - 2)
        return f"{head}{'^' * self.length} {self.severity}[{self.code}]" + (f": {self.words}" if self.words else "")


@dataclass
class Block:
    """A fenced block. `first` is the index of its first line in the document, `end` that of its closing fence."""
    kind: str
    info: str
    first: int
    end: int
    lines: list

    def text(self):
        return "".join(line + "\n" for line in self.lines)


@dataclass
class Example:
    """A `tenon` block with the blocks that belong to it."""
    document: pathlib.Path
    block: Block
    code: list = field(default_factory=list)  # its lines without the assertions
    assertions: list = field(default_factory=list)
    companions: list = field(default_factory=list)  # preceding examples with `file=`
    attached: dict = field(default_factory=dict)  # kind -> Block
    files: list = field(default_factory=list)  # further files, as Blocks
    problems: list = field(default_factory=list)
    file_name: str = "example.tn"
    is_companion: bool = False
    function: str = ""
    arguments: list = field(default_factory=list)
    result: str | None = None
    strict: bool = False

    def name(self):
        return f"{self.document}:{self.block.first}"

    def source(self):
        return "".join(line + "\n" for line in self.code)

    def runs(self):
        return self.function != ""

    def transcripts(self):
        """Of which there may be several: the kinds of their blocks in `attached`."""
        return [kind for kind in self.attached if kind.split(" ")[0] == "transcript"]

    def has_tests(self):
        return any(re.match(r'test\s+"', line) for line in self.code)


def read_blocks(text):
    """Returns all fenced blocks in order; an unclosed one extends to the end of the document."""
    lines = text.split("\n")
    blocks = []
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        at += 1
        if fence is None:
            continue
        first = at
        while at < len(lines) and lines[at] != "```":
            at += 1
        info = fence.group(1).strip()
        blocks.append(Block(info.split(" ")[0], info, first, at, lines[first:at]))
        at += 1
    return blocks


def read_assertions(example):
    """Splits the example's lines into program and assertions."""
    for line in example.block.lines:
        found = ASSERTION.match(line)
        if found is None:
            example.code.append(line)
            continue
        shift = -len(found["start"]) - 1 if found["shift"] else 0
        column = found.start("carets") + 1 + shift
        if not example.code:
            example.problems.append("there is no line above the carets")
        example.assertions.append(Assertion(len(example.code), column, len(found["carets"]), found["severity"],
                                            found["code"], found["words"]))


def read_info(example):
    """`run`, `run=FUNCTION`, `strict`, `file=NAME` of a file that the next example uses, `main=NAME` of the example's own file, arguments `name=value`, options `--…`, and `=> RESULT` at the end."""
    info = example.block.info[len("tenon"):]
    if " => " in info:
        info, example.result = (part.strip() for part in info.split(" => ", 1))
    for word in shlex.split(info):
        if word == "strict":
            example.strict = True
        elif word == "run" or word.startswith("run="):
            example.function = word[4:] or "main"
        elif word.startswith("file="):
            example.file_name = word[5:]
            example.is_companion = True
        elif word.startswith("main="):
            example.file_name = word[5:]
        elif word.startswith("--"):
            example.arguments.append(word)
        elif "=" in word:
            example.arguments += ["--arg", word]
        else:
            example.problems.append(f"unknown word `{word}` after ```tenon")


def read_examples(document, text):
    """Returns the examples of a document, and the problems of its form."""
    examples, companions, problems = [], [], []
    for block in read_blocks(text):
        if block.kind == "tenon":
            example = Example(document, block)
            read_assertions(example)
            read_info(example)
            if example.is_companion:
                companions.append(example)
            else:
                example.companions = companions
                companions = []
            examples.append(example)
        elif block.kind == "c" and " " not in block.info and not (examples and examples[-1].runs()):
            continue  # illustrates a guide; only a block with a file name is written to disk, for a transcript
        elif block.kind in FILES:
            name = block.info.partition(" ")[2]
            if name and name != ILLUSTRATION and examples:
                examples[-1].files.append(block)
            elif block.kind == "python" and not name and document.parts[0] == "docs":  # the README's is run by python/tests
                problems.append(f"{document}:{block.first}: a python block needs the name of its file, for a transcript, or `illustration`")
        elif block.kind == "transcript" and examples and examples[-1].transcripts():
            examples[-1].attached[f"transcript {len(examples[-1].transcripts()) + 1}"] = block
        elif block.kind in EXPECTATIONS or block.kind in PARTS:
            if not examples:
                problems.append(f"{document}:{block.first}: there is no example before this {block.kind} block")
            elif block.kind in examples[-1].attached:
                problems.append(f"{document}:{block.first}: the example has a second {block.kind} block")
            else:
                examples[-1].attached[block.kind] = block
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("```") and not FENCE.match(line):
            problems.append(f"{document}:{number}: this is not a fence, because of the backtick after ```")
    for example in examples:
        if not example.transcripts():
            problems += [f"{document}:{block.first}: no transcript runs this file" for block in example.files if block.kind == "python"]
    for companion in companions:
        problems.append(f"{companion.name()}: no example uses this file")
    return examples, problems


def shell_blocks(text):
    return [block for block in read_blocks(text) if block.kind == "sh"]
