"""Changes of a test's rubric, for the page with the test's history."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from evalhub.admin_site.pages import readable
from issues.models import Criterion, Test

MOST_CHANGES = 200
UNSHOWN = ("id", "test", "key", "order")


class Change(NamedTuple):
    """A field before and after; "" for no value."""

    field: str
    old: str
    new: str


class Entry(NamedTuple):
    """A recorded change of a criterion: its version, the action, and the changed fields."""

    record: Any
    did: str
    changes: list[Change]


def entries_of(test: Test) -> list[Entry]:
    """Return the last changes of the test's rubric, newest first, without mere reordering."""
    records = Criterion.history.filter(test_id=test.pk).select_related("history_user")
    by_point = records.order_by("id", "history_date", "history_id")
    entries = sorted(_entries(by_point), key=lambda entry: entry.record.history_id, reverse=True)
    return entries[:MOST_CHANGES]


def _entries(records: Iterable[Any]) -> Iterator[Entry]:
    before = None
    for record in records:
        if before is not None and before.id != record.id:
            before = None
        if record.history_type == "-":
            yield Entry(record, "deleted", [])
        elif before is None:
            yield Entry(record, "added", [])
        elif changes := _changes(before, record):
            yield Entry(record, "changed", changes)
        before = record


def _changes(before: Any, after: Any) -> list[Change]:
    fields = [f for f in after.tracked_fields if f.name not in UNSHOWN]
    pairs = [
        (str(f.verbose_name), getattr(before, f.attname), getattr(after, f.attname)) for f in fields
    ]
    return [Change(name, readable(old), readable(new)) for name, old, new in pairs if old != new]
