"""The three tasks: the inputs of both sides, and the judge of their results. Nothing here asks a model.

A result is *valid* if it satisfies the task's contracts. It is judged from the value alone, in the same way for both sides. A run that
ends without a value (a failure, a spent budget) is not valid.
"""
import random
import re

# Limits of one answer, the same for both sides.
TOKENS_MAX = 96
TEMPERATURE = 0.7
# Maximum number of repair attempts for an answer that violates a contract.
REPAIRS_MAX = 2


class Weather:
    """ReAct with two tools: the ZIP code of a town, then the weather there."""

    name = "react"
    goal = "What is today's high temperature in Thornton, NH?"
    steps_max = 6
    zip_code = "03285"
    report = ("The weather in Thornton, NH is sunny with a high of 78 and a low of 52. "
              "Scattered showers are possible in the afternoon.")
    unknown_town = "There is no such town."
    unknown_zip_code = "There is no such ZIP code."

    def arguments(self, seed):
        """The arguments are the same for each seed; only the model's sampling differs."""
        return {}

    @classmethod
    def zip_lookup(cls, city):
        return cls.zip_code if "thornton" in city.lower() else cls.unknown_town

    @classmethod
    def weather(cls, zip_code):
        return cls.report if zip_code.strip() == cls.zip_code else cls.unknown_zip_code

    def is_valid(self, value, arguments):
        """An answer in words that contains the day's high."""
        return isinstance(value, str) and re.search(r"\b78\b", value) is not None


class Novels:
    """A Kripke agent: from a short story to a list of novels that share its theme."""

    name = "kripke"
    goal = "each element of the list is the title and author of a novel whose theme is similar to the story's"
    steps_max = 4
    novels_min = 2
    story = ("Old Marta kept the lighthouse alone after the sea took her son. Each night she lit the lamp, though no ship had "
             "passed for years. One winter a boy rowed ashore, half frozen, and would not say his name. She fed him and "
             "taught him the lamp. In spring he rowed away, and she found that she could sleep again.")

    def arguments(self, seed):
        return {"story": self.story}

    def is_valid(self, value, arguments):
        """At least two different novels, each with a title and an author."""
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            return False
        novels = {item.strip().lower() for item in value}
        return len(novels) >= self.novels_min and all(is_title_and_author(item) for item in value)


class Booking:
    """Extraction into a schema, with one contract that a schema cannot express: the extracted values occur in the message."""

    name = "extraction"
    nights_max = 30
    guests = ("Maria Keller", "Tom Hardy", "Aiko Tanaka", "Omar Haddad", "Lena Fischer", "Paul Moreau", "Nina Petrova",
              "John Okafor", "Sara Lind", "Diego Ramos")
    cities = ("Lisbon", "Vienna", "Oslo", "Prague", "Dublin", "Athens", "Madrid", "Warsaw")
    forms = (
        "Hello, my name is {guest}. I would like to book a room in {city} for {nights} nights, with my two children.",
        "Please reserve a quiet room at your hotel in {city}. We stay for {nights} nights. Kind regards, {guest}",
        "{guest} here. I am coming to {city} on the 14th and need a bed for {nights} nights. Is breakfast included?",
    )

    def booking(self, seed):
        chance = random.Random(f"booking {seed}")
        return {"guest": chance.choice(self.guests), "city": chance.choice(self.cities), "nights": chance.randint(2, 9)}

    def arguments(self, seed):
        return {"message": random.Random(f"form {seed}").choice(self.forms).format(**self.booking(seed))}

    @staticmethod
    def is_in_message(booking, message):
        """The contract."""
        return (booking["guest"] in message and booking["city"] in message
                and f"{booking['nights']} nights" in message)

    def is_valid(self, value, arguments):
        return (isinstance(value, dict) and set(value) == {"guest", "city", "nights"}
                and isinstance(value["guest"], str) and len(value["guest"]) >= 2
                and isinstance(value["city"], str) and len(value["city"]) >= 2
                and isinstance(value["nights"], int) and 1 <= value["nights"] <= self.nights_max
                and self.is_in_message(value, arguments["message"]))


def is_title_and_author(text):
    """Parses `TITLE by AUTHOR`; quotes, numbering and a year are ignored."""
    title, by, author = text.strip().rpartition(" by ")
    return bool(by) and re.search(r"\w", title) is not None and re.search(r"[A-Za-z]{2}", author) is not None


TASKS = {task.name: task for task in (Weather(), Novels(), Booking())}
