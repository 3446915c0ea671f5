"""Seal and unseal tests, each with a reason in the history."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from evalhub.access.models import Exposure, ExposureKind, User
from evalhub.access.sealing.reveals import checked_reason
from evalhub.history import save_signed
from evalhub.refusals import Refused
from issues.lifecycle.states import MAX_REASON
from issues.models import Test, TestState

WAS_OPEN = "It was open until it was sealed: {}"


@transaction.atomic
def seal(test: Test, reason: str, *, by: User) -> None:
    """Seal a test, so that only users who may read sealed tests see its text.

    A test that was reviewed or run before was open to all readers, which is an exposure. An unused
    draft was not.

    Raises:
        Refused: It is already sealed.
        ValidationError: The reason is too short.
    """
    reason = checked_reason(reason)
    current = Test.objects.select_for_update().get(pk=test.pk)
    if current.sealed:
        raise Refused([f"{test} is already sealed."])
    if current.state != TestState.DRAFT or current.revisions.exists():
        _opened(current, WAS_OPEN.format(reason), by, since=current.created_at)
    _save(test, current, f"Sealed: {reason}", by, sealed=True)


@transaction.atomic
def unseal(test: Test, reason: str, *, by: User) -> None:
    """Open a test to everybody, which is an exposure to all readers.

    Raises:
        Refused: It is not sealed.
        ValidationError: The reason is too short.
    """
    reason = checked_reason(reason)
    current = Test.objects.select_for_update().get(pk=test.pk)
    if not current.sealed:
        raise Refused([f"{test} is not sealed."])
    _opened(current, reason, by, since=timezone.now())
    _save(test, current, f"Unsealed: {reason}", by, sealed=False)


def _opened(test: Test, reason: str, by: User, *, since: datetime) -> None:
    day = timezone.localtime(since).date()
    Exposure.objects.create(test=test.pk, kind=ExposureKind.OPENED, reason=reason, day=day, by=by)


def _save(test: Test, current: Test, reason: str, by: User, *, sealed: bool) -> None:
    test.sealed = current.sealed = sealed
    save_signed(current, by, reason[:MAX_REASON])
