"""What people said of a run's results, and what their judges had said before."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evalhub.models import User
from runs.models import Assessment, HumanEvaluation, Judging, Run
from runs.standing import standing

MOST = 50
"""Overrides that a page shows; the grid has them all."""


@dataclass(frozen=True)
class Override:
    """One person's standing evaluation of one result.

    `judges_score` is None where no judge scored it. `why` is "" where the reader may not read it.
    """

    result_id: int
    issue: str
    who: str
    when: datetime
    kind: str
    option: str
    value: float | None
    judges_score: float | None
    why: str
    is_disputed: bool


def overrides_of(run: Run, current: Judging | None, reader: User) -> tuple[Override, ...]:
    """The newest first, each annotator's newest of a result only."""
    shown = _standing(run)
    ids = [row.result_id for row in shown]
    scores = Assessment.objects.filter(judging=current, result__in=ids)
    judged = dict(scores.values_list("result_id", "score"))
    readable = HumanEvaluation.objects.filter(pk__in=[row.pk for row in shown])
    open_to = set(readable.readable_by(reader).values_list("pk", flat=True))
    return tuple(_override(row, judged.get(row.result_id), row.pk in open_to) for row in shown)


def _standing(run: Run) -> list[HumanEvaluation]:
    """The newest evaluations that stand, as many as a page shows."""
    rows = HumanEvaluation.objects.filter(result__run=run, result__is_overridden=True)
    newest = rows.select_related("annotator", "result__issue").order_by("-pk")[: 4 * MOST]
    by_result: dict[int, list[HumanEvaluation]] = defaultdict(list)
    for row in reversed(newest):
        by_result[row.result_id].append(row)
    left = [row for mine in by_result.values() for row in standing(mine)]
    return sorted(left, key=lambda row: -row.pk)[:MOST]


def _override(row: Any, judges_score: float | None, is_readable: bool) -> Override:
    return Override(
        result_id=row.result_id,
        issue=row.result.issue.title,
        who=str(row.annotator),
        when=row.created_at,
        kind=row.kind,
        option=row.option,
        value=row.value,
        judges_score=judges_score,
        why=row.justification if is_readable else "",
        is_disputed=row.result.is_disputed,
    )
