"""Versions of rows: each change with its author, date and reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from django.db.models import Model
from simple_history.models import HistoricalRecords

if TYPE_CHECKING:  # whose table has versions itself
    from evalhub.access.models import User


Row = TypeVar("Row", bound=Model)


class History(HistoricalRecords):
    """The versions of each row. A save of fields that are excluded makes none."""

    def post_save(self, instance: Any, created: bool, using: Any = None, **kwargs: Any) -> None:
        saved = kwargs.get("update_fields")
        if created or saved is None or set(saved) - set(self.excluded_fields):
            super().post_save(instance, created, using=using, **kwargs)

    def create_historical_record_m2ms(self, history_instance: Any, instance: Any) -> None:
        """A row that is new has no links yet, and is not asked for them."""
        if history_instance.history_type != "+":
            super().create_historical_record_m2ms(history_instance, instance)

    def m2m_changed(
        self, instance: Any, action: str, attr: str, pk_set: Any, reverse: bool, **kwargs: Any
    ) -> None:
        """Make a version of each row whose links changed, whichever side they were changed from."""
        rows = self.cls._base_manager.filter(pk__in=pk_set or ()) if reverse else [instance]
        for row in rows:
            super().m2m_changed(row, action, attr, pk_set, False, **kwargs)


class Signed(NamedTuple):
    """Columns of an append-only table: when a row was added, its author, and what it is about."""

    at: str
    by: str
    on: str


def sign(row: Any, by: User | None, reason: str) -> None:
    """Set author and reason of the row's next change. None is the system."""
    row._history_user = by
    row._change_reason = reason


def save_signed(row: Row, by: User | None, reason: str, **options: Any) -> Row:
    """Save the row with author and reason of the change, and return it."""
    sign(row, by, reason)
    row.save(**options)
    return row
