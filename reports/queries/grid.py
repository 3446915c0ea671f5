"""The results of a run as rows: filtered, sorted, a page at a time, texts only where readable."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Substr

from evalhub.models import User
from issues.models import Issue, Revision
from runs.filters import Filters
from runs.listing import Listing, texts_of
from runs.models import Answer, Judgment, Result, TagSet

PAGE = 50
TEXT = 2000
"""Characters of a text that a row carries."""


@dataclass(frozen=True)
class Vote:
    """What one judge gave: the mean of its values, None where it failed or has not answered."""

    judge: str
    value: float | None
    failed: int


@dataclass(frozen=True)
class Row:
    """One result. `prompt` and `answer` are None where the reader may not read the test."""

    result_id: int
    test_id: int
    repeat: int
    issue_id: int
    issue: str
    tags: tuple[str, ...]
    outcome: str
    score: float | None
    agreement: float | None
    votes: tuple[Vote, ...]
    failed_judgments: int
    is_overridden: bool
    is_disputed: bool
    weight: float
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: Decimal | None
    latency_ms: int | None
    error_kind: str
    prompt: str | None
    answer: str | None


@dataclass(frozen=True)
class Grid:
    """One page of the rows that match; `total` is how many do."""

    rows: tuple[Row, ...]
    total: int
    page: int
    pages: int

    @property
    def first(self) -> int:
        return (self.page - 1) * PAGE + 1 if self.rows else 0

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1 if self.rows else 0


class Sheet(Listing):
    """A run's results with what the grid shows of each, texts only where the reader may read."""

    def page(self, filters: Filters) -> Grid:
        """The page that is asked for, or the last one where there are not so many."""
        total = self.matching(filters).count()
        pages = max(1, -(-total // PAGE))
        page = min(filters.page, pages)
        # Only ids are sorted: whole rows are wider, and most of them are not shown.
        ids = self.in_order(filters).values_list("pk", flat=True)
        return Grid(self._read(ids[(page - 1) * PAGE : page * PAGE]), total, page, pages)

    def rows(self, filters: Filters) -> Iterator[Row]:
        """All rows that match, in the order of the grid, read piece by piece."""
        ids = list(self.in_order(filters).values_list("pk", flat=True))
        for start in range(0, len(ids), 10 * PAGE):
            yield from self._read(ids[start : start + 10 * PAGE])

    def _read(self, ids: Iterable[int]) -> tuple[Row, ...]:
        ids = list(ids)
        some = Result.objects.in_bulk(ids)
        return self._rows([some[pk] for pk in ids])

    def _rows(self, results: Sequence[Result]) -> tuple[Row, ...]:
        texts = Texts.read(results, self.reader)
        votes = self._votes([result.pk for result in results])
        issues = dict(
            Issue.objects.filter(pk__in={r.issue_id for r in results}).values_list("pk", "title")
        )
        sets = TagSet.objects.in_bulk({result.tag_set_id for result in results})
        return tuple(
            _row(result, issues[result.issue_id], sets[result.tag_set_id].names, votes, texts)
            for result in results
        )

    def _votes(self, result_ids: list[int]) -> dict[int, tuple[Vote, ...]]:
        """Each judge's vote on each result, in the order of the jury."""
        if self.judging is None:
            return {}
        given: dict[int, dict[int, list[float | None]]] = defaultdict(lambda: defaultdict(list))
        rows = Judgment.objects.filter(
            judging=self.judging, result__in=result_ids, judge__isnull=False
        ).order_by()
        for result, judge, value in rows.values_list("result_id", "judge_id", "value"):
            given[result][judge].append(value)
        names = {judge["judge"]: judge.get("name", "") for judge in self.judging.jury["judges"]}
        return {result: _by_judge(votes, names) for result, votes in given.items()}


def _by_judge(votes: dict[int, list[float | None]], names: dict[int, str]) -> tuple[Vote, ...]:
    order = [*names, *(judge for judge in votes if judge not in names)]
    return tuple(
        _vote(names.get(judge) or f"judge {judge}", votes[judge])
        for judge in order
        if judge in votes
    )


def _vote(judge: str, values: list[float | None]) -> Vote:
    given = [value for value in values if value is not None]
    mean = sum(given) / len(given) if given else None
    return Vote(judge, mean, failed=len(values) - len(given))


@dataclass(frozen=True)
class Texts:
    """What the reader may read of some results: their prompts by revision, their answers."""

    prompts: dict[int, str]
    answers: dict[int, str]

    @classmethod
    def read(cls, results: Sequence[Result], reader: User) -> "Texts":
        revisions = Revision.objects.filter(pk__in={result.revision_id for result in results})
        asked = revisions.readable_by(reader).order_by()
        answers = Answer.objects.filter(pk__in=[result.pk for result in results])
        said = answers.readable_by(reader).order_by()
        return cls(
            prompts={
                pk: prompt_of(messages)[:TEXT]
                for pk, messages in asked.values_list("pk", KeyTransform("messages", "content"))
            },
            answers=dict(said.values_list("pk", Substr("text", 1, TEXT))),
        )


def prompt_of(messages: Any) -> str:
    """What a person reads of the messages: the last user turn."""
    said = texts_of(message for message in messages or [] if message["role"] == "user")
    return said[-1] if said else ""


def _row(
    result: Any, issue: str, tags: list[str], votes: dict[int, tuple[Vote, ...]], texts: Texts
) -> Row:
    mine = votes.get(result.pk, ())
    return Row(
        issue=issue,
        tags=tuple(tags),
        result_id=result.pk,
        votes=mine,
        failed_judgments=sum(vote.failed for vote in mine),
        prompt=texts.prompts.get(result.revision_id),
        answer=texts.answers.get(result.pk, "" if result.revision_id in texts.prompts else None),
        **{name: getattr(result, name) for name in COPIED},
    )


COPIED = (
    "test_id",
    "repeat",
    "issue_id",
    "outcome",
    "score",
    "agreement",
    "is_overridden",
    "is_disputed",
    "weight",
    "tokens_in",
    "tokens_out",
    "cost_usd",
    "latency_ms",
    "error_kind",
)
