"""Erases what somebody said: the texts of their feedback, in all its versions, and its images.

State, rating and origin stay, so that counts stay, and feedback that is sent again stays erased.
"""

from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone

from evalhub.history import save_signed
from evalhub.models import Image, User
from issues.content.feedback_content import ERASED as WHAT_IS_LEFT
from issues.models import Feedback, ImageUse
from issues.triage.actions import locked

ERASED = "Erased"


@transaction.atomic
def erase(rows: Iterable[Feedback], *, by: User) -> int:
    """Erase feedback; return how much of it was not erased before.

    Issues and tests that were made from it are texts of their own, and stay.
    """
    erased = 0
    for row in rows:
        feedback = locked(row.pk)
        if feedback.erased_at is not None:
            continue
        for name, empty in WHAT_IS_LEFT.items():
            setattr(feedback, name, empty)
        feedback.erased_at = timezone.now()
        save_signed(feedback, by, ERASED)
        Feedback.history.filter(id=feedback.pk).update(**WHAT_IS_LEFT)
        _delete_images(feedback)
        erased += 1
    return erased


def _delete_images(feedback: Feedback) -> None:
    """Delete the images that nothing else uses; an upload alone is no use."""
    uses = ImageUse.objects.filter(feedback=feedback)
    images = list(uses.values_list("image_id", flat=True))
    uses.delete()
    others = ImageUse.objects.filter(image__in=images).exclude(test=None, feedback=None)
    alone = set(images) - set(others.values_list("image_id", flat=True))
    ImageUse.objects.filter(image__in=alone).delete()
    Image.objects.filter(pk__in=alone).delete()
