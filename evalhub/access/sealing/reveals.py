"""Reveals of sealed tests to users: explicit, with a reason, and kept on record."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from evalhub.access.models import Exposure, ExposureKind, User
from evalhub.access.sealing.readers import READ_SEALED
from evalhub.limits import MIN_REVEAL_REASON

REVEAL = "evalhub.reveal_sealed"


def checked_reason(text: str) -> str:
    """Strip the reason; raise ValidationError if it is too short."""
    reason = text.strip()
    if len(reason) < MIN_REVEAL_REASON:
        problem = f"Give a reason of at least {MIN_REVEAL_REASON} characters: it stays on record."
        raise ValidationError({"reason": problem})
    return reason


def reveal(test: int, user: User, reason: str, *, by: User) -> Exposure:
    """Let a user read a sealed test and everything derived from it.

    Raises:
        ValidationError: The reason is too short, or the user is inactive or has access already.
    """
    reason = checked_reason(reason)
    if not user.is_active:
        raise ValidationError({"user": f"{user} is inactive: choose an active user."})
    if user.has_perm(READ_SEALED):
        raise ValidationError({"user": f"{user} already has access to all sealed tests."})
    try:
        with transaction.atomic():
            return Exposure.objects.create(
                test=test,
                kind=ExposureKind.REVEALED,
                user=user,
                reason=reason,
                day=timezone.localdate(),
                by=by,
            )
    except IntegrityError as error:
        raise ValidationError({"user": f"{user} already has access to this test."}) from error


def end(exposure: Exposure, *, by: User) -> bool:
    """End the user's access, on record; return False if it had ended before."""
    open_ones = Exposure.objects.filter(pk=exposure.pk, kind=ExposureKind.REVEALED, ended_at=None)
    return bool(open_ones.update(ended_at=timezone.now(), ended_by=by))
