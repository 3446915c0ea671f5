"""What people said of a run's results, and what their judges had said before."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evalhub.models import User
from issues.rubric import panel_value
from runs.models import Assessment, HumanEvaluation, Judging, Judgment, Run
from runs.standing import standing

MOST = 50
"""Overrides that a page shows; the grid has them all."""


@dataclass(frozen=True)
class Override:
    """One person's standing evaluation of one result, or of one criterion of it.

    `criterion` is its place in the rubric; None: the whole. `value` and `judges_score` are then how
    far the answer shows it. `judges_score` is None where no judge scored it. `why` is "" where the
    reader may not read it.
    """

    result_id: int
    criterion: int | None
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
    wholes = dict(scores.values_list("result_id", "score"))
    parts = _judged_criteria(shown, current)
    readable = HumanEvaluation.objects.filter(pk__in=[row.pk for row in shown])
    open_to = set(readable.readable_by(reader).values_list("pk", flat=True))
    return tuple(
        _override(
            row,
            parts.get(_about(row)) if row.criterion.key else wholes.get(row.result_id),
            row.pk in open_to,
        )
        for row in shown
    )


def _about(row: Any) -> tuple[int, int]:
    return row.result_id, row.criterion_id


def _judged_criteria(
    shown: list[HumanEvaluation], current: Judging | None
) -> dict[tuple[int, int], float | None]:
    """What judges or checks found of the criteria that people speak of, by result and criterion."""
    wanted = [row for row in shown if row.criterion.key]
    rows = Judgment.objects.filter(
        judging=current,
        result__in={row.result_id for row in wanted},
        criterion__in={row.criterion_id for row in wanted},
    ).order_by()
    samples: dict[tuple[int, int], dict[int | None, list[float | None]]] = defaultdict(
        lambda: defaultdict(list)
    )
    found = rows.values_list("result_id", "criterion_id", "judge_id", "value")
    for result, criterion, judge, value in found if wanted else ():
        samples[result, criterion][judge].append(value)
    return {about: panel_value(given) for about, given in samples.items()}


def _standing(run: Run) -> list[HumanEvaluation]:
    """The newest evaluations that stand, as many as a page shows."""
    rows = HumanEvaluation.objects.filter(result__run=run, result__is_overridden=True)
    related = ("annotator", "result__issue", "criterion")
    newest = rows.select_related(*related).order_by("-pk")[: 4 * MOST]
    about: dict[tuple[int, int], list[HumanEvaluation]] = defaultdict(list)
    for row in reversed(newest):
        about[_about(row)].append(row)
    left = [row for mine in about.values() for row in standing(mine)]
    return sorted(left, key=lambda row: -row.pk)[:MOST]


def _override(row: Any, judges_score: float | None, is_readable: bool) -> Override:
    return Override(
        result_id=row.result_id,
        criterion=row.criterion.order if row.criterion.key else None,
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
