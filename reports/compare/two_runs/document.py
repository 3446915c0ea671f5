"""The report on two runs: flipped tests, worst first, with significance."""

from collections.abc import Iterator, Mapping
from typing import Any

from evalhub.display.filter_chip import choice_chip
from reports.compare.conclusion_words import in_line
from reports.compare.controls import known_tags
from reports.compare.query import Comparison
from reports.compare.sentences import basis, concluded, left_out
from reports.compare.side_by_side.columns import run_columns
from reports.compare.side_by_side.outcome_tables import Outcomes, outcomes_of_each, rates_by_tag
from reports.compare.side_by_side.query import SideBySide, TestFilter
from reports.compare.two_runs.breakdown_tables import became, by_issue, by_tag
from reports.compare.two_runs.facts_and_warnings import facts_of, labels, warnings
from reports.compare.two_runs.first_screen import lost_issues, net_change, next_steps
from reports.compare.two_runs.listing_tables import edited_tests, tests_of
from reports.compare.two_runs.state import TwoRuns
from reports.documents.document import Document, Table
from reports.documents.reading import Reading
from reports.documents.rejudging import rejudging
from reports.handout.of_two_runs import handout_of

FILTERS = ("tag", "q", "family")
NO_CONCLUSION = "Outcomes are shown side by side, without a conclusion."


def _title(two: TwoRuns) -> str:
    """Name both runs and the models."""
    first, second = two.names
    model = two.comparison.second.run.model_name
    of = f"{model}: " if two.comparison.first.run.model_name == model else ""
    if not two.comparison.is_conclusive:
        return f"{of}{first} and {second}"
    return f"{of or 'Changes '}from {first} to {second}"


def _detectable(two: TwoRuns) -> str:
    if two.detectable is None:
        return ""
    found, note = two.detectable
    return f"Detectable change: a loss of {found.points}. {note}"


def _pooled(two: TwoRuns) -> Iterator[str]:
    """Yield what all attempts show where that differs from these two runs."""
    if two.found is None or two.pooled is None:
        return
    words, change = two.pooled
    if change.conclusion.word != two.found.conclusion.word:
        yield f"With {words} pooled: {in_line(change.conclusion, change.whole.tally)}"


def _said(two: TwoRuns) -> tuple[str, ...]:
    """Return what the runs show, in the sentences that lead the page."""
    if not two.comparison.is_conclusive:
        return (NO_CONCLUSION,)
    first, second = two.names
    return concluded(
        two.comparison.rows,
        two.found,
        first=first,
        second=second,
        titles=two.comparison.issues,
        across=two.across,
    )


def _details(two: TwoRuns) -> Iterator[str]:
    """Yield what the conclusion rests on; of runs without one, what was left out."""
    rows, (first, second) = two.comparison.rows, two.names
    if two.comparison.is_conclusive:
        yield from _pooled(two)
        yield from basis(rows, two.found, first=first, second=second, detectable=_detectable(two))
    else:
        yield from left_out(rows, first=first, second=second)


def _tables(two: TwoRuns) -> tuple[Table, ...]:
    runs = [two.comparison.first.run, two.comparison.second.run]
    each = Outcomes(SideBySide(runs, TestFilter(), two.reading.reader), run_columns(runs))
    return (
        *net_change(two),
        *lost_issues(two),
        tests_of(two),
        by_issue(two),
        by_tag(two),
        *edited_tests(two),
        became(two),
        outcomes_of_each(each),
        rates_by_tag(each),
    )


def document_of(comparison: Comparison, filters: Mapping[str, Any], reading: Reading) -> Document:
    two = TwoRuns(comparison, filters, reading)
    said = _said(two)
    cleared = two.shown and two.url(show="")
    return Document(
        title=_title(two),
        sentences=(*said, *_details(two)),
        facts=facts_of(two),
        tables=_tables(two),
        warnings=(
            *warnings(comparison.first, [(comparison.second, comparison.comparable)]),
            *comparison.not_compared,
        ),
        labels=labels(comparison, two.names),
        leading=len(said),
        handout=handout_of(two),
        actions=rejudging(
            comparison.second.run,
            comparison.first.run,
            comparison.comparable and comparison.apart,
            reading.reader,
        ),
        more={
            "tags": known_tags(comparison.tags),
            "filters": FILTERS,
            "next_steps": next_steps(two),
            "details": ("change", "became", "totals", "rates"),
            "lists": [choice_chip("show", "List", two.lists.items(), two.shown, cleared)],
        },
    )
