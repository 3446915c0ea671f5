"""Corrected answers by annotators, and their use as reference answers."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from evalhub.access.models import User
from evalhub.history import save_signed
from evalhub.models import ItemState
from evalhub.refusals import Refused
from issues.lifecycle.states import review_again
from issues.models import Author, Test
from runs.models import Result
from runs.review.models import Correction
from runs.review.reservations import check_lengths
from runs.review.review_draft import CORRECTION

PROMOTE = "review.promote_correction"


def correct(result: Result, text: str, *, by: User) -> Correction:
    """Save a corrected answer; the same text again restores the existing correction.

    Raises:
        ValidationError: There is no answer to correct, or the text is empty or too long.
    """
    text = text.strip()
    if result.state != ItemState.DONE:
        raise ValidationError(f"{result} has no answer to correct.")
    if not text:
        raise ValidationError({CORRECTION: "Enter the corrected answer."})
    check_lengths({CORRECTION: text})
    mine = Correction.objects.filter(result=result, annotator=by).order_by("-pk").first()
    if mine is not None and mine.text == text:
        mine.undone_at = None
        mine.save(update_fields=["undone_at"])
        return mine
    return Correction.objects.create(result=result, annotator=by, text=text)


@transaction.atomic
def promote(correction: Correction, *, by: User) -> bool:
    """Use the correction as its test's reference answer; the previous one stays in the history.

    Returns:
        Whether the test needs approval again.

    Raises:
        Refused: It is the reference already, or its author has withdrawn it.
    """
    correction.refresh_from_db(fields=["undone_at"])
    if correction.undone_at:
        raise Refused([f"{correction.annotator} has withdrawn this correction."])
    test = Test.objects.select_for_update().get(pk=correction.result.test_id)
    if test.reference == correction.text:
        raise Refused(["This correction is already the reference answer."])
    change = f"Reference: {correction.annotator}'s correction of result {correction.result_id}"
    needs_approval = _refer(test, correction.text, Author.HUMAN, by, change)
    correction.promoted_at, correction.promoted_by = timezone.now(), by
    correction.save(update_fields=["promoted_at", "promoted_by"])
    return needs_approval


def former_version(test: Test) -> Any:
    """Return the last version with another reference answer; None if it never had another."""
    rows = test.history.exclude(reference=test.reference)
    return rows.order_by("-history_date", "-history_id").first()


@transaction.atomic
def put_back(correction: Correction, *, by: User) -> bool:
    """Undo a promotion: restore the previous reference answer.

    Returns:
        Whether the test needs approval again.

    Raises:
        Refused: The correction is not the reference answer, or there is no previous one.
    """
    test = Test.objects.select_for_update().get(pk=correction.result.test_id)
    if test.reference != correction.text:
        raise Refused(["This correction is not the current reference answer."])
    former = former_version(test)
    if former is None:
        raise Refused(["The test has no previous reference answer."])
    change = f"Reference restored, replacing the correction of result {correction.result_id}"
    return _refer(test, former.reference, former.reference_by, by, change)


def _refer(test: Test, reference: str, author: str, by: User, change: str) -> bool:
    test.reference, test.reference_by = reference, author
    needs_approval = review_again(test, by)
    save_signed(test, by, change[:100])
    return needs_approval
