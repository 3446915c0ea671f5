"""A run's results and judgments as CSV."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from evalhub.files.csv_safety import BOM, Echo, cell
from reports.documents.origin import COLUMNS, Origin
from reports.queries.result_rows import CriterionCell, JudgeCell, JudgeColumn, Row
from reports.run.judgments_query import JudgmentRow

RESULT_COLUMNS = (
    *("result_id", "test_id", "repeat", "issue_id", "issue", "tags", "outcome", "score"),
    *("agreement", "deviation", "answered", "expected", "judges", "criteria", "failed_judgments"),
    *("is_overridden", "is_disputed", "weight", "input_tokens", "output_tokens", "cost_usd"),
    *("latency_ms", "error_kind", "prompt", "answer"),
)
"""Columns of results.csv."""

JUDGMENT_COLUMNS = (
    *("result_id", "test_id", "repeat", "criterion", "text", "polarity", "weight", "alternative"),
    *("mandatory", "check", "judge", "sample", "is_backup", "state", "option", "value"),
    *("failure", "consensus", "criterion_score", "deviation", "is_split", "justification"),
)
"""Columns of judgments.csv."""


def csv_lines(
    rows: Iterable[Row] | Iterable[JudgmentRow],
    columns: Sequence[str],
    origin: Origin,
    judge_columns: Sequence[JudgeColumn] = (),
) -> Iterator[str]:
    """Write rows as CSV, line by line.

    Text that a spreadsheet would take for a formula is quoted.

    Args:
        columns: Attributes of the rows, in the order of the file.
        origin: Ends each line, as files are cut and joined.
        judge_columns: Judges that get a column each for their values: with rows of the grid only.
    """
    writer = csv.writer(Echo())
    names = (*(judge.name for judge in judge_columns), *COLUMNS)
    yield BOM + writer.writerow([*columns, *map(cell, names)])
    for row in rows:
        values = [getattr(row, name) for name in columns]
        judges = (
            [row.judge_cell_of(judge.judge_id) for judge in judge_columns]
            if isinstance(row, Row)
            else []
        )
        yield writer.writerow(
            [
                *(cell("; ".join(map(_part, v)) if isinstance(v, tuple) else v) for v in values),
                *(judge.value if judge else None for judge in judges),
                *map(cell, origin.cells),
            ]
        )


def _part(part: str | JudgeCell | CriterionCell) -> str:
    if isinstance(part, JudgeCell):
        return f"{part.judge}: {'no verdict' if part.value is None else format(part.value, 'g')}"
    if isinstance(part, CriterionCell):
        return "not measured" if part.score is None else format(part.score, "g")
    return part
