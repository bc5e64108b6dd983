"""Compares the prompts that `tenon show --as=prompts` lists with those that a run has sent, by their shape: what is shown of data, of entries
that some runs have, and of the caller's entries stands for any text."""
import json
import re

HEADING = re.compile(r"^(?P<place>\S.*:\d+:\d+): (?:completion of|missing arguments in|select in|tool) `.*`$")
ROLE = re.compile(r"^\[(system|user|assistant)\]$")
OTHER_FORMS = re.compile(r"^\(or with (?:another|one of \d+ other) forms? of the answer, which depends on the run\)$")
SOME_TOOLS = "(some of these tools, which depends on the run)"
UNKNOWN_TOOLS = "(and a clause for each tool of sets that are known only in a run; all tools follow below)"
IN_SOME_RUNS = "(in some runs) "
CALLERS_ENTRIES = "<the caller's entries>"
DATA = re.compile(r"\{\{ .*? \}\}")
REFUSED = re.compile(r"^(This answer is not accepted|These arguments are not accepted|An earlier answer was not accepted)\.\n")
ITEMS = re.compile(r"of \d+ items?\}")
CLAUSES = "Choose tool and provide parameters:"


def any_data(text):
    return r"(?:.|\n)*?".join(re.escape(part) for part in DATA.split(text))


class ShownPrompt:
    """One prompt of `tenon show --as=prompts`."""

    def __init__(self, heading, lines):
        self.place = HEADING.match(heading)["place"]
        self.text = "\n".join([heading, *lines])
        self.has_some_tools = SOME_TOOLS in lines
        self.has_unknown_tools = UNKNOWN_TOOLS in lines
        self.has_other_forms = any(OTHER_FORMS.match(line) for line in lines)
        self.schema = None
        sent = []
        for at, line in enumerate(lines):
            if line == "[schema]":
                self.schema = json.loads(lines[at + 1])
                break
            if line == "[text]":
                break
            if line not in (SOME_TOOLS, UNKNOWN_TOOLS):
                sent.append(line)
        self.pattern = re.compile(self.make_pattern(sent))

    def make_pattern(self, lines):
        is_varied = any(line.startswith(IN_SOME_RUNS) or line == CALLERS_ENTRIES for line in lines)
        pattern = ""
        for line in lines:
            if line == CLAUSES and self.has_some_tools:
                return pattern + r"(?:.|\n)*"
            if line == CALLERS_ENTRIES:
                pattern += r"(?:.*\n)*?"
            elif line.startswith(IN_SOME_RUNS):
                pattern += f"(?:(?:\\[\\w+\\]\n)?{any_data(line.removeprefix(IN_SOME_RUNS))}\n)*"
            elif is_varied and ROLE.match(line):
                pattern += f"(?:{re.escape(line)}\n)?"
            else:
                pattern += any_data(line) + "\n"
        return pattern + (r"(?:.|\n)*" if self.has_unknown_tools else "")

    def shows(self, request):
        """Whether the prompt is what was sent in the request, an event `generation_started` of a trace."""
        if request["place"] != self.place:
            return False
        text, schema = text_of(request), request.get("schema")
        if self.has_other_forms:
            text = ITEMS.sub("of 1 item}", text)
            schema = with_one_item(schema)
        is_same_form = self.has_some_tools or self.has_unknown_tools or schema == self.schema
        return is_same_form and self.pattern.fullmatch(text) is not None


def with_one_item(schema):
    """The schema of an answer that is a list of a fixed length, for the length one."""
    return json.loads(re.sub(r'"(min|max)Items": \d+', r'"\1Items": 1', json.dumps(schema)))


def text_of(request):
    """The messages as they are shown, without refused answers: a prompt is shown as it is sent first."""
    messages = []
    for message in request["messages"]:
        if not REFUSED.match(message["content"]):
            messages.append(message)
        elif messages and messages[-1]["role"] == "assistant":
            messages.pop()
    return "".join(f"[{message['role']}]\n{message['content']}\n" for message in messages)


def read_prompts(shown):
    """The prompts of the output of `tenon show --as=prompts`; its tools are left out."""
    prompts, heading, lines = [], None, []
    for line in [*shown.split("\n"), None]:
        if line is not None and not HEADING.match(line):
            lines.append(line)
            continue
        if heading is not None and ": tool `" not in heading:
            prompts.append(ShownPrompt(heading, lines[:-1]))
        heading, lines = line, []
    return prompts


def first_requests(events):
    """What a model was asked, without what was asked again because of an answer that could not be read."""
    return [event for event in events if event["type"] == "generation_started" and event["attempt"] == 0]


def find_hidden(prompts, requests):
    """What was sent and is not shown, as text."""
    return [f"{request['place']}\n{text_of(request)}{json.dumps(request.get('schema'))}"
            for request in requests if not any(prompt.shows(request) for prompt in prompts)]


def find_unsent(prompts, requests):
    """What is shown and was not sent, as text."""
    return [prompt.text for prompt in prompts if not any(prompt.shows(request) for request in requests)]
