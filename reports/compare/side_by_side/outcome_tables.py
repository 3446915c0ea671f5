"""The outcomes of runs or families side by side, as a whole and by tag."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from evalhub.display.charts import Figure
from evalhub.display.outcomes import OUTCOMES
from reports.compare.figure import RateDots, dumbbells
from reports.compare.side_by_side.columns import CompareColumn
from reports.compare.side_by_side.query import SideBySide, Total
from reports.documents.cells import rate_words
from reports.documents.document import Cell, Column, LazyRows, Link, Linked, Table, folded
from reports.documents.links import page_url, results_urls
from reports.documents.model_lines import MARKERS, line_style
from reports.queries.names import all_tag_names
from runs.comparison.comparability_rule import Comparable
from runs.figures.rate import Rate
from runs.figures.tallies import Counts, Group, Rates, groups_of

ABSENT = "N/A"
HUMAN_MARK = "*"
MAX_DRAWN = 12
"""Tags in the chart; the table has them all."""

OUTCOME_COLUMNS = tuple(Column(name, style.label, "count") for name, style in OUTCOMES.items())


class TagCell(NamedTuple):
    """A tag ("": all results) and the place of a column."""

    tag: str
    place: int


class Outcomes:
    """The results of the tests shown by column and tag."""

    def __init__(self, beside: SideBySide, columns: Sequence[CompareColumn]) -> None:
        self.columns = columns
        place_of = {run.pk: place for place, one in enumerate(columns) for run in one.runs}
        tags_of = all_tag_names()
        groups = groups_of(
            beside.tallies(),
            lambda tally: [
                TagCell(tag, place_of[tally.run_id]) for tag in ("", *tags_of[tally.tag_set_id])
            ],
        )
        self._groups = defaultdict(Group, groups)
        repeats = [sum(run.repeats for run in one.runs) for one in columns]
        self._rates = Rates(self._groups, answers=lambda cell: repeats[cell.place])

    def counts(self, place: int) -> Counts:
        return self._groups[TagCell("", place)]

    def rate(self, place: int) -> Rate:
        return self._rates[TagCell("", place)]

    def rates_on(self, tag: str) -> list[Rate | None]:
        """Return the pass rate of each column on a tag; None: it has no such test."""
        return [self._rates.get(TagCell(tag, place)) for place in range(len(self.columns))]

    def differs(self, tag: str) -> bool:
        """Return whether the pass rates of the columns on a tag are not all the same."""
        return len({rate and rate.share for rate in self.rates_on(tag)}) > 1

    def tags(self) -> list[str]:
        """Return the tags, those with the lowest pass rate over all columns first."""
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for cell, group in self._groups.items():
            sums[cell.tag][0] += group.passed
            sums[cell.tag][1] += group.scored
        shares = {tag: passed / n if n else 2.0 for tag, (passed, n) in sums.items() if tag}
        return sorted(shares, key=lambda tag: (shares[tag], tag))


def run_totals(
    found: Outcomes, totals: Mapping[int, Total], apart: Mapping[int, Comparable]
) -> Table:
    """Make the table of the outcomes of each run.

    Args:
        apart: The runs that are not comparable with the first.
    """
    rows: list[tuple[Cell, ...]] = []
    runs = [one.runs[0] for one in found.columns]
    for place, run in enumerate(runs):
        with_first = Link("With the first run", page_url("compare", runs=[runs[0], run]))
        rows.append(
            (
                Link(run.label, run.get_absolute_url(), run.model_name),
                found.rate(place),
                *found.counts(place).as_dict().values(),
                totals[run.pk].absent,
                totals[run.pk].overridden,
                run.pk not in apart if place else None,
                with_first if place else None,
            )
        )
    return Table(
        "totals",
        "Totals of the tests shown",
        (
            Column("run", "Run", "link"),
            Column("rate", "Pass rate", "rate"),
            *OUTCOME_COLUMNS,
            Column("absent", f"{ABSENT} (tests)", "count"),
            Column("overridden", f"{HUMAN_MARK} Human verdicts", "count"),
            Column("comparable", "Comparable", note="With the first run: same jury and scoring"),
            Column("compare", "Compare", "link"),
        ),
        rows,
        note=f"Counts answers; {ABSENT} counts tests.",
    )


def outcomes_of_each(found: Outcomes) -> Table:
    """Make the table of all outcomes of two runs, of tests that are not compared too."""
    table = run_totals(found, defaultdict(lambda: Total(0, 0)), {})
    return replace(
        table.only("run", "rate", *OUTCOMES),
        title="Outcomes of each run",
        note="Counts the answers to all tests, also to those that are not compared.",
    )


def family_totals(found: Outcomes) -> Table:
    return Table(
        "totals",
        "Totals of the tests shown",
        (
            Column("family", "Family"),
            Column("models", "Models"),
            Column("runs", "Runs", "count"),
            Column("rate", "Pass rate", "rate"),
        ),
        [
            (column.column.title, column.column.note, len(column.runs), found.rate(place))
            for place, column in enumerate(found.columns)
        ],
        note="Counts answers. Answers of one family to a test are not independent, so intervals "
        "count them as one, or account for issues. Errors, unscored and pending answers are "
        "excluded from rates.",
    )


def rates_by_tag(found: Outcomes) -> Table:
    """Make the table of pass rates by tag: those that differ, then those that do not."""
    tags = sorted(found.tags(), key=lambda tag: not found.differs(tag))
    differing = [tag for tag in tags if found.differs(tag)]
    shown = len(differing)
    cut = f" The chart shows the first {MAX_DRAWN}." if shown > MAX_DRAWN else ""
    return Table(
        "rates",
        "Pass rates by tag",
        (
            Column("tag", "Tag"),
            *(replace(one.column, form="rate") for one in found.columns),
        ),
        LazyRows(tags, lambda some: [_rates_row(found, tag) for tag in some]),
        note="Lowest pass rate first; the order is not tested. A test counts for each of its tags."
        + cut,
        empty="The tests of these runs have no tags.",
        draw=lambda: _dumbbells(found, differing[:MAX_DRAWN]) if differing else None,
        look="folded",
        describes="The pass rates on each tag that differs",
        **folded(len(tags), shown, "tag", said="without a difference"),
    )


def _rates_row(found: Outcomes, tag: str) -> tuple[Cell, ...]:
    urls = results_urls([column.runs[0] for column in found.columns], tag=tag)
    return tag, *(
        Linked(rate, url) if rate and len(column.runs) == 1 else rate
        for column, rate, url in zip(found.columns, found.rates_on(tag), urls, strict=True)
    )


def _dumbbells(found: Outcomes, tags: Sequence[str]) -> Figure:
    rates = [found.rates_on(tag) for tag in tags]
    dots = []
    for place, column in enumerate(found.columns):
        title = column.column.title
        mine = [row[place] for row in rates]
        texts = [
            f"{title}, {tag}: {rate_words(rate) if rate else 'no tests'}"
            for tag, rate in zip(tags, mine, strict=True)
        ]
        colour = line_style(column.runs[0].language_model_id).colour
        dots.append(RateDots(title, colour, MARKERS[place % len(MARKERS)], mine, texts))
    return dumbbells(tags, dots)
