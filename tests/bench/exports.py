"""CPU of a long export per row, beside that of its queries alone, for `scale`.

The workspace is the environment's. The queries are sent as the export sends them, portion by
portion, and their rows read as the database's driver gives them: what is left is the export's own.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

AT_MOST_US = 20
MANY = 5000
MOST_ROWS = 100_000
ROUNDS = 3


@dataclass(frozen=True)
class Measured:
    """An export in one form, with microseconds of CPU for each row."""

    rows: int
    table: str
    form: str
    database_us: float
    export_us: float

    @property
    def own_us(self) -> float:
        return self.export_us - self.database_us

    @property
    def is_bound(self) -> bool:
        """Tell whether there are enough rows, and it is one of the forms for many."""
        return self.rows >= MANY and self.form != "csv"

    @property
    def holds(self) -> bool:
        return not self.is_bound or self.own_us <= AT_MOST_US

    def cells(self) -> list[str]:
        figures = (self.database_us, self.export_us, self.own_us)
        bound = str(AT_MOST_US) if self.is_bound else ""
        return [self.table, self.form, f"{self.rows:,}", *(f"{one:.1f}" for one in figures), bound]


def measure(table: str, queryset: Any, columns: Any) -> list[Measured]:
    from evalhub.api.exports import Export, gzipped

    def export(form: str) -> Callable[[], int]:
        def run() -> int:
            parts = Export(queryset, columns).written(form.partition(" ")[0], 0, MOST_ROWS)
            return sum(map(len, gzipped(parts) if "gzip" in form else parts))

        return run

    rows = min(queryset.count(), MOST_ROWS)
    if not rows:
        return []
    database = least(lambda: read(Export(queryset, columns)))
    forms = ("ndjson", "ndjson gzip", "csv", "parquet")
    return [
        Measured(rows, table, form, per_row(database, rows), per_row(least(export(form)), rows))
        for form in forms
    ]


def read(export: Any) -> int:
    """Read the rows as the driver gives them."""
    from django.db import connection

    from evalhub.api.exports import PORTION

    after, count = 0, 0
    while count < MOST_ROWS:
        portion = export.rows.filter(pk__gt=after).values_list(*export.sources)[:PORTION]
        sql, values = portion.query.sql_with_params()
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            rows = cursor.fetchall()
        count += len(rows)
        if len(rows) < PORTION:
            break
        after = rows[-1][0]
    return count


def least(act: Callable[[], Any]) -> float:
    """Return the least CPU time of several rounds, in seconds."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        act()
        times.append(time.process_time() - started)
    return min(times)


def per_row(seconds: float, rows: int) -> float:
    return 1_000_000 * seconds / rows
