from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

if TYPE_CHECKING:
    from evalhub.access.models import User


def optional_user(related_name: str = "+") -> "models.ForeignKey[User | None, User | None]":
    """Return a field for a user, null for the system or a deleted account."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name=related_name,
    )
