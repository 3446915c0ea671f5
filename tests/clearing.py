"""Empties the database after a test whose transactions were real.

Django's own way, `flush`, truncates every table and makes content types, permissions and roles
anew, which takes seconds, but not the built-in templates. Here only rows that a test has added are
deleted. Where a test has changed or deleted what `migrate` makes, all is flushed.
"""

import functools
from typing import Any

from django.db import connection
from django.test import TransactionTestCase

from issues.judge_templates.lifecycle import load_builtin_templates
from issues.rubrics.library.builtin import load_builtin_criteria

flush = TransactionTestCase._fixture_teardown
Rows = list[tuple[Any, ...]]
_standing: dict[str, Rows] = {}
"""What the last flush left in each table that it did not leave empty."""


def clear(case: TransactionTestCase) -> None:
    """Leave what `migrate` would leave in empty tables; used in place of `flush`."""
    found = {table: rows_of(table) for table in _standing}
    if not _standing or any(set(rows) - set(found[table]) for table, rows in _standing.items()):
        flush(case)
        load_builtin_templates()
        load_builtin_criteria()
        _standing.update({table: rows_of(table) for table in filled()})
        return
    added = [table for table in filled() if found.get(table) != _standing.get(table, [])]
    # Foreign keys are checked at the end, so that the order makes no difference.
    connection.ops.execute_sql_flush([without_added(table) for table in added])


def without_added(table: str) -> str:
    """The statement that deletes a table's rows but those that stand."""
    statement = f"DELETE FROM {connection.ops.quote_name(table)}"
    if not (standing := _standing.get(table)):
        return statement
    kept = ", ".join(str(key) for key, *_ in standing)
    return f"{statement} WHERE {key_of(table)} NOT IN ({kept})"


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
    """A table's rows by their key, which comes before the columns."""
    key = key_of(table)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {key}, * FROM {connection.ops.quote_name(table)} ORDER BY 1")
        return list(cursor.fetchall())


@functools.cache
def key_of(table: str) -> str:
    with connection.cursor() as cursor:
        column = connection.introspection.get_primary_key_column(cursor, table)
    assert column, table
    return connection.ops.quote_name(column)
