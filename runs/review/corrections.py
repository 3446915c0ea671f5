"""Corrected answers by annotators, and their use as reference answers."""

from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from evalhub.access.models import User
from evalhub.history import sign
from evalhub.models import ItemState
from issues.models import Author, Test
from issues.states import Refused, review_again
from runs.models import Result
from runs.review.models import Correction

PROMOTE = "review.promote_correction"
LONGEST = 100_000
"""The most characters of a correction."""


def correct(result: Result, text: str, *, by: User) -> Correction:
    """Save a corrected answer; the same text again restores the existing correction.

    Raises:
        ValidationError: There is no answer to correct, or the text is empty or too long.
    """
    text = text.strip()
    if result.state != ItemState.DONE:
        raise ValidationError(f"{result} has no answer to correct.")
    if not text:
        raise ValidationError({"correction": "Enter the corrected answer."})
    if len(text) > LONGEST:
        action_message = f"{len(text):,} characters are too long: write at most {LONGEST:,}."
        raise ValidationError({"correction": action_message})
    mine = Correction.objects.filter(result=result, annotator=by).order_by("-pk").first()
    if mine is not None and mine.text == text:
        Correction.objects.filter(pk=mine.pk).update(undone_at=None)
        mine.undone_at = None
        return mine
    return Correction.objects.create(result=result, annotator=by, text=text)


class Promoted(NamedTuple):
    """The test with its new reference; `is_reviewed_again`: it needs approval before it runs."""

    test: Test
    is_reviewed_again: bool


@transaction.atomic
def promote(correction: Correction, *, by: User) -> Promoted:
    """Use the correction as its test's reference answer; the previous one stays in the history.

    Raises:
        Refused: It is the reference already, or its author has withdrawn it.
    """
    correction.refresh_from_db(fields=["undone_at"])
    if correction.undone_at:
        raise Refused([f"{correction.annotator} has withdrawn this correction."])
    test = Test.objects.select_for_update().get(pk=correction.result.test_id)
    if test.reference == correction.text:
        raise Refused(["This correction is already the reference answer."])
    action_message = (
        f"Reference: {correction.annotator}'s correction of result {correction.result_id}"
    )
    again = _refer(test, correction.text, Author.HUMAN, by, action_message)
    correction.promoted_at, correction.promoted_by = timezone.now(), by
    correction.save(update_fields=["promoted_at", "promoted_by"])
    return Promoted(test, again)


class Former(NamedTuple):
    """A previous reference answer of a test, with its author."""

    text: str
    author: str


def former_reference(test: Test) -> Former | None:
    """Return the test's previous reference answer; None if it never had another."""
    rows = test.history.exclude(reference=test.reference)
    found = rows.order_by("-history_date", "-history_id").values_list("reference", "reference_by")
    first = found.first()
    return Former(*first) if first else None


@transaction.atomic
def put_back(correction: Correction, *, by: User) -> Promoted:
    """Undo a promotion: restore the previous reference answer.

    Raises:
        Refused: The correction is not the reference answer, or there is no previous one.
    """
    test = Test.objects.select_for_update().get(pk=correction.result.test_id)
    if test.reference != correction.text:
        raise Refused(["This correction is not the current reference answer."])
    former = former_reference(test)
    if former is None:
        raise Refused(["The test has no previous reference answer."])
    action_message = (
        f"Reference restored, replacing the correction of result {correction.result_id}"
    )
    return Promoted(test, _refer(test, former.text, former.author, by, action_message))


def _refer(test: Test, reference: str, author: str, by: User, action_message: str) -> bool:
    """Save the reference; return True if the test needs approval again."""
    test.reference, test.reference_by = reference, author
    again = review_again(test, by)
    sign(test, by, action_message[:100])
    test.save()
    return again
