"""Changes of a test's rubric, for the page with the test's history."""

from typing import Any, NamedTuple

from evalhub.admin_site.history import readable
from issues.models import Criterion, Test

MAX_CHANGES = 200
UNSHOWN = ("id", "test", "key", "order")


class Change(NamedTuple):
    """A field before and after; "" for no value."""

    field: str
    old: str
    new: str


class Entry(NamedTuple):
    """A recorded change of a criterion: its version, the action, and the changed fields."""

    record: Any
    action: str
    changes: list[Change]


def entries_of(test: Test) -> list[Entry]:
    """Return the last changes of the test's rubric, newest first, without mere reordering."""
    records = Criterion.history.filter(test_id=test.pk).select_related("history_user")
    entries, before = [], None
    for record in records.order_by("id", "history_date", "history_id"):
        if before is not None and before.id != record.id:
            before = None
        if record.history_type == "-":
            entries.append(Entry(record, "deleted", []))
        elif before is None:
            entries.append(Entry(record, "added", []))
        elif changes := _changes(before, record):
            entries.append(Entry(record, "changed", changes))
        before = record
    return sorted(entries, key=lambda entry: entry.record.history_id, reverse=True)[:MAX_CHANGES]


def _changes(before: Any, after: Any) -> list[Change]:
    shown = [f for f in after.tracked_fields if f.name not in UNSHOWN]
    values = [(f, getattr(before, f.attname), getattr(after, f.attname)) for f in shown]
    return [
        Change(str(f.verbose_name), readable(old), readable(new))
        for f, old, new in values
        if old != new
    ]
