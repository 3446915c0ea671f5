"""The report on several runs or model families: a grid of tests, with totals."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from evalhub.formatting import counted, few, percent
from reports.compare.controls import known_tags
from reports.compare.facts_and_warnings import against_first, warnings
from reports.compare.listing_tables import PROMPT
from reports.compare.matching_rule import Tested, together
from reports.compare.query import Side, prompts_of, tag_names, titles
from reports.compare.side_by_side_query import SideBySide, TestFilter, TestRow
from reports.documents.document import Cell, Column, Document, Fact, Link, Table
from reports.documents.lazy_rows import LazyRows
from reports.documents.links import page_url, row_url
from reports.documents.reading import Reading
from reports.documents.rejudging import rejudging
from reports.queries.model_identities import identities
from runs.comparability import Comparable
from runs.figures.rate import rate_of_issues
from runs.models import Run

ABSENT = "N/A"
HUMAN_MARK = "*"
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
        """Add up a test, given by run, over these runs; None: no run has it."""
        parts = [tested[run.pk] for run in self.runs if run.pk in tested]
        return together(parts) if parts else None


def document_of(sides: Sequence[Side], filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the report on several runs, or on their model families.

    A family adds up only runs that are comparable with the first.
    """
    against = against_first(sides)
    apart = {side.run.pk: comparable for side, comparable in against if not comparable}
    runs = [side.run for side in sides if not (filters["family"] and side.run.pk in apart)]
    chosen = TestFilter(filters["tag"], filters["issue"], filters["q"], filters["shared"] == "on")
    beside = SideBySide(runs, chosen, reading.reader)
    tests = beside.tests()
    shared = sum(one.runs == len(runs) for one in tests)
    mixed = sum(0 < one.passed < one.scored for one in tests)
    never = sum(one.scored > 0 and not one.passed for one in tests)
    if filters["family"]:
        columns, compared, title = _family_columns(runs), "model families", "Tests by family"
        totals = _family_totals(beside, columns, len(tests))
    else:
        columns, compared, title = _run_columns(runs), "runs", "Tests by runs"
        totals = _totals(beside, len(tests), apart)
    sentences = (
        f"{counted(len(tests), 'test')} shown, {shared:,} of them in all {len(runs)} runs; "
        f"{mixed:,} have both passed and failed answers.",
        "For significance, compare two of the runs.",
        *(_left_out(apart) if filters["family"] else ()),
    )
    return Document(
        title=f"Differences between {len(columns)} {compared}: "
        + few([column.column.title for column in columns]),
        sentences=sentences if tests else (NO_TESTS,),
        facts=(
            Fact("tests", "Tests shown", len(tests), "count"),
            Fact("shared", "In all runs", shared, "count"),
            Fact("mixed", "Mixed outcomes", mixed, "count"),
            Fact("never", "Never passed", never, "count"),
        ),
        tables=(_grid(beside, tests, reading, columns, title), totals),
        warnings=warnings(sides[0], against),
        labels=tuple(dict.fromkeys(label for side in sides for label in side.labels)),
        actions=tuple(
            link
            for side, comparable in against
            for link in rejudging(side.run, sides[0].run, comparable, reading.reader)
        ),
        more={"tags": known_tags(tag_names({one.tag_set_id for one in tests}))},
    )


def _left_out(apart: Sized) -> tuple[str, ...]:
    n = len(apart)
    runs = "1 run is" if n == 1 else f"{n:,} runs are"
    return (f"{runs} left out, as not comparable with the first.",) if n else ()


def _grid(
    beside: SideBySide,
    tests: Sequence[TestRow],
    reading: Reading,
    columns: Sequence[CompareColumn],
    title: str,
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
                *(_cell(column.of(cells[one.revision_id])) for column in columns),
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
            *(column.column for column in columns),
            Column("issue", "Issue", "link"),
            Column("tags", "Tags"),
            Column("prompt", "Prompt", note="A dash: sealed."),
        ),
        LazyRows(tests, load),
        note=f"Share of scored answers that passed. {ABSENT}: the run does not have the test, or "
        f"has it with another prompt or rubric. {HUMAN_MARK} human verdict.",
        empty=NO_TESTS,
        look="heat",
    )


def _run_columns(runs: Sequence[Run]) -> list[CompareColumn]:
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
    mark = f"{HUMAN_MARK} " if tested.overridden else ""
    if tested.share is None:
        state = "error" if tested.error else "unscored" if tested.unscored else "pending"
        return Shaded(f"{mark}{state}", url)
    text = f"{mark}{percent(tested.share)} ({tested.passed} of {tested.scored})"
    return Shaded(text, url, share=tested.share)


def _totals(beside: SideBySide, shown: int, apart: Mapping[int, Comparable]) -> Table:
    totals, first = beside.totals(shown), beside.runs[0]
    issues = beside.by_issue(beside.runs)
    rows: list[tuple[Cell, ...]] = []
    for run in beside.runs:
        total, counts = totals[run.pk], totals[run.pk].counts
        rate = rate_of_issues(
            issues.get(run.pk, {}).values(), answers=run.repeats, total=counts.total
        )
        with_first = page_url("compare", runs=[first, run])
        rows.append(
            (
                Link(run.label, run.get_absolute_url(), run.model_name),
                rate,
                *(counts.passed, counts.failed, counts.unscored, counts.error, counts.pending),
                total.absent,
                total.overridden,
                None if run.pk == first.pk else run.pk not in apart,
                None if run.pk == first.pk else Link("With the first run", with_first),
            )
        )
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
            Column("overridden", f"{HUMAN_MARK} Human verdicts", "count"),
            Column("comparable", "Comparable", note="With the first run: same jury and scoring"),
            Column("compare", "Compare", "link"),
        ),
        rows,
        note=f"Counts answers; {ABSENT} counts tests.",
    )


def _family_columns(runs: Sequence[Run]) -> list[CompareColumn]:
    """Return a column for each family, in the order of their first runs."""
    known = identities()
    families: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        families[known[run.language_model_id].family].append(run)
    return [
        CompareColumn(Column(f"family_{number}", family, "link", _names(members)), tuple(members))
        for number, (family, members) in enumerate(families.items(), 1)
    ]


def _pooled(runs: Iterable[Mapping[int, tuple[int, int]]]) -> list[tuple[int, int]]:
    """Add up (passed, scored) of each issue over runs."""
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for issues in runs:
        for issue, (passed, scored) in issues.items():
            sums[issue][0] += passed
            sums[issue][1] += scored
    return [(passed, scored) for passed, scored in sums.values()]


def _names(runs: Sequence[Run]) -> str:
    return ", ".join(dict.fromkeys(run.model_name for run in runs))


def _family_totals(beside: SideBySide, columns: Sequence[CompareColumn], shown: int) -> Table:
    totals = beside.totals(shown)
    issues = beside.by_issue(beside.runs)
    rows: list[tuple[Cell, ...]] = []
    for column in columns:
        rate = rate_of_issues(
            _pooled(issues.get(run.pk, {}) for run in column.runs),
            answers=sum(run.repeats for run in column.runs),
            total=sum(totals[run.pk].counts.total for run in column.runs),
        )
        rows.append((column.column.title, _names(column.runs), len(column.runs), rate))
    return Table(
        "totals",
        "Totals of the tests shown",
        (
            Column("family", "Family"),
            Column("models", "Models"),
            Column("runs", "Runs", "count"),
            Column("rate", "Pass rate", "rate"),
        ),
        rows,
        note="Counts answers. Answers of one family to a test are not independent, so intervals "
        "count them as one, or account for issues. Errors, unscored and pending answers are "
        "excluded from rates.",
    )
