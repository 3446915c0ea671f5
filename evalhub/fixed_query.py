"""Queries written in SQL once per process, with keys of rows for all that varies.

Writing a query takes Django longer than a database takes to find a few rows by their key.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from django.db import connection
from django.db.models import QuerySet

MARKS = tuple(range(-2_000_000_001, -2_000_000_005, -1))
"""Stand in for keys while the SQL is written; no row has one, and each fits into a key's column."""


def fixed_query(
    queryset_of: Callable[..., QuerySet[Any, Any]],
) -> Callable[..., list[tuple[Any, ...]]]:
    """Let a function of keys that returns a queryset of values return its rows.

    The columns come as the database gives them: numbers and text.
    """

    @cache
    def written(keys: int) -> tuple[str, tuple[Any, ...]]:
        sql, params = queryset_of(*MARKS[:keys]).query.sql_with_params()
        return sql, params

    @wraps(queryset_of)
    def rows(*keys: int) -> list[tuple[Any, ...]]:
        sql, params = written(len(keys))
        given = dict(zip(MARKS, keys, strict=False))
        with connection.cursor() as cursor:
            cursor.execute(sql, [given.get(p, p) if isinstance(p, int) else p for p in params])
            return list(cursor.fetchall())

    return rows
