"""Queries without arguments, written in SQL once per process.

Writing a condition of several subqueries takes Django longer than the database takes to answer.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from django.db import connection
from django.db.models import QuerySet


def fixed_query(
    queryset_of: Callable[[], QuerySet[Any, Any]],
) -> Callable[[], list[tuple[Any, ...]]]:
    """Let a function that returns a queryset of values return its rows.

    The columns come as the database gives them: numbers and text.
    """

    @cache
    def written() -> tuple[str, tuple[Any, ...]]:
        sql, params = queryset_of().query.sql_with_params()
        return sql, params

    @wraps(queryset_of)
    def rows() -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(*written())
            return list(cursor.fetchall())

    return rows
