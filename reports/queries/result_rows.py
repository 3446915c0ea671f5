"""Results of a run as rows: filtered, sorted, paged, with texts only if readable."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Substr

from evalhub.display.formatting import score
from evalhub.llm.completion import Ending
from evalhub.statistics.agreement.alpha_bands import RELIABLE
from evalhub.statistics.deviation import is_split
from issues.models import Polarity, Revision
from issues.rubrics.scoring import consensus, inverted
from reports.limits import RESULTS_PAGE_SIZE
from runs.judging.jury import judges_in
from runs.models import Answer, Judgment, Result, ResultScore
from runs.result_list.filters import Filters
from runs.result_list.listing import Listing, prompt_of
from runs.scoring.coverage_rule import Bounds, counting
from runs.scoring.shown_verdicts import record, record_filtered
from runs.scoring.verdict import CriterionValue

SHOWN = 2000
"""Characters of a text in a row of the grid, which shows fewer. Files have whole texts."""


@dataclass(frozen=True)
class JudgeCell:
    """Mean value of one judge; None if it failed or has not answered.

    With a rubric, values of criteria that should not be met are inverted first.
    """

    judge_id: int
    judge: str
    value: float | None
    failed: int

    @property
    def in_words(self) -> str:
        return f"{self.judge}: {'no verdict' if self.value is None else score(self.value)}"


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
class Row:
    """A result. `prompt` and `answer` are None if the reader may not read the test.

    `criteria` are those of its rubric in order; `deviation` is the largest among them.
    `answered` of the `expected` judgments have a value, `replaced` others that of a backup judge.
    """

    result_id: int
    test_id: int
    repeat: int
    issue_id: int
    issue: str
    tags: tuple[str, ...]
    outcome: str
    score: float | None
    lowest_score: float
    highest_score: float
    lowest_passed: bool
    highest_passed: bool
    agreement: float | None
    deviation: float | None
    answered: int
    expected: int
    replaced: int
    judges: tuple[JudgeCell, ...]
    criteria: tuple[CriterionCell, ...]
    failed_judgments: int
    is_overridden: bool
    is_disputed: bool
    weight: float
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    latency_ms: int | None
    error_kind: str
    ending: str
    finish_reason: str
    prompt: str | None
    answer: str | None

    def judge_cell_of(self, judge_id: int) -> JudgeCell | None:
        """Return the cell of this judge; None if it was not asked."""
        return next((cell for cell in self.judges if cell.judge_id == judge_id), None)

    @property
    def ended(self) -> str:
        """How its answer broke off, in words."""
        return Ending(self.ending).words

    @property
    def doubt(self) -> str:
        """Alpha of its judges if it is low; else "". Of a single result it proves nothing."""
        if self.agreement is None or round(self.agreement, 9) >= RELIABLE:
            return ""
        return f"alpha {score(self.agreement)}"

    @property
    def splits(self) -> int:
        """Number of criteria on which the judges are split."""
        return sum(criterion.is_split for criterion in self.criteria)


@dataclass(frozen=True)
class JudgeColumn:
    """A judge of the active judge run, as a column of the grid."""

    judge_id: int
    name: str
    is_backup: bool


@dataclass(frozen=True)
class Grid:
    """A page of the matching rows, `total` in all. `judge_columns`: one for each judge.

    `left_out`: results of the run that the reader reviews blind now.
    """

    rows: tuple[Row, ...]
    total: int
    page: int
    pages: int
    judge_columns: tuple[JudgeColumn, ...] = ()
    left_out: int = 0

    @property
    def first(self) -> int:
        return (self.page - 1) * RESULTS_PAGE_SIZE + 1 if self.rows else 0

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
        known = None if filters.narrows or self.hidden else of
        total = self.matching(filters).count() if known is None else known
        pages = max(1, -(-total // RESULTS_PAGE_SIZE))
        page = min(filters.page, pages)
        # Only ids are sorted: whole rows are wider, and most of them are not shown.
        ids = self.in_order(filters).values_list("pk", flat=True)
        rows = self._read(ids[(page - 1) * RESULTS_PAGE_SIZE : page * RESULTS_PAGE_SIZE], SHOWN)
        record(self.reader, [row.result_id for row in rows])
        if filters.outcomes and page == pages:
            record_filtered(self.reader, self.matching(replace(filters, outcomes=())))
        apart = Result.objects.filter(pk__in=self.hidden, run=self.run)
        left_out = apart.count() if self.hidden else 0
        return Grid(rows, total, page, pages, self.judge_columns(), left_out)

    def rows(self, filters: Filters, *order: str) -> Iterator[Row]:
        """Yield all matching rows with whole texts, read in chunks.

        Args:
            order: Fields of the result to order by; none: as in the grid.
        """
        record(self.reader, runs=[self.run.pk])
        found = self.matching(filters).order_by(*order) if order else self.in_order(filters)
        ids = list(found.values_list("pk", flat=True))
        for start in range(0, len(ids), 10 * RESULTS_PAGE_SIZE):
            yield from self._read(ids[start : start + 10 * RESULTS_PAGE_SIZE])

    def judge_columns(self) -> tuple[JudgeColumn, ...]:
        """Return the judges in the order of the jury, the backup last."""
        backup = self.judge_run.jury.get("backup") if self.judge_run else None
        return tuple(
            JudgeColumn(
                judge["judge"], judge_name(judge["judge"], judge.get("name")), judge is backup
            )
            for judge in self.everyone()
        )

    def everyone(self) -> list[dict[str, Any]]:
        """Return the judges as frozen in the judge run, the backup last."""
        return judges_in(self.judge_run.jury) if self.judge_run else []

    def _read(self, ids: Iterable[int], length: int | None = None) -> tuple[Row, ...]:
        """Read rows in this order, with texts of at most this length."""
        ids = list(ids)
        results = {
            row["pk"]: row for row in Result.objects.filter(pk__in=ids).order_by().values(*OWN)
        }
        revisions = {row["revision_id"] for row in results.values()}
        asked = Revision.objects.filter(pk__in=revisions).readable_by(self.reader).order_by()
        messages = asked.values_list("pk", KeyTransform("messages", "content"))
        prompts = {pk: prompt_of(found)[:length] for pk, found in messages}
        readable = Answer.objects.filter(pk__in=ids).readable_by(self.reader).order_by()
        said = Substr("text", 1, length) if length else "text"
        answered = readable.values_list("pk", said, "call__finish_reason")
        answers = {pk: (text, reason or "") for pk, text, reason in answered}
        scores = ResultScore.objects.filter(result__in=ids, judge_run=self.judge_run).order_by()
        coverage = {row.pop("result"): row for row in scores.values("result", *COVERAGE)}
        judged = self._judged(ids)
        return tuple(
            Row(
                result_id=pk,
                repeat=results[pk]["repeat"] + 1,
                issue=results[pk]["issue__title"],
                tags=tuple(results[pk]["tag_set__names"]),
                **coverage.get(pk, dict.fromkeys(COVERAGE, 0)),
                prompt=prompts.get(revision),
                answer=answers[pk][0] if pk in answers else "" if revision in prompts else None,
                finish_reason=answers[pk][1] if pk in answers else "",
                **judged.get(pk, NO_JUDGMENTS),
                **{name: results[pk][name] for name in COPIED},
            )
            for pk in ids
            for revision in [results[pk]["revision_id"]]
        )

    def _judged(self, result_ids: list[int]) -> dict[int, dict[str, Any]]:
        """Return the fields of each row that come from judgments; one query."""
        given: dict[int, list[JudgmentRow]] = defaultdict(list)
        rows = Judgment.objects.filter(result__in=result_ids, judge_run=self.judge_run).order_by()
        for result, *one in rows.values_list("result", *GIVEN):
            given[result].append(JudgmentRow(*one))
        names = {judge["judge"]: judge.get("name", "") for judge in self.everyone()}
        return {result: _judged(rows, names) for result, rows in given.items()}


COVERAGE = ("answered", "expected", "replaced")
COPIED = (
    *("test_id", "issue_id", "outcome", "score", *Bounds._fields, "agreement", "is_overridden"),
    *("is_disputed", "weight", "input_tokens", "output_tokens", "cost_usd", "latency_ms"),
    *("error_kind", "ending"),
)
"""Fields of a result that a row takes over unchanged."""
OWN = ("pk", "repeat", "revision_id", "issue__title", "tag_set__names", *COPIED)

NO_JUDGMENTS: dict[str, Any] = {
    "judges": (),
    "criteria": (),
    "failed_judgments": 0,
    "deviation": None,
}


class JudgmentRow(NamedTuple):
    """A judgment as a row of the grid needs it, with the fields of `GIVEN`; judge None: a check."""

    criterion: int
    key: str
    order: int
    polarity: str
    weight: float
    judge: int | None
    is_backup: bool
    value: float | None

    @property
    def score(self) -> float | None:
        """Value after inversion; None if the judgment failed."""
        return inverted(self.value) if self.polarity == Polarity.SHOULD_NOT else self.value


GIVEN = (
    *("criterion_id", "criterion__key", "criterion__order", "criterion__polarity"),
    *("criterion__weight", "judge_id", "is_backup", "value"),
)


def _judged(given: Sequence[JudgmentRow], names: dict[int, str]) -> dict[str, Any]:
    criteria: dict[tuple[int, int], list[JudgmentRow]] = defaultdict(list)
    judges: dict[int, list[float | None]] = defaultdict(list)
    for one in given:
        criteria[one.order, one.criterion].append(one)
        if one.judge is not None:
            judges[one.judge].append(one.score)
    parts = []
    for _, mine in sorted(criteria.items()):
        found = CriterionValue.of((one.judge, one.score) for one in counting(mine))
        parts.append(CriterionCell(mine[0].weight, found.consensus, found.deviation))
    deviations = [part.deviation for part in parts if part.deviation is not None]
    in_order = [judge for judge in names if judge in judges]
    return {
        "judges": tuple(
            JudgeCell(
                judge,
                judge_name(judge, names.get(judge)),
                consensus(judges[judge]),
                judges[judge].count(None),
            )
            for judge in [*in_order, *(judge for judge in judges if judge not in names)]
        ),
        "criteria": tuple(parts) if any(one.key for one in given) else (),
        "failed_judgments": sum(one.value is None for one in given),
        "deviation": max(deviations, default=None),
    }


def judge_name(judge_id: int, name: str | None) -> str:
    return name or f"judge {judge_id}"
