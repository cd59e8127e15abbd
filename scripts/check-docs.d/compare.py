"""Compares the answer on a page with the real one: IDs, times and secrets may differ, everything else is equal."""

import re

# Forms of values that are new each time. Both the page's value and the real one have the form.
FORMS = [
    re.compile(r"^[a-z]{3}_[0-9a-z]+$"),
    re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+Z$"),
    re.compile(r"^eyJ"),
    re.compile(r"^[A-Za-z0-9_-]{20,}$"),
]
COUNTS = {"apiUsage", "apiDailyUsage"}


def alike(expected, actual):
    return any(form.match(expected) and form.match(actual) for form in FORMS)


def difference(expected, actual, place=""):
    """The first way in which the answer is not as the page says; None if it is. Members that the page leaves out are
    not compared, and "..." at the end of a text stands for anything."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            if name not in actual:
                return f"{place}/{name} is missing"
            if name in COUNTS and isinstance(actual[name], int):
                continue
            found = difference(value, actual[name], f"{place}/{name}")
            if found:
                return found
        return None
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{place} has {len(actual)} items, not {len(expected)}"
        found = (difference(*pair, f"{place}/{index}") for index, pair in enumerate(zip(expected, actual)))
        return next((one for one in found if one), None)
    if isinstance(expected, str) and isinstance(actual, str):
        if expected.endswith("...") and actual.startswith(expected[:-3]) or alike(expected, actual):
            return None
    return None if expected == actual else f"{place} is {actual!r}, not {expected!r}"


def words(text):
    """A program's output without what is new each time: addresses, passwords, and blanks at the ends of lines."""
    text = re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", text.replace("\r", ""))
    text = re.sub(r"\b[a-z0-9]{5}(-[a-z0-9]{5}){3}\b", "PASSWORD", text)
    return [line.rstrip() for line in text.split("\n") if line.strip()]
