"""What a reviewer may not see yet, lest it lead them."""

from evalhub.models import User
from runs.models import HumanEvaluation
from runs.review.models import Blindness, Place, PlaceState, ReviewItem
from runs.review.taking import KEPT


def is_hidden(place: Place) -> bool:
    """Whether judges' verdicts, score, reasons and others' evaluations are not to be shown now.

    Once somebody has given a verdict on the answer, be it one that was undone, they have seen
    those of the judges: what they say after that is not blind, and nothing is hidden.
    """
    if place.state == PlaceState.SUBMITTED or not hides(place.queue.blind, place.item):
        return False
    mine = HumanEvaluation.objects.filter(result=place.item.result_id, annotator=place.annotator_id)
    return place.annotator_id is None or not mine.exists()


def hidden_for(person: User, result_id: int) -> Place | None:
    """The place at which this person reviews the result blind just now; None: they do not."""
    places = Place.objects.filter(annotator=person, item__result=result_id, state__in=KEPT)
    return next((p for p in places.select_related("queue", "item") if is_hidden(p)), None)


def hides(blind: str, item: ReviewItem) -> bool:
    """Whether a queue that is so blind hides the judges of this item, until it is reviewed."""
    return blind == Blindness.ALL or (blind == Blindness.RANDOM and item.is_random)
