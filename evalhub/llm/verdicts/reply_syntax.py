"""Finding verdicts in a judge's reply: as JSON, as elements, or as repairable JSON. Pure.

A reply may quote the text that it judges. The judge's own verdict is separated from those quoted
in reasoning, in reasons, or in an unfinished verdict.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import json_repair

LONGEST_REPLY = 200_000
"""Characters of a reply that are looked at, from its end."""

LONGEST_VERDICT = 50_000
"""Characters of an object that can be a verdict."""

LONGEST_REPAIR = 20_000
MAX_BRACES = 50
"""Limits of the slower, lenient parser: characters, opening braces."""

READINGS = 20
"""Passes over a text in search of objects before it counts as unreadable."""


class ParsedObject(NamedTuple):
    """A candidate with the keys of a verdict, and its position in the text."""

    start: int
    end: int
    fields: dict[str, Any]
    repaired: bool = False


@dataclass
class Reading:
    """The verdicts in a text's JSON, and the positions of unfinished ones.

    Text between `unfinished` positions is quoted by a verdict that was itself not read.
    """

    verdicts: list[ParsedObject]
    unfinished: list[tuple[int, int]]
    is_tangled: bool = False

    def is_quoted(self, found: ParsedObject) -> bool:
        return any(start < found.start < end for start, end in self.unfinished)


KEYS = ("justification", "score")
ALTERNATIVE = "alternative"
"""Key of another option that a judge may name as well."""
OBJECT = re.compile(r'\{\s*"')
STARTED = re.compile(r"\{\s*[\"'“‘]?(?:justification|score)\b", re.IGNORECASE)
TAG = re.compile(r"<(/?)(reflection|classification)\b[^<>]{0,100}>")
TAG_OF_ANY_CASE = re.compile(TAG.pattern, re.IGNORECASE)
BEGUN = re.compile(rf"{STARTED.pattern}|{TAG.pattern}", re.IGNORECASE)
FENCED = re.compile(r"\s*```\w{0,20}\s*(\{.*\})\s*```\s*", re.DOTALL)


def read(text: str) -> Reading:
    """Find the JSON objects with the keys of a verdict. Control characters in strings are accepted.

    The text is tangled if it takes too many passes, which bounds the work by its length.
    """
    decoder = json.JSONDecoder(strict=False)
    reading = Reading([], [*_loosely_begun(text), *_reflections(text)])
    at, work = 0, READINGS * len(text) + 10_000
    while (found := OBJECT.search(text, at)) is not None and not reading.is_tangled:
        at = found.start()
        # A slice: the decoder counts the lines before an error, from the start of what it is given.
        piece = text[at : at + LONGEST_VERDICT]
        length, broken_at = 1, len(text)
        try:
            value, length = decoder.raw_decode(piece)
        except json.JSONDecodeError as error:
            is_open = error.msg.startswith("Unterminated")
            work -= len(piece) if is_open else error.pos
            broken_at = len(text) if is_open else at + error.pos
        except (ValueError, RecursionError):
            work -= 5_000
        else:
            if (fields := _inside(value)) is not None:
                reading.verdicts.append(ParsedObject(at, at + length, fields))
                broken_at = at
        if broken_at > at and STARTED.match(text, at):
            reading.unfinished.append((at, _closed(text, broken_at)))
        at += length
        reading.is_tangled = work < 0
    return reading


def _reflections(text: str) -> Iterator[tuple[int, int]]:
    """Return the spans of elements with reasons; a verdict inside one is only quoted."""
    opened: int | None = None
    for tag in TAG_OF_ANY_CASE.finditer(text):
        if tag[2].lower() == "reflection" and (opened is None) != bool(tag[1]):
            if opened is not None:
                yield opened, tag.end()
            opened = None if tag[1] else tag.start()
    if opened is not None:
        yield opened, len(text)


def _loosely_begun(text: str) -> list[tuple[int, int]]:
    """Return the starts of verdicts without plainly quoted keys, and the next brace."""
    begun, end = [], -1
    for start in STARTED.finditer(text):
        if end < start.end():
            end = _closed(text, start.end())
        if not OBJECT.match(text, start.start()):
            begun.append((start.start(), end))
    return begun


def _closed(text: str, at: int) -> int:
    end = text.find("}", at)
    return len(text) if end < 0 else end


def _inside(value: Any, depth: int = 0) -> dict[str, Any] | None:
    """Return the fields of a verdict in a value, which may wrap it."""
    if isinstance(value, dict):
        fields = {str(key).strip().lower(): inner for key, inner in value.items()}
        if fields.keys() >= set(KEYS):
            return {key: fields[key] for key in (*KEYS, ALTERNATIVE) if key in fields}
        value = list(value.values())
    if not isinstance(value, list) or depth == 3:
        return None
    found = (_inside(inner, depth + 1) for inner in reversed(value[-100:]))
    return next((fields for fields in found if fields is not None), None)


def elements(text: str) -> list[ParsedObject]:
    """Return the verdict written as elements: the last whole reflection and classification."""
    whole: dict[str, tuple[int, int, str]] = {}
    opened: dict[str, re.Match[str]] = {}
    for tag in TAG.finditer(text):
        if not tag[1]:
            opened[tag[2]] = tag
        elif tag[2] in opened:
            begin = opened.pop(tag[2])
            inner = text[begin.end() : tag.start()].strip()
            whole[tag[2]] = (begin.start(), tag.end(), inner)
    if len(whole) < 2:
        return []
    (start, end, reflection), (begin_at, other, label) = (
        whole["reflection"],
        whole["classification"],
    )
    fields = {"justification": reflection, "score": label}
    return [ParsedObject(min(start, begin_at), max(end, other), fields)]


def repaired(text: str) -> ParsedObject | None:
    """Return the last object that begins like a verdict, with its JSON repaired."""
    starts = [match.start() for match in STARTED.finditer(text)]
    segment = text[starts[-1] :][:LONGEST_REPAIR] if starts else ""
    if not segment or segment.count("{") + segment.count("[") > MAX_BRACES:
        return None
    try:
        fields = _inside(json_repair.loads(segment))
    except (ValueError, RecursionError, IndexError, TypeError):
        return None
    if fields is None:
        return None
    return ParsedObject(starts[-1], starts[-1] + len(segment), fields, repaired=True)


# Preparing ---------------------------------------------------------------------------------------

LATEX = (
    "bar|begin|beta|binom|boldsymbol|boxed|bullet|flat|forall|frac|nabla|ne|neq|not|notin|nu|"
    "rangle|rceil|rfloor|rho|right|rightarrow|tan|tau|text|textbf|textit|tfrac|theta|tilde|times|"
    "to|top|triangle"
)
"""Commands whose first letter makes a backslash before it an escape that JSON knows."""

BACKSLASH = re.compile(rf"\\(\\|[\"'/]|u[0-9a-fA-F]{{4}}|(?P<latex>(?:{LATEX})(?![a-z]))|[bfnrt]|)")


def latex_kept(text: str) -> str:
    """Double backslashes that escape nothing or begin a LaTeX command."""
    return BACKSLASH.sub(
        lambda found: "\\" + found[0] if found["latex"] or not found[1] else found[0], text
    )


def is_verdict_begun(text: str) -> bool:
    """Return True if a text ends within a verdict."""
    tags = [(tag[1], tag[2].lower()) for tag in TAG_OF_ANY_CASE.finditer(text)]
    if tags and (not tags[-1][0] or ("/", "classification") not in tags):
        return True
    return any(end == len(text) for _, end in read(text).unfinished)


def is_one_object(text: str) -> bool:
    fenced = FENCED.fullmatch(text)
    inner = latex_kept(fenced[1] if fenced else text)
    if not inner.startswith("{"):
        return False
    try:
        return isinstance(json.loads(inner, strict=False), dict)
    except (ValueError, RecursionError):
        return False
