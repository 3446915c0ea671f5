"""A run's results as they leave the house: CSV for spreadsheets, JSON for programs."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from evalhub.csv_safety import BOM, Echo, cell
from reports.queries.rate_lines import Line
from reports.queries.result_rows import CriterionCell, JudgeCell, JudgeColumn, Row
from reports.run.judgments_query import Verdict
from reports.run.query import RunReport
from runs.figures.run_figures import spent_usd
from runs.figures.tallies import Rate, Score


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
        kept = [_cell(getattr(row, name)) for name in columns]
        yield writer.writerow(kept + _votes(row, seats))


def _votes(row: Row | Verdict, seats: Sequence[JudgeColumn]) -> list[float | None]:
    """The value of each judge; None where it failed or was not asked."""
    if not isinstance(row, Row):
        return []
    votes = [row.judge_cell_of(seat.judge_id) for seat in seats]
    return [vote.value if vote else None for vote in votes]


def _cell(value: Any) -> Any:
    return cell("; ".join(_part(part) for part in value) if isinstance(value, tuple) else value)


def _part(part: str | JudgeCell | CriterionCell) -> str:
    if isinstance(part, JudgeCell):
        return f"{part.judge}: {'failed' if part.value is None else format(part.value, 'g')}"
    if isinstance(part, CriterionCell):
        return "not measured" if part.score is None else format(part.score, "g")
    return part


def report_json(report: RunReport, rows: Iterable[Row]) -> dict[str, Any]:
    """All figures of the report under the names of `RunReport`, and these rows as its results."""
    run = report.run
    return {
        "run": {name: getattr(run, name) for name in RUN_FIELDS} | {"spent_usd": spent_usd(run)},
        "labels": list(report.labels),
        "judge_run": _judge_run(report),
        "progress": report.progress.as_json(),
        "rate": rate_json(report.rate),
        "score": score_json(report.score),
        "overridden": report.overridden,
        "disputed": report.disputed,
        "issues": [_line(line) for line in report.issues],
        "tags": [_line(line) for line in report.tags],
        "domains": [{**_line(line), "depth": line.depth} for line in report.domains],
        "outside": report.outside.as_dict(),
        "errors": dict(report.errors),
        **{name: _plain(getattr(report, name)) for name in PLAIN},
        "results": [asdict(row) for row in rows],
    }


PLAIN = (
    "counts",
    "heavy",
    "similarity",
    "sealing",
    "usage",
    "latency",
    "cost",
    "panel",
    "flaky",
    "overrides",
    "failures",
)
RUN_FIELDS = (
    "id",
    "label",
    "release",
    "model_name",
    "system_prompt",
    "params",
    "repeats",
    "state",
    "reason",
    "variant_key",
    "suite_fingerprint",
    "created_at",
    "started_at",
    "finished_at",
    "cost_limit_usd",
)


def rate_json(rate: Rate) -> dict[str, Any]:
    interval = rate.interval._asdict() if rate.interval else None
    return {**asdict(rate), "interval": interval}


def score_json(score: Score) -> dict[str, Any]:
    interval = score.interval._asdict() if score.interval else None
    return {**asdict(score), "interval": interval}


def _line(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "issue_id": line.issue_id,
        "counts": line.counts.as_dict(),
        "rate": rate_json(line.rate),
    }


def _judge_run(report: RunReport) -> dict[str, Any] | None:
    current = report.current
    if current is None:
        return None
    return {
        "number": current.number,
        "jury": current.jury_name,
        "jury_fingerprint": current.jury_fingerprint,
        "state": current.state,
    }


def _plain(value: Any) -> Any:
    if value is None:
        return None
    return [asdict(one) for one in value] if isinstance(value, tuple) else asdict(value)
