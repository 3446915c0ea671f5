"""A queue of very many results, copied in the database from a few."""

from math import ceil
from typing import Any

from django.db import connection, models

from runs.models import Result
from runs.review.models import Queue, ReviewItem
from tests.runs.review.rows import filled

MAX_REPEATS = 25_000
"""Results copied from one, which are its repeats: a small integer counts these."""


def large_queue_of(count: int, **fields: Any) -> Queue:
    """A queue in which so many answered results wait, all of one run."""
    tests = max(2, ceil(count / MAX_REPEATS))  # so that what comes second was judged as well
    queue = filled(tests, **fields)
    for n, item in enumerate(list(queue.items.select_related("result__answer"))):
        copies = count // tests + (n < count % tests) - 1
        _repeat(item.result, copies)
        _follow(queue, item, tests)
    return queue


def _repeat(result: Result, copies: int) -> None:
    numbers = (
        f"(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {copies})"
        f" SELECT i FROM n WHERE i <= {copies}) numbers"
    )
    _copy(result, numbers, {"repeat": "numbers.i"})
    new = f"results.id <> {result.pk}"
    _copy(result.answer, _results(result), {"result_id": "results.id"}, where=new)


def _results(result: Result) -> str:
    alike = f"run_id = {result.run_id} AND revision_id = {result.revision_id}"
    return f"(SELECT id, repeat FROM runs_result WHERE {alike}) results"


def _follow(queue: Queue, item: ReviewItem, apart: int) -> None:
    """Items of the copies, and their places."""
    position = f"results.repeat * {apart} + {item.position}"
    values = {"result_id": "results.id", "position": position}
    _copy(item, _results(item.result), values, where=f"results.id <> {item.result_id}")
    items = (
        "(SELECT i.id, i.position FROM review_reviewitem i JOIN runs_result r ON r.id = i.result_id"
        f" WHERE i.queue_id = {queue.pk} AND r.revision_id = {item.result.revision_id}) items"
    )
    values = {"item_id": "items.id", "position": "items.position"}
    for assignment in item.assignments.all():
        _copy(assignment, items, values, where=f"items.id <> {item.pk}")


def _copy(row: Any, source: str, values: dict[str, str], *, where: str = "1 = 1") -> None:
    """Insert the row once for each row of the source, with these columns changed."""
    meta = row._meta
    columns = [
        field.column
        for field in meta.concrete_fields
        if not isinstance(field, models.AutoField | models.GeneratedField)
    ]
    given = [values.get(column, f"row.{column}") for column in columns]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {meta.db_table} ({', '.join(columns)}) SELECT {', '.join(given)}"
            f" FROM {meta.db_table} row, {source} WHERE row.{meta.pk.column} = {row.pk} AND {where}"
        )
        cursor.execute(f"ANALYZE {meta.db_table}")  # what is copied next is joined with it
