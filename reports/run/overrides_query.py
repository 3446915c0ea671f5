"""Human evaluations of a run's results, beside the judges' scores."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evalhub.models import User
from issues.rubrics.scoring import jury_value
from runs.models import HumanEvaluation, JudgeRun, Judgment, ResultScore, Run
from runs.scoring.active_evaluations import active_evaluations

MAX_SHOWN = 50
"""Overrides that a page shows; the grid has them all."""


@dataclass(frozen=True)
class Override:
    """An annotator's active evaluation of a result or of one of its criteria.

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


def overrides_of(run: Run, current: JudgeRun | None, reader: User) -> tuple[Override, ...]:
    """Return the newest evaluation of each annotator and result, newest first."""
    shown = _newest_active(run)
    ids = [row.result_id for row in shown]
    scores = ResultScore.objects.filter(judge_run=current, result__in=ids)
    wholes = dict(scores.values_list("result_id", "score"))
    parts = _judged_criteria([row for row in shown if row.criterion.key], current)
    readable = HumanEvaluation.objects.filter(pk__in=[row.pk for row in shown]).readable_by(reader)
    open_to = set(readable.values_list("pk", flat=True))
    return tuple(
        Override(
            result_id=row.result_id,
            criterion=row.criterion.order if row.criterion.key else None,
            issue=row.result.issue.title,
            who=row.annotator.username,
            when=row.created_at,
            kind=row.kind,
            option=row.option,
            value=row.value,
            judges_score=parts.get((row.result_id, row.criterion_id))
            if row.criterion.key
            else wholes.get(row.result_id),
            why=row.justification if row.pk in open_to else "",
            is_disputed=row.result.is_disputed,
        )
        for row in shown
    )


def _newest_active(run: Run) -> list[HumanEvaluation]:
    """Return the newest active evaluations, at most a page of them."""
    rows = HumanEvaluation.objects.filter(result__run=run, result__is_overridden=True)
    newest = rows.order_by("-pk").only("annotator_id", "kind", "result_id", "criterion_id")
    by_criterion: dict[tuple[int, int], list[HumanEvaluation]] = defaultdict(list)
    for row in reversed(newest[: 4 * MAX_SHOWN]):
        by_criterion[row.result_id, row.criterion_id].append(row)
    active = [row.pk for mine in by_criterion.values() for row in active_evaluations(mine)]
    shown = HumanEvaluation.objects.filter(pk__in=sorted(active, reverse=True)[:MAX_SHOWN])
    return list(shown.select_related("result__issue", "annotator", "criterion").order_by("-pk"))


def _judged_criteria(
    evaluations: Sequence[HumanEvaluation], current: JudgeRun | None
) -> dict[tuple[int, int], float | None]:
    """Return the judges' or checks' scores of evaluated criteria, by result and criterion."""
    if not evaluations:
        return {}
    rows = Judgment.objects.filter(
        judge_run=current,
        result__in={row.result_id for row in evaluations},
        criterion__in={row.criterion_id for row in evaluations},
    ).order_by()
    samples: dict[tuple[int, int], dict[int | None, list[float | None]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for *key, judge, value in rows.values_list("result_id", "criterion_id", "judge_id", "value"):
        samples[key[0], key[1]][judge].append(value)
    return {key: jury_value(given) for key, given in samples.items()}
