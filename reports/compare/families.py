"""The report on model families: runs of a family are added up."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from reports.compare.controls import known_tags
from reports.compare.headline import resampled, warnings
from reports.compare.many_runs import (
    CompareColumn,
    Counted,
    facts_of,
    grid,
    sentences_of,
    test_filter_of,
)
from reports.compare.query import Side, tag_names
from reports.compare.side_by_side_query import SideBySide
from reports.documents.document import Cell, Column, Document, Table
from reports.documents.reading import Reading
from reports.queries.model_identities import identities
from runs.figures.tallies import Rate
from runs.models import Run


def document_of(sides: Sequence[Side], asked: Mapping[str, Any], reading: Reading) -> Document:
    runs = [side.run for side in sides]
    lanes = columns_of(runs)
    beside = SideBySide(runs, test_filter_of(asked), reading.reader)
    tests = beside.tests()
    counted = Counted.of(tests, len(runs))
    return Document(
        title=f"Differences between {len(lanes)} model families",
        sentences=sentences_of(counted, len(runs)),
        facts=facts_of(counted),
        tables=(
            grid(beside, tests, reading, lanes, "Tests by family"),
            _totals(beside, lanes, reading),
        ),
        warnings=warnings(sides),
        labels=tuple(dict.fromkeys(label for side in sides for label in side.labels)),
        more={"tags": known_tags(tag_names({one.tag_set_id for one in tests}))},
    )


def columns_of(runs: Sequence[Run]) -> list[CompareColumn]:
    """Return a column for each family, in the order of their first runs."""
    known = identities()
    families: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        families[known[run.language_model_id].family].append(run)
    return [
        CompareColumn(Column(f"family_{number}", family, "link", _names(members)), tuple(members))
        for number, (family, members) in enumerate(families.items(), 1)
    ]


def _names(runs: Sequence[Run]) -> str:
    return ", ".join(dict.fromkeys(run.model_name for run in runs))


def _totals(beside: SideBySide, lanes: Sequence[CompareColumn], reading: Reading) -> Table:
    parts = beside.by_issue(beside.runs)
    return Table(
        "totals",
        "Totals of the tests shown",
        (
            Column("family", "Family"),
            Column("models", "Models"),
            Column("runs", "Runs", "count"),
            Column("rate", "Pass rate", "rate"),
        ),
        [_total_row(lane, parts, reading) for lane in lanes],
        note="Counts answers. Answers of one family to a test are not independent, so intervals "
        "resample issues. Errors, unscored and pending answers are excluded from rates.",
    )


def _total_row(
    lane: CompareColumn, parts: Mapping[int, Sequence[tuple[int, int, int]]], reading: Reading
) -> tuple[Cell, ...]:
    mine = [part for run in lane.runs for part in parts.get(run.pk, ())]
    passed, n = sum(k for _, k, _ in mine), sum(of for *_, of in mine)
    shares, weights = [k / of for _, k, of in mine], [float(of) for *_, of in mine]
    interval = resampled(reading, shares, weights, [issue for issue, *_ in mine])
    rate = Rate(passed, n, passed / n if n else None, interval, is_resampled=True)
    return lane.column.title, _names(lane.runs), len(lane.runs), rate
