"""Queries written in SQL once per process, with keys of rows for all that varies.

Writing a query takes Django longer than a database takes to find a few rows by their key.
"""

from collections.abc import Callable, Collection, Sequence
from functools import cache, wraps
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet
from django.db.models.sql import Query

MARKS = tuple(range(-2_000_000_001, -2_000_000_005, -1))
"""Stand in for keys while the SQL is written; no row has one, and each fits into a key's column."""
TEXTS = {str(mark): mark for mark in MARKS}


def fixed_query(
    queryset_of: Callable[..., QuerySet[Any, Any]],
) -> Callable[..., list[tuple[Any, ...]]]:
    """Let a function of keys that returns a queryset of values return its rows.

    A key may be several, of which the queryset makes a condition with `Among`.
    """

    @cache
    def written(*several: bool) -> _Statement:
        marks = [(mark,) if many else mark for mark, many in zip(MARKS, several, strict=False)]
        query = queryset_of(*marks).query
        compiler = query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([column for column, *_ in compiler.select])
        return _Statement(query, sql, params, converters)

    @wraps(queryset_of)
    def rows(*keys: int | Collection[int]) -> list[tuple[Any, ...]]:
        found = written(*(not isinstance(key, int) for key in keys))
        given = dict(zip(MARKS, keys, strict=False))
        with connection.cursor() as cursor:
            cursor.execute(found.sql, [_filled(value, given) for value in found.params])
            read = cursor.fetchall()
        if not found.converters:
            return list(read)
        compiler = found.query.get_compiler(connection=connection)
        return list(map(tuple, compiler.apply_converters(read, found.converters)))

    return rows


class _Statement(NamedTuple):
    query: Query
    sql: str
    params: Sequence[Any]
    converters: dict[int, Any]


def _filled(value: Any, given: dict[int, Any]) -> Any:
    """Put the keys in the place of their marks, of which some stand in the brackets of an array."""
    if isinstance(value, int):
        return given.get(value, value)
    if isinstance(value, str) and value[1:-1] in TEXTS:
        numbers = map(str, given[TEXTS[value[1:-1]]])
        return f"{value[0]}{','.join(numbers)}{value[-1]}"
    return value
