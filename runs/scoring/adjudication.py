"""Final decisions on disputes: who may make one, and over which earlier one."""

from collections import defaultdict
from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.utils.timezone import localtime

from evalhub.models import User
from issues.models import FrozenCriterion
from issues.rubrics.scoring import WHOLE_TEST
from runs.figures.verdict_labels import evaluation_label
from runs.models import EvaluationKind, HumanEvaluation, Result
from runs.scoring.active_evaluation_rule import active_evaluations
from runs.scoring.dispute_rule import dispute_over, dispute_over_result

SETTLED = "settled"
"""Error code: somebody else resolved the dispute already."""


def check_adjudicator(
    result: Result, criterion: FrozenCriterion, by: User, replaces: int | None
) -> None:
    """Lock the result, and refuse a final decision that the user may not make.

    Args:
        replaces: The id of the final decision that this one replaces on purpose; None: of none.

    Raises:
        ValidationError: There is no dispute, the user is a party to it, or somebody else has
            resolved it with a decision that this one does not name (code "settled").
    """
    Result.objects.select_for_update(of=("self",)).get(pk=result.pk)
    about: dict[int, list[HumanEvaluation]] = defaultdict(list)
    rows = HumanEvaluation.objects.filter(result=result).select_related("annotator", "criterion")
    for row in rows.order_by("pk"):
        about[row.criterion_id].append(row)
    mine = about.pop(criterion.pk, [])
    dispute = dispute_over(mine) if criterion.key else dispute_over_result(mine, about)
    if dispute is None:
        subject = "this criterion" if criterion.key else "this result"
        raise ValidationError(
            f"There is no dispute over {subject}: submit your verdict without “Final decision”."
        )
    if by.pk in dispute.parties:
        raise ValidationError(
            "Your verdict is part of this dispute: somebody else has to resolve it. You can "
            "change or withdraw yours."
        )
    decision = None
    if dispute.settled_by is not None:
        decision = final_decision_among([mine] if criterion.key else [mine, *about.values()])
    if decision and decision.annotator_id != by.pk and decision.pk != replaces:
        at = f"{localtime(decision.created_at):%H:%M on %-d %B}"
        label = decision_label(decision, result)
        raise ValidationError(
            f"{decision.annotator} resolved this dispute at {at}: “{label}”. "
            "Your verdict was not saved, but is still in the form. To replace that decision, "
            "choose “Decide again” and save.",
            code=SETTLED,
        )


def final_decision_among(about: Iterable[Iterable[HumanEvaluation]]) -> HumanEvaluation | None:
    """Return the newest final decision; `about` has all evaluations, grouped by criterion."""
    active = [row for rows in about for row in active_evaluations(rows)]
    found = [row for row in active if row.kind == EvaluationKind.ADJUDICATION]
    return max(found, key=lambda row: row.pk, default=None)


def decision_label(decision: HumanEvaluation, result: Result) -> str:
    """Return a final decision in words, such as "fails (0)"."""
    is_whole = decision.criterion.key == WHOLE_TEST
    passed = result.revision.passes(decision.value) if is_whole else None
    return evaluation_label(decision, passed)
