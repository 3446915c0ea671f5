"""Results of a run as rows: filtered, sorted, paged, with texts only if readable."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Substr

from evalhub.models import User
from evalhub.statistics.deviation import is_split
from evalhub.statistics.krippendorff import FEWEST_RATERS, FEWEST_UNITS, Band, band
from issues.models import Polarity, Revision
from issues.rubrics.scoring import consensus, inverted
from runs.figures.filters import Filters
from runs.figures.listing import Listing, texts_of
from runs.models import Answer, Judgment, Result, ResultScore
from runs.scoring.verdict import CriterionValue

PAGE = 20
TEXT = 2000
"""Maximum length of a text in a row, in characters."""


@dataclass(frozen=True)
class JudgeCell:
    """Mean value of one judge; None if it failed or has not answered.

    With a rubric, values of criteria that should not be met are inverted first.
    """

    judge_id: int
    judge: str
    value: float | None
    failed: int


@dataclass(frozen=True)
class CriterionCell:
    """A criterion of a result's rubric with the score from its judges or its check.

    `score` is after inversion; `deviation` is the population standard deviation of the judges,
    None if not measured.
    """

    weight: float
    score: float | None
    deviation: float | None

    @property
    def is_split(self) -> bool:
        return is_split(self.deviation)


@dataclass(frozen=True)
class Judged:
    """Judgments of the active judge run on a result. `parts` is empty without a rubric."""

    votes: tuple[JudgeCell, ...] = ()
    parts: tuple[CriterionCell, ...] = ()
    failed: int = 0
    deviation: float | None = None


@dataclass(frozen=True)
class Row:
    """A result. `prompt` and `answer` are None if the reader may not read the test.

    `parts` are the criteria of its rubric in order; `deviation` is the largest among them.
    `answered` of the `expected` judgments have a value.
    """

    result_id: int
    test_id: int
    repeat: int
    issue_id: int
    issue: str
    tags: tuple[str, ...]
    outcome: str
    score: float | None
    agreement: float | None
    deviation: float | None
    answered: int
    expected: int
    votes: tuple[JudgeCell, ...]
    parts: tuple[CriterionCell, ...]
    failed_judgments: int
    is_overridden: bool
    is_disputed: bool
    weight: float
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    latency_ms: int | None
    error_kind: str
    prompt: str | None
    answer: str | None

    def judge_cell_of(self, judge_id: int) -> JudgeCell | None:
        """Return the cell of this judge; None if it was not asked."""
        return next((vote for vote in self.votes if vote.judge_id == judge_id), None)

    @property
    def doubt(self) -> str:
        """Band of the judges' agreement if it is too low; else ""."""
        if self.agreement is None:
            return ""
        found = band(self.agreement, raters=FEWEST_RATERS, units=FEWEST_UNITS)
        return "" if found is Band.RELIABLE else found.value

    @property
    def splits(self) -> int:
        """Number of criteria on which the judges are split."""
        return sum(part.is_split for part in self.parts)


RESULT_COLUMNS = (
    *("result_id", "test_id", "repeat", "issue_id", "issue", "tags", "outcome", "score"),
    *("agreement", "deviation", "answered", "expected", "votes", "parts", "failed_judgments"),
    *("is_overridden", "is_disputed", "weight", "input_tokens", "output_tokens", "cost_usd"),
    *("latency_ms", "error_kind", "prompt", "answer"),
)
"""Columns of results.csv."""


@dataclass(frozen=True)
class JudgeColumn:
    """A judge of the active judge run, as a column of the grid."""

    judge_id: int
    name: str
    is_backup: bool


@dataclass(frozen=True)
class Grid:
    """A page of the matching rows, `total` in all. `seats` are the columns of judges."""

    rows: tuple[Row, ...]
    total: int
    page: int
    pages: int
    seats: tuple[JudgeColumn, ...] = ()

    @property
    def first(self) -> int:
        return (self.page - 1) * PAGE + 1 if self.rows else 0

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1 if self.rows else 0


