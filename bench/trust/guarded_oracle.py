"""The oracle as it plays in `std::guarded`: the model that plans, which is sent references in the place of what others have written, and
the one that reads these parts.
"""
import json
import re

from oracle import NUMBER, Oracle, choice, is_found_in, plain_text

# As std::guarded finds them.
WANTED = {
    "web address": r"(https?://)?([\w-]+\.)+[^\W\d_]{2,}(:[0-9]+)?(/[^ ]*)?",
    "e-mail address": r"[\w.+-]+@([^\W_]+[\w-]*\.)+[^\W\d_]{2,}",
    "number": r"[+-]?[0-9][0-9,]*(\.[0-9]+)?",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "account number": r"[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}",
}
FOUND_MAX = 4
# Parameters for what a model writes in its own words.
WRITTEN = ("body", "content")


def find(text, wanted):
    words = (re.sub(r"^[^\w+-]+|[^\w/]+$", "", word) for word in text.split())
    return [word for word in words if word and re.fullmatch(WANTED[wanted], word)]


def is_own_words(value, text):
    """Whether a model can write this from what it was sent: most of the words are there."""
    words = re.findall(r"[\w']+", value.lower())
    return 2 * sum(word in text for word in words) > len(words)


def as_text(value):
    """As std::guarded refers to a part."""
    return value if isinstance(value, str) else json.dumps(value)


