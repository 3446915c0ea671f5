"""Parts of models: constraints and indexes, fields, and what a row with a page has."""

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.urls import reverse


def known(name: str, field: str, choices: type[models.TextChoices]) -> CheckConstraint:
    """Require `field` to hold one of `choices`."""
    return CheckConstraint(
        name=name,
        condition=Q(**{f"{field}__in": choices.values}),
        violation_error_message=f"Choose one of: {', '.join(choices.values)}.",
    )


def share(name: str, field: str) -> CheckConstraint:
    """Require `field` to lie in [0, 1] or be null (not measured)."""
    return CheckConstraint(
        name=name,
        condition=Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__range": (0, 1)}),
        violation_error_message="Choose a value from 0 to 1.",
    )


def unfinished(name: str, batch: str) -> Index:
    """Return the index of a batch's items that are not done, by which workers find them."""
    return Index(name=name, fields=(batch, "id"), condition=Q(state="pending"))


def once(name: str, *fields: str) -> UniqueConstraint:
    """Require `fields` to be unique together, except where the last, a text, is ""."""
    return UniqueConstraint(name=name, fields=fields, condition=~Q(**{fields[-1]: ""}))


class RowWithPage(models.Model):
    """A row that has a page of its own in the admin."""

    class Meta:
        abstract = True

    def get_absolute_url(self) -> str:
        model: Any = self._meta.concrete_model
        name = model._meta.label_lower.replace(".", "_")
        return reverse(f"admin:{name}_change", args=[self.pk])


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
