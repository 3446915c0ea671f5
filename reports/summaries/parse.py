"""Parse an analyst's reply into findings, topics and grades. Tolerant: any text has a result.

Tags may be in any case, left open, escaped as HTML entities, or wrapped in code fences; text
outside them is ignored. Parts that cannot be parsed are named in `problems`, never guessed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import zip_longest
from typing import NamedTuple

from reports.documents.topic_names import topic_key
from reports.summaries.dimensions import KEYS, MAX_GRADE, MIN_GRADE
from reports.summaries.key import Key

MAX_LINES = 40
"""Entries kept of each kind, and problems listed."""

MAX_CHARACTERS = 4000
"""Characters kept of a finding or a reasoning; the raw reply is kept whole."""

MIN_PREFIX = 4
"""Letters that identify a dimension, as in "helpful" for helpfulness."""

MAX_TOPICS = 8
MAX_TOPIC_CHARACTERS = 60

SECTIONS = {
    "key_finding": "findings",
    "strength": "strengths",
    "weakness": "weaknesses",
    "pattern": "patterns",
    "topic": "topics",
}
"""The kind of each tag's text."""

_TAG = re.compile(
    r"<\s*(/?)\s*(key_finding|strength|weakness|pattern|topic|grade)(e?s)?\b([^<>]*)>",
    re.IGNORECASE,
)
ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/>]+))", re.IGNORECASE)
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_LABEL = re.compile(r"\bscore\b[\s*_]*[:=][\s*_]*", re.IGNORECASE)
_REASONING = re.compile(r"\A[\s*_]*reasoning\b[\s*_]*[:=][\s*_]*", re.IGNORECASE)
_NUMBER = re.compile(r"[\s*_]*([-+]?\d+(?:[.,]\d+)?)[\s*_]*(?:(?:/|out of|of)\s*(\d+(?:\.\d+)?))?")
_NOT_APPLICABLE = re.compile(r"[\s*_]*(?:n\s*/\s*a|n\.a\.|none|null|not applicable)\b", re.I)


class Graded(NamedTuple):
    """A grade as the analyst gave it. `grade` None: it gave none."""

    model: str
    dimension: str
    grade: float | None
    reasoning: str


@dataclass(frozen=True)
class Parsed:
    """A parsed reply. Texts still have ids; `topics` are normalised and unique."""

    findings: tuple[str, ...] = ()
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    grades: tuple[Graded, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Return whether it has any finding or grade."""
        texts = (self.findings, self.strengths, self.weaknesses, self.patterns)
        return any(texts) or any(grade.grade is not None for grade in self.grades)


def parse(reply: str, key: Key) -> Parsed:
    """Parse a reply that names models by the ids of `key`."""
    texts: dict[str, list[str]] = {name: [] for name in SECTIONS.values()}
    grades: dict[tuple[str, str], Graded] = {}
    problems: list[str] = []
    visible = _THOUGHTS.sub("", reply)
    tagged = visible if _TAG.search(visible) else unescape(visible)
    for name, attributes, content in _blocks(tagged):
        if name != "grade":
            _add(texts[SECTIONS[name]], content)
        elif isinstance(graded := _graded(attributes, content, key), Graded):
            grades.pop((graded.model, graded.dimension), None)  # the last one counts
            grades[graded.model, graded.dimension] = graded
        else:
            _add(problems, graded)
    topics = topics_in(texts.pop("topics"))
    return Parsed(
        **{name: tuple(lines[:MAX_LINES]) for name, lines in texts.items()},
        topics=topics,
        grades=tuple(grades.values()),
        problems=tuple(problems[:MAX_LINES]),
    )


def _blocks(reply: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, attributes and content of each tag; an open one ends at the next tag."""
    tags = list(_TAG.finditer(reply))
    for tag, after in zip_longest(tags, tags[1:]):
        end = after.start() if after else len(reply)
        if not tag[1] and not tag[4].rstrip().endswith("/"):
            yield tag[2].lower(), tag[4], reply[tag.end() : end]


def _add(lines: list[str], content: str) -> None:
    line = content.strip().strip("`").strip()[:MAX_CHARACTERS]
    if line and line not in lines:
        lines.append(line)


def topics_in(lines: list[str]) -> tuple[str, ...]:
    """Return topics normalised like tags; a line may have several."""
    words = [word for line in lines for word in re.split(r"[,;\n]", line)]
    named = (
        topic_key(" ".join(word.split()).lstrip("_-*# "))[:MAX_TOPIC_CHARACTERS] for word in words
    )
    return tuple(dict.fromkeys(topic for topic in named if topic))[:MAX_TOPICS]


# Grades ------------------------------------------------------------------------------------------


def _graded(written: str, content: str, key: Key) -> Graded | str:
    """Return the grade, or what is wrong with it."""
    found = {
        name.lower(): next((value for value in values if value), "").strip()
        for name, *values in ATTRIBUTE.findall(written)
    }
    model, dimension = found.get("model", ""), _dimension(found.get("dimension", ""))
    if problem := _unplaced(model, dimension, found.get("developer", found.get("maker", "")), key):
        return problem
    reasoning, labels = "", list(_LABEL.finditer(content))
    if labels:
        reasoning = _REASONING.sub("", content[: labels[-1].start()]).strip().strip("*").strip()
        content = content[labels[-1].end() :]
    grade, problem = grade_in(content)
    if problem:
        return f"{model}, {dimension}: {problem}"
    return Graded(model, dimension, grade, reasoning[:MAX_CHARACTERS])


def _dimension(written: str) -> str:
    """Return the dimension whose name begins so, or the text as written."""
    name = written.strip().lower()
    meant = [key for key in KEYS if key.startswith(name)] if len(name) >= MIN_PREFIX else []
    return meant[0] if len(meant) == 1 else name


def _unplaced(model: str, dimension: str, developer: str, key: Key) -> str:
    """Return why the graded model or dimension is unknown; "" if it is known."""
    if not model:
        return f"A grade for {dimension or 'nothing'} names no model."
    if model not in key.models:
        return f"A grade is for {model[:40]}, and no model is so called."
    if dimension not in KEYS:
        return f"A grade of {model} is for {dimension[:40] or 'nothing'}, which is no dimension."
    if developer and not key.matching({"model": model, "developer": developer}):
        return f"A grade of {model} names {developer[:40]} as its developer, which it is not."
    return ""


def grade_in(scored: str) -> tuple[float | None, str]:
    """Return a grade from 1 to 10, and what is wrong. Both empty: the analyst gave none.

    The first number counts; one of another scale, or beyond its ends, is no grade.
    """
    if _NOT_APPLICABLE.match(scored):
        return None, ""
    number = _NUMBER.match(scored)
    if number is None:
        return None, "it has no number."
    grade = float(number[1].replace(",", "."))
    if number[2] and float(number[2]) != MAX_GRADE:
        return None, f"{number[0].strip()} is not on the scale of {MIN_GRADE} to {MAX_GRADE}."
    if not MIN_GRADE <= grade <= MAX_GRADE:
        return None, f"{number[1]} is no grade from {MIN_GRADE} to {MAX_GRADE}."
    return grade, ""
