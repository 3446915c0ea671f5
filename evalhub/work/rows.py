from collections.abc import Sequence
from typing import Any

from django.db.models import Model


def overwrite(rows: Sequence[Model], fields: Sequence[str]) -> None:
    """Write these fields of existing rows in one statement.

    An upsert on the primary key: `bulk_update` builds a CASE for each field and row, which costs
    several times as much.
    """
    if rows:
        manager: Any = type(rows[0])._default_manager
        manager.bulk_create(rows, update_conflicts=True, unique_fields=["pk"], update_fields=fields)
