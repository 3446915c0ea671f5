"""Human evaluations of a run's results, beside the judges' scores."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from evalhub.models import User
from issues.rubrics.scoring import jury_value
from runs.models import HumanEvaluation, JudgeRun, Judgment, ResultScore, Run
from runs.scoring.active_evaluations import active_evaluations

MOST = 50
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


class EvaluationState(NamedTuple):
    """The columns that decide whether an evaluation is active."""

    pk: int
    annotator_id: int
    kind: str
    result_id: int
    criterion_id: int


class EvaluationDetail(NamedTuple):
    """The columns shown of an evaluation."""

    pk: int
    result_id: int
    criterion_id: int
    criterion_key: str
    criterion_order: int
    issue: str
    who: str
    when: datetime
    kind: str
    option: str
    value: float | None
    justification: str
    is_disputed: bool


SHOWN = (
    *("pk", "result_id", "criterion_id", "criterion__key", "criterion__order"),
    *("result__issue__title", "annotator__username", "created_at", "kind", "option", "value"),
    *("justification", "result__is_disputed"),
)


def overrides_of(run: Run, current: JudgeRun | None, reader: User) -> tuple[Override, ...]:
    """Return the newest evaluation of each annotator and result, newest first."""
    shown = _standing(run)
    ids = [row.result_id for row in shown]
    scores = ResultScore.objects.filter(judge_run=current, result__in=ids)
    wholes = dict(scores.values_list("result_id", "score"))
    parts = _judged_criteria(shown, current)
    readable = HumanEvaluation.objects.filter(pk__in=[row.pk for row in shown])
    open_to = set(readable.readable_by(reader).values_list("pk", flat=True))
    return tuple(
        _override(
            row,
            parts.get(_about(row)) if row.criterion_key else wholes.get(row.result_id),
            row.pk in open_to,
        )
        for row in shown
    )


def _about(row: EvaluationState | EvaluationDetail) -> tuple[int, int]:
    return row.result_id, row.criterion_id


def _judged_criteria(
    shown: list[EvaluationDetail], current: JudgeRun | None
) -> dict[tuple[int, int], float | None]:
    """Return the judges' or checks' scores of evaluated criteria, by result and criterion."""
    wanted = [row for row in shown if row.criterion_key]
    rows = Judgment.objects.filter(
        judge_run=current,
        result__in={row.result_id for row in wanted},
        criterion__in={row.criterion_id for row in wanted},
    ).order_by()
    samples: dict[tuple[int, int], dict[int | None, list[float | None]]] = defaultdict(
        lambda: defaultdict(list)
    )
    found = rows.values_list("result_id", "criterion_id", "judge_id", "value")
    for result, criterion, judge, value in found if wanted else ():
        samples[result, criterion][judge].append(value)
    return {about: jury_value(given) for about, given in samples.items()}


def _standing(run: Run) -> list[EvaluationDetail]:
    """Return the newest active evaluations, at most a page of them."""
    rows = HumanEvaluation.objects.filter(result__run=run, result__is_overridden=True)
    newest = rows.order_by("-pk").values_list(*EvaluationState._fields)[: 4 * MOST]
    about: dict[tuple[int, int], list[EvaluationState]] = defaultdict(list)
    for said in reversed(list(map(EvaluationState._make, newest))):
        about[_about(said)].append(said)
    left = sorted(
        (said.pk for mine in about.values() for said in active_evaluations(mine)), reverse=True
    )
    shown = HumanEvaluation.objects.filter(pk__in=left[:MOST]).order_by("-pk")
    return [EvaluationDetail(*row) for row in shown.values_list(*SHOWN)]


def _override(row: EvaluationDetail, judges_score: float | None, is_readable: bool) -> Override:
    return Override(
        result_id=row.result_id,
        criterion=row.criterion_order if row.criterion_key else None,
        issue=row.issue,
        who=row.who,
        when=row.when,
        kind=row.kind,
        option=row.option,
        value=row.value,
        judges_score=judges_score,
        why=row.justification if is_readable else "",
        is_disputed=row.is_disputed,
    )
