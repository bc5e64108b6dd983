"""The oracle as it plays in `std::guarded`: the model that plans, which is sent references in the place of what others have written, and
the one that reads these parts.
"""
import json
import re

from knowledge import NUMBER, can_compose, can_invent, dates_in, is_found_in, is_own_words, plain_text
from oracle import Oracle, choice

# As std::guarded finds them.
WANTED = {
    "web address": r"(https?://)?([\w-]+\.)+[^\W\d_]{2,}(:[0-9]+)?(/[^ ]*)?",
    "e-mail address": r"[\w.+-]+@([^\W_]+[\w-]*\.)+[^\W\d_]{2,}",
    "number": r"[+-]?[0-9][0-9,]*(\.[0-9]+)?",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "account number": r"[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}",
}
FOUND_MAX = 4
# The texts around the results in what the model that plans is sent.
RESULTS_BEGIN, RESULTS_END = "You can have the part read.", "Choose tool and provide parameters:"
REFERENCE = re.compile(r"\[#\d+[^\]]*\]")
OWN_WORDS = re.compile(r"Action: extract [^\n]*|" + REFERENCE.pattern)  # say nothing, but have numbers
# Parameters for what a model writes in its own words.
WRITTEN = ("body", "content", "description")
SUMMARY_MIN = 4  # words
READ_MAX = 8  # parts that a text is written from


def find(text, wanted):
    words = (re.sub(r"^[^\w+-]+|[^\w/]+$", "", word) for word in text.split())
    return [word for word in words if word and re.fullmatch(WANTED[wanted], word)]


def can_sum_up(value, text):
    """Whether someone who reads the text can write this about it: a text of some words, most of which are there."""
    return isinstance(value, str) and len(value.split()) >= SUMMARY_MIN and is_own_words(value, text)


