"""A run's results and judgments as CSV."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from evalhub.csv_safety import BOM, Echo, cell
from reports.queries.result_rows import CriterionCell, JudgeCell, JudgeColumn, Row
from reports.run.judgments_query import Verdict


def csv_lines(
    rows: Iterable[Row] | Iterable[Verdict],
    columns: Sequence[str],
    seats: Sequence[JudgeColumn] = (),
) -> Iterator[str]:
    """Write rows as CSV, line by line.

    Text that a spreadsheet would take for a formula is quoted.

    Args:
        columns: Attributes of the rows, in the order of the file.
        seats: Judges that get a column each for their values: with rows of the grid only.
    """
    writer = csv.writer(Echo())
    yield BOM + writer.writerow([*columns, *(cell(seat.name) for seat in seats)])
    for row in rows:
        values = [getattr(row, name) for name in columns]
        votes = [row.judge_cell_of(seat.judge_id) for seat in seats] if isinstance(row, Row) else []
        yield writer.writerow(
            [
                *(cell("; ".join(map(_part, v)) if isinstance(v, tuple) else v) for v in values),
                *(vote.value if vote else None for vote in votes),
            ]
        )


def _part(part: str | JudgeCell | CriterionCell) -> str:
    if isinstance(part, JudgeCell):
        return f"{part.judge}: {'no verdict' if part.value is None else format(part.value, 'g')}"
    if isinstance(part, CriterionCell):
        return "not measured" if part.score is None else format(part.score, "g")
    return part
