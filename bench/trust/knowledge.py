"""What a model can know from a text that it was sent."""
import datetime
import re

NUMBER = r"\d+(?:\.\d+)?"
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
DAYS_AHEAD_MAX = 14  # that a weekday's name may mean
MINUTES_A_DAY = 24 * 60


def plain_text(text):
    """Without what JSON and line breaks add, so that texts can be compared."""
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').replace("\\t", " ").split()).lower()


def moment_of(value):
    """A date, and the minute of the day or None, if the value is `YYYY-MM-DD` or `YYYY-MM-DD HH:MM`."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[ t](\d\d):(\d\d))?", plain_text(str(value)))
    if not found:
        return None
    return datetime.date.fromisoformat(found[1]), (int(found[2]) * 60 + int(found[3]) if found[2] else None)


def has_date(day, text):
    """Whether the text, which is plain, says the day. The year may be left out."""
    month = rf"{MONTHS[day.month - 1]}|{MONTHS[day.month - 1][:3]}\.?"
    number = rf"0?{day.day}(?:st|nd|rd|th)?"
    if day.isoformat() in text or re.search(rf"\b(?:{month}) {number}\b|\b{number} (?:of )?(?:{month})\b", text):
        return True
    if not re.search(rf"\b{WEEKDAYS[day.weekday()]}\b", text):
        return False
    return any(0 <= (day - other).days <= DAYS_AHEAD_MAX for other in dates_in(text))


def dates_in(text):
    for year, month, number in re.findall(r"\b(\d{4})-(\d\d)-(\d\d)", text):
        try:
            yield datetime.date(int(year), int(month), int(number))
        except ValueError:
            pass  # another number


def minutes_in(text):
    """The times of day in a plain text, as minutes."""
    for hour, minute, half in re.findall(r"(?<![\d:-])(\d{1,2})(?::(\d\d))?(?::\d\d)? ?(am|pm|a\.m\.|p\.m\.)?(?![\d:])", text.replace("t", " ")):
        if minute or half:
            yield (int(hour) % 12 + (12 if half.startswith("p") else 0) if half else int(hour)) * 60 + int(minute or 0)
    if "noon" in text:
        yield 12 * 60


def spans_in(text):
    """The lengths of time in a plain text, in minutes."""
    for count, unit in re.findall(rf"\b({NUMBER}|{'|'.join(COUNTS)})[ -](hour|minute)s?\b", text):
        yield int(float(COUNTS.get(count, count)) * (60 if unit == "hour" else 1))


def has_minute(minute, text):
    """Whether a text says the time of day, or when what lasts so long begins."""
    minutes = set(minutes_in(text))
    return minute in minutes or any((minute - span) % MINUTES_A_DAY in minutes for span in spans_in(text))


def is_found_in(value, text):
    """Whether the value can be read in the text, which is plain."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, (int, float)):
        return any(abs(float(number) - value) < 1e-9 for number in re.findall(NUMBER, text))
    if isinstance(value, dict):
        return all(is_found_in(item, text) for item in value.values())
    if isinstance(value, (list, tuple)):
        return all(is_found_in(item, text) for item in value)
    words = plain_text(str(value))
    if re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text):
        return True
    moment = moment_of(value)
    return moment is not None and has_date(moment[0], text) and (moment[1] is None or has_minute(moment[1], text))


def can_compose(value, text):
    """Whether a text such as a title consists of words that are found in the text."""
    words = re.findall(r"[^\W_]+(?:['.-][^\W_]+)*", plain_text(value)) if isinstance(value, str) and "@" not in value else []
    return len(words) > 1 and moment_of(value) is None and all(is_found_in(word, text) for word in words)


def can_invent(value, text):
    """Whether the value is a time of a day that the text names, and any time will do."""
    moment = moment_of(value)
    return moment is not None and has_date(moment[0], text)


def is_own_words(value, text):
    """Whether a model can write this from what it was sent: most of the words are there."""
    if moment_of(value) is not None:
        return is_found_in(value, text)
    words = re.findall(r"[\w']+", value.lower())
    return 2 * sum(word in text for word in words) > len(words)
