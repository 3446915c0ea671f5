"""Underperforming issues: those that pass significantly more rarely than their run's others."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from evalhub.display.charts import NEUTRAL, Figure, RateRow, issue_bars
from evalhub.display.formatting import counted, percent
from evalhub.statistics.changes.change_test import ALPHA
from reports.compare.conclusion_words import is_p
from reports.documents.cells import issue_rate
from reports.documents.document import Cell, Column, Document, Fact, Link, Linked, Table
from reports.documents.links import page_url, results_url
from reports.documents.reading import Page, Reading, ReportForm
from reports.leaderboard.query import labels_by_run
from reports.queries.incomplete_runs import incomplete_runs, incomplete_table
from reports.underperforming.query import UnderperformingReport, newest_run, underperforming
from reports.underperforming.rule import LAST, IssueComparison, IssueComparisons
from runs.figures.rate import Rate
from runs.models import Run

MAX_OFFERED, MAX_DRAWN, MAX_NEXT = 50, 20, 10


class UnderperformingForm(ReportForm):
    """Filters of the page; the newest runs are offered, and any run may be asked for."""

    run = forms.ModelChoiceField(Run.objects.all(), empty_label="Latest run of a suite")

    def __init__(self, query: QueryDict) -> None:
        super().__init__(query)
        field: Any = self.fields["run"]
        runs = Run.objects.complete().only("label", "model_name", "created_at")
        offered = list(runs.order_by("-created_at", "-pk")[:MAX_OFFERED])
        chosen = self.filters["run"]
        if chosen is not None and chosen not in offered:
            offered.insert(0, chosen)
        names = [
            (run.pk, f"{run.label} ({run.model_name}, {run.created_at:%Y-%m-%d})")
            for run in offered
        ]
        field.choices = [("", field.empty_label), *names]


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """List underperforming issues with reasons, those that never passed, and the next ones."""
    report = underperforming(filters["run"] or newest_run(), reading)
    run = report.run
    incomplete = incomplete_runs(Run.objects.filter(pk=run.pk)) if run else ()
    return Document(
        title=f"Underperforming issues of {run.model_name}"
        if run
        else "Underperforming issues of a run",
        sentences=tuple(_sentences(report)),
        facts=tuple(_facts(report)),
        tables=(
            listed_table(report),
            _never_table(report),
            _next_table(report),
            *incomplete_table(incomplete, reading.reader, is_left_out=False),
        ),
        warnings=tuple(one.warning for one in incomplete),
        labels=labels_by_run([run.pk])[run.pk] if run else (),
    )


def _sentences(report: UnderperformingReport) -> Iterator[str]:
    found = report.comparisons
    if found is None or found.rate is None:
        return
    below, n = len(found.below), len(found.issues)
    yield (
        f"{below or 'None'} of {counted(n, 'issue')} "
        f"{'underperforms' if below == 1 or n == 1 else 'underperform'}. The run's pass rate is "
        f"{percent(found.rate)}."
    )
    yield (
        "An issue underperforms if as many tests drawn at random from the run would hardly ever "
        f"fail as often: p ≤ {ALPHA:g} by {found.rule}, one-sided, corrected for all {n} issues "
        "(Holm)."
    )


def _facts(report: UnderperformingReport) -> Iterator[Fact]:
    run = report.run
    if run is None:
        return
    when = f"{run.model_name}, {run.created_at:%Y-%m-%d}"
    yield Fact("run", "Run", run.label, note=when, url=run.get_absolute_url())
    yield Fact("rate", "Run's pass rate", report.rate, "rate")
    found = report.comparisons
    if found is None:
        return
    n = len(found.issues)
    yield Fact("below", "Significantly below the others", len(found.below), "count", f"of {n}")
    never = sum(one.never_passed for one in found.issues)
    yield Fact("never", "Never passed recently", never, "count", f"last {LAST} runs")


def reason(one: IssueComparison, found: IssueComparisons) -> str:
    """Return the evidence against an underperforming issue."""
    n = len(found.issues)
    return (
        f"{one.passed} of {one.scored} answers passed, {percent(one.others)} of the other issues' "
        f"({is_p(one.holm or 0)}, {found.rule} of {one.tests} tests, Holm over {n} issues)."
    )


COLUMNS = (
    Column("issue", "Issue", "link"),
    Column("rate", "Pass rate", "rate"),
    Column("others", "Other issues", "share", "Pass rate of the other issues' answers"),
    Column("tests", "Tests", "count", "Scored tests"),
    Column("p", "p", "p", "One-sided: random choices of as many tests that pass as rarely"),
    Column("p_holm", "p (Holm)", "p", "Corrected for all issues of the run"),
    Column("method", "Method"),
    Column("excluded", "Excluded", "count", "Errors, unscored and pending results"),
)


def listed_table(report: UnderperformingReport) -> Table:
    found = report.comparisons
    rows = found.below if found else ()
    drawn = [
        RateRow(
            str(one.issue),
            report.titles[one.issue],
            one.scored - one.passed,
            one.scored,
            interval and interval.complement(),
        )
        for one in rows[:MAX_DRAWN]
        for interval in [_rate(report, one).interval]
    ]
    return Table(
        key="listed",
        title="Significantly below the others",
        columns=(*COLUMNS, Column("why", "Reason")),
        rows=[(*_row(report, one), reason(one, found)) for one in rows if found],
        note="" if len(drawn) == len(rows) else f"The chart shows the first {MAX_DRAWN}.",
        empty=_empty(report),
        draw=lambda: _figure(drawn, found.rate) if drawn and found else None,
        describes="Failure rate of each listed issue; the dashed line is the run's",
    )


def _empty(report: UnderperformingReport) -> str:
    if report.run is None:
        return "No complete run yet. Launch a run to check its issues."
    if report.comparisons is None:
        return "Being computed."
    return "No issue is significantly below the others. More tests detect smaller differences."


def _never_table(report: UnderperformingReport) -> Table:
    rows = report.comparisons.never_passed if report.comparisons else ()
    return Table(
        key="never",
        title="Never passed recently",
        columns=(*COLUMNS, Column("answers", "Answers", "count", f"Of the last {LAST} runs")),
        rows=[
            (*_row(report, one), sum(before.scored for before in one.last[:LAST])) for one in rows
        ],
        note=f"No answer passed in the last {LAST} complete runs of any model. That alone does "
        "not tell such an issue from the others of a run that often fails.",
        empty=f"Every other issue passed at least once in {LAST} runs, or has fewer runs.",
    )


def _next_table(report: UnderperformingReport) -> Table:
    issues = report.comparisons.issues if report.comparisons else ()
    below = [
        one
        for one in issues
        if not one.is_below and one.others is not None and one.passed < one.others * one.scored
    ]
    return Table(
        key="next",
        title="Below the others, not significant",
        columns=COLUMNS,
        rows=[_row(report, one) for one in below[:MAX_NEXT]],
        note="These rates may be low by chance.",
        empty="No other issue is below the others." if report.run else "No complete run yet.",
    )


def _row(report: UnderperformingReport, one: IssueComparison) -> tuple[Cell, ...]:
    return (
        Link(report.titles[one.issue], page_url("issue_timeline", issue=one.issue)),
        Linked(_rate(report, one), results_url(report.run, issue=one.issue))
        if report.run
        else None,
        one.others,
        one.tests,
        one.p,
        one.holm,
        report.comparisons and report.comparisons.rule,
        report.excluded.get(one.issue, 0),
    )


def _rate(report: UnderperformingReport, one: IssueComparison) -> Rate:
    answers = report.run.repeats if report.run else 1
    total = one.scored + report.excluded.get(one.issue, 0)
    return issue_rate(one.passed, one.scored, answers=answers, total=total)


def _figure(rows: list[RateRow], rate: float | None) -> Figure:
    """Draw the failure rates, with a line at the run's rate."""
    figure = issue_bars(rows)
    if rate is not None:
        figure["layout"]["shapes"] = [
            {
                "type": "line",
                "x0": 1 - rate,
                "x1": 1 - rate,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"color": NEUTRAL, "width": 2, "dash": "dash"},
            }
        ]
    return figure


UNDERPERFORMING = Page(
    key="underperforming",
    title="Underperforming issues",
    question="Which issues should we work on first?",
    summary="Issues of a run that pass significantly more rarely than its others, with reasons.",
    form=UnderperformingForm,
    build=build,
)