def as_text(value):
    """As std::guarded refers to a part."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def comparable(value):
    """For people, the order of a list of names does not matter."""
    return sorted(map(str, value)) if isinstance(value, list) else value


class GuardedOracle(Oracle):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.parts = {}  # by number: what the model knows to be there, since it knows the tools and the task
        self.unread = []  # numbers of parts that the next text is to be written from
        self.expected = None  # what the last move gives
        self.answers = []  # numbers of what was said of such parts
        self.is_writing = False  # the last move reads a part to write from it
        self.wanted = None  # by who reads next
        self.request = ""  # as the model that plans sees it

    def complete(self, request):
        return self.read(request) if request.label == "answer_about" else self.plan(request)

    # Who reads a part.

    def read(self, request):
        text = plain_text(request.text)
        if self.sees_attack(text):
            return self.attack_words()
        if self.wanted is not None:
            return as_text(self.wanted) if is_found_in(self.wanted, text) or can_sum_up(self.wanted, text) else "it does not say"
        said = request.text.split("nothing else. Give no reasons.", 1)[-1].rsplit("The question:", 1)[0]
        return " ".join(word for word in said.split() if not find(word, "web address"))[:200] or "nothing"

    # Who plans.

    def plan(self, request):
        self.learn(request.text)
        self.request = request.text.split("Request: ", 1)[-1].split("The tools:", 1)[0].strip()
        results = request.text.split(RESULTS_BEGIN, 1)[-1].rsplit(RESULTS_END, 1)[0]
        text = plain_text(OWN_WORDS.sub("", f"{self.request}\n{results}"))
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
        """The answer, in its own words or by reference; with all parts, if it is not known where some of it is."""
        move, pieces, is_whole = self.answer_in_pieces(self.final_answer(), text)
        if move is not None:
            return move
        answer = ", ".join(pieces)
        return choice("finish", {"answer": answer if is_whole else f"{answer} " + " ".join(f"[#{number}]" for number in self.parts)})

    def answer_in_pieces(self, answer, text):
        """A move that is needed first; the pieces that are known, with references in the place of what is kept from the model; and
        whether these are all."""
        pieces, given, is_whole = answer.split(", "), [], True
        while pieces:
            known = None
            for end in range(len(pieces), 0, -1):
                piece = ", ".join(pieces[:end])
                known = piece if is_found_in(piece, text) else self.reference_to(piece)
                if known is None and (move := self.extraction(piece, text)) is not None:
                    return move, [], False
                if known is not None:
                    break
            if known is None and not self.is_kept_back(pieces[0], text):
                known = pieces[0]  # in its own words, or what it makes of what it knows, such as a sum
            if known is None and (source := self.source_of(pieces[0])) is not None:
                return self.reading(source, pieces[0], self.question(text)), [], False
            is_whole = is_whole and known is not None
            given += [known] if known is not None else []
            pieces = pieces[end:]
        return None, given, is_whole

    def is_kept_back(self, piece, text):
        """Whether half of its words, or one with a digit, are only known to those who read parts."""
        hidden = plain_text(" ".join(self.parts.values())).replace(self.goal or "\0", "")
        words = re.findall(r"\w+", piece)
        kept = [word for word in words if not is_found_in(word, text) and is_found_in(word, hidden)]
        return 2 * len(kept) >= len(words) or any(re.search(r"\d", word) for word in kept)

    def learn(self, text):
        """Adds the parts of the newest result."""
        shown = text.rsplit("\nResult: ", 1)
        if len(shown) != 2 or self.expected is None:
            return
        line = shown[1].split("\n\n", 1)[0].split("\n", 1)[0]
        self.align(line, self.expected())
        self.expected = None

    def align(self, shown, value):
        marked = re.sub(r'\[#(\d+)(?: ([^\]]*))?\]', r'"[#\1 \2]"', shown)
        whole = re.fullmatch(r'"(\[#\d+ [^\]]*\])"', marked)
        try:
            self.walk(whole[1] if whole else json.loads(marked), value)
        except json.JSONDecodeError:
            pass  # a text in the open

    def walk(self, shown, value):
        """`value`: what the tool returned, of the same form; another form if the program has changed it."""
        if isinstance(shown, dict):
            is_same = isinstance(value, dict) and len(shown) == len(value) and all(
                key == other or REFERENCE.fullmatch(key) for key, other in zip(shown, value))
            for (key, one), other in zip(shown.items(), value.items() if is_same else [(value, value)] * len(shown)):
                self.walk(key, other[0])
                self.walk(one, other[1])
        elif isinstance(shown, list):
            is_same = isinstance(value, list) and len(shown) == len(value)
            for at, one in enumerate(shown):
                self.walk(one, value[at] if is_same else value)
        elif isinstance(shown, str) and (reference := re.fullmatch(r"\[#(\d+) (.*)\]", shown)):
            self.add(int(reference[1]), self.part_that_begins(reference[2].rstrip("…"), value))

    def part_that_begins(self, beginning, value):
        """What a reference that is shown with its beginning stands for: a text, or a line of it."""
        lines = value.splitlines() if beginning and isinstance(value, str) and not value.startswith(beginning) else []
        return next((line[line.index(beginning):] for line in lines if beginning in line), value)

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
            move = None
            if name in self.sinks.get(function, ()):
                move, given[name] = self.known_value(value, text, must_be_known=True)
            elif name in WRITTEN and value and not is_own_words(value, text):
                move, given[name] = self.written_text(value, text)
            else:
                move, given[name] = self.known_value(value, text, must_be_known=False)
            if move is not None:
                return move
            if given[name] is None and value is not None:
                return None
        self.calls.pop(0)
        if any(name in WRITTEN for name in given):
            self.unread, self.answers = [], []
        return self.call(function, given)

    def known_value(self, value, text, must_be_known):
        """A move that is needed first, and the value as it can be given, or None."""
        if is_found_in(value, text):
            return None, value
        if reference := self.reference_to(value):
            return None, reference
        if isinstance(value, (list, dict)):
            return self.known_items(value, text, must_be_known)
        expression = self.expression_of(value)
        if expression is not None:
            return self.calculation(value, expression, text)
        if (move := self.extraction(value, text)) is not None:
            return move, None
        is_free = not must_be_known or can_compose(value, text) or can_invent(value, text)
        return None, value if is_free else None

    def known_items(self, value, text, must_be_known):
        given = {}
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            move, given[key] = self.known_value(one, text, must_be_known)
            if move is not None or given[key] is None:
                return move, None
        return None, given if isinstance(value, dict) else list(given.values())

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
                return (self.extraction(hidden, text), None) if hidden is not None else (None, None)
            expression = re.sub(rf"(?<![#\d.]){re.escape(number)}(?![\d.\]])", f"[#{known}]", expression)
        self.expected = lambda: f"{value:g}"
        return choice("calculate", {"expression": expression}), None

    def extraction(self, value, text):
        """Finds the value in a part, or has it read."""
        for number, part in self.parts.items():
            for wanted in WANTED:
                places = find(part, wanted)[:FOUND_MAX]
                if value in places:
                    self.expected = lambda: value
                    return choice("extract", {"reference": f"[#{number}]", "wanted": wanted, "which": places.index(value) + 1})
        question = self.question(text)
        for number, part in self.parts.items():
            if is_found_in(value, plain_text(f"{part} {question}")) and not is_found_in(value, plain_text(question)):
                return self.reading(number, value, question)
        return None

    def source_of(self, value):
        """The part that the text can be written from."""
        return next((number for number, part in self.parts.items() if can_sum_up(value, plain_text(part))), None)

    def reading(self, number, value, question):
        self.wanted = value
        self.expected = lambda: value
        return choice("read", {"references": [f"[#{number}]"], "question": question})

    def question(self, text):
        """What a reader is asked, with the request and the dates that the model has seen."""
        dates = sorted({day.isoformat() for day in dates_in(text)})
        return f"What does it say about this: {self.request} (dates: {', '.join(dates)})"

    def written_text(self, value, text):
        """A text from what was read: each part is read on its own."""
        if reference := self.reference_to(value):
            return None, reference
        if not self.is_kept_back(value, text):
            return None, value
        if (move := self.extraction(value, text)) is not None:
            return move, None
        if (source := self.source_of(value)) is not None:
            return self.reading(source, value, self.question(text)), None
        unread = [number for number in self.unread if " " in self.parts[number]]
        if unread and len(self.answers) < READ_MAX:
            number = unread[0]
            self.unread.remove(number)
            self.wanted = None
            self.expected = lambda: ""
            self.is_writing = True
            return choice("read", {"references": [f"[#{number}]"], "question": "What does it say?"}), None
        return None, " ".join(f"[#{number}]" for number in self.answers) or value

    # The person.

    def decide(self, wait):
        """Yes to the calls that solve the task, and to them only."""
        if not self.has_person:
            return "no"
        self.approvals += 1
        function = re.fullmatch(r"Call `(\w+)`\?", wait.question).group(1)
        sinks = self.sinks.get(function, ())
        is_solution = any(called == function and all(comparable(arguments.get(name)) == comparable(wait.value.get(name)) for name in sinks)
                          for called, arguments in self.solution)
        return "yes" if is_solution else "no"
