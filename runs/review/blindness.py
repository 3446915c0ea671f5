"""What is hidden from a reviewer so that it does not bias them: judgments, others' verdicts."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from evalhub.models import User
from runs.laboratory.pairwise.models import PairEvaluation
from runs.models import HumanEvaluation
from runs.review.models import Assignment, AssignmentState, BlindMode
from runs.review.reservations import KEPT
from runs.scoring.shown_verdicts import has_seen


def is_hidden(assignment: Assignment) -> bool:
    """Tell whether judgments, score, reasons and others' evaluations are hidden now.

    A reviewer who has submitted a verdict on the answer, even an undone one, has seen the judges',
    and so has one who was shown them by a page, a file or the API: nothing is hidden then, and
    the verdict is not blind.
    """
    blind = assignment.queue.blind
    hides = blind == BlindMode.ALL or (blind == BlindMode.RANDOM and assignment.item.is_random)
    if assignment.state == AssignmentState.SUBMITTED or not hides:
        return False
    mine = HumanEvaluation.objects.filter(
        result=assignment.item.result_id, annotator=assignment.annotator_id
    )
    if assignment.annotator_id is None:
        return True
    item = assignment.item
    if item.other_id:
        seen = (has_seen(assignment.annotator_id, one) for one in (item.result, item.other) if one)
        return not any(seen)
    return not mine.exists() and not has_seen(assignment.annotator_id, item.result)


def hides_others(assignment: Assignment) -> bool:
    """Tell whether there are other people's verdicts to hide: until the reviewer's own is in."""
    if assignment.state not in KEPT:
        return False
    item = assignment.item
    given: QuerySet[Any] = HumanEvaluation.objects.filter(result=item.result_id)
    if item.other_id:
        first, second = sorted((item.result_id, item.other_id))
        given = PairEvaluation.objects.filter(pair__first=first, pair__second=second)
    people = set(given.order_by().values_list("annotator", flat=True))
    return bool(people) and assignment.annotator_id not in people


def hidden_for(annotator: User, result_id: int) -> Assignment | None:
    """Return the assignment that hides verdicts on this result from its reviewer; None: none."""
    about = (
        one for one in _held(annotator) if result_id in (one.item.result_id, one.item.other_id)
    )
    return next((one for one in about if is_hidden(one) or hides_others(one)), None)


def held_hidden(reader: Any) -> Collection[int]:
    """Return the results with verdicts that are hidden from this reader, who reviews them now."""
    hidden = [one.item for one in _held(reader) if is_hidden(one) or hides_others(one)]
    return [pk for item in hidden for pk in (item.result_id, item.other_id) if pk]


def _held(annotator: Any) -> list[Assignment]:
    """Return the assignments that the annotator is working on; they are few."""
    held = Assignment.objects.filter(annotator=annotator, state__in=KEPT)
    return list(held.select_related("queue", "item__result", "item__other"))
