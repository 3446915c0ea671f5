"""Changing a test's rubric as a whole: replaced, added to, copied from a sibling."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Criterion, Test
from issues.models.criterion import CONTENT_FIELDS
from issues.states import review_again

KEPT = set(CONTENT_FIELDS.values()) - {"key"}


@transaction.atomic
def append(test: Test, contents: Sequence[Mapping[str, Any]], *, by: User) -> None:
    """Add criteria to the end of the rubric.

    Args:
        test: As it was read.
        contents: Fields by their names in a revision's content; what is not named is by default.
        by: Whose change it is.
    """
    last = test.criteria.aggregate(last=Max("order"))["last"] or 0
    for place, content in enumerate(contents, last + 1):
        fields = {CONTENT_FIELDS[name]: value for name, value in content.items()}
        row = Criterion(test=test, order=place, **fields)
        sign(row, by, "")
        row.save()
    review_again(test, by)
    sign(test, by, "Rubric changed")
    test.save()


@transaction.atomic
def replace(test: Test, criteria: Sequence[Mapping[str, Any]], *, by: User | None) -> bool:
    """Make the rubric this list, in this order; True if anything changed by it.

    A criterion with the key of an existing one changes that one; without, it is a new one.

    Args:
        test: As it was read.
        criteria: Fields of the model by name; what is not named is by default.
        by: Whose change it is.
    """
    existing = {row.key: row for row in test.criteria.all()}
    changed = False
    wanted = {fields["key"] for fields in criteria if fields.get("key")}
    for key in existing.keys() - wanted:
        sign(existing[key], by, "")
        existing[key].delete()
        changed = True
    for place, fields in enumerate(criteria, 1):
        row = existing.get(fields.get("key", "")) or Criterion(test=test)
        changed |= _rewrite(row, {**_defaults(), "order": place, **fields}, by)
    return changed


def _rewrite(row: Criterion, fields: Mapping[str, Any], by: User | None) -> bool:
    """Give a row these fields; saved only where something differs."""
    given = {name: value for name, value in fields.items() if name != "key" or value}
    if row.pk and all(getattr(row, name) == value for name, value in given.items()):
        return False
    for name, value in given.items():
        setattr(row, name, value)
    sign(row, by, "")
    row.save()
    return True


def _defaults() -> dict[str, Any]:
    blank = Criterion()
    return {name: getattr(blank, name) for name in KEPT}
