"""A sealed test is revealed to a person: an explicit act, with a reason, that stays on record."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from evalhub.access.models import Exposure, ExposureKind, User
from evalhub.access.sealed import READ_SEALED

REVEAL = "evalhub.reveal_sealed"
LEAST_REASON = 10
"""Characters of a reason, which somebody reads who asks for it a year later."""


def checked_reason(text: str) -> str:
    """The reason without the space around it.

    Raises:
        ValidationError: It is too short to say anything.
    """
    reason = text.strip()
    if len(reason) < LEAST_REASON:
        told = f"Say why, in {LEAST_REASON} characters or more: it stays on record."
        raise ValidationError({"reason": told})
    return reason


def reveal(test: int, user: User, reason: str, *, by: User) -> Exposure:
    """Let a person read one sealed test, and what is derived from it, from now on.

    Raises:
        ValidationError: The reason is missing, or the person can read it already or never could.
    """
    reason = checked_reason(reason)
    if not user.is_active:
        raise ValidationError({"user": f"{user} cannot log in: the account is not active."})
    if user.has_perm(READ_SEALED):
        raise ValidationError({"user": f"The role of {user} reads sealed tests already."})
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
        raise ValidationError({"user": f"It is revealed to {user} already."}) from error


def end(exposure: Exposure, *, by: User) -> bool:
    """Close the test to the person again; False where it was closed before.

    What was read stays read: the exposure stays.
    """
    open_ones = Exposure.objects.filter(pk=exposure.pk, kind=ExposureKind.REVEALED, ended_at=None)
    return bool(open_ones.update(ended_at=timezone.now(), ended_by=by))
