"""What people said of a run's results, and what their judges had said before."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evalhub.models import User
from runs.models import Assessment, EvaluationKind, HumanEvaluation, Judging, Run

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
    rows = HumanEvaluation.objects.filter(result__run=run, result__is_overridden=True)
    newest = rows.select_related("annotator", "result__issue").order_by("-pk")[: 4 * MOST]
    standing = _standing(list(newest))[:MOST]
    ids = [row.result_id for row in standing]
    scores = Assessment.objects.filter(judging=current, result__in=ids)
    judged = dict(scores.values_list("result_id", "score"))
    readable = HumanEvaluation.objects.filter(pk__in=[row.pk for row in standing])
    open_to = set(readable.readable_by(reader).values_list("pk", flat=True))
    return tuple(_override(row, judged.get(row.result_id), row.pk in open_to) for row in standing)


def _standing(newest: list[HumanEvaluation]) -> list[HumanEvaluation]:
    """Without what was withdrawn: a withdrawal undoes its annotator's evaluation before it."""
    undone: dict[tuple[int, int], int] = {}
    seen: set[tuple[int, int]] = set()
    standing = []
    for row in newest:
        key = row.result_id, row.annotator_id
        if row.kind == EvaluationKind.WITHDRAWAL:
            undone[key] = undone.get(key, 0) + 1
        elif undone.get(key):
            undone[key] -= 1
        elif key not in seen:
            seen.add(key)
            standing.append(row)
    return standing


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
