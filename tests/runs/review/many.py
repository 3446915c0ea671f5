"""A queue of very many results, copied in the database from one."""

from typing import Any

from django.db import connection, models

from runs.review.models import Queue
from tests.factories import first_result
from tests.runs.review.rows import filled


def many_unreviewed(count: int) -> Queue:
    """A queue in which so many answered results wait, all of one run."""
    queue = filled(1)
    result = first_result(queue.items.get().result.run)
    numbers = (
        f"(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count - 1})"
        " SELECT i FROM n) numbers"
    )
    _copy(result, numbers, {"repeat": "numbers.i"})
    others = f"(SELECT id, repeat FROM runs_result WHERE run_id = {result.run_id}) results"
    new = f"results.id <> {result.pk}"
    _copy(result.answer, others, {"result_id": "results.id"}, where=new)
    item = queue.items.get()
    values = {"result_id": "results.id", "position": "results.repeat + 1"}
    _copy(item, others, values, where=new)
    items = f"(SELECT id, position FROM review_reviewitem WHERE queue_id = {queue.pk}) items"
    values = {"item_id": "items.id", "position": "items.position"}
    _copy(queue.places.get(), items, values, where=f"items.id <> {item.pk}")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return queue


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
