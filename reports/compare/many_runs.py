"""The report on several runs: a grid of tests by runs, with totals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evalhub.formatting import percent
from evalhub.statistics.wilson import wilson_interval
from reports.compare.controls import known_tags
from reports.compare.headline import resampled, warnings
from reports.compare.listing_tables import PROMPT
from reports.compare.matching_rule import Tested, together
from reports.compare.query import Side, prompts_of, tag_names, titles
from reports.compare.sentences import number_of_tests
from reports.compare.side_by_side_query import SideBySide, TestFilter, TestRow, Total
from reports.documents.document import Cell, Column, Document, Fact, Link, Table
from reports.documents.lazy_rows import LazyRows
from reports.documents.links import page_url, row_url
from reports.documents.reading import Reading
from runs.figures.tallies import Rate
from runs.models import Run

ABSENT = "N/A"
BY_PEOPLE = "*"
NO_TESTS = "No matching tests. Choose other runs, or clear tag, issue and words."


@dataclass(frozen=True)
class Shaded(Link):
    """A link in a cell shaded by a share; None: not shaded."""

    share: float | None = None


@dataclass(frozen=True)
class CompareColumn:
    """A column of the grid, and the runs added up in it."""

    column: Column
    runs: tuple[Run, ...]

    def of(self, tested: Mapping[int, Tested]) -> Tested | None:
        """Add up a test over these runs; None: no run has it.

        Args:
            tested: The test by run.
        """
        parts = [tested[run.pk] for run in self.runs if run.pk in tested]
        return together(parts) if parts else None


def document_of(sides: Sequence[Side], asked: Mapping[str, Any], reading: Reading) -> Document:
    runs = [side.run for side in sides]
    beside = SideBySide(runs, test_filter_of(asked), reading.reader)
    tests = beside.tests()
    counted = Counted.of(tests, len(runs))
    return Document(
        title=f"Differences between {len(runs)} runs",
        sentences=sentences_of(counted, len(runs)),
        facts=facts_of(counted),
        tables=(
            grid(beside, tests, reading, columns_of(runs)),
            _totals(beside, len(tests), reading),
        ),
        warnings=warnings(sides),
        labels=tuple(dict.fromkeys(label for side in sides for label in side.labels)),
        more={"tags": known_tags(tag_names({one.tag_set_id for one in tests}))},
    )


def test_filter_of(asked: Mapping[str, Any]) -> TestFilter:
    return TestFilter(asked["tag"], asked["issue"], asked["q"], asked["shared"] == "on")


class Counted(NamedTuple):
    """Counts of the tests shown: in all runs, with mixed outcomes, and never passed."""

    tests: int
    shared: int
    mixed: int
    never: int

    @classmethod
    def of(cls, tests: Sequence[TestRow], runs: int) -> "Counted":
        return cls(
            tests=len(tests),
            shared=sum([one.runs == runs for one in tests]),
            mixed=sum([0 < one.passed < one.scored for one in tests]),
            never=sum([one.scored > 0 and not one.passed for one in tests]),
        )


def sentences_of(counted: Counted, runs: int) -> tuple[str, ...]:
    if not counted.tests:
        return (NO_TESTS,)
    return (
        f"{number_of_tests(counted.tests)} shown, {counted.shared:,} of them in all {runs} runs; "
        f"{counted.mixed:,} have both passed and failed answers.",
        "For significance, compare two of the runs.",
    )


def facts_of(counted: Counted) -> tuple[Fact, ...]:
    return (
        Fact("tests", "Tests shown", counted.tests, "count"),
        Fact("shared", "In all runs", counted.shared, "count"),
        Fact("mixed", "Mixed outcomes", counted.mixed, "count"),
        Fact("never", "Never passed", counted.never, "count"),
    )


def grid(
    beside: SideBySide,
    tests: Sequence[TestRow],
    reading: Reading,
    lanes: Sequence[CompareColumn],
    title: str = "Tests by runs",
) -> Table:
    """Make the grid; rows are read a page at a time."""
    issues = titles({one.issue_id for one in tests})
    tags = tag_names({one.tag_set_id for one in tests})

    def load(some: Sequence[TestRow]) -> list[tuple[Cell, ...]]:
        revisions = [one.revision_id for one in some]
        prompts, cells = prompts_of(revisions, reading.reader), beside.cells(revisions)
        return [
            (
                Link(f"test {one.test_id}", row_url("admin:issues_test_change", one.test_id)),
                *(_cell(lane.of(cells[one.revision_id])) for lane in lanes),
                Link(issues[one.issue_id], page_url("issue_timeline", issue=one.issue_id)),
                ", ".join(tags[one.tag_set_id]),
                prompts.get(one.revision_id, "")[:PROMPT] or None,
            )
            for one in some
        ]

    return Table(
        "grid",
        title,
        (
            Column("test", "Test", "link"),
            *(lane.column for lane in lanes),
            Column("issue", "Issue", "link"),
            Column("tags", "Tags"),
            Column("prompt", "Prompt", note="A dash: sealed."),
        ),
        LazyRows(tests, load),
        note=f"Share of scored answers that passed. {ABSENT}: the run does not have the test, or "
        f"has it with another prompt or rubric. {BY_PEOPLE} human verdict.",
        empty=NO_TESTS,
        look="heat",
    )


def columns_of(runs: Sequence[Run]) -> list[CompareColumn]:
    """Return a column for each run, titled by model and release (and id where equal)."""
    titles = [f"{run.model_name} {run.release}".strip() for run in runs]
    return [
        CompareColumn(
            Column(
                f"run_{run.pk}",
                title if titles.count(title) == 1 else f"{title} (run {run.pk})",
                "link",
                run.label,
            ),
            (run,),
        )
        for run, title in zip(runs, titles, strict=True)
    ]


def _cell(tested: Tested | None) -> Cell:
    if tested is None:
        return ABSENT
    url = row_url("admin:runs_result_change", tested.result_id)
    mark = f"{BY_PEOPLE} " if tested.overridden else ""
    if tested.share is None:
        state = "error" if tested.error else "unscored" if tested.unscored else "pending"
        return Shaded(f"{mark}{state}", url)
    text = f"{mark}{percent(tested.share)} ({tested.passed} of {tested.scored})"
    return Shaded(text, url, share=tested.share)


def _totals(beside: SideBySide, shown: int, reading: Reading) -> Table:
    totals, first = beside.totals(shown), beside.runs[0]
    rates = _rates(beside, totals, reading)
    return Table(
        "totals",
        "Totals of the tests shown",
        (
            Column("run", "Run", "link"),
            Column("rate", "Pass rate", "rate"),
            Column("passed", "Passed", "count"),
            Column("failed", "Failed", "count"),
            Column("unscored", "Unscored", "count"),
            Column("error", "Errors", "count"),
            Column("pending", "Pending", "count"),
            Column("absent", f"{ABSENT} (tests)", "count"),
            Column("overridden", f"{BY_PEOPLE} Human verdicts", "count"),
            Column("compare", "Compare", "link"),
        ),
        [_total_row(run, totals[run.pk], rates[run.pk], first) for run in beside.runs],
        note=f"Counts answers; {ABSENT} counts tests.",
    )


def _rates(beside: SideBySide, totals: Mapping[int, Total], reading: Reading) -> dict[int, Rate]:
    """Return pass rates with Wilson intervals; with repeats, issues are resampled."""
    repeated = [run for run in beside.runs if run.repeats > 1]
    by_issue = beside.by_issue(repeated) if repeated else {}
    rates = {}
    for run in beside.runs:
        passed, n = totals[run.pk].counts.passed, totals[run.pk].counts.scored
        if run.repeats > 1:
            parts = by_issue.get(run.pk, [])
            shares, weights = [k / of for _, k, of in parts], [float(of) for *_, of in parts]
            interval = resampled(reading, shares, weights, [issue for issue, *_ in parts])
        else:
            interval = wilson_interval(passed, n)
        share = passed / n if n else None
        rates[run.pk] = Rate(passed, n, share, interval, is_resampled=run.repeats > 1)
    return rates


def _total_row(run: Run, total: Total, rate: Rate, first: Run) -> tuple[Cell, ...]:
    counts = total.counts
    beside_first = page_url("compare", runs=[first, run])
    return (
        Link(run.label, run.get_absolute_url(), run.model_name),
        rate,
        counts.passed,
        counts.failed,
        counts.unscored,
        counts.error,
        counts.pending,
        total.absent,
        total.overridden,
        None if run.pk == first.pk else Link("With the first run", beside_first),
    )
