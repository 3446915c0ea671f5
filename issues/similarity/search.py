"""Issues and feedback that say much the same as a text, and why.

Each process keeps the words and vectors of the newest rows, and before a search takes over what
has changed in the tables since. Sealed feedback is told to those who may read it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import Count, Max, Model, Q, QuerySet
from django.utils.text import Truncator

from evalhub.access.models import User
from evalhub.llm import word_vectors
from issues.models import Feedback, FeedbackState, Issue, IssueState
from issues.similarity.full_text import found_in
from issues.similarity.text_index import Matrix, TextIndex, TextMatch

ISSUE, FEEDBACK = "issue", "feedback"
KINDS = (ISSUE, FEEDBACK)
MOST_ROWS = 20_000
"""The newest rows of a table that are compared: they take some 100 MB of memory."""
PORTION = 2000
"""Rows that are read at once."""
MAX_MATCHES = 60
"""Near rows that are looked up, of which some may be sealed, or merged into others."""
MOST_WORDS = 12
"""Words of a text that a database searches for: those that tell most."""
MAX_WITH_WORDS = 150
"""Rows that have these words, about: a database computes a rank for each."""
LONGEST = 2000
"""Characters of a text that are compared: its beginning."""
OF_PROMPT = 200
"""Characters of a prompt beside the comment: what it is about, not all that was pasted into it."""


@dataclass(frozen=True)
class SimilarRow:
    """An issue or a piece of feedback that says much the same.

    `score` is in [0, 1]; `why` says in words what both have in common. `state` is in words too.
    `issue_id` is the issue that it leads to, None where feedback has none.
    """

    kind: str
    pk: int
    title: str
    url: str
    score: float
    why: str
    state: str
    issue_id: int | None
    takes_feedback: bool
    """Whether feedback can be attached to it, or marked as its duplicate."""


class Query(NamedTuple):
    """A text with its vector, None where there is none."""

    text: str
    vector: Matrix | None


class TableIndex:
    """The shelf of one table, as the table was when it was last searched.

    `bounds` names the columns that are compared, with how many characters of each.
    """

    def __init__(self, model: type[Model], bounds: tuple[tuple[str, int], ...]) -> None:
        self.model, self.bounds = model, bounds
        self.lock = Lock()
        self.text_index = TextIndex()
        self._stamp: Any = None
        self._marks: dict[int, Any] = {}

    @property
    def rows(self) -> QuerySet[Any]:
        return self.model._default_manager.order_by("-pk")

    def nearest(self, query: Query) -> list[TextMatch]:
        with self.lock:
            self._refresh()
            found = None
            if connection.vendor == "postgresql":
                words = self.text_index.distinctive_words(query.text, MOST_WORDS, MAX_WITH_WORDS)
                found = found_in(self.rows, self.bounds, words)
            return list(
                islice(self.text_index.nearest(query.text, query.vector, found), MAX_MATCHES)
            )

    def joined(self, texts: Sequence[str]) -> str:
        return "\n".join(t[:most] for t, (_, most) in zip(texts, self.bounds, strict=True))

    def _refresh(self) -> None:
        stamp = self.stamp()
        if stamp == self._stamp:
            return
        marks = self.marks()
        self.text_index.drop(self._marks.keys() - marks.keys())
        self._put([pk for pk, mark in marks.items() if self._marks.get(pk) != mark])
        self._stamp, self._marks = stamp, marks

    def _put(self, keys: list[int]) -> None:
        names = [name for name, _ in self.bounds]
        for start in range(0, len(keys), PORTION):
            rows = self.rows.filter(pk__in=keys[start : start + PORTION])
            texts = {
                pk: self.joined(row_texts) for pk, *row_texts in rows.values_list("pk", *names)
            }
            self.text_index.put(texts, _vectors(list(texts.values())))

    def stamp(self) -> Any:
        """What differs once a row was added, changed or deleted."""
        raise NotImplementedError

    def marks(self) -> dict[int, Any]:
        """For each of the newest rows what differs once it was changed."""
        raise NotImplementedError


class IssueIndex(TableIndex):
    def stamp(self) -> Any:
        return tuple(self.rows.aggregate(Count("pk"), Max("updated_at")).values())

    def marks(self) -> dict[int, Any]:
        return dict(self.rows.values_list("pk", "updated_at")[:MOST_ROWS])


class FeedbackIndex(TableIndex):
    """What was received never changes, and its times are not read: that takes long."""

    def stamp(self) -> Any:
        newest = self.rows.values_list("pk", "created_at").first()
        return self.rows.count(), newest

    def marks(self) -> dict[int, Any]:
        """The time of the oldest row stands for the table: in another database it is another."""
        oldest = self.rows.reverse().values_list("created_at", flat=True).first()
        return dict.fromkeys(self.rows.values_list("pk", flat=True)[:MOST_ROWS], oldest)


INDEXES: dict[str, TableIndex] = {
    ISSUE: IssueIndex(Issue, (("title", 200), ("description", LONGEST))),
    FEEDBACK: FeedbackIndex(Feedback, (("comment", LONGEST), ("prompt", OF_PROMPT))),
}


def similar(
    text: str,
    *,
    reader: User | AnonymousUser,
    kinds: Iterable[str] = KINDS,
    limit: int = 5,
    besides: tuple[str, int] | None = None,
) -> list[SimilarRow]:
    """What says much the same as a text, nearest first: at most `limit` of each kind.

    Args:
        reader: Only what this person may read is told.
        besides: Kind and number of a row that is not told: the text's own.
    """
    rows_found: list[SimilarRow] = []
    cut = text[:LONGEST]
    if not cut.strip():
        return rows_found
    query = Query(cut, _vector(cut))
    for kind in kinds:
        if reader.has_perm(f"issues.view_{kind}"):
            found = INDEXES[kind].nearest(query)
            rows = _issues(found, reader) if kind == ISSUE else _feedback(found, reader)
            others = (one for one in _unique(rows) if (one.kind, one.pk) != besides)
            rows_found += islice(others, limit)
    return sorted(rows_found, key=lambda one: one.score, reverse=True)


def issues_named(text: str, *, limit: int = 9) -> list[SimilarRow]:
    """Standing issues by their number, or a part of their title; the newest first."""
    if not text:
        return []
    number = text.removeprefix("#")
    named = Q(title__icontains=text)
    if number.isascii() and number.isdecimal() and len(number) <= 18:
        named |= Q(pk=int(number))
    found = Issue.objects.active().filter(named).order_by("-pk")[:limit]
    return [_row_of(issue, 1.0, f"issue {issue.pk}") for issue in found]


def text_of(feedback: Feedback) -> str:
    """What of a piece of feedback is compared: the comment, and what was asked."""
    row_texts = (feedback.comment, feedback.prompt)
    return (
        INDEXES[FEEDBACK].joined(row_texts) if any(map(str.strip, row_texts)) else feedback.answer
    )


# What is told -------------------------------------------------------------------------------------


def _issues(found: Sequence[TextMatch], reader: User | AnonymousUser) -> Iterator[SimilarRow]:
    """The issues whose text this person may read: why they are alike quotes it.

    In the place of one that was merged stands the one that it was merged into.
    """
    rows = Issue.objects.readable_by(reader).in_bulk([match.key for match in found])
    targets = _merged(rows)
    for match in found:
        if match.key not in rows:
            continue
        row = rows[match.key]
        target = targets.get(match.key, row)
        merged = f"“{row.title}”, which was merged into it, is alike: " if target != row else ""
        yield _row_of(target, match.score, merged + match.why)


def _row_of(issue: Issue, score: float, why: str) -> SimilarRow:
    return SimilarRow(
        ISSUE,
        issue.pk,
        issue.title,
        issue.get_absolute_url(),
        score,
        why,
        issue.get_state_display(),
        issue.pk,
        issue.state != IssueState.DEPRECATED,
    )


def _merged(rows: dict[int, Issue]) -> dict[int, Issue]:
    """For each merged row where it has ended up, however often that was merged on."""
    known, ends = dict(rows), {pk: pk for pk in rows}
    for _ in range(20):
        further = {pk: known[end].merged_into_id for pk, end in ends.items()}
        moved = {pk: end for pk, end in further.items() if end is not None}
        if not moved:
            break
        known |= Issue.objects.in_bulk(set(moved.values()) - known.keys())
        ends |= moved
    return {pk: known[end] for pk, end in ends.items() if pk != end}


def _feedback(found: Sequence[TextMatch], reader: User | AnonymousUser) -> Iterator[SimilarRow]:
    """The feedback that this person may read; in the place of a duplicate its original."""
    readable = Feedback.objects.readable_by(reader)
    rows = readable.in_bulk([match.key for match in found])
    wanted = {row.duplicate_of_id for row in rows.values() if row.duplicate_of_id} - rows.keys()
    originals = rows | (readable.in_bulk(wanted) if wanted else {})
    for match in found:
        row = rows.get(match.key)
        row = originals.get(row.duplicate_of_id, row) if row and row.duplicate_of_id else row
        if row is not None:
            yield SimilarRow(
                FEEDBACK,
                row.pk,
                Truncator(str(row)).chars(120),
                row.get_absolute_url(),
                match.score,
                match.why,
                row.get_state_display(),
                row.issue_id,
                row.state != FeedbackState.DUPLICATE,
            )


def _unique(rows: Iterable[SimilarRow]) -> Iterator[SimilarRow]:
    rows_found: set[int] = set()
    for row in rows:
        if row.pk not in rows_found:
            rows_found.add(row.pk)
            yield row


def _vector(text: str) -> Matrix | None:
    vectors = _vectors([text])
    return None if vectors is None else vectors[0]


def _vectors(texts: list[str]) -> Matrix | None:
    """None where the word vectors are not installed: then words alone are compared."""
    try:
        return word_vectors.matrix(texts)
    except word_vectors.NoWordVectors:
        return None
