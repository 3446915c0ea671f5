"""Retired words wherever a reader meets them: `python -m tests.words [PATH ...]` lists them."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

RETIRED: dict[str, str] = {
    r"judgings|(?:an?|the|this|that|each|every|other|another|new|current|active|one|no) judging\b"
    r"(?! of|-| model| prompt)": "judge run",
    r"judged? again|make (?:it )?current": "re-judge, set as active",
    r"unjudged|undecided|not decided": "unscored",
    r"by people|people say|person says|against people|what people": "annotators, human",
    r"ways? to (?:succeed|fail)|way \d": "alternative",
    r"flicker\w*": "flaky",
    r"rehears\w*": "judge tuning",
    r"held-out hal\w+|seen hal\w+": "held-out split, development split",
    r"precedents?": "labelled example",
    r"nearness|likeness\w*|alike": "similarity, similar",
    r"mended|menders?|mends|mending": "repaired, repair model",
    r"makers?": "developer",
    r"wordings?": "prompt, prompt variant",
    r"notices?": "notification",
    r"ticks?|ticked": "checkbox",
    r"recur(?:s|red|ring|rence)?": "schedule",
    r"editions?": "snapshot",
    r"tokens (?:read|written)": "input tokens, output tokens",
    r"ledgers?": "workspace, data",
    r"life of (?:an|its|the) issue|run by run|to trust where": "issue timeline",
    r"likes length|changes when reversed|judges itself": "length bias, position bias",
    r"surely|gravest|heeds?|lest|nought|whom": "significantly, most severe, uses, zero",
    r"(?:is|are|was|were|be|been) told": "the active voice",
    r"stands(?! for)": "is, applies",
    r"write down what goes wrong|take the merge back": "New issue, Undo merge",
    r"say how many there are|choose none": "Count, Clear",
    r"what (?:was run|went wrong|this takes|speaks against them)": "Configuration, Errors",
    r"how the score came about": "Score breakdown",
    r"turnout|ballots?|purse|wallet|lifeline|assessments?": "a word of the glossary",
}
"""Pattern of a retired word or phrase, and the words used in its place."""

OPENINGS = re.compile(r"(?:What|Which|Who|Whom|Whose|How|Whether|One|Where)\b(?!.*\?\s*$)")
"""First words that neither a heading nor a docstring has, unless it is a question."""

_RETIRED = [
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), new) for pattern, new in RETIRED.items()
]
_TAG = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<script.*?</script>|<[^>]+>", re.DOTALL)
_HEADING = re.compile(
    r"<(h[1-6]|th|summary|legend|button|label|dt|caption)\b[^>]*>(.*?)</\1>", re.DOTALL
)
_ATTRIBUTE = re.compile(r'\b(?:title|placeholder|aria-label|alt|data-confirm)="([^"]*)"')


class Hit(NamedTuple):
    """A retired word: where it is, what was found, and the word to use."""

    place: str
    found: str
    instead: str

    def __str__(self) -> str:
        return f"{self.place}: {self.found!r}: {self.instead}"


def hits_in(text: str, place: str) -> Iterator[Hit]:
    for pattern, instead in _RETIRED:
        for match in pattern.finditer(text):
            yield Hit(place, match.group(), instead)


def hits_in_template(path: Path) -> Iterator[Hit]:
    source = path.read_text()
    place = path.relative_to(ROOT).as_posix()
    attributes = " | ".join(_ATTRIBUTE.findall(source))
    yield from hits_in(" ".join(_TAG.sub(" | ", source).split()) + " | " + attributes, place)
    for _, heading in _HEADING.findall(source):
        yield from _opening(_TAG.sub("", heading).strip(), place)


def hits_in_python(path: Path) -> Iterator[Hit]:
    """In docstrings, and in strings that a person may read: those of more than one word."""
    tree = ast.parse(path.read_text())
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if _has_docstring(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            place = f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"
            if " " in node.value.strip() or node.value.istitle():
                yield from hits_in(node.value, place)
            if id(node) in docstrings:
                yield from _opening(node.value.strip(), place)


def hits_in_document(path: Path) -> Iterator[Hit]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        place = f"{path.relative_to(ROOT).as_posix()}:{number}"
        yield from hits_in(line, place)
        if line.startswith("#"):
            yield from _opening(line.lstrip("# "), place)


def hits_in_files(names: Iterable[str]) -> Iterator[Hit]:
    for name in names:
        path = ROOT / name
        if "/migrations/" in name or name in {"tests/words.py", "tests/test_words.py"}:
            continue
        if name.endswith(".html"):
            yield from hits_in_template(path)
        elif name.endswith(".py"):
            yield from hits_in_python(path)
        elif name.endswith(".md"):
            yield from hits_in_document(path)
        elif name.endswith((".js", ".css")):
            yield from hits_in(path.read_text(), name)


def tracked(*paths: str) -> list[str]:
    command = ["git", "ls-files", "-z", "--", *paths]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def _opening(text: str, place: str) -> Iterator[Hit]:
    first = text.splitlines()[0] if text else ""
    if OPENINGS.match(first):
        yield Hit(place, first[:60], "a noun phrase, or a verb phrase in a docstring")


def _has_docstring(node: ast.AST) -> bool:
    is_documented = isinstance(
        node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    )
    return is_documented and ast.get_docstring(node, clean=False) is not None


if __name__ == "__main__":
    for hit in hits_in_files(tracked(*sys.argv[1:])):
        sys.stdout.write(f"{hit}\n")
