"""A submitted review, and its form as a draft. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from evalhub.values.storable import UNSTORABLE

MAX_TEXT = 100_000
"""Characters of a reviewer's text."""
MAX_SECONDS = 24 * 3600

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


def draft_in(sent: Mapping[str, Any]) -> dict[str, str]:
    """Read a draft from what a form sent, leaving out other fields.

    `agree` chooses an option for the whole in place of all others.
    """
    draft = {}
    if agreed := sent.get("agree"):
        chosen = {name for name in sent if name.partition(":")[0] == OPTION}
        sent = {**{name: sent[name] for name in sent if name not in chosen}, OPTION: agreed}
    for name in sent:
        is_point = name.partition(":")[0] in (OPTION, REASON) and not UNSTORABLE.search(name)
        if is_point or name in (NOTE, CORRECTION, SECONDS):
            draft[name] = UNSTORABLE.sub("", str(sent[name]))
    seconds = draft.get(SECONDS, "")
    if not (seconds.isascii() and seconds.isdecimal() and len(seconds) < 10):
        draft[SECONDS] = ""
    return {name: text for name, text in draft.items() if text}


def submission_of(draft: Mapping[str, str]) -> ReviewSubmission:
    """Return the draft as a submission, with a verdict on each point that has input."""
    given = [name for name, text in draft.items() if text.strip()]
    points = [name.partition(":") for name in given if name not in (NOTE, CORRECTION, SECONDS)]
    return ReviewSubmission(
        tuple(
            Verdict(
                key,
                draft.get(field_of(OPTION, key), ""),
                draft.get(field_of(REASON, key), "").strip(),
            )
            for key in dict.fromkeys(key for _, _, key in points)
        ),
        draft.get(NOTE, "").strip(),
        draft.get(CORRECTION, "").strip(),
        min(int(draft[SECONDS]), MAX_SECONDS) if SECONDS in draft else None,
    )


def is_same(submission: ReviewSubmission, draft: Mapping[str, str]) -> bool:
    """Tell whether a submission says what the draft of an earlier one says, in whatever time."""
    texts = as_draft(submission._replace(seconds=None))
    return texts == {name: text for name, text in draft.items() if name != SECONDS}


def has_input(draft: Mapping[str, str]) -> bool:
    """Tell whether the draft has any input besides the time spent."""
    return any(text.strip() for name, text in draft.items() if name != SECONDS)


def too_long(texts: Mapping[str, str]) -> dict[str, str]:
    """Return a problem for each text over the limit."""
    return {
        name: f"{len(text):,} characters are too long: write at most {MAX_TEXT:,}."
        for name, text in texts.items()
        if len(text) > MAX_TEXT
    }
