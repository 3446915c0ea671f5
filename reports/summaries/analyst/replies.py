"""An analyst's reply: its statements with claims, topics and grades, and its problems. Pure.

Any text has a result: JSON may be fenced, follow reasoning, be cut off or slightly broken. Parts
that cannot be parsed are named in `problems`, never guessed.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import json_repair

from reports.documents.topic_names import topic_key
from reports.summaries.analyst.claims import KINDS, Claim, Statement
from reports.summaries.analyst.dimensions import KEYS, MAX_GRADE, MIN_GRADE
from reports.summaries.analyst.key import FigureTable, Key
from reports.summaries.analyst.statements import problems_of

MAX_LINES = 40
"""Entries kept of each kind, and problems listed."""

MAX_CHARACTERS = 4000
"""Characters kept of a statement or a reasoning; the raw reply is kept whole."""

MAX_REPAIRED = 200_000
MAX_BRACES = 2_000
"""Characters and opening brackets of a reply that the lenient parser reads."""

MIN_PREFIX = 4
"""Letters that identify a dimension, as in "helpful" for helpfulness."""

MAX_TOPICS = 8
MAX_TOPIC_CHARACTERS = 60

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"[\s*_]*([-+]?\d+(?:[.,]\d+)?)[\s*_]*(?:(?:/|out of|of)\s*(\d+(?:\.\d+)?))?")
_NOT_APPLICABLE = re.compile(r"[\s*_]*(?:n\s*/\s*a|n\.a\.|none|null|not applicable)\b", re.I)
_KEYS = {*KINDS, "topics", "grades"}

NO_JSON = "The reply is not a JSON object in the form asked for."
BROKEN = "The JSON of the reply is broken or cut off: it was read as far as it goes."


class Graded(NamedTuple):
    """A grade as the analyst gave it. `grade` None: it gave none."""

    model: str
    dimension: str
    grade: float | None
    reasoning: str


@dataclass(frozen=True)
class Parsed:
    """A parsed reply. Texts, by kind, still have ids; `topics` are normalised and unique."""

    texts: Mapping[str, Sequence[Statement]]
    topics: tuple[str, ...]
    grades: tuple[Graded, ...]
    problems: tuple[str, ...]

    @property
    def statements(self) -> list[Statement]:
        return [statement for statements in self.texts.values() for statement in statements]

    @property
    def is_usable(self) -> bool:
        """Return whether it has any statement or grade."""
        return bool(self.statements) or any(grade.grade is not None for grade in self.grades)


def parse(reply: str, key: Key) -> Parsed:
    """Parse a reply that names models by the ids of `key`."""
    found, problem = _json_in(_THOUGHTS.sub("", reply))
    problems = [problem] if problem else []
    texts = {kind: _statements(found.get(kind), problems) for kind in KINDS}
    grades: dict[tuple[str, str], Graded] = {}
    for entry in _entries(found.get("grades")):
        graded = _graded(entry, key) if isinstance(entry, Mapping) else "A grade is no object."
        if isinstance(graded, Graded):
            grades.pop((graded.model, graded.dimension), None)  # the last one counts
            grades[graded.model, graded.dimension] = graded
        else:
            problems.append(graded)
    return Parsed(
        texts,
        topics_in([_text(topic) for topic in _entries(found.get("topics"))]),
        tuple(grades.values()),
        tuple(dict.fromkeys(problems))[:MAX_LINES],
    )


# JSON --------------------------------------------------------------------------------------------


def _json_in(reply: str) -> tuple[Mapping[str, Any], str]:
    """Return the object of a reply and what is wrong with it; {} without one."""
    start, end = reply.find("{"), reply.rfind("}") + 1
    if start < 0:
        return {}, NO_JSON if reply.strip() else ""
    try:
        found, problem = json.loads(reply[start:end], strict=False), ""
    except (ValueError, RecursionError):
        found, problem = _repaired(reply[start:][:MAX_REPAIRED]), BROKEN
    objects = found if isinstance(found, list) else [found]
    usable = [one for one in objects if isinstance(one, dict) and one.keys() & _KEYS]
    return (usable[-1], problem) if usable else ({}, NO_JSON)


def _repaired(broken: str) -> Any:
    """Return what the lenient parser reads, which may be a list of objects; None: nothing."""
    if broken.count("{") + broken.count("[") > MAX_BRACES:
        return None
    try:
        return json_repair.loads(broken)
    except (ValueError, RecursionError, IndexError, TypeError):
        return None


def _entries(value: Any) -> list[Any]:
    """Return a list as it is, one entry as a list, nothing as none."""
    if isinstance(value, list):
        return value[: MAX_LINES * len(KEYS)]
    return [] if value in (None, "") else [value]


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _name(value: Any) -> str:
    return _text(value)[:100]


# Statements and topics ---------------------------------------------------------------------------


def _statements(value: Any, problems: list[str]) -> tuple[Statement, ...]:
    found: dict[str, Statement] = {}
    for entry in _entries(value)[:MAX_LINES]:
        fields = entry if isinstance(entry, Mapping) else {"text": entry}
        text = _text(fields.get("text"))[:MAX_CHARACTERS]
        if not text:
            problems.append("A statement has no text.")
        elif text not in found:
            found[text] = Statement(text, tuple(_claims(fields.get("claims"), problems)))
    return tuple(found.values())


def _claims(value: Any, problems: list[str]) -> Iterator[Claim]:
    if isinstance(value, Mapping):  # by id
        value = [{"id": id, **claim} for id, claim in value.items() if isinstance(claim, Mapping)]
    for entry in _entries(value)[:MAX_LINES]:
        if not isinstance(entry, Mapping):
            problems.append("A claim is no object.")
            continue
        model = " ".join(_name(entry.get(name)) for name in ("model", "sys", "temp"))
        yield Claim(
            id=_name(entry.get("id")).strip("{} ").lower(),
            model=model.strip(),
            group=_name(entry.get("group")),
            measure=_name(entry.get("measure")).lower().replace(" ", "_"),
            value=_value(entry.get("value")),
            other_model=_name(entry.get("other_model")),
            other_group=_name(entry.get("other_group")),
        )


def _value(value: Any) -> float | None:
    """Return a number, also one that was written as a text with its unit; None without."""
    if isinstance(value, str):
        figure = value.strip().removesuffix("points").removesuffix("%").strip()
        value = figure.replace(",", "").replace("\u2212", "-")
    if value is None or isinstance(value, bool | list | dict):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def topics_in(lines: list[str]) -> tuple[str, ...]:
    """Return topics normalised like tags; a line may have several."""
    words = [word for line in lines for word in re.split(r"[,;\n]", line)]
    named = (
        topic_key(" ".join(word.split()).lstrip("_-*# "))[:MAX_TOPIC_CHARACTERS] for word in words
    )
    return tuple(dict.fromkeys(topic for topic in named if topic))[:MAX_TOPICS]


# Grades ------------------------------------------------------------------------------------------


def _graded(entry: Mapping[str, Any], key: Key) -> Graded | str:
    """Return the grade, or what is wrong with it."""
    dimension = _dimension(_name(entry.get("dimension")).lower())
    developer, _, model = _name(entry.get("model")).rpartition("/")
    if not model:
        return f"A grade for {dimension or 'nothing'} names no model."
    if model not in key.models:
        return f"A grade is for {model[:40]}, and no model is so called."
    if dimension not in KEYS:
        return f"A grade of {model} is for {dimension[:40] or 'nothing'}, which is no dimension."
    if developer and not key.matching({"model": model, "developer": developer}):
        return f"A grade of {model} names {developer[:40]} as its developer, which it is not."
    grade, problem = grade_in(entry.get("score", entry.get("grade")))
    if problem:
        return f"{model}, {dimension}: {problem}"
    return Graded(model, dimension, grade, _text(entry.get("reasoning"))[:MAX_CHARACTERS])


def _dimension(name: str) -> str:
    """Return the dimension whose name begins so, or the text as written."""
    meant = [key for key in KEYS if key.startswith(name)] if len(name) >= MIN_PREFIX else []
    return meant[0] if len(meant) == 1 else name


def grade_in(scored: Any) -> tuple[float | None, str]:
    """Return a grade from 1 to 10, and what is wrong. Both empty: the analyst gave none.

    The first number of a text counts; one of another scale, or beyond its ends, is no grade.
    """
    text = str(scored) if isinstance(scored, str | int | float) else ""
    if scored is None or _NOT_APPLICABLE.match(text):
        return None, ""
    number = _NUMBER.match(text)
    if number is None:
        return None, "it has no number."
    grade = float(number[1].replace(",", "."))
    if number[2] and float(number[2]) != MAX_GRADE:
        return None, f"{number[0].strip()} is not on the scale of {MIN_GRADE} to {MAX_GRADE}."
    if not MIN_GRADE <= grade <= MAX_GRADE:
        return None, f"{number[1][:20]} is no grade from {MIN_GRADE} to {MAX_GRADE}."
    return grade, ""


# Usable or to be mended --------------------------------------------------------------------------

UNUSABLE = "unusable_reply"
MAX_PROBLEMS = 20
"""Problems that an analyst is asked to mend at once."""

REPAIR = """\
{problem}
Write the whole reply again as one JSON object and nothing else, in the form asked for above. \
Change what is named here and nothing else: every figure must be that of the cell which its claim \
names."""


@dataclass
class SummaryReply:
    """A reply, and why it is unusable or missing; usable without an error.

    Attributes:
        call: The recorded call (a `Call`), None without a reply.
        problems: What the analyst can mend; also of a usable reply.
        repair: The messages after the first reply and the second reply; [] without.
    """

    text: str = ""
    call: Any = None
    error_kind: str = ""
    error_message: str = ""
    problems: Sequence[str] = ()
    repair: list[dict[str, str]] = field(default_factory=list)

    def is_better_than(self, other: "SummaryReply") -> bool:
        """Return whether it is usable where the other is not, or else has fewer problems."""
        own, others = ((bool(reply.error_kind), len(reply.problems)) for reply in (self, other))
        return own < others


def read(
    text: str, key: Key, table: FigureTable, call: Any, finish_reason: str = ""
) -> SummaryReply:
    """Read a reply: unusable without a statement or grade."""
    parsed = parse(text, key)
    problems = list(dict.fromkeys([*parsed.problems, *problems_of(parsed.statements, key, table)]))
    if parsed.is_usable:
        return SummaryReply(text, call, problems=problems)
    message = f"The analyst's reply was empty (it ended with “{finish_reason}”)."
    if text.strip():
        reasons = ["The reply has no finding and no grade that could be parsed."]
        message = " ".join([*reasons, *parsed.problems[:3]])
    return SummaryReply(text, call, UNUSABLE, message, [*problems, message])


def repair_messages(first: SummaryReply) -> list[dict[str, str]]:
    """Return the messages after the request: the first reply, and what is wrong with it."""
    problem = "\n".join(f"- {problem}" for problem in first.problems[:MAX_PROBLEMS])
    return [
        {"role": "assistant", "content": first.text.strip() or "(no text)"},
        {"role": "user", "content": REPAIR.format(problem=problem)},
    ]
