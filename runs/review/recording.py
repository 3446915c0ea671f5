"""A review's rows: its place, the evaluations and the correction that are made of it."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from evalhub.models import User
from issues.rubric import WHOLE_TEST
from runs.evaluating import Ballot, evaluate_each, stands, withdraw
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation, Result
from runs.review.corrections import correct
from runs.review.demanding import Demands
from runs.review.models import Correction, Place, PlaceState, QueueState
from runs.review.sheets import MOST_TEXT, Sheet, Verdict
from runs.review.taking import KEPT
from runs.standing import standing, withdrawn

LOST = "lost"
"""Code of the error that the place is not this person's any more."""
LONGEST_S = 24 * 3600
SCORED = ("score", "passed", "is_overridden", "is_disputed", "is_judged")


def locked(place: Place) -> Place:
    """The row as it is now, with what it is about; nobody else changes it meanwhile."""
    rows = Place.objects.select_related(
        "queue", "annotator", "item__result__run", "item__result__revision__template"
    )
    found: Place = rows.select_for_update(of=("self",)).get(pk=place.pk)
    return found


def check_open(place: Place) -> None:
    """Whether its queue is open.

    Raises:
        ValidationError: It is not.
    """
    if place.queue.state != QueueState.OPEN:
        raise ValidationError(f"{place.queue} is closed: nothing changes until it is reopened.")


def check_holder(place: Place, by: User) -> None:
    """Whether it is this person's to review, be their time over or not.

    Raises:
        ValidationError: It is not (code "lost").
    """
    if place.state in KEPT and place.annotator_id == by.pk:
        return
    raise ValidationError(
        "You gave this item back: open it again to review it."
        if place.state == PlaceState.OPEN or place.annotator_id == by.pk
        else "Your time for this item ran out, and somebody else reviews it now.",
        code=LOST,
    )


def check_lengths(draft: Mapping[str, Any]) -> None:
    problems = {
        name: f"{len(text):,} characters are too many: write at most {MOST_TEXT:,}."
        for name, text in draft.items()
        if isinstance(text, str) and len(text) > MOST_TEXT
    }
    if problems:
        raise ValidationError(problems)


# Recording ---------------------------------------------------------------------------------------


def recorded(place: Place, sheet: Sheet, demands: Demands, by: User) -> list[HumanEvaluation]:
    """The evaluations; those of before that they do not replace by themselves are withdrawn."""
    result = place.item.result
    ballots = [_ballot(verdict, place, sheet, demands) for verdict in sheet.verdicts]
    _withdraw_others(place, {verdict.criterion for verdict in sheet.verdicts}, by)
    evaluations = evaluate_each(result, ballots, demands.questions, by=by)
    result.refresh_from_db(fields=SCORED)
    return evaluations


def _ballot(verdict: Verdict, place: Place, sheet: Sheet, demands: Demands) -> Ballot:
    at_random = place.item.is_random
    return Ballot(
        verdict.option,
        verdict.justification,
        chosen_by=ChosenBy.QUEUE_RANDOM if at_random else ChosenBy.QUEUE_SELECTED,
        blind=demands.is_hidden,
        seconds=seconds_of(sheet),
        criterion=verdict.criterion,
        needs_reason=False,
    )


def seconds_of(sheet: Sheet) -> int | None:
    return None if sheet.seconds is None else min(max(sheet.seconds, 0), LONGEST_S)


def _withdraw_others(place: Place, given: set[str], by: User) -> None:
    """What this person said before and would outrank or outlive what they say now."""
    before = place.evaluations.select_related("criterion").exclude(criterion__key__in=given)
    for evaluation in before:
        if stands(evaluation):
            _take_back(place.item.result, evaluation.criterion.key, by, "Reviewed again.")
    while WHOLE_TEST not in given and _has_whole(place.item.result, by):
        _take_back(place.item.result, WHOLE_TEST, by, "Reviewed by its criteria.")


def _has_whole(result: Result, by: User) -> bool:
    """Whether this person's verdict on the whole stands, which would outrank their criteria."""
    rows = HumanEvaluation.objects.filter(result=result, annotator=by, criterion__key=WHOLE_TEST)
    return any(row.kind == EvaluationKind.EVALUATION for row in standing(rows.order_by("pk")))


def _take_back(result: Result, key: str, by: User, reason: str) -> None:
    withdraw(result, by=by, reason=reason, criterion=key)


def keep_correction(result: Result, text: str, by: User) -> None:
    if text.strip():
        correction = correct(result, text, by=by)
        Correction.objects.filter(pk=correction.pk).update(taken_back_at=None)


# Withdrawing -------------------------------------------------------------------------------------


def withdraw_of(place: Place, by: User, reason: str) -> None:
    """Withdraw the evaluations that were made of a place, as far as they still stand.

    Raises:
        ValidationError: One is covered by a later evaluation that was not made here.
    """
    for evaluation in place.evaluations.select_related("criterion").order_by("pk"):
        if stands(evaluation):
            withdraw(place.item.result, by=by, reason=reason, criterion=evaluation.criterion.key)
        elif not _is_withdrawn(evaluation):
            raise ValidationError(
                "You have evaluated this result again since, on its own page: withdraw that "
                "evaluation first."
            )


def _is_withdrawn(evaluation: HumanEvaluation) -> bool:
    rows = HumanEvaluation.objects.filter(
        result=evaluation.result_id,
        criterion=evaluation.criterion_id,
        annotator=evaluation.annotator_id,
    )
    return evaluation in withdrawn(rows.order_by("pk"))
