"""Search for issues and feedback similar to a text, with reasons.

Each process keeps words and vectors of the newest rows, and refreshes them before a search. Readers
without the right to sealed texts search an index of open rows only: how rare a word is, and so
every score, would tell them which words the others have.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import or_
from threading import Lock
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.contrib.postgres.search import SearchQuery, SearchRank, SearchVector
from django.db import connection
from django.db.models import Count, Max, Model, Q, QuerySet, Sum
from django.db.models.functions import Left
from django.utils.text import Truncator

from evalhub.access.models import User
from evalhub.access.sealing.readers import READ_SEALED
from evalhub.llm import word_vectors
from issues.models import Feedback, FeedbackState, Issue, IssueState
from issues.similarity.ranking import Matrix, TextIndex, TextMatch

ISSUE, FEEDBACK = "issue", "feedback"
KINDS = (ISSUE, FEEDBACK)
MAX_ROWS = 20_000
"""Maximum number of newest rows compared per table: about 100 MB of memory."""
PORTION = 2000
"""Rows read at once."""
MAX_MATCHES = 60
"""Similar rows looked up; some may be sealed or merged."""
MAX_WORDS = 12
"""Most distinctive words of a text, for the database search."""
MAX_WITH_WORDS = 150
"""Approximate maximum of rows with these words: a database ranks each."""
LONGEST = 2000
"""Compared characters of a text, from its beginning."""
OF_PROMPT = 200
"""Compared characters of a prompt beside the comment: its topic, not all that was pasted."""


@dataclass(frozen=True)
class SimilarRow:
    """A similar issue or feedback item.

    `score` is in [0, 1]; `why` gives the reasons. `state` is its label. `issue_id` is the issue
    itself or the feedback's, None without one.
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
    """True if feedback can be attached to it, or marked as its duplicate."""


class TableIndex:
    """Index of a table as of the last search.

    `bounds` names the compared columns with their maximum lengths. `is_open`: without sealed texts.
    """

    def __init__(
        self, model: type[Model], bounds: tuple[tuple[str, int], ...], *, is_open: bool
    ) -> None:
        self.model, self.bounds, self.is_open = model, bounds, is_open
        self.lock = Lock()
        self.text_index = TextIndex()
        self._stamp: Any = None
        self._marks: dict[int, Any] = {}

    @property
    def rows(self) -> QuerySet[Any]:
        rows: Any = self.model._default_manager.order_by("-pk")
        found: QuerySet[Any] = rows.readable_by(AnonymousUser()) if self.is_open else rows
        return found

    def nearest(self, text: str, vector: Matrix | None) -> list[TextMatch]:
        with self.lock:
            self._refresh()
            found = None
            if connection.vendor == "postgresql":
                words = self.text_index.distinctive_words(text, MAX_WORDS, MAX_WITH_WORDS)
                found = found_in(self.rows, self.bounds, words)
            return list(islice(self.text_index.nearest(text, vector, found), MAX_MATCHES))

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
        """Return a value that changes with every added, edited, sealed or deleted row."""
        raise NotImplementedError

    def marks(self) -> dict[int, Any]:
        """Return for each of the newest rows a value that changes with every edit."""
        raise NotImplementedError


class IssueIndex(TableIndex):
    def stamp(self) -> Any:
        return tuple(self.rows.aggregate(Count("pk"), Sum("pk"), Max("updated_at")).values())

    def marks(self) -> dict[int, Any]:
        return dict(self.rows.values_list("pk", "updated_at")[:MAX_ROWS])


class FeedbackIndex(TableIndex):
    """Index of feedback: texts never change, and reading times would be slow."""

    def stamp(self) -> Any:
        newest = self.rows.values_list("pk", "created_at").first()
        return newest, *self.rows.order_by().aggregate(Count("pk"), Sum("pk")).values()

    def marks(self) -> dict[int, Any]:
        """Use the time of the oldest row as a mark: it differs in another database."""
        all_rows = self.model._default_manager.order_by("pk")
        oldest = all_rows.values_list("created_at", flat=True).first()
        return dict.fromkeys(self.rows.values_list("pk", flat=True)[:MAX_ROWS], oldest)


COMPARED = {
    ISSUE: (("title", 200), ("description", LONGEST)),
    FEEDBACK: (("comment", LONGEST), ("prompt", OF_PROMPT)),
}
INDEXES: dict[tuple[str, bool], TableIndex] = {
    (kind, is_open): index(model, COMPARED[kind], is_open=is_open)
    for kind, index, model in (
        (ISSUE, IssueIndex, Issue),
        (FEEDBACK, FeedbackIndex, Feedback),
    )
    for is_open in (True, False)
}
"""By kind and `is_open`."""


