"""The table of position bias, and its findings in sentences."""

from collections.abc import Iterator, Sequence

from django.urls import reverse

from evalhub.display.formatting import counted
from reports.compare.sentences import is_p
from reports.documents.document import Column, Link, Table
from reports.documents.rate_cells import share_without_interval
from reports.judge_reliability.judges.position_bias_query import OPTIONS, BiasRow
from reports.judge_reliability.judges.totals_query import JuryLine


def favour_sentences(rows: Sequence[BiasRow]) -> Iterator[str]:
    """Name each judge that favours a place, with its figures."""
    for row in rows:
        if row.favours and row.bias and row.p is not None:
            changed, moved = row.bias.changed, row.bias.towards_first
            moved = moved if row.bias.direction > 0 else changed - moved
            yield (
                f"{row.judge.name} favours {row.favours}: of {counted(changed, 'verdict')} that "
                f"changed with the order, {moved:,} moved there ({is_p(row.p)}, Holm)."
            )


def position_bias_table(
    rows: Sequence[BiasRow], lines: Sequence[JuryLine], live: frozenset[int]
) -> Table:
    return Table(
        key="position_bias",
        title="Position bias",
        columns=(
            Column("judge", "Judge"),
            Column("shown", "Reversed"),
            Column("changed", "Changed with the order", "rate", "Of verdicts given in both orders"),
            Column("first", "Towards the first", "rate", "Of those that changed"),
            Column("p", "p", "p", "Exact sign flips by test or issue, Holm over this table"),
            Column("finding", "Direction"),
            Column("measure", "Measure", "link"),
        ),
        rows=[
            (
                f"{row.judge.name} (scripted)" if row.judge.is_scripted else row.judge.name,
                row.shown,
                row.changed,
                share_without_interval(row.bias.towards_first, row.bias.changed)
                if row.bias and row.bias.changed
                else None,
                row.p,
                row.finding,
                _measure(row, lines, live),
            )
            for row in rows
        ],
        note="A dash is not measured. Some verdicts change by chance, also between two equal "
        "requests: only a direction shows that the order decides. A judge favours a place if its "
        "changes go there significantly (p ≤ 0.05).",
        empty="No judge is known.",
    )


def _measure(row: BiasRow, lines: Sequence[JuryLine], live: frozenset[int]) -> Link | None:
    """Return the way to measure the judge, in the newest judge run in which it judges."""
    if row.shown != OPTIONS or row.judge.is_backup:
        return None
    line = next((line for line in lines if row.judge.judge_id in line.members), None)
    if line is None:
        return None
    if line.judge_run.pk in live:
        url = reverse("admin:position_bias_reversedjudgerun_changelist")
        return Link("Being measured", url)
    url = reverse("admin:position_bias_reversedjudgerun_add")
    text = "Measure again" if row.changed else "Measure position bias"
    return Link(text, f"{url}?judge_run={line.judge_run.pk}", f"in {line.run}")
