"""Edit a test's rubric as a whole: replace, append, copy from a sibling."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max

from evalhub.access.models import User
from evalhub.history import save_signed, sign
from issues.lifecycle.states import review_again
from issues.models import Criterion, Test
from issues.rubrics.criterion_content import COLUMNS, FIELDS, columns_of

COPIED = [COLUMNS.get(name, name) for name in FIELDS]


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
    rows = [columns_of(c) | {"order": n} for n, c in enumerate(contents, last + 1)]
    add_rows(test, rows, by=by)
    review_again(test, by)
    save_signed(test, by, "Rubric changed")


def add_rows(
    test: Test, criteria: Iterable[Mapping[str, Any]], *, by: User, reason: str = ""
) -> None:
    """Add criteria by the fields of the model."""
    for fields in criteria:
        row = Criterion(test=test, **fields)
        save_signed(row, by, reason)


@transaction.atomic
def replace(
    test: Test, criteria: Sequence[Mapping[str, Any]], *, by: User | None, reason: str = ""
) -> bool:
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
        sign(existing[key], by, reason)
        existing[key].delete()
        changed = True
    for place, fields in enumerate(criteria, 1):
        row = existing.get(fields.get("key", "")) or Criterion(test=test)
        changed |= _rewrite(row, {**defaults, "order": place, **fields}, by, reason)
    return changed


def is_same(test: Test, criteria: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if the rubric is this list already, in this order."""
    there = [(row.key, *(getattr(row, name) for name in COPIED)) for row in test.criteria.all()]
    return there == [(fields.get("key", ""), *_content(fields)) for fields in criteria]


def with_known_keys(test: Test, criteria: Sequence[Any]) -> list[Any]:
    """Return a rubric as the API takes it: criteria without a key have that of an equal one."""
    there = {
        row.key: json.dumps(_content(columns_of(row.as_content())), sort_keys=True)
        for row in test.criteria.all()
    }
    sent = {one.get("key") for one in criteria if isinstance(one, Mapping)}
    free = {key: content for key, content in there.items() if key not in sent}
    found = []
    for one in criteria:
        if isinstance(one, Mapping) and not one.get("key"):
            content = json.dumps(_content(columns_of(one)), sort_keys=True, default=str)
            if key := next((k for k, known in free.items() if known == content), None):
                del free[key]
                one = {**one, "key": key}
        found.append(one)
    return found


def _content(fields: Mapping[str, Any]) -> list[Any]:
    """Return the content of a criterion without its key; what is left out has its default."""
    blank = Criterion()
    values = {name: fields.get(name, getattr(blank, name)) for name in COPIED}
    return [float(v) if name == "weight" and _is_number(v) else v for name, v in values.items()]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rewrite(row: Criterion, fields: Mapping[str, Any], by: User | None, reason: str) -> bool:
    """Set a row's fields; save only if something differs."""
    given = {name: value for name, value in fields.items() if name != "key" or value}
    if row.pk and all(getattr(row, name) == value for name, value in given.items()):
        return False
    for name, value in given.items():
        setattr(row, name, value)
    save_signed(row, by, reason)
    return True
