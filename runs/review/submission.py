"""A submitted review, and its form as a draft. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

MOST_TEXT = 100_000
"""The most characters of a reviewer's text."""

OPTION, REASON, NOTE, CORRECTION, SECONDS = (
    "option",
    "justification",
    "note",
    "correction",
    "seconds",
)


class Verdict(NamedTuple):
    """An option chosen for a criterion, or for the answer as a whole (`criterion` "")."""

    criterion: str
    option: str
    justification: str = ""


class ReviewSubmission(NamedTuple):
    """A review of one answer. `seconds` None: not measured."""

    verdicts: tuple[Verdict, ...]
    note: str = ""
    correction: str = ""
    seconds: int | None = None


def field_of(name: str, criterion: str) -> str:
    """Name the field of a criterion, or of the whole, in drafts, forms and errors."""
    return f"{name}:{criterion}" if criterion else name


def as_draft(submission: ReviewSubmission) -> dict[str, str]:
    """Return the submission as `Assignment.draft` stores it: texts by field, without empty ones.

    The fields are note, correction, seconds, and each verdict's option and justification, with
    the criterion's key after a colon, such as "option:c1".
    """
    fields = {NOTE: submission.note, CORRECTION: submission.correction}
    fields[SECONDS] = "" if submission.seconds is None else str(submission.seconds)
    for verdict in submission.verdicts:
        fields[field_of(OPTION, verdict.criterion)] = verdict.option
        fields[field_of(REASON, verdict.criterion)] = verdict.justification
    return {name: text for name, text in fields.items() if text}


def has_input(draft: Mapping[str, Any]) -> bool:
    """Tell whether the draft has any input besides the time spent."""
    return any(str(text).strip() for name, text in draft.items() if name != SECONDS)
