from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint


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
