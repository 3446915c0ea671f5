"""What a reviewer may not see yet, lest it lead them."""

from runs.models import HumanEvaluation
from runs.review.models import Blindness, Place, PlaceState, ReviewItem


def is_hidden(place: Place) -> bool:
    """Whether judges' verdicts, score, reasons and others' evaluations are not to be shown now.

    Once somebody has given a verdict on the answer, be it one that was undone, they have seen
    those of the judges: what they say after that is not blind, and nothing is hidden.
    """
    if place.state == PlaceState.SUBMITTED or not hides(place.queue.blind, place.item):
        return False
    mine = HumanEvaluation.objects.filter(result=place.item.result_id, annotator=place.annotator_id)
    return place.annotator_id is None or not mine.exists()


def hides(blind: str, item: ReviewItem) -> bool:
    """Whether a queue that is so blind hides the judges of this item, until it is reviewed."""
    return blind == Blindness.ALL or (blind == Blindness.RANDOM and item.is_random)