def similar(
    text: str,
    *,
    reader: User | AnonymousUser,
    kinds: Iterable[str] = KINDS,
    limit: int = 5,
    besides: tuple[str, int] | None = None,
) -> list[SimilarRow]:
    """Return rows similar to a text, most similar first, up to `limit` of each kind.

    Args:
        reader: User; rows that the user may not read are left out.
        besides: Kind and id of a row to leave out: the text's own.
    """
    rows_found: list[SimilarRow] = []
    cut = text[:LONGEST]
    if not cut.strip():
        return rows_found
    vectors = _vectors([cut])
    vector = None if vectors is None else vectors[0]
    for kind in kinds:
        if reader.has_perm(f"issues.view_{kind}"):
            is_open = not reader.has_perm(READ_SEALED)
            found = INDEXES[kind, is_open].nearest(cut, vector)
            rows = _issues(found, reader) if kind == ISSUE else _feedback(found, reader)
            unique: dict[int, SimilarRow] = {}
            for row in rows:
                unique.setdefault(row.pk, row)
            others = [row for row in unique.values() if (kind, row.pk) != besides]
            rows_found += others[:limit]
    return sorted(rows_found, key=lambda one: one.score, reverse=True)


def issues_named(text: str, *, limit: int = 9) -> list[SimilarRow]:
    """Return active issues by number or by a part of their title, newest first."""
    if not text:
        return []
    number = text.removeprefix("#")
    named = Q(title__icontains=text)
    if number.isascii() and number.isdecimal() and len(number) <= 18:
        named |= Q(pk=int(number))
    found = Issue.objects.active().filter(named).order_by("-pk")[:limit]
    return [_row_of(issue, 1.0, f"issue {issue.pk}") for issue in found]


def text_of(feedback: Feedback) -> str:
    """Return the compared text of feedback: comment and prompt, else the answer."""
    row_texts = (feedback.comment, feedback.prompt)
    return (
        INDEXES[FEEDBACK, False].joined(row_texts)
        if any(map(str.strip, row_texts))
        else feedback.answer
    )


# Found rows ---------------------------------------------------------------------------------------


def _issues(found: Sequence[TextMatch], reader: User | AnonymousUser) -> Iterator[SimilarRow]:
    """Yield issues that this user may read, because the reasons quote them.

    A merged issue is replaced by the one it was merged into.
    """
    rows = Issue.objects.readable_by(reader).in_bulk([match.key for match in found])
    targets = _merged(rows)
    for match in found:
        if match.key not in rows:
            continue
        row = rows[match.key]
        target = targets.get(match.key, row)
        merged = f"“{row.title}”, which was merged into it, is similar: " if target != row else ""
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
    """Return the final target of each merged row, however often it was merged on."""
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
    """Yield feedback that this user may read; a duplicate is replaced by its original."""
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


def _vectors(texts: list[str]) -> Matrix | None:
    """Return the vectors; None if word vectors are not installed."""
    try:
        return word_vectors.load().matrix(texts)
    except word_vectors.NoWordVectors:
        return None


# Full-text search of PostgreSQL. The expression must equal that of the index; any other would read
# every row.
CONFIG = "english"
WEIGHTS = [1.0, 1.0, 1.0, 1.0]
"""Equal weights for all columns."""
OF_ONE_WORD = 0.6079271
"""Rank of a text with a single matching word: 6
π².
"""
MAX_FOUND = 200


def vector_of(bounds: Sequence[tuple[str, int]]) -> SearchVector:
    """Return the search vector of some columns, truncated since long texts cannot be indexed."""
    return SearchVector(*(Left(name, most) for name, most in bounds), config=CONFIG)


def found_in(
    rows: QuerySet[Any], bounds: Sequence[tuple[str, int]], words: Sequence[str]
) -> dict[int, float]:
    """Return the approximate share of the words in each matching row, in [0, 1].

    Args:
        words: Plain words, without operators.
    """
    if not words:
        return {}
    query = reduce(or_, (SearchQuery(word, config=CONFIG) for word in words))
    rank = SearchRank("searched", query, weights=WEIGHTS)
    having = rows.annotate(searched=vector_of(bounds)).filter(searched=query)
    best = having.annotate(rank=rank).order_by("-rank", "-pk").values_list("pk", "rank")
    return {pk: min(1.0, found / OF_ONE_WORD) for pk, found in best[:MAX_FOUND]}
