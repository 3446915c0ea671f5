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
from reports.documents.document import Document
from reports.documents.reading import Reading
from reports.documents.rejudging import rejudging
from reports.handout.of_two_runs import handout_of

FILTERS = ("tag", "q", "family")
NO_VERDICT = "Outcomes are shown side by side, without a verdict."


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


def document_of(comparison: Comparison, filters: Mapping[str, Any], reading: Reading) -> Document:
    two = TwoRuns(comparison, filters, reading)
    first, second = two.names
    rows, is_conclusive = comparison.rows, comparison.is_conclusive
    runs = [comparison.first.run, comparison.second.run]
    said = (
        concluded(
            rows,
            two.found,
            first=first,
            second=second,
            titles=comparison.issues,
            across=two.across,
        )
        if is_conclusive
        else (NO_VERDICT,)
    )
    each = Outcomes(SideBySide(runs, TestFilter(), reading.reader), run_columns(runs))
    return Document(
        title=_title(two),
        sentences=(
            *said,
            *_pooled(two),
            *basis(rows, two.found, first=first, second=second, detectable=_detectable(two)),
        )
        if is_conclusive
        else (*said, *left_out(rows, first=first, second=second)),
        facts=facts_of(two),
        tables=(
            *net_change(two),
            *lost_issues(two),
            tests_of(two),
            by_issue(two),
            by_tag(two),
            *edited_tests(two),
            became(two),
            outcomes_of_each(each),
            rates_by_tag(each),
        ),
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
            "lists": [
                choice_chip(
                    "show", "List", two.lists.items(), two.shown, two.shown and two.url(show="")
                )
            ],
        },
    )
