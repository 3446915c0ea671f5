"""Numbers of rows of several tables at once: a query for each would take longer than counting."""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet


def counts_of(several: Sequence[QuerySet[Any]]) -> list[int]:
    """Return the number of rows of each, in one query."""
    return _asked("(SELECT COUNT(*) FROM ({}) AS counted)", several)


def any_of(several: Sequence[QuerySet[Any]]) -> list[bool]:
    """Tell of each whether it has a row, in one query."""
    return [bool(found) for found in _asked("EXISTS({})", several)]


def _asked(form: str, several: Sequence[QuerySet[Any]]) -> list[int]:
    if not several:
        return []
    found = [rows.order_by().values("pk").query.sql_with_params() for rows in several]
    sql = ", ".join(form.format(one) for one, _ in found)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {sql}", [value for _, values in found for value in values])
        return list(cursor.fetchone())
