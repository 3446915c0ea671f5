"""The report on several runs or model families: a grid of tests, with totals."""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from evalhub.display.formatting import counted, few, percent
from reports.compare.controls import known_tags
from reports.compare.query import Side, prompts_of
from reports.compare.side_by_side.columns import CompareColumn, family_columns, run_columns
from reports.compare.side_by_side.outcome_tables import (
    ABSENT,
    HUMAN_MARK,
    Outcomes,
    family_totals,
    rates_by_tag,
    run_totals,
)
from reports.compare.side_by_side.query import ShownTest, SideBySide, TestFilter
from reports.compare.two_runs.facts_and_warnings import against_first, warnings
from reports.documents.document import Cell, Column, Document, Fact, LazyRows, Link, Table, folded
from reports.documents.fields import tests_filter_help
from reports.documents.links import page_url, row_url
from reports.documents.reading import Reading
from reports.documents.rejudging import rejudging
from reports.queries.names import tag_names, titles
from runs.comparison.tested_rule import Tested

FILTERS = ("tag", "q", "tests", "shared", "family")
SHOWN = 8
"""Tests with mixed outcomes before a line to open."""
NO_TESTS = "No matching tests. Choose other runs, or clear tag, issue and words."


@dataclass(frozen=True)
class Shaded(Link):
    """A link in a cell shaded by a share; None: not shaded."""

    share: float | None = None


def document_of(sides: Sequence[Side], filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the report on several runs, or on their model families.

    A family adds up only runs that are comparable with the first.
    """
    against, by_family = against_first(sides), filters["family"]
    apart = {side.run.pk: comparable for side, comparable in against if not comparable}
    runs = [side.run for side in sides if not (by_family and side.run.pk in apart)]
    columns = family_columns(runs) if by_family else run_columns(runs)
    beside = SideBySide(runs, _test_filter(filters), reading.reader)
    tests, found = beside.tests(), Outcomes(beside, columns)
    facts, tags = _facts(tests, len(runs)), tag_names({one.tag_set for one in tests})
    kind = "Tests by family" if by_family else "Tests by runs"
    totals = (
        family_totals(found) if by_family else run_totals(found, beside.totals(len(tests)), apart)
    )
    return Document(
        title=f"Differences between {len(columns)} {'model families' if by_family else 'runs'}: "
        + few([column.column.title for column in columns]),
        sentences=(
            *tests_filter_help(filters["tests"]),
            *(_sentences(facts, len(runs)) if len(tests) else (NO_TESTS,)),
            *(_left_out(apart) if by_family and len(tests) else ()),
        ),
        facts=facts,
        tables=(
            totals,
            rates_by_tag(found),
            _grid(beside, tests, tags, columns, kind),
        ),
        warnings=warnings(sides[0], against),
        labels=tuple(dict.fromkeys(label for side in sides for label in side.labels)),
        actions=tuple(
            link
            for side, comparable in against
            for link in rejudging(side.run, sides[0].run, comparable, reading.reader)
        ),
        more={
            "tags": known_tags(tags),
            "filters": FILTERS,
        },
    )


def _test_filter(filters: Mapping[str, Any]) -> TestFilter:
    return TestFilter(
        tag=filters["tag"],
        issue=filters["issue"],
        words=filters["q"],
        shared=filters["shared"] == "on",
        exposure=filters["tests"],
    )


def _facts(tests: Sequence[ShownTest], runs: int) -> tuple[Fact, ...]:
    shared = sum(one.runs == runs for one in tests)
    mixed = sum(one.is_mixed for one in tests)
    never = sum(one.scored > 0 and not one.passed for one in tests)
    return (
        Fact("tests", "Tests shown", len(tests), "count"),
        Fact("shared", "In all runs", shared, "count"),
        Fact("mixed", "Mixed outcomes", mixed, "count"),
        Fact("never", "Never passed", never, "count"),
    )


def _sentences(facts: Sequence[Fact], runs: int) -> tuple[str, ...]:
    tests, shared, mixed, _ = (fact.value for fact in facts)
    return (
        f"{counted(tests, 'test')} shown, {shared:,} of them in all {runs} runs; "
        f"{mixed:,} have both passed and failed answers.",
        "For a conclusion, compare two of the runs.",
    )


def _left_out(apart: Sized) -> tuple[str, ...]:
    n = len(apart)
    runs = "1 run is" if n == 1 else f"{n:,} runs are"
    return (f"{runs} left out, as not comparable with the first.",) if n else ()


def _grid(
    beside: SideBySide,
    tests: Sequence[ShownTest],
    tags: Mapping[int, tuple[str, ...]],
    columns: Sequence[CompareColumn],
    title: str,
) -> Table:
    """Make the grid; rows are read a page at a time."""
    issues = titles({one.issue for one in tests})
    timeline = page_url("issue_timeline", issue="0").removesuffix("0")

    def load(some: Sequence[int]) -> list[tuple[Cell, ...]]:
        rows = [tests[place] for place in some]
        revisions = [one.revision for one in rows]
        prompts, cells = prompts_of(revisions, beside.reader), beside.cells(revisions)
        return [
            (
                Link(f"test {one.test}", row_url("admin:issues_test_change", one.test)),
                *(_cell(column.of(cells[one.revision])) for column in columns),
                Link(issues[one.issue], f"{timeline}{one.issue}"),
                ", ".join(tags[one.tag_set]),
                prompts.get(one.revision) or None,
            )
            for one in rows
        ]

    mixed = sum(one.is_mixed for one in tests)
    return Table(
        "grid",
        title,
        (
            Column("test", "Test", "link"),
            *(column.column for column in columns),
            Column("issue", "Issue", "link"),
            Column("tags", "Tags"),
            Column("prompt", "Prompt", "excerpt", note="A dash: sealed."),
        ),
        LazyRows(range(len(tests)), load),
        note=f"Share of scored answers that passed. {ABSENT}: the run does not have the test, or "
        f"has it with another prompt or rubric. {HUMAN_MARK} human verdict.",
        empty=NO_TESTS,
        look="heat",
        **(folded(len(tests), min(mixed, SHOWN), "test") if mixed else {}),
    )


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
