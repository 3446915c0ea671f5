"""What a test holds, declared once. Pure.

The column of a field in `issues.models.test.Test` has its type, limits, label and help, of which
Django and REST framework make inputs. From these rows are made: the page's form and its tabs, the
API's fields, exports and bulk rows, revisions with their digests and schema, what a change of an
approved test sends back to review, sealing, search, what a sibling passes on, and the columns and
records of imports. A field that judges read is new to the digest of every test.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Json = dict[str, Any]


class Reader(StrEnum):
    """Who reads a field, the last of them; scores are computed with those of SCORING."""

    CANDIDATE = "candidate"
    JUDGE = "judge"
    SCORING = "scoring"
    PEOPLE = "people"


JUDGING, MATERIAL, RECORD = "Judging", "Tools and documents", "Record"
"""Tabs of a test's page."""


@dataclass(frozen=True)
class TestField:
    """A field of a test.

    Attributes:
        kind: Its type in JSON, or the type of what a relation's values are in it.
        tab: Of the test's page; "": not there, or in the page's own place.
        place: In its tab. Equal places are in one row.
        lines: Of its text area; 0: another input.
        is_open: Everybody may read it of a sealed test.
        is_related: Rows of another table, and no column.
        is_passed_on: A new test takes it from its sibling.
        is_searched: Words of a search are found in it.
        columns: Names by which a column of an imported table is taken for it.
    """

    __test__ = False

    name: str
    reader: Reader
    kind: Any = str
    tab: str = ""
    place: int = 0
    lines: int = 0
    is_open: bool = False
    is_related: bool = False
    is_passed_on: bool = False
    is_searched: bool = False
    columns: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        return self.kind is str and not self.is_open


CANDIDATE, JUDGE, SCORING, PEOPLE = Reader
REFERENCES = (
    *("reference", "ideal", "target", "expected", "expected_output", "answer", "output"),
    *("ground_truth", "label", "reference_answer"),
)
FIELDS = (
    TestField(
        "messages",
        CANDIDATE,
        list[Json],
        is_searched=True,
        columns=("messages", "conversation"),
    ),
    TestField("tools", CANDIDATE, list[Json], tab=MATERIAL, place=2),
    TestField(
        "context", CANDIDATE, tab=MATERIAL, place=1, lines=4, columns=("context", "documents")
    ),
    TestField(
        "reference",
        JUDGE,
        tab=JUDGING,
        place=3,
        lines=4,
        is_searched=True,
        columns=REFERENCES,
    ),
    TestField("reference_by", PEOPLE, tab=JUDGING, place=4, is_open=True),
    TestField("flagged_answer", PEOPLE, tab=JUDGING, place=5, lines=4),
    TestField(
        "guidelines",
        JUDGE,
        tab=JUDGING,
        place=2,
        lines=6,
        is_passed_on=True,
        is_searched=True,
        columns=("guidelines", "criteria", "rubric"),
    ),
    TestField("criteria", JUDGE, list[Json], is_open=True, is_related=True),
    TestField("template", SCORING, int, tab=JUDGING, place=1, is_open=True, is_passed_on=True),
    TestField(
        "pass_threshold", SCORING, float, tab=JUDGING, place=6, is_open=True, is_passed_on=True
    ),
    TestField("weight", SCORING, float, tab=JUDGING, place=6, is_open=True),
    TestField(
        "tags",
        PEOPLE,
        list[str],
        is_open=True,
        is_related=True,
        columns=("tags", "tag", "category"),
    ),
    TestField(
        "note", PEOPLE, tab=RECORD, place=1, lines=2, columns=("note", "comment", "description")
    ),
)
BY_NAME = {field.name: field for field in FIELDS}
REMARKS = tuple(field.name for field in FIELDS if field.tab == RECORD)
CONTENT = tuple(name for name in BY_NAME if name not in REMARKS)
"""Fields in the order of the API and of exports: `CONTENT`, and `REMARKS` after the state."""

SHOWN = tuple(
    field.name for field in FIELDS if field.reader in (CANDIDATE, JUDGE) and not field.is_related
)
"""What candidates and judges read, in the order of a revision's content."""

SHOWN_TEXTS = tuple(name for name in SHOWN if BY_NAME[name].is_text)
BY_PLACE = sorted(FIELDS, key=lambda field: field.place)
JUDGED_TEXTS = tuple(field.name for field in BY_PLACE if field.reader == JUDGE and field.is_text)
"""What is shown to judges alone, in the order of the page."""

REVIEWED = (*SHOWN, *(field.name for field in FIELDS if field.reader == SCORING))
"""What affects results: changing one sends an approved test back to review."""

SEALED = tuple(field.name for field in FIELDS if not field.is_open)
PASSED_ON = tuple(field.name for field in FIELDS if field.is_passed_on)
SEARCHED = tuple(field.name for field in FIELDS if field.is_searched)
LINES = {field.name: field.lines for field in FIELDS if field.lines}


def rows_of(tab: str) -> list[str | tuple[str, ...]]:
    """Return the fields of a tab in order; those of one row together."""
    return in_rows(field for field in FIELDS if field.tab == tab)


def in_rows(fields: Iterable[Any]) -> list[str | tuple[str, ...]]:
    """Return the names of fields that have a place, in order; those of one place together."""
    rows: dict[int, list[str]] = {}
    for field in sorted(fields, key=lambda field: field.place):
        if field.place:
            rows.setdefault(field.place, []).append(field.name)
    return [tuple(names) if len(names) > 1 else names[0] for names in rows.values()]


def content(messages: list[Json], **fields: Any) -> Json:
    """Return the content of a test that need not be stored, as revisions have it."""
    blank = {name: "" if BY_NAME[name].is_text else [] for name in SHOWN}
    return {**blank, "criteria": [], "messages": messages, **fields}
