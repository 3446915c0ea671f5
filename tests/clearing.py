"""Empties the database after a test whose transactions were real.

Django's own way, `flush`, truncates every table and makes content types, permissions and roles
anew, which takes a second, but not the built-in templates. Here only tables that have rows are
emptied, and those that `migrate` fills stay, unless a test has changed them: then all is flushed.
"""

from typing import Any

from django.db import connection
from django.test import TransactionTestCase

from issues.judge_templates.lifecycle import load_builtin_templates

flush = TransactionTestCase._fixture_teardown
Rows = list[tuple[Any, ...]]
_standing: dict[str, Rows] = {}
"""What the last flush left in each table that it did not leave empty."""


def clear(case: TransactionTestCase) -> None:
    """Leave what `migrate` would leave in empty tables; used in place of `flush`."""
    if not _standing or any(rows_of(table) != rows for table, rows in _standing.items()):
        flush(case)
        load_builtin_templates()
        _standing.clear()
        _standing.update({table: rows_of(table) for table in filled()})
        return
    quoted = (connection.ops.quote_name(table) for table in filled() if table not in _standing)
    # Foreign keys are checked at the end, so that the order makes no difference.
    connection.ops.execute_sql_flush([f"DELETE FROM {table}" for table in quoted])


def filled() -> list[str]:
    """The tables of all models that have rows."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    parts = (
        f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {connection.ops.quote_name(table)})"
        for table in tables
    )
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return [table for (table,) in cursor.fetchall()]


def rows_of(table: str) -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)} ORDER BY 1")
        return list(cursor.fetchall())
