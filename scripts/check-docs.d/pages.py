"""Reads Markdown pages: their fenced blocks, and the commands and operations they name."""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^```(\S*)[ ]*(.*?)\n(.*?)^```$", re.S | re.M)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
OPERATION = re.compile(r"^(GET|POST|PUT|PATCH|DELETE)((?:, (?:GET|POST|PUT|PATCH|DELETE))*) (/[^\s?#]*)")


@dataclass
class Block:
    """A fenced block: its language, its attributes and its text."""

    page: Path
    line: int
    language: str
    text: str
    attributes: dict = field(default_factory=dict)

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def attributes(text):
    """`answer status=400 skip="needs root"` as a dictionary; a word alone is true."""
    found = {}
    for word in shlex.split(text):
        name, given, value = word.partition("=")
        found[name] = value if given else True
    return found


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[3], attributes(match[2]))
        for match in FENCE.finditer(text)
    ]


def prose(page):
    """The page without its blocks, line by line, with numbers."""
    text = FENCE.sub(lambda match: "\n" * match[0].count("\n"), page.read_text(encoding="utf-8"))
    return enumerate(text.split("\n"), 1)


def named_commands(page):
    """Commands in the text: `perigee account set --account ID`, with their line."""
    for number, line in prose(page):
        for code in CODE.findall(line):
            if code.startswith("perigee ") and "..." not in code.split()[1]:
                yield number, code


def named_operations(page):
    """Operations in the text: `GET /api/devices` or `GET, PATCH /api/devices/{id}`, with their line."""
    for number, line in prose(page):
        for code in CODE.findall(line):
            match = OPERATION.match(code)
            if match:
                for method in [match[1], *match[2].split(", ")[1:]]:
                    yield number, method, match[3].rstrip(".,")
