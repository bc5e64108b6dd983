"""A model that can do the tasks and makes random errors. It derives what it is asked from the request alone (schema, tools, text).

Whether it errs depends on the seed, the kind of answer, and how many answers of that kind the run has had. So both sides meet the same
errors at the same points, and only their reactions differ. Its verdicts as a judge are always right.
"""
import json
import random
import re

import tasks

EXTRACTION_ERRORS = 0.3
ARGUMENT_ERRORS = 0.2
ACTION_ERRORS = 0.3
CHOICE_ERRORS = 0.15

THEME = "The story's theme is that caring for a stranger can heal an old grief."
NO_THEME = "Old Marta keeps a lighthouse, and a boy comes ashore."
NOVELS = ["Silas Marner by George Eliot", "A Man Called Ove by Fredrik Backman", "Heidi by Johanna Spyri"]
NOVELS_WITHOUT_AUTHOR = ["Silas Marner by George Eliot", "A Man Called Ove"]
POEM = "Dover Beach by Matthew Arnold"


# How the requested action is recognized: by the function's name, or by the first sentence of its body.
ACTIONS = {
    "summarize_theme": ("def summarize_theme(", "Summarize the theme"),
    "suggest_poem": ("def suggest_poem(", "Suggest a poem"),
    "suggest_novels_based_on_theme": ("def suggest_novels_based_on_theme(", "Suggest novels"),
}


class Request:
    """The parts of a request that the model uses."""

    def __init__(self, body):
        self.messages = body["messages"]
        self.tools = {tool["function"]["name"] for tool in body.get("tools") or []}
        form = (body.get("response_format") or {}).get("json_schema") or {}
        self.schema = form.get("schema")

    def texts(self, *roles):
        return [message.get("content") or "" for message in self.messages if not roles or message["role"] in roles]

    @property
    def last(self):
        return self.texts()[-1]


class ScriptedModel:
    def __init__(self, run):
        self.run = run

    def errs(self, kind, share):
        """Draws one random number for each answer of this kind."""
        count = self.run.kinds[kind]
        self.run.kinds[kind] += 1
        return random.Random(f"{self.run.seed} {kind} {count}").random() < share

    def answer(self, body):
        return getattr(self, self.run.task)(Request(body))

    # ---- extraction

    def extraction(self, request):
        booking = tasks.TASKS["extraction"].booking(self.run.seed)
        if self.errs("booking", EXTRACTION_ERRORS):
            booking["guest"] = "John Smith"
        return said(shaped(request.schema, booking))

    # ---- ReAct

    def react(self, request):
        """Returns the next call, as a tool call or as the choice of a clause, whichever the request asks for."""
        seen = "\n".join(request.texts())
        if tasks.Weather.report in seen:
            end = "final_answer" if request.tools else "finish"
            return self.call(request, end, answer="Today's high temperature in Thornton, NH is 78 degrees.")
        wrong = self.errs("arguments", ARGUMENT_ERRORS)
        if tasks.Weather.zip_code in seen:
            return self.call(request, "weather", zip_code="02108" if wrong else tasks.Weather.zip_code)
        return self.call(request, "zip_lookup", city="Boston" if wrong else "Thornton, NH")

    @staticmethod
    def call(request, name, **arguments):
        if request.tools:
            return called(name, **arguments)
        form = clauses(request.schema)[name]
        call = {"function": name, "choice": form.get("choice", {}).get("const"), "arguments": arguments}
        return said(json.dumps({"call": {key: value for key, value in call.items() if key in form}}))

    # ---- the Kripke agent

    def kripke(self, request):
        """Returns a verdict, a choice among actions, or an action's result, depending on the schema and the text."""
        words = "\n".join(request.texts())
        judged = re.search(r"Output:(.*)\n\s*Requirement:(.*)", request.last, re.DOTALL)
        if judged:
            return said("yes" if fulfils(judged[1], judged[2]) else "no")
        if "Judge whether each" in words:
            return said(shaped(request.schema, list(verdicts(words))))
        names = alternatives(request.schema)
        if names:
            return said(json.dumps({"next_action": self.choice(names)}))
        if "call" in (request.schema or {}).get("properties", {}):
            return self.call(request, self.choice(clauses(request.schema)))
        return said(shaped(request.schema, self.result(action_of(request))))

    def choice(self, names):
        if "suggest_novels_based_on_theme" in names:
            return "suggest_novels_based_on_theme"
        return "suggest_poem" if self.errs("choice", CHOICE_ERRORS) and "suggest_poem" in names else "summarize_theme"

    def result(self, action):
        wrong = self.errs(action, ACTION_ERRORS)
        if action == "summarize_theme":
            return NO_THEME if wrong else THEME
        if action == "suggest_poem":
            return POEM
        return NOVELS_WITHOUT_AUTHOR if wrong else NOVELS


def said(text):
    return {"content": text}


def called(name, **arguments):
    return {"tool_calls": [{"id": "call_0", "type": "function",
                            "function": {"name": name, "arguments": json.dumps(arguments)}}]}


def shaped(schema, value):
    """Returns the value in the schema's form: as it is, or as the only property of an object."""
    properties = (schema or {}).get("properties") or {}
    if schema is None and isinstance(value, str):
        return value
    if len(properties) == 1 and not (isinstance(value, dict) and set(value) == set(properties)):
        value = {next(iter(properties)): value}
    return json.dumps(value)


def alternatives(schema):
    """Returns the possible names in a choice of an action, or nothing if the schema asks for something else."""
    named = ((schema or {}).get("properties") or {}).get("next_action") or {}
    return named.get("enum") or ([named["const"]] if "const" in named else [])


def action_of(request):
    """Returns the one that is mentioned last, because earlier steps may precede it."""
    for text in reversed(request.texts("user")):
        for action, marks in ACTIONS.items():
            if any(mark in text for mark in marks):
                return action
    raise ValueError(f"the scripted model knows no action in: {request.texts()}")


def verdicts(words):
    """Answers as a judge that gets a subject and a numbered list of requirements."""
    subject = re.search(r"(?:The present state|Its value): (.*?)\nRequirements:\n(.*)", words, re.DOTALL)
    for requirement in re.findall(r"^\d+\. (.*)$", subject[2], re.MULTILINE):
        holds = fulfils(subject[1], requirement)
        yield {"holds": holds, "reason": None if holds else "It does not."}


def clauses(schema):
    """Returns the form of each clause that a `select` may choose, by the name of its function."""
    forms = [form["properties"] for form in schema["properties"]["call"]["anyOf"]]
    return {form["function"]["const"]: form for form in forms}


def fulfils(output, requirement):
    """Returns the judge's verdict on a value: a text, a list, or either as the only property of an object."""
    value = output.strip()
    try:
        value = json.loads(value)
    except ValueError:
        pass
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if "each element of the list" in requirement:
        return isinstance(value, list) and all(tasks.is_title_and_author(novel) for novel in value)
    if "short story" in requirement:
        return value == tasks.Novels.story
    if "summary of the story's theme" in requirement:
        return value == THEME
    if "poem" in requirement:
        return value == POEM
    raise ValueError(f"the scripted judge knows no requirement like: {requirement}")
