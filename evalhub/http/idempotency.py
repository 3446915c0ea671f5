"""Requests that are carried out once, however often they are sent.

A client names its request by a key of its own. Sent again with that key, a request is answered as
the first time, and nothing is done. The answer is kept for a day, in the transaction of the work:
either both are there or neither.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from evalhub.access.models import User
from evalhub.limits import IDEMPOTENCY_LIFETIME
from evalhub.values.digest import digest

MAX_KEY = 200


class KeptAnswer(models.Model):
    """The answer to a request that was carried out, for when it is sent again."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=MAX_KEY)
    request_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(name="evalhub_keptanswer_once", fields=("user", "key"))
        ]

    def __str__(self) -> str:
        return self.key


class KeyReused(ValueError):
    """A key that was sent before with another request."""


class Answered(NamedTuple):
    """An answer. `is_repeated`: the request was carried out before."""

    status: int
    body: Any
    is_repeated: bool


def carry_out_once(
    user: User, key: str, request: Any, act: Callable[[], tuple[int, Any]]
) -> Answered:
    """Carry a request out, or return the answer given before.

    Args:
        key: The client's name for the request, at most `MAX_KEY` characters.
        request: Everything that makes it up, as JSON.
        act: Does the work in this transaction, and returns a status and a JSON body. What it
            raises undoes all, so that the request can be sent again.

    Raises:
        KeyReused: The key was sent before with another request.
    """
    asked = digest(request)
    KeptAnswer.objects.filter(
        user=user, created_at__lt=timezone.now() - IDEMPOTENCY_LIFETIME
    ).delete()
    try:
        with transaction.atomic():
            if found := _kept(user, key, asked):
                return found
            row = KeptAnswer.objects.create(user=user, key=key, request_digest=asked)
            row.status, row.body = act()
            row.save()
            return Answered(row.status, row.body, is_repeated=False)
    except IntegrityError:  # the same was sent at the same time; that one is done now
        if found := _kept(user, key, asked):
            return found
        raise


def _kept(user: User, key: str, asked: str) -> Answered | None:
    row = KeptAnswer.objects.filter(user=user, key=key).first()
    if row is None:
        return None
    if row.request_digest != asked:
        raise KeyReused(f"The key {key!r} was sent before with another request: use a new one.")
    return Answered(row.status, row.body, is_repeated=True)
