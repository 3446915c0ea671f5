"""Edit a test's rubric as a whole: replace, append, copy from a sibling."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Criterion, Test
from issues.models.criterion import CONTENT_FIELDS
from issues.states import review_again

ORIGIN = ("library_key", "library_version")
"""Fields that say which library criterion it was copied from; an edit keeps them."""

COPIED = [name for name in CONTENT_FIELDS.values() if name != "key"]


@transaction.atomic
def append(test: Test, contents: Sequence[Mapping[str, Any]], *, by: User) -> None:
    """Append criteria to the rubric.

    Args:
        test: As it was read.
        contents: Fields by their names in a revision's content, and where they are from; others
            get defaults.
        by: User who makes the change.
    """
    last = test.criteria.aggregate(last=Max("order"))["last"] or 0
    for place, content in enumerate(contents, last + 1):
        fields = {CONTENT_FIELDS.get(name, name): value for name, value in content.items()}
        row = Criterion(test=test, order=place, **fields)
        sign(row, by, "")
        row.save()
    review_again(test, by)
    sign(test, by, "Rubric changed")
    test.save()


@transaction.atomic
def replace(test: Test, criteria: Sequence[Mapping[str, Any]], *, by: User | None) -> bool:
    """Replace the rubric by this list, in order; return True if anything changed.

    A criterion with the key of an existing one updates it; without a key it is new.

    Args:
        test: As it was read.
        criteria: Fields of the model by name; others get defaults.
        by: User who makes the change.
    """
    blank = Criterion()
    defaults = {name: getattr(blank, name) for name in COPIED}
    existing = {row.key: row for row in test.criteria.all()}
    changed = False
    wanted = {fields["key"] for fields in criteria if fields.get("key")}
    for key in existing.keys() - wanted:
        sign(existing[key], by, "")
        existing[key].delete()
        changed = True
    for place, fields in enumerate(criteria, 1):
        row = existing.get(fields.get("key", "")) or Criterion(test=test)
        changed |= _rewrite(row, {**defaults, "order": place, **fields}, by)
    return changed


def _rewrite(row: Criterion, fields: Mapping[str, Any], by: User | None) -> bool:
    """Set a row's fields; save only if something differs."""
    given = {name: value for name, value in fields.items() if name != "key" or value}
    if row.pk and all(getattr(row, name) == value for name, value in given.items()):
        return False
    for name, value in given.items():
        setattr(row, name, value)
    sign(row, by, "")
    row.save()
    return True
