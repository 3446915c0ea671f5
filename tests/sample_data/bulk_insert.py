"""Writing very many rows at once: by COPY on PostgreSQL, by one prepared statement on SQLite."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.color import no_style
from django.db import connection
from django.db.models import Model

Columns = Mapping[str, Iterable[Any]]
"""Values by the name of their field, one for each row; a column of one value may be endless."""


def write(model: type[Model], columns: Columns) -> None:
    """Insert rows as they are, as many as the shortest column is long; JSON is given as text.

    No default of a model's fields is filled in: give every column that must not be null.
    """
    rows = zip(*columns.values(), strict=False)
    places = {field.name: str(field.column) for field in model._meta.concrete_fields}
    names = ", ".join(connection.ops.quote_name(places[field]) for field in columns)
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            values = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({values})", list(rows))


def go_on_counting(*models: type[Model]) -> None:
    """Let the next row of each get an id above those that were written."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)


def tidy() -> None:
    """Let the database know what it holds now, so that it plans its queries well."""
    vacuum = connection.vendor == "postgresql" and not connection.in_atomic_block
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if vacuum else "ANALYZE")
