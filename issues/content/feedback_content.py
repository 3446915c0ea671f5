"""What feedback holds, declared once. Pure.

The column of a field in `issues.models.feedback.Feedback` has its type, limits and help, of which
Django and REST framework make inputs. From these rows are made: the page's form, the API's fields,
exports, columns of uploaded files, sealing and erasure, search, and what triage decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalhub.limits import MAX_JSON, MAX_TEXT
from issues.content.test_content import in_rows


@dataclass(frozen=True)
class FeedbackField:
    """A field of feedback.

    Attributes:
        place: In the form of a person who adds it; equal places are in one row. 0: not there.
        lines: Of its text area; 0: another input.
        is_triage: Triage decides it; other fields stay as they were sent.
        erased: What is left of what somebody said; None: it stays.
        columns: Names by which a column of an uploaded file is taken for it.
        longest: Characters in an uploaded file.
    """

    name: str
    place: int = 0
    lines: int = 0
    is_triage: bool = False
    erased: Any = None
    columns: tuple[str, ...] = ()
    longest: int = MAX_TEXT


PROMPTS = ("prompt", "question", "input", "model_input", "query", "user_input")
ANSWERS = ("answer", "response", "output", "model_output", "completion", "reply")
COMMENTS = ("comment", "user_comment", "feedback", "text", "message", "complaint")
RATINGS = ("rating", "user_rating", "thumb", "thumbs", "score")
IDS = ("source_id", "id", "_id", "external_id", "feedback_id")
FIELDS = (
    FeedbackField("messages", erased=[], columns=("messages", "conversation"), longest=MAX_JSON),
    FeedbackField("prompt", place=2, lines=5, erased="", columns=PROMPTS),
    FeedbackField("answer", place=3, lines=5, erased="", columns=ANSWERS),
    FeedbackField("rating", place=4, columns=RATINGS, longest=40),
    FeedbackField("comment", place=1, lines=3, erased="", columns=COMMENTS),
    FeedbackField("model", place=5, columns=("model", "model_id", "model_name"), longest=200),
    FeedbackField("release", place=5, columns=("release",), longest=100),
    FeedbackField("source", place=5, columns=("source", "application", "app", "mode"), longest=100),
    FeedbackField("raw", erased={}),
    FeedbackField("source_id", columns=IDS, longest=100),
    FeedbackField("state", is_triage=True),
    FeedbackField("issue", is_triage=True),
    FeedbackField("duplicate_of", is_triage=True),
    FeedbackField("note", lines=3, is_triage=True, erased=""),
)
SENT = tuple(field.name for field in FIELDS if not field.is_triage)
TRIAGE = tuple(field.name for field in FIELDS if field.is_triage)
TEXTS = tuple(field.name for field in FIELDS if field.lines and not field.is_triage)
ERASED = {field.name: field.erased for field in FIELDS if field.erased is not None}
LINES = {field.name: field.lines for field in FIELDS if field.lines}
IN_FILES = {field.name: field for field in FIELDS if field.columns}
OWN = [field for field in FIELDS if field.place]
FACTS = tuple(field.name for field in OWN if not field.lines)
TYPED = in_rows(OWN)
"""What a person types who adds it, by rows of the form; `FACTS` of it are no texts."""


def says_nothing(fields: Mapping[str, Any]) -> bool:
    """Return True without a text and a rating."""
    said = any((fields.get(name) or "").strip() for name in TEXTS)
    return not said and fields.get("rating", "none") == "none"
