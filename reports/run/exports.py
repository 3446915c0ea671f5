"""A run's results and judgments as CSV."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evalhub.files.csv_safety import BOM, Echo, cell
from issues.rubrics.scoring import inverted
from reports.documents.origin import COLUMNS, Origin
from reports.queries.result_rows import (
    CriterionCell,
    JudgeCell,
    JudgeColumn,
    ResultTable,
    Row,
    judge_name,
)
from runs.models import Judgment, Result
from runs.result_list.filters import Filters
from runs.scoring.coverage_rule import counting
from runs.scoring.shown_verdicts import record
from runs.scoring.verdict import CriterionValue

PIECE = 100
"""Results read at once: a rubric can have a hundred judgments."""


@dataclass(frozen=True)
class JudgmentRow:
    """A judgment on one criterion; `criterion` "" is the test as a whole.

    `value` is how far the answer shows it, `consensus` what its judges (or its check) say
    together, and `criterion_score` how good that is: turned round where it should not be shown.
    `deviation` is the population's of the judges. None is not measured; `text` and
    `justification` are None where the reader may not read the test.
    """

    result_id: int
    test_id: int
    repeat: int
    criterion: str
    text: str | None
    polarity: str
    weight: float
    alternative: int | None
    mandatory: bool
    check: str
    judge: str
    sample: int
    is_backup: bool
    state: str
    option: str
    value: float | None
    failure: str
    taken_from: int | None
    consensus: float | None
    criterion_score: float | None
    deviation: float | None
    is_split: bool
    justification: str | None


def judgment_rows(sheet: ResultTable, filters: Filters) -> Iterator[JudgmentRow]:
    """Yield the judgments of the matching results in the grid's order, in batches."""
    if sheet.judge_run is None:
        return
    record(sheet.reader, runs=[sheet.run.pk])
    names = {judge["judge"]: judge.get("name", "") for judge in sheet.everyone()}
    ids = list(sheet.in_order(filters).values_list("pk", flat=True))
    for start in range(0, len(ids), PIECE):
        piece = ids[start : start + PIECE]
        readable = Result.objects.filter(pk__in=piece).readable_by(sheet.reader)
        open_to = set(readable.order_by().values_list("pk", flat=True))
        rows = Judgment.objects.filter(judge_run=sheet.judge_run, result__in=piece)
        found: dict[int, dict[int, list[Judgment]]] = defaultdict(lambda: defaultdict(list))
        related = rows.select_related("criterion", "result")
        for row in related.order_by("criterion__order", "sample", "pk"):
            found[row.result_id][row.criterion_id].append(row)
        for pk in piece:
            for judgments in found[pk].values():
                yield from _criterion(judgments, names, is_open=pk in open_to)


def _criterion(
    judgments: Sequence[Judgment], names: dict[int, str], *, is_open: bool
) -> Iterator[JudgmentRow]:
    found = CriterionValue.of((row.judge_id, row.value) for row in counting(judgments))
    for row in judgments:
        result, criterion = row.result, row.criterion
        yield JudgmentRow(
            result_id=row.result_id,
            test_id=result.test_id,
            repeat=result.repeat_number,
            criterion=criterion.key,
            text=criterion.text if is_open else None,
            polarity=criterion.polarity,
            weight=criterion.weight,
            alternative=criterion.alternative,
            mandatory=criterion.mandatory,
            check=criterion.check_name,
            judge=judge_name(row.judge_id, names.get(row.judge_id)) if row.judge_id else "",
            sample=row.sample,
            is_backup=row.is_backup,
            state=row.state,
            option=row.option,
            value=row.value,
            failure=row.failure,
            taken_from=row.taken_from,
            consensus=found.consensus,
            criterion_score=inverted(found.consensus) if criterion.is_inverted else found.consensus,
            deviation=found.deviation,
            is_split=found.is_split,
            justification=row.justification if is_open else None,
        )


RESULT_COLUMNS = (
    *("result_id", "test_id", "repeat", "issue_id", "issue", "tags", "outcome", "score"),
    *("lowest_score", "highest_score", "lowest_passed", "highest_passed"),
    *(
        "agreement",
        "deviation",
        "answered",
        "expected",
        "replaced",
        "judges",
        "criteria",
        "failed_judgments",
    ),
    *("is_overridden", "is_disputed", "weight", "input_tokens", "output_tokens", "cost_usd"),
    *("latency_ms", "error_kind", "ending", "finish_reason"),
    *("prompt", "answer"),
)
"""Columns of results.csv."""

JUDGMENT_COLUMNS = (
    *("result_id", "test_id", "repeat", "criterion", "text", "polarity", "weight", "alternative"),
    *("mandatory", "check", "judge", "sample", "is_backup", "state", "option", "value"),
    *("failure", "taken_from", "consensus", "criterion_score", "deviation", "is_split"),
    "justification",
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