class ResultTable(Listing):
    """Results of a run as rows of the grid, with texts only if the reader may read them."""

    def page(self, filters: Filters, *, of: int | None = None) -> Grid:
        """Return the requested page, or the last page if there are fewer.

        Args:
            of: Number of results of the run; None: unknown.
        """
        known = None if filters.narrows else of
        total = self.matching(filters).count() if known is None else known
        pages = max(1, -(-total // PAGE))
        page = min(filters.page, pages)
        # Only ids are sorted: whole rows are wider, and most of them are not shown.
        ids = self.in_order(filters).values_list("pk", flat=True)
        rows = self._read(ids[(page - 1) * PAGE : page * PAGE])
        return Grid(rows, total, page, pages, self.seats())

    def rows(self, filters: Filters) -> Iterator[Row]:
        """Yield all matching rows in the order of the grid, read in chunks."""
        ids = list(self.in_order(filters).values_list("pk", flat=True))
        for start in range(0, len(ids), 10 * PAGE):
            yield from self._read(ids[start : start + 10 * PAGE])

    def seats(self) -> tuple[JudgeColumn, ...]:
        """Return the judges in the order of the jury, the backup last."""
        backup = self.judge_run.jury.get("backup") if self.judge_run else None
        return tuple(
            JudgeColumn(
                judge["judge"], _judge_name(judge["judge"], judge.get("name")), judge is backup
            )
            for judge in self.everyone()
        )

    def everyone(self) -> list[dict[str, Any]]:
        """Return the judges as frozen in the judge run, the backup last."""
        jury = self.judge_run.jury if self.judge_run else {}
        return [*jury.get("judges", ()), *([jury["backup"]] if jury.get("backup") else [])]

    def _read(self, ids: Iterable[int]) -> tuple[Row, ...]:
        ids = list(ids)
        rows = Result.objects.filter(pk__in=ids).order_by().values_list(*PLAIN)
        some = {row[0]: Plain._make(row) for row in rows}
        return self._rows([some[pk] for pk in ids])

    def _rows(self, results: Sequence["Plain"]) -> tuple[Row, ...]:
        texts = Texts.read(results, self.reader)
        judged = self._judged([result.pk for result in results])
        coverage = self._coverage([result.pk for result in results])
        return tuple(
            _row(
                result,
                judged.get(result.pk, Judged()),
                texts,
                tags=tuple(result.tags),
                **coverage.get(result.pk, {"answered": 0, "expected": 0}),
            )
            for result in results
        )

    def _coverage(self, result_ids: list[int]) -> dict[int, dict[str, int]]:
        rows = ResultScore.objects.filter(
            judge_run=self.judge_run, result__in=result_ids
        ).order_by()
        counted = rows.values_list("result_id", "answered", "expected")
        return {pk: {"answered": answered, "expected": of} for pk, answered, of in counted}

    def _judged(self, result_ids: list[int]) -> dict[int, Judged]:
        """Return the judgments on each result; one query."""
        if self.judge_run is None:
            return {}
        given: dict[int, list[JudgmentRow]] = defaultdict(list)
        rows = Judgment.objects.filter(judge_run=self.judge_run, result__in=result_ids)
        for result, *one in rows.order_by().values_list("result_id", *GIVEN):
            given[result].append(JudgmentRow(*one))
        names = {judge["judge"]: judge.get("name", "") for judge in self.everyone()}
        return {result: _judged(rows, names) for result, rows in given.items()}


class JudgmentRow(NamedTuple):
    """A judgment as a row of the grid needs it. `judge` None: a check."""

    criterion: int
    key: str
    order: int
    polarity: str
    weight: float
    judge: int | None
    value: float | None

    @property
    def score(self) -> float | None:
        """Value after inversion; None if the judgment failed."""
        return inverted(self.value) if self.polarity == Polarity.SHOULD_NOT else self.value


GIVEN = (
    "criterion_id",
    "criterion__key",
    "criterion__order",
    "criterion__polarity",
    "criterion__weight",
    "judge_id",
    "value",
)


def _judged(given: Sequence[JudgmentRow], names: dict[int, str]) -> Judged:
    criteria: dict[tuple[int, int], list[JudgmentRow]] = defaultdict(list)
    judges: dict[int, list[float | None]] = defaultdict(list)
    for one in given:
        criteria[one.order, one.criterion].append(one)
        if one.judge is not None:
            judges[one.judge].append(one.score)
    parts = [_part(criteria[place]) for place in sorted(criteria)]
    deviations = [part.deviation for part in parts if part.deviation is not None]
    return Judged(
        votes=_by_judge(judges, names),
        parts=tuple(parts) if any(one.key for one in given) else (),
        failed=sum(one.value is None for one in given),
        deviation=max(deviations, default=None),
    )


def _part(given: Sequence[JudgmentRow]) -> CriterionCell:
    found = CriterionValue.of((one.judge, one.score) for one in given)
    return CriterionCell(given[0].weight, found.consensus, found.deviation)


def _by_judge(votes: dict[int, list[float | None]], names: dict[int, str]) -> tuple[JudgeCell, ...]:
    """Return the cell of each judge, in the order of the jury."""
    order = [*names, *(judge for judge in votes if judge not in names)]
    return tuple(
        _vote(judge, _judge_name(judge, names.get(judge)), votes[judge])
        for judge in order
        if judge in votes
    )


def _judge_name(judge_id: int, name: str | None) -> str:
    return name or f"judge {judge_id}"


def _vote(judge_id: int, judge: str, values: list[float | None]) -> JudgeCell:
    failed = sum(value is None for value in values)
    return JudgeCell(judge_id, judge, consensus(values), failed)


@dataclass(frozen=True)
class Texts:
    """Texts that the reader may read: prompts by revision id, answers by result id."""

    prompts: dict[int, str]
    answers: dict[int, str]

    @classmethod
    def read(cls, results: Sequence["Plain"], reader: User) -> "Texts":
        revisions = Revision.objects.filter(pk__in={result.revision_id for result in results})
        asked = revisions.readable_by(reader).order_by()
        answers = Answer.objects.filter(pk__in=[result.pk for result in results])
        readable = answers.readable_by(reader).order_by()
        return cls(
            prompts={
                pk: prompt_of(messages)[:TEXT]
                for pk, messages in asked.values_list("pk", KeyTransform("messages", "content"))
            },
            answers=dict(readable.values_list("pk", Substr("text", 1, TEXT))),
        )


def prompt_of(messages: Any) -> str:
    """Return the last user turn of the messages; "" without any."""
    turns = texts_of(message for message in messages or [] if message["role"] == "user")
    return turns[-1] if turns else ""


class Plain(NamedTuple):
    """Fields of a result that a row of the grid takes over unchanged."""

    pk: int
    revision_id: int
    tags: list[str]
    test_id: int
    repeat: int
    issue_id: int
    issue: str
    outcome: str
    score: float | None
    agreement: float | None
    is_overridden: bool
    is_disputed: bool
    weight: float
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    latency_ms: int | None
    error_kind: str


COPIED = Plain._fields[3:]
ELSEWHERE = {"tags": "tag_set__names", "issue": "issue__title"}
PLAIN = tuple(ELSEWHERE.get(name, name) for name in Plain._fields)


def _row(result: Plain, judged: Judged, texts: Texts, **labels: Any) -> Row:
    return Row(
        result_id=result.pk,
        votes=judged.votes,
        parts=judged.parts,
        deviation=judged.deviation,
        failed_judgments=judged.failed,
        prompt=texts.prompts.get(result.revision_id),
        answer=texts.answers.get(result.pk, "" if result.revision_id in texts.prompts else None),
        **labels,
        **{name: getattr(result, name) for name in COPIED},
    )
