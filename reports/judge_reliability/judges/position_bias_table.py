"""The table of position bias: one rule for all that was judged in both orders."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse

from evalhub.formatting import counted
from evalhub.statistics.change_test import MIN_CHANGED, is_significant
from evalhub.statistics.flip_distribution import terms_needed
from evalhub.statistics.holm import holm
from evalhub.statistics.position_bias import PositionBias
from reports.compare.sentences import is_p
from reports.documents.document import Column, Link, Table
from reports.documents.rate_cells import share_without_interval
from reports.judge_reliability.judge_line import JudgeLine
from reports.judge_reliability.judges.position_bias_query import PositionBiases
from reports.judge_reliability.judges.totals_query import JuryLine
from runs.figures.rate import Rate

OPTIONS, PAIRS, TEXTS = "options of the scale", "answers of a pair", "texts in trials"
FIRST = {OPTIONS: "the option listed first", PAIRS: "the answer shown first"}
LAST = {OPTIONS: "the option listed last", PAIRS: "the answer shown second"}


@dataclass(frozen=True)
class BiasRow:
    """A judge on what was reversed. `bias` None: no direction was or can be tested.

    `p` is corrected for all rows of the table (Holm), with `needed` tests or issues to show any.
    """

    judge: JudgeLine
    shown: str
    changed: Rate | None
    bias: PositionBias | None = None
    p: float | None = None
    needed: int = MIN_CHANGED

    @property
    def favours(self) -> str:
        """Return the place that the judge favours significantly; "" if none is shown."""
        if self.bias is None or not self.bias.direction or not is_significant(self.p):
            return ""
        return (FIRST if self.bias.direction > 0 else LAST)[self.shown]

    @property
    def finding(self) -> str:
        """Return the conclusion on the direction; "" where none was tested."""
        if self.bias is None:
            return ""
        if self.favours:
            return f"favours {self.favours}. {self.bias.test.caveat}".removesuffix(". ")
        if self.bias.test.moved < self.needed:
            return f"too few changes to tell: {self.bias.test.moved} of {self.needed} needed"
        return "no direction shown"


def bias_rows(biases: PositionBiases, judges: Sequence[JudgeLine]) -> list[BiasRow]:
    """Return all that was measured, with p corrected over all of it, and what was not."""
    rows = [row for judge in judges for row in _rows_of(judge, biases)]
    tested = [row.bias.test.p if row.bias else None for row in rows]
    needed = terms_needed(max(1, sum(p is not None for p in tested)))
    return [
        BiasRow(row.judge, row.shown, row.changed, row.bias, p, needed)
        for row, p in zip(rows, holm(tested), strict=True)
    ]


def _rows_of(judge: JudgeLine, biases: PositionBiases) -> Iterator[BiasRow]:
    model = judge.language_model_id or 0
    options, pairs = biases.options.get(judge.judge_id), biases.pairs.get(model)
    yield BiasRow(judge, OPTIONS, _rate(options) if options else None, options)
    if pairs:
        yield BiasRow(judge, PAIRS, _rate(pairs), pairs)
    if swapped := biases.swapped.get(model):
        yield BiasRow(judge, TEXTS, swapped)


def _rate(bias: PositionBias) -> Rate:
    share = bias.changed / bias.n
    return Rate(bias.changed, bias.n, share, bias.interval, bias.method)


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
                row.judge.name,
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