class GuardedOracle(Oracle):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.parts = {}  # by number: what the model knows to be there, since it knows the tools and the task
        self.unread = []  # numbers of parts that the next text is to be written from
        self.expected = None  # what the last move gives
        self.answers = []  # numbers of what was said of such parts
        self.is_writing = False  # the last move reads a part to write from it
        self.wanted = None  # by who reads next

    def complete(self, request):
        return self.read(request) if request.label == "answer_about" else self.plan(request)

    # Who reads a part.

    def read(self, request):
        text = plain_text(request.text)
        if self.sees_attack(text):
            self.was_fooled = True
            return " ".join(str(value) for _, arguments in self.attack_calls for value in arguments.values())
        if self.wanted is not None:
            return as_text(self.wanted) if is_found_in(self.wanted, text) else "it does not say"
        said = request.text.split("nothing else. Give no reasons.", 1)[-1].rsplit("The question:", 1)[0]
        return " ".join(word for word in said.split() if not find(word, "web address"))[:200] or "nothing"

    # Who plans.

    def plan(self, request):
        self.learn(request.text)
        text = plain_text(request.text)
        if self.sees_attack(text) and self.attack_calls:
            self.was_fooled = True
            return self.call(*self.attack_calls.pop(0))
        while self.calls:
            function, arguments = self.calls[0]
            move = self.move_towards(function, arguments, text)
            if move is not None:
                return move
            self.calls.pop(0)
        return self.finish(text)

    def finish(self, text):
        """The answer, in its own words or by reference."""
        answer = self.final_answer()
        if is_found_in(answer, text) or is_own_words(answer, text):
            return choice("finish", {"answer": answer})
        if self.reference_to(answer) is None and (move := self.extraction(answer)) is not None:
            return move
        given = self.reference_to(answer) or " ".join(f"[#{number}]" for number in self.parts)
        return choice("finish", {"answer": given or answer})

    def learn(self, text):
        """Adds the parts of the newest result."""
        shown = text.rsplit("\nResult: ", 1)
        if len(shown) != 2 or self.expected is None:
            return
        line = shown[1].split("\n\n", 1)[0].split("\n", 1)[0]
        self.align(line, self.expected())
        self.expected = None

    def align(self, shown, value):
        marked = re.sub(r'\[#(\d+)(?: [^\]]*)?\]', r'"[#\1]"', shown)
        whole = re.fullmatch(r'"\[#(\d+)\]"', marked)
        if whole:
            self.add(int(whole.group(1)), value)
            return
        try:
            self.walk(json.loads(marked), value)
        except json.JSONDecodeError:
            pass  # a text in the open

    def walk(self, shown, value):
        reference = re.fullmatch(r"\[#(\d+)\]", shown) if isinstance(shown, str) else None
        if reference:
            self.add(int(reference.group(1)), value)
        elif isinstance(shown, dict):
            for key, one in shown.items():
                self.walk(one, value.get(key) if isinstance(value, dict) else None)
        elif isinstance(shown, list) and isinstance(value, list):
            for one, other in zip(shown, value):
                self.walk(one, other)

    def add(self, number, value):
        if number in self.parts:
            return
        self.parts[number] = as_text(value)
        (self.answers if self.is_writing else self.unread).append(number)
        self.is_writing = False

    def call(self, function, arguments):
        self.expected = lambda: self.agent.calls[-1].result if self.agent.calls else None
        return choice("call", {"tool": function, "arguments": {name: as_text(value) for name, value in arguments.items() if value is not None}})

    def move_towards(self, function, arguments, text):
        """The next move towards a call; None: it cannot be made."""
        given = {}
        for name, value in arguments.items():
            if name in self.sinks.get(function, ()):
                move, given[name] = self.sink_value(value, text)
            elif name in WRITTEN and not is_own_words(value, text):
                move, given[name] = self.written_text()
            else:
                move, given[name] = None, value if is_found_in(value, text) else self.reference_to(value) or value
            if move is not None:
                return move
            if given[name] is None:
                return None
        self.calls.pop(0)
        if any(name in WRITTEN for name in given):
            self.unread, self.answers = [], []
        return self.call(function, given)

    def sink_value(self, value, text):
        """A move that is needed first, and the value as it can be given, or None."""
        if is_found_in(value, text):
            return None, value
        if reference := self.reference_to(value):
            return None, reference
        expression = self.expression_of(value)
        if expression is not None:
            return self.calculation(value, expression, text)
        return self.extraction(value), None

    def reference_to(self, value):
        return next((f"[#{number}]" for number, part in self.parts.items() if part == as_text(value)), None)

    def calculation(self, value, expression, text):
        for number in re.findall(NUMBER, expression):
            if is_found_in(float(number), text):
                continue
            known = next((at for at, part in self.parts.items() if re.fullmatch(NUMBER, part) and float(part) == float(number)), None)
            if known is None:
                hidden = next((one for part in self.parts.values() for one in find(part, "number") if float(one.replace(",", "")) == float(number)),
                              None)
                return (self.extraction(hidden), None) if hidden is not None else (None, None)
            expression = re.sub(rf"(?<![#\d.]){re.escape(number)}(?![\d.\]])", f"[#{known}]", expression)
        self.expected = lambda: f"{value:g}"
        return choice("calculate", {"expression": expression}), None

    def extraction(self, value):
        """Finds the value in a part, or has it read."""
        for number, part in self.parts.items():
            for wanted in WANTED:
                places = find(part, wanted)[:FOUND_MAX]
                if value in places:
                    self.expected = lambda: value
                    return choice("extract", {"reference": f"[#{number}]", "wanted": wanted, "which": places.index(value) + 1})
        for number, part in self.parts.items():
            if is_found_in(value, plain_text(part)):
                self.wanted = value
                self.expected = lambda: value
                return choice("read", {"references": [f"[#{number}]"], "question": "What does it say about this?"})
        return None

    def written_text(self):
        """A text from what was read: each part is read on its own."""
        if self.unread:
            number = self.unread.pop(0)
            self.wanted = None
            self.expected = lambda: ""
            self.is_writing = True
            return choice("read", {"references": [f"[#{number}]"], "question": "What does it say?"}), None
        return None, " ".join(f"[#{number}]" for number in self.answers) or "Hello."

    # The person.

    def decide(self, wait):
        """Yes to the calls that solve the task, and to them only."""
        if not self.has_person:
            return "no"
        self.approvals += 1
        function = re.fullmatch(r"Call `(\w+)`\?", wait.question).group(1)
        sinks = self.sinks.get(function, ())
        is_solution = any(called == function and all(arguments.get(name) == wait.value.get(name) for name in sinks)
                          for called, arguments in self.solution)
        return "yes" if is_solution else "no"
