"""Checks that what documents and comments name exists: paths of the repository, links with their anchors, and types.

python3 scripts/check-docs.d/names.py, in the root of the repository. It needs no build.
"""

import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pages

# Documents about the code, whose types are checked as those of comments are.
ABOUT_CODE = re.compile(r"CONTRIBUTING\.md|ARCHITECTURE\.md|docs/adr/|crates/\w+/README\.md")
# Made by a program, or a record of the past.
IGNORED = ("crates/server/assets/", "CHANGELOG.md", "bench/results/", "docs/openapi.json")
# Parts of a path that stand for any name.
PLACEHOLDER = re.compile(r"NAME|NNNN|TRAIT|CHANNEL|PROTOCOL|NamePage|YYYY|\.\.\.|[*<>$]")
# A path from the root of the repository.
ROOTED = re.compile(r"(?<![\w/.@:-])((?:crates|docs|scripts|web|bench|e2e|packaging|\.ci)/[\w./{},*<>$-]*[\w}*/])")
# A source file by the end of its path, and a folder of a crate.
FILE = re.compile(r"(?<![\w/.@:-])((?:[\w{},-]+/)*[\w{},.-]+\.(?:rs|svelte|ts|mjs|sql|py))(?![\w-]|\.\w)")
FOLDER = re.compile(r"(?<![\w/.@:-])((?:\w+/)?src/[\w/-]*\w)(?![\w./{-])")
TYPE = re.compile(r"`([A-Z][a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+)(?:::\w+)?`")
# Names of others that no line of code has.
FOREIGN = {"LastKnownLocation", "SubjectPublicKeyInfo"}
COMMENT = re.compile(r"^\s*//[/!]?(.*)$", re.M)


def tracked():
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if not name.startswith(IGNORED) and Path(name).exists()]


def endings(names):
    """All ends of paths of files and folders, cut at a slash."""
    found = set()
    for name in names:
        parts = name.split("/")
        for end in range(1, len(parts) + 1):
            found.update("/".join(parts[begin:end]) for begin in range(end))
    return found


def alternatives(path):
    """`a/{b,c}.rs` as `a/b.rs` and `a/c.rs`."""
    parts = re.split(r"\{([^}]*)\}", path)
    return ["".join(one) for one in product(*(part.split(",") if odd % 2 else [part] for odd, part in enumerate(parts)))]


def slug(title):
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower().replace("`", "")).replace(" ", "-")


def anchors(page):
    return {slug(line.lstrip("#")) for _, line in pages.prose(page) if re.match(r"#+ ", line)}


def dead_links(page):
    """Links to files and headings that do not exist."""
    for number, line in pages.prose(page):
        for target in pages.LINK.findall(line):
            path, _, anchor = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            file = page.parent / path if path else page
            if not file.exists():
                yield f"{page}:{number}: there is no {path}"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                yield f"{page}:{number}: {path or page.name} has no heading #{anchor}"


def missing_paths(place, text, ends):
    for number, line in enumerate(text.split("\n"), 1):
        rooted = {path for given in ROOTED.findall(line) for path in alternatives(given)}
        partial = {path for pattern in (FILE, FOLDER) for given in pattern.findall(line) for path in alternatives(given)}
        missing = {path for path in rooted if not Path(path).exists()} | (partial - rooted - ends)
        yield from (f"{place}:{number}: there is no {path}" for path in sorted(missing) if not PLACEHOLDER.search(path))


def missing_types(place, text, words):
    for number, line in enumerate(text.split("\n"), 1):
        named = (word for word in TYPE.findall(line) if word not in FOREIGN and not PLACEHOLDER.search(word))
        yield from (f"{place}:{number}: there is no type {word}" for word in named if word not in words)


def comments(text):
    """The text with everything but its line comments removed, so that line numbers stay."""
    return "\n".join(match[1] if (match := COMMENT.match(line)) else "" for line in text.split("\n"))


def problems():
    names = tracked()
    ends = endings(names)
    kinds = (".rs", ".ts", ".svelte", ".mjs", ".sql", ".json", ".jsonl", ".toml")
    code = {name: Path(name).read_text(encoding="utf-8") for name in names if name.endswith(kinds)}
    words = set()
    for text in code.values():
        words.update(re.findall(r"[A-Z]\w+", COMMENT.sub("", text)))
    for name in names:
        if name.endswith(".md"):
            page = Path(name)
            text = page.read_text(encoding="utf-8")
            yield from dead_links(page)
            yield from missing_paths(name, text, ends)
            if ABOUT_CODE.match(name):
                yield from missing_types(name, text, words)
        elif name.endswith(".rs"):
            yield from missing_paths(name, comments(code[name]), ends)
            yield from missing_types(name, comments(code[name]), words)


def main():
    found = list(problems())
    for problem in found:
        print(problem)
    print(f"names in documents and comments: {len(found)} do not exist")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
