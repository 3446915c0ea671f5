"""Many rows in one statement, for a fraction of what the ORM takes to build one."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Model

AT_ONCE = 1000
"""Rows of one statement: SQLite takes 32,766 values."""

Rows = Sequence[Model]


def insert(rows: Rows) -> None:
    """Insert new rows and set their keys. Defaults of the database are left to it."""
    for some in _portions(rows):
        meta: Any = some[0]._meta
        written = [
            field
            for field in meta.local_concrete_fields
            if field is not meta.pk and not field.generated and not field.has_db_default()
        ]
        marks = ", ".join([f"({', '.join(['%s'] * len(written))})"] * len(some))
        columns = f"{_quoted(meta.db_table)} ({', '.join(_quoted(f.column) for f in written)})"
        sql = f"INSERT INTO {columns} VALUES {marks} RETURNING {_quoted(meta.pk.column)}"
        with connection.cursor() as cursor:
            cursor.execute(sql, _values(some, written))
            keys = cursor.fetchall()
        for row, (key,) in zip(some, keys, strict=True):
            row.pk, row._state.adding, row._state.db = key, False, connection.alias


def overwrite(rows: Rows, fields: Sequence[str]) -> None:
    """Write these fields of existing rows.

    `bulk_update` builds a CASE for each field and row, and an upsert sends every column.
    """
    for some in _portions(rows):
        meta: Any = some[0]._meta
        written = [meta.pk, *(meta.get_field(name) for name in fields)]
        names = [f"new_{number}" for number in range(len(written))]
        marks = [f"({', '.join(['%s'] * len(written))})"] * len(some)
        if connection.vendor == "postgresql":  # the first row's types are those of all
            marks[0] = f"({', '.join(f'%s::{_type(field)}' for field in written)})"
        changes = [f"{_quoted(f.column)} = new.{n}" for f, n in zip(written, names, strict=True)]
        table = _quoted(meta.db_table)
        sql = (
            f"WITH new ({', '.join(names)}) AS (VALUES {', '.join(marks)}) "
            f"UPDATE {table} SET {', '.join(changes[1:])} FROM new "
            f"WHERE {table}.{changes[0]}"
        )
        with connection.cursor() as cursor:
            cursor.execute(sql, _values(some, written))


def _portions(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows), AT_ONCE):
        yield rows[start : start + AT_ONCE]


def _values(rows: Rows, fields: Sequence[Any]) -> list[Any]:
    used = connections[DEFAULT_DB_ALIAS]  # itself: `connection` looks it up for each value
    return [
        None if (value := _value(row, field)) is None else field.get_db_prep_save(value, used)
        for row in rows
        for field in fields
    ]


def _value(row: Model, field: Any) -> Any:
    """Return a field's value; that of a relation to a row which was saved meanwhile is its key."""
    value = getattr(row, field.attname)
    if value is None and field.is_relation and field.is_cached(row):
        related = getattr(row, field.name)
        return None if related is None else related.pk
    return value


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def _type(field: Any) -> str:
    """Return a column's type without its length, to which a cast would cut a value silently."""
    return re.sub(r"\(.*\)", "", field.rel_db_type(connection) or "")
