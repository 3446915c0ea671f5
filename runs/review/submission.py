"""What a reviewer says of an answer, and how a draft keeps it. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

MOST_TEXT = 100_000
"""Characters of one text that a reviewer writes."""

OPTION, REASON, NOTE, CORRECTION, SECONDS = (
    "option",
    "justification",
    "note",
    "correction",
    "seconds",
)


class Verdict(NamedTuple):
    """An option of the scale: of the answer as a whole (`criterion` ""), or of one criterion."""

    criterion: str
    option: str
    justification: str = ""


class ReviewSubmission(NamedTuple):
    """All that is submitted of one answer. `seconds` None: it was not measured."""

    verdicts: tuple[Verdict, ...]
    note: str = ""
    correction: str = ""
    seconds: int | None = None


def field_of(name: str, criterion: str) -> str:
    """The field of a draft, of a form and of an error that is about a criterion, or the whole."""
    return f"{name}:{criterion}" if criterion else name


def as_draft(submission: ReviewSubmission) -> dict[str, str]:
    """The sheet as `Assignment.draft` holds it: texts by field, those that are empty left out.

    The fields are note, correction, seconds, and for each verdict option and justification, with
    the key of its criterion after a colon, such as "option:c1".
    """
    fields = {NOTE: submission.note, CORRECTION: submission.correction}
    fields[SECONDS] = "" if submission.seconds is None else str(submission.seconds)
    for verdict in submission.verdicts:
        fields[field_of(OPTION, verdict.criterion)] = verdict.option
        fields[field_of(REASON, verdict.criterion)] = verdict.justification
    return {name: text for name, text in fields.items() if text}


def says_something(draft: Mapping[str, Any]) -> bool:
    """Whether somebody has typed or chosen something; the time that passed is nothing said."""
    return any(str(text).strip() for name, text in draft.items() if name != SECONDS)
